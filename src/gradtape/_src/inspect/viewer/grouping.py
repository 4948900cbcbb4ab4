"""Boxes into groups: modules and scopes, calls, lines; loops folded, and nothing too large."""

from __future__ import annotations

from collections.abc import Sequence
from linecache import getline
from typing import Any

from .picture import Box, Group, Picture, common

_MOST = 60
"""Children of a group. More are put into groups of their own, by the order in which they ran."""

_AT_FIRST = 36
"""How many boxes and groups are visible before anything is unfolded by hand."""


def group(picture: Picture) -> None:
    """Fill in the groups of a picture whose boxes know their places."""
    boxes = picture.boxes
    tree = _Tree(boxes)
    tree.insert(_homes(picture))
    tree.split_runs()
    tree.split_large()
    picture.groups = tree.groups
    _describe(picture)
    _open_some(picture)


class _Tree:
    def __init__(self, boxes: list[Box]) -> None:
        self.boxes = boxes
        self.first = len(boxes)
        self.groups = [Group("", "scope")]

    def add(self, group: Group) -> int:
        self.groups.append(group)
        return self.first + len(self.groups) - 1

    def insert(self, homes: list[tuple[Any, ...]]) -> None:
        known: dict[Any, int] = {(): self.first}
        for number, places in enumerate(homes):
            path: tuple[Any, ...] = ()
            for place in places:
                inner = (*path, place.key)
                if inner not in known:
                    made = Group(place.label, place.style, place.file, place.line)
                    known[inner] = self.add(made)
                    self.groups[known[path] - self.first].children.append(known[inner])
                path = inner
            self.groups[known[path] - self.first].children.append(number)
        for group in self.groups:  # a line with one op is that op
            group.children = [self._only_child(child) for child in group.children]
        self._compact()

    def _only_child(self, child: int) -> int:
        if child < self.first:
            return child
        inner = self.groups[child - self.first]
        alone = inner.style in ("line", "run") and len(inner.children) == 1
        return self._only_child(inner.children[0]) if alone else child

    def _compact(self) -> None:
        """Leave out the groups that nothing is in any more."""
        reached = [self.first]
        for number in reached:
            reached += [c for c in self.groups[number - self.first].children if c >= self.first]
        renamed = {old: self.first + new for new, old in enumerate(reached)}
        self.groups = [self.groups[number - self.first] for number in reached]
        for group in self.groups:
            group.children = [renamed.get(child, child) for child in group.children]

    def split_runs(self) -> None:
        for group in self.groups[:]:
            if group.style == "line":
                ops = [c for c in group.children if c < self.first and self.boxes[c].kind == "op"]
                runs = runs_of([(self.boxes[c].site, self.boxes[c].label) for c in ops])
                group.runs = len(runs)
                if 1 < len(runs) < len(ops):
                    in_runs = set(ops)
                    group.children = [c for c in group.children if c not in in_runs]
                    for count, (start, end) in enumerate(runs, 1):
                        run = Group(f"run {count}", "run", group.file, group.line)
                        run.children = ops[start:end]
                        group.children.append(self.add(run))

    def split_large(self) -> None:
        for group in self.groups[:]:
            while len(group.children) > _MOST:
                count = -(-len(group.children) // _MOST)
                size = -(-len(group.children) // count)
                parts = []
                for start in range(0, len(group.children), size):
                    children = group.children[start : start + size]
                    label = f"{start + 1} – {start + len(children)}"
                    part = Group(label, "part", children=children)
                    parts.append(self.add(part))
                group.children = parts


def _homes(picture: Picture) -> list[tuple[Any, ...]]:
    """The places of each box. One without places of its own gets those that all its users share.

    What stands for a variable or an input is seen from outside of the line that uses it.
    """
    homes: list[Any] = [box.places for box in picture.boxes]
    users: dict[int, list[int]] = {}
    for start, end, _ in picture.edges:
        if picture.boxes[start].kind != "op":
            users.setdefault(start, []).append(end)
        elif picture.boxes[end].kind == "exit":
            users.setdefault(end, []).append(start)
    for number, of in users.items():
        box = picture.boxes[number]
        if box.places:
            continue
        shared = homes[of[0]]
        for other in of[1:]:
            shared = common(shared, homes[other])
        if box.kind in ("variable", "input"):
            shared = tuple([place for place in shared if place.style != "line"])
        homes[number] = shared
    return homes


def runs_of(sites: Sequence[Any]) -> list[tuple[int, int]]:
    """Where each run of a line begins and ends, given what ran: its site on the line, and the op.

    A line in a loop gives the same again and again; if rounds differ, each that begins further left
    than the op before it is a new one.
    """
    period = _period(sites)
    if period < len(sites):
        return [(start, start + period) for start in range(0, len(sites), period)]
    starts = [0]
    for i in range(1, len(sites)):
        before, here = sites[i - 1][0], sites[i][0]
        if before is not None and here is not None and here < before:
            starts.append(i)
    ends = [*starts[1:], len(sites)]
    return list(zip(starts, ends, strict=True)) if sites else []


def _period(sites: Sequence[Any]) -> int:
    """The length of the shortest part that the whole is a repetition of.

    (The table of how far each beginning agrees with an end, as for the search in texts.)
    """
    agree = [0] * len(sites)
    for i in range(1, len(sites)):
        length = agree[i - 1]
        while length and sites[i] != sites[length]:
            length = agree[length - 1]
        agree[i] = length + (sites[i] == sites[length])
    period = len(sites) - (agree[-1] if agree else 0)
    return period if period and len(sites) % period == 0 else len(sites)


def _describe(picture: Picture) -> None:
    """Let a line be called by its text, and say how much is in each group."""
    first = len(picture.boxes)

    def ops_in(group: Group) -> int:
        count = 0
        for child in group.children:
            box = picture.boxes[child] if child < first else None
            count += ops_in(picture.groups[child - first]) if box is None else box.kind == "op"
        words = [f"{count} op{'s' * (count != 1)}"]
        if group.style == "line":
            group.label = getline(group.file, group.line).strip()[:60] or group.label
        if group.line and group.style in ("line", "call"):
            words.insert(0, f"line {group.line}")
        if group.runs > 1:
            words.insert(0, f"×{group.runs}")
        group.about = " · ".join(words)
        return count

    ops_in(picture.groups[0])


def _open_some(picture: Picture) -> None:
    """Unfold from the outside in, as long as it can be taken in at a glance."""
    first = len(picture.boxes)
    picture.groups[0].opened = True
    waiting = [picture.groups[0]]
    count = len(picture.groups[0].children)
    for group in waiting:
        for child in group.children:
            inner = picture.groups[child - first] if child >= first else None
            if inner is None or inner.style in ("line", "run", "part"):
                continue
            if count + len(inner.children) <= _AT_FIRST:
                inner.opened = True
                count += len(inner.children)
                waiting.append(inner)
