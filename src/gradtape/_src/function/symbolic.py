"""`gradients` and `hessians`: derivatives inside a function being traced, with nothing watched."""

from __future__ import annotations

from typing import Any

from ..core import nest
from ..core.backward import backward
from ..core.convert import as_tensor
from ..core.recorder import Record, named
from ..core.tensor import is_inexact, key_of, zeros_of
from ..core.tracing import current_graph
from ..tape.derivative import UnconnectedGradients, ones_of, wants_zeros
from ..tape.jacobian import jacobian_rows, pull_rows, shape_jacobian
from ..tape.variable import Variable


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivatives of the sum of `ys` by each of `xs`, inside `@function`.

    `grad_ys` weigh the `ys`. What is in `stop_gradients` counts as a constant. Called eagerly it
    raises: there use GradientTape.
    """
    graph = _graph("gradients")
    sources = nest.flatten(xs)
    targets = [as_tensor(y, op="gradients") for y in nest.flatten(ys)]
    weights = [None] * len(targets) if grad_ys is None else nest.flatten(grad_ys)
    if len(weights) != len(targets):
        raise ValueError(f"gradients: {len(targets)} ys and {len(weights)} grad_ys are given.")
    seeds = [
        (key_of(y), ones_of(y) if g is None else as_tensor(g, y.dtype, "gradients"))
        for y, g in zip(targets, weights, strict=True)
        if is_inexact(y)
    ]
    stopped = {key_of(x) for x in nest.flatten(stop_gradients or [])}
    records = [_cut_at(stopped, record) for record in named(graph.recorded)]
    found = backward(reversed(records), seeds, [_key(x) for x in sources])
    if wants_zeros(unconnected_gradients):
        found = [zeros_of(x) if g is None else g for g, x in zip(found, sources, strict=True)]
    return found


def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Any]:
    """The second derivatives of the sum of `ys` by each of `xs`: x.shape + x.shape."""
    graph = _graph("hessians")
    result: list[Any] = []
    for x in nest.flatten(xs):
        (first,) = gradients(ys, x)
        if first is None:
            result.append(None)
            continue
        first = as_tensor(first)
        (rows,) = pull_rows(graph.recorded[::-1], key_of(first), jacobian_rows(first), [_key(x)])
        zeros = zeros_of(jacobian_rows(first))
        result.append(shape_jacobian(zeros if rows is None else rows, first))
    return result


def _graph(op: str) -> Any:
    graph = current_graph()
    if graph is None:
        raise RuntimeError(
            f"{op}: works inside @function only. Eagerly, record with tf.GradientTape() and ask "
            "the tape: tape.gradient(y, x)."
        )
    return graph


def _key(x: Any) -> int:
    return x._key if isinstance(x, Variable) else key_of(x)


def _cut_at(stopped: set[int], record: Record) -> Record:
    """The record, through which nothing flows back from the tensors with these keys."""
    if stopped.isdisjoint(record.output_keys):
        return record
    return record._replace(outputs=tuple([-1 if k in stopped else k for k in record.output_keys]))
