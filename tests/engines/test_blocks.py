"""Large arrays are worked on in blocks, by several threads: what nobody must notice."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.engine import LARGE
from gradtape._src.engines.numpy import blocks
from gradtape._src.testing import all_ops
from gradtape._src.testing.samples import samples_of
from tests.interrupts import at_every_point

SIZE = LARGE + 12345
"""Several blocks and a part of one."""


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(blocks, "_threads", 2)


@pytest.fixture
def numbers():
    return np.random.default_rng(0).uniform(0.1, 0.9, SIZE).astype(np.float32)


class Meeting:
    """A kernel whose first calls wait for each other, so that two threads must take part."""

    def __init__(self, function=np.negative):
        self.function = function
        self.barrier = threading.Barrier(2, timeout=60)
        self.threads = set()
        self.calls = 0

    def __call__(self, block):
        self.calls += 1
        if self.calls > 1 and threading.current_thread() not in self.threads:  # the first is alone
            self.threads.add(threading.current_thread())
            self.barrier.wait()
        return self.function(block)


def in_blocks(kernel, numbers):
    return blocks.elementwise(kernel, [numbers])


def test_two_threads_work_on_one_array(numbers):
    kernel = Meeting()
    np.testing.assert_array_equal(in_blocks(kernel, numbers), -numbers)
    assert len(kernel.threads) == 2
    assert kernel.calls == len(blocks._slices(SIZE, blocks.BLOCK)) > 3


IN_BLOCKS = [op for op in all_ops().values() if op.in_blocks]


@pytest.mark.parametrize("op", IN_BLOCKS, ids=lambda op: op.name)
def test_the_bits_do_not_depend_on_the_threads(op, monkeypatch):
    samples = samples_of(op)
    tensors, params = max(samples, key=lambda sample: min(map(np.size, sample[0])))
    large = [np.resize(tensor, SIZE) for tensor in tensors]
    large = [t.astype(np.float32) if t.dtype == np.float64 else t for t in large]

    def run():
        result = op.call(*map(tf.constant, large), **params)
        return [y.numpy() for y in (result if isinstance(result, tuple) else (result,))]

    two = run()
    monkeypatch.setattr(blocks, "_threads", 1)
    one = run()
    whole = op.on(blocks_engine())(*large, **params)
    for a, b, c in zip(two, one, whole if isinstance(whole, tuple) else (whole,), strict=True):
        assert a.tobytes() == b.tobytes()
        assert a.dtype == c.dtype and a.shape == c.shape
        if a.dtype.kind in "fc":
            np.testing.assert_allclose(a, c, rtol=2e-6)  # NumPy's loops end otherwise than begin


def by_logits(loss):
    def gradients(x, *others):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loss(x, *others)
        return y, tape.gradient(y, x)

    return gradients


BY_ROWS = {
    "softmax": lambda x, labels: (tf.nn.softmax(x),),
    "cross_entropy": by_logits(
        lambda x, labels: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
    ),
    "gelu": by_logits(lambda x, labels: tf.nn.gelu(x)),
}


@pytest.mark.parametrize("name", BY_ROWS)
@pytest.mark.parametrize("shape", [(700, 1000), (2, 300_000), (300_001, 2), (1, LARGE)], ids=str)
def test_the_bits_of_rows_do_not_depend_on_the_threads(name, shape, monkeypatch):
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=shape).astype(np.float32))
    labels = tf.constant(random.integers(0, shape[1], shape[0]))

    def run():
        return [y.numpy() for y in BY_ROWS[name](x, labels)]

    two = run()
    monkeypatch.setattr(blocks, "_threads", 1)
    few = [y.numpy() for y in BY_ROWS[name](x[-2:, :1000], labels[-2:] % min(1000, shape[1]))]
    for a, b in zip(two, run(), strict=True):
        assert a.tobytes() == b.tobytes()
    if shape[1] <= 1000:
        for a, b in zip(two, few, strict=True):
            np.testing.assert_allclose(a[-2:], b, rtol=1e-5, atol=1e-6)


CONVOLUTIONS = {
    "ordinary": ((40, 30, 30, 8), (3, 3, 8, 12), {}),
    "few rows in a product": ((4, 64, 64, 64), (3, 3, 64, 64), {}),
    "rows of one image": ((2, 300, 301, 8), (5, 5, 8, 8), {}),
    "one place": ((40, 64, 64, 12), (1, 1, 12, 8), {}),
    "with strides": ((40, 64, 64, 4), (5, 5, 4, 12), {"strides": 3}),
    "of groups": ((40, 64, 64, 4), (3, 3, 2, 12), {}),
    "of channels": ((40, 64, 64, 4), (3, 3, 1, 8), {}),
    "of channels, with strides": ((40, 64, 64, 4), (3, 3, 1, 8), {"strides": 2}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_the_bits_of_convolutions_do_not_depend_on_the_threads(name, monkeypatch):
    shape, kernel, options = CONVOLUTIONS[name]
    draw = np.random.default_rng(0).normal
    x, filters = (tf.constant(draw(size=size).astype(np.float32)) for size in (shape, kernel))
    shared = []
    share = blocks.share

    def counted(parts, work):
        shared.append(len(parts))
        share(parts, work)

    monkeypatch.setattr(blocks, "share", counted)

    def run():
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            y = tf.nn.convolution(x, filters, padding="SAME", **options)
        return [y.numpy()] + [g.numpy() for g in tape.gradient(y, [x, filters], y)]

    two = run()
    monkeypatch.setattr(blocks, "_threads", 1)
    assert len(shared) == 3 and min(shared) > 1
    for a, b in zip(two, run(), strict=True):
        assert a.tobytes() == b.tobytes()


def blocks_engine():
    from gradtape._src.engines.numpy.engine import engine

    return engine


SHAPES = [((SIZE, 1), ()), ((600, 700), (700,)), ((600, 700), (600, 1)), ((2, 300, 700), (300, 1))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_smaller_arrays_are_broadcast(shapes):
    draw = np.random.default_rng(0).normal
    x, y = (draw(size=shape).astype(np.float32) for shape in shapes)
    for a, b in ((x, y), (y, x)):
        np.testing.assert_array_equal((tf.constant(a) - tf.constant(b)).numpy(), a - b)


@pytest.mark.parametrize("order", [np.asfortranarray, lambda x: x[:, ::2], lambda x: x[::-1]])
def test_arrays_in_any_order(order):
    x = order(np.random.default_rng(0).normal(size=(1000, 1000)))
    np.testing.assert_array_equal(tf.tanh(tf.constant(x)).numpy(), np.tanh(x))
    np.testing.assert_array_equal((tf.constant(x) * tf.constant(x + 0)).numpy(), x * x)


def test_a_result_that_is_a_view_is_not_copied(numbers):
    assert np.shares_memory(in_blocks(lambda block: block, numbers), numbers)


def test_an_error_in_a_block(numbers):
    def refuse(block):
        if (block == 2).any():
            raise LookupError("2")
        return -block

    for place in (0, SIZE // 2, SIZE - 1):
        wrong = numbers.copy()
        wrong[place] = 2
        with pytest.raises(LookupError, match="2"):
            in_blocks(refuse, wrong)
        assert not blocks.helpers.lock.locked()
    np.testing.assert_array_equal(in_blocks(refuse, numbers), -numbers)


def test_an_error_of_the_other_thread(numbers):
    def refuse(block):
        if threading.current_thread() is not threading.main_thread():
            raise LookupError("there")
        return -block

    with pytest.raises(LookupError, match="there"):
        in_blocks(Meeting(refuse), numbers)


def test_integers_are_not_divided_by_zero():
    x, y = tf.ones([SIZE], tf.int32), tf.ones([SIZE], tf.int32)
    y = tf.tensor_scatter_nd_update(y, [[SIZE - 1]], [0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"floordiv|floor_div"):
        x // y


@pytest.mark.filterwarnings("error")
def test_no_warning_becomes_an_error():
    x = tf.fill([SIZE], np.float32(1000))
    assert np.isinf(tf.exp(x).numpy()).all()
    assert np.isinf((x / tf.zeros([SIZE])).numpy()).all()


def test_threads_work_in_the_context_of_the_caller(numbers):
    name = contextvars.ContextVar("name", default="")
    seen = []

    def look(block):
        seen.append((name.get(), np.geterr()["over"]))
        return -block

    name.set("mine")
    with np.errstate(over="raise"):
        in_blocks(Meeting(look), numbers)
    assert set(seen) == {("mine", "raise")}


def test_an_op_within_a_block(numbers):
    """In the handler of a signal, say: it must not wait for the threads that wait for it."""

    def nested(block):
        return tf.negative(tf.constant(numbers)).numpy()[: len(block)]

    np.testing.assert_array_equal(
        in_blocks(nested, numbers)[: blocks.BLOCK], -numbers[: blocks.BLOCK]
    )


def test_many_threads_of_the_user(numbers):
    results = []

    def work():
        for _ in range(5):
            results.append((tf.constant(numbers) * 2 + 1).numpy())

    users = [threading.Thread(target=work) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert len(results) == 20
    for result in results:
        np.testing.assert_array_equal(result, numbers * 2 + 1)


def test_an_interrupt_at_every_moment(numbers):
    x, ended = tf.constant(numbers), []

    def step():
        ended.append(tf.exp(x))

    def check():
        assert not blocks.helpers.lock.locked()
        np.testing.assert_array_equal(tf.negative(x).numpy(), -numbers)

    assert at_every_point(step, check) > 20
    np.testing.assert_array_equal(ended[-1].numpy(), np.exp(numbers))


def test_a_task_that_is_cancelled_does_not_begin():
    ran = []
    task = blocks.Task(lambda: ran.append(1))
    task.cancel()
    task.run()
    assert not ran
    task.finish()


def test_the_number_of_threads(monkeypatch):
    seen = []
    monkeypatch.setattr(blocks, "_threads", 0)
    assert blocks.threads() == blocks.default_threads() >= 1
    try:
        for count in (3, 1, 0):
            tf.config.threading.set_intra_op_parallelism_threads(count)
            seen.append(blocks.threads())
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    assert seen == [3, 1, blocks.default_threads()]


def test_one_thread_is_that_of_the_caller(numbers, monkeypatch):
    monkeypatch.setattr(blocks, "_threads", 1)
    seen = set()

    def look(block):
        seen.add(threading.current_thread())
        return -block

    in_blocks(look, numbers)
    assert seen == {threading.current_thread()}


def run_python(code, **environment):
    environment = {**os.environ, **environment}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_libraries_heed_this_variable():
    code = "from gradtape._src.engines.numpy import blocks; print(blocks.threads())"
    assert run_python(code, OMP_NUM_THREADS="3") == "3\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_begins_with_threads_of_its_own():
    code = """
import os, threading, numpy as np, gradtape as tf
tf.config.threading.set_intra_op_parallelism_threads(2)
x = tf.ones([10**6])
def check():
    assert (tf.exp(x) == tf.exp(x[0])).numpy().all()
    assert "gradtape helper" in [thread.name for thread in threading.enumerate()]
check()
child = os.fork()
check()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    run_python(code)
