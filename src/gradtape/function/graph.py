"""Graph: the ops of one traced Python call; Program: a stretch of it that can be run.

A graph is a trace of JAX that stays open. The values of tensors are its tracers, and the ops on
them are recorded as on any tape. So a derivative can be traced when it is asked for, as a
continuation of the same graph: the rules find the tensors that the forward pass saved, whether a
record holds them or the closure of a custom gradient. What a later stretch uses of an earlier one
are its residuals; the program of the earlier stretch returns them.

This module and `nodes.py` know how JAX traces. (Beside them only `engines/_xla_products.py` looks
behind a tracer, to see how it was computed.)
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, NamedTuple

import jax
import numpy as np
from jax._src import source_info_util
from jax._src.interpreters.partial_eval import DynamicJaxprTrace
from jax.core import ShapedArray, Tracer
from jax.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    UnexpectedTracerError,
)
from jax.export import export, symbolic_shape
from jax.extend.core import Literal, Primitive, jaxprs_in_params, set_current_trace

from ..core import cotangent, dtypes
from ..core.backward import backward
from ..core.cotangent import IndexedSlices
from ..core.dispatch import heard_by, make_record, recorders
from ..core.errors import SymbolicTensorError
from ..core.op import Op
from ..core.tensor import Tensor, new_key
from ..core.tracing import current_graph, traced_into, tracing
from ..tape.control import EAGER, forms
from ..tape.variable import Variable
from .signature import Open

node_p = Primitive("control_flow")
"""Stands in a graph for control flow, whose equations are written when the program is."""
node_p.multiple_results = True


class Mark(NamedTuple):
    """A place in a graph."""

    equations: int
    records: int


class Graph:
    """The ops of a Python call, traced once: equations of JAX, and records as on a tape."""

    records = None  # to the dispatcher an observer: it is handed the tensors of each op
    watches_variables = True

    def __init__(self, name: str, outer: Graph | None = None) -> None:
        self.name = name
        self.outer = outer
        self.trace = DynamicJaxprTrace(None)
        self.steps: list[Any] = []  # the records
        self.tracked: set[int | None] = set()
        self.tensors: dict[int, Tensor] = {}  # by key: those that records mention
        self.made: set[int] = set()  # the keys of inputs and of results of records
        self.variables: dict[int, Variable] = {}  # by key, in the order of their first read
        self.read_as: dict[int, Tensor] = {}  # the value of a variable when the graph begins
        self.values: dict[int, Tensor] = {}  # its value at the line that is being traced
        self.assigned: dict[int, Variable] = {}
        self.feeds: list[tuple[Any, Callable[[], Any]]] = []  # tracers, and what each call feeds
        self.messages: list[Any] = []  # what checks inside compiled code found wrong
        self.lock = RLock() if outer is None else outer.lock
        self.creates = True  # whether variables may be created
        self.created: list[Variable] = []
        self.round: Any = None  # the number of the round, if this is the body of a loop
        self._draws = 0
        self._give_key: Callable[[Callable[[], Any]], Any] = lambda make: make()
        self._streams: dict[int, Any] = {}
        self._source = source_info_util.current()
        if outer is not None:
            self.tracked |= outer.tracked
        for recorder in recorders():
            self.tracked |= recorder.tracked  # a tensor of the outside may be used by closure

    @contextmanager
    def running(self) -> Iterator[None]:
        """A block whose ops are added to this graph, unseen by the tapes outside."""
        from .control import COMPILED

        token = forms.set(COMPILED)
        try:
            with (
                self.lock,
                heard_by([self]),
                traced_into(self),
                jax.enable_x64(True),
                set_current_trace(self.trace),
            ):
                yield
        finally:
            forms.reset(token)

    @contextmanager
    def left(self) -> Iterator[None]:
        """A block inside `running` that computes at once, as outside of the graph."""
        token = forms.set(EAGER)
        try:
            with traced_into(None), jax.core.eval_context():
                yield
        finally:
            forms.reset(token)

    def mark(self) -> Mark:
        return Mark(len(self.trace.frame.tracing_eqns), len(self.steps))

    # As a recorder

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        record = make_record(op, inputs, outputs, params, self.tracked)
        if record is None:
            return
        self.steps.append(record)
        for x in inputs:
            if x._key is not None:
                self.tensors.setdefault(x._key, x)
        self.note(outputs if type(outputs) is tuple else (outputs,))

    def note(self, outputs: tuple[Tensor, ...]) -> None:
        """Know these tensors as results of a record."""
        for y in outputs:
            assert y._key is not None
            self.made.add(y._key)
            self.tensors[y._key] = y

    def watch_variable(self, variable: Variable) -> None:
        self.read(variable)

    # Inputs

    def input(self, like: Any) -> Any:
        """A new input of the shape and dtype of `like`, as a tracer."""
        return self.trace.new_arg(ShapedArray(like.shape, like.dtype), self._source)

    def tensor(self, like: Any) -> Tensor:
        """A new input as a tensor that records know."""
        x = Tensor(self.input(like), new_key())
        assert x._key is not None
        self.made.add(x._key)
        self.tensors[x._key] = x
        if x._array.dtype in dtypes.INEXACT:
            self.tracked.add(x._key)
        return x

    def feed(self, like: Any, supply: Callable[[], Any]) -> Any:
        """A new input that every call of the function gets from `supply()`."""
        tracer = self.input(like)
        self.feeds.append((tracer, supply))
        return tracer

    # Control flow

    def add_node(self, node: Any, likes: list[Any]) -> list[Any]:
        """Put a node after the equations so far; the tracers of its outputs."""
        avals = [ShapedArray(tuple(x.shape), x.dtype) for x in likes]
        equation, tracers = self.trace.make_eqn([], avals, node_p, {"node": node}, frozenset())
        self.trace.frame.add_eqn(equation)
        node.equation = equation
        return list(tracers)

    def grow_node(self, node: Any, like: Any) -> Any:
        """One more output of a node of this graph, as a tracer."""
        variable = self.trace.frame.newvar(ShapedArray(tuple(like.shape), like.dtype))
        node.equation.outvars.append(variable)
        return self.trace.var_to_tracer(variable, self._source, node.equation)

    # What happens at every run

    @property
    def root(self) -> Graph:
        return self if self.outer is None else self.outer.root

    def at_run_time(self, action: Callable[..., None], *arrays: Any) -> None:
        """Call `action(*arrays)` with NumPy arrays each time that the program comes to this line.

        What it raises comes out of the call of the function, before any variable changes.
        """
        messages = self.root.messages

        def run(*values: Any) -> None:
            try:
                with traced_into(None):
                    action(*map(np.asarray, values))
            except Exception as error:
                messages.append(error)

        jax.debug.callback(run, *arrays, ordered=True)

    def raise_messages(self, outputs: Any) -> None:
        """Raise what a check inside the program found wrong, once the program has run."""
        jax.block_until_ready(outputs)
        jax.effects_barrier()
        messages = self.root.messages
        if messages:
            error = messages[0]
            messages.clear()
            raise error

    def next_key(self, stream: Any, fresh: Callable[[], Any]) -> Any:
        """A key for `jax.random`: another one for each draw, and at each call of the function.

        `stream` is what is drawn from; `fresh()` gives two random words of 32 bits from it, and is
        asked at each call. In a loop the number of the round goes in as well.
        """
        return self._give_key(lambda: self._new_key(stream, fresh))

    def _new_key(self, stream: Any, fresh: Callable[[], Any]) -> Any:
        number = self._draws = self._draws + 1
        if self.outer is None:
            if id(stream) not in self._streams:
                key = self.feed(np.zeros(2, np.uint32), fresh)
                self._streams[id(stream)] = key, stream  # keeps it alive, for its id
            key = self._streams[id(stream)][0]
        else:
            key = self.outer.next_key(stream, fresh)
        with set_current_trace(self.trace):  # of this graph, though a draw inside of it asks
            if self.round is not None:
                key = jax.random.fold_in(key, self.round)
            return jax.random.fold_in(key, number)

    @contextmanager
    def noting_keys(self, keys: list[Any]) -> Iterator[None]:
        """A block whose keys, those of its draws and of graphs inside, are added to `keys`."""
        around = self._give_key

        def note(make: Callable[[], Any]) -> Any:
            keys.append(around(make))
            return keys[-1]

        self._give_key = note
        try:
            yield
        finally:
            self._give_key = around

    @contextmanager
    def repeating_keys(self, keys: list[Any]) -> Iterator[None]:
        """A block that gets these keys again, in their order: it draws the same numbers."""
        around, left = self._give_key, iter(keys)

        def give(make: Callable[[], Any]) -> Any:
            key = next(left, None)
            if key is None:
                raise RuntimeError(
                    "recompute_grad: the function draws more random numbers when it runs again "
                    "for its gradient than it did at first. Both runs must draw the same."
                )
            return key

        self._give_key = give
        try:
            yield
        finally:
            self._give_key = around

    # Variables

    def read(self, variable: Variable) -> Tensor:
        """The value of `variable` at this line."""
        tensor = self.values.get(variable._key)
        if tensor is None:
            like = variable._array_outside()
            if self.outer is not None:
                like = self.outer.read(variable)._array
            tensor = Tensor(self.input(like), variable._key)
            self.variables[variable._key] = variable
            self.values[variable._key] = self.read_as[variable._key] = tensor
            self.tensors.setdefault(variable._key, tensor)
            if like.dtype in dtypes.INEXACT:
                self.tracked.add(variable._key)
        return tensor

    def write(self, variable: Variable, array: Any) -> None:
        """Give `variable` another value from this line on."""
        self.read(variable)
        self.values[variable._key] = Tensor(array, variable._key)
        self.assigned[variable._key] = variable

    def create(self, variable: Variable, array: Any) -> Any:
        """The initial value of a variable that is created at this line."""
        root = self.root
        if not root.creates:
            raise ValueError(
                f"@function: {root.name} creates variables ({variable.name!r}) when it is called "
                "again. A function may create variables on its first call only: keep them, e.g. "
                "`if self.v is None: self.v = tf.Variable(...)`, or create them outside."
            )
        root.created.append(variable)
        if not isinstance(array, Tracer):
            return array
        return root.value_now(array, variable.name)

    def value_now(self, array: Any, name: str) -> Any:
        """The value of a tracer that depends on no argument: an initial value, computed at once."""
        cut = Cut(self, Mark(0, 0), self.mark(), [array])
        supplied = {id(tracer): supply for tracer, supply in self.feeds}
        read = {id(t._array): self.variables[key] for key, t in self.read_as.items()}
        values = []
        for tracer in cut.free:
            if id(tracer) in supplied:
                values.append(supplied[id(tracer)]())
            elif id(tracer) in read:
                values.append(read[id(tracer)]._array_outside())
            else:
                raise ValueError(
                    f"@function: the initial value of the variable {name!r} depends on an argument "
                    f"of {self.name}, which has no value while it is traced. Create the variable "
                    "outside, or from values that do not depend on the arguments."
                )
        with self.left():
            return np.array(jax.jit(lambda *inputs: cut.run(cut.free, inputs))(*values)[0])


class Cut:
    """The equations between two marks of a graph that `outputs` need, and what they need of others.

    `free` are the tracers of the graph that are made before `start`, inputs included; `foreign`
    those of graphs around it.
    """

    def __init__(self, graph: Graph, start: Mark, end: Mark, outputs: list[Any]) -> None:
        self.trace = graph.trace
        self.outputs = outputs
        self.steps: list[tuple[Any, list[bool]]] = []
        self.foreign: dict[int, Any] = {}
        needed: dict[Any, Any] = {}
        for array in outputs:
            self._need(array, needed)
        for equation in reversed(self.trace.frame.tracing_eqns[start.equations : end.equations]):
            used = [v in needed for v in equation.outvars]
            node = equation.params.get("node") if equation.primitive is node_p else None
            effects = equation.effects if node is None else node.effects
            if not any(used) and not effects:
                continue
            self.steps.append((equation, used))
            for v in equation.outvars:
                needed.pop(v, None)
            for array in equation.in_tracers if node is None else node.needs(used):
                self._need(array, needed)
        self.steps.reverse()
        self.free = list(needed.values())
        self.effects = any(
            (e.params["node"].effects if e.primitive is node_p else e.effects)
            for e, _ in self.steps
        )

    @property
    def is_wide(self) -> bool:
        """Whether a number of 64 bits may occur, for which JAX needs a flag."""
        arrays = [*self.outputs, *self.free, *self.trace.frame.constvar_to_val.values()]
        avals = [v.aval for equation, _ in self.steps for v in equation.outvars]
        return (
            any(e.primitive is node_p for e, _ in self.steps)
            or any(_is_wide(x) for x in [*arrays, *avals] if hasattr(x, "dtype"))
            or any(_has_wide(jaxpr) for e, _ in self.steps for jaxpr in jaxprs_in_params(e.params))
        )

    def _need(self, array: Any, needed: dict[Any, Any]) -> None:
        if not isinstance(array, Tracer):
            return
        if array._trace is not self.trace:
            self.foreign[id(array)] = array
        elif not isinstance(array.val, Literal):
            constant = self.trace.frame.constvar_to_val.get(array.val)
            if constant is None:
                needed.setdefault(array.val, array)
            else:
                self._need(constant, needed)

    def run(
        self, inputs: list[Any], values: Any, outer: Callable[[Any], Any] | None = None
    ) -> list[Any]:
        """The values of the outputs; `outer` looks up what belongs to the graphs around."""
        known = {tracer.val: value for tracer, value in zip(inputs, values, strict=True)}
        constants = self.trace.frame.constvar_to_val

        def read(array: Any) -> Any:
            if not isinstance(array, Tracer):
                return array
            if array._trace is not self.trace:
                if outer is None:
                    raise leaked(array)
                return outer(array)
            if isinstance(array.val, Literal):
                return array.val.val
            if array.val in known:
                return known[array.val]
            return read(constants[array.val])

        for equation, used in self.steps:
            if equation.primitive is node_p:
                results = equation.params["node"].emit(read, used)
            else:
                params = equation.primitive.get_bind_params(equation.params)
                with equation.ctx.manager:
                    results = equation.primitive.bind(*map(read, equation.in_tracers), **params)
                if not equation.primitive.multiple_results:
                    results = [results]
            known.update(zip(equation.outvars, results, strict=False))
        return [read(array) for array in self.outputs]


_WIDE = {np.dtype(name) for name in ("float64", "int64", "uint64", "complex128")}


def _is_wide(x: Any) -> bool:
    return x.dtype in _WIDE


def _has_wide(jaxpr: Any) -> bool:
    variables = [*jaxpr.constvars, *jaxpr.invars]
    variables += [v for equation in jaxpr.eqns for v in (*equation.invars, *equation.outvars)]
    return any(_is_wide(v.aval) for v in variables if hasattr(v.aval, "dtype")) or any(
        _has_wide(inner) for e in jaxpr.eqns for inner in jaxprs_in_params(e.params)
    )


def likes(leaves: list[Any]) -> list[Any]:
    """Something of the shape and dtype of each argument; a size that is left open gets a name."""
    count = sum([leaf.sizes.count(None) for leaf in leaves if type(leaf) is Open])
    sizes = iter(symbolic_shape(", ".join([f"size_{i}" for i in range(count)])))
    return [
        None
        if isinstance(leaf, Variable)
        else ShapedArray(
            tuple([next(sizes) if n is None else n for n in leaf.sizes]), leaf.tensor._array.dtype
        )
        if type(leaf) is Open
        else leaf._array
        for leaf in leaves
    ]


def jitted(function: Callable[..., Any], inputs: list[Any], donated: Any = ()) -> Any:
    """`function` of arrays like `inputs`, compiled. With open sizes, for any of these."""
    if all(isinstance(n, int) for t in inputs for n in t.shape):
        return jax.jit(function, donate_argnums=donated)
    with jax.enable_x64(True):
        specs = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in inputs]
        return jax.jit(export(jax.jit(function))(*specs).call)


class Pullback(NamedTuple):
    """The derivative of a program: from residuals and cotangents to cotangents of its sources."""

    program: Program
    residuals: list[Any]  # tracers
    cotangents: list[Tensor]
    results: list[Any]  # for each source a tensor, an IndexedSlices or None


class Program:
    """A stretch of a graph, from inputs to outputs."""

    def __init__(
        self, graph: Graph, inputs: list[Any], outputs: list[Any], start: Mark, end: Mark
    ) -> None:
        self.graph = graph
        self.inputs = inputs  # tracers
        self.outputs = outputs  # arrays: tracers, or constants
        self.start = start
        self.end = end
        self._pullbacks: dict[Any, Pullback] = {}
        self._cuts: dict[Any, Cut] = {}
        self.compiled: dict[Any, Callable[..., Any]] = {}
        self._sources: list[int] | None = None

    @property
    def records(self) -> list[Any]:
        return self.graph.steps[self.start.records : self.end.records]

    def sources(self, targets: Any) -> list[int]:
        """The keys that records use but did not make, and by which `targets` can be differentiated.

        `targets` are the keys of outputs: one that is itself a source counts.
        """
        if self._sources is None:
            made: set[int] = set()
            used: dict[int, None] = {}
            for _, inputs, outputs, _, _ in self.records:
                used.update((key, None) for _, key in inputs if key not in made)
                made.update((outputs,) if type(outputs) is int else outputs)
            self._sources = list(used)
            self._made = made
        passed = [k for k in targets if k is not None and k not in self._made]
        return list(dict.fromkeys([*self._sources, *passed]))

    def pullback(
        self, seeds: tuple[int, ...], wanted: tuple[int, ...], dense: bool = False
    ) -> Pullback:
        """The derivative by the keys `wanted`, of the tensors with the keys `seeds`."""
        key = (seeds, wanted)
        if key not in self._pullbacks:
            with self.graph.lock:
                self._pullbacks[key] = self._pull(seeds, wanted, dense)
        return self._pullbacks[key]

    def _pull(self, seeds: tuple[int, ...], wanted: tuple[int, ...], dense: bool) -> Pullback:
        graph = self.graph
        with graph.running():
            cotangents = [graph.tensor(graph.tensors[seed]._array) for seed in seeds]
            start = graph.mark()
            pairs = list(zip(seeds, cotangents, strict=True))
            found = backward(reversed(self.records), pairs, wanted)
            if dense:
                found = [None if g is None else cotangent.dense(g) for g in found]
            end = graph.mark()
        flat = [x._array for g in found for x in parts_of(g)]
        given = {id(c._array) for c in cotangents}
        residuals = [t for t in Cut(graph, start, end, flat).free if id(t) not in given]
        inputs = [*residuals, *[c._array for c in cotangents]]
        return Pullback(Program(graph, inputs, flat, start, end), residuals, cotangents, found)

    def cut(self, also: tuple[Any, ...] = (), used: tuple[bool, ...] | None = None) -> Cut:
        """The equations for the outputs (those that are `used`), and for some tracers `also`."""
        key = (tuple(map(id, also)), used)
        if key not in self._cuts:
            outputs = [y for i, y in enumerate(self.outputs) if used is None or used[i]]
            end = self.end
            self._cuts[key] = Cut(self.graph, self.start, end, [*outputs, *also])
        return self._cuts[key]


def parts_of(g: Any) -> list[Tensor]:
    """The tensors of which a cotangent consists."""
    if g is None:
        return []
    return [g.values, g.indices] if isinstance(g, IndexedSlices) else [g]


def with_parts(g: Any, parts: Iterator[Tensor]) -> Any:
    """The cotangent `g` with other tensors in its place."""
    if g is None:
        return None
    if isinstance(g, IndexedSlices):
        return IndexedSlices(next(parts), next(parts), g.dense_shape)
    return next(parts)


def user_line(tracer: Any) -> str:
    """The line of the user's code that made a tracer."""
    frame = source_info_util.user_frame(tracer._line_info.traceback)
    return f"{frame.file_name}, line {frame.start_line}" if frame is not None else "unknown"


def leaked(tracer: Any) -> SymbolicTensorError:
    """The error of a tensor that is used outside of the function that made it."""
    return SymbolicTensorError(_explain(tracer))


def leaked_among(arrays: list[Any]) -> SymbolicTensorError:
    """The same, of the first such tensor among the arguments of a program."""
    return next(leaked(array) for array in arrays if isinstance(array, Tracer))


@contextmanager
def values_explained() -> Iterator[None]:
    """A block in which the errors of JAX about missing values become ours, with the user's line."""
    try:
        yield
    except (TracerArrayConversionError, ConcretizationTypeError, UnexpectedTracerError) as error:
        # (The error of an integer that has no value is a ConcretizationTypeError too.)
        raise SymbolicTensorError(
            f"{_line_of(error)}: an op needs the values of a tensor while the function is traced, "
            "when there are none yet: the shape of its result, or a number that it takes from "
            "Python, depends on them. In a compiled program shapes are fixed. Compute with masks "
            "(tf.where with three arguments), pass the number as a Python value, or do this part "
            "outside of @function."
        ) from error


def _line_of(error: Exception) -> str:
    """The last line of the user's own code on the way to an error."""
    inside = __file__.rsplit("/function/", 1)[0]
    lines = [
        f"{frame.filename}, line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(inside) and "/site-packages/" not in frame.filename
    ]
    return lines[-1] if lines else "@function"


def _explain(tracer: Any) -> str:
    graph = current_graph()
    while graph is not None and graph.trace is not getattr(tracer, "_trace", None):
        graph = graph.outer
    line = user_line(tracer)
    if graph is None:
        return (
            "A tensor of a function that was traced is out of scope: it was made at "
            f"{line}, and has a value inside that function only. Return it from the function; do "
            "not keep it in an attribute, a list or a global."
        )
    return (
        f"(Made at {line}.) Inside a function use tf.print to see values, tf.cond and "
        "tf.while_loop, or Python's `if` and `while` with autograph=True, to decide by them, or "
        "tf.config.run_functions_eagerly(True) to debug."
    )


tracing.explain = _explain
source_info_util.register_exclusion(__file__.rsplit("/function/", 1)[0])
