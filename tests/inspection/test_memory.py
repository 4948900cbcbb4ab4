"""`tape.memory()`: what a tape holds, and that it is so."""

import gc
import inspect
import tracemalloc

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.inspect.memory import Largest

pytestmark = pytest.mark.gradtape_only


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("f")


def layers(x, weights):
    for w in weights:
        x = tf.nn.gelu(x @ w)
    return tf.reduce_mean(tf.nn.softmax(x) ** 2)


def mlp(**options):
    weights = [tf.Variable(normal(128, 128)) for _ in range(3)]
    with tf.GradientTape(**options) as tape:
        layers(tf.constant(normal(512, 128)), weights)
    return tape


def convolutions():
    filters = [tf.Variable(normal(3, 3, 4, 8)), tf.Variable(normal(3, 3, 8, 8))]
    with tf.GradientTape() as tape:
        x = tf.constant(normal(8, 32, 32, 4))
        for f in filters:
            x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, f, 1, "SAME")), 2, 2, "SAME")
        tf.reduce_sum(x**2)
    return tape


def recurrent():
    w, u = tf.Variable(normal(64, 64)), tf.Variable(normal(32, 64))
    data = tf.constant(normal(40, 128, 32))
    with tf.GradientTape() as tape:
        state = tf.zeros([128, 64])
        for t in range(40):
            state = tf.tanh(state @ w + data[t] @ u)
        tf.reduce_sum(state)
    return tape


def attention():
    x = tf.Variable(normal(8, 64, 128))
    with tf.GradientTape(persistent=True) as tape:
        heads = tf.transpose(tf.reshape(x, [8, 64, 4, 32]), [0, 2, 1, 3])
        scores = tf.nn.softmax(tf.einsum("bhqd,bhkd->bhqk", heads, heads))
        mixed = tf.einsum("bhqk,bhkd->bhqd", scores, heads)
        tf.reduce_sum(tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [8, 64, 128]) ** 2)
    return tape


def gradients_of_their_own():
    @tf.custom_gradient
    def cube(x):
        square = x * x
        return x * square, lambda g: 3.0 * square * g

    x = tf.Variable(normal(300, 300))
    with tf.GradientTape() as tape:
        tf.reduce_sum(tf.recompute_grad(lambda y: tf.sin(tf.exp(y)))(cube(x)))
    return tape


def many_small():
    x = tf.Variable(normal(2000))
    with tf.GradientTape() as tape:
        y = x
        for _ in range(300):
            y = tf.sin(y)
    return tape


def many_tiny():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(1000):
            y = tf.sin(y) * 1.01
    return tape


def with_a_budget():
    return mlp(memory_budget="300KB")


def nested():
    x = tf.Variable(normal(200, 200))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.sin(x) ** 3)
        inner.gradient(y, x)
    return outer


PROGRAMS = [
    mlp, convolutions, recurrent, attention, gradients_of_their_own, many_small, many_tiny,
    with_a_budget, nested,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_total_is_what_the_allocator_says(program):
    program()  # what is made once is made
    gc.collect()
    tracemalloc.start()
    try:
        tape = program()
        gc.collect()
        memory = tape.memory()
        gc.collect()
        with_tape = tracemalloc.get_traced_memory()[0]
        del tape
        gc.collect()
        freed = with_tape - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert memory.freed == pytest.approx(freed, rel=0.01)
    assert memory.total == pytest.approx(freed, rel=0.01)  # all that it holds is held by it alone


# What is held, and by whom


def test_an_array_that_several_rules_need_is_held_once():
    x = tf.Variable(normal(50, 50))
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        tf.reduce_sum(tf.sin(y) * y)
    (exp,) = [held for held in tape.memory().tensors if held.op == "exp"]
    assert exp.kept_for == ("exp", "sin", "multiply")
    assert exp.bytes == 50 * 50 * 4


def test_a_view_counts_for_the_array_behind_it():
    x = tf.constant(normal(60, 40) + 0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.sin(tf.transpose(x))
        tf.cos(x[:1])
    memory = tape.memory()
    assert len(memory.tensors) == 1
    assert memory.arrays >= 60 * 40 * 4
    assert memory.tensors[0].kept_for == ("sin", "cos")


def test_what_the_user_holds_does_not_go_with_the_tape():
    x = tf.Variable(normal(100, 100), name="weights")
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        tf.sin(tf.sin(y))
    memory = tape.memory()
    freed = {held.op or held.name: held.freed for held in memory.tensors}
    assert freed == {"weights": False, "exp": False, "sin": True}
    del y
    assert {held.op for held in tape.memory().tensors if held.freed} == {"exp", "sin"}
    assert memory.freed < memory.total


def test_what_was_used_up_is_held_no_more():
    x = tf.Variable(normal(100, 100))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(tf.exp(x)))
    before = tape.memory()
    tape.gradient(y, x)
    after = tape.memory()
    assert before.arrays == after.arrays + 100 * 100 * 4
    assert after.count == 0
    assert [held.name for held in after.tensors] == ["Variable"]
    assert [held.kept_for for held in after.tensors] == [()]


def test_an_empty_tape():
    memory = tf.GradientTape().memory()
    assert (memory.tensors, memory.count, memory.budget_frees) == ([], 0, 0)
    assert "0 arrays" in str(memory)


# What would be freed


def test_a_budget_frees_what_is_said():
    said = mlp().memory()
    found = mlp(memory_budget=0).memory()
    assert said.budget_frees > 0.5 * said.total
    assert found.total == pytest.approx(said.total - said.budget_frees, rel=0.05)
    assert found.budget_frees == 0


def block(x, w):
    return tf.nn.gelu(tf.nn.gelu(x @ w) @ w) @ w


def tower(block):
    weights = [tf.Variable(normal(64, 64) / 8) for _ in range(4)]
    data = tf.constant(normal(256, 64))
    with tf.GradientTape() as tape:
        x = data
        for w in weights:
            x = block(x, w)
        x = tf.sin(x)
    return tape


def test_functions_of_libraries_are_none_of_the_users(tmp_path, monkeypatch):
    (tmp_path / "site-packages").mkdir()
    library = "def applied(f, *args):\n    return f(*args)\n"
    (tmp_path / "site-packages" / "a_library_of_blocks.py").write_text(library)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    import a_library_of_blocks

    places = Largest()
    places.begin()
    try:
        tower(lambda *args: a_library_of_blocks.applied(block, *args))
    finally:
        places.end()
    names = [function.name.partition(" (")[0] for function in places.memory.functions]
    assert "block" in names and "applied" not in names


def test_recompute_grad_frees_what_is_said():
    places = Largest()
    places.begin()
    try:
        tower(block)
    finally:
        places.end()
    said = places.memory
    (function,) = said.functions
    assert function.name.startswith("block (")
    found = tower(tf.recompute_grad(block)).memory()
    assert found.arrays == pytest.approx(said.arrays - function.saved, rel=0.02)
    assert "tf.recompute_grad(block) would free" in str(said)
    assert (said.file, said.line) == (__file__, line_of(tower, "with tf.GradientTape"))


def line_of(function, text):
    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if text in line)


# Lines


def test_lines_are_known_to_a_tape_that_explains():
    x = tf.Variable(normal(30, 30))
    with tf.GradientTape(explain=True) as tape:
        y = tf.exp(x)
        tf.sin(y)
    del y
    here = test_lines_are_known_to_a_tape_that_explains
    lines = {held.op or held.name: held.line for held in tape.memory().tensors}
    assert lines["exp"] == line_of(here, "tf.exp(x)")
    (share, *_) = tape.memory().by_line
    assert "y = tf.exp(x)" in share.name
    assert sum(each.bytes for each in tape.memory().by_line) <= tape.memory().arrays


def test_shown():
    memory = mlp(explain=True).memory()
    text = str(memory)
    for part in ("By line", "By op", "gelu", "█", "memory_budget", "x = tf.nn.gelu(x @ w)"):
        assert part in text
    assert repr(memory) == text
    page = memory._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 3
    assert sum(share.bytes for share in memory.by_op) == memory.arrays


# Compiled functions


@pytest.fixture
def step():
    w = tf.Variable(normal(300, 400))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            h = tf.sin(x @ w)
            y = tf.reduce_sum(tf.cumsum(h, 1) ** 2)
        w.assign_sub(0.1 * tape.gradient(y, w))
        return y

    return step


def test_a_program_tells_xlas_account(step):
    pytest.importorskip("jax")
    x = tf.constant(normal(500, 300))
    memory = step.memory(x)
    weights, data = 300 * 400 * 4, 500 * 300 * 4
    assert data + 2 * weights <= memory.arguments <= data + 2 * weights + 64  # and a spare
    assert weights <= memory.outputs <= weights + 64
    assert memory.temporary >= 500 * 400 * 4
    assert memory.total == (memory.arguments + memory.outputs - memory.aliased + memory.temporary)
    assert 0 < sum(buffer.bytes for buffer in memory.buffers) <= memory.temporary
    lines = {line for file, line, *_ in memory.by_line if file == __file__}
    body = {line_of(step.python_function, text) for text in ("tf.sin", "tf.cumsum", "assign_sub")}
    assert lines and lines <= body
    assert "At the peak" in str(memory)
    assert "<table>" in memory._repr_html_()
    assert repr(step.get_concrete_function(x).memory()) == str(memory)


def test_a_program_whose_sizes_are_open_says_what_to_ask(step):
    pytest.importorskip("jax")
    with pytest.raises(tf.errors.UnimplementedError, match="all sizes are known"):
        step.memory(tf.TensorSpec([None, 300]))


def test_a_method():
    pytest.importorskip("jax")

    class Model(tf.Module):
        @tf.function
        def __call__(self, x):
            return tf.sin(x)

    assert Model().__call__.memory(tf.ones([10])).arguments == 40


def test_the_lines_are_those_of_this_function_though_another_is_the_same_program():
    pytest.importorskip("jax")

    def first(x):
        return tf.reduce_mean(tf.nn.softmax(tf.tanh(x @ x)))

    def second(x):
        return tf.reduce_mean(tf.nn.softmax(tf.tanh(x @ x)))

    x = tf.constant(normal(90, 90))
    for function in (first, second):
        compiled = tf.function(function)
        compiled(x)  # it is kept on the disk
        lines = {line for file, line, *_ in compiled.memory(x).by_line if file == __file__}
        assert lines == {line_of(function, "tf.tanh")}
