"""Interrupts of traces: nothing of them is left, and the next call traces anew and is right."""

import gc
import io

import interrupts
import jax
import numpy as np
import pytest
from interrupts import GRADTAPE, at_every_point

from gradtape._src.core import dispatch, interrupts as kept
from gradtape._src.core.tracing import tracing
from gradtape._src.engines.xla import checks  # noqa: F401 (all whose state is kept)
from gradtape._src.function import concrete  # noqa: F401
from gradtape._src.function.autograph import conversion

pytestmark = pytest.mark.gradtape_only

BLOCKS = (
    *GRADTAPE[1:],
    "core/tracing.py",
    "core/recorder.py",
    "core/interrupts.py",
    "function/api.py",
    "function/graph.py",
    "function/program.py",
    "function/streams.py",
    "tape/scopes.py",
    "jax/_src/core.py",
    "jax/_src/config.py",
)
"""Where blocks are entered and left that change the state of a thread. (All of gradtape, and of
JAX, is the same with more patience: `files=("gradtape", "jax", ...), stride=1`.)"""


def state():
    """What blocks change in this thread."""
    return [read() for read, _ in kept._kept]


@pytest.fixture
def check_state(tf):
    """After an interrupt, all is as it was before."""
    tf.function(lambda x: x + 1.0)(1.0)  # modules that have a state are loaded by the first call
    before = state()

    def check():
        assert state() == before
        assert not tracing.threads and not dispatch._noting
        jax.numpy.ones(2) + 1  # what JAX traces into was put back, or it would leak

    yield check
    gc.collect()  # what was interrupted is forgotten, and changes nothing on its way
    check()


def test_a_first_call(tf, check_state):
    """With a function inside that creates a variable, a tape, and all that AutoGraph converts."""
    x = tf.constant([1.0, 2.0])
    model = None

    class Model:
        def __init__(self):
            self.v = None

        @tf.function
        def inner(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            return x * self.v

        @tf.function
        def outer(self, x):
            with tf.name_scope("a"), tf.GradientTape() as tape:
                y = self.inner(x)
                if tf.reduce_sum(y) > 0.0:
                    y = y * 3.0
                for _ in tf.range(2):
                    y = y + x
            g = tape.gradient(y, self.v)
            self.v.assign_add(1.0)
            return tf.reduce_sum(y), g

    def begin():
        nonlocal model
        model = Model()

    def check():
        check_state()
        v = 2.0 if model.v is None else float(model.v)
        assert v in (2.0, 3.0)  # the call that was interrupted was made, or was not
        y, g = model.outer(x)
        assert (float(y), float(g), float(model.v)) == (9 * v + 6, 9.0, v + 1)
        assert tf.Variable(1.0).name == "Variable:0"

    assert at_every_point(lambda: model.outer(x), check, begin, BLOCKS, stride=37) > 3


def test_a_gradient_of_a_compiled_call(tf, check_state):
    """Its derivative is traced when it is asked for, as a continuation of the same graph."""
    x = tf.Variable([0.5, 1.0])
    f = None

    def begin():
        nonlocal f
        f = tf.function(lambda: tf.reduce_sum(tf.sin(x) * x))
        f()

    def gradient():
        with tf.GradientTape() as tape:
            y = f()
        return tape.gradient(y, x)

    def check():
        check_state()
        values = x.numpy()
        np.testing.assert_allclose(gradient(), np.cos(values) * values + np.sin(values), rtol=1e-6)

    assert at_every_point(gradient, check, begin, BLOCKS, stride=29) > 3


def test_what_is_converted_is_converted_whole(tf, check_state):
    """Of a function that AutoGraph has begun to convert nothing is kept."""
    f = None

    def python(x):
        for _ in tf.range(3):
            if x > 2.0:
                x = x - 1.0
            x = x + 1.0
        return x

    def begin():
        nonlocal f
        conversion._conversions.clear()
        f = tf.function(python)

    def check():
        check_state()
        assert float(f(tf.constant(1.0))) == 3.0

    points = ("autograph/conversion.py", "function/api.py")
    assert at_every_point(lambda: f(tf.constant(1.0)), check, begin, points, stride=7) > 3


def test_an_iterator_that_a_trace_looks_at_loses_nothing(tf, check_state):
    dataset = tf.data.Dataset.range(4)
    iterator = None
    f = None

    def begin():
        nonlocal iterator, f
        iterator = iter(dataset)
        f = tf.function(lambda it: next(it) + next(it))

    def check():
        check_state()
        assert int(f(iterator)) in (1, 5)  # if it was interrupted after it took, 2 and 3 are left

    points = ("function/streams.py", "data/iterator.py", "function/api.py")
    assert at_every_point(lambda: f(iterator), check, begin, points, stride=7) > 3


def test_a_step_takes_its_elements_if_it_changes_its_variables(tf, check_state):
    """None is lost, and none comes twice, wherever an interrupt ends a step."""
    iterator = iter(tf.data.Dataset.range(10**6))
    count, seen = tf.Variable(0, dtype=tf.int64), tf.Variable([-1, -1], dtype=tf.int64)

    @tf.function
    def step():
        seen.assign([next(iterator), next(iterator)])
        count.assign_add(1)

    step()

    def check():
        check_state()
        steps = int(count.numpy())
        assert seen.numpy().tolist() == [2 * steps - 2, 2 * steps - 1]
        step()
        assert seen.numpy().tolist() == [2 * steps, 2 * steps + 1]

    points = ("function/streams.py", "tape/cell.py", "function/concrete.py", "data/iterator.py")
    assert at_every_point(step, check, files=points) > 30


@pytest.mark.parametrize("rounds", [1, 3])
def test_an_interrupt_of_python_that_a_program_calls(tf, check_state, monkeypatch, caplog, rounds):
    """It comes out as what it is, not as an error of JAX; the program has changed nothing."""
    monkeypatch.setattr(interrupts, "Interrupt", KeyboardInterrupt)
    v = tf.Variable([0.0, 0.0])

    @tf.function
    def step():
        v.assign_add([1.0, 1.0])
        for _ in tf.range(rounds):
            x = tf.numpy_function(lambda x: x + 1.0, [v], tf.TensorSpec([2], tf.float32))
            tf.print(x, output_stream=io.StringIO())
        return x

    def check():
        check_state()
        before = v.numpy()
        assert before[0] == before[1]
        assert (step().numpy() == before + 2.0).all()

    files = (*GRADTAPE, "jax/_src/callback.py", "jax/_src/debugging.py")
    assert at_every_point(step, check, files=files, visits=rounds) > 30
    assert not caplog.text


def test_errors_put_back_what_they_must_and_no_more(tf, check_state):
    """An error of the user's is no interrupt: the variable that was created stays."""
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(1.0))
            raise ValueError("once")
        return x * made[0]

    with pytest.raises(ValueError, match="once"):
        f(tf.constant(2.0))
    check_state()
    assert float(f(tf.constant(2.0))) == 2.0
