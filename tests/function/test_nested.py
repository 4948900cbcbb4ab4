"""Functions that call functions: the inner one is traced once for each signature."""

import numpy as np
import pytest
from semantics.helpers import grad, same, second

pytestmark = pytest.mark.gradtape_only


@pytest.fixture
def square(tf):
    """x², and the list of its traces."""
    seen = []

    @tf.function
    def square(x):
        seen.append(x.shape)
        return x * x

    square.seen = seen
    return square


# Traces


def test_calls_of_one_signature_share_a_trace(tf, square):
    outer = tf.function(lambda x: square(x) + square(2.0 * x))
    other = tf.function(lambda x: square(x + 1.0))
    x = tf.constant(3.0)
    for _ in range(2):
        same(outer(x), 45.0)
        same(other(x), 16.0)
        same(square(x), 9.0)
    same(grad(tf, outer, x), 30.0)
    same(grad(tf, other, x), 8.0)
    assert square.seen == [[]]
    assert square.experimental_get_tracing_count() == 1
    same(outer(tf.constant([1.0, 2.0])), [5.0, 20.0])
    same(outer(tf.constant([3.0])), [45.0])
    same(square(tf.constant([3.0])), [9.0])
    assert square.seen == [[], [2], [1]]


def test_traced_eagerly_first(tf, square):
    same(square(tf.constant(3.0)), 9.0)
    same(tf.function(lambda x: square(x) * 2.0)(tf.constant(2.0)), 8.0)
    assert len(square.seen) == 1


def test_a_new_shape_of_the_outer_one_is_none_of_the_inner_one(tf, square):
    outer = tf.function(lambda x: square(tf.reduce_sum(x)))
    for n in (1, 2, 3):
        same(outer(tf.ones([n])), n * n)
    assert len(square.seen) == 1


def test_recursion_of_a_function_has_a_trace_for_each_number(tf):
    @tf.function
    def power(x, n):
        return tf.ones_like(x) if n == 0 else x * power(x, n - 1)

    x = tf.constant(2.0)
    same(power(x, 3), 8.0)
    assert power.experimental_get_tracing_count() == 4
    same(power(x, 2), 4.0)
    same(grad(tf, lambda x: power(x, 3), x), 12.0)
    assert power.experimental_get_tracing_count() == 4


def test_arguments_and_results_of_all_kinds(tf):
    seen = []

    @tf.function
    def inner(pair, *, scale=2.0, names=("a",)):
        seen.append(scale)
        a, b = pair["a"], pair["b"]
        return {"sum": a + scale * b, "names": len(names), "none": None, "b": [b]}

    @tf.function
    def outer(x, v):
        first = inner({"a": x, "b": v})
        again = inner({"a": x, "b": v}, scale=2.0)
        third = inner({"a": x, "b": v}, scale=3.0, names=("a", "b"))
        assert first["none"] is None
        return first["sum"], again["sum"], third["sum"], third["names"], third["b"][0]

    v = tf.Variable(5.0)
    for found, wanted in zip(outer(tf.constant(1.0), v), (11.0, 11.0, 16.0, 2, 5.0), strict=True):
        same(found, wanted)
    assert seen == [2.0, 3.0]
    with tf.GradientTape() as tape:
        y = outer(tf.constant(1.0), v)
    same(tape.gradient(y[2], v), 3.0)


def test_methods(tf):
    class Layer:
        traces = 0

        def __init__(self, w):
            self.w = tf.Variable(w)

        @tf.function
        def __call__(self, x):
            Layer.traces += 1
            return self.w * x

    layers = [Layer(2.0), Layer(3.0)]

    @tf.function
    def model(x):
        for layer in [*layers, *layers]:
            x = layer(x)
        return x

    same(model(tf.constant(1.0)), 36.0)
    same(model(tf.constant([1.0])), [36.0])
    assert Layer.traces == 4
    with tf.GradientTape() as tape:
        y = model(tf.constant(1.0))
    same(tape.gradient(y, layers[0].w), 36.0)


# Gradients


def body(tf, inner):
    """What a function does with the inner one in its middle."""
    return tf.function(lambda x: tf.sin(inner(tf.exp(x)) * x))


def by_hand(tf):
    return lambda x: tf.sin(tf.exp(x) ** 3 * x)


@pytest.fixture(
    params=["plain", "cond", "while", "if", "scan", "custom", "recomputed", "function", "variable"]
)
def cube(tf, request):
    """x³ as a function, in some way."""

    def slowly(x):
        y = tf.ones_like(x)
        for _ in tf.range(3):
            y = y * x
        return y

    def branching(x):
        if x > 0.0:
            return x**3
        return -((-x) ** 3)

    @tf.custom_gradient
    def custom(x):
        return x**3, lambda g: 3.0 * x * x * g

    one = tf.Variable(1.0)
    square = tf.function(lambda x: x * x)
    ways = {
        "plain": lambda x: x * x * x,
        "cond": lambda x: tf.cond(x > 0.0, lambda: x**3, lambda: x),
        "while": slowly,
        "if": branching,
        "scan": lambda x: tf.scan(lambda y, r: y * r, tf.stack([x, x, x]))[-1],
        "custom": custom,
        "recomputed": tf.recompute_grad(lambda x: x**3),
        "function": lambda x: x * square(x),
        "variable": lambda x: one * x**3,
    }
    return tf.function(ways[request.param])


def test_derivatives_outside(tf, cube):
    f, x = body(tf, cube), tf.constant(0.3)
    same(f(x), by_hand(tf)(x))
    same(grad(tf, f, x), grad(tf, by_hand(tf), x))
    same(second(tf, f, x), second(tf, by_hand(tf), x), tol=1e-4)
    assert cube.experimental_get_tracing_count() == 1


def test_derivatives_inside(tf, cube):
    x = tf.constant(0.3)
    slope = tf.function(lambda x: grad(tf, body(tf, cube), x))
    same(slope(x), grad(tf, by_hand(tf), x))
    curvature = tf.function(lambda x: second(tf, body(tf, cube), x))
    same(curvature(x), second(tf, by_hand(tf), x), tol=1e-4)
    same(grad(tf, slope, x), second(tf, by_hand(tf), x), tol=1e-4)
    assert cube.experimental_get_tracing_count() == 1


def test_forward_mode(tf, cube):
    f, x = body(tf, cube), tf.constant(0.3)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = f(x)
    same(accumulator.jvp(y), grad(tf, by_hand(tf), x))

    @tf.function
    def inside(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = f(x)
        return accumulator.jvp(y)

    same(inside(x), grad(tf, by_hand(tf), x))


def test_in_a_branch_and_in_a_loop(tf, cube):
    @tf.function
    def f(x):
        if x > 0.0:
            x = cube(x)
        for _ in tf.range(2):
            x = cube(x)
        return x

    x = tf.constant(1.1)
    same(f(x), 1.1**27)
    same(grad(tf, f, x), 27 * 1.1**26, tol=1e-4)
    assert cube.experimental_get_tracing_count() == 1


def test_a_jacobian_inside(tf, square):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x) * x
        return tape.jacobian(y, x)

    same(f(tf.constant([1.0, 2.0])), np.diag([3.0, 12.0]))


def test_vectorized_map_of_a_function(tf, square):
    f = tf.function(lambda x: tf.vectorized_map(square, x))
    same(f(tf.constant([1.0, 2.0])), [1.0, 4.0])


def test_rows_as_gradient(tf):
    table = tf.Variable(np.ones((4, 2), np.float32))
    look_up = tf.function(lambda i: tf.gather(table, i))
    f = tf.function(lambda i: tf.reduce_sum(look_up(i) ** 2))
    with tf.GradientTape() as tape:
        y = f(tf.constant([1, 1, 3]))
    same(tf.convert_to_tensor(tape.gradient(y, table)), [[0, 0], [4, 4], [0, 0], [2, 2]])


def test_several_results_of_which_some_are_used(tf):
    @tf.function
    def inner(x, y):
        return x * y, tf.cast(x, tf.int32), tf.stop_gradient(x), y * y

    f = tf.function(lambda x, y: inner(x, y)[0] + inner(x, y)[2])
    x, y = tf.constant(2.0), tf.constant(3.0)
    first, other = grad(tf, f, x, y)
    same(first, 3.0)
    same(other, 2.0)


# Tensors by closure


def test_a_tensor_of_the_outer_function_by_closure(tf):
    @tf.function
    def outer(x):
        y = x * x
        inner = tf.function(lambda z: z * y)
        return inner(x) + inner(2.0 * x)

    x = tf.constant(2.0)
    same(outer(x), 24.0)
    same(grad(tf, outer, x), 36.0)
    same(second(tf, outer, x), 36.0)
    same(outer(tf.constant([1.0])), [3.0])


def test_a_function_that_sees_another_tensor_in_each_outer_one(tf):
    seen = {}
    inner = tf.function(lambda z: z * seen["y"])

    @tf.function
    def outer(x):
        seen["y"] = tf.reduce_sum(x) ** 2
        result = inner(tf.constant(1.0) * seen["y"])
        if tf.reduce_sum(x) > 0.0:
            result = result + inner(seen["y"])
        return result

    for n in (1, 2, 3):
        same(outer(tf.ones([n])), 2.0 * n**4)
        same(grad(tf, outer, tf.ones([n])), [8.0 * n**3] * n)


def test_a_tensor_that_is_watched_later(tf):
    c = tf.constant(3.0)
    inner = tf.function(lambda x: x * c * c)
    outer = tf.function(lambda x: inner(x) + 1.0)
    same(outer(tf.constant(2.0)), 19.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = outer(tf.constant(2.0))
    same(tape.gradient(y, c), 12.0)


def test_a_tensor_handed_over_that_is_watched_later(tf, square):
    c = tf.constant(3.0)
    outer = tf.function(lambda x: x * square(c) + square(x))
    same(outer(tf.constant(2.0)), 22.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = outer(tf.constant(2.0))
    same(tape.gradient(y, c), 12.0)


# State


def test_variables_are_read_and_assigned_in_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def double():
        v.assign(v * 2.0)
        return v + 0.0

    @tf.function
    def outer():
        first = double()
        v.assign_add(1.0)
        between = v + 0.0
        second = double()
        return first, between, second, v + 0.0

    for found, wanted in zip(outer(), (2.0, 3.0, 6.0, 6.0), strict=True):
        same(found, wanted)
    same(v, 6.0)
    same(outer()[3], 26.0)
    same(v, 26.0)
    assert double.experimental_get_tracing_count() == 1


def test_variables_in_a_loop_and_a_branch(tf):
    v = tf.Variable(0)
    count = tf.function(lambda n: v.assign_add(n))

    @tf.function
    def outer(n):
        for i in tf.range(n):
            if i % 2 == 1:
                count(i)
        return v + 0

    same(outer(tf.constant(6)), 9)
    same(outer(tf.constant(2)), 10)
    assert count.experimental_get_tracing_count() == 1


def test_a_training_step(tf):
    w = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.Adam(0.1)
    loss = tf.function(lambda x: tf.reduce_sum((w * x) ** 2))

    @tf.function
    def update(gradients):
        optimizer.apply_gradients([(gradients, w)])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            value = loss(x)
        update(tape.gradient(value, w))
        return value

    x = tf.constant([1.0, -1.0])
    values = [step(x).numpy() for _ in range(5)]
    assert values == sorted(values, reverse=True)

    plain = tf.Variable([1.0, 2.0])
    eagerly = tf.optimizers.Adam(0.1)
    for _ in range(5):
        with tf.GradientTape() as tape:
            value = tf.reduce_sum((plain * x) ** 2)
        eagerly.apply_gradients([(tape.gradient(value, plain), plain)])
    same(w, plain.numpy())


def test_a_variable_is_watched_by_the_tapes_around(tf):
    v, other = tf.Variable(2.0), tf.Variable(3.0)
    inner = tf.function(lambda x: (x * v, other + 0.0)[0])

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            y = inner(x)
        return tape.gradient(y, tape.watched_variables())

    found = outer(tf.constant(5.0))
    same(found[0], 5.0)
    assert found[1] is None


def test_an_inner_function_creates_its_variables_once(tf):
    class Lazy:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(3.0)
            return self.v * x

    lazy = Lazy()
    outer = tf.function(lambda x: lazy(x) + lazy(2.0 * x))
    same(outer(tf.constant(1.0)), 9.0)
    lazy.v.assign(4.0)
    same(outer(tf.constant(1.0)), 12.0)
    same(lazy(tf.constant([1.0])), [4.0])

    bad = tf.function(lambda x: x * tf.Variable(1.0))
    with pytest.raises(ValueError, match="creates variables"):
        tf.function(lambda x: bad(x))(tf.constant(1.0))


# Random numbers and effects


def test_each_call_draws_other_numbers(tf):
    draw = tf.function(lambda: tf.random.normal([3]))

    @tf.function
    def outer():
        total = [draw(), draw()]
        rows = tf.TensorArray(tf.float32, 2)
        for i in tf.range(2):
            rows = rows.write(i, draw())
        return tf.stack([*total, rows.read(0), rows.read(1)])

    drawn = np.concatenate([outer().numpy(), outer().numpy(), [draw().numpy(), draw().numpy()]])
    assert len(np.unique(drawn)) == drawn.size
    assert draw.experimental_get_tracing_count() == 1


def test_what_is_recomputed_draws_the_same(tf):
    noise = tf.function(lambda x: x * tf.random.normal([]))

    @tf.function
    def outer(x):
        return tf.recompute_grad(lambda x: noise(x) + noise(x))(x)

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    same(tape.gradient(y, x), y.numpy())


def test_effects_happen_in_order_at_each_call(tf):
    lines = []

    def note(x):
        lines.append(float(x))
        return x

    inner = tf.function(lambda x: tf.py_function(note, [x], tf.TensorSpec([])))

    @tf.function
    def outer(x):
        inner(x)
        tf.py_function(note, [x + 1.0], tf.TensorSpec([]))
        inner(x + 2.0)

    outer(tf.constant(0.0))
    outer(tf.constant(10.0))
    assert lines == [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]


def test_a_check_in_an_inner_function(tf):
    v = tf.Variable(0.0)

    @tf.function
    def checked(x):
        tf.debugging.assert_positive(x, message="not positive")
        return x + 1.0

    middle = tf.function(lambda x: checked(x) * 2.0)

    @tf.function
    def outer(x):
        v.assign_add(1.0)
        return middle(x)

    same(outer(tf.constant(1.0)), 4.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        outer(tf.constant(-1.0))
    same(v, 1.0)
    same(outer(tf.constant(2.0)), 6.0)
    same(checked(tf.constant(2.0)), 3.0)


# What is not shared


def test_what_is_known_is_computed_while_tracing(tf):
    double = tf.function(lambda n: 2 * n)
    f = tf.function(lambda x: tf.zeros([double(tf.constant(2))]) + x)
    same(f(tf.constant(1.0)), np.ones(4))


def test_a_function_that_needs_the_values_that_its_caller_knows(tf):
    zeros = tf.function(lambda x, n: tf.reshape(x, [n, -1]))
    f = tf.function(lambda x: zeros(x, tf.constant(2)))
    same(f(tf.constant([1.0, 2.0])), [[1.0], [2.0]])


def test_open_sizes(tf):
    inner = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None])])
    f = tf.function(lambda x: inner(x) + 1.0)
    for n in (1, 2):
        same(f(tf.ones([n])), [3.0] * n)
    relaxed = tf.function(lambda x: inner(x) + 1.0, input_signature=[tf.TensorSpec([None])])
    for n in (1, 2):
        same(relaxed(tf.ones([n])), [3.0] * n)


def test_a_concrete_function_inside(tf, square):
    concrete = square.get_concrete_function(tf.TensorSpec([]))
    f = tf.function(lambda x: concrete(x) + concrete(x=2.0 * x))
    same(f(tf.constant(3.0)), 45.0)
    same(grad(tf, f, tf.constant(3.0)), 30.0)
    assert len(square.seen) == 1


def test_an_error_in_an_inner_function_comes_out_as_it_is(tf):
    def bad(x):
        raise KeyError("mine")

    inner = tf.function(bad)
    with pytest.raises(KeyError, match="mine"):
        tf.function(lambda x: inner(x))(tf.constant(1.0))
