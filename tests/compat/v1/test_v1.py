"""tf.compat: functions whose parameters differ in version 1, and text; the same on TensorFlow."""

import numpy as np
import pytest


@pytest.fixture
def v1(tf):
    return tf.compat.v1


def test_variables(tf, v1):
    v = tf.Variable(1.0)
    v1.assign(v, 2.0)
    v1.assign_add(v, 3.0)
    assert float(v1.assign_sub(v, 1.0)) == float(v) == 4.0


def test_where_does_not_broadcast(tf, v1):
    rows = v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert rows.numpy().tolist() == [[1, 2], [7, 8]]
    assert v1.where([[True, False]], [[1, 2]], [[5, 6]]).numpy().tolist() == [[1, 6]]
    assert v1.where([True, False]).numpy().tolist() == [[0]]
    x = tf.constant([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = v1.where([True, False], x, tf.zeros([2, 1]))
    assert tape.gradient(y, x).numpy().tolist() == [[1.0], [0.0]]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        v1.where([True, False], tf.ones([2, 2]), tf.ones([2]))


def test_other_orders(tf, v1):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert v1.boolean_mask(x, [True, False], "name", 1).numpy().tolist() == [[1.0], [3.0]]
    assert v1.gather(x, [1], axis=1).numpy().tolist() == [[2.0], [4.0]]
    assert v1.gather_nd(x, [[1, 0]]).numpy().tolist() == [3.0]
    assert v1.pad(x, [[0, 0], [0, 1]], constant_values=9.0).numpy()[0].tolist() == [1, 2, 9]
    assert v1.math.in_top_k(x, [0, 1], 1).numpy().tolist() == [False, True]
    assert v1.foldl(lambda a, b: a + b, x).numpy().tolist() == [4.0, 6.0]
    assert v1.map_fn(lambda r: r * 2.0, x).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_control_flow(tf, v1):
    assert v1.cond(tf.constant(True), lambda: [tf.constant(1)], lambda: [tf.constant(2)]) == 1
    assert v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]).numpy() == 3
    (kept,) = v1.while_loop(
        lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)], return_same_structure=True
    )
    assert kept.numpy() == 3


def test_gradients_inside_a_function(tf, v1):
    f = tf.function(lambda x: v1.gradients(x * x, x)[0])
    assert f(tf.constant(3.0)).numpy() == 6.0


def test_pooling_and_convolution(tf, v1):
    x = tf.constant(np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1))
    ksize = [1, 2, 2, 1]
    assert v1.nn.max_pool(x, ksize, ksize, "VALID").numpy().ravel().tolist() == [5, 7, 13, 15]
    assert v1.nn.avg_pool(x, ksize, ksize, "VALID").numpy().ravel()[0] == 2.5
    filters = tf.ones([2, 2, 1, 1])
    assert v1.nn.convolution(x, filters, "VALID", strides=[2, 2]).shape == (1, 2, 2, 1)
    assert v1.nn.convolution(x, filters, "SAME", dilation_rate=[2, 2]).shape == (1, 4, 4, 1)
    wide = v1.nn.conv2d_transpose(x, filters, [1, 8, 8, 1], [1, 2, 2, 1])
    assert wide.shape == (1, 8, 8, 1)


def test_initializers(tf, v1):
    normal = v1.random_normal_initializer(mean=5.0, stddev=0.0)
    assert normal([2]).numpy().tolist() == [5.0, 5.0]
    uniform = v1.random_uniform_initializer(0.0, 1.0, dtype=tf.float64)([100])
    assert uniform.dtype == tf.float64 and 0.0 <= uniform.numpy().min() < uniform.numpy().max() < 1


def test_graphs(tf, v1):
    v1.reset_default_graph()
    assert v1.executing_eagerly_outside_functions()
    assert v1.Dimension(3).value == 3 and v1.Dimension(None).value is None
    assert v1.Dimension(3) == 3 and v1.Dimension(None).is_compatible_with(7)


def test_summary_metadata(tf, v1):
    metadata = v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "graph_keras_model"
    metadata.plugin_data.content = b"1"
    assert metadata.SerializeToString() == b"\n\x16\n\x11graph_keras_model\x12\x011"


def test_text(tf):
    compat = tf.compat
    assert compat.as_text(b"a\xc3\xa9") == compat.as_text("aé") == compat.as_str(b"a\xc3\xa9")
    assert compat.as_bytes("aé") == compat.as_bytes(b"a\xc3\xa9") == b"a\xc3\xa9"
    assert compat.as_str_any(3) == "3" and compat.as_str_any(b"x") == "x"
    for function in (compat.as_text, compat.as_bytes):
        with pytest.raises(TypeError):
            function(3)
    assert isinstance("x", compat.bytes_or_text_types)
    assert isinstance(np.int32(1), compat.integral_types)
    assert isinstance(np.float32(1), compat.real_types)
    assert compat.dimension_value(3) == 3
    assert compat.dimension_at_index(tf.TensorShape([2, None]), 0) == 2
