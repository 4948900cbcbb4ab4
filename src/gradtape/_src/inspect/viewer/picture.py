"""Picture: boxes, what flows between them, and the groups that they are in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["op", "variable", "input", "constant", "exit"]
"""What a box stands for. An `exit` is a line that took values out, by `.numpy()` for instance."""

Style = Literal["scope", "call", "line", "run", "part"]
"""What a group is: a name scope or module, a call of a function, a line of the user, one of several
runs of that line, or a part of too many boxes."""


class Place(NamedTuple):
    """A group on the way to a box. Two boxes with the same places are in the same group."""

    key: Any
    label: str
    style: Style
    file: str = ""
    line: int = 0


def common(a: tuple[Place, ...], b: tuple[Place, ...]) -> tuple[Place, ...]:
    """The places that two paths begin with."""
    count = 0
    while count < min(len(a), len(b)) and a[count].key == b[count].key:
        count += 1
    return a[:count]


@dataclass
class Box:
    """An op call, or where a value comes from or goes."""

    label: str
    kind: Kind = "op"
    places: tuple[Place, ...] = ()
    site: int | None = None
    """Where on its line it is, by which the runs of a line are told apart."""
    name: str = ""
    """What the user calls the result."""
    file: str = ""
    line: int = 0
    shape: tuple[int | None, ...] | None = None
    dtype: str = ""
    size: int | None = None
    """Bytes of the results."""
    held: int | None = None
    """Bytes that the tape holds because of it."""
    seconds: float | None = None
    value: dict[str, Any] | None = None
    gradient: dict[str, Any] | None = None
    recorded: bool = True
    cut: tuple[str, str, str] | None = None
    """Cause, message, suggestion: why no gradient goes through it."""
    explained: str = ""
    """Of a source: all that `explain` says."""
    detail: str = ""


class Edge(NamedTuple):
    """A value that goes from one box to another."""

    start: int
    end: int
    flows: bool = True
    """Whether a gradient comes back along it."""


@dataclass
class Group:
    """Boxes and groups that are shown as one when it is folded."""

    label: str
    style: Style
    file: str = ""
    line: int = 0
    runs: int = 1
    """How often the line ran."""
    about: str = ""
    """What is in it, in a few words."""
    children: list[int] = field(default_factory=list)
    """Boxes by their numbers, and groups by numbers that go on from those."""
    rows: list[list[int]] = field(default_factory=list)
    """What stands beside what, from the top. A negative number is a lane: -1 is the first."""
    lanes: list[tuple[int, int]] = field(default_factory=list)
    """For each lane, the two children whose edge goes through it."""
    links: list[tuple[int, int]] = field(default_factory=list)
    """What should stand above what: children and lanes."""
    opened: bool = False
    """Whether it is unfolded at first."""


@dataclass
class Picture:
    """A computation. `groups[0]` holds everything."""

    name: str
    boxes: list[Box]
    edges: list[Edge]
    groups: list[Group] = field(default_factory=list)
    source: int | None = None
    target: int | None = None
    """The boxes whose path is shown at first; norms of gradients are those of the target's."""
    note: str = ""

    def parents(self) -> list[int]:
        """For each box and then each group, the number of the group that it is in; -1 for none."""
        found = [-1] * (len(self.boxes) + len(self.groups))
        for number, group in enumerate(self.groups):
            for child in group.children:
                found[child] = number + len(self.boxes)
        return found

    def shown(self, unfolded: bool = False) -> tuple[list[int], list[tuple[int, int, bool, int]]]:
        """What is visible, and the edges between: start, end, whether it flows, how many.

        Children come after the group that they are in; a group that is unfolded is among them.
        """
        first = len(self.boxes)
        visible: list[int] = []
        stands_for = list(range(first))

        def walk(group: Group, folded: int | None) -> None:
            for child in group.children:
                if folded is None:
                    visible.append(child)
                if child < first:
                    stands_for[child] = child if folded is None else folded
                else:
                    inner = self.groups[child - first]
                    hidden = child if folded is None else folded
                    walk(inner, None if folded is None and (unfolded or inner.opened) else hidden)

        walk(self.groups[0], None)
        merged: dict[tuple[int, int], list[Any]] = {}
        for start, end, flows in self.edges:
            pair = stands_for[start], stands_for[end]
            if pair[0] != pair[1]:
                known = merged.setdefault(pair, [False, 0])
                known[0] |= flows
                known[1] += 1
        return visible, [(*pair, flows, count) for pair, (flows, count) in merged.items()]

    def get_operations(self) -> list[Operation]:
        """The boxes as TensorBoard's graphs list ops, named by their groups."""
        parents, first = self.parents(), len(self.boxes)
        used: set[str] = set()
        found = []
        for number, box in enumerate(self.boxes):
            parts = [box.name or box.label]
            above = parents[number]
            while above > first:
                group = self.groups[above - first]
                parts.append(group.label if group.style != "line" else f"line_{group.line}")
                above = parents[above]
            name = base = "/".join([_plain(part) for part in reversed(parts)])
            for count in range(1, len(self.boxes) + 1):
                if name not in used:
                    break
                name = f"{base}_{count}"
            used.add(name)
            shapes = [] if box.shape is None else [Output(box.shape)]
            kind = box.label if box.kind == "op" else box.kind.capitalize()
            found.append(Operation(name, _plain(kind), [], shapes))
        for start, end, _ in self.edges:
            found[end].inputs.append(found[start])
        return found


class Output(NamedTuple):
    """A result of an Operation."""

    shape: tuple[int | None, ...]


class Operation(NamedTuple):
    """A box as an op of a graph."""

    name: str
    type: str
    inputs: list[Any]
    outputs: list[Output]


def _plain(text: str) -> str:
    """A part of a name as TensorFlow allows it."""
    plain = "".join([c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in text])
    return (plain if plain[:1].isalnum() else f"x{plain}")[:60]
