"""Values on a GPU: where they are, what moves them, and that nothing else does."""

import logging
import pickle

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.engines.cupy.transfers import counted
from gradtape._src.engines.cupy.xla import has_card

W = np.arange(6, dtype=np.float32).reshape(2, 3)


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
