"""Saved models: objects, variables, functions and their derivatives, the same on TensorFlow."""

import json

import numpy as np
import pytest


def net(tf):
    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.parts = [tf.Variable(0.5), {"b": tf.Variable([1.0, -1.0])}]
            self.count = tf.Variable(0, trainable=False)

        @tf.function
        def __call__(self, x, scale=2.0):
            return {"y": tf.matmul(x, self.w) * scale, "sum": tf.reduce_sum(x) * self.parts[0]}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def add(self, n):
            self.count.assign_add(n)
            return self.count + 0

    return Net()


@pytest.fixture
def loaded(tf, tmp_path):
    model = net(tf)
    model(tf.ones([3, 2]))
    tf.saved_model.save(model, str(tmp_path / "model"))
    return tf.saved_model.load(str(tmp_path / "model"))


def test_attributes_come_back(tf, loaded):
    np.testing.assert_array_equal(loaded.w, [[1.0, 2.0], [3.0, 4.0]])
    assert loaded.w.trainable and not loaded.count.trainable
    assert float(loaded.parts[0]) == 0.5
    np.testing.assert_array_equal(loaded.parts[1]["b"], [1.0, -1.0])
    assert isinstance(loaded.w, tf.Variable)


def test_functions_compute_what_they_did(tf, loaded):
    model, x = net(tf), tf.constant(np.random.normal(size=(3, 2)).astype(np.float32))
    for name, value in model(x).items():
        np.testing.assert_allclose(loaded(x)[name], value, rtol=1e-6)
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded(tf.ones([3, 5]))
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded(x, scale=3.0)  # it was traced for 2.0


def test_they_read_and_assign_the_variables_that_came_back(tf, loaded):
    x = tf.ones([3, 2])
    loaded.w.assign(tf.zeros([2, 2]))
    np.testing.assert_array_equal(loaded(x)["y"], np.zeros([3, 2]))
    assert int(loaded.add(5)) == 5 and int(loaded.add(2)) == 7 == int(loaded.count)


@pytest.mark.parametrize("compiled", [False, True])
def test_they_can_be_differentiated(tf, loaded, compiled):
    model, x = net(tf), tf.constant(np.random.normal(size=(3, 2)).astype(np.float32))
    run = tf.function(lambda x: loaded(x)) if compiled else loaded

    def gradients(call, variables):
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = call(x)
            loss = tf.reduce_sum(out["y"] ** 2) + out["sum"] ** 3
        watched = {v.ref() for v in tape.watched_variables()}
        assert {v.ref() for v in variables} <= watched
        return tape.gradient(loss, [x, *variables])

    found = gradients(run, [loaded.w, loaded.parts[0]])
    wanted = gradients(model, [model.w, model.parts[0]])
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_custom_gradients_go_with_the_function(tf, tmp_path):
    @tf.custom_gradient
    def odd(x):
        return x * 2.0, lambda g: g * 100.0

    module = tf.Module()
    module.f = tf.function(odd, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, str(tmp_path / "m"))
    f = tf.saved_model.load(str(tmp_path / "m")).f
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy().tolist() == [2.0, 4.0]
    assert tape.gradient(y, x).numpy().tolist() == [100.0, 100.0]


@pytest.mark.gradtape_only  # TensorFlow saves the second derivative too
def test_a_second_derivative_is_refused(tf, loaded):
    x = tf.ones([3, 2])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = loaded(x)["y"] ** 2
        first = inner.gradient(y, x)
    with pytest.raises(LookupError, match="can be differentiated once"):
        outer.gradient(first, x)


def test_sizes_left_open(tf, tmp_path):
    module = tf.Module()
    specs = [tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([None], tf.float32)]

    @tf.function(input_signature=specs)
    def f(x, y):
        return tf.reduce_sum(x, 1) * y, tf.shape(x)

    module.f = f
    tf.saved_model.save(module, str(tmp_path / "m"))
    f = tf.saved_model.load(str(tmp_path / "m")).f
    for rows, columns in [(2, 3), (5, 1)]:
        x, y = tf.ones([rows, columns]), tf.ones([rows])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z, shape = f(x, y)
        assert shape.numpy().tolist() == [rows, columns]
        assert z.numpy().tolist() == [columns] * rows
        assert tape.gradient(z, y).numpy().tolist() == [columns] * rows


def test_random_functions_draw_anew(tf, tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x + tf.random.normal([4]))
    module.f(tf.ones([4]))
    tf.saved_model.save(module, str(tmp_path / "m"))
    f = tf.saved_model.load(str(tmp_path / "m")).f
    assert not np.array_equal(f(tf.ones([4])), f(tf.ones([4])))


# Signatures


def test_the_only_function_with_a_signature_is_served(tf, loaded):
    assert list(loaded.signatures) == ["serving_default"]
    served = loaded.signatures["serving_default"]
    assert int(served(n=tf.constant(3))["output_0"]) == 3
    assert int(served(tf.constant(1))["output_0"]) == 4
    (none, named) = served.structured_input_signature
    assert none == () and named["n"].dtype == tf.int32
    with pytest.raises(TypeError):
        served(tf.constant(1), tf.constant(1))


def test_signatures_by_name(tf, tmp_path):
    module = net(tf)
    call = module.__call__.get_concrete_function(tf.TensorSpec([None, 2], tf.float32, name="rows"))
    tf.saved_model.save(module, str(tmp_path / "m"), signatures={"a": call, "b": module.add})
    signatures = tf.saved_model.load(str(tmp_path / "m")).signatures
    assert set(signatures) == {"a", "b"}
    out = signatures["a"](rows=tf.ones([1, 2]))
    assert set(out) == {"y", "sum"} and out["y"].numpy().tolist() == [[8.0, 12.0]]


def test_nested_arguments_are_named_one_by_one(tf, tmp_path):
    module = tf.Module()
    spec = tf.TensorSpec([None], tf.float32)
    module.f = tf.function(lambda inputs: inputs[0] - inputs[1], input_signature=[[spec, spec]])
    tf.saved_model.save(module, str(tmp_path / "m"))
    served = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
    out = served(inputs=tf.constant([3.0]), inputs_1=tf.constant([1.0]))
    assert out["output_0"].numpy().tolist() == [2.0]


def test_a_function_that_was_never_called_cannot_be(tf, tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x)
    tf.saved_model.save(module, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="zero restored functions"):
        tf.saved_model.load(str(tmp_path / "m")).f(1.0)


# What is refused


def test_what_is_no_trackable_is_refused(tf, tmp_path):
    with pytest.raises(ValueError, match="rackable"):
        tf.saved_model.save(object(), str(tmp_path / "m"))


def test_a_folder_that_is_not_there(tf, tmp_path):
    assert not tf.saved_model.contains_saved_model(str(tmp_path / "no"))
    with pytest.raises(OSError):
        tf.saved_model.load(str(tmp_path / "no"))


@pytest.mark.gradtape_only
def test_a_model_of_tensorflow_is_refused_with_advice(tf, tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(NotImplementedError, match=r"is a SavedModel of TensorFlow.*\.weights\.h5"):
        tf.saved_model.load(tmp_path)


@pytest.mark.gradtape_only
def test_text_is_refused(tf, tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.string)])
    with pytest.raises(NotImplementedError, match="takes or gives text"):
        tf.saved_model.save(module, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.gradtape_only
def test_a_damaged_folder_is_refused(tf, loaded, tmp_path):
    path = tmp_path / "model" / "model.json"
    description = json.loads(path.read_text())
    path.write_text(json.dumps(description | {"format": 99}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="has format 99"):
        tf.saved_model.load(tmp_path / "model")
    path.write_text("{")
    with pytest.raises(tf.errors.InvalidArgumentError, match="is damaged"):
        tf.saved_model.load(tmp_path / "model")


def test_open_sizes_of_two_arguments_need_not_be_equal(tf, tmp_path):
    """A program that is saved is not traced again: the sizes are kept apart where they can be."""
    pair = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None])]

    class Pair(tf.Module):
        @tf.function(input_signature=pair)
        def joined(self, x, y):
            return tf.reduce_sum(tf.concat([x, y], 1), 1)

        @tf.function(input_signature=pair)
        def added(self, x, y):
            return x + y

    tf.saved_model.save(Pair(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for rows, left, right in [(3, 8, 6), (2, 1, 5)]:
        found = loaded.joined(tf.ones([rows, left]), tf.ones([rows, right]))
        assert found.numpy().tolist() == [left + right] * rows
    assert loaded.added(tf.ones([2, 3]), tf.ones([2, 3])).numpy().tolist() == [[2.0] * 3] * 2
