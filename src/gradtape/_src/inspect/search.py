"""Where the way from a source to a target ends: the search among the calls of a journal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..tape.explanation import Cause, Explanation, Step
from ..tape.variable import Variable
from .account import Account
from .advice import LOST, shown, why_left
from .journal import Assigned, Derived, Left, Ran, looks_of
from .users_code import reassigned

_LONGEST = 12
"""Ops of a path that are shown of one that ends."""


class Search(Account):
    """The calls between a source and a target, given by their keys."""

    key: int
    target_key: int

    def begin(self, key: int, target_key: int) -> None:
        self.key, self.target_key = key, target_key
        self.by_output = {each: call for call in self.calls for each in call.outputs}
        journal = self.journal
        self.variables = set(self.tape.variables) | set(journal.variables if journal else ())

    def found(self) -> Explanation:
        """Why no gradient leads from the source to the target."""
        ways, needed = self._ways(self.target_key)
        if ways:
            return self._broken(ways, needed)
        return self._went_outside() or self._unused()

    # What leads from the one to the other

    def _ways(self, target: int) -> tuple[list[Ran], set[int]]:
        """The calls from the source to a target, in order, and what these use."""
        reached = {self.key}
        forward = []
        for call in self.calls:
            if not reached.isdisjoint(call.inputs):
                reached.update(call.outputs)
                forward.append(call)
        if target not in reached:
            return [], set()
        needed = {target}
        ways = []
        for call in reversed(forward):
            if not needed.isdisjoint(call.outputs):
                needed.update(call.inputs)
                ways.append(call)
        return ways[::-1], needed

    def _broken(self, ways: list[Ran], needed: set[int]) -> Explanation:
        """The first call on a way that no gradient passes; of several ways, the latest."""
        flows = {self.key}  # what a gradient would come back to the source from
        broken: list[tuple[Ran, set[int], list[int], int]] = []
        path: list[Step] = []
        functions: list[tuple[Ran, int]] = []
        for call in ways:
            given = flows.intersection(call.inputs)
            if not given:
                continue
            lost = [key for key in call.outputs if key in needed and key not in call.inexact]
            passes = self.passes(call, given.intersection(self.follows(call)))
            if lost or not passes:
                broken.append((call, given, lost or list(call.outputs), len(path)))
            if passes:
                flows.update(call.inexact)
                path.append(step_of(call))
                functions += [(call, len(path))] if self._is_function(call) else []
        if not broken:  # only inside of a function, or of a gradient of the user's own, is it cut
            call, before = functions[-1] if functions else (ways[0], 1)
            return self.cut_inside(
                call, flows.intersection(call.inputs), needed, path[: before - 1]
            )
        cut, given, lost, before = broken[-1]
        followed = given.intersection(self.follows(cut))
        if followed and self._is_function(cut):
            inside = self._inside(cut, followed, set(lost))
            if inside is not None:
                return inside
        found = self.why_cut(cut, path[:before][:_LONGEST], lost)
        if found.cause is Cause.NOT_WATCHED and self.key not in given:  # nor what made it
            for call, _ in functions:
                inside = self._inside(call, flows.intersection(call.inputs), given)
                if inside is not None:
                    return inside
        uses = [call for call, *_ in broken if self.key in call.inputs and self.listened(call)]
        if found.cause is Cause.NOT_WATCHED and uses:
            return self.not_watched(uses[0].line, late=self.key in self.tracked)
        return found

    def not_watched(self, line: tuple[str, int] = ("", 0), late: bool = False) -> Explanation:
        raise NotImplementedError

    # Functions

    def _is_function(self, call: Ran) -> bool:
        return getattr(call.op, "arguments", None) is not None and hasattr(call.op, "graph")

    def cut_inside(
        self, call: Ran, given: set[int], wanted: set[int], path: list[Step]
    ) -> Explanation:
        """Why no gradient goes through a call that a tape has recorded as one op."""
        inside = self._inside(call, given, wanted)
        if inside is not None:
            return inside
        return Explanation(
            Cause.NO_RULE,
            f"Inside of {call.op.name} no gradient leads from {self.name} to the result.",
            "Asked for before the function is first called (tf.debugging.explain_gradients(), "
            "`gradtape run --explain`), the line is found; or with "
            "tf.config.run_functions_eagerly(True).",
            *call.line,
            [*path, step_of(call)][:_LONGEST],
        )

    def _inside(self, call: Ran, given: set[int], wanted: set[int]) -> Explanation | None:
        if not self._is_function(call):
            return None
        for source in given:
            for target, inside in call.op.results.items():
                if target in wanted and inside is not None:
                    search = _Inside(self, call, call.op.arguments.get(source, source), inside)
                    if search.calls:
                        return search.found()
        return None

    # What leads nowhere

    def _went_outside(self) -> Explanation | None:
        """Whether a value computed from the source left, or was assigned to a variable."""
        assert self.journal is not None
        reached, needed = self._reached(), self._needed()
        events = list(self.journal.events)[::-1]
        for event in events:
            if type(event) is Assigned and event.value in reached and event.variable in needed:
                return self._assigned(event)
        end = self._last_given(needed)
        for event in events:
            if type(event) is Left and event.number < end and event.key in reached:
                return self._left(event)
        return None

    def _left(self, event: Left) -> Explanation:
        maker = self.by_output.get(event.key)
        if event.use not in LOST and maker is not None and event.key not in maker.inexact:
            # (It was cut before it left.)
            ways, needed = self._ways(event.key)
            if ways:
                return self._broken(ways, needed)
        return Explanation(*why_left(event.use), *event.line)

    def _assigned(self, event: Assigned) -> Explanation:
        if event.is_new and event.value == self.key:
            return Explanation(
                Cause.OTHER_OBJECT,
                f"A variable is made of {self.name} here, with a copy of its value; the target is "
                "computed from the variable.",
                f"Ask for the gradient by the variable; or watch {self.name}, and compute with it.",
                *event.line,
            )
        if event.is_new:
            return Explanation(
                Cause.OVERWRITTEN,
                "A variable is made of the value here: it begins anew, without a history.",
                "Compute with the tensor itself; make variables before the tape's block.",
                *event.line,
            )
        return Explanation(
            Cause.OVERWRITTEN,
            "The value was assigned to a variable here: what a variable is assigned has no "
            "history.",
            "Compute the target from the tensor itself, and assign it as well.",
            *event.line,
        )

    def _last_given(self, needed: set[int]) -> float:
        """When the target was last given a tensor that is no variable, and that no op has made."""
        known = self.by_output.keys() | self.variables | {self.key}
        outside = {key for key in needed if key not in known}
        if self.target_key in outside:
            return math.inf
        first_uses: dict[int, int] = {}
        for call in self.calls:
            if not needed.isdisjoint(call.outputs):
                for key in outside.intersection(call.inputs):
                    first_uses.setdefault(key, call.number)
        return max(first_uses.values(), default=-1)

    def _reached(self) -> set[int]:
        reached = {self.key}
        for call in self.calls:
            if not reached.isdisjoint(call.inputs):
                reached.update(call.outputs)
        return reached

    def _needed(self) -> set[int]:
        needed = {self.target_key}
        for call in reversed(self.calls):
            if not needed.isdisjoint(call.outputs):
                needed.update(call.inputs)
        return needed

    def _unused(self) -> Explanation:
        constant = self._constant_gradient() or self._remade()
        if constant is not None:
            return constant
        used = [call for call in self.calls if self.key in call.inputs]
        if not used:
            return self._twin() or self._never_used()
        reached = self._reached()
        last = [call for call in self.calls if not reached.isdisjoint(call.inputs)][-1]
        chosen = last.dtype is not None and np.dtype(last.dtype).kind == "b"
        return Explanation(
            Cause.UNUSED,
            f"{self.name} is used, and nothing that is computed from it is used for the target: "
            "its last use is here.",
            "A choice by `if` has no gradient: the target must be computed from the values, as "
            "by tf.where(condition, a, b)."
            if chosen
            else "Compute the target from that result.",
            *last.line,
            [step_of(call) for call in used][:_LONGEST],
        )

    def _never_used(self) -> Explanation:
        advice = "Compute the target from it; or leave it out of the sources."
        if self.key in self.tape.variables:
            return Explanation(
                Cause.UNUSED,
                f"{self.name} was read, and no op has used its value: its shape alone, perhaps.",
                advice,
            )
        message = f"No op has used {self.name}. Did a branch run that does without it?"
        others = [v.name.removesuffix(":0") for v in self.tape.variables.values()]
        if others and isinstance(self.source, Variable):
            names = ", ".join(map(repr, others[:3])) + (", ..." if others[3:] else "")
            message += f" The tape's block has read {names}."
            advice += " Is it of another model than the one that was called?"
        return Explanation(Cause.UNUSED, message, advice)

    source: Any = None

    def _constant_gradient(self) -> Explanation | None:
        """Whether the target is a gradient that has the same value wherever the source is."""
        assert self.journal is not None
        needed = self._needed()
        reached = self._reached()
        for event in self.journal.events:
            if type(event) is Derived and event.target in reached and needed & {*event.found}:
                return Explanation(
                    Cause.UNUSED,
                    f"The gradient that was taken here does not depend on {self.name}: what it is "
                    "of is linear in it. None stands for zero.",
                    'unconnected_gradients="zero" gives zeros in the place of None.',
                    *event.line,
                )
        return None

    def _remade(self) -> Explanation | None:
        """Another result of the same computation that was used in the place of the source."""
        maker = self.by_output.get(self.key)
        if maker is None:
            return None
        needed = self._needed()
        ways: dict[int, Any] = {}  # how the tensor of a key was made
        place = maker.outputs.index(self.key)
        for call in self.calls:
            inputs = tuple([ways.get(key, key) for key in call.inputs])
            way = hash((call.op.name, inputs, call.params))
            ways.update((key, ("made", way, i)) for i, key in enumerate(call.outputs))
        mine = ways[self.key]
        for call in self.calls:
            twin = call.outputs[place] if place < len(call.outputs) else None
            if call is not maker and twin in needed and ways[twin] == mine:
                return Explanation(
                    Cause.OTHER_OBJECT,
                    f"{self.name} is what {shown(maker.op.name)} gave at one call; the target is "
                    "computed from what it gave at another one, with the same values.",
                    f"Keep the result in a name, h = ..., and use h for both: each call of "
                    f"{shown(maker.op.name)} makes a new tensor.",
                    *max(maker, call, key=lambda each: each.number).line,
                )
        return None

    def _twin(self) -> Explanation | None:
        """A tensor with the same values that was used in its place."""
        assert self.journal is not None
        if self.source is None:
            return None
        variable = isinstance(self.source, Variable)
        mine = looks_of(self.source._cell.array() if variable else self.source._array)
        roots, needed = self.journal.roots, self._needed()
        for call in self.calls:
            for key in needed.intersection(call.inputs):
                if mine is not None and roots.get(key) == mine and key not in self.variables:
                    return Explanation(
                        Cause.OTHER_OBJECT,
                        f"No op has used {self.name}; another tensor with the same values is used "
                        "here. tf.constant and its like make a new one at each call.",
                        "Make it once, watch that very object, and compute with it.",
                        *call.line,
                    )
        return None

    def was_a_variable(self) -> Explanation | None:
        """Whether the source is what a line such as `x = x + 1` put in the place of a variable."""
        call = self.by_output.get(self.key)
        seen = set()
        while call is not None and call.number not in seen:
            seen.add(call.number)
            name = reassigned(*call.line)
            if name is not None and not self.variables.isdisjoint(call.inputs):
                return Explanation(
                    Cause.OVERWRITTEN,
                    f"{name} is a tensor here: this line has put it in the place of the variable.",
                    f"Write {name}.assign(...), assign_add or assign_sub, which change the variable"
                    f" and keep it; {name} = ... gives its name to something else.",
                    *call.line,
                )
            call = next((self.by_output[k] for k in call.inputs if k in self.by_output), None)
        return None


class _Inside(Search):
    """The same inside of a function, among the calls that were noted while it was traced."""

    def __init__(self, around: Search, call: Ran, key: int, target_key: int) -> None:
        self.tape, self.tape_name = around.tape, around.tape_name
        self.journal, self.tracked = around.journal, around.tracked
        self.number, self.name, self.source = around.number, around.name, around.source
        self.function = call
        graph = call.op.graph
        numbers = [each.number for each in around.calls if each.graph == graph]
        self.calls = [
            each
            for each in around.calls  # those of functions that were traced for it, too
            if each.graph is not None and numbers and numbers[0] <= each.number <= numbers[-1]
        ]
        self.begin(key, target_key)

    def follows(self, call: Ran) -> list[int]:
        return [key for keys in call.followed.values() for key in keys]

    def listened(self, call: Ran) -> bool:
        return bool(call.followed)

    def _out_of_block(self, call: Ran, path: list[Step]) -> Explanation:
        return Explanation(
            Cause.NOT_RECORDED,
            f"{shown(call.op.name)} ran while nothing was recorded.",
            "Move this line out of stop_recording().",
            *call.line,
            path,
        )

    def cut_inside(
        self, call: Ran, given: set[int], wanted: set[int], path: list[Step]
    ) -> Explanation:
        return self._inside(call, given, wanted) or self._unused()

    def _unused(self) -> Explanation:
        """In a loop or a branch: what no gradient passes, on whatever way."""
        flows, path = {self.key}, []
        cut: tuple[Ran, int] | None = None
        for call in self.calls:
            given = flows.intersection(call.inputs)
            if given and self.passes(call, given.intersection(self.follows(call))):
                flows.update(call.inexact)
                path.append(step_of(call))
            elif given:
                cut = call, len(path)
        if cut is not None:
            return self.why_cut(cut[0], path[: cut[1]][:_LONGEST])
        return Explanation(
            Cause.UNUSED,
            f"Inside of {self.function.op.name} the result does not depend on {self.name}.",
            "Compute the result from it; or leave it out of the sources.",
            *self.function.line,
            path[:_LONGEST],
        )

    def not_watched(self, line: tuple[str, int] = ("", 0), late: bool = False) -> Explanation:
        return self._unused()


def step_of(call: Ran, norm: float | None = None) -> Step:
    """A call as a step of a path."""
    dtype = "" if call.dtype is None else str(np.dtype(call.dtype))
    shape = tuple([n if isinstance(n, int) else None for n in call.shape])
    return Step(shown(call.op.name), shape, dtype, *call.line, norm)
