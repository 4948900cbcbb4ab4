"""What tapes leave behind: nothing; and recordings of many thousand operations."""

import gc
import weakref

import pytest

from .helpers import same


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
