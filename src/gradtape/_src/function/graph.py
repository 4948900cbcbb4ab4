"""Graph: the ops of one traced Python call.

A graph is a trace that stays open. The values of tensors are its tracers, and the ops on them are
recorded as on any tape. So a derivative can be traced when it is asked for, as a continuation of
the same graph: the rules find the tensors that the forward pass saved, whether a record holds them
or the closure of a custom gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from threading import RLock
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dispatch import make_record
from ..core.engine import engine_of
from ..core.errors import DynamicSizeError
from ..core.op import Op, as_tuple
from ..core.recorder import Observer, heard_by, named, recorders
from ..core.sizes import BranchNeeded
from ..core.tensor import Tensor, is_inexact, is_symbolic, key_of, new_key, zeros_of
from ..core.tracing import current_graph, traced_into, tracing
from ..engines.xla.checks import not_finite
from ..engines.xla.keys import fold_in
from ..tape.control import EAGER, EagerForms, forms
from ..tape.scopes import outside_name_scopes
from ..tape.variable import Variable
from .capacity import Capacity, growing
from .cut import Cut, Mark, checks_speak
from .lines import Line, user_line, users_among
from .reruns import Reruns
from .streams import Takes
from .trace import (
    Node,
    Read,
    Trace,
    Var,
    as_symbol,
    eval_context,
    for_xla,
    is_tracer,
    jit,
    lines_of,
    out_of_memory,
    parts_of,
    var_of,
)


class Forms(EagerForms):
    """Control flow while a graph is traced: that of `control.py`, which every graph is given."""

    def at_once(self, name: str, function: Callable[[Any], list[Tensor]], elems: Any) -> Any:
        """What `function` gives for each element along axis 0, stacked; in no order."""
        raise NotImplementedError


class Captured(NamedTuple):
    """A tensor of the outside that has a value, and that an op of a graph used."""

    outside: ReferenceType[Tensor]
    twin: Tensor  # what the graph holds in its place: the same array, the same key


class Check(NamedTuple):
    """What must hold when a program runs, or its call raises.

    What `holds` says of an input that the checked values are all from, it says of these: a program
    that is given this input is spared the check if it holds there.
    """

    failed: Any  # a tracer, int32: 0 if it holds, else how often it does not
    line: str  # of the user
    source: Any = None  # the tracer of that input, if there is one
    holds: Callable[[Any], Any] | None = None


class _Reason(Node):
    """Calls Python where a check failed, to say why; in the programs whose checks speak."""

    def __init__(self, graph: Graph, failed: Any, say: Callable[..., None], arrays: Any) -> None:
        super().__init__()
        self._graph = graph
        self._failed = failed
        self._say = say
        self._arrays = arrays

    @property
    def kind(self) -> str:
        return "check"

    @property
    def has_effects(self) -> bool:
        return checks_speak()

    def needs(self, used: list[bool]) -> list[Any]:
        return [self._failed, *self._arrays]

    def emit(self, read: Read, used: list[bool]) -> list[Any]:
        self._call_unless(read(self._failed) == 0, list(map(read, self._arrays)))
        return []

    def _call_unless(self, holds: Any, arrays: list[Any]) -> None:
        def call(*values: Any) -> None:
            self._graph.at_run_time(self._say, *values)

        jax.lax.cond(holds, lambda *_: None, call, *arrays)


class _Look(_Reason):
    """Calls Python where an array is not finite, in the programs whose checks speak."""

    def __init__(self, graph: Graph, array: Any, say: Callable[..., None], arrays: Any) -> None:
        super().__init__(graph, None, say, (array, *arrays))

    def needs(self, used: list[bool]) -> list[Any]:
        return list(self._arrays)

    def emit(self, read: Read, used: list[bool]) -> list[Any]:
        arrays = list(map(read, self._arrays))
        self._call_unless(not_finite([arrays[0]]) == 0, arrays)
        return []


class Graph(Observer):
    """The ops of a Python call, traced once: equations of JAX, and records as on a tape."""

    watches_variables = True
    learns_shapes = False  # whether it is only there to learn shapes, and never runs

    def __init__(self, name: str, forms: Forms, outer: Graph | None = None) -> None:
        super().__init__()
        self.name = name
        self.forms = forms
        self.outer = outer
        self.trace = Trace()
        self.recorded: list[Any] = []
        self.tensors: dict[int, Tensor] = {}  # by key: those that records mention
        # Those that have values: by key what tapes may watch, and the keys of what they cannot.
        self.captured: dict[int, Captured] = {} if outer is None else outer.captured
        self.constant: set[int | None] = set() if outer is None else outer.constant
        self._unsettled: set[int] = set() if outer is None else outer._unsettled
        self.made: set[int] = set()  # the keys of inputs and of results of records
        self.read_as: dict[int, Tensor] = {}  # the value of a variable when the graph begins
        self.values: dict[int, Tensor] = {}  # its value at the line that is being traced
        self.assigned: dict[int, Variable] = {}
        self.feeds: list[tuple[Any, Callable[[], Any]]] = []  # tracers, and what each call feeds
        self.checks: list[Check] = []
        self.checked: set[Any] = set()  # what checks are known as
        # Why branches are not in the program that a call may take.
        self.left_out: list[DynamicSizeError] = [] if outer is None else outer.left_out
        # Whether it is traced for a witness that looks into it: see `look`.
        self.is_looked_at: bool = tracing.looking if outer is None else outer.is_looked_at
        self.messages: list[Any] = []  # what checks inside compiled code found wrong
        self.called: list[Graph] = []  # of functions with effects or checks, called inside this one
        self.takes: Takes = Takes(name) if outer is None else outer.takes
        self.reruns: Reruns = Reruns() if outer is None else outer.reruns
        self._capacities: list[Capacity] = [] if outer is None else outer._capacities
        self.sizes: Any = None  # the tracer of an input that has the open sizes, and no elements
        self.lock: Any = RLock() if outer is None else outer.lock
        self.creates = True  # whether variables may be created
        self.created: list[Variable] = []
        self.round: Any = None  # the number of the round, if this is the body of a loop
        self._draws = 0
        self._give_key: Callable[[Callable[[], Any]], Any] = lambda make: make()
        self._streams: dict[int, Any] = {}
        if outer is not None:
            self.tracked |= outer.tracked
        self._around: tuple[Any, ...] = ()  # the recorders outside
        self._within: Graph | None = None  # the graph that is traced outside, of another function

    def inner(self, name: str) -> Graph:
        """A graph inside this one: a branch, a round of a loop."""
        return Graph(f"{name} of {self.name}", self.forms, self)

    @contextmanager
    def running(self) -> Iterator[None]:
        """A block whose ops are added to this graph, unseen by the tapes outside."""
        token = forms.set(self.forms)
        with self.lock:
            before = self._around, self._within
            self._around, self._within = tuple(recorders()), current_graph()
            names = outside_name_scopes() if self.outer is None else nullcontext()
            try:
                with heard_by([self]), traced_into(self), self.trace.entered(), names:
                    yield
            finally:
                self._around, self._within = before
                forms.reset(token)

    def let_go(self) -> None:
        """The Python function has run: put back what it looked at, tell what it created."""
        self.takes.end_tracing()
        if self._within is not None:
            self._within.root.created.extend(self.created)

    @contextmanager
    def outside(self) -> Iterator[None]:
        """A block inside `running` that computes at once, as outside of the graph."""
        token = forms.set(EAGER)
        outermost = self.root
        while outermost._within is not None and outermost._within.root is not outermost:
            outermost = outermost._within.root
        try:
            with heard_by([*outermost._around]), traced_into(None), eval_context():
                yield
        finally:
            forms.reset(token)

    def get_operations(self) -> list[Any]:
        """The ops in order: each has `name`, `type`, `inputs` and `outputs`."""
        from .listing import operations

        return operations(self.trace)

    def as_graph_def(self, add_shapes: bool = False) -> Any:
        """The ops as the list `node`: each has `name`, `op` and the names of its `input`."""
        from .listing import graph_def

        return graph_def(self.get_operations())

    def mark(self) -> Mark:
        return Mark(len(self.trace), len(self.recorded), len(self.checks))

    def line_of(self, key: int) -> Line:
        """The user's line that made the tensor with this key; of a record."""
        return users_among(lines_of(self.tensors[key]._array)) or ("", 0)

    # Tensors of the outside

    def note_uses(self, inputs: Any) -> None:
        """Follow those of `inputs` that are of the outside.

        These are tensors that have values, which a tape may watch at a later call, and those of a
        function being traced in which this one is called.
        """
        for x in inputs:
            key = x._key
            if key in self.tracked or key in self.constant:
                continue
            if type(x) is not Tensor or not is_inexact(x):
                continue
            if not is_tracer(x._array):
                key = key_of(x)
                self._unsettled.add(key)
                self.capture(key, Captured(ref(x), Tensor(x._array, key)))
            elif not self._owns(x._array):
                self.follow(key_of(x))

    def capture(self, key: int, captured: Captured) -> None:
        self.captured[key] = captured
        self.follow(key)

    def follow(self, key: int) -> None:
        """Let gradients flow to the tensor of this key, here and in the graphs around."""
        for graph in self._chain():
            graph.tracked.add(key)

    def _chain(self) -> Iterator[Graph]:
        """This graph and those around it, out to the root."""
        graph: Graph | None = self
        while graph is not None:
            yield graph
            graph = graph.outer

    @property
    def recorders_around(self) -> tuple[Any, ...]:
        """The recorders that listen around this block while it is traced."""
        return self._around

    def _owns(self, array: Any) -> bool:
        return any(graph.trace.owns(array) for graph in self._chain())

    def kept(self, x: Tensor) -> Tensor:
        """The tensor as records may hold it: they must not keep alive what is captured."""
        self.note_uses((x,))
        known = self.captured.get(x._key) if x._key is not None else None
        return x if known is None else known.twin

    def settle(self, since: Mark) -> None:
        """Follow constants no longer: only this graph holds them, so no tape can watch them.

        Most of these are numbers of the Python function itself. To be called at the end of a
        stretch, before others know its records.
        """
        outside = [r.tracked for r in self.root._around]
        for key in [key for key in self._unsettled if self.captured[key].outside() is None]:
            if not any([key in tracked for tracked in outside]):
                self._unsettled.remove(key)
                self.constant.add(key)
                del self.captured[key]
        if self.outer is None:
            self._unsettled.clear()
        self._forget(self.constant & self.tracked, since)

    def _forget(self, gone: set[int | None], since: Mark) -> None:
        """Follow these no longer, nor what was made of them alone."""
        if not gone:
            return
        records = []
        for record in named(self.recorded[since.records :]):
            inputs = tuple([pair for pair in record.inputs if pair[1] not in gone])
            if inputs:
                records.append(tuple(record._replace(inputs=inputs)))
                # A custom gradient's results were copies of what it computed, until this record.
                gone.difference_update(record.output_keys)
            else:
                gone.update(record.output_keys)
        self.recorded[since.records :] = records
        self.tracked -= gone
        self.constant |= gone
        for key in gone:
            self.tensors.pop(key, None)  # type: ignore[arg-type]

    # As a recorder

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        inputs = [self.kept(x) for x in inputs]
        record = make_record(op, inputs, outputs, params, self.tracked)
        if record is None:
            return
        self.recorded.append(record)
        for x in inputs:
            if x._key is not None:
                self.tensors.setdefault(x._key, x)
        self.note(as_tuple(outputs))

    def note(self, outputs: tuple[Tensor, ...]) -> None:
        """Know these tensors as inputs, or as results of a record."""
        for y in outputs:
            assert y._key is not None
            self.made.add(y._key)
            self.tensors[y._key] = y

    def watch_variable(self, variable: Variable) -> None:
        self.read(variable)

    # Inputs

    def tensor(self, like: Any) -> Tensor:
        """A new input as a tensor that records know."""
        x = Tensor(self.trace.input(like), new_key())
        self.note((x,))
        if is_inexact(x):
            self.tracked.add(x._key)
        return x

    def stand_in(self, like: Any) -> Tensor:
        """A tensor that ops can be differentiated by, and whose values do not matter."""
        x = Tensor(as_symbol(zeros_of(like)._array), new_key())
        self.tracked.add(x._key)
        return x

    def feed(self, like: Any, supply: Callable[[], Any]) -> Any:
        """A new input that every call of the function gets from `supply()`."""
        tracer = self.trace.input(like)
        self.feeds.append((tracer, supply))
        return tracer

    def capacity(self) -> Capacity:
        """That of a loop without a bound."""
        self._capacities.append(Capacity(self.root.trace, len(self._capacities)))
        return self._capacities[-1]

    def kept_rounds(self) -> dict[str, int]:
        """The present capacities, by the names of what stands for them in shapes."""
        return {capacity.name: capacity.rows for capacity in self._capacities}

    # What happens at every run

    @property
    def root(self) -> Graph:
        return self if self.outer is None else self.outer.root

    def _is_known(self, subject: Any, known_as: Any) -> bool:
        """Whether there is this check of an array, or of all that it consists of."""
        if any([(var_of(subject), known_as) in graph.checked for graph in self._chain()]):
            return True
        parts = parts_of(subject)
        return bool(parts) and all([is_tracer(x) and self._is_known(x, known_as) for x in parts])

    def at_run_time(self, action: Callable[..., None], *arrays: Any) -> None:
        """Call `action(*arrays)` with NumPy arrays each time that the program comes to this line.

        What it raises comes out of the call of the function, before any variable changes.
        """
        messages, action = self.root.messages, self.reruns.action(action)

        def run(*values: Any) -> None:
            try:
                with traced_into(None):
                    action(*map(np.asarray, values))
            except BaseException as error:
                messages.append(error)
                if not isinstance(error, Exception):
                    raise  # an interrupt: the program goes no further

        jax.debug.callback(run, *arrays, ordered=True)

    def first_message(self, outputs: Any) -> BaseException | None:
        """What Python raised first inside a program, once it has run and given these outputs."""
        try:
            jax.block_until_ready(outputs)  # type: ignore[no-untyped-call]
            jax.effects_barrier()  # type: ignore[no-untyped-call]
        except Exception as error:
            return self.what_ended(error)
        found = self.root.take_messages()
        return found[0] if found else None

    def what_ended(self, error: BaseException) -> BaseException:
        """What ended a run: `error`, or the interrupt of Python inside that JAX made it of."""
        found: list[BaseException] = self.root.take_messages()
        for message in found:
            if not isinstance(message, Exception):
                return message
        if isinstance(error, jax.errors.JaxRuntimeError) and "\nKeyboardInterrupt" in str(error):
            return KeyboardInterrupt()  # before or after our own lines, in those of JAX
        return out_of_memory(error)

    def take_messages(self) -> list[Any]:
        """What was found wrong, here and in functions that are called inside; forgotten here."""
        found = [error for graph in self.called for error in graph.take_messages()]
        found += self.messages
        self.messages.clear()
        return found

    def include(self, called: Graph) -> None:
        """Know of another function, called inside, which calls Python or has checks."""
        if called is not self and called not in self.called:
            self.called.append(called)
            self.reruns.include(called.reruns)
            self.left_out += called.left_out

    def check(
        self,
        holds: Callable[[Any], Any],
        subject: Any,
        say: Callable[..., None],
        *arrays: Any,
        known_as: Any = None,
    ) -> None:
        """Let the call raise unless `holds(subject)`, before any variable changes.

        What it raises, `say(*arrays)` does, of NumPy arrays; so nothing leaves the device as long
        as all is well. `holds` gives one bool, of part of an array true if it is of the whole. A
        check `known_as` one that is in this graph is left out.
        """
        subject = as_symbol(subject)
        if known_as is not None:
            if self._is_known(subject, known_as):
                return
            self.checked.add((var_of(subject), known_as))
        failed = 1 - jnp.asarray(holds(subject), np.int32)
        line, name = user_line(), self.root.name
        self.checks.append(Check(failed, line, self.trace.origin(subject), holds))
        symbolic = [array for array in arrays if is_symbolic(array)]

        def say_where(*values: Any) -> None:
            given = iter(values)
            try:
                say(*[next(given) if is_symbolic(array) else array for array in arrays])
            except Exception as error:
                error.add_note(f"In {line}, compiled as part of {name}.")
                raise

        self.trace.add(_Reason(self, failed, say_where, symbolic))

    def leave_out(self, error: DynamicSizeError, branch: int, index: Any) -> None:
        """Let calls whose `index` chooses this branch raise: it could not be compiled."""
        error.__traceback__ = error.__context__ = error.__cause__ = None  # they keep all alive
        self.left_out.append(error)

        def say(*_: Any) -> None:
            raise BranchNeeded(error)

        self.check(lambda number: number != branch, index, say, index)

    def look(self, say: Callable[..., None], array: Any, *arrays: Any) -> None:
        """Let `say(array, *arrays)` look at their values when the program speaks.

        It does so where `array` is not finite, in the order of the program, and raises what it has
        to say. Until then it takes no time.
        """
        self.trace.add(_Look(self, array, say, arrays))

    @property
    def always_runs(self) -> bool:
        """Whether each call runs what is traced here: it is no branch, nor a round of a loop."""
        graph, seen = self, {self}
        while graph.outer is None and graph._within is not None and graph._within not in seen:
            graph = graph._within
            seen.add(graph)
        return graph.outer is None

    def left_to_the_run(self, op: Op, inputs: Any, params: dict[str, Any], error: Exception) -> Any:
        """The result of an op that refuses values known already, in a block that may never run.

        The program runs it, and raises when it comes here. What the op refuses whatever the values
        are, its shapes for instance, it refuses now.
        """
        known = len(self.checks)
        try:
            arrays = [as_symbol(x._array) for x in inputs]
            result = op.on(engine_of(type(arrays[0])))(*arrays, **params)
        except Exception:
            del self.checks[known:]
            result = None
        if len(self.checks) == known:
            op.explain(inputs, params, error)
            raise error
        return result

    def next_key(self, stream: Any, fresh: Callable[[], Any]) -> Any:
        """A key for draws: another one for each draw, and at each call of the function.

        `stream` is what is drawn from; `fresh()` gives two random words of 32 bits from it, and is
        asked at each call. In a loop the number of the round goes in as well.
        """
        return self._give_key(lambda: self._new_key(stream, fresh))

    def repeatable(self, make: Callable[[], Any]) -> Any:
        """The result of `make()`; in a block that repeats its draws, that of the first time."""
        return self._give_key(make)

    def _new_key(self, stream: Any, fresh: Callable[[], Any]) -> Any:
        number = self._draws = self._draws + 1
        if self.outer is None:
            if id(stream) not in self._streams:
                key = self.feed(np.zeros(2, np.uint32), fresh)
                self._streams[id(stream)] = key, stream  # keeps it alive, for its id
            key = self._streams[id(stream)][0]
        else:
            key = self.outer.next_key(stream, fresh)
        with self.trace.entered():  # of this graph, though a draw inside of it asks
            if self.round is not None:
                key = fold_in(key, self.round)
            return fold_in(key, number)

    def stream_of(self, tracer: Any) -> Any:
        """The random stream whose key this tracer is; None if it is no key of a stream."""
        return next((stream for key, stream in self._streams.values() if key is tracer), None)

    def noting_keys(self, keys: list[Any]) -> AbstractContextManager[None]:
        """A block whose keys, those of its draws and of graphs inside, are added to `keys`."""
        around = self._give_key

        def note(make: Callable[[], Any]) -> Any:
            keys.append(around(make))
            return keys[-1]

        return self._giving_keys(note)

    def repeating_keys(self, keys: list[Any]) -> AbstractContextManager[None]:
        """A block that gets these keys again, in their order: it draws the same numbers."""
        remaining = iter(keys)

        def give(make: Callable[[], Any]) -> Any:
            key = next(remaining, None)
            if key is None:
                raise RuntimeError(
                    "recompute_grad: the function draws more random numbers when it runs again "
                    "for its gradient than it did at first. Both runs must draw the same."
                )
            return key

        return self._giving_keys(give)

    @contextmanager
    def _giving_keys(self, give: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
        around, self._give_key = self._give_key, give
        try:
            yield
        finally:
            self._give_key = around

    # Variables

    def read(self, variable: Variable) -> Tensor:
        """The value of `variable` at this line."""
        tensor = self.values.get(variable._key)
        if tensor is None:
            like = variable._cell.array()
            if self.outer is not None:
                like = self.outer.read(variable)._array
            tensor = Tensor(self.trace.input(like), variable._key)
            self.variables[variable._key] = variable
            self.values[variable._key] = self.read_as[variable._key] = tensor
            self.tensors.setdefault(variable._key, tensor)
            if is_inexact(tensor):
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
                f"{user_line()}: @function: {root.name} creates variables ({variable.name!r}) when "
                "it is called again. A function may create variables on its first call only: keep "
                "them, e.g. `if self.v is None: self.v = tf.Variable(...)`, or create them outside."
            )
        root.created.append(variable)
        if not is_tracer(array):
            return array
        return root.value_now(array, variable.name)

    def value_now(self, array: Any, name: str) -> Any:
        """The value of a tracer that depends on no argument: an initial value, computed at once."""
        cut = Cut(self.trace, Mark(0, 0), self.mark(), [array])
        supplies: dict[Var, Callable[[], Any]] = {var_of(x): supply for x, supply in self.feeds}
        for key, x in self.read_as.items():
            supplies[var_of(x._array)] = self.variables[key]._cell.array
        values = []
        for tracer in cut.free:
            supply = supplies.get(var_of(tracer))
            if supply is None:
                raise ValueError(
                    f"{user_line()}: @function: the initial value of the variable {name!r} depends "
                    f"on an argument of {self.name}, which has no value while it is traced. Create "
                    "the variable outside, or from values that do not depend on the arguments."
                )
            values.append(supply())
        compiled = partial(jit, of_nothing=not cut.free)
        run = growing(
            lambda *inputs: cut.run(cut.free, inputs), cut.free, cut.counted, compiled, self.reruns
        )
        with self.outside():
            return np.array(run(*for_xla(values))[0])
