"""Traces, cuts and programs: what a stretch of a graph needs, and what it gives."""

from concurrent.futures import ThreadPoolExecutor, wait

import jax
import numpy as np
import pytest

from gradtape._src.core.spec import Spec
from gradtape._src.core.tensor import Tensor
from gradtape._src.function.control import COMPILED
from gradtape._src.function.cut import Cut, Mark
from gradtape._src.function.graph import Graph
from gradtape._src.function.lines import user_line
from gradtape._src.function.program import Program, is_static, tensors_of, with_tensors
from gradtape._src.function.trace import InTurn, is_tracer, lines_of, var_of

pytestmark = pytest.mark.gradtape_only

SCALAR = Spec((), np.dtype(np.float32))
BEGIN = Mark(0, 0)


@pytest.fixture
def graph():
    return Graph("test", COMPILED)


def test_a_tracer_belongs_to_one_trace(graph):
    x = graph.tensor(SCALAR)._array
    assert graph.trace.owns(x)
    assert not graph.inner("block").trace.owns(x)
    assert not graph.trace.owns(np.float32(1.0))


def test_the_content_of_a_tracer(graph):
    x = graph.tensor(SCALAR)
    table = np.arange(3.0, dtype=np.float32)
    with graph.running():
        y = x * Tensor(table)
    trace = graph.trace
    needed = [array for e in trace.equations(0, len(trace)) for array in e.needs([True])]
    constants = [array for array in needed if not is_tracer(trace.content(array))]
    assert constants and all(map(trace.owns, constants))
    np.testing.assert_array_equal(trace.content(constants[0]), table)
    assert trace.content(x._array) is x._array
    assert trace.content(y._array) is y._array
    assert trace.content(table) is table


def test_the_line_that_made_a_tracer(tf, graph):
    x = graph.tensor(SCALAR)
    with graph.running():
        y = tf.exp(x)
    assert user_line(lines_of(y._array)).startswith(f"{__file__}, line ")


def test_a_cut_holds_only_what_its_outputs_need(tf, graph):
    x, unused = graph.tensor(SCALAR), graph.tensor(SCALAR)
    with graph.running():
        y = tf.exp(x)
        tf.sin(unused)
    cut = Cut(graph.trace, BEGIN, graph.mark(), [y._array])
    assert [var_of(t) for t in cut.free] == [var_of(x._array)]
    assert len(cut.equations) < len(graph.trace)
    np.testing.assert_allclose(cut.run(cut.free, [np.float32(1.0)])[0], np.e, rtol=1e-6)
    assert not cut.effects


def test_effects_stay_in_a_cut_that_does_not_need_them(tf, graph):
    x = graph.tensor(SCALAR)
    with graph.running():
        tf.print(x)
    assert Cut(graph.trace, BEGIN, graph.mark(), []).effects


def test_what_belongs_to_the_graph_around_is_foreign(tf, graph):
    x = graph.tensor(SCALAR)
    inner = graph.inner("block")
    with graph.running(), inner.running():
        y = x * x
    cut = Cut(inner.trace, BEGIN, inner.mark(), [y._array])
    assert cut.free == []
    assert [var_of(t) for t in cut.foreign] == [var_of(x._array)]
    assert cut.run([], [], lambda array: np.float32(3.0)) == [9.0]


def test_pullbacks_with_and_without_rows_are_two(tf, graph):
    table = graph.tensor(Spec((3,), np.dtype(np.float32)))
    with graph.running():
        y = tf.gather(table, [0, 2])
    program = Program(graph, [table._array], [y._array], BEGIN, graph.mark())
    asked = (y._key,), (table._key,)
    (rows,) = program.pullback(*asked).results
    (dense,) = program.pullback(*asked, densely=True).results
    assert isinstance(rows, tf.IndexedSlices) and isinstance(dense, Tensor)


def test_threads_share_one_pullback(tf, graph, monkeypatch):
    x = graph.tensor(SCALAR)
    with graph.running():
        y = tf.exp(x)
    program = Program(graph, [x._array], [y._array], BEGIN, graph.mark())
    asked = (y._key,), (x._key,)
    made, pull = [], Program._pull
    monkeypatch.setattr(Program, "_pull", lambda *args: made.append(args) or pull(*args))
    with ThreadPoolExecutor(2) as pool:
        with graph.lock:  # both find nothing, and wait
            both = [pool.submit(program.pullback, *asked) for _ in range(2)]
            assert not wait(both, 0.2).done
        assert both[0].result() is both[1].result()
    assert len(made) == 1


def test_a_program_and_its_pullback(tf, graph):
    x = graph.tensor(SCALAR)
    with graph.running():
        y = tf.exp(x)
        z = y * y
    program = Program(graph, [x._array], [z._array], BEGIN, graph.mark())
    assert program.sources([z._key]) == [x._key]
    pullback = program.pullback((z._key,), (x._key,))
    assert program.pullback((z._key,), (x._key,)) is pullback
    residuals = [var_of(t) for t in pullback.residuals]
    assert residuals == [var_of(y._array)]  # x itself is needed by no rule
    value, saved = program.run([np.float32(0.5)], tuple(pullback.residuals))
    (gradient,) = pullback.program.run([saved, np.float32(1.0)])
    np.testing.assert_allclose(gradient, 2 * value, rtol=1e-6)


def test_a_program_over_a_batch(tf, graph):
    x, y = graph.tensor(SCALAR), graph.tensor(SCALAR)
    with graph.running():
        z = x * y
    program = Program(graph, [x._array, y._array], [z._array], BEGIN, graph.mark())
    (found,) = program.run([np.arange(3, dtype=np.float32), np.float32(2.0)], axes=(0, None))
    np.testing.assert_array_equal(found, [0.0, 2.0, 4.0])


def test_the_tensors_of_a_cotangent(tf):
    x, i = tf.ones(3), tf.constant([0, 1, 2])
    slices = tf.IndexedSlices(x, i, tf.constant([5]))
    assert tensors_of(None) == []
    assert tensors_of(x)[0] is x and len(tensors_of(x)) == 1
    assert [a is b for a, b in zip(tensors_of(slices), (x, i), strict=True)] == [True, True]
    y = tf.zeros(3)
    assert with_tensors(None, iter([y])) is None
    assert with_tensors(x, iter([y])) is y
    assert with_tensors(slices, iter([y, i])).values is y


def test_open_sizes():
    assert is_static((2, 3)) and not is_static(("n", 3))


def test_a_program_that_runs_in_turn_with_its_copy():
    def steps(x, spare):
        return [x * 2.0]

    spec = jax.ShapeDtypeStruct((3,), np.float32)
    compiled = jax.jit(steps, donate_argnums=1, keep_unused=True).lower(spec, spec).compile()
    handlers = compiled._executable.unsafe_call.out_handler.handlers
    run = InTurn(compiled.runtime_executable())
    value, spare = jax.numpy.ones(3), jax.numpy.zeros(3)
    for i in range(1, 24):
        (new,) = run([value, spare]).consume_with_handlers(handlers)
        value, spare = new, value
        assert np.asarray(value).tolist() == [2.0**i] * 3
        assert (run._twin is not None) == (i >= 16)
    assert run._twin.__self__ is not run._program
