"""Control flow while a function is traced: the forms that `tape/control.py` asks for, as nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import nest
from ..core.convert import as_tensor
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.tensor import Tensor, is_symbolic
from ..core.tracing import current_graph
from ..tape.control import EagerForms, Stacked, packed
from ..tape.tensor_array import TensorArray
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

    def __init__(self, name: str, in_loop: bool = False) -> None:
        outer = current_graph()
        assert outer is not None
        self.outer: Graph = outer
        self.graph = Graph(f"{name} of {outer.name}", outer)
        if in_loop:
            self.graph.round = self.graph.input(np.int32(0))
        self.inputs: list[Tensor] = []
        self.result: Any = None

    def input(self, like: Any) -> Tensor:
        tensor = self.graph.tensor(like)
        self.inputs.append(tensor)
        return tensor

    def run(self, function: Callable[[], Any]) -> None:
        with self.graph.running():
            self.result = function()
            self.outputs = [
                y._together() if isinstance(y, TensorArray) else as_tensor(y)
                for y in _leaves(self.result)
            ]
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
    blocks = [_Traced(name) for _ in functions]
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
    return _packed_like(blocks[0].result, outputs[:count])


def _variable_feeds(block: _Traced) -> dict[int, Any]:
    graph = block.graph
    return {
        id(x._array): block.outer.read(graph.variables[key])._array
        for key, x in graph.read_as.items()
    }


def _leaves(structure: Any) -> list[Any]:
    return [leaf for leaf in nest.flatten(structure) if leaf is not None]


def _repacked(structure: Any, leaves: Any) -> Any:
    given = iter(leaves)
    return nest.map_structure(lambda leaf: None if leaf is None else next(given), structure)


def _packed_like(structure: Any, tensors: list[Tensor]) -> Any:
    """`tensors` in the places of the leaves of `structure`, as TensorArrays where they are."""
    leaves = [
        leaf._with(x) if isinstance(leaf, TensorArray) else x
        for leaf, x in zip(_leaves(structure), tensors, strict=True)
    ]
    return _repacked(structure, leaves)


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


class _State:
    """The loop variables of a loop: what they are outside, and what a round sees of them.

    A TensorArray is carried as one tensor of all its elements. If their shape is not known when the
    loop begins, the first round that writes one says what it is.
    """

    def __init__(self, name: str, structure: Any) -> None:
        self.name = name
        self.structure = structure
        self.leaves = _leaves(structure)
        self.starts = [self._start(leaf) for leaf in self.leaves]

    def _start(self, leaf: Any) -> Tensor | None:
        if not isinstance(leaf, TensorArray):
            return as_tensor(leaf, op=self.name)
        if leaf._whole is None and not leaf.element_shape.is_fully_defined():
            return None
        return leaf._together()

    def enter(self, block: _Traced) -> Any:
        """The loop variables as the round sees them."""
        self.inputs = [
            None if start is None else block.input(start._array) for start in self.starts
        ]

        def begin(i: int, array: TensorArray) -> Tensor:
            shape = (len(array._elements), *array.element_shape)
            zeros = np.zeros(shape, array.dtype.numpy_dtype)
            self.starts[i] = Tensor(zeros)
            self.inputs[i] = block.input(zeros)
            return self.inputs[i]  # type: ignore[return-value]

        symbols = [
            leaf._with(x, partial(begin, i)) if isinstance(leaf, TensorArray) else x
            for i, (leaf, x) in enumerate(zip(self.leaves, self.inputs, strict=True))
        ]
        return _repacked(self.structure, symbols)

    def leave(self, after: Any) -> list[Tensor]:
        """The tensors of the loop variables at the end of the round."""
        found = []
        for i, leaf in enumerate(_leaves(after)):
            if not isinstance(leaf, TensorArray):
                found.append(as_tensor(leaf, op=self.name))
            elif leaf._whole is not None or leaf._begin is None:
                found.append(leaf._together())
            else:
                raise InvalidArgumentError(
                    f"{self.name}: loop variable {i} is a TensorArray that no round writes, and "
                    "the shape of its elements is not known. Give `element_shape`."
                )
        return found

    def final(self, tensors: list[Tensor]) -> Any:
        """The loop variables after the loop."""
        return _packed_like(self.structure, tensors)


def _while(
    name: str,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    bound: int | None,
) -> Any:
    state = _State(name, loop_vars)
    block = _Traced(name, in_loop=True)
    given = state.enter(block)
    block.run(lambda: state.leave(packed(body(*given), loop_vars)))
    _check_carries(name, state.starts, block.outputs)
    test = _Traced(name, in_loop=True)
    seen = _State(name, state.final(state.starts))  # type: ignore[arg-type]
    asked = seen.enter(test)
    test.run(lambda: cond(*asked))
    if test.graph.assigned:
        raise InvalidArgumentError(f"{name}: `cond` must not assign to variables.")
    if len(test.outputs) != 1 or test.outputs[0]._array.size != 1:
        raise ShapeError(f"{name}: `cond` must return one bool, and returned {test.result!r:.100}.")
    loop = _Loop(name, block, state, [], [], [])
    return state.final(loop.results(None, bound=bound, test=(test, seen))[0])


def walk(
    name: str,
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    elems: Any,
    reverse: bool = False,
    together: bool = False,
) -> tuple[Any, Stacked]:
    """`state, result = step(state, element)` along axis 0, as a node; the results stacked."""
    carried = _State(name, state)
    stacks = [as_tensor(x, op=name) for x in nest.flatten(elems)]
    block = _Traced(name, in_loop=True)
    before = carried.enter(block)
    rows = [block.input(_Row(x._array)) for x in stacks]
    element = nest.pack_sequence_as(elems, rows)
    result: Any = None

    def one_round() -> Any:
        nonlocal result
        after, result = step(before, element)
        nest.assert_same_structure(state, after)
        return carried.leave(after), result

    block.run(one_round)
    count = len(carried.leaves)
    _check_carries(name, carried.starts, block.outputs[:count])
    loop = _Loop(name, block, carried, rows, stacks, block.outputs[count:])
    finals, each = loop.results(len(stacks[0]), reverse=reverse, together=together)
    return carried.final(finals), Stacked(_repacked(result, each))


class _Row:
    """Shape and dtype of the rows of an array."""

    def __init__(self, array: Any) -> None:
        self.shape = array.shape[1:]
        self.dtype = array.dtype


class _Loop:
    """A traced round, to be repeated: the node, and its call."""

    def __init__(
        self,
        name: str,
        block: _Traced,
        state: _State,
        rows: list[Tensor],
        stacks: list[Tensor],
        each: list[Tensor],
    ) -> None:
        self.name = name
        self.block = block
        self.state = state
        self.rows = rows
        self.stacks = stacks
        self.each = each
        self.after = block.outputs[: len(state.leaves)]
        # The variables that a round assigns are carried too, after the loop variables.
        self.assigned = list(block.graph.assigned.items())
        self.numbers = {key: len(self.after) + i for i, (key, _) in enumerate(self.assigned)}

    def results(
        self, rounds: int | None, test: Any = None, **how: Any
    ) -> tuple[list[Tensor], list[Tensor]]:
        """The last values of the loop variables, and the stacks of what each round gave."""
        block, outer, graph = self.block, self.block.outer, self.block.graph
        starts: list[Any] = [start._array for start in self.state.starts]  # type: ignore[union-attr]
        starts += [outer.read(v)._array for _, v in self.assigned]
        finals = [y._array for y in self.after]
        finals += [graph.values[key]._array for key in self.numbers]
        body = Block(block.program(finals), self._feeds(block, self.state))
        if test is not None:
            traced, seen = test
            program = traced.program([traced.outputs[0]._array])
            how["test"] = Block(program, self._feeds(traced, seen))
        outputs: list[Any] = [("carry", i) for i in range(len(starts))]
        outputs += [("each", y._array) for y in self.each]
        node = Walk(body, starts, outputs, rounds, **how)
        call = self._call(node)
        slots: dict[Any, Any] = {("carry", i): ("carry", i) for i in range(len(starts))}
        slots |= {("each", i): ("each", y._array) for i, y in enumerate(self.each)}
        found = call.results(slots)
        for key, variable in self.assigned:
            outer.write(variable, found["carry", self.numbers[key]]._array)
        return (
            [found["carry", i] for i in range(len(self.after))],
            [found["each", i] for i in range(len(self.each))],
        )

    def _call(self, node: Walk) -> WalkCall:
        block, tracked = self.block, self.block.graph.tracked
        carries: list[Any] = [
            (x._key, block.key_of(y), start) if x._key in tracked else None  # type: ignore[union-attr]
            for x, y, start in zip(self.state.inputs, self.after, self.state.starts, strict=True)
        ]
        carries += [None] * len(self.assigned)  # an assignment cuts the chain
        stacks = [
            (x._key, stack)
            for x, stack in zip(self.rows, self.stacks, strict=True)
            if x._key in tracked
        ]
        outs: dict[Any, Any] = {("each", i): block.key_of(y) for i, y in enumerate(self.each)}
        targets = [block.key_of(y) for y in block.outputs]
        consts = block.outside(node.body.program, targets)
        return WalkCall(self.name, block.outer, node, carries, stacks, consts, outs)  # type: ignore[arg-type]

    def _feeds(self, block: _Traced, state: _State) -> dict[int, Any]:
        feeds: dict[int, Any] = {id(block.graph.round): ("round",)}
        for i, x in enumerate(state.inputs):
            feeds[id(x._array)] = ("carry", i)  # type: ignore[union-attr]
        if block is self.block:
            for x, stack in zip(self.rows, self.stacks, strict=True):
                feeds[id(x._array)] = ("each", stack._array)
        for key, x in block.graph.read_as.items():
            outside = block.outer.read(block.graph.variables[key])._array
            number = self.numbers.get(key)
            feeds[id(x._array)] = ("const", outside) if number is None else ("carry", number)
        return feeds


def _check_carries(name: str, starts: list[Tensor | None], after: list[Tensor]) -> None:
    for i, (before, y) in enumerate(zip(starts, after, strict=True)):
        assert before is not None
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
