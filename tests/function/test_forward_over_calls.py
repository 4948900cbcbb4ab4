"""ForwardAccumulators outside of calls of compiled functions, as without compiling."""

import numpy as np
import pytest

import gradtape as tf

pytestmark = pytest.mark.gradtape_only

W = tf.Variable([[0.3, -0.2], [0.1, 0.5]], dtype=tf.float64)
B = tf.Variable([0.1, -0.3], dtype=tf.float64)
X = tf.constant([[1.0, 2.0], [-0.5, 0.25], [0.7, -1.0]], tf.float64)
TANGENTS = [
    tf.constant([[1.0, -2.0], [0.5, 0.25]], tf.float64),
    tf.constant([0.3, 2.0], tf.float64),
]


def mlp(x):
    return tf.reduce_sum(tf.tanh(tf.tanh(x @ W + B) @ W) ** 2)


def several(x):
    return {"sum": x @ W + B, "count": tf.size(x), "square": W * W}["square"] * tf.reduce_sum(x @ W)


def of_one_only(x):  # the bias is not used
    return tf.reduce_sum(tf.exp(x @ W))


def looping(x):
    y = x @ W
    n = tf.constant(0)
    while n < 3:
        y = tf.sin(y) @ W + B
        n += 1
    return tf.reduce_sum(y * y)


def choosing(x):
    if tf.reduce_sum(x) > 0:
        y = tf.sin(x @ W + B)
    else:
        y = x
    return tf.reduce_sum(y * W[0])


def looking_up(x):
    rows = tf.gather(W, tf.constant([1, 1, 0]))
    return tf.reduce_sum(rows * rows * x) + tf.reduce_sum(B**3)


FUNCTIONS = [mlp, several, of_one_only, looping, choosing, looking_up]
functions = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


def jvp(f, x=X):
    with tf.autodiff.ForwardAccumulator([W, B], TANGENTS) as acc:
        y = f(x)
    return [acc.jvp(y)]


def gradients(tape, y, sources):
    """As tensors, for IndexedSlices have no tangents."""
    found = [tape.gradient(y, v) for v in sources] if tape.persistent else tape.gradient(y, sources)
    return [None if g is None else tf.convert_to_tensor(g) for g in found]


def products(acc, tensors):
    return [None if x is None else acc.jvp(x) for x in tensors]


def hvp(f, x=X):
    with tf.autodiff.ForwardAccumulator([W, B], TANGENTS) as acc:
        with tf.GradientTape() as tape:
            y = f(x)
        g = gradients(tape, y, [W, B])
    return [acc.jvp(y), *g, *products(acc, g)]


def hvp_of_a_persistent_tape(f, x=X):
    with tf.autodiff.ForwardAccumulator([W, B], TANGENTS) as acc:
        with tf.GradientTape(persistent=True) as tape:
            y = f(x)
        g = gradients(tape, y, [W, B])
    return products(acc, g)


def forward_over_forward(f, x=X):
    with tf.autodiff.ForwardAccumulator([W, B], TANGENTS) as outer:
        with tf.autodiff.ForwardAccumulator(W, TANGENTS[0]) as inner:
            y = f(x)
        t = inner.jvp(y)
    return [t, outer.jvp(y), outer.jvp(t)]


def reverse_over_forward(f, x=X):
    with tf.GradientTape() as tape:
        with tf.autodiff.ForwardAccumulator(W, TANGENTS[0]) as acc:
            y = f(x)
        t = acc.jvp(y)
    return [t, *gradients(tape, t, [W, B])]


def third_order(f, x=X):
    with tf.autodiff.ForwardAccumulator(W, TANGENTS[0]) as acc:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(x)
            (g,) = gradients(inner, y, [W])
        (h,) = gradients(outer, g, [W])
    return [acc.jvp(g), h, acc.jvp(h)]


def batch_of_tangents(f, x=X):
    tangents = tf.stack([TANGENTS[0], 2.0 * TANGENTS[0] + 1.0, 0.0 * TANGENTS[0]])
    with tf.autodiff.BatchForwardAccumulator(W, tangents) as acc:
        y = f(x)
    return [acc.jvp(y)]


def batch_over_a_tape(f, x=X):
    tangents = tf.stack([TANGENTS[0], 2.0 * TANGENTS[0] + 1.0])
    with tf.autodiff.BatchForwardAccumulator(W, tangents) as acc:
        with tf.GradientTape() as tape:
            y = f(x)
        (g,) = gradients(tape, y, [W])
    return [acc.jvp(g)]


DERIVATIVES = [
    jvp,
    hvp,
    hvp_of_a_persistent_tape,
    forward_over_forward,
    reverse_over_forward,
    third_order,
    batch_of_tangents,
    batch_over_a_tape,
]


def assert_same(y, z):
    """To a tape a call is one op: what does not move within it is zero, and not None."""
    y, z = (np.zeros(()) if t is None else t.numpy() for t in (y, z))
    np.testing.assert_allclose(*np.broadcast_arrays(y, z), rtol=1e-10, atol=1e-12)


@functions
@pytest.mark.parametrize("derivative", DERIVATIVES, ids=lambda d: d.__name__)
def test_as_without_compiling(function, derivative):
    compiled = tf.function(function)
    expected = derivative(function)
    for _ in range(2):
        found = derivative(compiled)
        for y, z in zip(found, expected, strict=True):
            assert_same(y, z)


@pytest.mark.parametrize("derivative", DERIVATIVES, ids=lambda d: d.__name__)
def test_with_open_sizes(derivative):
    compiled = tf.function(mlp, input_signature=[tf.TensorSpec([None, 2], tf.float64)])
    for x in (X, X[:2]):
        for y, z in zip(derivative(compiled, x), derivative(mlp, x), strict=True):
            assert_same(y, z)


def test_results_that_do_not_move():
    @tf.function
    def f(x):
        return x * x, tf.size(x), tf.constant(1.0), tf.sign(x)

    x = tf.constant([1.0, -2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        square, count, one, sign = f(x)
    assert acc.jvp(square).numpy().tolist() == [2.0, -40.0]
    assert acc.jvp(count) is None
    assert acc.jvp(one) is None
    assert acc.jvp(sign) is None or acc.jvp(sign).numpy().tolist() == [0.0, 0.0]


def test_a_hessian_vector_product_runs_four_programs(monkeypatch):
    """One for each of value and gradient, and one for the tangents of each."""
    from gradtape._src.function.program import Program

    compiled = tf.function(mlp)
    expected = hvp(compiled)
    ran = []
    run = Program.run

    def counting(self, *args, **kwargs):
        ran.append(self)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(Program, "run", counting)
    found = hvp(compiled)
    assert len(ran) <= 4
    for y, z in zip(found, expected, strict=True):
        assert_same(y, z)
