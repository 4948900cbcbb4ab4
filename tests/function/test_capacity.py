"""Loops without a bound: their rounds are counted, and kept for the gradient."""

import io

import numpy as np
import pytest

from gradtape._src.function.capacity import enough_for

pytestmark = pytest.mark.gradtape_only

# Programs: `n` decides the number of rounds, when the program runs


def repeated(tf, n, body, *start):
    """A `while` without a bound; `body` of the loop variables, which it gives."""
    variables = (tf.constant(0), *start)
    return tf.while_loop(lambda i, *_: i < n, lambda i, *s: (i + 1, *body(i, *s)), variables)[1:]


def simple(tf, a, b, n):
    (y,) = repeated(tf, n, lambda i, y: (tf.sin(y) * a + b,), a * b)
    return y


def by_value(tf, a, b, n):
    limit = tf.cast(n, tf.float32)
    y = tf.while_loop(lambda y: y < limit, lambda y: (y + tf.exp(-a * a) * b,), (a,))
    return y[0] * a


def nested(tf, a, b, n):
    def outer(i, y):
        (z,) = repeated(tf, i + 1, lambda j, z: (tf.sin(z) * a + y,), y)
        return (y * b + tf.cos(z),)

    (y,) = repeated(tf, n, outer, a)
    return y


def one_after_another(tf, a, b, n):
    (y,) = repeated(tf, n, lambda i, y: (tf.sin(y) + a,), b)
    (z,) = repeated(tf, 2 * n, lambda i, z: (tf.cos(z) * y + b,), a)
    return y * z


def in_a_branch(tf, a, b, n):
    def long():
        return repeated(tf, n, lambda i, y: (tf.sin(y) * a + b,), a)[0]

    return tf.cond(n > 4, long, lambda: a * a * b) * b


def in_a_scan(tf, a, b, n):
    def step(y, row):
        return repeated(tf, n, lambda i, z: (tf.sin(z) * row + b,), y)[0]

    return tf.foldl(step, tf.stack([a, b, a * b]), a)


def in_a_map(tf, a, b, n):
    def one(row):
        return repeated(tf, n, lambda i, z: (tf.sin(z) * row + b,), row)[0]

    return tf.reduce_sum(tf.map_fn(one, tf.stack([a, b, a * b])))


def branch_inside(tf, a, b, n):
    def body(i, y):
        return (tf.cond(y > 0.5, lambda: tf.sin(y) * a, lambda: y * y + b * a),)

    return repeated(tf, n, body, a)[0]


def several_variables(tf, a, b, n):
    def body(i, y, z, unused):
        return y * a - z * 0.3, tf.tanh(z + y * b), unused

    y, z, unused = repeated(tf, n, body, a, b, a)
    return y + z * unused


PROGRAMS = [
    simple, by_value, nested, one_after_another, in_a_branch, in_a_scan, in_a_map, branch_inside,
    several_variables,
]  # fmt: skip


# Ways to differentiate: each gives tensors


def inside(tf, program, a, b, n):
    def f(a, b, n):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = program(tf, a, b, n)
        return y, *tape.gradient(y, [a, b], unconnected_gradients="zero")

    return tf.function(f), (a, b, n)


def second_inside(tf, program, a, b, n):
    def f(a, b, n):
        with tf.GradientTape() as outer:
            outer.watch([a, b])
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                y = program(tf, a, b, n)
            da, db = tape.gradient(y, [a, b], unconnected_gradients="zero")
            z = da * da + db
        return y, *outer.gradient(z, [a, b], unconnected_gradients="zero")

    return tf.function(f), (a, b, n)


def jacobian_inside(tf, program, a, b, n):
    def f(a, b, n):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = program(tf, a, b, n)
            pair = tf.stack([y * y, tf.sin(y)])
        return tape.jacobian(pair, [a, b])

    return tf.function(f), (a, b, n)


def outside(tf, program, a, b, n):
    f = tf.function(lambda a, b, n: program(tf, a, b, n))

    def run(a, b, n):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = f(a, b, n)
        return y, *tape.gradient(y, [a, b], unconnected_gradients="zero")

    return run, (a, b, n)


def second_outside(tf, program, a, b, n):
    f = tf.function(lambda a, b, n: program(tf, a, b, n))

    def run(a, b, n):
        with tf.GradientTape() as outer:
            outer.watch([a, b])
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                y = f(a, b, n)
            da, db = tape.gradient(y, [a, b], unconnected_gradients="zero")
            z = tf.stack([da * da + db, db])
        return da, db, outer.jacobian(z, a)

    return run, (a, b, n)


def jacobian_outside(tf, program, a, b, n):
    f = tf.function(lambda a, b, n: program(tf, a, b, n))

    def run(a, b, n):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = f(a, b, n)
            pair = tf.stack([y * y, tf.sin(y)])
        return tape.jacobian(pair, [a, b])

    return run, (a, b, n)


def forward_inside(tf, program, a, b, n):
    def f(a, b, n):
        with tf.autodiff.ForwardAccumulator(a, tf.constant(1.5)) as acc:
            y = program(tf, a, b, n)
        return y, acc.jvp(y)

    return tf.function(f), (a, b, n)


def forward_outside(tf, program, a, b, n):
    f = tf.function(lambda a, b, n: program(tf, a, b, n))

    def run(a, b, n):
        with tf.autodiff.ForwardAccumulator(a, tf.constant(1.5)) as acc:
            y = f(a, b, n)
        return y, acc.jvp(y)

    return run, (a, b, n)


WAYS = [
    inside, second_inside, jacobian_inside, outside, second_outside, jacobian_outside,
    forward_inside, forward_outside,
]  # fmt: skip


MAIN = (inside, second_outside)
CASES = [(program, way) for program in PROGRAMS for way in MAIN]
CASES += [(program, way) for program in (simple, in_a_branch) for way in WAYS if way not in MAIN]


@pytest.mark.parametrize(("program", "way"), CASES)
def test_the_gradient_of_a_loop_without_a_bound(tf, program, way):
    a, b = tf.constant(0.7), tf.constant(0.4)
    run, arguments = way(tf, program, a, b, tf.constant(3))
    for n in (3, 12, 0):  # as many as fit at first; more; none
        found = tf.nest.flatten(run(*arguments[:-1], tf.constant(n)))
        tf.config.run_functions_eagerly(True)
        try:
            expected = tf.nest.flatten(run(*arguments[:-1], tf.constant(n)))
        finally:
            tf.config.run_functions_eagerly(False)
        for x, y in zip(found, expected, strict=True):
            y = 0.0 if y is None else y  # of a jacobian: no round, so nothing depends on it
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=1e-5, err_msg=f"{n} rounds")


def descent(tf):
    """A function that assigns a variable, by the gradient of a loop of some rounds."""
    v = tf.Variable(0.5)

    @tf.function
    def step(limit):
        with tf.GradientTape() as tape:
            y, i = v * 1.0, 0
            while i < limit:
                y = tf.sin(y) + v
                i += 1
        g = tape.gradient(y, v)
        v.assign_sub(0.1 * g)
        return y, g

    return v, step


def test_a_variable_is_assigned_once_whatever_the_number_of_rounds(tf):
    v, step = descent(tf)
    w, eager = descent(tf)
    for n in (2, 40, 7, 100):
        found = step(tf.constant(n))
        tf.config.run_functions_eagerly(True)
        try:
            expected = eager(tf.constant(n))
        finally:
            tf.config.run_functions_eagerly(False)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(v, w, rtol=1e-5)
    assert step.experimental_get_tracing_count() == 1


def test_the_initial_value_of_a_variable(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            z = tf.random.stateless_uniform([], [1, 2]) + 0.5
            with tf.GradientTape() as tape:
                tape.watch(z)
                y = simple(tf, z, z, tf.cast(z * 0.0, tf.int32) + 20)
            made.append(tf.Variable(tape.gradient(y, z)))
        return made[0] * x

    f(tf.constant(1.0))
    z = tf.random.stateless_uniform([], [1, 2]) + 0.5
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = simple(tf, z, z, tf.constant(20))
    np.testing.assert_allclose(made[0], tape.gradient(y, z), rtol=1e-4)


def test_python_runs_once(tf):
    traces = []

    @tf.function
    def f(x, n):
        traces.append(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = simple(tf, x, x, n)
        return tape.gradient(y, x)

    for n in (1, 10, 100):
        f(tf.constant(0.5), tf.constant(n))
    assert len(traces) == 1


def test_what_is_printed_is_printed_once(tf):
    """Before the loop, in it, after it, and in its gradient; `12` rounds do not fit at first."""
    out = io.StringIO()

    @tf.custom_gradient
    def told(x):
        def grad(g):
            tf.print("g", tf.round(g * 1e3), output_stream=out)
            return g

        return x * 1.0, grad

    @tf.function
    def f(x, n):
        tf.print("begin", output_stream=out)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, i = x, 0
            while i < n:
                tf.print("round", i, output_stream=out)
                y = told(tf.sin(y) * x)
                i += 1
            tf.print("end", i, output_stream=out)
        g = tape.gradient(y, x)
        tf.print("gradient", tf.round(g * 1e3), output_stream=out)
        return g

    texts = []
    for eagerly in (False, True):
        tf.config.run_functions_eagerly(eagerly)
        try:
            for n in (2, 12):
                f(tf.constant(1.5), tf.constant(n))
        finally:
            tf.config.run_functions_eagerly(False)
        texts.append(out.getvalue().split("\n"))
        out.seek(0)
        out.truncate()
    assert texts[0] == texts[1]
    assert len(texts[0]) == 2 * 3 + 2 * (2 + 12) + 1


def test_what_python_answers_is_asked_once(tf):
    asked = []

    def answer(i):
        asked.append(int(i))
        return np.float32(0.9 + 0.01 * len(asked))

    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, i = x, 0
            while i < n:
                y = y * tf.numpy_function(answer, [i], tf.TensorSpec([], tf.float32))
                i += 1
        return tape.gradient(y, x)

    found = f(tf.constant(2.0), tf.constant(12))
    assert asked == list(range(12))
    factors = np.float32(0.9) + np.float32(0.01) * np.arange(1, 13)
    np.testing.assert_allclose(found, np.prod(factors), rtol=1e-5)


def test_a_loop_in_a_map_of_a_function_that_prints(tf):
    out = io.StringIO()

    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.map_fn(lambda row: repeated(tf, n, lambda i, z: (tf.sin(z),), row)[0], x)
        g = tape.gradient(y, x)
        tf.print("g", tf.shape(g), output_stream=out)
        return g

    x = tf.constant([0.3, 0.6])
    for n in (3, 20):
        np.testing.assert_allclose(
            f(x, tf.constant(n)), f.python_function(x, tf.constant(n)), rtol=1e-4
        )
    assert out.getvalue() == "g [2]\n" * 4


def test_an_assertion_in_a_loop_that_does_not_fit(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(n):
        with tf.GradientTape() as tape:
            y, i = v * 1.0, 0
            while i < n:
                tf.debugging.assert_less(i, 30, message="too far")
                y = tf.sin(y)
                i += 1
        g = tape.gradient(y, v)
        v.assign(g)
        return g

    with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
        f(tf.constant(31))
    assert float(v) == 1.0
    assert float(f(tf.constant(30))) == float(v)


def test_an_exported_function_grows_where_it_is_served(tf, tmp_path):
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = simple(tf, x, x, n)
        return y, tape.gradient(y, x)

    compiled = tf.function(f)
    compiled.export(tf.TensorSpec([]), tf.TensorSpec([], tf.int32)).save(tmp_path / "f.npz")
    served = tf.function.load(tmp_path / "f.npz")
    for n in (3, 50, 4):
        arguments = tf.constant(0.7), tf.constant(n)
        np.testing.assert_allclose(served(*arguments), f(*arguments), rtol=1e-5)


def test_open_sizes_and_open_rounds(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = simple(tf, x, x, n)
        return tape.gradient(y, x)

    for rows, n in ((1, 2), (3, 20), (2, 30)):
        x = tf.fill([rows, 2], 0.3)
        np.testing.assert_allclose(
            f(x, tf.constant(n)), f.python_function(x, tf.constant(n)), rtol=1e-4
        )


def test_the_room_is_at_most_a_quarter_more_than_needed():
    for rounds in range(1, 3000):
        assert rounds <= enough_for(rounds, 0) <= max(4, 1.25 * rounds)
    assert enough_for(5, 100) == 100
    assert len({enough_for(rounds, 0) for rounds in range(1, 1025)}) < 40


def test_a_loop_without_a_gradient_keeps_nothing(tf):
    @tf.function
    def f(x, n):
        return simple(tf, x, x, n)

    concrete = f.get_concrete_function(tf.constant(1.0), tf.constant(3))
    assert concrete._concrete.program.counted == []
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        f(x, tf.constant(3))
    assert concrete._concrete.program.counted == []
