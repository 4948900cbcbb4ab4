"""`tf.summary.graph`, `trace_on` and `trace_export`: the graphs of functions, for TensorBoard.

What is shown of a function is its trace: ops of XLA, and what they are computed from. While a trace
is on, the functions that are called leave their graphs. What is written are protocol buffers of
TensorFlow, `GraphDef` and `RunMetadata`, by the numbers of their fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.late import late
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from ..function.settings import let_look_on
from ..tape.drawn import Drawn
from ..tape.scopes import get_logger
from ..train.summary.event_file import plugin_metadata
from ..train.summary.record import write
from ..train.summary.wire import message
from ..train.summary.writer import settings_in_force, should_record_summaries, summary_scope
from . import profiler as profiles

_PRODUCER = 2474
"""The version of TensorFlow's graphs, without which readers take one for very old."""


class _Trace(NamedTuple):
    """What is collected since `trace_on`."""

    graphs: dict[int, Any]  # of the functions that were called, by identity
    collects_graphs: bool
    profiles: bool


class _State:
    trace: _Trace | None = None


_state = _State()


def graph(graph_data: Any) -> Tensor:
    """Write a graph: that of a trace, `f.get_concrete_function(...).graph`, or its GraphDef.

    A tape, or a trace itself, is written as the picture that `show` draws of it, its groups as
    scopes. Returns whether it was recorded.
    """
    if current_graph() is not None:
        raise ValueError("summary.graph: it cannot be called inside @function, only outside.")
    if isinstance(graph_data, Drawn):
        graph_data = late.draw(graph_data, "operations")
    if not any([hasattr(graph_data, name) for name in ("get_operations", "node")]):
        raise ValueError(
            "summary.graph: `graph_data` must be a graph, `concrete_function.graph` for one, a "
            f"GraphDef or a tape, not {graph_data!r:.100}."
        )
    writer, recording = settings_in_force.get().writer, should_record_summaries()
    if writer is not None and recording:
        writer._add_graph(_serialized(graph_data))
    return recording


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Collect the graphs of the functions that are called, until `trace_export` writes them.

    With `profiler`, record what takes how long as well, for the folder `profiler_outdir`.
    """
    if current_graph() is not None:
        get_logger().warning("summary.trace_on: it does nothing inside @function.")
        return
    if _state.trace is not None:
        get_logger().warning("summary.trace_on: a trace is on already.")
        return
    if profiler and profiler_outdir is None:
        get_logger().warning("summary.trace_on: without `profiler_outdir` there is no profile.")
        profiler = False
    trace = _Trace({}, graph, profiler)
    if graph:
        let_look_on(lambda called: _note(trace, called))
    if profiler:
        profiles.start(profiler_outdir)
    _state.trace = trace


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Write what was collected since `trace_on`, which takes the `profiler_outdir`, and end it."""
    if profiler_outdir is not None:
        get_logger().warning("summary.trace_export: `profiler_outdir` is for trace_on.")
    if current_graph() is not None:
        get_logger().warning("summary.trace_export: it does nothing inside @function.")
        return
    trace = _state.trace
    if trace is None:
        raise ValueError("summary.trace_export: no trace is on. Call tf.summary.trace_on() before.")
    kind = "graph_run_metadata" if trace.profiles else "graph_run_metadata_graph"
    found = [_serialized(each) for each in trace.graphs.values()]
    metadata = message({3: found, 4: [message({1: [each], 2: each, 3: each}) for each in found]})
    with summary_scope(name, f"{kind}_summary") as (tag, _):
        write(tag, metadata, step, plugin_metadata(kind, content=b"1"))
    _end(trace, save=True)


def trace_off() -> None:
    """End the collecting, and write nothing."""
    if _state.trace is not None:
        _end(_state.trace, save=False)


def _end(trace: _Trace, save: bool) -> None:
    _state.trace = None
    let_look_on(None)
    if trace.profiles:
        profiles.stop(save)


def _note(trace: _Trace, called: Any) -> None:
    found = getattr(called, "graph", None)  # not of a signature that runs as plain Python
    if found is not None:
        trace.graphs[id(found)] = found


# Messages


def _serialized(graph_data: Any) -> bytes:
    """A graph, or a GraphDef of ours or of TensorBoard's, as the bytes of a `GraphDef`."""
    if hasattr(graph_data, "SerializeToString"):
        data: bytes = graph_data.SerializeToString()
        return data
    if hasattr(graph_data, "get_operations"):
        nodes = [
            _node(op.name, op.type, [x.name for x in op.inputs], [y.shape for y in op.outputs])
            for op in graph_data.get_operations()
        ]
    else:
        nodes = [_node(node.name, node.op, node.input) for node in graph_data.node]
    return message({1: nodes, 4: message({1: _PRODUCER})})


def _node(name: str, op: str, inputs: list[str], shapes: list[Any] | None = None) -> bytes:
    attributes = None
    if shapes:
        listed = message({1: message({7: list(map(_shape, shapes))})})
        attributes = message({1: "_output_shapes", 2: listed})
    return message({1: name, 2: op, 3: [x.removesuffix(":0") for x in inputs], 5: attributes})


def _shape(shape: Any) -> bytes:
    return message({2: [message({1: -1 if size is None else size}) for size in shape]})
