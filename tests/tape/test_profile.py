"""Profiles as values: sums, spans and files. What a tape times is in inspection/test_profile.py."""

import gzip
import json

import pytest

from gradtape._src.tape.profile import Event, Frame, Profile, Timing, spans, time_text

pytestmark = pytest.mark.gradtape_only

STEP = ("call 1", Frame("step", "a.py", 1))


def event(name, start, duration, backward="", stack=(STEP,), thread=1):
    return Event(name, start, duration, thread, backward, "a.py", 2, stack, {})


def timing(name, seconds, backward=False, line=2, **more):
    return Timing(name, backward, "a.py", line, calls=1, seconds=seconds, **more)


def profile(*events):
    timings = [
        timing("exp", 1.0, line=2, bytes=8),
        timing("exp", 2.0, line=3, bytes=16),
        timing("matmul", 0.5, line=3, flops=1e9, timed=0.5),
        timing("matmul", 4.0, backward=True, line=3),
    ]
    return Profile(10.0, timings, list(events))


def test_by_op_and_direction():
    found = [(t.name, t.backward, t.calls, t.seconds, t.bytes) for t in profile().ops]
    assert found == [
        ("matmul", True, 1, 4.0, 0),
        ("exp", False, 2, 3.0, 24),
        ("matmul", False, 1, 0.5, 0),
    ]


def test_by_line_and_direction():
    found = [(t.name, t.backward, t.seconds) for t in profile().lines]
    assert found == [("a.py:3", True, 4.0), ("a.py:3", False, 2.5), ("a.py:2", False, 1.0)]


def test_time_in_ops_and_between_them():
    assert profile().in_ops == 7.5
    assert profile().between == 2.5


def test_operations_in_a_second_are_of_the_calls_that_declare_them():
    assert [t.gflops for t in profile().ops] == [None, None, 2.0]


def test_calls_in_one_function_are_in_one_span():
    found = spans([event("exp", 0, 10), event("sin", 20, 5)])
    assert [(s.frame.name, s.start, s.end) for s in found] == [
        ("step", 0, 25),
        ("exp", 0, 10),
        ("sin", 20, 25),
    ]


def test_another_call_of_a_function_is_another_span():
    again = ("call 2", STEP[1])
    found = spans([event("exp", 0, 10), event("exp", 20, 5, stack=(again,))])
    assert [(s.frame.name, s.start, s.end) for s in found if s.event is None] == [
        ("step", 0, 10),
        ("step", 20, 25),
    ]


def test_the_ops_of_a_gradient_are_in_a_span_of_its_own():
    found = spans([event("mul", 0, 10, backward="exp"), event("neg", 10, 5, backward="exp")])
    assert [s.frame.name for s in found] == ["step", "gradient of exp", "mul", "neg"]
    assert [(s.start, s.end) for s in found[:2]] == [(0, 15), (0, 15)]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_of_chrome_nests(tmp_path, name):
    path = tmp_path / name
    profile(event("exp", 1000, 333), event("sin", 1400, 100)).save_chrome_trace(path)
    with gzip.open(path) if name.endswith("gz") else open(path) as file:
        complete = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    step, exp, sin = complete
    assert [e["name"] for e in complete] == ["step", "exp", "sin"]
    assert step["ts"] == exp["ts"] == 0.0
    assert exp["ts"] + exp["dur"] <= sin["ts"]
    assert sin["ts"] + sin["dur"] == step["ts"] + step["dur"]


def test_what_opens_in_speedscope_closes(tmp_path):
    path = tmp_path / "p.json"
    profile(event("exp", 0, 10), event("sin", 20, 5), event("cos", 0, 3, thread=2)).save_speedscope(
        path
    )
    content = json.loads(path.read_text())
    assert len(content["profiles"]) == 2
    for each in content["profiles"]:
        opened = []
        for e in each["events"]:
            if e["type"] == "O":
                opened.append(e["frame"])
            else:
                assert opened.pop() == e["frame"]
        assert opened == []
        assert [e["at"] for e in each["events"]] == sorted(e["at"] for e in each["events"])


@pytest.mark.parametrize(
    "seconds, text", [(2.0, "2 s"), (0.00121, "1.21 ms"), (4.56e-6, "4.56 µs"), (0.0, "0 µs")]
)
def test_time_to_read(seconds, text):
    assert time_text(seconds) == text
