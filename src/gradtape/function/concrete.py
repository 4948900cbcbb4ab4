"""ConcreteFunction: one trace of a Python function, compiled, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from sys import getrefcount
from threading import RLock
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.errors import UnexpectedTracerError

from ..core import dtypes, nest
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.dispatch import recorders
from ..core.errors import Error, UnimplementedError
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from ..tape.type_specs import TensorSpec
from ..tape.variable import Variable, held_lock
from .calls import CompiledCall
from .graph import Cut, Graph, Mark, Program, jitted, leaked_among
from .signature import Open, describe


effects_lock = RLock()
"""Held while a program with effects assigns variables, in place of `held_lock`: the Python code that
it calls, in a thread of XLA, may read and assign variables itself."""


class ConcreteFunction:
    """A Python function for one signature of its arguments: a program of XLA.

    Its inputs are the tensors among the arguments, the variables it reads, and the random state;
    its outputs what the function returns and the variables it assigned.
    """

    def __init__(self, graph: Graph, leaves: list[Any], symbols: list[Any], result: Any) -> None:
        self.name = graph.name
        self.graph = graph
        self._positions = [i for i, leaf in enumerate(leaves) if not isinstance(leaf, Variable)]
        self._only_tensors = len(self._positions) == len(leaves)
        self._arguments = [symbols[i] for i in self._positions]
        with graph.running():
            self._result, outputs = _flattened(result, graph.name)
        self._variables = list(graph.variables.values())
        self._assigned = [i for i, key in enumerate(graph.variables) if key in graph.assigned]
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
        # What no call decides is no output of the program.
        self._constants = [None if _is_computed(y, graph) else y for y in outputs]
        computed = [y for y, constant in zip(outputs, self._constants, strict=True)
                    if constant is None]  # fmt: skip
        self._all_computed = all(y is None for y in self._constants)
        self._is_flat = type(self._result) in (tuple, list) and all(
            type(mark) is _Leaf for mark in self._result
        )
        self._targets = [y._key for y in computed]
        for y in outputs:
            if y._key is not None:
                graph.tensors.setdefault(y._key, y)
        arrays = [y._array for y in computed]
        arrays += [graph.values[key]._array for key in graph.variables if key in graph.assigned]
        self.program = Program(graph, inputs, arrays, Mark(0, 0), graph.mark())
        self._compiled = self._compile(inputs)
        self._sources = self._find_sources()

    def _compile(self, inputs: list[Any]) -> Callable[..., Any]:
        cut = self.program.cut()
        self._has_effects = cut.effects
        self._lock = effects_lock if cut.effects else held_lock  # held by a call that assigns
        self._is_wide = cut.is_wide
        first = len(self._arguments)
        keep = cut.effects or self.resizable  # then no program writes into an array
        self._given_up = frozenset([] if keep else self._assigned)
        given_up = [first + i for i in sorted(self._given_up)]
        count = len(self._targets)

        def program(*arrays: Any) -> list[Any]:
            # JAX gives a donated array to the first output of its shape. Variables come first, in
            # the order of the inputs, so that each gets its own array back and none is copied.
            outputs = cut.run(inputs, arrays)
            return [*outputs[count:], *outputs[:count]]

        program.__name__ = program.__qualname__ = self.name
        return jitted(program, inputs, given_up)

    def _find_sources(self) -> list[tuple[int, int | None, int | None]]:
        """By what a call can be differentiated: key inside, number of argument or variable."""
        arguments = {x._key: i for i, x in enumerate(self._arguments)}
        variables = {key: i for i, key in enumerate(self.graph.variables)}
        return [
            (key, arguments.get(key), variables.get(key))
            for key in self.program.sources(self._targets)
        ]

    @property
    def is_outdated(self) -> bool:
        """Whether a variable has another shape than when it was traced."""
        return any(v._array_outside().shape != shape for v, shape in self.resizable)

    def call(self, leaves: list[Any]) -> Any:
        """The results for these tensors and variables, the leaves of the arguments."""
        tensors = leaves if self._only_tensors else [leaves[i] for i in self._positions]
        listening = recorders()
        if listening:
            for v in self._variables:
                if v.trainable:
                    for recorder in listening:
                        if recorder.watches_variables and v._key not in recorder.tracked:
                            recorder.watch_variable(v)
            sources = self._tracked_sources(tensors)
            if sources:
                return self._call_recorded(tensors, sources)
        if self._assigned:
            self._lock.acquire()
            try:
                outputs = self._run(tensors)
                with held_lock:
                    for i, array in zip(self._assigned, outputs, strict=False):
                        v = self._variables[i]
                        v._held = array  # eager code asks for it when it reads
                        v._tensor = None
            finally:
                self._lock.release()
        else:
            outputs = self._run(tensors)
        return self._packed([Tensor(np.asarray(y)) for y in outputs[len(self._assigned) :]])

    def _run(self, tensors: list[Tensor]) -> Any:
        # No Python for each variable on the usual way: 50 of them cost 3 µs, and 15 in a loop.
        held_lock.acquire()  # from here on no other program takes these arrays over
        try:
            held = [v._held for v in self._variables]
            if held and max(map(getrefcount, held)) > _ALONE:  # (None has very many references)
                held = [_passed(v, i in self._given_up) for i, v in enumerate(self._variables)]
        finally:
            held_lock.release()
        arrays = [*[x._array for x in tensors], *held]
        for supply in self._feeds:
            arrays.append(supply())
        try:
            if self._is_wide:
                with jax.enable_x64(True):
                    outputs = self._compiled(*arrays)
            else:  # without this flag JAX finds the program faster: 7 µs with 50 variables
                outputs = self._compiled(*arrays)
        except UnexpectedTracerError:
            raise leaked_among(arrays) from None
        if self._has_effects:
            self.graph.raise_messages(outputs)
        return outputs

    def _tracked_sources(self, tensors: list[Tensor]) -> dict[Any, Tensor]:
        """What tapes track of what the results depend on: the keys inside, and the tensors."""
        found = {}
        for key, argument, variable in self._sources:
            if argument is not None:
                x = tensors[argument]
            elif variable is not None:
                v = self._variables[variable]
                x = Tensor(v._array_outside(), v._key)
            else:
                x = self.graph.tensors[key]
            if x._key is not None:
                found[key] = x
        tracked = [r.tracked for r in recorders()]
        keys = {x._key for x in found.values()}
        return found if any(not t.isdisjoint(keys) for t in tracked) else {}

    def _call_recorded(self, tensors: list[Tensor], sources: dict[Any, Tensor]) -> Any:
        with self._lock if self._assigned else nullcontext():
            values = [x._array for x in [*tensors, *[v._now() for v in self._variables]]]
            values += [supply() for supply in self._feeds]
            call = CompiledCall(self.name, self.program, values, sources)
            outputs = call.run([*self._targets, *[None] * len(self._assigned)])
            with held_lock:
                for i, y in zip(self._assigned, outputs[len(self._targets) :], strict=True):
                    self._variables[i]._store_outside(y._array)
        return self._packed(outputs[: len(self._targets)])

    def _packed(self, outputs: list[Tensor]) -> Any:
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
        return _restored(result, every)

    # For those who look inside

    @property
    def assigned(self) -> list[int]:
        """The numbers of the variables that a call assigns."""
        return self._assigned

    def inputs_outside(self) -> tuple[list[Tensor], list[Variable], int]:
        """What the inputs of the program are: tensors, variables, and the number of random keys."""
        return self._arguments, self._variables, len(self._feeds)

    def described_result(self, packed: Callable[[Any, Any], Any]) -> Any:
        """The structure of the results, as `packed(structure, leaf)` writes it."""
        constants = iter(self._constants)

        def leaf(mark: Any) -> Any:
            if mark is None:
                return None
            if not isinstance(mark, _Leaf):
                raise UnimplementedError(
                    f"export: {self.name} returns an IndexedSlices. Return it dense: "
                    "tf.convert_to_tensor(slices)."
                )
            constant = next(constants)
            if constant is None:
                return {"tensor": True}
            return {"constant": constant.numpy().tolist(), "dtype": constant.dtype.name}

        return packed(self._result, leaf)

    @property
    def structured_outputs(self) -> Any:
        """The results, as TensorSpecs."""
        computed = iter([TensorSpec(t.shape, t.dtype) for t in self.program.outputs])
        every = [next(computed) if y is None else TensorSpec(y.shape, y.dtype)
                 for y in self._constants]  # fmt: skip
        return _restored(self._result, iter(every))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{x.dtype.name}{list(x.shape)}" for x in self._arguments)
        return f"<ConcreteFunction {self.name}({arguments})>"


class BoundTrace:
    """What `get_concrete_function` gives: a trace, called with the tensors of its signature."""

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
    def structured_outputs(self) -> Any:
        return self._concrete.structured_outputs

    def steps(self) -> list[tuple[str, list[Any]]]:
        """The recorded ops in order: their names, and the tracers of their outputs."""
        tensors = self.graph.tensors
        return [
            (op.name, [tensors[k]._array for k in ([keys] if type(keys) is int else keys)])
            for op, _, keys, _, _ in self.graph.steps[: self._concrete.program.end.records]
        ]

    def values_of(self, arrays: list[Any], tensors: list[Tensor]) -> list[Any]:
        """The values that arrays of the graph have in a call with these tensors."""
        program = self._concrete.program
        values = [x._array for x in tensors] + [v._now()._array for v in self.variables]
        cut = Cut(self.graph, program.start, program.end, arrays)
        with jax.enable_x64(True):
            found = jax.jit(lambda *inputs: cut.run(program.inputs, inputs))(*values)
        return [np.asarray(y) for y in found]

    def export(self) -> Any:
        """The trace without its Python, to be saved to a file and served from there."""
        from .export import export

        return export(self._concrete)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in dict(self._arguments)]
        if unknown or len(args) > len(self._arguments):
            raise TypeError(
                f"{self.name}: this trace takes {', '.join(n for n, _ in self._arguments)}, and got "
                f"{len(args)} arguments and {', '.join(unknown) or 'no unknown name'}."
            )
        given = list(args) + [
            kwargs.get(name, value) for name, value in self._arguments[len(args) :]
        ]
        wanted: list[Any] = []
        expected = [describe(value, wanted) for _, value in self._arguments]
        leaves: list[Any] = []
        for (name, value), argument, key in zip(self._arguments, given, expected, strict=True):
            if isinstance(argument, TensorSpec):
                raise TypeError(f"{self.name}: the argument `{name}` is missing.")
            if isinstance(value, (Tensor, TensorSpec, Open)):
                argument = as_tensor(argument, op=self.name)
            sizes = key[1] if isinstance(key, tuple) and len(key) == 2 else ()
            if isinstance(sizes, tuple) and None in sizes and len(sizes) == argument.ndim:
                pairs = zip(sizes, argument.shape, strict=True)
                if all(n is None or n == m for n, m in pairs):
                    argument = Open(argument, sizes)
            found = describe(argument, leaves)
            if found != key:
                raise TypeError(
                    f"{self.name}: this trace is for `{name}` = {value!r:.100}, and got "
                    f"{argument!r:.100}."
                )
        leaves = [leaf.tensor if isinstance(leaf, Open) else leaf for leaf in leaves]
        if current_graph() is not None:
            return self._python(iter(leaves))  # part of the function that is being traced
        return self._concrete.call(leaves)

    def __repr__(self) -> str:
        return repr(self._concrete)


def _passed(variable: Variable, given_up: bool) -> Any:
    """What a program is given of a variable.

    An array that is given up must outlive the call if someone else holds it: then a view of it.
    (XLA writes into an array that it is given for good, but never into memory of NumPy.) One that
    is only read goes as it is: 50 of them cost 80 µs more as views.
    """
    held = variable._held
    if held is None:
        array = variable._array_outside()
        if given_up or variable._passed != id(array):
            variable._passed = id(array)
            return array
        # Read a second time as it is: from now on JAX has it. (NumPy's cost 3 µs at every call.)
        with jax.enable_x64(True):
            held = variable._held = jax.device_put(array)
    return np.asarray(held) if given_up else held


def _references() -> int:
    """What `getrefcount` says in `_run` of an array that only its variable holds."""

    class Holder:
        _held = object()

    held = [v._held for v in [Holder()]]
    return max(map(getrefcount, held))


_ALONE = _references()


def _is_computed(y: Tensor, graph: Graph) -> bool:
    """Whether a result depends on the arguments, or on tensors that tapes may watch."""
    array = y._array
    return isinstance(array, Tracer) or (array.dtype in dtypes.INEXACT and y._key in graph.tracked)


class _Leaf:
    """In a structure of results: the place of a tensor."""


class _Slices:
    """In a structure of results: the place of an IndexedSlices."""

    def __init__(self, dense_shape: Any) -> None:
        self.dense_shape = dense_shape


def _flattened(result: Any, name: str) -> tuple[Any, list[Tensor]]:
    """The structure of what a function returned, and its tensors."""
    tensors: list[Tensor] = []

    def leaf(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, IndexedSlices):
            tensors.extend([value.values, value.indices])
            return _Slices(value.dense_shape)
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

    structure = leaf(result) if not nest.is_nested(result) else nest.map_structure(leaf, result)
    return structure, tensors


def _restored(structure: Any, tensors: Iterator[Tensor]) -> Any:
    def place(mark: Any) -> Any:
        if isinstance(mark, _Leaf):
            return next(tensors)
        if isinstance(mark, _Slices):
            return IndexedSlices(next(tensors), next(tensors), mark.dense_shape)
        return mark

    return nest.map_structure(place, structure)
