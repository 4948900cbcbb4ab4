"""Control flow while a function is traced: the forms that `tape/control.py` asks for, as nodes.

The functions that make a branch, a condition or a round are traced as graphs inside the one around
them; what these did becomes the blocks of a choice or of a walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import nest
from ..core.composite import CompositeTensor
from ..core.convert import as_tensor
from ..core.errors import DTypeError, DynamicSizeError, InvalidArgumentError, ShapeError
from ..core.spec import Spec
from ..core.tensor import Tensor, is_inexact, is_symbolic
from ..core.tracing import current_graph, tracing
from ..tape.control import Stacked, pack_like
from ..tape.tensor_array import TensorArray
from ..tape.type_specs import zeros_of_spec
from .call import Slot
from .choice import Branch, ChoiceCall
from .cut import Mark
from .graph import Forms, Graph
from .lines import user_line
from .node import Block, Constant, Operand, Source
from .program import Program
from .trace import Var, var_of
from .walk import Carried, Carry, Course, Final, RoundNumber, Row, Stack, Target, Walk, WalkCall


class CompiledForms(Forms):
    """Control flow as nodes of the graph that is being traced."""

    def cond(
        self,
        pred: Any,
        true_fn: Callable[[], Any],
        false_fn: Callable[[], Any],
        both: bool = False,
    ) -> Any:
        condition = _condition(pred, "cond")
        if condition is None:
            return super().cond(pred, true_fn, false_fn)
        index = jnp.asarray(~condition, jnp.int32)
        functions, labels = [true_fn, false_fn], ["true_fn", "false_fn"]
        return choose("cond", index, functions, labels, may_leave_out=not both)

    def switch(self, index: Tensor, branches: list[Callable[[], Any]]) -> Any:
        if not is_symbolic(index._array):
            return super().switch(index, branches)
        last = len(branches) - 1
        i = index._array
        number = jnp.where((i < 0) | (i > last), last, i).astype(jnp.int32)
        return choose("switch_case", number, branches, [f"branch {b}" for b in range(last + 1)])

    def loop(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        maximum_iterations: int | None,
    ) -> Any:
        loop = _TracedLoop("while_loop", loop_vars)
        loop.trace(lambda variables: (pack_like(body(*variables), loop_vars), None))
        capacity = loop.block.outer.capacity() if maximum_iterations is None else None
        test = _traced_test(cond, loop)
        course = Course(bound=maximum_iterations, capacity=capacity, test=test)
        return loop.walk(course)[0]

    def walk(
        self, step: Callable[[Any, Any], tuple[Any, Any]], state: Any, elems: Any, reverse: bool
    ) -> tuple[Any, Any]:
        if nest.flatten(elems)[0]._array.shape[0] == 0:
            return super().walk(step, state, elems, reverse)
        return walk("scan", step, state, elems, reverse)

    def at_once(self, name: str, function: Callable[[Any], list[Tensor]], elems: Any) -> Any:
        _, stacked = walk(name, lambda _, row: (None, function(row)), None, elems, together=True)
        return stacked.tensors


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
            f"{user_line()}: {op}: the condition must be one value, and has shape {tensor.shape}. "
            "Use reduce_any(x) or reduce_all(x)."
        )
    array = tensor._array.reshape(())
    return array if array.dtype == np.bool_ else array != 0


# Blocks


class TracedBlock:
    """A block while it is made: what a function of tensors did."""

    def __init__(self, name: str, in_loop: bool = False) -> None:
        outer = current_graph()
        assert outer is not None
        self.outer: Graph = outer
        self.graph: Graph = outer.inner(name)
        if in_loop:
            self.graph.round = self.graph.trace.input(np.int32(0))
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.result: Any = None

    def input(self, like: Any) -> Tensor:
        x = self.graph.tensor(like)
        graph = current_graph()
        while graph is not self.outer and graph is not self.graph:  # a branch in it asks
            assert graph is not None
            graph.tracked |= self.graph.tracked & {x._key}
            graph = graph.outer
        self.inputs.append(x)
        return x

    def run(self, function: Callable[[], Any]) -> None:
        with self.graph.running():
            self.result = function()
            # (A tensor of the outside that is returned as it is, no op has told of.)
            parts = nest.parts(self.result)
            self.outputs = [self.graph.kept(_together(leaf)) for leaf in parts]
            self.graph.settle(Mark(0, 0))
        self.end = self.graph.mark()
        for variable in self.graph.variables.values():
            variable._as_tensor()  # the tapes around the block see that it is read

    def program(self, outputs: list[Any]) -> Program:
        graph = self.graph
        inputs = [x._array for x in [*self.inputs, *graph.read_as.values()]]
        if graph.round is not None:
            inputs.append(graph.round)
        return Program(graph, inputs, outputs, Mark(0, 0), self.end)

    def variables(self, carried: Mapping[int, Operand] | None = None) -> dict[Var, Operand]:
        """How it gets the values of variables: from the outside, but for those that are carried."""
        graph = self.graph
        return {
            var_of(x._array): carried[key]
            if carried and key in carried
            else Constant(self.outer.read(graph.variables[key])._array)
            for key, x in graph.read_as.items()
        }

    def key_of(self, y: Tensor) -> int | None:
        """The key of a result, if gradients can flow through it."""
        if y._key is None or y._key not in self.graph.tracked:
            return None
        self.graph.tensors.setdefault(y._key, y)
        return y._key

    def outside(self, program: Program, targets: list[int | None]) -> dict[int, Source]:
        """By key what it uses of the graphs around: variables, and tensors by closure."""
        own = {x._key for x in self.inputs}
        tensors = self.graph.tensors
        keys = [key for key in program.sources(targets) if key not in own]
        return {key: Source(Constant, tensors[key]) for key in keys}


def _together(leaf: Any, *op: str) -> Tensor:
    """A leaf as one tensor; of a TensorArray, the tensor of all its elements."""
    return leaf._together() if isinstance(leaf, TensorArray) else as_tensor(leaf, None, *op)


def tensors_as(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """`tensors` in the places of the leaves of `structure`, as TensorArrays where they are."""
    leaves = [
        leaf._with(x) if isinstance(leaf, TensorArray) else x
        for leaf, x in zip(nest.parts(structure), tensors, strict=True)
    ]
    return nest.pack_parts(structure, leaves)


def _hand_on(name: str, pairs: Iterable[tuple[Tensor, Tensor]]) -> None:
    """Let the witnesses know which tensors of a block are which of the graph around it."""
    if tracing.witnesses:
        found = list(pairs)
        for witness in tracing.witnesses:
            witness.handed_on(name, found)


# Choosing


def choose(
    name: str,
    index: Any,
    functions: list[Callable[[], Any]],
    labels: list[str],
    may_leave_out: bool = False,
) -> Any:
    """What one of the functions returns, as a node; `index` is the tracer of its number."""
    blocks, index = _blocks(name, index, functions, may_leave_out)
    if len(blocks) > 1:
        _check_alike(name, blocks, labels)
    graph = blocks[0].outer
    # The variables that a branch assigns are results too.
    assigned = {key: v for block in blocks for key, v in block.graph.assigned.items()}
    branches = []
    for block in blocks:
        values = block.graph.values
        finals = [values[key] if key in values else graph.read(v) for key, v in assigned.items()]
        program = block.program([y._array for y in [*block.outputs, *finals]])
        targets = [*map(block.key_of, block.outputs), *[None] * len(assigned)]
        inside = Block(program, block.variables())
        branches.append(Branch(inside, targets, block.outside(program, targets)))
    outputs = ChoiceCall(name, graph, index, branches).results()
    count = len(blocks[0].outputs)
    for block in blocks:
        _hand_on(name, zip(block.outputs, outputs[:count], strict=True))
    for variable, y in zip(assigned.values(), outputs[count:], strict=True):
        graph.write(variable, y._array)
    return tensors_as(blocks[0].result, outputs[:count])


def _blocks(
    name: str, index: Any, functions: list[Callable[[], Any]], may_leave_out: bool
) -> tuple[list[TracedBlock], Any]:
    """The branches, and what chooses one of them: nothing, if there is but one.

    One of two that cannot be compiled may be left out, if no more than results are wanted of it:
    programs have branches for what hardly ever happens. A call that is to take it runs as Python.
    """
    blocks: list[TracedBlock] = []
    failed: dict[int, DynamicSizeError] = {}
    for number, function in enumerate(functions):
        block = TracedBlock(name)
        try:
            block.run(function)
        except DynamicSizeError as error:
            if not may_leave_out or failed:
                raise
            failed[number] = error
        else:
            blocks.append(block)
    for number, why in failed.items():
        blocks[0].outer.leave_out(why, number, index)
    return blocks, None if failed else index


def _check_alike(name: str, blocks: list[TracedBlock], labels: list[str]) -> None:
    first = blocks[0]
    for block, label in zip(blocks[1:], labels[1:], strict=True):
        try:
            nest.assert_same_structure(first.result, block.result, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{user_line()}: {name}: `{labels[0]}` and `{label}` must return the same "
                f"structure, because only the run decides between them. {error}"
            ) from None
        for i, (a, b) in enumerate(zip(first.outputs, block.outputs, strict=True)):
            if a.dtype != b.dtype:
                raise DTypeError(
                    f"{user_line()}: {name}: result {i} of `{labels[0]}` is {a.dtype.name}, and "
                    f"that of `{label}` is {b.dtype.name}. They must agree: cast one of them."
                )
            if a.shape != b.shape:
                raise DynamicSizeError(
                    f"{name}: result {i} of `{labels[0]}` has shape {a.shape}, and that of "
                    f"`{label}` has shape {b.shape}, so that only the run decides on the shape."
                )
        for spec, other in zip(
            nest.composites(first.result), nest.composites(block.result), strict=True
        ):
            if spec != other:
                raise DynamicSizeError(
                    f"{name}: `{labels[0]}` returns a {spec}, and `{label}` a {other}, so that "
                    "only the run decides on the shape."
                )


# Repeating


def walk(
    name: str,
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    elems: Any,
    reverse: bool = False,
    together: bool = False,
) -> tuple[Any, Stacked]:
    """`state, result = step(state, element)` along axis 0, as a node; the results stacked."""
    loop = _TracedLoop(name, state, [as_tensor(x, op=name) for x in nest.flatten(elems)])
    element = nest.pack_sequence_as(elems, loop.rows)

    def one_round(before: Any) -> tuple[Any, Any]:
        after, result = step(before, element)
        nest.assert_same_structure(state, after, expand_composites=True)
        return after, result

    result = loop.trace(one_round)
    finals, stacks = loop.walk(
        Course(loop.stacks[0]._array.shape[0], reverse=reverse, together=together)
    )
    return finals, Stacked(nest.pack_parts(result, stacks))


class _LoopVariables:
    """The loop variables of a loop: what they are outside, and what a block sees of them.

    A TensorArray is carried as one tensor of all its elements. If their shape is not known when the
    loop begins, the first round that writes one says what it is. So it is with a composite of which
    nobody has said what it is made of, such as an Optional that never had a value.
    """

    def __init__(self, name: str, structure: Any, block: TracedBlock) -> None:
        self.name = name
        self._outline = structure
        self._block = block
        self._each = [_LoopVariable(name, leaf, block) for leaf in nest.flatten(structure)]

    @property
    def structure(self) -> Any:
        """They as they begin; all that they are made of is known once a round is traced."""
        return nest.pack_sequence_as(self._outline, [each.begin for each in self._each])

    def __len__(self) -> int:
        return sum([len(each.parts) for each in self._each])

    def inside(self) -> Any:
        """The loop variables as the block sees them."""
        return nest.pack_sequence_as(self._outline, [each.inside() for each in self._each])

    def check_composites(self, structure: Any) -> None:
        """Raise unless the composites after a round are what they were."""
        for each, later in zip(self._each, nest.flatten(structure), strict=True):
            each.learn_from(later)
        pairs = zip(nest.composites(self.structure), nest.composites(structure), strict=True)
        for before, later in pairs:
            if before != later:
                raise ShapeError(
                    f"{user_line()}: {self.name}: a loop variable begins as a {before}, and is a "
                    f"{later} after one round. A compiled loop keeps its shapes."
                )

    def after(self, structure: Any) -> list[Tensor]:
        """The tensors of the loop variables at the end of the round."""
        leaves = nest.parts(structure)
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, TensorArray) and leaf._whole is None and leaf._begin is not None:
                raise InvalidArgumentError(
                    f"{user_line()}: {self.name}: loop variable {i} is a TensorArray that no round "
                    "writes, and the shape of its elements is not known. Give `element_shape`."
                )
        return [_together(leaf, self.name) for leaf in leaves]

    @property
    def starts(self) -> list[Tensor]:
        """Their values when the loop begins; all are known once a round is traced."""
        return [x for each in self._each for x in each.starts if x is not None]

    @property
    def inputs(self) -> list[Tensor]:
        return [x for each in self._each for x in each.inputs if x is not None]

    def operands(self) -> dict[Var, Operand]:
        return {var_of(x._array): Carried(i) for i, x in enumerate(self.inputs)}

    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        """Their values when the loop begins and the inputs of the block, as far as known yet."""
        each = [pair for v in self._each for pair in zip(v.starts, v.inputs, strict=True)]
        return [(x, y) for x, y in each if x is not None and y is not None]


class _LoopVariable:
    """One of them, with the tensors that it is made of: outside, and as inputs of the block.

    Of a TensorArray whose elements have no shape yet they are None.
    """

    def __init__(self, name: str, begin: Any, block: TracedBlock) -> None:
        self._name = name
        self._block = block
        self.begin = begin
        self._is_known = _is_known(begin)  # (Keras says the spec of the very one it began with)
        self.parts = nest.parts(begin)
        self.starts = [self._start(part) for part in self.parts]
        self.inputs = [None if x is None else block.input(x._array) for x in self.starts]

    def _start(self, part: Any) -> Tensor | None:
        written = not isinstance(part, TensorArray) or part._whole is not None
        known = written or part.element_shape.is_fully_defined()
        return _together(part, self._name) if known else None

    def inside(self) -> Any:
        """The value as the Python code of the block sees it."""
        symbols = [
            part._with(x, partial(self._first_element, i)) if isinstance(part, TensorArray) else x
            for i, (part, x) in enumerate(zip(self.parts, self.inputs, strict=True))
        ]
        seen = nest.pack_parts(self.begin, symbols)
        if not self._is_known:
            seen._learn = self._learn
        return seen

    def _first_element(self, i: int, array: TensorArray) -> Tensor:
        """A TensorArray when its first element is written, by which its shape is known.

        Each branch of a round has an array of its own, and all of them begin as the same tensor.
        """
        x = self.inputs[i]
        if x is None:
            if not array.element_shape.is_fully_defined():
                raise DynamicSizeError(
                    f"{self._name}: a TensorArray is not written here, and the shape of its "
                    "elements is not known yet. Give `element_shape`."
                )
            with self._block.outer.running():
                start = self.starts[i] = array._zeros()
            x = self.inputs[i] = self._block.input(start._array)
        if is_inexact(x):  # the graph of the branch that is being traced was made before
            current_graph().follow(x._key)
        return x

    def _learn(self, spec: Any) -> Any:
        """A composite that is now known to be of this spec, as the block sees it."""
        if not self._is_known:
            self._is_known = True
            with self._block.outer.running():
                self.begin = zeros_of_spec(spec, 0)
                self.parts = nest.parts(self.begin)
                known, self.starts = len(self.starts), [self._start(part) for part in self.parts]
            for x in self.starts[known:]:
                self.inputs.append(None if x is None else self._block.input(x._array))
        return nest.pack_parts(self.begin, self.inputs)

    def learn_from(self, later: Any) -> None:
        """Take over what the value after a round is made of, if that was not known before."""
        if not self._is_known and _is_known(later):
            self._learn(later._type_spec)


def _is_known(value: Any) -> bool:
    return not isinstance(value, CompositeTensor) or value._type_spec._is_known


class _TracedLoop:
    """A loop: its round, traced, and the walk that repeats it."""

    def __init__(self, name: str, structure: Any, stacks: list[Tensor] | None = None) -> None:
        self.name = name
        self.stacks = stacks or []  # what each round gets a row of
        self.block = TracedBlock(name, in_loop=True)
        self.variables = _LoopVariables(name, structure, self.block)
        self.rows = [
            self.block.input(Spec(x._array.shape[1:], x._array.dtype)) for x in self.stacks
        ]

    def trace(self, one_round: Callable[[Any], tuple[Any, Any]]) -> Any:
        """Trace a round: from the loop variables to those after it and a result, which it gives."""
        variables, result = self.variables, None
        _hand_on(self.name, [*variables.pairs(), *zip(self.stacks, self.rows, strict=True)])

        def run() -> Any:
            nonlocal result
            after, result = one_round(variables.inside())
            variables.check_composites(after)
            return variables.after(after), result

        self.block.run(run)
        count = len(variables)
        self.after, self.results = self.block.outputs[:count], self.block.outputs[count:]
        _check_carries(self.name, variables.starts, self.after)
        # The variables that a round assigns are carried too, after the loop variables.
        assigned = self.block.graph.assigned
        self.assigned = {key: Carried(count + i) for i, key in enumerate(assigned)}
        return result

    def walk(self, course: Course) -> tuple[Any, list[Tensor]]:
        """The last loop variables, and the stacks of the results; variables are assigned."""
        block, outer = self.block, self.block.outer
        assigned = block.graph.assigned
        starts = [*self.variables.starts, *[outer.read(v) for v in assigned.values()]]
        ends = [*self.after, *[block.graph.values[key] for key in assigned]]
        operands = self.variables.operands() | self.operands(block)
        operands |= {
            var_of(x._array): Row(stack._array)
            for x, stack in zip(self.rows, self.stacks, strict=True)
        }
        body = Block(block.program([y._array for y in ends]), operands)
        call = self._call(Walk(body, [x._array for x in starts], course))
        outputs: list[tuple[Any, Slot | None]] = [
            (Final(i), Final(i) if i in call.carries else None) for i in range(len(starts))
        ]
        for y in self.results:
            key = block.key_of(y)
            outputs.append((Stack(y._array), None if key is None else Target(Stack, key)))
        found = call.tensors(outputs)
        made = [*self.after, *self.results]
        _hand_on(self.name, zip(made, found[: len(self.after)] + found[len(starts) :], strict=True))
        count = len(self.variables)
        for variable, y in zip(assigned.values(), found[count : len(starts)], strict=True):
            outer.write(variable, y._array)
        finals = tensors_as(self.variables.structure, found[:count])
        return finals, found[len(starts) :]

    def operands(self, block: TracedBlock) -> dict[Var, Operand]:
        """How a block of the loop gets the number of the round, and the values of variables."""
        return {var_of(block.graph.round): RoundNumber()} | block.variables(self.assigned)

    def _call(self, node: Walk) -> WalkCall:
        """The walk as tapes see it. (An assignment of a variable cuts the chain.)"""
        block, tracked, variables = self.block, self.block.graph.tracked, self.variables
        kept = block.outer.kept
        carries: dict[int, Carry] = {}
        for i, (x, y) in enumerate(zip(variables.inputs, self.after, strict=True)):
            if x._key is not None and x._key in tracked:
                carries[i] = Carry(x._key, block.key_of(y), kept(variables.starts[i]))
        sources = {
            x._key: Source(Row, kept(stack))
            for x, stack in zip(self.rows, self.stacks, strict=True)
            if x._key is not None and x._key in tracked
        }
        targets = [block.key_of(y) for y in block.outputs]
        sources |= block.outside(node.body.program, targets)
        return WalkCall(self.name, block.outer, node, carries, sources)


def _traced_test(cond: Callable[..., Any], loop: _TracedLoop) -> Block:
    """The condition of a `while`, of the loop variables."""
    name = loop.name
    block = TracedBlock(name, in_loop=True)
    begin = tensors_as(loop.variables.structure, loop.variables.starts)
    variables = _LoopVariables(name, begin, block)
    block.run(lambda: cond(*variables.inside()))
    if block.graph.assigned:
        raise InvalidArgumentError(f"{user_line()}: {name}: `cond` must not assign to variables.")
    if len(block.outputs) != 1 or block.outputs[0]._array.size != 1:
        raise ShapeError(
            f"{user_line()}: {name}: `cond` must return one bool, and returned "
            f"{block.result!r:.100}."
        )
    program = block.program([block.outputs[0]._array])
    return Block(program, variables.operands() | loop.operands(block))


def _check_carries(name: str, starts: list[Tensor], after: list[Tensor]) -> None:
    for i, (before, y) in enumerate(zip(starts, after, strict=True)):
        if before.dtype != y.dtype:
            raise DTypeError(
                f"{user_line()}: {name}: loop variable {i} begins as {before.dtype.name}, and is "
                f"{y.dtype.name} after one round. Cast it to what it was."
            )
        if before.shape != y.shape:
            raise ShapeError(
                f"{user_line()}: {name}: loop variable {i} begins with shape {before.shape}, and "
                f"has shape {y.shape} after one round. A compiled loop keeps its shapes: collect "
                "values with tf.TensorArray or tf.scan."
            )
