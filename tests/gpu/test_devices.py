"""Values on a GPU: where they are, what moves them, and that nothing else does."""

import logging
import operator
import pickle

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.engines.cupy.transfers import counted
from gradtape._src.engines.cupy.xla import has_card

W = np.arange(6, dtype=np.float32).reshape(2, 3)
BFLOAT16 = tf.bfloat16.as_numpy_dtype


def kind(x):
    return x.device.rsplit(":", 2)[1]


def test_what_is_there():
    _, gpu = tf.config.list_physical_devices()
    assert (gpu.name, gpu.device_type) == ("/physical_device:GPU:0", "GPU")
    assert tf.config.list_logical_devices("GPU")[0].name == "/device:GPU:0"
    assert set(tf.config.experimental.get_device_details(gpu)) == {
        "device_name", "compute_capability",
    }  # fmt: skip
    assert tf.config.experimental.get_memory_info("GPU:0").keys() == {"current", "peak"}
    tf.config.experimental.set_memory_growth(gpu, True)


def test_new_variables_are_on_the_gpu():
    v = tf.Variable(W)
    assert v.device == "/job:localhost/replica:0/task:0/device:GPU:0"
    np.testing.assert_array_equal(v.numpy(), W)
    assert kind(tf.Variable(1)) == kind(tf.Variable("text")) == "CPU"  # what Python looks at
    assert kind(tf.constant(W)) == "CPU"


NAMES = ["GPU", "gpu:0", "/GPU:0", "/device:GPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"]


@pytest.mark.parametrize("name", NAMES)
def test_spellings(name):
    with tf.device(name):
        for x in (tf.constant(W), tf.zeros([2]), tf.Variable(1), tf.identity(tf.constant(1))):
            assert kind(x) == "GPU"
        with tf.device("CPU:0"):
            assert kind(tf.constant(W)) == kind(tf.Variable(W)) == "CPU"
        assert kind(tf.ones([2])) == "GPU"
    assert kind(tf.ones([2])) == "CPU"


def test_ops_run_where_their_arrays_are():
    v = tf.Variable(W)
    for y in (v * 2.0, 2 * v, v + tf.constant(W), tf.constant(W) - v, tf.reduce_sum(v), v[0]):
        assert kind(y) == "GPU"
    np.testing.assert_array_equal((tf.constant(W) - v + 1.0).numpy(), np.ones_like(W))


def test_moving():
    v = tf.Variable(W)
    with tf.device("CPU:0"):
        moved = tf.identity(v)
    assert kind(moved) == "CPU" and kind(moved.gpu()) == "GPU" and kind(v.value().cpu()) == "CPU"
    there = v.value()
    assert there.gpu() is there
    np.testing.assert_array_equal(moved.gpu().numpy(), W)


def test_gradients_pass_from_device_to_device():
    v = tf.Variable(W)
    with tf.device("CPU:0"):
        u = tf.Variable(W)
    with tf.GradientTape() as tape:
        with tf.device("CPU:0"):
            y = tf.identity(v * v) * u
        loss = tf.reduce_sum(y * v)
    dv, du = tape.gradient(loss, [v, u])
    np.testing.assert_allclose(dv.numpy(), 3 * W**3)
    np.testing.assert_allclose(du.numpy(), W**3)
    u.assign_sub(du)
    v.assign_sub(tf.constant(W))
    assert (kind(u), kind(v)) == ("CPU", "GPU")
    np.testing.assert_allclose(u.numpy(), W - W**3)


def test_soft_placement():
    with tf.device("/TPU:0"):
        assert kind(tf.constant(1.0)) == "CPU"
    tf.config.set_soft_device_placement(False)
    try:
        refused = pytest.raises(tf.errors.InvalidArgumentError, match="there is no '/TPU:0' here")
        with refused, tf.device("/TPU:0"):
            pass
        with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:3"), tf.device("GPU:3"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_a_gpu_that_is_hidden_is_not_used():
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices([], "GPU")
    try:
        assert kind(tf.Variable(W)) == "CPU"
        assert tf.config.list_logical_devices("GPU") == []
        assert tf.config.list_physical_devices("GPU") == gpus
        with pytest.raises(RuntimeError, match="it is hidden"):
            tf.constant(W).gpu()
    finally:
        tf.config.set_visible_devices(gpus, "GPU")
    assert kind(tf.Variable(W)) == "GPU"


def test_a_pickle_comes_back_to_its_device():
    with tf.device("CPU"):
        u = tf.Variable(W)
    for variable in (u, tf.Variable(W)):
        again = pickle.loads(pickle.dumps(variable))
        assert kind(again) == kind(variable)
        np.testing.assert_array_equal(again.numpy(), W)


def test_a_copy_that_is_made_again_and_again_is_reported_once(caplog):
    v = tf.Variable(np.ones((200, 200), np.float32))
    with caplog.at_level(logging.WARNING, "gradtape"):
        for _ in range(30):
            v + tf.constant(np.ones((200, 200), np.float32))  # this line
    (record,) = [r for r in caplog.records if "copied" in r.message]
    assert "test_devices.py" in record.message and "from the host to the GPU" in record.message


def training_step(optimizer=None):
    w, b = tf.Variable(W), tf.Variable(np.zeros(3, np.float32))
    optimizer = optimizer or tf.optimizers.Adam(0.1)

    def step(x, labels):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ w * 2.0 + b)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses) + tf.reduce_sum(w**2) * 0.01
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b], strict=True))
        return loss

    return step, w


def batch():
    x = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    return x, np.array([0, 1, 2, 0, 1])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_training_step_copies_nothing(compiled):
    if compiled and not has_card():
        pytest.skip("XLA has no GPU here")
    step, _ = training_step()
    step = tf.function(step) if compiled else step
    with tf.device("GPU"):
        x, labels = map(tf.constant, batch())
    for _ in range(4):
        step(x, labels)
    with counted() as copies:
        for _ in range(5):
            loss = step(x, labels)
    assert (copies.to_card, copies.to_host) == (0, 0)
    assert kind(loss) == "GPU"


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Nadam", "Lion"])
def test_losses_are_those_of_the_cpu(name):
    def losses(place, compiled):
        with tf.device(place):
            step, w = training_step(getattr(tf.optimizers, name)(0.05))
            x, labels = map(tf.constant, batch())
            step = tf.function(step) if compiled else step
            found = [float(step(x, labels)) for _ in range(8)]
        assert kind(w) == place
        return found

    wanted = losses("CPU", False)
    for compiled in (False, True):
        np.testing.assert_allclose(losses("GPU", compiled), wanted, rtol=2e-3)


def test_eager_and_compiled_steps_in_turn():
    def run(kinds):
        step, w = training_step()
        compiled = tf.function(step)
        x, labels = map(tf.constant, batch())
        seen = []
        for is_compiled in kinds:
            seen.append((w.value(), w.numpy()))
            (compiled if is_compiled else step)(x, labels)
        for tensor, values in seen:  # what was read keeps its values
            np.testing.assert_array_equal(tensor.numpy(), values)
        return w.numpy()

    np.testing.assert_allclose(run([0, 1, 1, 0, 0, 1]), run([0] * 6), rtol=2e-3, atol=1e-4)


def test_wrong_labels_are_refused():
    step, w = training_step()
    before = w.numpy()
    for function in (step, tf.function(step)):
        for place in ("CPU", "GPU"):
            with tf.device(place):
                x, labels = tf.constant(batch()[0]), tf.constant([0, 1, 7, 0, 1])
            with pytest.raises(tf.errors.InvalidArgumentError, match="7"):
                function(x, labels)
    np.testing.assert_array_equal(w.numpy(), before)


def test_dataset_brings_elements_to_the_gpu():
    data = tf.data.Dataset.from_tensor_slices((W, [1, 2])).batch(1)
    for to_device in (
        tf.data.experimental.prefetch_to_device("/GPU:0", 2),
        tf.data.experimental.copy_to_device("/GPU:0"),
    ):
        found = list(data.apply(to_device))
        assert [kind(x) for pair in found for x in pair] == ["GPU"] * 4
        np.testing.assert_array_equal(np.concatenate([x.numpy() for x, _ in found]), W)


def test_checkpoint(tmp_path):
    v = tf.Variable(W)
    path = tf.train.Checkpoint(v=v).save(str(tmp_path / "saved"))
    u = tf.Variable(np.zeros_like(W))
    tf.train.Checkpoint(v=u).restore(path)
    assert kind(u) == "GPU"
    np.testing.assert_array_equal(u.numpy(), W)


def test_memory_that_is_not_there(card):
    if not type(card._namespace).__module__.startswith("builtins"):
        pytest.skip("a stand-in has no memory of its own")
    v = tf.Variable(np.ones(2**21, np.float32))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="out of memory on the GPU"):
        v[:, None] * v[None, :]
    assert float(tf.reduce_sum(v)) == 2**21


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BFLOAT16])
@pytest.mark.parametrize(
    "size", [17, 2**16, 2**16 + 1, 2**16 + 2]
)  # read 16 bytes at a time, or not
def test_large_arrays(dtype, size):
    random = np.random.default_rng(0)
    a, b = (random.normal(size=(2, size)) + np.array([[0], [9]])).astype(dtype)
    x, y = tf.Variable(a).value(), tf.Variable(b).value()
    for run in (operator.add, operator.sub, operator.mul, operator.truediv):
        np.testing.assert_array_equal(run(x, y).numpy(), run(a, b))
        np.testing.assert_array_equal(run(x, 3.0).numpy(), run(a, dtype(3)))
        np.testing.assert_array_equal(run(3.0, y).numpy(), run(dtype(3), b))
        np.testing.assert_array_equal(run(x[1:], y[:-1]).numpy(), run(a[1:], b[:-1]))
        np.testing.assert_array_equal(run(x, y[:1]).numpy(), run(a, b[:1]))
        np.testing.assert_array_equal(run(x[::2], y[::2]).numpy(), run(a[::2], b[::2]))
    wanted = 1 / (1 + np.exp(-a.astype(np.float64)))
    coarse = {2: 1e-2}.get(np.dtype(dtype).itemsize, 1e-5)
    np.testing.assert_allclose(tf.nn.sigmoid(x).numpy().astype(np.float64), wanted, rtol=coarse)
    np.testing.assert_array_equal(tf.nn.relu(x).numpy(), np.maximum(a, dtype(0)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BFLOAT16])
def test_rows_and_columns_beside_large_arrays(dtype):
    random = np.random.default_rng(0)
    a = random.normal(size=(40, 8, 256)).astype(dtype)
    x = tf.Variable(a).value()
    for shape in [(256,), (8, 256), (1, 8, 256), (1, 1, 256), (40, 8, 1), (1, 8, 1), (40, 1, 1)]:
        b = random.normal(size=shape).astype(dtype)
        y = tf.Variable(b).value()
        for run in (operator.add, operator.sub, operator.mul, operator.truediv):
            np.testing.assert_array_equal(run(x, y).numpy(), run(a, b))
            np.testing.assert_array_equal(run(y, x).numpy(), run(b, a))
    odd = random.normal(size=(300, 257)).astype(dtype)  # no whole vectors in a row
    y = tf.Variable(odd).value()
    np.testing.assert_array_equal((y + y[0]).numpy(), odd + odd[0])
    np.testing.assert_array_equal((y * y[:, :1]).numpy(), odd * odd[:, :1])


def test_many_compiled_steps_are_those_of_eager_code():
    """More than a program makes before there is a second copy of it, one reading in between."""
    found = []
    for compiled in (False, True):
        step, w = training_step()
        step = tf.function(step) if compiled else step
        x, labels = map(tf.constant, batch())
        losses = []
        for i in range(50):
            losses.append(step(x, labels))
            if i in (20, 33):
                w.assign(w * 0.5)
        found.append([float(loss) for loss in losses] + w.numpy().ravel().tolist())
    np.testing.assert_allclose(found[1], found[0], rtol=2e-3, atol=1e-4)


def test_products_of_compiled_functions_with_and_without_tf32():
    a = np.random.default_rng(0).random((256, 256))
    x = tf.Variable(a.astype(np.float32))
    product = tf.function(lambda: x @ x)
    wanted = a.astype(np.float32).astype(np.float64)
    wanted = wanted @ wanted

    def error():
        return np.abs(product().numpy() - wanted).max() / wanted.max()

    rounded = error()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        assert error() < 2e-6
        assert product.experimental_get_tracing_count() == 2
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
    assert error() == rounded
    assert product.experimental_get_tracing_count() == 2
    if has_card():
        assert rounded > 1e-5


def test_a_function_without_memory_changes_nothing():
    if not has_card():
        pytest.skip("XLA has no GPU here")
    v = tf.Variable(np.ones(2**19, np.float32))
    count = tf.Variable(0.0)

    @tf.function
    def step(wide):
        count.assign_add(1.0)
        v.assign(v * 2.0)
        if wide:
            table = tf.sort(v[:, None] * v[None, :], axis=0)  # 1 TB
            return tf.reduce_sum(tf.sort(table, axis=1))
        return tf.reduce_sum(v)

    for _ in range(3):
        step(False)
    for _ in range(2):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="The variables are whole"):
            step(True)
        assert float(count) == 3.0 and v.numpy()[0] == 8.0
    assert float(step(False)) == 16.0 * 2**19
    assert float(count) == 4.0


def test_results_that_are_read_while_functions_go_on():
    """XLA takes free memory for its next program; eager kernels may still have to read it."""
    v = tf.Variable(np.zeros(2**20, np.float32))

    @tf.function
    def step():
        v.assign_add(tf.ones_like(v))
        return v * 1.0, tf.reduce_sum(v)

    total = tf.Variable(0.0)
    for _ in range(100):
        whole, _ = step()
        total.assign_add(tf.reduce_mean(whole * 1.0))
        del whole
    assert float(total) == 5050.0


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("options", [{}, {"clipnorm": 1.0}, {"global_clipnorm": 1.0}], ids=str)
def test_gradients_that_are_constants(compiled, options):
    w, u = tf.Variable(np.zeros(4, np.float32)), tf.Variable(np.zeros(4, np.float32))
    g, h = tf.constant(np.ones(4, np.float32)), tf.Variable(np.ones(4, np.float32)).value()
    optimizer = tf.optimizers.SGD(1.0, **options)

    def step():
        optimizer.apply_gradients([(g, w), (h, u)])

    (tf.function(step) if compiled else step)()
    size = {"clipnorm": 0.5, "global_clipnorm": 0.125**0.5}.get(*options, 1.0) if options else 1.0
    np.testing.assert_allclose([w.numpy(), u.numpy()], np.full((2, 4), -size), rtol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16], ids=str)
@pytest.mark.parametrize("count", [5, 20_001])
def test_random_numbers_are_those_of_the_host(dtype, count):
    """Bit for bit; the logarithms of the tails, beyond 3.65, to their last digits."""
    draws = [
        lambda: tf.random.stateless_uniform([count], [1, 2], dtype=dtype),
        lambda: tf.random.stateless_normal([count], [3, -4], dtype=dtype),
        lambda: tf.random.stateless_truncated_normal([count // 5, 5], [5, 6], dtype=dtype),
        lambda: tf.random.Generator.from_seed(7).normal([count], dtype=dtype),
        lambda: tf.random.Generator.from_seed(7).uniform([3, count // 3], dtype=dtype),
    ]
    for draw in draws:
        wanted = draw().numpy().astype(np.float64)
        with tf.device("GPU"):
            found = draw()
        assert kind(found) == "GPU" and found.dtype == dtype
        found = found.numpy().astype(np.float64)
        within = np.abs(wanted) < 3.65
        np.testing.assert_array_equal(found[within], wanted[within])
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_random_numbers_in_sequence():
    def some():
        tf.random.set_seed(5)
        generator = tf.random.Generator.from_seed(1)
        return np.stack([
            tf.random.normal([300]), tf.random.normal([300]), tf.random.uniform([300]),
            generator.normal([300]), generator.normal([300]),
        ])  # fmt: skip

    with tf.device("GPU"):
        first, second = some(), some()
        x = tf.random.uniform([10_000], 2.0, 4.0)
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first)) == first.size
    assert kind(x) == "GPU" and x.numpy().min() >= 2.0 and x.numpy().max() < 4.0


def test_a_draw_copies_nothing():
    generator = tf.random.Generator.from_seed(1)
    with tf.device("GPU"):
        draws = [
            lambda: tf.random.stateless_normal([20_000], [1, 2]),
            lambda: tf.random.stateless_uniform([20_000], [1, 2]),
            lambda: generator.normal([20_000]),
            lambda: tf.random.uniform([20_000]),
        ]
        for draw in draws:
            draw()
            with counted() as copies:
                draw()
            assert (copies.to_card, copies.to_host) == (0, 0)


def test_dropout_draws_where_its_input_is():
    x = tf.Variable(np.ones(20_000, np.float32)).value()
    tf.nn.dropout(x, 0.25)
    with counted() as copies:
        y = tf.nn.dropout(x, 0.25)
    assert (copies.to_card, copies.to_host) == (0, 0)
    assert kind(y) == "GPU"
    assert abs(float(tf.reduce_mean(y)) - 1.0) < 0.05
    assert kind(tf.nn.dropout(tf.constant(np.ones(9, np.float32)), 0.5)) == "CPU"


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function])
def test_python_inside_a_function(call):
    w = tf.Variable(W)

    @tf.function
    def step(x):
        def times(x):
            return tf.constant(x) * w  # on the GPU

        return call(times, [x], tf.TensorSpec([2, 3], tf.float32)) + w

    for _ in range(3):
        np.testing.assert_allclose(step(tf.constant(W)).numpy(), W * W + W)
        w.assign(w * 1.0)


def test_elements_on_the_gpu_inside_a_function():
    data = tf.data.Dataset.from_tensor_slices(W).batch(1)
    data = data.apply(tf.data.experimental.prefetch_to_device("/GPU:0"))

    @tf.function
    def total():
        found = tf.zeros([1, 3])
        for x in data:
            found += x
        return found

    np.testing.assert_array_equal(total().numpy(), W.sum(0, keepdims=True))


@pytest.mark.parametrize("shape", [(3,), (5, 2**19), (40, 2**18 + 1)])
def test_uploads_in_pieces(shape, card):
    for dtype in (np.float32, BFLOAT16):
        a = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
        for array in (a, a[::-1], a.T):
            np.testing.assert_array_equal(card.to_numpy(card.upload(array)), array)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BFLOAT16])
@pytest.mark.parametrize("shape", [(600, 257), (7, 40, 333), (70_000, 3), (2, 40_000)])
def test_sums_of_large_arrays(dtype, shape, card):
    """By rows and by columns, beside the host's; NaN and infinities as there."""
    a = np.random.default_rng(0).normal(size=shape).astype(dtype)
    small = np.dtype(dtype).itemsize == 2
    close = {"rtol": 2e-2, "atol": 2e-1} if small else {"rtol": 1e-4, "atol": 1e-3}

    def check(function):
        for values in (a, np.where(a > 2.5, dtype(np.inf), a), np.where(a > 2.5, dtype(np.nan), a)):
            x, y = tf.constant(values), tf.Variable(values).value()
            with np.errstate(all="ignore"):
                wanted, found = function(x), function(y)
            for w, f in zip(tf.nest.flatten(wanted), tf.nest.flatten(found), strict=True):
                assert kind(f) == "GPU" and f.dtype == w.dtype
                w, f = w.numpy().astype(np.float64), f.numpy().astype(np.float64)
                np.testing.assert_allclose(f, w, **close)

    check(lambda x: tf.reduce_sum(x, 0))
    check(lambda x: tf.reduce_sum(x, list(range(len(shape) - 1))))
    check(tf.nn.softmax)
    check(lambda x: tf.nn.moments(x, [-1], keepdims=True))
    check(lambda x: tf.nn.moments(x, list(range(len(shape) - 1))))
    check(lambda x: tf.tanh(x) + tf.exp(-tf.abs(x)) + tf.nn.gelu(x, True) + tf.nn.gelu(x))

    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.softmax(x) * x[:1] + tf.nn.gelu(x, True)
        return tape.gradient(y, x)

    if not small:
        x, y = tf.constant(a), tf.Variable(a).value()
        np.testing.assert_allclose(gradients(y).numpy(), gradients(x).numpy(), **close)


def test_moments_of_large_numbers():
    a = np.tile(np.float32([1e8, 1e8 + 8, 1e8 + 16]), 30_000)
    x = tf.Variable(a.reshape(3, -1))
    for axis in (0, 1):
        mean, variance = tf.nn.moments(x.value(), [axis])
        wide = a.reshape(3, -1).astype(np.float64)
        np.testing.assert_allclose(mean.numpy(), wide.mean(axis), rtol=1e-7)
        np.testing.assert_allclose(variance.numpy(), wide.var(axis), rtol=1e-6, atol=1e-30)


CONVOLUTIONS = [
    ([2, 9, 10, 6], [3, 3, 6, 8], {"strides": 1, "padding": "SAME"}),
    ([2, 10, 9, 6], [3, 2, 6, 8], {"strides": 2, "padding": "SAME"}),
    ([2, 9, 9, 6], [3, 3, 3, 8], {"strides": 1, "padding": "VALID"}),
    ([2, 12, 9, 4], [3, 3, 4, 4], {"strides": 1, "padding": "SAME", "dilations": 2}),
    ([2, 9, 8, 4], [1, 1, 4, 4], {"strides": 2, "padding": [[0, 0], [0, 3], [2, 1], [0, 0]]}),
]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions(case, dtype):
    shape, kernel, geometry = case
    random = np.random.default_rng(0)
    a, b = random.normal(size=shape), random.normal(size=kernel)
    tolerance = {"float64": 1e-10, "float32": 5e-3}.get(dtype, 5e-2)

    def all_of(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, **geometry)
            loss = tf.reduce_sum(tf.cast(y, tf.float64) ** 2)
        return [y, *tape.gradient(loss, [x, w])]

    wanted = all_of(tf.constant(a), tf.constant(b))
    with tf.device("GPU"):
        found = all_of(tf.cast(tf.constant(a), dtype), tf.cast(tf.constant(b), dtype))
    for w, f in zip(wanted, found, strict=True):
        assert kind(f) == "GPU"
        w, f = w.numpy(), f.numpy().astype(np.float64)
        assert np.abs(f - w).max() <= tolerance * np.abs(w).max()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
def test_products_of_many_matrices(dtype, transposed):
    random = np.random.default_rng(0)
    flip_a, flip_b = transposed
    a, b = random.normal(size=(2, 3, 5, 6)), random.normal(size=(2, 3, 6, 4))
    wanted = a @ b
    with tf.device("GPU"):
        x = tf.cast(tf.constant(a.swapaxes(-1, -2) if flip_a else a), dtype)
        y = tf.cast(tf.constant(b.swapaxes(-1, -2) if flip_b else b), dtype)
        moved = tf.transpose(tf.cast(tf.constant(np.moveaxis(a, 1, 2)), dtype), [0, 2, 1, 3])
    found = [tf.matmul(x, y, transpose_a=bool(flip_a), transpose_b=bool(flip_b))]
    found.append(tf.matmul(moved, y, transpose_b=bool(flip_b)))  # whose matrices lie apart
    tolerance = {"float64": 1e-12, "float32": 5e-3}.get(dtype, 5e-2)
    for product in found:
        assert kind(product) == "GPU" and product.dtype == dtype
        np.testing.assert_allclose(product.numpy().astype(np.float64), wanted, atol=tolerance * 9)


def test_parts_of_a_large_array(card):
    """The second and later ones come out of the array itself, whose memory is pinned then."""
    for _ in range(2):  # the second array may lie where the first one was
        a = np.random.default_rng(0).integers(0, 100, (34, 2**19)).astype(np.float32)
        for start in (0, 10, 20):
            part = a[start : start + 10]
            np.testing.assert_array_equal(card.to_numpy(card.upload(part)), part)
        del a, part
