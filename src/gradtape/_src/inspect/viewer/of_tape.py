"""The picture of a tape: its records, and with a journal all that was computed around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ...core import nest
from ...core.cotangent import dense
from ...core.errors import NoGradientError
from ...core.op import Op
from ...core.recorder import Record, heard_by
from ...core.spec import Spec
from ...core.tables import short
from ...core.tensor import Tensor, is_inexact, key_of
from ...core.tracing import tracing
from ...tape.explanation import Cause, Explanation
from ...tape.variable import Variable, variable_of
from ..account import Account, backward_seen, records_of
from ..advice import user_of, why_left
from ..explain import explain
from ..journal import Assigned, Journal, Left, Ran
from ..users_code import Stack, line_at, names_in_use
from .numbers_of import numbers_of
from .picture import Box, Edge, Picture, Place, common

_MOST_EXPLAINED = 40
"""Sources that get none of the gradient, and whose explanations are worked out."""


def picture_of_tape(tape: Any, target: Any = None, source: Any = None) -> Picture:
    """The boxes and edges of a tape.

    Gradients are those of `target`: without one, of the last result that the tape has recorded.
    """
    journal = Account(tape).journal
    was_quiet = journal is not None and journal.quiet
    with heard_by([]), _unseen():  # what is computed here is nobody's
        if journal is not None:
            journal.quiet = True
        try:
            return _Drawing(tape, target, source).picture()
        finally:
            if journal is not None:
                journal.quiet = was_quiet


@contextmanager
def _unseen() -> Iterator[None]:
    """A block that no witness looks on at but journals: a NaN is to be drawn, and not to raise."""
    others = [each for each in tracing.witnesses if not isinstance(each, Journal)]
    for each in others:
        tracing.tell(no_more=each)
    try:
        yield
    finally:
        tracing.tell(*others)


class _Drawing:
    def __init__(self, tape: Any, target: Any, source: Any) -> None:
        self.tape = tape
        self.account = Account(tape)
        self.records = records_of(tape)
        if self.records is None:
            raise RuntimeError(
                "This tape was used up, and has let go of its records. Draw it before you ask it "
                "for a gradient, make it persistent=True, or make it with explain=True, which "
                "keeps them."
            )
        self.objects: dict[int, Any] = dict(tape.variables)  # tensors and variables, by key
        self.names = self._names()
        self.targets = [variable_of(t) for t in nest.flatten(target, expand_composites=True)
                        if t is not None]  # fmt: skip
        self.sources = [variable_of(s) for s in nest.flatten(source) if s is not None]
        for each in [*self.targets, *self.sources]:
            self.objects.setdefault(_key(each), each)
        self.boxes: list[Box] = []
        self.edges: list[Edge] = []
        self.made: dict[int, int] = {}  # the box of a key
        self.values: dict[int, Any] = {}  # tensors and Specs that records hold, by key
        self.held: set[int] = set()  # ids of arrays that have been counted

    def _names(self) -> dict[int, str]:
        journal = self.account.journal
        names = {} if journal is None else dict(journal.variables)
        names |= {key: v.name.removesuffix(":0") for key, v in self.tape.variables.items()}
        for name, each in names_in_use():
            value = variable_of(each)
            key = getattr(value, "_key", None) if isinstance(value, (Tensor, Variable)) else None
            if key is not None:
                if not (key in names and "/" in names[key]) and not (
                    isinstance(value, Variable) and names.get(key, "Variable") != "Variable"
                ):
                    names[key] = name
                self.objects.setdefault(key, value)
        return names

    def picture(self) -> Picture:
        records = {record.output_keys[0]: record for record in self.records or []}
        for record in records.values():
            self._look_into(record)
        target_keys = [_key(t) for t in self.targets]
        if not target_keys:
            target_keys = self._last_results()
        calls = self._calls(records, target_keys)
        places = places_of([call for call, _ in calls if call is not None])
        for call, record in calls:
            self._add(call, record, places)
        for key in [*self.tape.variables, *map(_key, self.sources)]:
            self._box_of(key)
        self._add_exits(target_keys)
        target = next((self.made[k] for k in target_keys if k in self.made), None)
        source = next((self.made[_key(s)] for s in self.sources if _key(s) in self.made), None)
        picture = Picture("tape", self.boxes, self.edges, source=source, target=target)
        self._add_gradients(target_keys)
        self._explain_sources(target_keys)
        if not self.account.calls:
            picture.note = (
                "This tape was not asked to note lines: made with explain=True, it knows the line "
                "of each op, and what it did not record."
            )
        return picture

    def _last_results(self) -> list[int]:
        for record in reversed(self.records or []):
            tensor = self.values.get(record.output_keys[0])
            if tensor is None or np.dtype(tensor.dtype.name if isinstance(tensor, Tensor)
                                          else tensor.dtype).kind in "fcV":  # fmt: skip
                return [record.output_keys[0]]
        return []

    def _calls(self, records: dict[int, Record], targets: list[int]) -> list[Any]:
        """Pairs (call, record) in the order in which they ran, each of which may be missing.

        Of the journal: what the tape listened to, and what a target is computed from.
        """
        needed = set(targets)
        heard, number = [], self.account.number
        for call in reversed(self.account.calls):
            if number in call.followed or not needed.isdisjoint(call.outputs):
                needed.update(call.inputs)
                heard.append(call)
        pairs: list[Any] = []
        known = {key for call in heard for key in call.outputs}
        unknown = iter([r for r in records.values() if r.output_keys[0] not in known])
        waiting = next(unknown, None)
        # (The call of a function is noted twice.)
        calls = {call.outputs or call.number: call for call in heard}
        for call in reversed(calls.values()):
            record = next((records[key] for key in call.outputs if key in records), None)
            while waiting is not None and record is not None and _before(waiting, record):
                pairs.append((None, waiting))
                waiting = next(unknown, None)
            pairs.append((call, record))
        while waiting is not None:
            pairs.append((None, waiting))
            waiting = next(unknown, None)
        return pairs

    # Boxes

    def _look_into(self, record: Record) -> None:
        """Take down the tensors that a record holds, by their keys."""
        if len(record.saved) and len(record.output_keys) == 1:
            self._know(record.output_keys[0], record.saved[-1])
        elif type(record.saved[-1]) is tuple:
            for key, kept in zip(record.output_keys, record.saved[-1], strict=False):
                self._know(key, kept)
        for position, key in record.inputs:
            variadic = isinstance(record.op, Op) and record.op.variadic
            if position < len(record.saved) - 1 and not variadic:
                self._know(key, record.saved[position])

    def _know(self, key: int, kept: Any) -> None:
        if isinstance(kept, Tensor) or (type(kept) is Spec and key not in self.values):
            self.values[key] = kept

    def _add(self, call: Ran | None, record: Record | None, places: dict[int, Any]) -> None:
        op = (call or record).op  # type: ignore[union-attr]
        keys = call.outputs if call is not None else record.output_keys  # type: ignore[union-attr]
        box = Box(op.name, recorded=record is not None)
        self._describe(box, keys[0] if keys else 0)
        if call is not None:
            box.places = places[call.number]
            box.site = call.stack[0][1] if call.stack else None
            box.file, box.line = call.line
            box.shape = tuple([n if isinstance(n, int) else None for n in call.shape])
            box.dtype = "" if call.dtype is None else str(np.dtype(call.dtype))
            box.size = _bytes(box.shape, call.dtype)
            box.seconds = call.seconds
        if record is not None:
            box.held = self._held_by(record)
            if not box.places:
                box.places = self._scope_of(record)
        flowing = {key for _, key in record.inputs} if record is not None else set()
        if call is not None and not self.account.passes(call, flowing):
            flowing = set()
            why = self.account.why_cut(call, [])
            if why.cause is not Cause.NOT_WATCHED:
                box.cut = why.cause.name, why.message, why.suggestion
        number = len(self.boxes)
        self.boxes.append(box)
        inputs: Iterable[int] = [key for _, key in record.inputs] if record is not None else []
        if call is not None:
            inputs = call.inputs
        for key in dict.fromkeys(inputs):
            start = self._box_of(key)
            self.edges.append(Edge(start, number, key in flowing))
        for key in keys:
            self.made[key] = number

    def _box_of(self, key: int) -> int:
        """The box that a value comes from: of an op, or one of its own."""
        if key not in self.made:
            variable = key in self.tape.variables or isinstance(self.objects.get(key), Variable)
            journal = self.account.journal
            if variable or (journal is not None and key in journal.variables):
                box = Box("variable", "variable")
            elif key in self.account.tracked:
                box = Box("watched tensor", "input")
            else:
                box = Box("constant", "constant", recorded=False)
            self._describe(box, key)
            self.made[key] = len(self.boxes)
            self.boxes.append(box)
        return self.made[key]

    def _describe(self, box: Box, key: int) -> None:
        """Name, shape, dtype and values, as far as they are known."""
        box.name = self.names.get(key, "")
        value = self.values.get(key)
        if not isinstance(value, Tensor):  # a Spec, which has no values
            value = self.objects.get(key, value)
        if isinstance(value, Variable):
            value = value._peek()
        if isinstance(value, Tensor):
            box.value = numbers_of(value._array)
        if value is not None:
            array = value if type(value) is Spec else value._array
            box.shape = tuple([n if isinstance(n, int) else None for n in array.shape])
            box.dtype = str(np.dtype(array.dtype))
            box.size = _bytes(box.shape, array.dtype)

    def _held_by(self, record: Record) -> int:
        """The bytes of the arrays that the record holds and none before it."""
        total = 0
        for kept in nest.flatten(list(record.saved)):
            array = kept._array if isinstance(kept, Tensor) else None
            if array is not None and id(array) not in self.held and hasattr(array, "nbytes"):
                self.held.add(id(array))
                total += int(array.nbytes)
        return total

    def _scope_of(self, record: Record) -> tuple[Place, ...]:
        """Where nothing is known of lines: the scope of the variables that it uses."""
        for _, key in record.inputs:
            if key in self.tape.variables:
                return _scopes(self.names.get(key, "").rpartition("/")[0])
        return ()

    def _add_exits(self, targets: list[int]) -> None:
        """The lines that took values out, and the assignments, until the target was computed."""
        journal = self.account.journal
        if journal is None:
            return
        made_by = {key: call.number for call in self.account.calls for key in call.outputs}
        end = max([made_by.get(key, 0) for key in targets], default=0) or None
        seen = set()
        for event in list(journal.events):
            if end is not None and event.number > end:
                break
            if type(event) is Left and event.key in self.made:
                what = event.key, event.line
                if what not in seen:
                    seen.add(what)
                    title = user_of(event.use)
                    cause, message, advice = why_left(event.use)
                    why = cause.name, message, advice
                    exit_ = Box(title, "exit", _line_place(event.line), cut=why, recorded=False)
                    exit_.file, exit_.line = event.line
                    self.boxes.append(exit_)
                    self.edges.append(Edge(self.made[event.key], len(self.boxes) - 1, False))
            elif type(event) is Assigned and event.value is not None:
                start, variable = self.made.get(event.value), self.made.get(event.variable)
                if start is not None and variable is not None:
                    self.edges.append(Edge(start, variable, False))

    # Gradients

    def _add_gradients(self, targets: list[int]) -> None:
        """The cotangents of all results and sources, described."""
        target = self.targets or [self._tensor_of(key) for key in targets]
        if not target or any(t is None or not _is_floating(t) for t in target):
            return
        arrays: dict[int, Any] = {}

        def see(record: Record, position: int, g: Any, result: Any) -> None:
            gs = g if isinstance(g, (tuple, list)) else [g]
            for key, each in zip(record.output_keys, gs, strict=False):
                if each is not None and key not in arrays:
                    arrays[key] = each

        roots = [key for key, number in self.made.items() if self.boxes[number].kind != "op"]
        wanted = list(dict.fromkeys([*roots, *targets]))
        with suppress(NoGradientError):
            found = backward_seen(self.records or [], target, wanted, see)
            arrays.update({k: g for k, g in zip(wanted, found, strict=True) if g is not None})
        for key, g in arrays.items():
            number = self.made.get(key)
            if number is not None and self.boxes[number].gradient is None:
                box, array = self.boxes[number], getattr(dense(g), "_array", None)
                box.gradient = numbers_of(array)
                if box.shape is None and array is not None:  # it is that of the result
                    box.shape, box.dtype = tuple(array.shape), str(np.dtype(array.dtype))
                    box.size = _bytes(box.shape, array.dtype)

    def _tensor_of(self, key: int) -> Any:
        """The tensor with this key: the one that is held, or what stands for it in its place.

        Gradients need of a target the shape and dtype, and zeros have them as well.
        """
        found = self.objects.get(key, self.values.get(key))
        if isinstance(found, (Tensor, Variable)):
            return found
        box = self.boxes[self.made[key]] if key in self.made else None
        if box is None or box.shape is None or None in box.shape or not box.dtype:
            return None
        sizes = tuple([n for n in box.shape if n is not None])
        return Tensor(np.broadcast_to(np.zeros((), np.dtype(box.dtype)), sizes), key)

    def _explain_sources(self, targets: list[int]) -> None:
        target = self.targets or [self._tensor_of(key) for key in targets]
        if not target or any(t is None for t in target):
            return
        asked = {_key(source) for source in self.sources}
        chosen: list[tuple[Box, Any]] = []
        for key, value in self.objects.items():
            number = self.made.get(key)
            if number is None and key in asked:
                number = self._box_of(key)
            if number is None or self.boxes[number].kind not in ("variable", "input", "constant"):
                continue
            box = self.boxes[number]
            norm = (box.gradient or {}).get("norm")
            if (key in asked or not norm) and _key(value) not in targets:
                chosen.append((box, value))
        del chosen[_MOST_EXPLAINED:]
        reasons = explain(self.tape, target, [value for _, value in chosen])
        for (box, _), why in zip(chosen, reasons, strict=True):
            if why.cause is not Cause.CONNECTED:
                box.explained = _text(why)


def _text(why: Explanation) -> str:
    place = f"\n{short(why.file)}:{why.line}" if why.file else ""
    return f"{why.cause.name}: {why.message}{place}\n{why.suggestion}".strip()


# Places


def places_of(calls: list[Ran]) -> dict[int, tuple[Place, ...]]:
    """The groups of each call, by its number: calls of the user's functions, scopes, its line.

    A scope stands inside of the calls that all of its ops share: nobody notes where it was entered.
    What all have in common says nothing, and is left out.
    """
    stacks = {call.number: _calls(call.stack) for call in calls}
    shared: dict[tuple[str, ...], tuple[Place, ...]] = {(): ()}
    for call in calls:
        parts = _parts(call.scope)
        for count in range(len(parts) + 1):
            scope, stack = parts[:count], stacks[call.number]
            shared[scope] = common(shared[scope], stack) if scope in shared and count else stack
    everywhere = _all_common([stacks[call.number] for call in calls])
    found = {}
    for call in calls:
        stack, parts = stacks[call.number], _parts(call.scope)
        path: list[Place] = []
        done = 0
        for count in range(1, len(parts) + 1):
            depth = len(shared[parts[:count]])
            path += stack[done:depth]
            done = max(done, depth)
            path.append(Place(("scope", parts[:count]), parts[count - 1], "scope"))
        path += [*stack[done:], *_line_place(call.line)]
        found[call.number] = tuple(path[len(everywhere) :])
    return found


def _parts(scope: str) -> tuple[str, ...]:
    return tuple([part for part in scope.split("/") if part])


def _scopes(scope: str) -> tuple[Place, ...]:
    return tuple([Place(("scope", part), part, "scope") for part in _parts(scope)])


def _all_common(paths: list[tuple[Place, ...]]) -> tuple[Place, ...]:
    shared = paths[0] if paths else ()
    for path in paths:
        shared = common(shared, path)
    return shared


def _calls(stack: Stack) -> tuple[Place, ...]:
    """From the outermost call in: the functions that were called, each from which line."""
    places = []
    for (code, _), (caller, at) in zip(stack[-2::-1], stack[:0:-1], strict=True):
        line = line_at(caller, at)
        label = code.co_qualname.rpartition("<locals>.")[2]
        key = code, caller.co_filename, line
        places.append(Place(key, f"{label}()", "call", caller.co_filename, line))
    return tuple(places)


def _line_place(line: tuple[str, int]) -> tuple[Place, ...]:
    if not line[0]:
        return ()
    return (Place(("line", *line), f"line {line[1]}", "line", *line),)


# Helpers


def _key(value: Any) -> int:
    if isinstance(value, Tensor):
        return key_of(value)
    if isinstance(value, Variable):
        return value._key
    raise ValueError(
        f"show: a target or source must be a tensor or a variable, not {value!r:.60} of type "
        f"{type(value).__name__}."
    )


def _is_floating(value: Any) -> bool:
    return is_inexact(value._peek() if isinstance(value, Variable) else value)


def _bytes(shape: Any, dtype: Any) -> int | None:
    if dtype is None or any(n is None for n in shape):
        return None
    count = 1
    for n in shape:
        count *= n
    return int(count) * int(np.dtype(dtype).itemsize)


def _before(a: Record, b: Record) -> bool:
    """Whether a record was made before another: keys grow with time."""
    return a.output_keys[0] < b.output_keys[0]
