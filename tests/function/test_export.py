"""A function in a file: exported, read back, served by a process that has none of its Python."""

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


@pytest.fixture
def path(tmp_path):
    return tmp_path / "function.npz"


def test_there_and_back(tf, path):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    f = tf.function(lambda x: {"y": tf.tanh(x @ w), "both": (x, None), "c": 1.5})
    x = tf.constant([[0.5, -1.0]])
    exported = f.export(tf.TensorSpec([1, 2]))
    assert "stablehlo" in exported.stablehlo
    exported.save(path)
    loaded = tf.function.load(path)
    for served in (exported, loaded):
        found = served(x)
        assert found.keys() == {"y", "both", "c"}
        np.testing.assert_allclose(found["y"], f(x)["y"], rtol=1e-6)
        np.testing.assert_array_equal(found["both"][0], x)
        assert found["both"][1] is None
        assert float(found["c"]) == 1.5
    w.assign(tf.zeros([2, 2]))  # the file has the values of its moment
    assert float(tf.reduce_sum(loaded(x)["y"])) != 0.0


def test_double_precision_and_dict_order(tf, path):
    f = tf.function(lambda x, y: {"b": x * 2.0, "a": y + 1})
    f.export(tf.constant(1.0, tf.float64), tf.constant([1, 2])).save(path)
    found = tf.function.load(path)(tf.constant(1.5, tf.float64), tf.constant([3, 4]))
    assert found["b"].dtype == tf.float64
    assert float(found["b"]) == 3.0
    assert found["a"].numpy().tolist() == [4, 5]


def test_state_is_kept_from_call_to_call(tf, path):
    count = tf.Variable(10)

    @tf.function
    def f():
        return count.assign_add(1) * 1

    f.export().save(path)
    served = tf.function.load(path)
    assert [int(served()), int(served())] == [11, 12]
    assert int(count) == 10


def test_draws_differ_from_call_to_call(tf, path):
    tf.function(lambda: tf.random.normal([4])).export().save(path)
    served = tf.function.load(path)
    assert not np.array_equal(served(), served())


def test_a_method_with_control_flow(tf, path):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(2.0)

        @tf.function
        def powers(self, x):
            total = tf.zeros_like(x)
            for _ in tf.range(3):
                total = total * self.w + x
            return total

    Model().powers.export(tf.TensorSpec([])).save(path)
    assert float(tf.function.load(path)(tf.constant(1.0))) == 7.0


def test_another_process_needs_none_of_the_python(tf, path):
    w = tf.Variable(3.0)
    tf.function(lambda x: w * x).export(tf.TensorSpec([2])).save(path)
    program = "import sys, gradtape as tf; print(tf.function.load(sys.argv[1])([1.0, 2.0]).numpy())"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[3. 6.]"


def test_what_does_not_fit_is_refused(tf, path):
    served = tf.function(lambda x: x).export(tf.TensorSpec([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tensor 0 must be float32 of shape"):
        served(tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 1 tensors, and got 2"):
        served(tf.ones([2]), tf.ones([2]))
    slices = tf.function(lambda x: tf.IndexedSlices(x, tf.constant([0, 1])))
    with pytest.raises(tf.errors.UnimplementedError, match="IndexedSlices"):
        slices.export(tf.TensorSpec([2]))


def test_a_file_that_is_none_is_refused(tf, path):
    with pytest.raises(FileNotFoundError):
        tf.function.load(path)
    for content in (b"", b"no archive at all", b"PK\x03\x04 cut off"):
        path.write_bytes(content)
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not an exported function"):
            tf.function.load(path)
    np.savez(path, other=np.ones(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not an exported function"):
        tf.function.load(path)
    np.savez(path, description=np.array(["x"], object), program=np.ones(1))  # would need pickle
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not an exported function"):
        tf.function.load(path)


def test_a_truncated_file_is_refused(tf, path):
    tf.function(lambda x: x * 2.0).export(tf.TensorSpec([2])).save(path)
    whole = path.read_bytes()
    for size in (len(whole) // 4, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not an exported function"):
            tf.function.load(path)
