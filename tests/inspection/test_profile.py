"""`tape.profile()` and `tf.profiler`: where the time went, and the files that say it."""

import gc
import gzip
import inspect
import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.tracing import tracing
from gradtape._src.testing import all_ops

pytestmark = pytest.mark.gradtape_only


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("f")


def layer(x, w):
    return tf.tanh(x @ w)


def profiled():
    """A tape that was asked for its gradient, and the weights."""
    weights = [tf.Variable(normal(32, 32)) for _ in range(3)]
    x = tf.constant(normal(64, 32))
    with tf.GradientTape(profile=True) as tape:
        for w in weights:
            x = layer(x, w)
        loss = tf.reduce_sum(x)
    tape.gradient(loss, weights)
    return tape


def line_of(function, text):
    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if text in line)


# The tables


def test_calls_by_op_and_direction():
    calls = {(t.name, t.backward): t.calls for t in profiled().profile().ops}
    assert calls["matmul", False] == 3
    assert calls["tanh", False] == 3
    assert calls["matmul_tn", True] == 3
    assert calls["matmul_nt", True] == 2  # the data take no gradient
    assert not [name for name, backward in calls if name == "tanh" and backward]


def test_times_add_up():
    profile = profiled().profile()
    by_op = sum(t.seconds for t in profile.ops)
    by_line = sum(t.seconds for t in profile.lines)
    assert by_op == pytest.approx(by_line) == pytest.approx(profile.in_ops)
    assert 0 < profile.in_ops <= profile.seconds
    assert profile.in_ops + profile.between == pytest.approx(profile.seconds)
    assert sum(t.calls for t in profile.lines) == len(profile.events)
    in_events = sum(event.duration for event in profile.events) * 1e-9
    assert in_events == pytest.approx(profile.in_ops)


def test_backward_ops_count_for_the_line_that_they_are_the_gradient_of():
    lines = {(t.line, t.backward): t for t in profiled().profile().lines}
    in_layer = line_of(layer, "tf.tanh")
    assert lines[in_layer, False].calls == 6
    assert lines[in_layer, True].calls > 6
    assert lines[in_layer, True].name.endswith("return tf.tanh(x @ w)")
    assert lines[line_of(profiled, "reduce_sum"), False].calls == 1


def test_work_and_bytes():
    (product,) = [t for t in profiled().profile().ops if (t.name, t.backward) == ("matmul", False)]
    assert product.flops == 3 * 2 * 64 * 32 * 32
    assert product.bytes == 3 * 4 * (64 * 32 + 32 * 32 + 64 * 32)
    assert product.gflops == pytest.approx(product.flops / product.seconds / 1e9)
    (tanh,) = [t for t in profiled().profile().ops if t.name == "tanh"]
    assert tanh.gflops is None


def flops(function, *arrays):
    with tf.GradientTape(profile=True) as tape:
        function(*map(tf.constant, arrays))
    return sum(t.flops for t in tape.profile().ops)


def test_the_work_that_ops_declare():
    square = normal(2, 9, 9)
    square = square @ np.swapaxes(square, 1, 2) + 9 * np.eye(9, dtype="f")
    assert flops(tf.matmul, normal(5, 3, 4), normal(5, 4, 7)) == 2 * 5 * 3 * 4 * 7
    assert flops(lambda a, b: tf.einsum("bij,jk->bik", a, b), normal(5, 3, 4), normal(4, 7)) == (
        2 * 5 * 3 * 4 * 7
    )
    abc = normal(8, 2), normal(2, 9), normal(9, 3)
    assert flops(lambda *x: tf.einsum("ij,jk,kl->il", *x), *abc) == 2 * min(
        8 * 2 * 9 + 8 * 9 * 3, 2 * 9 * 3 + 8 * 2 * 3
    )
    images, filters = normal(2, 8, 8, 3), normal(3, 3, 3, 5)
    assert flops(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), images, filters) == (
        2 * (2 * 8 * 8 * 5) * (3 * 3 * 3)
    )
    assert flops(tf.linalg.cholesky, square) == pytest.approx(2 * 2 * 9**3 / 6)
    assert flops(tf.linalg.inv, square) == 2 * 2 * 9**3
    assert flops(tf.linalg.triangular_solve, square, normal(2, 9, 4)) == 2 * 2 * 9 * 9 * 4 / 2


def test_work_is_of_every_sample():
    """What is declared as `work` takes what the op takes."""
    for op in all_ops().values():
        for tensors, params in op.samples(np.random.default_rng(0)) if op.samples else ():
            if not op.multiplies:
                continue
            inputs = [tf.constant(x) for x in tensors]
            result = op.call(*inputs, **params)
            assert op.work(*inputs, result, **params) >= 0


def test_complex_numbers_take_four_multiplications():
    x = normal(4, 4).astype(np.complex64)
    assert flops(tf.matmul, x, x) == 8 * 4**3


def test_shown():
    profile = profiled().profile()
    text = str(profile)
    for part in ("By line", "By op", "GFLOP/s", "backward", "█", "return tf.tanh(x @ w)"):
        assert part in text
    assert repr(profile) == text
    assert profile._repr_html_().count("<table>") == 2


# What is timed


def test_a_tape_that_was_not_asked_says_how_to_ask():
    with pytest.raises(tf.errors.InvalidArgumentError, match="GradientTape\\(profile=True\\)"):
        tf.GradientTape().profile()


def test_only_the_block_and_the_derivative_are_timed():
    x = tf.Variable(2.0)
    with tf.GradientTape(profile=True) as tape:
        y = tf.exp(x)
        with tape.stop_recording():
            tf.cos(x)
        z = tf.square(y)
    tf.sin(x)
    tape.gradient(z, x)
    tf.sin(x)
    forward = {t.name for t in tape.profile().ops if not t.backward}
    assert forward == {"exp", "square"}
    assert {t.name for t in tape.profile().ops if t.backward} == {"add", "multiply"}


def test_the_time_of_other_threads_is_theirs():
    x = tf.Variable(2.0)
    with tf.GradientTape(profile=True) as tape:
        thread = threading.Thread(target=lambda: tf.sin(x))
        thread.start()
        thread.join()
        tf.exp(x)
    assert [t.name for t in tape.profile().ops] == ["exp"]


def test_a_jacobian_and_a_second_tape():
    x = tf.Variable(normal(3))
    with tf.GradientTape(profile=True) as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.sin(x))
        g = inner.gradient(y, x)
    outer.jacobian(g, x)
    lines = {(t.line, t.backward) for t in outer.profile().lines}
    here = test_a_jacobian_and_a_second_tape
    assert (line_of(here, "tf.sin"), False) in lines
    assert (line_of(here, "tf.sin"), True) in lines  # of the inner gradient
    assert (line_of(here, "outer.jacobian"), True) in lines


def test_an_op_that_fails_is_not_counted():
    x = tf.Variable(normal(2, 3))
    with tf.GradientTape(profile=True) as tape:
        for _ in range(3):
            with pytest.raises(ValueError):
                tf.matmul(x, x)
        tf.exp(x)
    assert {t.name: t.calls for t in tape.profile().ops} == {"exp": 1}


def test_nobody_looks_on_when_the_tape_is_gone():
    gc.collect()
    before = tracing.witnesses
    tape = profiled()
    assert len(tracing.witnesses) == len(before) + 1
    del tape
    gc.collect()
    assert tracing.witnesses == before


def test_a_program_is_one_op_and_what_it_calls_lies_inside():
    pytest.importorskip("jax")

    def slow(x):
        return tf.exp(x)

    @tf.function
    def f(x):
        spec = tf.TensorSpec([50, 50], tf.float32)
        return tf.reduce_sum(tf.py_function(slow, [x], spec))

    x = tf.constant(normal(50, 50))
    f(x)
    with tf.GradientTape(profile=True) as tape:
        f(x)
    calls = {t.name: t.calls for t in tape.profile().ops}
    assert calls["f"] == 1
    profile = tape.profile()
    assert profile.in_ops <= profile.seconds


def test_the_gradient_of_a_program_is_one_op():
    pytest.importorskip("jax")
    f = tf.function(lambda x: tf.reduce_sum(tf.sin(x)))
    x = tf.Variable(normal(50, 50))
    with tf.GradientTape(profile=True) as tape:
        y = f(x)
    tape.gradient(y, x)
    calls = {(t.name, t.backward): t.calls for t in tape.profile().ops}
    assert calls == {("<lambda>", False): 1, ("gradient of <lambda>", True): 1}


def test_memory_knows_the_functions():
    x = tf.Variable(normal(32, 32))
    with tf.GradientTape(profile=True) as tape:
        y = layer(layer(x, x), x)
        tf.sin(y)
    del y
    (share,) = tape.memory().functions
    assert share.name.startswith("layer (")


# The files


def nested(spans):
    """Whether spans (start, end), in the order of their starts, lie inside each other or apart."""
    open_ends = []
    for start, end in spans:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:  # by the last bit: readers go by that, too
            return False
        open_ends.append(end)
    return True


def unpacked(path):
    with gzip.open(path) as file:
        return json.loads(file.read())


def check_chrome(content):
    """By the published format: complete events and metadata."""
    assert content.keys() <= {"traceEvents", "displayTimeUnit", "otherData"}
    assert content["displayTimeUnit"] in ("ms", "ns")
    spans = {}
    for event in content["traceEvents"]:
        assert event["ph"] in ("X", "M")
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert isinstance(event["args"], dict)
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0
            assert isinstance(event["cat"], str)
            spans.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
        else:
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
    assert all(nested(each) for each in spans.values())


def check_speedscope(content):
    """By its schema, and by what its reader asks of events."""
    assert content["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = content["shared"]["frames"]
    assert all(isinstance(frame["name"], str) for frame in frames)
    assert all(isinstance(frame.get("line", 1), int) for frame in frames)
    assert 0 <= content["activeProfileIndex"] < max(len(content["profiles"]), 1)
    for profile in content["profiles"]:
        assert profile["type"] == "evented"
        assert profile["unit"] == "microseconds"
        assert isinstance(profile["name"], str)
        at, stack = profile["startValue"], []
        for event in profile["events"]:
            assert event["at"] >= at
            at = event["at"]
            if event["type"] == "O":
                assert 0 <= event["frame"] < len(frames)
                stack.append(event["frame"])
            else:
                assert event["type"] == "C"
                assert stack.pop() == event["frame"]
        assert not stack
        assert at <= profile["endValue"]


def test_a_trace_for_perfetto(tmp_path):
    tape = profiled()
    profile = tape.profile()
    profile.save_chrome_trace(tmp_path / "trace.json")
    content = json.loads((tmp_path / "trace.json").read_text())
    check_chrome(content)
    events = [e for e in content["traceEvents"] if e["ph"] == "X"]
    ops = [e for e in events if e["cat"] in ("forward", "backward")]
    assert len(ops) == len(profile.events)
    assert sum(e["dur"] for e in ops) == pytest.approx(1e6 * profile.in_ops, abs=0.1)
    layers = [e for e in events if e["name"] == "layer"]
    assert len(layers) == 3
    for each in layers:  # a matmul and a tanh lie inside of each
        end = each["ts"] + each["dur"]
        inside = [e["name"] for e in ops if each["ts"] <= e["ts"] < end and e["cat"] == "forward"]
        assert inside == ["matmul", "tanh"]
    (product,) = {tuple(e["args"]["shapes"][0]) for e in ops if e["name"] == "matmul"}
    assert product == (64, 32)
    assert {e["name"] for e in events if e["cat"] == "call"} >= {"gradient of tanh", "layer"}


def test_a_trace_for_speedscope(tmp_path):
    profile = profiled().profile()
    profile.save_speedscope(tmp_path / "trace.speedscope.json.gz")
    content = unpacked(tmp_path / "trace.speedscope.json.gz")
    check_speedscope(content)
    names = [frame["name"] for frame in content["shared"]["frames"]]
    assert {"layer", "matmul", "tanh", "gradient of matmul"} <= set(names)
    opened = [e["frame"] for e in content["profiles"][0]["events"] if e["type"] == "O"]
    assert opened.count(names.index("layer")) == 3


def test_an_empty_profile(tmp_path):
    with tf.GradientTape(profile=True) as tape:
        pass
    tape.profile().save_chrome_trace(tmp_path / "a.json")
    tape.profile().save_speedscope(tmp_path / "b.json")
    check_chrome(json.loads((tmp_path / "a.json").read_text()))
    check_speedscope(json.loads((tmp_path / "b.json").read_text()))
    assert "0 µs" in str(tape.profile())


# tf.profiler


def written(folder):
    (path,) = folder.glob("plugins/profile/*/*.ops.trace.json.gz")
    content = unpacked(path)
    check_chrome(content)
    return [(e["name"], e["cat"]) for e in content["traceEvents"] if e["ph"] == "X"]


def test_the_profiler_of_tensorflow_sees_op_calls(tmp_path):
    before = tracing.witnesses
    x = tf.Variable(normal(20, 20))
    experimental = tf.profiler.experimental
    with experimental.Profile(str(tmp_path)):
        for step in range(2):
            with experimental.Trace("train", step_num=step), tf.GradientTape() as tape:
                y = tf.exp(x)
            tape.gradient(y, x)
    found = written(tmp_path)
    assert found.count(("train", "block")) == 2
    assert found.count(("exp", "forward")) == 2
    assert found.count(("multiply", "backward")) == 2
    assert tracing.witnesses == before


def test_the_profile_of_jax_has_op_calls_too(tmp_path):
    pytest.importorskip("jax")
    double = tf.function(lambda x: x * 2)
    x = tf.ones([4])
    double(x)
    with tf.profiler.experimental.Profile(str(tmp_path)):
        double(tf.exp(x))
    (path,) = [
        p for p in tmp_path.rglob("*.trace.json.gz") if not p.name.endswith(".ops.trace.json.gz")
    ]
    names = {e.get("name") for e in unpacked(path)["traceEvents"]}
    assert {"exp", "<lambda>"} <= names


def test_without_jax(tmp_path):
    code = f"""
import sys
sys.modules["jax"] = None
import gradtape as tf
with tf.profiler.experimental.Profile({str(tmp_path)!r}), tf.profiler.experimental.Trace("a"):
    tf.exp(tf.ones([3]))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert ("exp", "forward") in written(tmp_path)
