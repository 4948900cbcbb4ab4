"""What a call of a compiled function does, and what it leaves as it was."""

import collections
import linecache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from semantics.helpers import grad, same

pytestmark = pytest.mark.gradtape_only

Pair = collections.namedtuple("Pair", "first second")


# Results


def test_structures_come_back_as_they_were_returned(tf):
    @tf.function
    def f(x):
        ordered = collections.OrderedDict([("z", x), ("a", None)])
        return Pair([x, (x + 1.0,)], {"ordered": ordered, "none": None, "empty": []})

    result = f(tf.constant(3.0))
    assert type(result) is Pair
    assert type(result.second["ordered"]) is collections.OrderedDict
    assert list(result.second["ordered"]) == ["z", "a"]
    assert result.second["ordered"]["a"] is None and result.second["none"] is None
    assert result.second["empty"] == []
    same(result.first[1][0], 4.0)


def test_constants_and_arguments_among_the_results(tf):
    @tf.function
    def f(x):
        return x, tf.constant([1, 2]), 2.5, "text", np.float64(3.0), x * 1.0, tf.shape(x)

    x, ints, real, text, double, y, shape = f(tf.ones([2, 3]))
    assert [t.dtype for t in (ints, real, double)] == [tf.int32, tf.float32, tf.float64]
    assert text.numpy() == b"text"
    same(ints, [1, 2])
    same(x, np.ones([2, 3]))
    same(y, np.ones([2, 3]))
    same(shape, [2, 3])


def test_indexed_slices_as_result(tf):
    table = tf.Variable(np.arange(8.0).reshape(4, 2))

    @tf.function
    def slopes(indices):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, indices) ** 2)
        return tape.gradient(y, table), y

    g, y = slopes(tf.constant([3, 0, 3]))
    assert isinstance(g, tf.IndexedSlices)
    assert g.dense_shape.numpy().tolist() == [4, 2]
    same(g.indices, [3, 0, 3])
    same(g.values, [[12.0, 14.0], [0.0, 2.0], [12.0, 14.0]])
    same(y, 1.0 + 2 * (36.0 + 49.0))


def test_a_tape_outside_gets_indexed_slices(tf):
    table = tf.Variable(np.ones((4, 2)))
    f = tf.function(lambda indices: tf.reduce_sum(tf.gather(table, indices)) * 3.0)
    with tf.GradientTape() as tape:
        y = f(tf.constant([1, 1]))
    g = tf.convert_to_tensor(tape.gradient(y, table))
    same(g, [[0.0, 0.0], [6.0, 6.0], [0.0, 0.0], [0.0, 0.0]])


def test_a_variable_as_result_is_its_value(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def double():
        v.assign(2.0 * v)
        return v

    first, second = double(), double()
    same(first, [2.0, 4.0])
    same(second, [4.0, 8.0])


def test_what_cannot_be_returned(tf):
    f = tf.function(lambda x: {"a": x, "b": object()})
    with pytest.raises(TypeError, match=r"returned <object object at .* of type object"):
        f(tf.constant(1.0))


def test_one_tensor_in_several_places(tf):
    @tf.function
    def f(x):
        y = x * x
        return y, y, x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b, c = f(x)
        z = a * b * c
    same(tape.gradient(z, x), 5 * 81.0)


def test_an_empty_tensor(tf):
    f = tf.function(lambda x: (tf.reduce_sum(x), 2.0 * x))
    x = tf.zeros([0, 3])
    same(f(x)[0], 0.0)
    same(grad(tf, lambda x: f(x)[1], x), np.zeros([0, 3]))


# Python inside


def test_python_runs_while_tracing_only(tf, capsys):
    counts = collections.Counter()

    @tf.function
    def f(x):
        print("tracing")
        counts["calls"] += 1
        return x + float(counts["calls"])

    x = tf.constant(0.0)
    assert [float(f(x)) for _ in range(3)] == [1.0, 1.0, 1.0]
    assert capsys.readouterr().out == "tracing\n"
    assert counts["calls"] == f.experimental_get_tracing_count() == 1
    same(f(tf.zeros([2])), [2.0, 2.0])


def test_recursion_over_a_python_number(tf):
    @tf.function
    def factorial(x, n):
        return x if n == 0 else n * factorial(x, n - 1)

    same(factorial(tf.constant(1.0), 5), 120.0)


def test_executing_eagerly_and_inside_function(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        return x

    f(tf.constant(1.0))
    assert seen == [(False, True)]
    assert tf.executing_eagerly() and not tf.inside_function()


def test_constants_are_computed_while_tracing(tf):
    @tf.function
    def f(x):
        n = int(tf.reduce_sum(tf.constant([1, 2])))  # known, so Python may ask
        return tf.reshape(x, [n, -1])

    assert f(tf.ones([6])).shape == [3, 2]


# Run eagerly


def test_run_functions_eagerly(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x * x

    x = tf.constant(3.0)
    assert not tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        same(f(x), 9.0)
        same(grad(tf, f, x), 6.0)
    finally:
        tf.config.run_functions_eagerly(False)
    same(f(x), 9.0)
    assert seen == [True, True, False]


# Errors leave everything as it was


def test_an_exception_while_tracing_changes_nothing(tf):
    v, fails = tf.Variable(1.0), [True]

    @tf.function
    def f(x):
        v.assign_add(5.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * v
            if fails:
                raise KeyError("mine")
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        with pytest.raises(KeyError, match="mine"):
            f(x)
        z = v * v
    same(outer.gradient(z, v), 2.0)
    same(v, 1.0)
    fails.clear()
    same(f(x), 6.0)
    same(v, 6.0)


def test_an_exception_inside_a_branch_and_a_loop(tf):
    v = tf.Variable(1.0)

    def fail(*args):
        v.assign(100.0)
        raise KeyError("mine")

    for f in (
        lambda x: tf.cond(x > 0.0, fail, lambda: x),
        lambda x: tf.while_loop(lambda x: x < 1.0, fail, [x]),
        lambda x: tf.scan(fail, tf.stack([x, x])),
    ):
        with pytest.raises(KeyError, match="mine"):
            tf.function(f)(tf.constant(2.0))
        same(tf.cond(tf.constant(True), lambda: v * 2.0, lambda: v), 2.0)


def test_a_tape_left_open_inside_does_not_stay(tf):
    @tf.function
    def f(x):
        tf.GradientTape().__enter__()
        return x * 2.0

    same(f(tf.constant(1.0)), 2.0)


def test_an_exception_at_run_time_changes_nothing(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        tf.debugging.assert_positive(x)
        v.assign_add(1.0)
        return v * x

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1.0))
    same(v, 1.0)
    same(f(tf.constant(1.0)), 3.0)
    with tf.GradientTape() as tape, pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1.0))
    same(v, 3.0)
    assert tape.gradient(v * 1.0, v) is None


def test_case_checks_its_conditions_at_run_time(tf):
    @tf.function
    def f(x):
        return tf.case([(x > 1.0, lambda: x * x), (x < 0.0, lambda: -x)])

    same(f(tf.constant(3.0)), 9.0)
    same(grad(tf, f, tf.constant(-3.0)), -1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no condition is true"):
        f(tf.constant(0.5))

    @tf.function
    def g(x):
        pairs = [(x > 1.0, lambda: x * x), (x > 0.0, lambda: -x)]
        return tf.case(pairs, default=lambda: x, exclusive=True)

    same(g(tf.constant(0.5)), -0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one condition is true"):
        g(tf.constant(3.0))


@pytest.mark.parametrize("swapped", [False, True])
def test_wrong_shapes_are_explained(tf, swapped):
    ones = tf.ones([2])
    f = tf.function(lambda x: x * ones if swapped else ones * x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiply: shapes do not broadcast"):
        f(tf.ones([3]))


# No tracer leaves its function


class Keeper:
    pass


USES = {
    "add": lambda tf, x: x + 1.0,
    "numpy": lambda tf, x: x.numpy(),
    "asarray": lambda tf, x: np.asarray(x),
    "float": lambda tf, x: float(x),
    "bool": lambda tf, x: bool(x),
    "stack": lambda tf, x: tf.stack([x, x]),
    "Variable": lambda tf, x: tf.Variable(x),
    "assign": lambda tf, x: tf.Variable(1.0).assign(x),
    "assign_add": lambda tf, x: tf.Variable(1.0).assign_add(x),
    "scatter": lambda tf, x: tf.Variable([1.0]).scatter_nd_add([[0]], tf.reshape(x, [1])),
    "an argument": lambda tf, x: tf.function(lambda x: x + 1.0)(x),
    "an argument on a tape": lambda tf, x: grad(tf, tf.function(lambda x: x * x), x),
    "a closure": lambda tf, x: tf.function(lambda y: x + y)(tf.constant(1.0)),
    "a result": lambda tf, x: tf.function(lambda: x)(),
    "assigned in another": lambda tf, x: tf.function(tf.Variable(1.0).assign)(x),
    "a tape": lambda tf, x: grad(tf, lambda x: x * x, x),
    "cond": lambda tf, x: tf.cond(x > 0.0, lambda: 1.0, lambda: 2.0),
    "an index": lambda tf, x: tf.ones([3])[tf.cast(x, tf.int32)],
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_tensor_kept_from_a_trace_is_refused_with_its_line(tf, use):
    keeper = Keeper()

    @tf.function
    def f(x):
        keeper.kept = x * 2.0  # this line
        return x

    f(tf.constant(1.0))
    with pytest.raises(tf.errors.SymbolicTensorError, match=r"test_call\.py, line \d+") as caught:
        use(tf, keeper.kept)
    line = int(str(caught.value).partition("test_call.py, line ")[2].partition(",")[0])
    assert "# this line" in linecache.getline(__file__, line)
    assert "Return it from the function" in str(caught.value)


def test_the_repr_of_a_kept_tensor(tf):
    kept = []
    tf.function(kept.append)(tf.ones([2, 3]))
    assert repr(kept[0]) == "<tf.Tensor: shape=(2, 3), dtype=float32, symbolic>"
    assert f"{kept[0]}" == repr(kept[0])


def test_a_tensor_kept_from_a_branch(tf):
    kept = []

    @tf.function
    def f(x):
        def positive():
            kept.append(x * 2.0)  # this line
            return x

        return tf.cond(x > 0.0, positive, lambda: -x) + kept[0]

    with pytest.raises(tf.errors.SymbolicTensorError, match=r"test_call\.py, line \d+") as caught:
        f(tf.constant(1.0))
    line = int(str(caught.value).partition("test_call.py, line ")[2].partition(",")[0])
    assert "# this line" in linecache.getline(__file__, line)


def test_a_value_asked_for_inside_is_explained(tf):
    @tf.function(autograph=False)
    def f(x):
        return x if x > 0.0 else -x

    with pytest.raises(tf.errors.SymbolicTensorError, match=r"tf\.cond.*autograph=True"):
        f(tf.constant(1.0))


# Dtypes


@pytest.mark.parametrize(
    "dtype",
    [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "int8",
        "int64",
        "uint64",
    ],
)
def test_dtypes_are_those_of_eager_code(tf, dtype):
    x = tf.cast(tf.constant([1.0, 2.0, 3.0]), dtype)
    f = tf.function(lambda x: (x * x + 1, tf.reduce_sum(x), x[::2]))
    for compiled, eager in zip(f(x), f.python_function(x), strict=True):
        assert compiled.dtype == eager.dtype == dtype
        same(compiled, np.asarray(eager))


def test_double_precision_without_flags(tf):
    assert not jax.config.jax_enable_x64
    x = tf.constant(1.0, tf.float64)
    f = tf.function(lambda x: tf.exp(x) * tf.constant(2.0, tf.float64))
    assert abs(float(f(x)) - 2 * np.e) < 1e-15
    assert abs(float(grad(tf, f, x)) - 2 * np.e) < 1e-15
    z = tf.constant(1.0 + 2.0j)
    result = tf.function(lambda z: z * z * 1j)(z)
    assert result.dtype == tf.complex128
    same(result, (1 + 2j) ** 2 * 1j, tol=1e-15)
    assert tf.function(lambda: tf.range(3, dtype=tf.int64) * 2)().dtype == tf.int64


def test_jax_of_the_user_keeps_its_defaults(tf):
    double = tf.constant(2.0, tf.float64)
    f = tf.function(lambda x: x * double)

    def check():
        assert jnp.ones(3).dtype == jnp.float32
        assert jnp.asarray(np.ones(3)).dtype == jnp.float32
        assert jax.jit(lambda x: x * 2)(1).dtype == jnp.int32
        assert jax.grad(lambda x: x * x)(3.0).dtype == jnp.float32

    check()
    f(double)
    check()
    grad(tf, f, double)
    with pytest.raises(ZeroDivisionError):
        tf.function(lambda x: 1 / 0)(double)
    check()


def test_a_function_while_the_user_has_enabled_x64(tf):
    f = tf.function(lambda x: x * 2.0)
    with jax.enable_x64(True):
        assert f(tf.constant(1.0)).dtype == tf.float32
        assert f(tf.constant(1.0, tf.float64)).dtype == tf.float64
    assert f(tf.constant(1.0)).dtype == tf.float32


# Derivatives through a call


def test_output_gradients_are_fitted(tf):
    f = tf.function(lambda x: (x + x, tf.reduce_sum(x)))
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, total = f(x)
    same(tape.gradient(y, x, output_gradients=tf.constant(5.0)), [10.0, 10.0])
    same(tape.gradient([y, total], x, output_gradients=[tf.ones([1]), 2.0]), [4.0, 4.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        tape.gradient(y, x, output_gradients=tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"is float64, and.*is float32"):
        tape.gradient(y, x, output_gradients=np.ones([2]))


def test_forward_mode_through_a_call(tf):
    v = tf.Variable(5.0)
    f = tf.function(lambda x: (v * x**3, x > 0.0))
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator([x, v], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        y, positive = f(x)
        z = f(y * 2.0)[0]
    assert acc.jvp(positive) is None
    same(acc.jvp(y), 60.0 + 80.0)
    # z = 8 v y^3
    same(acc.jvp(z), 80.0 * 40.0**3 + 8 * 5.0 * 3 * 40.0**2 * 140.0)


@pytest.mark.parametrize("outer", ["tape", "accumulator"])
@pytest.mark.parametrize("inner", ["tape", "accumulator"])
def test_second_derivatives_through_a_call(tf, outer, inner):
    f = tf.function(lambda x: tf.sin(x) * x)
    x, one = tf.constant(2.0, tf.float64), tf.constant(1.0, tf.float64)

    def derivative(kind, g):
        if kind == "tape":
            return grad(tf, g, x)
        with tf.autodiff.ForwardAccumulator(x, one) as acc:
            y = g(x)
        return acc.jvp(y)

    found = derivative(outer, lambda x: derivative(inner, f) * 3.0)
    same(found, 3.0 * (2 * np.cos(2.0) - 2 * np.sin(2.0)), tol=1e-12)


FLOW = {
    "cond": lambda tf, x: tf.cond(x[0] > 0.0, lambda: x**3, lambda: x),
    "while_loop": lambda tf, x: tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, y * x), (tf.constant(0), x), maximum_iterations=3
    )[1],
    "scan": lambda tf, x: tf.scan(lambda s, _: s * x, tf.zeros([2]), initializer=x)[-1],
    "map_fn": lambda tf, x: tf.map_fn(lambda e: e**3, x),
}


@pytest.mark.parametrize("where", ["inside", "outside"])
@pytest.mark.parametrize("flow", FLOW.values(), ids=FLOW)
def test_forward_mode_through_control_flow(tf, flow, where):
    def product(f, x, v):
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = f(x) * 2.0
        return acc.jvp(y)

    x, v = tf.constant([2.0, 3.0]), tf.constant([1.0, 10.0])
    if where == "inside":
        found = tf.function(lambda x, v: product(lambda x: flow(tf, x), x, v))(x, v)
    else:
        found = product(tf.function(lambda x: flow(tf, x)), x, v)
    same(found, [24.0, 540.0])


def test_per_example_gradients_inside(tf):
    w = tf.Variable([[1.0], [2.0]])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum((x @ w) ** 2, 1)
        return tape.per_example_gradient(losses, w)

    same(f(tf.constant([[1.0, 2.0], [3.0, 4.0]])), [[[10.0], [20.0]], [[66.0], [88.0]]])


def test_a_watched_tensor_is_a_result(tf):
    c = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: (c, c * c, x))
    with tf.GradientTape() as tape:
        tape.watch(c)
        same_one, square, _ = f(tf.constant(1.0))
        y = same_one * square
    same(tape.gradient(y, c), [3.0, 12.0])


@pytest.mark.parametrize("where", ["plain", "branch", "loop"])
def test_a_derivative_that_is_constant_zeros(tf, where):
    @tf.function
    def f(x, y):
        def both():
            return tf.sign(tf.fill([2], y)), x * 3.0

        if where == "plain":
            return both()
        if where == "branch":
            return tf.cond(x[0] > 0.0, both, lambda: (x, x))
        return tf.while_loop(lambda i, *_: i < 2, lambda i, *_: (i + 1, *both()), [0, x, x])[1:]

    x, y = tf.constant([0.1, 0.2]), tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            flat, steep = f(x, y)
            loss = tf.reduce_sum(flat) + tf.reduce_sum(steep)
        by_x, by_y = inner.gradient(loss, [x, y])
        total = tf.reduce_sum(by_x) + by_y
    same(by_x, [3.0, 3.0])
    same(by_y, 0.0)
    assert all(g is None or not np.any(g) for g in outer.gradient(total, [x, y]))


# The way to XLA


@pytest.mark.parametrize(
    "tensors, variables, assigns, direct",
    [(1, 0, False, False), (4, 3, False, False), (1, 9, False, True), (2, 1, True, True)],
)
def test_jit_takes_arguments_over_and_an_executable_variables(
    tf, tensors, variables, assigns, direct
):
    # Whichever is quicker: a function of four tensors takes 12 µs by the Executable, 8 by jax.jit.
    from gradtape._src.function.trace import Executable

    weights = [tf.Variable(float(i)) for i in range(variables)]

    @tf.function
    def f(*xs):
        total = tf.add_n([*xs, *weights])
        if assigns:
            weights[0].assign(total)
        return total

    xs = [tf.constant(1.0)] * tensors
    same(f(*xs), tensors + sum(range(variables)))
    (concrete,) = f._traces.young.values()
    assert isinstance(concrete._compiled, Executable) == direct
