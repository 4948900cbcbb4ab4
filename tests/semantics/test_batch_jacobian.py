"""docs/semantics.md, section N: batch_jacobian()."""

import inspect

import numpy as np
import pytest

from .helpers import raises, same


def batch_jacobian(tf, f, x, persistent=False, **options):
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = f(x)
    return tape.batch_jacobian(y, x, **options)


def test_N_signature(tf):
    parameters = inspect.signature(tf.GradientTape.batch_jacobian).parameters
    names = ["target", "source", "unconnected_gradients", "parallel_iterations"]
    assert list(parameters)[1:] == [*names, "experimental_use_pfor"]
    assert parameters["parallel_iterations"].default is None
    assert parameters["experimental_use_pfor"].default is True
    v = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    expected = [[[2.0, 0.0], [0.0, 4.0]]]
    same(tape.batch_jacobian(y, v, tf.UnconnectedGradients.NONE, None, True), expected)
    same(tape.batch_jacobian(target=y, source=v), expected)


def test_N1_one_jacobian_for_each_example(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    j = batch_jacobian(tf, lambda x: tf.stack([x[:, 0] * x[:, 1], x[:, 0] ** 2], 1), x)
    same(j, [[[b, a], [2 * a, 0.0]] for a, b in x.numpy()])
    assert j.dtype == tf.float32
    assert isinstance(j, tf.Tensor)


def test_N1_of_a_layer(tf):
    w, x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tf.constant([[0.1, 0.2], [0.3, -0.1]])
    j = batch_jacobian(tf, lambda x: tf.tanh(tf.matmul(x, w)), x)
    slope = 1 - np.tanh(x.numpy() @ w.numpy()) ** 2
    same(j, slope[:, :, None] * w.numpy().T)


def test_N1_of_a_variable(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = v**2
    same(tape.batch_jacobian(y, v), [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])])


def test_N1_inside_the_block(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        j = tape.batch_jacobian(x**2, x)
    same(j, [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])])


def test_N2_higher_ranks(tf):
    x = tf.constant(np.random.uniform(size=(5, 3)))
    w = np.random.uniform(size=(3, 8))
    j = batch_jacobian(tf, lambda x: tf.reshape(tf.matmul(x, w), [5, 2, 4]), x)
    assert j.shape == (5, 2, 4, 3)
    same(j, np.tile(np.transpose(w.reshape(3, 2, 4), (1, 2, 0)), (5, 1, 1, 1)), tol=1e-12)


def test_N2_a_source_of_higher_rank(tf):
    x = tf.constant(np.random.uniform(size=(2, 3, 4)))
    j = batch_jacobian(tf, lambda x: tf.reduce_sum(x**2, axis=2), x)
    assert j.shape == (2, 3, 3, 4)
    same(j, np.einsum("bik,ij->bijk", 2 * x.numpy(), np.eye(3)), tol=1e-12)


def test_N3_different_first_dimensions(tf):
    with pytest.raises(ValueError, match="first dimension"):
        batch_jacobian(tf, lambda x: x[:2] ** 2, tf.ones((3, 2)))


@pytest.mark.parametrize(
    "f, x",
    [
        (lambda tf, x: x * x, [1.0, 2.0]),
        (lambda tf, x: tf.reduce_sum(x * x, 1), [[1.0, 2.0], [3.0, 4.0]]),
        (lambda tf, x: tf.stack([x, x * x], 1), [1.0, 2.0]),
    ],
    ids=["both", "target", "source"],
)
def test_N4_a_rank_below_two(tf, f, x):
    with pytest.raises(ValueError, match="rank"):
        batch_jacobian(tf, lambda x: f(tf, x), tf.constant(x))


@pytest.mark.gradtape_only
def test_N4_scalars(tf):
    with pytest.raises(ValueError, match="rank"):
        batch_jacobian(tf, lambda x: x * x, tf.constant(1.0))


def test_N5_the_source_is_one_tensor(tf):
    x = tf.ones((2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with raises(tf, TypeError, match="source"):
        tape.batch_jacobian(y, [x])


def test_N5_the_target_is_one_tensor(tf):
    x = tf.ones((2, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    for target in ([y], None):
        with raises(tf, TypeError, match="target"):
            tape.batch_jacobian(target, x)


@pytest.mark.parametrize("unconnected", ["none", "zero"])
@pytest.mark.parametrize("pfor", [True, False])
def test_N6_an_unconnected_source_gives_zeros(tf, unconnected, pfor):
    x, other = tf.ones((2, 3)), tf.ones((2, 4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * x
    options = {"unconnected_gradients": unconnected, "experimental_use_pfor": pfor}
    same(tape.batch_jacobian(y, other, **options), np.zeros((2, 3, 4)))


def test_N7_without_pfor_a_persistent_tape_is_needed(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(RuntimeError, match="persistent"):
        batch_jacobian(tf, lambda x: x * x, x, experimental_use_pfor=False)
    j = batch_jacobian(tf, lambda x: x * x, x, persistent=True, experimental_use_pfor=False)
    same(j, [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])])


def test_N8_parallel_iterations_need_a_persistent_tape(tf):
    with pytest.raises(RuntimeError):
        batch_jacobian(tf, lambda x: x * x, tf.ones((2, 3)), parallel_iterations=2)


@pytest.mark.parametrize("iterations", [2, 100])
@pytest.mark.parametrize("pfor", [True, False])
def test_N8_parallel_iterations_do_not_change_the_result(tf, iterations, pfor):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    options = {"parallel_iterations": iterations, "experimental_use_pfor": pfor}
    j = batch_jacobian(tf, lambda x: x * x, x, persistent=True, **options)
    same(j, [np.diag([2.0, 4.0, 6.0]), np.diag([8.0, 10.0, 12.0])])


def test_N9_dependent_examples_are_summed(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * tf.reduce_sum(x**2)
    full = tape.jacobian(y, x).numpy()
    same(tape.batch_jacobian(y, x), np.transpose(full.sum(0), (1, 0, 2)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x + x[::-1]
    same(tape.batch_jacobian(y, x), [2 * np.eye(2)] * 2)


def test_N10_an_example_without_elements(tf):
    assert batch_jacobian(tf, lambda x: x * x, tf.zeros((1, 0))).shape == (1, 0, 0)


def test_N11_the_diagonal_blocks_of_jacobian(tf):
    x = tf.constant(np.random.uniform(size=(4, 3)))
    w = np.random.uniform(size=(3, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.softmax(tf.matmul(tf.sin(x), w)) * x[:, :1]
    full = tape.jacobian(y, x).numpy()
    blocks = [full[i, :, i] for i in range(4)]
    same(tape.batch_jacobian(y, x), blocks, tol=1e-12)


def test_N11_hessians_of_examples(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[:, 0] ** 2 * x[:, 1] ** 3
        g = inner.gradient(y, x)
    hessians = [[[2 * b**3, 6 * a * b**2], [6 * a * b**2, 6 * a**2 * b]] for a, b in x.numpy()]
    same(outer.batch_jacobian(g, x), hessians)


def test_N_is_differentiable_by_outer_tapes(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        j = batch_jacobian(tf, lambda x: x**3, x)
    same(outer.gradient(j, x), 6 * x.numpy())
