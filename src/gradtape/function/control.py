"""Control flow while a function is traced: the forms that `tape/control.py` asks for, as nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core import nest
from ..core.convert import as_tensor
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.tensor import Tensor, is_symbolic
from ..core.tracing import current_graph
from ..tape.control import EagerForms, Stacked, packed
from .graph import Graph, Mark, Program
from .nodes import Block, Choice, ChoiceCall, Walk, WalkCall


class CompiledForms(EagerForms):
    """Control flow as nodes of the graph that is being traced."""

    def cond(self, pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
        chosen = _condition(pred, "cond")
        if chosen is None:
            return super().cond(pred, true_fn, false_fn)
        index = jnp.asarray(chosen, jnp.int32)
        return _choose("cond", index, [false_fn, true_fn], ["false_fn", "true_fn"])

    def switch(self, index: Tensor, branches: list[Callable[[], Any]]) -> Any:
        if not is_symbolic(index._array):
            return super().switch(index, branches)
        last = len(branches) - 1
        i = index._array
        number = jnp.where((i < 0) | (i > last), last, i).astype(jnp.int32)
        return _choose("switch_case", number, branches, [f"branch {b}" for b in range(last + 1)])

    def loop(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        maximum_iterations: int | None,
    ) -> Any:
        return _while("while_loop", cond, body, loop_vars, maximum_iterations)

    def walk(
        self,
        step: Callable[[Any, Any], tuple[Any, Any]],
        state: Any,
        elems: Any,
        reverse: bool,
    ) -> tuple[Any, Any]:
        if len(nest.flatten(elems)[0]) == 0:
            return super().walk(step, state, elems, reverse)
        return walk("scan", step, state, elems, reverse)


COMPILED = CompiledForms()


def _condition(pred: Any, op: str) -> Any:
    """The tracer of a condition; None if its value is known."""
    if not isinstance(pred, Tensor) and not hasattr(pred, "_as_tensor"):
        return None
    tensor = as_tensor(pred)
    if not is_symbolic(tensor._array):
        return None
    if tensor._array.size != 1:
        raise ShapeError(
            f"{op}: the condition must be one value, and has shape {tensor.shape}. Use "
            "reduce_any(x) or reduce_all(x)."
        )
    array = tensor._array.reshape(())
    return array if array.dtype == np.bool_ else array != 0


class _Traced:
    """A block while it is made: what a function of tensors did."""

    def __init__(self, name: str, likes: list[Any], in_loop: bool) -> None:
        outer = current_graph()
        assert outer is not None
        self.outer: Graph = outer
        self.graph = Graph(name, outer)
        if in_loop:
            self.graph.round = self.graph.input(np.int32(0))
        self.inputs = [self.graph.tensor(like) for like in likes]
        self.result: Any = None

    def run(self, function: Callable[..., Any], *args: Any) -> None:
        with self.graph.running():
            self.result = function(*args)
            self.outputs = [as_tensor(y) for y in nest.flatten(self.result) if y is not None]
        self.end = self.graph.mark()
        for variable in self.graph.variables.values():
            variable._as_tensor()  # the tapes around the block see that it is read

    def program(self, outputs: list[Any]) -> Program:
        graph = self.graph
        inputs = [x._array for x in self.inputs]
        inputs += [x._array for x in graph.read_as.values()]
        if graph.round is not None:
            inputs.append(graph.round)
        return Program(graph, inputs, outputs, Mark(0, 0), self.end)

    def key_of(self, y: Tensor) -> int | None:
        """The key of a result, if gradients can flow through it."""
        if y._key is None or y._key not in self.graph.tracked:
            return None
        self.graph.tensors.setdefault(y._key, y)
        return y._key

    def outside(self, program: Program, targets: list[int | None]) -> dict[int, Tensor]:
        """By key what the block uses of the graphs around it: variables, and tensors by closure."""
        own = {x._key for x in self.inputs}
        tensors = self.graph.tensors
        return {k: tensors[k] for k in program.sources(targets) if k not in own}


# Choosing


def _choose(name: str, index: Any, functions: list[Any], labels: list[str]) -> Any:
    blocks = [_Traced(f"{name} of {current_graph().name}", [], False) for _ in functions]
    for block, function in zip(blocks, functions, strict=True):
        block.run(function)
    _check_alike(name, blocks, labels)
    graph = blocks[0].outer
    assigned = {k: v for block in blocks for k, v in block.graph.assigned.items()}
    programs = []
    for block in blocks:
        finals = [
            block.graph.values[key]._array if key in block.graph.values else graph.read(v)._array
            for key, v in assigned.items()
        ]
        programs.append(block.program([y._array for y in block.outputs] + finals))
    targets = [
        [block.key_of(y) for y in block.outputs] + [None] * len(assigned) for block in blocks
    ]
    placed = [
        Block(program, _variable_feeds(block))
        for program, block in zip(programs, blocks, strict=True)
    ]
    keys = [
        block.outside(program, wanted)
        for block, program, wanted in zip(blocks, programs, targets, strict=True)
    ]
    call = ChoiceCall(name, graph, Choice(index, placed), targets, keys)
    outputs = call.results()
    count = len(blocks[0].outputs)
    for variable, y in zip(assigned.values(), outputs[count:], strict=True):
        graph.write(variable, y._array)
    return _repacked(blocks[0].result, outputs[:count])


def _variable_feeds(block: _Traced) -> dict[int, Any]:
    graph = block.graph
    return {
        id(x._array): block.outer.read(graph.variables[key])._array
        for key, x in graph.read_as.items()
    }


def _repacked(structure: Any, tensors: list[Tensor]) -> Any:
    given = iter(tensors)
    return nest.map_structure(lambda y: None if y is None else next(given), structure)


def _check_alike(name: str, blocks: list[_Traced], labels: list[str]) -> None:
    first = blocks[0]
    for block, label in zip(blocks[1:], labels[1:], strict=True):
        try:
            nest.assert_same_structure(first.result, block.result)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{name}: `{labels[0]}` and `{label}` must return the same structure, because only "
                f"the run decides between them. {error}"
            ) from None
        for i, (a, b) in enumerate(zip(first.outputs, block.outputs, strict=True)):
            if a.dtype != b.dtype:
                raise DTypeError(
                    f"{name}: result {i} of `{labels[0]}` is {a.dtype.name}, and that of `{label}` "
                    f"is {b.dtype.name}. They must agree: cast one of them."
                )
            if a.shape != b.shape:
                raise ShapeError(
                    f"{name}: result {i} of `{labels[0]}` has shape {a.shape}, and that of "
                    f"`{label}` has shape {b.shape}. A compiled program has one shape for both."
                )


# Repeating


def _while(
    name: str,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    bound: int | None,
) -> Any:
    starts = [as_tensor(x, op=name) for x in nest.flatten(loop_vars)]
    likes = [x._array for x in starts]
    block = _Traced(f"{name} of {current_graph().name}", likes, True)
    given = nest.pack_sequence_as(loop_vars, block.inputs)
    block.run(lambda: packed(body(*given), loop_vars))
    _check_carries(name, starts, block.outputs)
    test = _Traced(block.graph.name, likes, True)
    test.run(lambda: cond(*nest.pack_sequence_as(loop_vars, test.inputs)))
    if test.graph.assigned:
        raise InvalidArgumentError(f"{name}: `cond` must not assign to variables.")
    if len(test.outputs) != 1 or test.outputs[0]._array.size != 1:
        raise ShapeError(f"{name}: `cond` must return one bool, and returned {test.result!r:.100}.")
    outputs = _loop(name, block, starts, [], [], None, bound=bound, test=test)
    return nest.pack_sequence_as(loop_vars, outputs)


def walk(
    name: str,
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    elems: Any,
    reverse: bool = False,
    together: bool = False,
) -> tuple[Any, Any]:
    """`state, result = step(state, element)` along axis 0, as a node; the results stacked."""
    starts = [as_tensor(x, op=name) for x in nest.flatten(state) if x is not None]
    stacks = [as_tensor(x, op=name) for x in nest.flatten(elems)]
    rows = [_Row(x._array) for x in stacks]
    block = _Traced(f"{name} of {current_graph().name}", [*[x._array for x in starts], *rows], True)
    given = block.inputs[: len(starts)]
    before = _repacked(state, given)
    element = nest.pack_sequence_as(elems, block.inputs[len(starts) :])
    block.run(lambda: step(before, element))
    _check_carries(name, starts, block.outputs[: len(starts)])
    after, result = block.result
    nest.assert_same_structure(state, after)
    outputs = _loop(name, block, starts, stacks, block.outputs[len(starts) :],
                    len(stacks[0]), reverse=reverse, together=together)  # fmt: skip
    finals = _repacked(state, outputs[: len(starts)])
    return finals, Stacked(_repacked(result, outputs[len(starts) :]))


class _Row:
    """Shape and dtype of the rows of an array."""

    def __init__(self, array: Any) -> None:
        self.shape = array.shape[1:]
        self.dtype = array.dtype


def _loop(
    name: str,
    block: _Traced,
    starts: list[Tensor],
    stacks: list[Tensor],
    each: list[Tensor],
    rounds: int | None,
    reverse: bool = False,
    together: bool = False,
    bound: int | None = None,
    test: _Traced | None = None,
) -> list[Tensor]:
    """The node of a loop; the last values of what it carries, then the stacks of `each`."""
    outer, graph = block.outer, block.graph
    count = len(starts)
    assigned = list(graph.assigned.items())
    numbers = {key: count + i for i, (key, _) in enumerate(assigned)}
    finals = [y._array for y in block.outputs[:count]] + [graph.values[k]._array for k in numbers]
    begins = [x._array for x in starts] + [outer.read(v)._array for _, v in assigned]
    body = Block(block.program(finals), _loop_feeds(block, count, stacks, numbers))
    placed = None
    if test is not None:
        program = test.program([test.outputs[0]._array])
        placed = Block(program, _loop_feeds(test, count, [], numbers))
    outputs: list[Any] = [("carry", i) for i in range(len(begins))]
    outputs += [("each", y._array) for y in each]
    node = Walk(body, begins, outputs, rounds, reverse, together, bound, test=placed)
    carries: list[Any] = [
        (x._key, block.key_of(y), start) if x._key in graph.tracked else None
        for x, y, start in zip(block.inputs, block.outputs, starts, strict=False)
    ]
    carries += [None] * len(assigned)  # an assignment cuts the chain
    rows = [
        (x._key, stack)
        for x, stack in zip(block.inputs[count:], stacks, strict=True)
        if x._key in graph.tracked
    ]
    named: dict[Any, int | None] = {("each", i): block.key_of(y) for i, y in enumerate(each)}
    targets = [block.key_of(y) for y in block.outputs]
    consts = block.outside(body.program, targets)
    call = WalkCall(name, outer, node, carries, rows, consts, named)
    wanted: dict[Any, Any] = {("carry", i): ("carry", i) for i in range(len(begins))}
    wanted |= {("each", i): ("each", y._array) for i, y in enumerate(each)}
    results = call.results(wanted)
    for i, (_, variable) in enumerate(assigned):
        outer.write(variable, results["carry", count + i]._array)
    return [results["carry", i] for i in range(count)] + [
        results["each", i] for i in range(len(each))
    ]


def _loop_feeds(
    block: _Traced, count: int, stacks: list[Tensor], numbers: dict[int, int]
) -> dict[int, Any]:
    feeds: dict[int, Any] = {id(block.graph.round): ("round",)}
    for i, x in enumerate(block.inputs[:count]):
        feeds[id(x._array)] = ("carry", i)
    for x, stack in zip(block.inputs[count:], stacks, strict=True):
        feeds[id(x._array)] = ("each", stack._array)
    for key, x in block.graph.read_as.items():
        outside = block.outer.read(block.graph.variables[key])._array
        feeds[id(x._array)] = ("carry", numbers[key]) if key in numbers else ("const", outside)
    return feeds


def _check_carries(name: str, starts: list[Tensor], after: list[Tensor]) -> None:
    for i, (before, y) in enumerate(zip(starts, after, strict=False)):
        if before.dtype != y.dtype:
            raise DTypeError(
                f"{name}: loop variable {i} begins as {before.dtype.name}, and is {y.dtype.name} "
                "after one round. Cast it to what it was."
            )
        if before.shape != y.shape:
            raise ShapeError(
                f"{name}: loop variable {i} begins with shape {before.shape}, and has shape "
                f"{y.shape} after one round. A compiled loop keeps its shapes: collect values with "
                "tf.TensorArray or tf.scan."
            )
