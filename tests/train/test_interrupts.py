"""Interrupts, failures and readers in the middle of a step: no value is lost, and none is half."""

import gc
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import deque

import numpy as np
import pytest
from interrupts import Interrupt, at_every_point

from gradtape._src.core.recorder import listeners
from gradtape._src.tape import cell

pytestmark = [
    pytest.mark.gradtape_only,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of Unix")


@pytest.fixture
def interrupted(monkeypatch):
    """Runs a function again and again until a timer interrupts it, so many times.

    An exception where Python cannot raise one, such as in the finalizer of an object, is lost: then
    the timer is set again. In JAX's callback of garbage collection that would be a quarter of them,
    so there is none meanwhile.
    """
    # That of pytest is a function of Python: an interrupt inside of it would be a failure.
    monkeypatch.setattr(sys, "unraisablehook", deque(maxlen=0).append)
    armed = []

    def handler(*_):
        if armed:
            armed.clear()  # so there is one at a time, however late what it interrupts goes on
            raise Interrupt

    def arm(seconds):
        armed.append(True)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, handler)

    # (A function of its own: the jump back of a loop belongs to no `try` in CPython 3.13, and an
    # interrupt that comes just there goes past it.)
    def until_interrupted(step, first, longest):
        arm(first)
        for _ in range(1_000_000):
            step()
            if not armed:  # it was lost
                arm(longest)
        pytest.fail("no interrupt came in a million steps")

    def run(step, check, times, longest):
        rng = random.Random(0)
        for i in range(times):
            try:
                until_interrupted(step, rng.uniform(1e-5, longest), longest)
            except Interrupt:
                listeners().clear()  # if it came before the tape's own `__exit__`
                check()
            except BaseException:
                armed.clear()  # or it would interrupt pytest, which is to say what went wrong
                raise
            if i % 50 == 0:
                gc.collect()

    gc.disable()
    yield run
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    gc.enable()


def at_every_moment(step, check, begin=lambda: None):
    """Interrupt `step` at every moment, and the first three times that it comes there."""

    def check_all():
        listeners().clear()  # if it came before the tape's own `__exit__`
        assert not cell._lock._is_owned(), "a lock is held for ever"
        check()

    return at_every_point(step, check_all, begin, visits=3)


class Model:
    """Layers with Adam whose whole state can be told to be that of one step.

    The loss is the sum of the weights: each gradient is 1, so that with any number of steps each
    element of a variable (and of each slot) has one value, the same for all layers.
    """

    def __init__(self, tf, shapes, **options):
        self.weights = [tf.Variable(np.zeros(shape, np.float32)) for shape in shapes]
        self.optimizer = tf.optimizers.Adam(0.01, **options)
        self.optimizer.build(self.weights)
        self._tf = tf

    def step(self):
        tf = self._tf
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(w) for w in self.weights])
        gradients = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(gradients, self.weights, strict=True))
        return loss

    @property
    def variables(self):
        return [*self.weights, *self.optimizer.variables]

    def check(self):
        """Every variable is whole, and all are of the same step, that of the count."""
        count = int(self.optimizer.iterations)
        momentum = 1 - 0.9**count
        values = [v.numpy() for v in self.weights]
        for value in values:
            assert np.ptp(value) == 0, "a variable is torn"
        assert len({float(value.flat[0]) for value in values}) == 1, "variables of two steps"
        slots = [v.numpy() for v in self.optimizer.variables[2:]]
        for slot in slots:
            assert np.ptp(slot) == 0, "a slot is torn"
        np.testing.assert_allclose(slots[0].flat[0], momentum, rtol=1e-3, atol=1e-6)
        assert len({float(slot.flat[0]) for slot in slots[::2]}) == 1, "slots of two steps"
        return count


SMALL = [(5, 3), (3,)] * 5
LARGE = [(300, 200), (200,), (600, 500), (7,)]  # in place, by blocks, by two threads


@needs_timers
@pytest.mark.parametrize("shapes", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_interrupts_at_random_times(tf, interrupted, compiled, shapes):
    model = Model(tf, shapes)
    step = tf.function(model.step) if compiled else model.step
    step(), step()
    interrupted(step, model.check, times=300, longest=0.004)
    count = model.check()
    step()
    assert model.check() == count + 1


@pytest.mark.parametrize("shapes", [SMALL[:2], LARGE[2:]], ids=["small", "large"])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_an_interrupt_at_every_moment_of_a_step(tf, compiled, shapes, monkeypatch):
    """Not at random: at each moment at which Python looks for signals, in turn."""
    from gradtape._src.engines.numpy import blocks

    run = blocks.Task.run

    def late(task):  # the second thread is behind the first one
        time.sleep(0.005)
        run(task)

    monkeypatch.setattr(blocks.Task, "run", late)
    monkeypatch.setattr(blocks, "_threads", 2)
    model = Model(tf, shapes)
    step = tf.function(model.step) if compiled else model.step
    step(), step()
    assert at_every_moment(step, model.check) > 30
    count = model.check()
    step()
    assert model.check() == count + 1


# What an optimizer does around its rule


def of_own_steps(tf):
    class Own(tf.optimizers.Optimizer):
        def update_step(self, gradient, variable, learning_rate):
            variable.assign_sub(gradient * learning_rate)

    return Own(0.1, weight_decay=0.1)


OPTIMIZERS = {
    "accumulation": lambda tf: tf.optimizers.Adam(0.1, gradient_accumulation_steps=2),
    "average": lambda tf: tf.optimizers.SGD(0.1, use_ema=True),
    "average, taken": lambda tf: tf.optimizers.SGD(0.1, use_ema=True, ema_overwrite_frequency=2),
    "all": lambda tf: tf.optimizers.Nadam(
        0.1, use_ema=True, gradient_accumulation_steps=2, clipnorm=1.0, weight_decay=0.1
    ),
    "loss scale": lambda tf: tf.optimizers.LossScaleOptimizer(
        tf.optimizers.SGD(0.1, momentum=0.9), initial_scale=4.0, dynamic_growth_steps=2
    ),
    "update_step": of_own_steps,
}


def weights_and_gradients(tf, shape, constraint=None):
    values = np.linspace(0, 1, np.prod(shape), dtype=np.float32).reshape(shape)
    weights = [tf.Variable(values, constraint=constraint), tf.Variable([1.0, 2.0])]
    return weights, [tf.ones(shape), tf.ones(2)]


def check_steps(optimizer, weights, gradients):
    """Interrupt each of three steps at every moment: the state is that of before or of after."""
    optimizer.build(weights)
    variables = [*weights, *optimizer.variables]

    def values():
        return [v.numpy().tobytes() for v in variables]

    def step():
        optimizer.apply(gradients, weights)

    for _ in range(3):
        start = [v.numpy().copy() for v in variables]

        def begin(start=start):
            for v, value in zip(variables, start, strict=True):
                v.assign(value)

        begin()
        sides = [values()]
        step()
        sides.append(values())
        at_every_moment(step, lambda sides=sides: sides.index(values()), begin)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_interrupt_at_every_moment_of_an_optimizer(tf, name):
    check_steps(OPTIMIZERS[name](tf), *weights_and_gradients(tf, (5, 3)))


@pytest.mark.parametrize("name", ["accumulation", "average, taken", "loss scale"])
def test_an_interrupt_at_every_moment_of_an_optimizer_of_large_arrays(tf, name):
    check_steps(OPTIMIZERS[name](tf), *weights_and_gradients(tf, (400, 350)))


@pytest.mark.parametrize("shape", [(5, 3), (400, 350)], ids=["small", "large"])
def test_an_interrupt_at_every_moment_of_constraints_and_rows(tf, shape):
    weights, gradients = weights_and_gradients(tf, shape, lambda w: tf.minimum(w, 0.5))
    check_steps(tf.optimizers.SGD(0.1), weights, gradients)
    weights, gradients = weights_and_gradients(tf, shape)
    gradients[0] = tf.IndexedSlices(gradients[0][:2], [0, 2], shape)
    check_steps(tf.optimizers.SGD(0.1), weights, gradients)


@pytest.mark.parametrize("name", ["all", "loss scale"])
def test_an_interrupt_at_every_moment_of_a_first_step(tf, name):
    """It makes the slots: all of them, once."""
    weights, gradients = weights_and_gradients(tf, (5, 3))
    start = [v.numpy() for v in weights]
    optimizer = OPTIMIZERS[name](tf)

    def begin():
        nonlocal optimizer
        optimizer = OPTIMIZERS[name](tf)
        for v, value in zip(weights, start, strict=True):
            v.assign(value)

    def step():
        optimizer.apply(gradients, weights)

    def end():
        while int(optimizer.iterations) < 1:
            step()
        return [v.numpy().tobytes() for v in [*weights, *optimizer.variables]]

    begin()
    expected = end()

    def check():
        assert end() == expected

    at_every_moment(step, check, begin)


@needs_timers
def test_interrupts_of_calls_that_compile_or_find_their_values_elsewhere(tf, interrupted):
    model = Model(tf, SMALL)
    tf.function(model.step)()
    steps = []
    rng = random.Random(0)

    def change():  # traces, compiles, and runs on a mixture of arrays of the host and of XLA
        if len(steps) < 3 or rng.random() < 0.3:
            steps.append(tf.function(model.step))
        for i, v in enumerate(model.variables):
            if i % 3 == len(steps) % 3:
                v.assign(v.numpy())
        steps[-1]()

    interrupted(change, model.check, times=12, longest=0.5)
    count = model.check()
    model.step()
    assert model.check() == count + 1


@needs_timers
def test_interrupts_of_steps_on_a_tape(tf, interrupted):
    model = Model(tf, SMALL)
    scale = tf.Variable(1.0)
    compiled = tf.function(lambda: model.step() * scale)

    def step():
        with tf.GradientTape():
            compiled()

    step()
    interrupted(step, model.check, times=200, longest=0.004)
    model.check()


@needs_timers
@pytest.mark.parametrize("options", [{"amsgrad": True}, {"clipvalue": 2.0}], ids=str)
def test_rules_with_maximum_and_minimum_are_not_interrupted(tf, interrupted, options):
    model = Model(tf, [(600, 500)], **options)
    model.step()

    def check():
        for v in model.variables:
            assert np.ptp(v.numpy()) == 0

    interrupted(model.step, check, times=150, longest=0.004)


@needs_timers
def test_interrupts_of_updates_of_rows(tf, interrupted):
    table = tf.Variable(np.zeros((5000, 16), np.float32))
    optimizer = tf.optimizers.SGD(1.0, momentum=0.5)
    rows = tf.constant(np.arange(0, 5000, 2))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])

    step()

    def check():
        assert np.ptp(table.numpy()[::2]) == 0
        assert (table.numpy()[1::2] == 0).all()

    interrupted(step, check, times=150, longest=0.004)


def test_an_optimizer_of_which_numpy_warnings_are_errors(tf):
    v = tf.Variable(np.full((600, 500), 3e38, np.float32))
    optimizer = tf.optimizers.SGD(1.0)
    with np.errstate(all="raise"):
        optimizer.apply_gradients([(tf.constant(np.full((600, 500), -3e38, np.float32)), v)])
    assert np.isinf(v.numpy()).all()
    assert int(optimizer.iterations) == 1


# In a process of its own


def run(code, **environment):
    import os

    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900
    )


CHILD = """
    import gc, os, signal, sys, threading
    import numpy as np
    import gradtape as tf

    weights = [tf.Variable(np.eye(40, dtype="float32")) for _ in range(30)]
    optimizer = tf.optimizers.Adam(1e-3)

    @tf.function(jit_compile=True)
    def step():
        with tf.GradientTape() as tape:
            h = tf.ones([4, 40])
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_sum(h)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

    step()
    random = np.random.default_rng(0)
    gc.disable()  # an exception in the midst of garbage collection is lost

    def interrupt(seconds, stopped):
        while not stopped.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)
            seconds = 60  # once more, if it was lost in another place

    for i in range(60):
        stopped = threading.Event()
        args = [random.uniform(0, 0.01), stopped]
        try:
            threading.Thread(target=interrupt, args=args).start()
            while True:
                step()
        except KeyboardInterrupt:
            stopped.set()
        count = int(optimizer.iterations)
        for v in [*weights, *optimizer.variables]:
            assert np.isfinite(v.numpy()).all()
        checkpoint = tf.train.Checkpoint(weights=weights, optimizer=optimizer)
        if i % 10 == 0:
            checkpoint.write(sys.argv[1])
            gc.collect()
        step()
        assert int(optimizer.iterations) == count + 1
    print("whole")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
def test_sigint_in_a_compiled_training(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.stdout.strip() == "whole", done.stderr


@needs_timers
def test_interrupts_of_the_compiler():
    """JAX's own wait for it leaves it with what is freed then: that crashes the process."""
    done = run("""
        import signal, threading
        from jax._src import compiler

        class Interrupt(BaseException):
            pass

        def handler(*_):
            raise Interrupt

        def interrupted(*arguments):
            assert threading.current_thread() is not threading.main_thread()
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            return compile_program(*arguments)

        signal.signal(signal.SIGALRM, handler)
        compile_program, compiler.backend_compile_and_load = (
            compiler.backend_compile_and_load, interrupted)

        import gradtape as tf

        count = 0
        for i in range(5):
            @tf.function
            def layers(x):
                for _ in range(400):  # JAX looks for signals five times a second
                    x = tf.tanh(x @ x + float(i))
                return x

            try:
                layers(tf.ones([20, 20]))
            except Interrupt:
                count += 1
        print(count)
    """)
    assert done.stdout.strip() == "5", done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by RLIMIT_AS")
def test_a_step_that_runs_out_of_memory():
    done = run("""
        import resource
        import numpy as np
        import gradtape as tf

        weights = [tf.Variable(np.full((100, 100), 0.01, "float32")) for _ in range(4)]
        optimizer = tf.optimizers.Adam(1e-3)

        @tf.function(jit_compile=True)
        def step(n):
            with tf.GradientTape() as tape:
                h = tf.reshape(n, [-1, 1]) + tf.zeros([1, 100])
                for w in weights:
                    h = tf.tanh(h @ w)
                loss = tf.reduce_mean(h)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss

        small, large = tf.zeros([10]), tf.zeros([3_000_000])
        for _ in range(3):
            step(small)
        before = [v.numpy() for v in [*weights, *optimizer.variables]]
        usage = int(open("/proc/self/statm").read().split()[0]) * 4096
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (usage + 2**30, limits[1]))
        for _ in range(3):
            try:
                step(large)
            except Exception as error:
                assert "RESOURCE_EXHAUSTED" in str(error) or "memory" in str(error), error
            else:
                raise AssertionError("it was to run out of memory")
        resource.setrlimit(resource.RLIMIT_AS, limits)
        for v, value in zip([*weights, *optimizer.variables], before):
            np.testing.assert_array_equal(v.numpy(), value)
        step(small)
        assert int(optimizer.iterations) == 4
        print("whole")
    """)
    assert done.stdout.strip() == "whole", done.stderr


# Exceptions of what a program calls


@pytest.mark.parametrize("how", ["py_function", "assert", "numpy_function"])
def test_exceptions_out_of_a_compiled_step(tf, how):
    model = Model(tf, SMALL)
    fails = tf.Variable(0.0, trainable=False)

    def check(x):
        if float(x) > 0:
            raise ValueError("stop")
        return np.float32(0)

    @tf.function
    def step():
        loss = model.step()
        if how == "py_function":
            loss += tf.py_function(check, [fails], tf.TensorSpec([], tf.float32))
        elif how == "numpy_function":
            loss += tf.numpy_function(check, [fails], tf.TensorSpec([], tf.float32))
        else:
            tf.debugging.assert_less(fails, 0.5)
        tf.print(loss, output_stream="file:///dev/null")
        return loss

    for count in range(1, 6):
        step()
        assert model.check() == count
        fails.assign(1.0)
        with pytest.raises(Exception, match=r"stop|assert"):
            step()
        assert model.check() == count
        fails.assign(0.0)


# Threads that read


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("size", [2000, 200_000])
def test_readers_see_whole_values(tf, size, compiled):
    w = tf.Variable(np.zeros(size, np.float32))
    g = tf.constant(np.ones(size, np.float32))
    optimizer = tf.optimizers.SGD(1.0)
    done, torn, reads = threading.Event(), [], []

    def read():
        while not done.is_set():
            values = (w * 1.0).numpy()
            reads.append(1)
            if np.ptp(values):
                torn.append(values)

    def step():
        optimizer.apply_gradients([(g, w)])

    step = tf.function(step) if compiled else step
    step()
    readers = [threading.Thread(target=read, daemon=True) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(400):
            step()
        while len(reads) < 50 and all(reader.is_alive() for reader in readers):
            step()
    finally:
        done.set()
        for reader in readers:
            reader.join(60)
    assert not torn and len(reads) >= 50
