"""docs/semantics.md, section J: Python control flow, the control-flow functions and tf.where."""

import numpy as np
import pytest

from .helpers import grad, same


@pytest.mark.parametrize("value, expected", [(3.0, 6.0), (-3.0, 5.0)])
def test_J1_only_the_branch_that_ran(tf, value, expected):
    def f(x):
        if x > 0.0:
            return x * x
        return 5.0 * x

    same(grad(tf, f, tf.constant(value)), expected)


def test_J1_neither_the_other_branch_nor_the_condition(tf):
    x, taken, other = tf.Variable(3.0), tf.Variable(1.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = taken * 2.0 if x > 0.0 else other * 3.0
    gx, gtaken, gother = tape.gradient(y, [x, taken, other])
    assert gx is None and gother is None
    same(gtaken, 2.0)


def test_J2_loops_record_each_step(tf):
    x = tf.constant(2.0)

    def power(x):
        y = x
        for _ in range(4):
            y = y * x
        return y

    same(grad(tf, power, x), 5 * 16.0)


def test_J2_rows_of_an_iterated_tensor_are_differentiable(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def f(x):
        rows = list(x)
        assert len(rows) == 3 and all(tuple(row.shape) == (2,) for row in rows)
        return sum((i + 1.0) * tf.reduce_sum(row * row) for i, row in enumerate(rows))

    same(grad(tf, f, x), [[2.0, 4.0], [12.0, 16.0], [30.0, 36.0]])
    v = tf.Variable([1.0, 2.0])
    same(grad(tf, lambda v: sum(a * a for a in v), v), [2.0, 4.0])


def test_J3_scalars_are_conditions(tf):
    assert bool(tf.constant(1.0)) is True and bool(tf.constant(0.0)) is False
    assert (1 if tf.constant(True) else 2) == 1
    x, steps = tf.constant(1.0), 0
    while x < 100.0:
        x, steps = x * 2.0, steps + 1
    assert steps == 7
    assert bool(tf.constant([[3.0]])) is True


def test_J3_several_elements_are_not_a_condition(tf):
    for values in [1.0, 2.0], [True, True], [[0.0], [0.0]]:
        with pytest.raises(ValueError):
            bool(tf.constant(values))


@pytest.mark.parametrize("value, expected", [(3.0, 6.0), (-3.0, 5.0)])
def test_J4_cond_runs_one_branch(tf, value, expected):
    ran = []

    def branch(name, result):
        ran.append(name)
        return result

    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 0.0, lambda: branch("true", x * x), lambda: branch("false", 5.0 * x))
    same(tape.gradient(y, x), expected)
    assert ran == ["true" if value > 0 else "false"]


def test_J4_cond_returns_what_the_branch_returns(tf):
    x = tf.constant(2.0)
    pair = tf.cond(x > 1.0, lambda: {"a": [x, 2.0 * x]}, lambda: None)
    same(pair["a"][1], 4.0)
    assert tf.cond(x > 3.0, lambda: x, lambda: None) is None
    assert isinstance(tf.cond(True, lambda: [x], lambda: [x]), list)
    for wrong in [(None, lambda: x), (lambda: x, None), (x, lambda: x)]:
        with pytest.raises(TypeError):
            tf.cond(x > 1.0, *wrong)


def test_J4_case_takes_the_first_true_condition(tf):
    def f(x):
        return tf.case([(x > 2.0, lambda: x * x), (x > 1.0, lambda: 3.0 * x)], default=lambda: -x)

    for value, expected in (3.0, 6.0), (1.5, 3.0), (0.0, -1.0):
        same(grad(tf, f, tf.constant(value)), expected)


def test_J4_case_exclusive_and_without_default(tf):
    true, false = tf.constant(True), tf.constant(False)
    one, two = (lambda: tf.constant(1.0)), (lambda: tf.constant(2.0))
    same(tf.case([(false, one), (true, two)], exclusive=True), 2.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.case([(true, one), (true, two)], default=one, exclusive=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.case([(false, one), (false, two)])
    with pytest.raises(TypeError):
        tf.case([(True, one)])


@pytest.mark.parametrize("index, expected", [(0, 6.0), (1, 5.0), (2, -1.0), (7, -1.0), (-1, -1.0)])
def test_J4_switch_case(tf, index, expected):
    def f(x):
        branches = [lambda: x * x, lambda: 5.0 * x, lambda: -x]
        return tf.switch_case(tf.constant(index), branches)

    same(grad(tf, f, tf.constant(3.0)), expected)


def test_J4_switch_case_default_and_dict(tf):
    branches = {1: lambda: tf.constant(1.0), 0: lambda: tf.constant(0.0)}
    for index, expected in (0, 0.0), (1, 1.0), (2, 9.0), (-5, 9.0):
        same(
            tf.switch_case(tf.constant(index), branches, default=lambda: tf.constant(9.0)), expected
        )
    with pytest.raises(TypeError):
        tf.switch_case(0, branches)
    with pytest.raises(ValueError):
        tf.switch_case(tf.constant(0), {0: branches[0], 2: branches[1]})


def test_J5_while_loop_is_differentiable(tf):
    def power(x):
        return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (tf.constant(0), x))[
            1
        ]

    x = tf.constant(2.0)
    same(power(x), 32.0)
    same(grad(tf, power, x), 5 * 16.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = grad(tf, power, x)
    same(outer.gradient(g, x), 20 * 8.0)


def test_J5_while_loop_stops_on_a_condition_of_the_values(tf):
    def doubled(x):
        return tf.while_loop(lambda y: y < 100.0, lambda y: (2.0 * y,), (x,))[0]

    x = tf.constant(3.0)
    same(doubled(x), 192.0)
    same(grad(tf, doubled, x), 64.0)


def test_J5_while_loop_with_nested_variables(tf):
    start = (
        tf.constant(0),
        {"sum": tf.constant(0.0), "pair": [tf.constant(1.0), tf.constant(2.0)]},
    )

    def body(i, d):
        a, b = d["pair"]
        return i + 1, {"sum": d["sum"] + a, "pair": [b, a + b]}

    i, d = tf.while_loop(lambda i, d: i < 5, body, start)
    same(i, 5)
    same(d["sum"], 1.0 + 2.0 + 3.0 + 5.0 + 8.0)
    with pytest.raises(ValueError):
        tf.while_loop(
            lambda i, x: i < 5, lambda i, x: (i + 1, [x]), (tf.constant(0), tf.constant(1.0))
        )


def test_J5_while_loop_maximum_iterations(tf):
    def f(x):
        return tf.while_loop(lambda y: True, lambda y: (2.0 * y,), (x,), maximum_iterations=3)[0]

    same(f(tf.constant(1.0)), 8.0)
    same(grad(tf, f, tf.constant(1.0)), 8.0)


def test_J5_while_loop_may_change_shapes(tf):
    x = tf.constant([1.0, 2.0])

    def f(x):
        grown = tf.while_loop(
            lambda i, y: i < 2,
            lambda i, y: (i + 1, tf.concat([y, y * y], 0)),
            (tf.constant(0), x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )
        return grown[1]

    assert tuple(f(x).shape) == (8,)
    same(grad(tf, f, x), [1 + 2 + 2 + 4, 1 + 4 + 4 + 32])


def test_J6_map_fn(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    same(tf.map_fn(lambda row: row * row[0], x), [[1, 2], [9, 12], [25, 30]])
    same(grad(tf, lambda x: tf.map_fn(tf.reduce_prod, x), x), [[2, 1], [4, 3], [6, 5]])
    pairs = tf.map_fn(
        lambda p: {"product": p[0] * p[1], "larger": p[0] > p[1]},
        (tf.constant([1.0, 2.0]), tf.constant([3.0, 1.0])),
        fn_output_signature={"product": tf.float32, "larger": tf.bool},
    )
    same(pairs["product"], [3.0, 2.0])
    assert pairs["larger"].numpy().tolist() == [False, True]


def test_J6_map_fn_and_its_signature(tf):
    x = tf.constant([1.5, 2.5])
    as_ints = tf.map_fn(lambda v: tf.cast(v, tf.int32), x, fn_output_signature=tf.int32)
    assert as_ints.dtype == tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.map_fn(lambda v: tf.cast(v, tf.int32), x)
    with pytest.raises(ValueError):
        tf.map_fn(lambda v: (v, v), x)
    with pytest.raises(ValueError):
        tf.map_fn(lambda v: v, x[0])
    empty = tf.map_fn(lambda v: v, x[:0], fn_output_signature=tf.TensorSpec([], tf.float32))
    assert tuple(empty.shape) == (0,)


def test_J6_scan(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    same(tf.scan(lambda a, v: a * v, x), [1.0, 2.0, 6.0])
    same(tf.scan(lambda a, v: a * v, x, reverse=True), [6.0, 6.0, 3.0])
    same(tf.scan(lambda a, v: a - v, x, initializer=10.0), [9.0, 7.0, 4.0])
    # d/dx of x0 + x0 x1 + x0 x1 x2
    same(grad(tf, lambda x: tf.scan(lambda a, v: a * v, x), x), [1 + 2 + 6, 1 + 3, 2.0])
    states = tf.scan(
        lambda a, v: (a[1], a[0] + v), x, initializer=(tf.constant(0.0), tf.constant(1.0))
    )
    same(states[0], [1.0, 1.0, 3.0])
    same(states[1], [1.0, 3.0, 4.0])


def test_J6_scan_keeps_the_form_of_its_state(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(ValueError):
        tf.scan(lambda a, v: (a, v), x)
    with pytest.raises(ValueError):
        tf.scan(lambda a, v: tf.concat([a, [v]], 0), x, initializer=tf.constant([0.0]))
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.scan(lambda a, v: a + v, x[:0])


def test_J6_foldl_and_foldr(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    same(tf.foldl(lambda a, v: a - v, x), 1.0 - 2.0 - 3.0)
    same(tf.foldr(lambda a, v: a - v, x), 3.0 - 2.0 - 1.0)
    same(tf.foldl(lambda a, v: a - v, x, initializer=1.0), -5.0)
    same(tf.foldl(lambda a, v: a - v, x[:0], initializer=tf.constant(1.0)), 1.0)
    same(grad(tf, lambda x: tf.foldl(lambda a, v: a * a + v, x), x), [12.0, 6.0, 1.0])
    same(grad(tf, lambda x: tf.foldr(lambda a, v: a * a + v, x), x), [1.0, 22.0, 44.0 * 3.0])
    joined = tf.foldl(lambda a, v: tf.concat([a, [v]], 0), x, initializer=tf.constant([0.0]))
    same(joined, [0.0, 1.0, 2.0, 3.0])


def test_J6_vectorized_map(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = tf.Variable([[1.0, -1.0], [0.5, 2.0]])

    def f(x):
        return tf.vectorized_map(lambda row: tf.linalg.matvec(w, row) * row[0], x)

    def by_hand(x):
        return tf.matmul(x, w, transpose_b=True) * x[:, :1]

    same(f(x), by_hand(x).numpy())
    same(grad(tf, f, x), grad(tf, by_hand, x).numpy())
    same(grad(tf, lambda w: f(x), w), grad(tf, lambda w: by_hand(x), w).numpy())


def test_J6_vectorized_map_over_structures(tf):
    elems = {"a": tf.constant([1.0, 2.0, 3.0]), "b": tf.constant([[1.0], [10.0], [100.0]])}
    out = tf.vectorized_map(lambda e: (e["a"] + e["b"], [e["a"], tf.constant(7)]), elems)
    same(out[0], [[2.0], [12.0], [103.0]])
    same(out[1][0], [1.0, 2.0, 3.0])
    same(out[1][1], [7, 7, 7])
    spread = tf.vectorized_map(lambda e: e[0] * e[1], (elems["a"], tf.constant([2.0])))
    same(spread, [2.0, 4.0, 6.0])


def test_J6_vectorized_map_with_a_tape_inside(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = tf.constant([2.0, 3.0])

    def gradients(row):
        with tf.GradientTape() as tape:
            tape.watch([row, w])
            y = tf.reduce_sum(w * row) ** 2
        return tape.gradient(y, [row, w])

    by_row, by_w = tf.vectorized_map(gradients, x)
    inner = 2.0 * (x.numpy() @ w.numpy())[:, None]
    same(by_row, inner * w.numpy())
    same(by_w, inner * x.numpy())


def test_J6_vectorized_map_draws_for_each_element(tf):
    drawn = tf.vectorized_map(lambda v: v + tf.random.normal([2]), tf.zeros([50]))
    assert tuple(drawn.shape) == (50, 2)
    assert len(set(drawn.numpy().ravel().tolist())) == 100


def test_J7_what_a_tensor_array_stacks_keeps_its_gradient(tf):
    x = tf.constant([1.0, 2.0, 3.0])

    def f(x):
        array = tf.TensorArray(tf.float32, size=3)
        for i in range(3):
            array = array.write(i, x[i] ** (i + 1))
        return array.stack()

    same(f(x), [1.0, 4.0, 27.0])
    same(grad(tf, f, x), [1.0, 4.0, 27.0])


def test_J7_in_a_while_loop(tf):
    x = tf.constant([1.0, 2.0, 3.0])

    def f(x):
        def body(i, total, array):
            total = total + x[i] * x[i]
            return i + 1, total, array.write(i, total)

        start = (tf.constant(0), tf.constant(0.0), tf.TensorArray(tf.float32, size=3))
        return tf.while_loop(lambda i, *rest: i < 3, body, start)[2].stack()

    same(f(x), [1.0, 5.0, 14.0])
    same(grad(tf, f, x), [6.0, 8.0, 6.0])


def test_J7_unstack_read_gather_scatter_concat_split(tf):
    x = tf.constant([1.0, 2.0, 3.0])

    def f(x):
        read = tf.TensorArray(tf.float32, 3).unstack(x * x).read(1)
        gathered = tf.TensorArray(tf.float32, 3).unstack(x).gather([2, 0, 2])
        scattered = tf.TensorArray(tf.float32, 4).scatter([3, 0, 1], x).stack()
        joined = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2]).concat()
        same(gathered, [3.0, 1.0, 3.0])
        same(scattered, [2.0, 3.0, 0.0, 1.0])
        return read, gathered, 10.0 * scattered, 100.0 * joined

    same(grad(tf, f, x), [0 + 1 + 10 + 100, 4 + 0 + 10 + 100, 0 + 2 + 10 + 100])


def test_J7_sizes_and_errors(tf):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    array = array.write(2, 1.0)
    same(array.size(), 3)
    same(array.stack(), [0.0, 0.0, 1.0])
    fixed = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    with pytest.raises(tf.errors.OutOfRangeError):
        fixed.write(2, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError):
        fixed.read(-1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        fixed.write(0, tf.constant(1))
    same(fixed.read(0), 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        fixed.read(0)
    kept = tf.TensorArray(tf.float32, 1, clear_after_read=False).unstack([5.0])
    same([kept.read(0), kept.read(0)], [5.0, 5.0])
    with pytest.raises(ValueError):
        tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, [1.0, 2.0])
    with pytest.raises(ValueError):
        tf.TensorArray(tf.float32)


def test_J8_where_splits_the_gradient(tf):
    c = tf.constant([True, False, True])
    a, b = tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])
    ga, gb = grad(tf, lambda a, b: tf.where(c, a * a, b * b), a, b)
    same(ga, [2.0, 0.0, 6.0])
    same(gb, [0.0, 40.0, 0.0])


def test_J8_the_condition_gets_none(tf):
    x, c = tf.constant([1.0, -1.0]), tf.constant([True, False])
    gc, gx = grad(tf, lambda c, x: tf.where(c, x, 2.0 * x), c, x)
    assert gc is None
    same(gx, [1.0, 2.0])
    assert grad(tf, lambda x: tf.where(x > 0.0, 1.0, 2.0), x) is None
    same(grad(tf, lambda x: tf.where(x > 0.0, x, 0.0), x), [1.0, 0.0])


@pytest.mark.parametrize(
    "c, a, b",
    [
        ((2, 3), (), ()),
        ((2, 3), (3,), (2, 1)),
        ((2, 1), (1, 3), ()),
        ((), (2, 3), (3,)),
        ((3,), (2, 3), (2, 3)),
        ((1, 3), (2, 1), (4, 1, 1)),
    ],
    ids=str,
)
def test_J9_where_broadcasts(tf, c, a, b):
    c = np.arange(np.prod(c, dtype=int)).reshape(c) % 2 == 0
    a, b = np.ones(a, "float32"), 2 * np.ones(b, "float32")
    expected = np.where(c, a, b)
    weights = np.arange(1.0, expected.size + 1).reshape(expected.shape).astype("float32")
    x, y = tf.constant(a), tf.constant(b)
    same(tf.where(c, x, y), expected)
    gx, gy = grad(tf, lambda x, y: tf.where(c, x, y) * weights, x, y)
    same(gx, summed_to(weights * c, a.shape))
    same(gy, summed_to(weights * ~c, b.shape))


def summed_to(g, shape):
    """g summed over the axes along which `shape` was broadcast."""
    padded = (1,) * (g.ndim - len(shape)) + shape
    axes = tuple(i for i, n in enumerate(padded) if n != g.shape[i])
    return g.sum(axis=axes, keepdims=True).reshape(shape)
