"""Recorders: two kinds, one documented base, and who listens to which thread."""

import ast
import threading
from pathlib import Path

import pytest

import gradtape as tf
from gradtape._src.core import recorder as module
from gradtape._src.core.recorder import (
    Observer,
    Record,
    Recorder,
    Tape,
    heard_by,
    listeners,
    named,
    recorders,
)
from gradtape._src.core.tensor import key_of
from gradtape._src.function.graph import Graph
from gradtape._src.function.verify import _Witness
from gradtape._src.tape.budget import Ledger
from gradtape._src.tape.custom import _VariableWatcher

SOURCE = Path(tf.__file__).parent / "_src"
OBSERVERS = [tf.autodiff.ForwardAccumulator, _VariableWatcher, Graph, _Witness, Ledger]


class Listening(Observer):
    def __init__(self):
        super().__init__()
        self.seen = []

    def observe(self, op, inputs, outputs, params):
        self.seen.append((op.name, len(inputs), outputs))


def test_every_recorder_is_a_tape_or_an_observer():
    assert issubclass(tf.GradientTape, Tape) and not issubclass(tf.GradientTape, Observer)
    for kind in OBSERVERS:
        assert issubclass(kind, Observer) and not issubclass(kind, Tape)


def test_every_member_is_documented():
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (body,) = [node.body for node in tree.body if getattr(node, "name", "") == "Recorder"]
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr), node.target.id
        elif isinstance(node, ast.FunctionDef) and node.name != "__init__":
            assert ast.get_docstring(node), node.name


def test_no_member_is_asked_for_by_string():
    members = {"tracked", "records", "watches_variables", "watch_variable", "observe"}
    members |= {"persistent", "computes_at_once"}
    asked = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "getattr",
                "hasattr",
            ):
                name = getattr(node.args[1], "value", None)
                if isinstance(name, str) and name.lstrip("_") in members:
                    asked.append(f"{path.name}:{node.lineno}")
    assert asked == []


def test_a_tape_keeps_records_and_an_observer_is_handed_tensors():
    x = tf.constant(2.0)
    tape, observer = Tape(), Listening()
    tape.tracked.add(key_of(x))
    observer.tracked.add(key_of(x))
    with heard_by([tape, observer]):
        y = x * 3.0
    (record,) = named(tape.records)
    assert record.op.name == "multiply"
    assert record.inputs == ((0, x._key),)
    assert record.outputs == y._key
    assert observer.seen == [("multiply", 2, y)]
    assert y._key in tape.tracked and y._key in observer.tracked
    assert observer.records is None


def test_an_observer_by_itself_notes_nothing():
    x = tf.constant(2.0)
    observer = Observer()
    observer.tracked.add(key_of(x))
    with heard_by([observer]):
        y = tf.exp(x)
    assert y._key in observer.tracked


def test_defaults():
    recorder = Recorder()
    assert (recorder.tracked, recorder.variables) == (set(), {})
    assert not recorder.watches_variables
    assert recorder.persistent
    assert not recorder.computes_at_once
    assert tf.autodiff.ForwardAccumulator.computes_at_once
    assert not tf.GradientTape().persistent and tf.GradientTape(persistent=True).persistent


def test_a_variable_is_watched_when_it_is_read_and_tracked_if_it_has_a_gradient():
    tape = Tape()
    tape.watches_variables = True
    smooth, count = tf.Variable(1.0), tf.Variable(1)
    fixed = tf.Variable(1.0, trainable=False)
    with heard_by([tape]):
        _ = smooth + 1.0, count + 1, fixed + 1.0
    assert list(tape.variables.values()) == [smooth, count]
    assert smooth._key in tape.tracked and count._key not in tape.tracked


def test_start_and_stop_even_from_another_thread():
    recorder = Recorder()
    recorder.start()
    assert list(recorders()) == [recorder]
    thread = threading.Thread(target=recorder.stop)
    thread.start()
    thread.join()
    assert list(recorders()) == []


def test_each_thread_has_its_own_recorders():
    found = []
    recorder = Recorder()
    recorder.start()
    try:
        thread = threading.Thread(target=lambda: found.append(list(recorders())))
        thread.start()
        thread.join()
    finally:
        recorder.stop()
    assert found == [[]]


def test_heard_by_is_left_as_it_was_entered_even_by_an_exception():
    outer, inner = Recorder(), Recorder()
    with heard_by([outer]):
        with pytest.raises(KeyError), heard_by([inner, outer]):
            assert list(recorders()) == [inner, outer]
            raise KeyError
        assert list(recorders()) == [outer]
        with heard_by([]):
            assert list(recorders()) == []
    assert listeners() == []


def test_listeners_is_one_list_for_a_thread():
    assert listeners() is listeners()


def test_a_record_has_a_sequence_of_output_keys_however_many_there_are():
    assert Record(None, (), 5, (), {}).output_keys == (5,)
    assert Record(None, (), (5, 6), (), {}).output_keys == (5, 6)


def test_the_ledger_listens_in_the_place_of_a_tape_with_a_budget():
    x = tf.constant(1.0)
    with tf.GradientTape(memory_budget=0) as tape:
        (listening,) = recorders()
        tape.watch(x)
        y = tf.exp(x)
    assert isinstance(listening, Ledger)
    assert tape.records == [] and len(listening) == 1
    assert listening.tracked is tape.tracked and y._key in tape.tracked
