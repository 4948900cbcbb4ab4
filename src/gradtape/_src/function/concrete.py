"""ConcreteFunction: one trace of a Python function, compiled, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax.errors import UnexpectedTracerError

from ..core import nest
from ..core.composite import CompositeTensor, TypeSpec
from ..core.convert import as_tensor
from ..core.errors import Error, UnimplementedError
from ..core.late import late
from ..core.op import JointOp
from ..core.recorder import named, recorders
from ..core.sizes import BranchNeeded, SizesNeeded, SizeTensor
from ..core.tensor import Tensor, is_inexact
from ..core.tracing import Stream, begin, current_graph, end, tracing
from ..tape.cell import Loan
from ..tape.drawn import Drawn
from ..tape.type_specs import TensorSpec
from ..tape.variable import Variable
from .call import CompiledCall
from .choice import Branch, ChoiceCall
from .cut import Mark
from .explain import leaked_among
from .graph import Graph
from .layout import Layout
from .node import Block, Constant, Operand, Source
from .program import Program, is_static, jitted, raise_if
from .signature import Open, Traced, describe, fits
from .trace import Executable, Tracer, Var, footprint, for_xla, leave_jax, results_of, var_of

if TYPE_CHECKING:
    from .export import ExportedFunction
    from .memory import ProgramMemory


class ConcreteFunction:
    """A Python function for one signature of its arguments: a program of XLA.

    Its inputs are the tensors among the arguments, the variables it reads, and the random state;
    its outputs what the function returns and the variables it assigned.
    """

    arguments: tuple[Any, ...] | None = None
    """What it was traced for, TensorSpecs for tensors; None if an argument is an object."""

    def __init__(self, graph: Graph, leaves: list[Any], symbols: list[Any], result: Flat) -> None:
        self.name = graph.name
        self.graph = graph
        tensors = [not isinstance(leaf, (Variable, Stream)) for leaf in leaves]
        self._positions = [i for i, is_tensor in enumerate(tensors) if is_tensor]
        self._only_tensors = all(tensors)
        self._arguments = [symbols[i] for i in self._positions]
        self._takes = graph.takes or None
        for take in graph.takes.before:  # the elements come after the arguments
            self._arguments += take.inputs
        self._result, outputs = result
        self._variables = list(graph.variables.values())
        # The numbers of the variables that a call assigns.
        self.assigned = [i for i, key in enumerate(graph.variables) if key in graph.assigned]
        # Variables whose shape may change, with the shape for which this trace is.
        self.resizable = [
            (v, graph.read_as[key]._array.shape)
            for key, v in graph.variables.items()
            if not v.shape.is_fully_defined()
        ]
        self._feeds = [supply for _, supply in graph.feeds]
        inputs = [x._array for x in self._arguments]
        inputs += [graph.read_as[key]._array for key in graph.variables]
        inputs += [tracer for tracer, _ in graph.feeds]
        # Results that are the same in every call are not outputs of the program.
        self._constants = [None if _is_computed(y, graph) else y for y in outputs]
        computed = [y for y, constant in zip(outputs, self._constants, strict=True)
                    if constant is None]  # fmt: skip
        self._all_computed = all(y is None for y in self._constants)
        self._is_flat = type(self._result) in (tuple, list) and all(
            type(mark) is _Leaf for mark in self._result
        )
        self.targets = [y._key for y in computed]  # the keys that the results have inside
        for y in outputs:
            if y._key is not None:
                graph.tensors.setdefault(y._key, y)
        arrays = [y._array for y in computed]
        arrays += [graph.values[key]._array for key in graph.variables if key in graph.assigned]
        self.program = Program(graph, inputs, arrays, Mark(0, 0), graph.mark())
        self._compiled = self._compile(inputs)
        # Whether it can serve other calls: it uses no tensor of a function that is being traced.
        self.is_closed = not self._checked.cut.foreign
        self._sources = self._find_sources()

    def _compile(self, inputs: list[Any]) -> Callable[[list[Any]], Any]:
        checked = self._checked = self.program.checked()
        cut = checked.cut
        known_sizes = all([is_static(x.shape) for x in inputs]) and not self.resizable
        spares = known_sizes and not checked.speaks and not cut.counted
        cells = [v._cell for v in self._variables]
        loan = Loan(cells, self.assigned, spares=spares, calls_python=checked.speaks)
        layout = Layout(inputs, len(self._arguments), len(self.targets), loan)
        self._loan, self._layout = loan, layout

        def program(*arrays: Any) -> list[Any]:
            outputs = checked.run_unseen(*layout.inputs_of_program(arrays))
            outputs = layout.outputs_of_call(outputs, arrays)
            return checked.seen(outputs, outputs[: layout.assigned + layout.results])

        program.__name__ = program.__qualname__ = self.name
        self._program = program
        # `jax.jit` takes an array of NumPy over in 0.8 µs, an Executable in 1.8; of each variable
        # it asks 0.2 µs more.
        count = layout.arguments
        if spares and (layout.spares or len(layout.inputs) > 5 * count):
            all_inputs = [*layout.inputs, *layout.spares]
            donated = range(len(layout.inputs), len(all_inputs))
            return Executable(program, all_inputs, donated, count)
        compiled = jitted(self.graph, cut, program, layout.inputs)

        def run(arrays: list[Any]) -> Any:
            with jax.enable_x64(True):
                return compiled(*for_xla(arrays))

        return run

    def _find_sources(self) -> list[tuple[int, int | None, int | None]]:
        """By what a call can be differentiated: key inside, number of argument or variable."""
        arguments = {x._key: i for i, x in enumerate(self._arguments)}
        variables = {key: i for i, key in enumerate(self.graph.variables)}
        return [
            (key, arguments.get(key), variables.get(key))
            for key in self.program.sources(self.targets)
        ]

    @property
    def is_outdated(self) -> bool:
        """Whether a variable has another shape than when it was traced."""
        return any(v._cell.array().shape != shape for v, shape in self.resizable)

    def call(self, leaves: list[Any]) -> Any:
        """The results for these tensors and variables, the leaves of the arguments."""
        tensors = leaves if self._only_tensors else [leaves[i] for i in self._positions]
        if self._takes is not None:
            return self._takes.call(leaves, lambda taken: self._call(tensors + taken), self._loan)
        return self._call(tensors)

    def _call(self, tensors: list[Tensor]) -> Any:
        outputs, op = None, self._as_op()
        if recorders():
            for v in self._variables:
                v._tell_tapes()
            sources = self._tracked_sources(tensors)
            if sources:
                outputs = self._run_recorded(tensors, sources)
        if outputs is None:
            outputs = self._loan.run(self._execute, [x._array for x in tensors])
        if op is not None:
            end(op, [*tensors, *[v._as_tensor() for v in self._variables]], tuple(outputs))
        return self._pack(outputs)

    def _as_op(self) -> CalledProgram | None:
        """What the witnesses are told to begin, if there are any to be told of a call."""
        if not tracing.witnesses or not (tracing.counting_calls or not self.graph.is_looked_at):
            return None
        op = CalledProgram(self.name, tuple)
        op.called = self
        op.is_looked_at = self.graph.is_looked_at
        begin(op)
        return op

    def _execute(self, arrays: list[Any], spares: list[Any]) -> tuple[list[Any], list[Tensor]]:
        """New values of variables, for the loan, and the results; when all is computed and checked.

        (On a GPU, when it is sure to be computed.)
        """
        for supply in self._feeds:
            arrays.append(supply())
        checked = self._checked
        if checked.conditions and not self.program.met(checked, arrays):
            raise_if(self.program.spoken(self._layout.values(arrays)))
        try:
            outputs = self._compiled(arrays + spares)
        except UnexpectedTracerError:
            raise leaked_among(arrays) from None
        except BaseException as error:
            leave_jax(error)
            raise self.graph.what_ended(error) from None
        if checked.speaks:
            raise_if(self.graph.first_message(outputs))
        if checked.tells:
            failed = np.asarray(outputs.pop())  # bool() of JAX's own array takes 3 µs more
            if failed:
                raise_if(self.program.reason(failed, self._layout.values(arrays)))
        count = self._layout.assigned
        return outputs[:count], results_of(outputs, count)

    def _tracked_sources(self, tensors: list[Tensor]) -> dict[Any, Tensor]:
        """What the results depend on and a tape tracks: tensors, by their keys inside."""
        found = {}
        for key, argument, variable in self._sources:
            if argument is not None:
                x = tensors[argument]
            elif variable is not None:
                cell = self._loan.cells[variable]
                x = Tensor(cell.array(), cell.key)
            else:
                x = self.graph.tensors[key]
            if x._key is not None:
                found[key] = x
        tracked = [r.tracked for r in recorders()]
        keys = {x._key for x in found.values()}
        return found if any(not t.isdisjoint(keys) for t in tracked) else {}

    def _run_recorded(self, tensors: list[Tensor], sources: dict[Any, Tensor]) -> list[Tensor]:
        with self._loan.exclusive():
            values = [x._array for x in [*tensors, *[cell.read() for cell in self._loan.cells]]]
            values += [supply() for supply in self._feeds]
            call = CompiledCall(self.name, self.program, values, sources)
            outputs = call.run([*self.targets, *[None] * len(self.assigned)])
            self._loan.assign([y._array for y in outputs[len(self.targets) :]])
        return outputs[: len(self.targets)]

    def _pack(self, outputs: list[Tensor]) -> Any:
        """The results in the structure that the Python function returned."""
        result = self._result
        if result is None:
            return None
        if self._all_computed:
            if type(result) is _Leaf:
                return outputs[0]
            if self._is_flat:
                return type(result)(outputs)
        computed = iter(outputs)
        every = iter([next(computed) if y is None else y for y in self._constants])
        return _rebuild(result, every)

    # Inside another function

    @property
    def can_be_inside(self) -> bool:
        """Whether it has `call_inside`: its sizes are known, and it is fed random keys only."""
        return (
            not self.resizable
            and self._takes is None
            and not self.graph.kept_rounds()
            and all([is_static(x._array.shape) for x in self._arguments])
            and all([self.graph.stream_of(tracer) is not None for tracer, _ in self.graph.feeds])
        )

    def call_inside(self, leaves: list[Any]) -> Any:
        """The results as part of the function that is being traced, as a node: a choice of one."""
        graph = current_graph()
        tensors = [graph.kept(leaves[i]) for i in self._positions]
        variables = [v._as_tensor() for v in self._variables]
        arrays = [x._array for x in [*tensors, *variables]]
        for tracer, supply in self.graph.feeds:
            arrays.append(graph.next_key(self.graph.stream_of(tracer), supply))
        operands: dict[Var, Operand] = {
            var_of(x): Constant(array) for x, array in zip(self.program.inputs, arrays, strict=True)
        }
        sources: dict[int, Source] = {}
        for key, argument, variable in self._sources:
            if argument is not None:
                sources[key] = Source(Constant, tensors[argument])
            elif variable is not None:
                sources[key] = Source(Constant, variables[variable])
            else:
                sources[key] = Source(Constant, self.graph.tensors[key])
                if key in self.graph.captured:
                    graph.capture(key, self.graph.captured[key])
        targets = [*map(self._flowing, self.targets), *[None] * len(self.assigned)]
        branch = Branch(Block(self.program, operands), targets, sources)
        op = self._as_op()
        outputs = ChoiceCall(self.name, graph, None, [branch]).results()
        count = len(self.targets)
        for number, y in zip(self.assigned, outputs[count:], strict=True):
            graph.write(self._variables[number], y._array)
        if op is not None:
            end(op, [*tensors, *variables], tuple(outputs[:count]))
        return self._pack(outputs[:count])

    def _flowing(self, key: int | None) -> int | None:
        """The key of a result, if gradients flow through it."""
        known = key is not None and key in self.graph.tracked
        return key if known and is_inexact(self.graph.tensors[key]) else None  # type: ignore[index]

    # For inspection

    def inputs_outside(self) -> tuple[list[Tensor], list[Variable], int]:
        """What the inputs of the program are: tensors, variables, and the number of random keys."""
        return self._arguments, self._variables, len(self._feeds)

    def inputs_of_program(self) -> tuple[list[Any], list[Any]]:
        """The tensors among the arguments, as dtypes and shapes; and where open sizes are found."""
        if self._takes is not None:
            raise UnimplementedError(
                f"export: {self.name} takes elements of an iterator. Give it the elements as "
                "arguments."
            )
        tensors = [x for x in self._arguments if x._array is not self.graph.sizes]
        return [[x.dtype.name, list(x.shape)] for x in tensors], list(getattr(self, "_places", []))

    def differentiable(self) -> tuple[dict[int, list[int]], dict[int, int]]:
        """The keys of results with their numbers, and of inputs of the program with theirs."""
        seeds: dict[int, list[int]] = {}
        for number, key in enumerate(map(self._flowing, self.targets)):
            if key is not None:
                seeds.setdefault(key, []).append(number)
        sources = {}
        for key, argument, variable in self._sources:
            if argument is not None:
                sources[key] = argument
            elif variable is not None:
                sources[key] = len(self._arguments) + variable
        return seeds, sources

    def described_result(self, write: Callable[[Any, Any], Any]) -> Any:
        """The structure of the results, as `write(structure, leaf)` gives it."""
        constants = iter(self._constants)

        def leaf(mark: Any) -> Any:
            if mark is None:
                return None
            if not isinstance(mark, _Leaf):
                raise UnimplementedError(
                    f"export: {self.name} returns a value of type {mark.spec.value_type.__name__}. "
                    "Return the tensors that it is made of."
                )
            constant = next(constants)
            if constant is None:
                return {"tensor": True}
            return {"constant": constant.numpy().tolist(), "dtype": constant.dtype.name}

        return write(self._result, leaf)

    def compiler_ir(
        self, stage: str = "hlo", device_name: str | None = None, platform_name: str | None = None
    ) -> str:
        """The program as a text: see `Function.experimental_get_compiler_ir`."""
        inputs, cut = self.program.inputs, self.program.cut()
        specs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]  # type: ignore[no-untyped-call]
        with jax.enable_x64(True):
            lowered: Any = jax.jit(lambda *arrays: cut.run(inputs, arrays)).lower(*specs)
            if stage in ("stablehlo", "hlo"):
                return str(lowered.as_text(dialect=stage))
            if stage == "optimized_hlo":
                return str(lowered.compile().as_text())
        raise ValueError(
            f"experimental_get_compiler_ir: `stage` must be 'stablehlo', 'hlo' or 'optimized_hlo', "
            f"not {stage!r}."
        )

    def memory(self) -> ProgramMemory:
        """What the program takes of memory: see `Function.memory`."""
        if isinstance(self._compiled, Executable):
            return late.memory_of_program(self.name, self._compiled.footprint)  # type: ignore[no-any-return]
        layout = self._layout
        if not all([is_static(x.shape) for x in layout.inputs]) or self._checked.cut.counted:
            raise UnimplementedError(
                f"memory: {self.name} is compiled anew for each size that is open in it. Ask for "
                "it with tensors, or TensorSpecs in which all sizes are known."
            )
        return late.memory_of_program(self.name, footprint(self._program, layout.inputs))  # type: ignore[no-any-return]

    def captured_tensors(self) -> list[Tensor]:
        """The tensors outside that the results depend on and that are no arguments."""
        return [
            self.graph.tensors[key]
            for key, argument, variable in self._sources
            if argument is None and variable is None
        ]

    @property
    def structured_outputs(self) -> Any:
        """The results, as TensorSpecs."""
        computed = iter([TensorSpec.from_tensor(Tensor(y)) for y in self.program.outputs])
        every = [next(computed) if y is None else TensorSpec(y.shape, y.dtype)
                 for y in self._constants]  # fmt: skip
        return _rebuild(self._result, iter(every), as_specs=True)

    def __repr__(self) -> str:
        tensors = [x for x in self._arguments if x._array is not self.graph.sizes]
        arguments = ", ".join(f"{x.dtype.name}{list(x.shape)}" for x in tensors)
        return f"<ConcreteFunction {self.name}({arguments})>"


class CalledProgram(JointOp):
    """A call of a program, as witnesses are told of it."""

    called: ConcreteFunction


class OpenFunction(ConcreteFunction):
    """A ConcreteFunction in which sizes are open; its last argument is an array of these sizes.

    That array has no elements. A program with open sizes learns them from the shapes of what it is
    given: so they are known even where no other argument has them, as in the derivative of a sum.
    """

    def __init__(
        self,
        graph: Graph,
        leaves: list[Any],
        symbols: list[Any],
        result: Flat,
        places: dict[Any, tuple[int, int]],
    ) -> None:
        self._places = list(places.values())  # where the sizes are found: arguments and axes
        self._wanted = [
            [(axis, list(places).index(n)) for axis, n in enumerate(_shape(x)) if n in places]
            for x in symbols[:-1]
        ]
        super().__init__(graph, leaves, symbols, result)

    def call(self, leaves: list[Any]) -> Any:
        sizes = [leaves[i]._array.shape[axis] for i, axis in self._places]
        for leaf, wanted in zip(leaves, self._wanted, strict=True):
            if any([leaf._array.shape[axis] != sizes[n] for axis, n in wanted]):
                raise SizesNeeded("sizes that were equal differ", only_now=True)
        if 0 in sizes:
            raise SizesNeeded("a size is 0, which JAX takes for impossible", only_now=True)
        return super().call([*leaves, Tensor(np.empty((*sizes, 0), np.bool_))])

    def inputs_outside(self) -> tuple[list[Tensor], list[Variable], int]:
        raise UnimplementedError(
            f"export: sizes of the arguments of {self.name} are open. Give the export TensorSpecs "
            "in which all sizes are known."
        )


def _shape(symbol: Any) -> tuple[Any, ...]:
    """The sizes of an argument in a trace; () if it is no tensor."""
    return symbol._array.shape if isinstance(symbol, Tensor) else ()


class BoundTrace(Traced, Drawn):
    """What `get_concrete_function` gives: a trace, called with the tensors of its signature."""

    __module__ = Traced.__module__  # a concrete function, wherever these are said to be from

    def __init__(
        self,
        concrete: ConcreteFunction,
        arguments: list[tuple[str, Any]],
        python: Callable[[Iterator[Any]], Any],
    ) -> None:
        self._concrete = concrete
        self._arguments = arguments
        self._python = python  # runs the Python function, on these leaves of the arguments
        self.name = concrete.name

    @property
    def graph(self) -> Graph:
        return self._concrete.graph

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self._concrete.graph.variables.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if v.trainable)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, TensorSpecs for the tensors among them, by position and by keyword."""
        return tuple([_specs_in(value, name) for name, value in self._arguments]), {}

    @property
    def inputs(self) -> list[Any]:
        """The tensors among the arguments, then those that are captured, as TensorSpecs."""
        (arguments, _) = self.structured_input_signature
        specs = nest.flatten(list(arguments), expand_composites=True)
        tensors = [x for x in specs if isinstance(x, TensorSpec)]
        return tensors + [TensorSpec(x.shape, x.dtype, x.name) for x in self.captured_inputs]

    @property
    def captured_inputs(self) -> list[Any]:
        """What it uses without being given it: variables, and tensors by closure."""
        return [*self.variables, *self._concrete.captured_tensors()]

    @property
    def structured_outputs(self) -> Any:
        """The results, as TensorSpecs; None in a shape is a size that is open."""
        return self._concrete.structured_outputs

    @property
    def outputs(self) -> list[Any]:
        """The tensors among the results, as TensorSpecs."""
        found = nest.flatten(self.structured_outputs, expand_composites=True)
        return [x for x in found if x is not None]

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results, nested as they are."""
        return nest.map_structure(lambda x: None if x is None else x.shape, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results, nested as they are."""
        return nest.map_structure(lambda x: None if x is None else x.dtype, self.structured_outputs)

    def ops(self) -> list[tuple[str, list[Any]]]:
        """The recorded ops in order: their names, and the tracers of their outputs."""
        tensors = self.graph.tensors
        return [
            (record.op.name, [tensors[key]._array for key in record.output_keys])
            for record in named(self._concrete.program.records)
        ]

    def values_of(self, arrays: list[Any], tensors: list[Tensor]) -> list[Any]:
        """The values that arrays of the graph have in a call with these tensors."""
        program = self._concrete.program
        values = [x._array for x in tensors] + [v._cell.read()._array for v in self.variables]
        return program.with_outputs(arrays).run(values)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """What it takes and gives, as a text."""
        given = [(name, _specs_in(value, None)) for name, value in self._arguments]
        if not verbose:
            shown = ", ".join(f"{name}: {spec!r}" for name, spec in given)
            return f"({shown}) -> {self.structured_outputs!r}"
        lines = ["Input Parameters:", *[f"  {name}: {spec!r}" for name, spec in given]]
        lines += ["Output Type:", f"  {self.structured_outputs!r}"]
        captured = [f"  {v.name}: {v.dtype.name}{list(v.shape)}" for v in self.variables]
        return "\n".join([*lines, *(["Captures:", *captured] if captured else [])])

    def memory(self) -> ProgramMemory:
        """What the program takes of memory, and which lines hold its peak."""
        return self._concrete.memory()

    @property
    def trace(self) -> ConcreteFunction:
        """The trace with its program; an error if no one trace serves all sizes."""
        trace = getattr(self._concrete, "with_open_sizes", self._concrete)
        if trace is None:
            raise UnimplementedError(
                f"export: {self.name} cannot be compiled for sizes that are not known. Give it "
                "TensorSpecs in which all sizes are known."
            )
        return trace

    @property
    def named_arguments(self) -> list[tuple[str, Any]]:
        """The names of the arguments, and what they are, TensorSpecs for tensors."""
        return [(name, _specs_in(value, None)) for name, value in self._arguments]

    def export(self) -> ExportedFunction:
        """The trace without its Python, to be saved to a file and served from there."""
        from .export import export

        return export(self._concrete)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in dict(self._arguments)]
        if unknown or len(args) > len(self._arguments):
            names = ", ".join(name for name, _ in self._arguments)
            raise TypeError(
                f"{self.name}: this trace takes {names}, and got {len(args)} arguments and "
                f"{', '.join(unknown) or 'no unknown name'}."
            )
        others = self._arguments[len(args) :]
        given = [*args, *[kwargs.get(name, value) for name, value in others]]
        leaves: list[Any] = []
        for (name, value), argument in zip(self._arguments, given, strict=True):
            if isinstance(argument, TypeSpec):
                raise TypeError(f"{self.name}: the argument `{name}` is missing.")
            if isinstance(value, (Tensor, TensorSpec, Open)):
                argument = as_tensor(argument, op=self.name)
            if not fits(describe(argument, leaves), describe(value, [])):
                raise TypeError(
                    f"{self.name}: this trace is for `{name}` = {value!r:.100}, and got "
                    f"{argument!r:.100}."
                )
        if current_graph() is None:
            with suppress(BranchNeeded):
                return self._concrete.call(leaves)
        elif self._concrete.can_be_inside and self._concrete.is_closed:
            return self._concrete.call_inside(leaves)
        return self._python(iter(leaves))  # or as a part of the function that is being traced

    def __repr__(self) -> str:
        found = nest.flatten([*self.structured_input_signature[0]], expand_composites=True)
        specs = [x for x in found if isinstance(x, TensorSpec)]
        shown = ", ".join(f"{x.dtype.name}{list(x.shape) if x.shape else '[...]'}" for x in specs)
        return f"<ConcreteFunction {self.name}({shown})>"


def specs_of_arguments(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments, TensorSpecs for tensors; None if one is an object, not to keep it alive."""
    specs = nest.map_structure(lambda value: _specs_in(value, None), args)
    plain = (TypeSpec, int, float, bool, complex, str, bytes, type(None))
    return specs if all([isinstance(leaf, plain) for leaf in nest.flatten(specs)]) else None


def _specs_in(value: Any, name: str | None) -> Any:
    """An argument with TensorSpecs in place of its tensors."""

    def spec(leaf: Any) -> Any:
        if isinstance(leaf, Open):
            return TensorSpec(leaf.sizes, leaf.tensor.dtype, name)
        if isinstance(leaf, (TensorSpec, Tensor)):
            given = leaf.name if isinstance(leaf, TensorSpec) else None
            return TensorSpec(leaf.shape, leaf.dtype, given or name)
        return leaf._type_spec if isinstance(leaf, CompositeTensor) else leaf

    return nest.map_structure(spec, value)


def _is_computed(y: Tensor, graph: Graph) -> bool:
    """Whether a result depends on the arguments, or on tensors that tapes may watch."""
    return isinstance(y._array, Tracer) or (is_inexact(y) and y._key in graph.tracked)


class _Leaf:
    """In a structure of results: the place of a tensor."""


class _Composite:
    """In a structure of results: the place of a composite, with those of its tensors."""

    def __init__(self, spec: TypeSpec, parts: Any) -> None:
        self.spec = spec
        self.parts = parts
        self._only_tensors = all(type(mark) is _Leaf for mark in nest.flatten(parts))

    def value(self, tensors: Iterator[Any]) -> Any:
        # Without a look at each mark: an Optional with two metrics takes 4 µs, and 10 with it.
        pack = nest.pack if self._only_tensors else _rebuild
        return self.spec._from_components(pack(self.parts, tensors))


class Flat(NamedTuple):
    """What a function returned: its structure, and its tensors."""

    structure: Any
    tensors: list[Tensor]


def flattened(result: Any, graph: Graph) -> Flat:
    """What the Python function of a graph returned; tensors of the outside as the graph has them.

    (So a constant that it returns is held by nobody, and the graph can tell.)
    """
    structure, tensors = _flat(result, graph.name)
    return Flat(structure, [graph.kept(x) for x in tensors])


def _flat(result: Any, name: str) -> Flat:
    tensors: list[Tensor] = []

    def leaf(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, CompositeTensor):
            spec = value._type_spec
            parts = spec._to_components(value)
            if any(type(part) is SizeTensor for part in nest.flatten(parts)):
                raise SizesNeeded(f"{name} returns a {type(value).__name__} of an open size")
            return _Composite(spec, marks(parts))
        try:
            tensors.append(as_tensor(value, op=name))
        except (TypeError, ValueError) as error:
            if isinstance(error, Error):
                raise
            raise TypeError(
                f"@function: {name} returned {value!r:.100} of type {type(value).__name__}. A "
                "function that is traced returns tensors, None, and nests of them."
            ) from None
        return _Leaf()

    def marks(structure: Any) -> Any:
        return nest.map_structure(leaf, structure)

    return Flat(marks(result), tensors)


def as_results(result: Any, name: str) -> Any:
    """What a Python function returned, as a function returns it: tensors, None, nests of them."""
    structure, tensors = _flat(result, name)
    return _rebuild(structure, iter(tensors))


def _rebuild(structure: Any, tensors: Iterator[Any], as_specs: bool = False) -> Any:
    """The structure, with tensors in its places; or with their specs, those of composites too."""

    def place(mark: Any) -> Any:
        if isinstance(mark, _Leaf):
            return next(tensors)
        if not isinstance(mark, _Composite):
            return mark
        if not as_specs:
            return mark.value(tensors)
        _rebuild(mark.parts, tensors, as_specs)  # takes its own
        return mark.spec

    return nest.map_structure(place, structure) if nest.is_nested(structure) else place(structure)
