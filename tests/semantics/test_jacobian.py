"""docs/semantics.md, section M: jacobian()."""

import inspect

import numpy as np
import pytest

from .helpers import grad, on_gradtape, raises, same

MATRIX = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def jacobian(tf, f, *xs, persistent=False, **options):
    """The jacobian of f(*xs), all xs watched: one for one x, a list for several."""
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(xs)
        y = f(*xs)
    jacobians = tape.jacobian(y, list(xs), **options)
    return jacobians if len(xs) > 1 else jacobians[0]


def diagonal(values):
    """The array that has `values` where all indices are equal, here for three of them."""
    n = len(values)
    result = np.zeros((n, n, n))
    result[range(n), range(n), range(n)] = values
    return result


def test_M_signature(tf):
    parameters = inspect.signature(tf.GradientTape.jacobian).parameters
    names = ["target", "sources", "unconnected_gradients", "parallel_iterations"]
    assert list(parameters)[1:] == [*names, "experimental_use_pfor"]
    assert parameters["parallel_iterations"].default is None
    assert parameters["experimental_use_pfor"].default is True
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    same(tape.jacobian(y, w, tf.UnconnectedGradients.ZERO, None, True), [0.0, 0.0])
    same(tape.jacobian(target=y, sources=v), [[2.0, 0.0], [0.0, 4.0]])


def test_M1_rows_belong_to_the_target(tf):
    same(jacobian(tf, lambda x: tf.linalg.matvec(tf.constant(MATRIX), x), tf.ones(2)), MATRIX)


def test_M1_of_a_function_of_several_elements(tf):
    x = tf.constant([2.0, 3.0])
    j = jacobian(tf, lambda x: tf.stack([x[0] * x[1], x[0] ** 2, x[1]]), x)
    same(j, [[3.0, 2.0], [4.0, 0.0], [0.0, 1.0]])
    assert j.dtype == tf.float32
    assert isinstance(j, tf.Tensor)


@pytest.mark.parametrize(
    "f, target_shape, source_shape",
    [
        (lambda tf, x: x * x, (), ()),
        (lambda tf, x: x * tf.ones((2, 3)), (2, 3), ()),
        (lambda tf, x: tf.reduce_sum(x * x), (), (2, 3)),
        (lambda tf, x: tf.reduce_sum(x * x, axis=1), (2,), (2, 3)),
        (lambda tf, x: tf.transpose(x)[:, None], (3, 1, 2), (2, 3)),
        (lambda tf, x: tf.matmul(x, x, transpose_b=True), (2, 2), (2, 3)),
        (lambda tf, x: tf.reshape(x, [1, 6, 1])[:, :4], (1, 4, 1), (3, 1, 2)),
    ],
    ids=["scalars", "of_scalar", "to_scalar", "reduced", "permuted", "matmul", "rank3"],
)
def test_M2_the_shape_is_that_of_target_and_source(tf, f, target_shape, source_shape):
    x = tf.constant(np.random.uniform(1, 2, source_shape), tf.float64)
    j = jacobian(tf, lambda x: f(tf, tf.cast(x, tf.float32)), x)
    assert j.shape == target_shape + source_shape
    assert j.dtype == tf.float64


def test_M2_values_of_higher_rank(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    j = jacobian(tf, lambda x: tf.transpose(x) ** 2, x)
    expected = np.zeros((2, 2, 2, 2))
    for i in range(2):
        for k in range(2):
            expected[i, k, k, i] = 2 * x.numpy()[k, i]
    same(j, expected)


def test_M3_the_result_mirrors_the_sources(tf):
    v, x = tf.Variable([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = v * x
    j = tape.jacobian(y, {"v": v, "rest": [x, (v,)]})
    assert list(j) == ["v", "rest"]
    assert type(j["rest"]) is list
    assert type(j["rest"][1]) is tuple
    same(j["v"], [[3.0, 0.0], [0.0, 3.0]])
    same(j["rest"][0], [1.0, 2.0])
    same(j["rest"][1][0], [[3.0, 0.0], [0.0, 3.0]])


def test_M3_no_sources(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.jacobian(y, []) == []


def test_M3_an_intermediate_result_as_source(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        middle = v * v
        y = middle * 3.0
    same(tape.jacobian(y, middle), [[3.0, 0.0], [0.0, 3.0]])


def test_M4_an_unconnected_source(tf):
    v, other = tf.Variable([1.0, 2.0]), tf.Variable(MATRIX)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.jacobian(y, other) is None
    j, nothing = tape.jacobian(y, [v, other], unconnected_gradients="none")
    same(j, [[2.0, 0.0], [0.0, 4.0]])
    assert nothing is None
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        same(tape.jacobian(y, [v, other], unconnected_gradients=zero)[1], np.zeros((2, 3, 2)))


def test_M4_another_value_is_refused(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    with pytest.raises(ValueError, match="nonsense" if on_gradtape(tf) else None):
        tape.jacobian(y, v, unconnected_gradients="nonsense")


def test_M5_without_pfor_a_persistent_tape_is_needed(tf):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(RuntimeError, match="persistent=True"):
        jacobian(tf, lambda x: x * x, x, experimental_use_pfor=False)
    j = jacobian(tf, lambda x: x * x, x, persistent=True, experimental_use_pfor=False)
    same(j, [[2.0, 0.0], [0.0, 4.0]])


def test_M5_without_pfor_several_sources(tf):
    x, y, z = tf.constant([1.0, 2.0]), tf.constant(3.0), tf.constant([4.0])
    options = {"persistent": True, "experimental_use_pfor": False}
    by_x, by_y, by_z = jacobian(tf, lambda x, y, z: x * y, x, y, z, **options)
    same(by_x, [[3.0, 0.0], [0.0, 3.0]])
    same(by_y, [1.0, 2.0])
    assert by_z is None
    zeros = jacobian(tf, lambda x, y: x * x, x, y, unconnected_gradients="zero", **options)[1]
    same(zeros, [0.0, 0.0])


@pytest.mark.parametrize("iterations", [2, 3, 100])
@pytest.mark.parametrize("pfor", [True, False])
def test_M6_parallel_iterations_do_not_change_the_result(tf, iterations, pfor):
    x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    j = jacobian(
        tf,
        lambda x: tf.cumsum(x**2),
        x,
        persistent=True,
        parallel_iterations=iterations,
        experimental_use_pfor=pfor,
    )
    same(j, np.tril(np.tile(2 * x.numpy(), (5, 1))))


def test_M7_parallel_iterations_refused(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(ValueError):
        jacobian(tf, lambda x: x * x, x, parallel_iterations=2)
    with pytest.raises(ValueError):
        jacobian(tf, lambda x: x * x, x, parallel_iterations=1)
    with pytest.raises(ValueError):
        jacobian(tf, lambda x: x * x, x, parallel_iterations=1, persistent=True)


@pytest.mark.parametrize("kind", ["list", "None", "number"])
def test_M8_the_target_is_one_tensor(tf, kind):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    target = {"list": [y], "None": None, "number": 1.0}[kind]
    with raises(tf, TypeError, match="target"):
        tape.jacobian(target, x)


@pytest.mark.parametrize("persistent", [False, True])
def test_M9_inside_the_block(tf, persistent):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = x * x
        j = tape.jacobian(y, x)
    same(j, [[2.0, 0.0], [0.0, 4.0]])


def test_M10_jacobian_of_a_gradient_is_the_hessian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = grad(tf, lambda x: x[0] ** 2 * x[1] ** 3, x)
    same(outer.jacobian(g, x), [[16.0, 24.0], [24.0, 12.0]])


def test_M10_hessian_of_a_matrix_source(tf):
    w, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [-1.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.matmul(w, x) ** 2)
        g = inner.gradient(y, w)
    same(outer.jacobian(g, w), np.einsum("ik,j,l->ijkl", 2 * np.eye(2), [1, -1], [1, -1]))


def test_M10_hessian_blocks_of_several_variables(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(v**2) * w**2
        by_v, by_w = inner.gradient(y, [v, w])
    vv, vw = outer.jacobian(by_v, [v, w])
    wv, ww = outer.jacobian(by_w, [v, w])
    same(vv, [[18.0, 0.0], [0.0, 18.0]])
    same(vw, [12.0, 24.0])
    same(wv, [12.0, 24.0])
    same(ww, 10.0)


def test_M11_jacobian_of_a_jacobian(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = jacobian(tf, lambda x: x**3, x)
    same(outer.jacobian(first, x), diagonal([6.0, 12.0, 18.0]))


def test_M11_gradient_of_a_jacobian(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = jacobian(tf, lambda x: x**3, x)
    same(first, np.diag([3.0, 12.0, 27.0]))
    same(outer.gradient(first, x), [6.0, 12.0, 18.0])


def test_M11_a_loss_made_of_a_jacobian(tf):
    w, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, -1.0])
    with tf.GradientTape() as outer:
        j = jacobian(tf, lambda x: tf.linalg.matvec(w, x * x), x)
        loss = tf.reduce_sum(j**2)
    # j[i, k] = 2 w[i, k] x[k]
    same(outer.gradient(loss, w), [[8.0, 16.0], [24.0, 32.0]])


def test_M11_without_pfor(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = jacobian(tf, lambda x: x**3, x, persistent=True, experimental_use_pfor=False)
    same(outer.jacobian(first, x), diagonal([6.0, 12.0, 18.0]))


def test_M12_an_empty_vector(tf):
    j = jacobian(tf, lambda x: x * x, tf.zeros(0))
    assert j.shape == (0, 0)


def test_M13_an_integer_computation(tf):
    x = tf.constant([1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x) is None
    z = tf.constant([1.0, 2.0])
    assert jacobian(tf, lambda z: tf.cast(z, tf.int32) * 2, z) is None


def test_M14_a_row_is_the_gradient_of_an_element(tf):
    x = tf.constant([0.3, 0.5, 0.7], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.softmax(tf.sin(x) * x[0]) / x[1]
        elements = [y[i] for i in range(3)]
    rows = [tape.gradient(element, x) for element in elements]
    same(tape.jacobian(y, x), np.stack(rows), tol=1e-12)


LAYERS = {
    "matmul": lambda tf, x: tf.matmul(x, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "reductions": lambda tf, x: tf.reduce_max(x, 0) / tf.reduce_sum(x, 0),
    "slices": lambda tf, x: tf.concat([x[1:], x[:1] ** 2], 0),
    "gather": lambda tf, x: tf.gather(x, [1, 1, 0]) * x[0],
    "where": lambda tf, x: tf.where(x > 0.5, x**2, x * x[0, 0]),
    "tile": lambda tf, x: tf.tile(x, [2, 1]) * 2.0,
    "sort": lambda tf, x: tf.sort(x, axis=0)[0],
    "cumsum": lambda tf, x: tf.cumsum(x, axis=1) ** 2,
    "split": lambda tf, x: tf.split(x, 3, axis=1)[1] * tf.split(x, 3, axis=1)[2],
}


@pytest.mark.parametrize("f", LAYERS.values(), ids=LAYERS)
def test_M14_for_common_operations(tf, f):
    x = tf.constant([[0.1, 0.9, 0.4], [0.7, 0.2, 0.8]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(tf, x)
        elements = tf.unstack(tf.reshape(y, [-1]))
    rows = [tf.convert_to_tensor(tape.gradient(element, x)) for element in elements]
    expected = np.reshape(np.stack(rows), (*y.shape, 2, 3))
    same(tape.jacobian(y, x), expected)


@pytest.mark.gradtape_only
def test_M12_of_no_elements_through_a_convolution(tf):
    x = tf.constant(np.ones((0, 4, 4, 2)))
    filters = tf.constant(np.ones((2, 2, 2, 3)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.conv2d(x, filters, strides=1, padding="VALID")
    assert tape.jacobian(y, x).shape == (0, 3, 3, 3, 0, 4, 4, 2)
