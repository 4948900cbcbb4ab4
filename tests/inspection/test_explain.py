"""`tape.explain`: on programs that are broken, and on others that are not."""

import inspect

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.tracing import tracing
from gradtape._src.inspect.journal import journal_of_process
from gradtape.debugging import Cause, explain_gradients

from . import broken_by_values, broken_inside  # noqa: F401
from .broken import PROGRAMS
from .sound import SOUND

pytestmark = pytest.mark.gradtape_only


@pytest.fixture
def journal():
    explain_gradients()
    yield journal_of_process()
    explain_gradients(False)
    assert journal_of_process() is None


def explaining(**options):
    return tf.GradientTape(explain=True, **options)


def check(program, found, cause, advice):
    lines, first = inspect.getsourcelines(program)
    marked = [first + i for i, line in enumerate(lines) if line.rstrip().endswith("# <-")]
    assert found.cause.name == cause, str(found)
    assert advice in found.suggestion, str(found)
    if marked:
        assert (found.file, found.line) == (inspect.getsourcefile(program), marked[0])
        assert found.source_line in str(found)
    assert found.message in str(found) and found.suggestion in str(found)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_broken_program(journal, name):
    program, cause, advice, _ = PROGRAMS[name]
    tape, target, source = program(tf.GradientTape)
    check(program, tape.explain(target, source), cause, advice)


@pytest.mark.parametrize("name", [name for name, (*_, alone) in PROGRAMS.items() if alone])
def test_a_broken_program_by_its_tape_alone(name):
    program, cause, advice, _ = PROGRAMS[name]
    tape, target, source = program(explaining)
    check(program, tape.explain(target, source), cause, advice)
    del tape
    assert journal_of_process() is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tape_that_was_used_up_explains_as_well(journal, name):
    program, cause, advice, _ = PROGRAMS[name]
    tape, target, source = program(tf.GradientTape)
    if isinstance(target, tf.Tensor) and isinstance(source, (tf.Tensor, tf.Variable)):
        if name in ("an_op_without_a_gradient", "the_different_ones", "a_draw_of_poisson"):
            with pytest.raises(LookupError, match="there is no gradient"):
                tape.gradient(target, source)
        elif not tape._used:
            gradient = tape.gradient(target, source)
            assert (gradient is None) == (cause != "ZERO")
        check(program, tape.explain(target, source), cause, advice)


def test_there_are_enough_of_them():
    assert len(PROGRAMS) >= 60 and len(SOUND) >= 40
    assert {cause for _, cause, *_ in PROGRAMS.values()} == {c.name for c in Cause} - {"CONNECTED"}


@pytest.mark.parametrize("program", SOUND, ids=lambda program: program.__name__)
def test_nothing_is_said_of_a_sound_program(journal, caplog, program):
    tape, target, sources = program(lambda **options: tf.GradientTape(persistent=True, **options))
    gradients = tape.gradient(target, sources)
    assert all(g is not None for g in tf.nest.flatten(gradients))
    assert not caplog.records
    for found in tf.nest.flatten(tape.explain(target, sources)):
        assert found.cause is Cause.CONNECTED, str(found)
        assert not found.suggestion


# What is said, and where


def test_each_none_of_a_program_is_said_once(journal, caplog):
    x, v = tf.constant(3.0), tf.Variable(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = x * v
        assert tape.gradient(y, [x, v])[0] is None
    assert len(caplog.records) == 1
    assert "A gradient is None. x is a tensor that is not watched" in caplog.text


def test_an_optimizer_says_why_no_gradient_came(journal):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = tf.stop_gradient(v * v)
    gradients = tape.gradient(loss, [v])
    with pytest.raises(ValueError, match="No gradients provided") as error:
        tf.optimizers.SGD(0.1).apply_gradients(zip(gradients, [v], strict=True))
    assert "stop_gradient gives the value and cuts the gradient here." in str(error.value)
    assert f"{__file__.split('/')[-1]}:" in str(error.value)


def test_the_path_of_a_gradient():
    v = tf.Variable([3.0, 4.0])
    with explaining() as tape:
        squares = v * v
        loss = tf.reduce_sum(squares)
    found = tape.explain(loss, v)
    assert found.cause is Cause.CONNECTED
    assert [(step.op, step.shape, step.dtype) for step in found.path] == [
        ("multiply", (2,), "float32"),
        ("reduce_sum", (), "float32"),
    ]
    np.testing.assert_allclose([step.norm for step in found.path], [2**0.5, 1.0], rtol=1e-6)
    assert [step.line for step in found.path] == [found.path[0].line, found.path[0].line + 1]
    assert "its norm is 10" in found.message


def test_a_source_without_a_name():
    held = {"x": tf.constant(3.0), "v": tf.Variable(2.0, trainable=False, name="a/v")}
    with explaining() as tape:
        y = held["x"] * held["v"]
    x, v = tape.explain(y, [held["x"], held["v"]])
    assert x.message.startswith("The source is a tensor that is not watched")
    assert v.message.startswith("The variable 'a/v' is not trainable")
    assert "tape.watch(...)" in x.suggestion and "tape.watch(...)" in v.suggestion


def test_several_sources_and_targets():
    v, w, x = tf.Variable(2.0), tf.Variable(3.0), tf.constant(1.0)
    with explaining() as tape:
        y, z = v * v, x * w
    found = tape.explain([y, z], {"a": v, "b": [w, x]})
    assert found["a"].cause is found["b"][0].cause is Cause.CONNECTED
    assert found["b"][1].cause is Cause.NOT_WATCHED


def test_a_page_for_notebooks():
    x = tf.constant(3.0)
    with explaining() as tape:
        y = x < x * x
    page = tape.explain(y, x)._repr_html_()
    assert "<b>INTEGER</b>" in page and "y = x &lt; x * x" in page


def test_a_none_in_each_step_is_searched_for_ever_more_seldom(journal, monkeypatch):
    from gradtape._src.inspect import asking

    asked = []
    explain = asking.explain
    monkeypatch.setattr(asking, "explain", lambda *a: asked.append(a) or explain(*a))
    v, unused = tf.Variable(2.0), tf.Variable(3.0)
    for _ in range(100):
        with tf.GradientTape() as tape:
            y = v * v
        tape.gradient(y, [v, unused])
    assert len(asked) == 7  # at 1, 2, 4, ... 64: a search of a long journal takes 20 ms


def test_a_zero_inside_of_a_function_is_found_by_an_ordinary_tape():
    program = PROGRAMS["a_dead_relu_inside"][0]
    tape, target, source = program(tf.GradientTape)
    found = tape.explain(target, source)
    assert found.source_line == "h = tf.nn.relu(v)  # <-"


def test_a_line_of_a_library_is_that_of_its_call(tmp_path, monkeypatch, journal):
    (tmp_path / "site-packages").mkdir()
    library = "import gradtape as tf\ndef detached(x):\n    return tf.stop_gradient(x)\n"
    (tmp_path / "site-packages" / "a_library.py").write_text(library)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    import a_library

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = a_library.detached(v * v)
    found = tape.explain(y, v)
    assert found.source_line == "y = a_library.detached(v * v)"


def test_an_ordinary_tape_says_what_it_knows():
    x, v, frozen = tf.constant(3.0), tf.Variable(2.0), tf.Variable(1.0, trainable=False)
    unused, before = tf.Variable(1.0), v * 2.0
    with tf.GradientTape() as tape:
        y = x * v * frozen
        other = before * 1.0
    for _ in range(2):  # before and after it was asked for the gradient
        causes = [tape.explain(y, s).cause.name for s in (x, frozen, unused)]
        assert causes == ["NOT_WATCHED", "NOT_TRAINABLE", "UNUSED"]
        assert tape.explain(other, v).cause is Cause.NOT_RECORDED
        assert "explain=True" in tape.explain(other, v).suggestion
        if not tape._used:
            assert tape.explain(y, v).cause is Cause.CONNECTED
            tape.gradient(y, v)


def test_explaining_computes_nothing_for_others():
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer, explaining() as tape:
        y = v * v
        count = len(outer.records)
        assert tape.explain(y, v).cause is Cause.CONNECTED
        assert len(outer.records) == count
    assert tape.gradient(y, v).numpy() == 4.0


def test_inside_of_a_function_that_is_traced(journal, caplog):
    v = tf.Variable(2.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.stop_gradient(v) * x
        return tape.gradient(y, v, unconnected_gradients="none") is None

    assert step(tf.constant(1.0))
    assert "stop_gradient gives the value" in caplog.text


def test_no_gradient_flows_through_a_function_in_which_it_is_stopped(journal):
    v = tf.Variable(2.0)
    f = tf.function(lambda: tf.stop_gradient(v) * 3.0)
    with tf.GradientTape() as tape:
        y = f()
    assert tape.gradient(y, v) is None
    assert tape.explain(y, v).cause is Cause.STOPPED


def test_of_a_function_that_was_traced_before_the_name_is_known():
    v = tf.Variable(2.0)
    f = tf.function(lambda: tf.stop_gradient(v) * 3.0)
    f()
    with explaining() as tape:
        y = f()
    assert tape.gradient(y, v) is None
    found = tape.explain(y, v)
    assert found.cause is Cause.NO_RULE and "Inside of <lambda>" in found.message
    assert "run_functions_eagerly" in found.suggestion


def test_the_numbers_are_those_of_an_ordinary_tape():
    def gradient(**options):
        v = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32))
        with tf.GradientTape(**options) as tape:
            y = tf.reduce_sum(tf.tanh(v @ tf.transpose(v)) ** 2)
        return tape.gradient(y, v).numpy()

    np.testing.assert_array_equal(gradient(explain=True), gradient())


def test_the_journal_ends_with_the_last_tape_that_wants_it():
    first, second = explaining(), explaining()
    del first
    assert journal_of_process() is not None
    del second
    assert journal_of_process() is None and not tracing.noting


def test_a_journal_holds_no_array():
    import gc
    import weakref

    with explaining() as tape:
        x = tf.constant(np.ones(10))
        y = x * 2.0
    gone = [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [each() for each in gone] == [None, None]
    assert tape.records == []


def test_nor_do_calls_of_functions_in_it(journal):
    import gc
    import weakref

    f = tf.function(lambda x: tf.reduce_sum(x * x * w))
    w = tf.Variable(np.ones(10))
    x = tf.constant(np.ones(10))
    with tf.GradientTape() as tape:
        y = f(x)
    tape.gradient(y, w)
    gone = [weakref.ref(x._array), weakref.ref(y)]
    del x, y, tape
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_a_long_journal_forgets_the_tensors_of_events_that_are_gone(journal, monkeypatch):
    import collections

    from gradtape._src.inspect import journal as module

    monkeypatch.setattr(module, "_MOST", 50)
    journal.events = collections.deque(maxlen=50)
    for _ in range(300):
        tf.constant(1.0) * tf.constant(2.0)
    assert len(journal.made) <= 101 and len(journal.roots) <= 250
