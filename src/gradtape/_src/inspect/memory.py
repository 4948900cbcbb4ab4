"""What a tape holds: the arrays that can be reached from its records, each of them once.

Whether an array goes when the tape goes is found as Python's garbage collector finds what is
garbage: what has more references than come from inside of the tape is held elsewhere too, and so is
all that can be reached from there.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from sys import getrefcount, getsizeof, version_info
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any
from weakref import WeakSet

import numpy as np

from ..core.errors import UnimplementedError
from ..core.op import JointOp
from ..core.recorder import Record, named
from ..core.spec import Spec
from ..core.tables import short
from ..core.tensor import Tensor, is_symbolic
from ..core.tracebacks import is_installed
from ..core.tracing import current_graph
from ..function.memory import ProgramMemory
from ..tape.budget import Ledger, Stored
from ..tape.cell import Cell
from ..tape.memory import Held, Memory, Share
from ..tape.variable import Variable
from .journal import Journal, journal_of_process
from .places import NOWHERE, Call, Place, Places

_ENTERED = (tuple, list, dict, set, frozenset, Tensor, JointOp, Variable, Cell, Ledger,
            CellType, MethodType, partial)  # fmt: skip
"""What a tape consists of. (What else it refers to, as a closure to a model, is the user's.)"""

_LEAVES = (int, float, str, Spec)


def memory_of(tape: Any, places: Places | None = None) -> Memory:
    """The Memory of a tape; `places` knows where tensors were made."""
    noted: Places | None = places or vars(tape).get("_profiler")
    objects, edges = _reached(tape)
    outside = _held_elsewhere(objects, edges)  # before anything here refers to them as well
    uses = _uses(tape)
    arrays = {
        id(x): _Array(x, i in outside)
        for i, x in enumerate(objects)
        if _is_array(x) and x is _whole(x)
    }
    own = [_own_bytes(x) for i, x in enumerate(objects) if i and i not in outside]
    variables = {id(_whole(v._cell.array())): v for v in tape.variables.values()}
    place_of = _places(tape) if noted is None else noted.place_of
    tensors = [
        _held(entry, uses.get(number, _NO_USE), variables.get(number), place_of)
        for number, entry in arrays.items()
    ]
    around = NOWHERE if noted is None else noted.of_tapes.get(tape, NOWHERE)
    functions = _functions(arrays, uses, place_of, around)
    tensors.sort(key=lambda held: -held.bytes)
    return Memory(tensors, sum(own), len(_records(tape)), *around.line, functions)


class Largest(Places):
    """The memory of the tape that holds most, of all that record; what `--memory` asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: Memory | None = None
        self._seen: set[tuple[int, int]] = set()
        self.programs: WeakSet[Any] = WeakSet()  # that were called: tapes may be inside

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        called = getattr(op, "called", None)
        if called is not None:
            self.programs.add(called)
        super().ran(op, inputs, outputs, params)

    def paused(self, tape: Any) -> None:
        super().paused(tape)
        looks = len(_records(tape)), _saved_bytes(tape)
        if current_graph() is None and looks not in self._seen:  # as another step's, perhaps
            self._seen.add(looks)
            memory = memory_of(tape, self)
            if memory.count and (self.memory is None or memory.total > self.memory.total):
                self.memory = memory

    def largest_program(self) -> ProgramMemory | None:
        """The memory of the compiled function that takes most, of those that were called."""
        programs = []
        for program in self.programs:
            with suppress(UnimplementedError):  # its sizes are open
                programs.append(program.memory())
        return max(programs, key=lambda program: program.total, default=None)

    def __str__(self) -> str:
        reports = [] if self.memory is None else [f"The largest tape of the run. {self.memory}"]
        largest = self.largest_program()
        if largest is not None:
            reports.append(f"The largest program of the run. {largest}")
        return "\n\n".join(reports) or "No tape and no compiled function held anything."


def _records(tape: Any) -> Any:
    """The records that a tape holds, or its ledger in its place, in their own form."""
    if tape._ledger is not None:
        return tape._ledger._entries
    return tape.records or tape._used_records or ()


def _saved_bytes(tape: Any) -> int:
    """What the records have saved, without what lies in closures: quickly."""
    ledger = tape._ledger
    if ledger is not None:
        return int(ledger.bytes)
    arrays = {
        id(whole): whole.nbytes
        for record in named(_records(tape))
        for part in _flat(record.saved)
        if isinstance(part, Tensor) and _is_array(part._array)
        for whole in [_whole(part._array)]
    }
    return sum(arrays.values())


def _places(tape: Any) -> Callable[[int], Place]:
    """The place of a tensor by its key, as far as a journal has noted it."""
    journal: Journal | None = journal_of_process() or vars(tape).get("_journal")
    calls = [] if journal is None else journal.calls()
    known = {key: Place(call.line, None) for call in calls for key in call.outputs}
    return lambda key: known.get(key, NOWHERE)


class _Array:
    """An array that is no view, and whether something outside of the tape holds it."""

    def __init__(self, base: Any, is_outside: bool) -> None:
        self.base = base
        self.is_outside = is_outside


class _Use:
    """What the records say of an array."""

    def __init__(self) -> None:
        self.kept_for: dict[str, None] = {}  # names of ops, in order
        self.keepers: list[int] = []  # keys of their outputs
        self.maker: tuple[str, int] | None = None  # the op, and the key of what it made
        self.can_be_remade = True
        self.shown: Any = None  # shape and dtype of the tensor that it is

    @property
    def key(self) -> int:
        """The key of the tensor; of one that was given, that of the first tensor made of it."""
        return self.maker[1] if self.maker is not None else next(iter(self.keepers), 0)


_NO_USE = _Use()


def _uses(tape: Any) -> dict[int, _Use]:
    """What the records say, by the id of the array."""
    ledger = tape._ledger
    made: dict[int, Record] = {}
    uses: dict[int, _Use] = {}

    def note(values: Any, name: str, keeper: int, by_rule: bool) -> None:
        for tensor, array in _tensors_in(values):
            use = uses.setdefault(id(_whole(array)), _Use())
            use.kept_for[name] = None
            use.keepers.append(keeper)
            if use.shown is None or array.nbytes > use.shown[0]:
                use.shown = array.nbytes, tuple(array.shape), str(np.dtype(array.dtype))
            key = None if tensor is None else tensor._key
            maker = None if key is None else made.get(key)
            if maker is None or by_rule or array is not _whole(array):
                use.can_be_remade = False
            if key is None or maker is None:
                continue
            if use.maker is None or array is _whole(array):
                use.maker = maker.op.name, key
                if not hasattr(maker.op, "call"):  # its rule is of one call
                    use.can_be_remade = False

    for record in named(_records(tape)):
        made.update(dict.fromkeys(record.output_keys, record))
        keeper = next(iter(record.output_keys), 0)
        saved = record.saved if ledger is None else _stored(record.saved, ledger)
        note([saved, record.params], record.op.name, keeper, by_rule=False)
        if isinstance(record.op, JointOp):
            note(record.op, record.op.name, keeper, by_rule=True)
    for key, recipe in ledger._recipes.items() if ledger is not None else ():
        note(recipe.inputs, f"{recipe.op.name} again", key, by_rule=False)
    return uses


def _stored(saved: Any, ledger: Ledger) -> list[Tensor]:
    """The tensors that a ledger has of a record."""
    keys = [part.key for part in _flat(saved) if isinstance(part, Stored)]
    return [
        *[part for part in _flat(saved) if isinstance(part, Tensor)],
        *[ledger._values[key] for key in keys if key in ledger._values],
    ]


def _flat(saved: Any) -> Iterator[Any]:
    for part in saved:
        if type(part) is tuple:
            yield from _flat(part)
        else:
            yield part


def _tensors_in(value: Any) -> Iterator[tuple[Tensor | None, Any]]:
    """All arrays that can be reached from a value, each with the tensor that has it, if any."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if _is_array(each):
            yield None, each
        elif isinstance(each, Tensor):
            if _is_array(each._array):
                yield each, each._array
        else:
            waiting += _parts(each)


# What can be reached


def _reached(tape: Any) -> tuple[list[Any], list[list[int]]]:
    """The tape and all that it consists of, and for each the places in the list of its parts."""
    ledger = tape._ledger
    skipped = {id(each._listeners) for each in (tape, ledger) if each is not None}
    objects: list[Any] = [tape]
    places = {id(tape): 0}
    edges: list[list[int]] = []
    while len(edges) < len(objects):
        found = []
        for part in _parts(objects[len(edges)]):
            number = id(part)
            if number in skipped:
                continue
            if number not in places:
                places[number] = len(objects)
                objects.append(part)
            found.append(places[number])
        edges.append(found)
    return objects, edges


def _parts(value: Any) -> list[Any]:
    """The objects that a part of a tape refers to, and that are parts of it themselves."""
    if isinstance(value, FunctionType):
        found: Any = (value.__closure__, value.__defaults__, value.__kwdefaults__)
    elif isinstance(value, np.ndarray):
        found = (value.base,)
    elif isinstance(value, _LEAVES) or _is_array(value):
        return []
    else:
        found = gc.get_referents(value)
    return [x for x in found if isinstance(x, (*_ENTERED, *_LEAVES, FunctionType)) or _is_array(x)]


def _held_elsewhere(objects: list[Any], edges: list[list[int]]) -> set[int]:
    """The places in the list of what has other references than these edges, or is behind such."""
    known = [0] * len(objects)
    for parts in edges:
        for i in parts:
            known[i] += 1
    counts = list(map(getrefcount, objects))
    waiting = [i for i, count in enumerate(counts) if i and count > known[i] + _OURS]
    outside = set(waiting)
    while waiting:
        for i in edges[waiting.pop()]:
            if i not in outside:
                outside.add(i)
                waiting.append(i)
    return outside


_OURS = max(map(getrefcount, [object()]))
"""The references to an object that a list holds, as they are counted there."""


def _is_array(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return True
    kind = type(value)
    is_other = hasattr(kind, "nbytes") and hasattr(kind, "dtype") and not is_symbolic(value)
    return is_other and not isinstance(value, (Tensor, Variable))


def _whole(array: Any) -> Any:
    """The array that an array is a view of."""
    while isinstance(base := getattr(array, "base", None), np.ndarray):
        array = base
    return array


def _own_bytes(value: Any) -> int:
    """The bytes of an object itself, without the numbers of an array: those are told apart."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.flags.owndata):
        return getsizeof(value) - value.nbytes
    return getsizeof(value) + (_BESIDE_TENSOR if isinstance(value, Tensor) else 0)


_BESIDE_TENSOR = 16 if version_info < (3, 13) else 0
"""What `getsizeof` leaves out: the place of the attributes in `__dict__`, which is made at once."""


# What is said of it


def _held(entry: _Array, use: _Use, variable: Any, place_of: Callable[[int], Place]) -> Held:
    array, maker = entry.base, use.maker
    if variable is not None:
        array = variable._cell.array()
    _, shape, dtype = use.shown or (0, tuple(array.shape), str(np.dtype(array.dtype)))
    return Held(
        int(entry.base.nbytes),
        shape,
        dtype,
        maker[0] if maker is not None else "",
        variable.name.removesuffix(":0") if variable is not None else "",
        *place_of(use.key).line,
        tuple(use.kept_for),
        not entry.is_outside,
        maker is not None and use.can_be_remade and not entry.is_outside,
    )


def _functions(
    arrays: dict[int, _Array],
    uses: dict[int, _Use],
    place_of: Callable[[int], Place],
    around: Place,
) -> list[Share]:
    """What was made in functions of the user that were called inside of the block."""
    blocks = set(around.call or ())
    found: dict[CodeType, tuple[Call, list[int]]] = {}
    for number, entry in arrays.items():
        use = uses.get(number)
        if use is None or use.maker is None or entry.is_outside:
            continue
        size = int(entry.base.nbytes)
        keepers = [set(place_of(key).call or ()) for key in use.keepers]
        outermost = {call.code: call for call in place_of(use.key).call or () if call not in blocks}
        for code, call in outermost.items():
            _, share = found.setdefault(code, (call, [0, 0, 0]))
            share[0] += size
            share[1] += 1
            if all([call in keeper for keeper in keepers]):  # else it is a result of the call
                share[2] += size
    shares = [
        Share(f"{call.name} ({short(call.code.co_filename)}:{call.code.co_firstlineno})", *numbers)
        for call, numbers in found.values()
        if call.name != "<module>" and not is_installed(call.code.co_filename)
    ]
    return sorted(shares, key=lambda share: -share.saved)
