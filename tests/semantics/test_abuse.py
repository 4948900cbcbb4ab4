"""Tapes under abuse: exceptions, threads, garbage, very long, empty and non-finite things."""

import gc
import re
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest

from .helpers import grad, in_thread, same


def refs(variables):
    return [v.ref() for v in variables]


# Exceptions


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_leaves_no_tape_active(tf, error):
    v, later = tf.Variable(3.0), tf.Variable(1.0)
    outer, inner = tf.GradientTape(), tf.GradientTape(persistent=True)
    with pytest.raises(error), outer, inner:
        y = v * v
        raise error
    after = later * y
    for tape in outer, inner:
        assert refs(tape.watched_variables()) == [v.ref()]
        gv, glater = tape.gradient([y, after], [v, later])
        same(gv, 6.0)
        assert glater is None


def test_an_exception_under_stop_recording_resumes_the_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ZeroDivisionError), tape.stop_recording():
            raise ZeroDivisionError
        y = v * v
    v * 2.0
    same(tape.gradient(y, v), 6.0)


def test_an_exception_through_stop_recording_and_tape(tf):
    v, later = tf.Variable(3.0), tf.Variable(1.0)
    with pytest.raises(ZeroDivisionError), tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            raise ZeroDivisionError
    later * 2.0
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)


def test_an_exception_inside_gradient_leaves_outer_tapes_recording(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v * v
        with pytest.raises(tf.errors.InvalidArgumentError):
            inner.gradient(y, v, output_gradients=tf.ones(3))
        z = y * v
    same(outer.gradient(z, v), [3.0, 12.0])


def test_an_exception_inside_gradient_leaves_a_persistent_tape_usable(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording(), pytest.raises(tf.errors.InvalidArgumentError):
            tape.gradient(y, v, output_gradients=tf.ones(3))
        z = y * v
    same(tape.gradient(y, v), [2.0, 4.0])
    same(tape.gradient(z, v), [3.0, 12.0])


def test_a_generator_closed_early_closes_its_tape(tf):
    v, later = tf.Variable(3.0), tf.Variable(1.0)

    def steps():
        with tf.GradientTape() as tape:
            while True:
                yield tape, v * v

    generator = steps()
    tape, y = next(generator)
    generator.close()
    later * 2.0
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)


# Threads


def test_a_tape_made_here_and_used_there(tf):
    v, here = tf.Variable(3.0), tf.Variable(1.0)
    tape = tf.GradientTape()

    def there():
        with tape:
            return v * v

    y = in_thread(there)
    here * 2.0
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)


def test_entering_a_tape_that_records_in_another_thread(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with pytest.raises(ValueError):
            in_thread(tape.__enter__)
        z = y * v
    same(tape.gradient(z, v), 27.0)


def test_watching_from_another_thread_does_no_harm(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        in_thread(tape.watch, x)
        y = x * v
    gx, gv = tape.gradient(y, [x, v])
    assert gx is None or float(gx) == 4.0  # TensorFlow ignores it: no tape is active over there
    same(gv, 3.0)


def test_asking_a_recording_persistent_tape_from_another_thread(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording():
            same(in_thread(tape.gradient, y, v), 6.0)
        z = y * v
    same(tape.gradient(z, v), 27.0)


def test_a_thread_that_dies_inside_its_tape(tf):
    v = tf.Variable(3.0)
    tapes = []

    def there():
        with tf.GradientTape() as tape:
            tapes.append((tape, v * v))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_thread(there)
    tape, y = tapes[0]
    same(tape.gradient(y, v), 6.0)
    same(grad(tf, lambda v: v * v, v), 6.0)


# Garbage


def dropped(tf, keep, persistent=False):
    """A tape that nobody asks."""
    x = keep(tf.constant([1.0, 2.0]))
    with keep(tf.GradientTape(persistent=persistent)) as tape:
        tape.watch(x)
        keep(tf.reduce_sum(keep(tf.exp(x)) * x))


def dropped_persistent(tf, keep):
    dropped(tf, keep, persistent=True)


def asked(tf, keep, persistent=False):
    v = keep(tf.Variable([1.0, 2.0]))
    with keep(tf.GradientTape(persistent=persistent)) as tape:
        y = keep(tf.reduce_sum(keep(tf.exp(v)) * v))
    return tape.gradient(y, v)


def asked_persistent(tf, keep):
    return asked(tf, keep, persistent=True)


def asked_inside(tf, keep):
    v = keep(tf.Variable(2.0))
    with keep(tf.GradientTape(persistent=True)) as tape:
        y = keep(v**3)
        first = keep(tape.gradient(y, v))
    return tape.gradient(first, v)


def nested(tf, keep):
    v = keep(tf.Variable(2.0))
    with keep(tf.GradientTape()) as outer:
        with keep(tf.GradientTape()) as inner:
            y = keep(tf.exp(v) * v)
        first = keep(inner.gradient(y, v))
    return outer.gradient(first, v)


def paused(tf, keep):
    v = keep(tf.Variable(2.0))
    with keep(tf.GradientTape(persistent=True)) as tape:
        y = keep(v * v)
        with tape.stop_recording():
            keep(tape.gradient(y, v))
        tape.reset()
        keep(v * v)


def broken(tf, keep):
    v = keep(tf.Variable(2.0))
    try:
        with keep(tf.GradientTape()):
            keep(v * v)
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass


def sparse(tf, keep):
    v = keep(tf.Variable([[1.0], [2.0]]))
    with keep(tf.GradientTape()) as tape:
        y = keep(tf.gather(v, [0, 1, 0]) ** 2)
    return tape.gradient(y, v)


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    "use",
    [
        dropped,
        dropped_persistent,
        asked,
        asked_persistent,
        asked_inside,
        nested,
        paused,
        broken,
        sparse,
    ],
)
def test_everything_is_freed_without_the_collector(tf, no_collector, use):
    kept = []

    def keep(thing):
        kept.append((type(thing).__name__, weakref.ref(thing)))
        return thing

    result = use(tf, keep)
    assert [name for name, reference in kept if reference() is not None] == []
    del result


@pytest.mark.gradtape_only
def test_a_training_loop_leaves_no_objects_behind(tf, no_collector):
    w = tf.Variable([1.0, 2.0])

    def steps(n):
        for _ in range(n):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((w * w - 3.0) ** 2)
            w.assign_sub(0.01 * tape.gradient(loss, w))

    steps(20)
    before = len(gc.get_objects())
    steps(200)
    assert len(gc.get_objects()) - before < 20


# Length


@pytest.mark.gradtape_only
@pytest.mark.parametrize("persistent", [False, True])
def test_a_chain_of_100_000_operations(tf, persistent):
    n = 100_000
    x = tf.constant(1.0, tf.float64)
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = x
        for _ in range(n):
            y = y * x
    same(tape.gradient(y, x), n + 1.0)


@pytest.mark.gradtape_only
def test_a_long_chain_is_dropped_without_recursion(tf, no_collector):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(100_000):
            y = tf.exp(y) * 0.0
    reference = weakref.ref(tape)
    del tape, y
    assert reference() is None


@pytest.mark.gradtape_only
def test_a_long_chain_differentiated_twice(tf):
    n = 10_000
    x = tf.constant(1.0, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x
            for _ in range(n - 1):
                y = y * x
        first = inner.gradient(y, x)
    same(first, float(n))
    same(outer.gradient(first, x), float(n * (n - 1)))


# Nothing


EMPTY = {
    "multiply": (lambda tf, x: x * x, (0,), np.zeros(0)),
    "broadcast": (lambda tf, x: x + tf.ones((3, 1)), (0,), np.zeros((3, 0))),
    "exp": (lambda tf, x: tf.exp(x), (2, 0), np.zeros((2, 0))),
    "reduce_sum": (lambda tf, x: tf.reduce_sum(x), (0, 3), 0.0),
    "reduce_sum_axis": (lambda tf, x: tf.reduce_sum(x, 0), (0, 3), np.zeros(3)),
    "reduce_prod": (lambda tf, x: tf.reduce_prod(x), (0,), 1.0),
    "reduce_mean": (lambda tf, x: tf.reduce_mean(x), (0,), np.nan),
    "reduce_max": (lambda tf, x: tf.reduce_max(x), (0,), -np.inf),
    "reduce_min_axis": (lambda tf, x: tf.reduce_min(x, 0), (0, 2), [np.inf, np.inf]),
    "matmul_outer": (lambda tf, x: tf.matmul(x, tf.ones((3, 2))), (0, 3), np.zeros((0, 2))),
    "matmul_inner": (lambda tf, x: tf.matmul(x, tf.ones((0, 3))), (2, 0), np.zeros((2, 3))),
    "concat": (lambda tf, x: tf.concat([x, tf.ones((2, 3))], 0), (0, 3), np.ones((2, 3))),
    "stack": (lambda tf, x: tf.stack([x, x]), (0,), np.zeros((2, 0))),
    "reshape": (lambda tf, x: tf.reshape(x, (3, 0)), (0, 2), np.zeros((3, 0))),
    "transpose": (lambda tf, x: tf.transpose(x), (0, 2), np.zeros((2, 0))),
    "slice": (lambda tf, x: x[1:], (0, 2), np.zeros((0, 2))),
    "where": (lambda tf, x: tf.where(x > 0.0, x, 2.0 * x), (0,), np.zeros(0)),
    "cumsum": (lambda tf, x: tf.cumsum(x), (0,), np.zeros(0)),
    "softmax": (lambda tf, x: tf.nn.softmax(x), (0, 3), np.zeros((0, 3))),
}


@pytest.mark.parametrize("f, shape, value", EMPTY.values(), ids=EMPTY)
def test_empty_tensors_have_empty_gradients(tf, f, shape, value):
    x = tf.zeros(shape)
    same(f(tf, x), value)
    g = grad(tf, lambda x: f(tf, x), x)
    assert g.dtype == tf.float32
    same(g, np.zeros(shape))


def test_an_empty_part_of_something(tf):
    x = tf.constant([1.0, 2.0])
    same(grad(tf, lambda x: x[2:], x), [0.0, 0.0])
    same(grad(tf, lambda x: tf.reduce_sum(x[1:1]) + x[0], x), [1.0, 0.0])
    g = grad(tf, lambda x: tf.gather(x, tf.zeros((0,), tf.int32)), x)
    same(tf.convert_to_tensor(g), [0.0, 0.0])


def test_a_scalar_broadcast_to_nothing(tf):
    same(grad(tf, lambda x: x * tf.zeros((0, 3)), tf.constant(2.0)), 0.0)


def test_an_empty_variable(tf):
    v = tf.Variable(tf.zeros((0, 2)))
    g = grad(tf, lambda v: v * v, v)
    same(g, np.zeros((0, 2)))
    v.assign_sub(g)
    assert v.shape == (0, 2)


# NaN and Inf

INF, NAN = np.inf, np.nan

NOT_FINITE = {
    "log": (lambda tf, x: tf.math.log(x), [0.0, -1.0, INF], [-INF, NAN, INF], [INF, -1.0, 0.0]),
    "sqrt": (lambda tf, x: tf.sqrt(x), [0.0, -1.0, INF], [0.0, NAN, INF], [INF, NAN, 0.0]),
    "exp": (lambda tf, x: tf.exp(x), [1000.0, -1000.0], [INF, 0.0], [INF, 0.0]),
    "reciprocal": (lambda tf, x: 1.0 / x, [0.0, INF], [INF, 0.0], [-INF, 0.0]),
    "zero_by_zero": (lambda tf, x: 0.0 / x, [0.0], [NAN], [NAN]),
    "by_zero": (lambda tf, x: x / 0.0, [1.0, -1.0, 0.0], [INF, -INF, NAN], [INF, INF, INF]),
    "overflow": (lambda tf, x: x * x, [1e30, -1e30], [INF, INF], [2e30, -2e30]),
    "minus": (lambda tf, x: x - x, [INF, NAN], [NAN, NAN], [0.0, 0.0]),
    "times_inf": (lambda tf, x: x * INF, [0.0, 1.0], [NAN, INF], [INF, INF]),
    "power": (lambda tf, x: x**0.5, [0.0, -1.0], [0.0, NAN], [INF, NAN]),
    "power_-1": (lambda tf, x: x**-1.0, [0.0], [INF], [-INF]),
    "sin": (lambda tf, x: tf.sin(x), [INF, NAN], [NAN, NAN], [NAN, NAN]),
    "asin": (lambda tf, x: tf.asin(x), [1.0, 2.0], [np.pi / 2, NAN], [INF, NAN]),
    "atanh": (lambda tf, x: tf.atanh(x), [1.0, 2.0], [INF, NAN], [INF, -1 / 3]),
    "tanh": (lambda tf, x: tf.tanh(x), [INF, -INF, NAN], [1.0, -1.0, NAN], [0.0, 0.0, NAN]),
    "sigmoid": (lambda tf, x: tf.sigmoid(x), [-1000.0, 1000.0], [0.0, 1.0], [0.0, 0.0]),
    "softplus": (lambda tf, x: tf.nn.softplus(x), [-1000.0, 1000.0], [0.0, 1000.0], [0.0, 1.0]),
    "softmax": (lambda tf, x: tf.nn.softmax(x), [1000.0, -1000.0], [1.0, 0.0], [0.0, 0.0]),
    "reduce_sum": (lambda tf, x: tf.reduce_sum(x), [INF, -INF], NAN, [1.0, 1.0]),
    "reduce_sum_big": (lambda tf, x: tf.reduce_sum(x), [3e38, 3e38], INF, [1.0, 1.0]),
    "reduce_mean": (lambda tf, x: tf.reduce_mean(x), [NAN, 1.0], NAN, [0.5, 0.5]),
    "reduce_std": (lambda tf, x: tf.math.reduce_std(x), [1.0, 1.0], 0.0, [NAN, NAN]),
    "norm": (lambda tf, x: tf.norm(x), [0.0, 0.0], 0.0, [NAN, NAN]),
    "logsumexp": (lambda tf, x: tf.reduce_logsumexp(x), [-INF, 0.0], 0.0, [0.0, 1.0]),
    "float16": (lambda tf, x: tf.cast(x, tf.float16), [1e30, 1.0], [INF, 1.0], [1.0, 1.0]),
    "maximum": (lambda tf, x: tf.maximum(x, 0.0), [NAN, 1.0], [NAN, 1.0], [0.0, 1.0]),
    "where": (lambda tf, x: tf.where(x > 0.0, tf.math.log(x), 0.0), [0.0], [0.0], [NAN]),
    "matmul": (lambda tf, x: tf.matmul([x], [[0.0], [1.0]]), [INF, 1.0], [[NAN]], [0.0, 1.0]),
}


@pytest.mark.parametrize("f, x, value, gradient", NOT_FINITE.values(), ids=NOT_FINITE)
def test_nan_and_inf_pass_where_warnings_are_errors(tf, f, x, value, gradient):
    x = tf.constant(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = f(tf, x)
        g = grad(tf, lambda x: f(tf, x), x)
    same(y, value)
    same(g, gradient)


def test_casting_nan_to_integers_where_warnings_are_errors(tf):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        n = tf.cast(tf.constant([NAN, INF, 1.0]), tf.int32)
    assert n.numpy()[2] == 1


@pytest.mark.gradtape_only
def test_nan_and_inf_pass_silently_by_default():
    program = """if True:
        import gradtape as tf
        x = tf.constant([0.0, 1e38, -1.0])
        y = [1 / x, tf.math.log(x), tf.exp(x), x * x * x, tf.sqrt(x), tf.cast(1 / x, tf.int32)]
        x = tf.constant(0.0)
        y = [1 / x, tf.math.log(x), tf.exp(x + 1000), x / x]
    """
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_nan_does_not_spread_to_other_elements(tf):
    x = tf.constant([NAN, 2.0])
    same(grad(tf, lambda x: x * x, x), [NAN, 4.0])
    same(grad(tf, lambda x: tf.reduce_sum(x * x) + x[1], x), [NAN, 5.0])


# Wrong arguments: in each call x is float32 of shape (2,) and m float32 of shape (2, 3).

WRONG = {
    "add_shapes": (lambda tf, x, m: x + tf.ones(3), "add (2,) (3,)"),
    "multiply_shapes": (lambda tf, x, m: tf.multiply(m, x), "multiply (2, 3) (2,)"),
    "add_dtypes": (lambda tf, x, m: x + tf.ones(2, tf.float64), "add `x` `y` float32 float64"),
    "multiply_dtypes": (lambda tf, x, m: tf.constant([1, 2]) * x, "multiply `x` `y` int32 float32"),
    "int_and_float": (lambda tf, x, m: tf.constant([1, 2]) + 1.5, "add int32 float 1.5"),
    "add_bool": (lambda tf, x, m: tf.constant(True) + tf.constant(True), "add `x` bool"),
    "add_text": (lambda tf, x, m: x + "text", "add float32 string"),
    "exp_text": (lambda tf, x, m: tf.exp("text"), "exp `x` string"),
    "sqrt_int": (lambda tf, x, m: tf.sqrt(tf.constant([1])), "sqrt `x` int32 cast"),
    "matmul_shapes": (lambda tf, x, m: tf.matmul(m, m), "matmul (2, 3)"),
    "matmul_rank": (lambda tf, x, m: tf.matmul(x, x), "matmul (2,)"),
    "matmul_dtypes": (
        lambda tf, x, m: tf.matmul(m, tf.ones((3, 2), tf.float64)),
        "matmul float32 float64",
    ),
    "reshape": (lambda tf, x, m: tf.reshape(x, [3]), "reshape (2,) 3"),
    "concat_shapes": (lambda tf, x, m: tf.concat([m, tf.ones((4, 5))], 0), "concat (2, 3) (4, 5)"),
    "concat_axis": (lambda tf, x, m: tf.concat([x, x], 3), "concat axis 3"),
    "concat_dtypes": (
        lambda tf, x, m: tf.concat([x, tf.constant([1])], 0),
        "concat float32 int32",
    ),
    "stack_shapes": (lambda tf, x, m: tf.stack([x, tf.ones(3)]), "stack (2,) (3,)"),
    "gather_index": (lambda tf, x, m: tf.gather(x, [5]), "gather indices 5"),
    "gather_dtype": (lambda tf, x, m: tf.gather(x, [0.5]), "gather indices float32"),
    "reduce_axis": (lambda tf, x, m: tf.reduce_sum(x, axis=3), "reduce_sum axis 3"),
    "transpose": (lambda tf, x, m: tf.transpose(m, [0, 0]), "transpose perm"),
    "where": (lambda tf, x, m: tf.where([True, False, True], x, x), "where (3,) (2,)"),
    "split": (lambda tf, x, m: tf.split(x, 3), "split 3"),
    "expand_dims": (lambda tf, x, m: tf.expand_dims(x, 5), "expand_dims axis 5"),
    "squeeze": (lambda tf, x, m: tf.squeeze(x, 0), "squeeze axis 0 (2,)"),
    "broadcast_to": (lambda tf, x, m: tf.broadcast_to(x, [3]), "broadcast_to (2,) 3"),
    "tile": (lambda tf, x, m: tf.tile(x, [1, 2]), "tile multiples"),
    "pad": (lambda tf, x, m: tf.pad(x, [[1, 1], [1, 1]]), "pad paddings"),
    "einsum": (lambda tf, x, m: tf.einsum("ij,jk->ik", m, m), "einsum (2, 3)"),
}

WRONG_TYPE = {
    "add_none": (lambda tf, x, m: x + None, ValueError, "None"),
    "exp_none": (lambda tf, x, m: tf.exp(None), ValueError, "exp None"),
    "multiply_object": (lambda tf, x, m: tf.multiply(x, object()), ValueError, "multiply object"),
    "index_float": (lambda tf, x, m: x[0.5], TypeError, "0.5"),
    "cast_nonsense": (lambda tf, x, m: tf.cast(x, "nonsense"), TypeError, "nonsense"),
    "convert": (lambda tf, x, m: tf.convert_to_tensor(x, tf.int32), ValueError, "float32 int32"),
    "ragged_list": (lambda tf, x, m: tf.constant([[1.0], [1.0, 2.0]]), ValueError, "rectangular"),
    "watch": (lambda tf, x, m: tf.GradientTape().watch(1.0), ValueError, "float"),
}


def assert_refused_and_usable(tf, call, kind):
    """That `call` raises, inside a tape that keeps what it recorded and goes on recording."""
    x, m = tf.Variable([2.0, 3.0]), tf.Variable(np.ones((2, 3), "float32"))
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with pytest.raises(kind) as caught:
            call(tf, x.value(), m.value())
        same(tape.gradient(y, x), [4.0, 6.0])
        z = y * x
    same(tape.gradient(y, x), [4.0, 6.0])
    same(tape.gradient(z, x), [12.0, 27.0])
    return str(caught.value)


def assert_words(text, words):
    """That `text` has all the words: shapes as tuples, names in backticks or bare."""
    for word in re.findall(r"\([^)]*\)|\S+", words):
        whole = re.escape(word)
        if word[0].isalnum():
            whole = rf"(?<!\w){whole}(?!\w)"
        assert re.search(whole, text, re.IGNORECASE), f"{word!r} is not in: {text}"


@pytest.mark.parametrize("call", [c for c, _ in WRONG.values()], ids=WRONG)
def test_a_wrong_shape_or_dtype_is_refused_and_leaves_the_tape_usable(tf, call):
    assert_refused_and_usable(tf, call, tf.errors.InvalidArgumentError)


@pytest.mark.parametrize("call, kind, words", WRONG_TYPE.values(), ids=WRONG_TYPE)
def test_a_wrong_type_is_refused_and_leaves_the_tape_usable(tf, call, kind, words):
    assert_refused_and_usable(tf, call, kind)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("call, words", WRONG.values(), ids=WRONG)
def test_a_wrong_shape_or_dtype_is_explained(tf, call, words):
    assert_words(assert_refused_and_usable(tf, call, tf.errors.InvalidArgumentError), words)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("call, kind, words", WRONG_TYPE.values(), ids=WRONG_TYPE)
def test_a_wrong_type_is_explained(tf, call, kind, words):
    assert_words(assert_refused_and_usable(tf, call, kind), words)


def test_an_index_out_of_range(tf):
    kinds = (tf.errors.InvalidArgumentError, IndexError)
    assert_refused_and_usable(tf, lambda tf, x, m: x[7], kinds)
    assert_refused_and_usable(tf, lambda tf, x, m: m[0, -4], kinds)


def test_a_failing_operation_on_a_plain_tape_does_not_use_it_up(tf):
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                y + tf.ones(3)
    same(tape.gradient(y, x), [4.0, 6.0])


def test_a_refused_assignment_leaves_variable_and_tape_alone(tf):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v * v
        with pytest.raises(ValueError):
            v.assign([1.0, 2.0, 3.0])
        z = y * v
    same(v.numpy(), [2.0, 3.0])
    same(tape.gradient(z, v), [12.0, 27.0])
