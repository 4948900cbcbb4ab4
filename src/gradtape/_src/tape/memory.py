"""Memory: what a tape holds, as fields, as text and as a page."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..core.tables import Table, Tabled, bytes_text, place_text, short

_SHOWN = 12
"""Rows of a table; the others are summed in the last one."""


@dataclass(frozen=True)
class Held:
    """An array that a tape holds, with all the views of it."""

    bytes: int
    shape: tuple[int, ...]
    dtype: str
    op: str = ""
    """The recorded op that made it; "" of what the tape was given: inputs, variables, constants."""
    name: str = ""
    """Of a variable."""
    file: str = ""
    line: int = 0
    """Where it was made; of what was given, where it was first used. Known if it was noted."""
    kept_for: tuple[str, ...] = ()
    """The ops whose gradients need it; none of a variable that is only watched."""
    freed: bool = True
    """Whether it goes when the tape goes: nothing else holds it."""
    can_be_remade: bool = False
    """Whether a tape with a `memory_budget` may drop it, and compute it again."""

    @property
    def what(self) -> str:
        """A text that says what it is: the op that made it, its shape, its dtype."""
        made = self.op or (f"variable {self.name}" if self.name else "given")
        return f"{made} {list(self.shape)} {self.dtype}"


class Share(NamedTuple):
    """What an op, a line or a function of the user has a tape hold."""

    name: str
    bytes: int
    arrays: int
    saved: int
    """Bytes that would not be held: with a memory_budget; of a function, under recompute_grad."""


@dataclass(frozen=True, repr=False)
class Memory(Tabled):
    """What a tape holds, in bytes."""

    tensors: list[Held]
    """Each array once, the largest first."""
    records: int
    """The bytes of the records themselves."""
    count: int
    """How many records there are."""
    file: str = ""
    line: int = 0
    """Where the block of the tape is, if that was noted."""
    functions: list[Share] = field(default_factory=list)
    """By function of the user, for those called inside of the block, if they were noted."""

    @property
    def arrays(self) -> int:
        """The bytes of all arrays."""
        return sum([held.bytes for held in self.tensors])

    @property
    def total(self) -> int:
        """All bytes that are held: arrays, and records."""
        return self.arrays + self.records

    @property
    def freed(self) -> int:
        """The bytes that go when the tape goes: nothing else holds them."""
        return self.records + sum([held.bytes for held in self.tensors if held.freed])

    @property
    def budget_frees(self) -> int:
        """The bytes that a small `memory_budget` would not hold, but compute again."""
        return sum([held.bytes for held in self.tensors if held.can_be_remade])

    @property
    def by_op(self) -> list[Share]:
        """By the op that made the arrays, the largest first."""
        return self._by(lambda held: held.op or ("variables" if held.name else "given"))

    @property
    def by_line(self) -> list[Share]:
        """By the user's line that made the arrays, the largest first; those whose lines are known.

        What a tape was given counts for the line that uses it first.
        """
        return self._by(lambda held: (held.file, held.line) if held.file else None)

    def _by(self, key: Callable[[Held], Hashable]) -> list[Share]:
        parts: dict[Hashable, list[Held]] = {}
        for held in self.tensors:
            group = key(held)
            if group is not None:
                parts.setdefault(group, []).append(held)
        shares = [
            Share(
                place_text(*group) if isinstance(group, tuple) else str(group),
                sum([held.bytes for held in part]),
                len(part),
                sum([held.bytes for held in part if held.can_be_remade]),
            )
            for group, part in parts.items()
        ]
        return sorted(shares, key=lambda share: -share.bytes)

    # Showing it

    def head(self) -> list[str]:
        """How much the tape holds in all, and how much of it could be freed, by which means."""
        where = f" at {short(self.file)}:{self.line}" if self.file else ""
        lines = [
            f"The tape{where} holds {bytes_text(self.total)}: {len(self.tensors)} arrays of "
            f"{bytes_text(self.arrays)}, and {self.count} records of {bytes_text(self.records)}."
        ]
        elsewhere = self.total - self.freed
        if elsewhere > 0.001 * self.total:
            lines.append(
                f"{bytes_text(self.freed)} go with the tape; {bytes_text(elsewhere)} are held "
                "elsewhere too: variables, data."
            )
        if self.budget_frees:
            lines.append(
                f"GradientTape(memory_budget=...) could free up to {bytes_text(self.budget_frees)} "
                "of it, computed again on the way back."
            )
        best = max(self.functions, key=lambda share: share.saved, default=None)
        if best is not None and best.saved:
            lines.append(
                f"tf.recompute_grad({best.name.partition(' ')[0]}) would free "
                f"{bytes_text(best.saved)}."
            )
        return lines

    def _tables(self) -> list[Table]:
        tables = []
        for title, shares, saved in (
            ("By line", self.by_line, "budget frees"),
            ("By function", self.functions, "recompute_grad frees"),
            ("By op", self.by_op, "budget frees"),
        ):
            if shares:
                tables.append(self._table(title, shares, saved))
        shown = self.tensors[:_SHOWN]
        if shown:
            rows = [
                [
                    bytes_text(held.bytes),
                    held.what,
                    ", ".join(held.kept_for) or "watched",
                    place_text(held.file, held.line),
                ]
                for held in shown
            ]
            bars = [held.bytes / max(self.arrays, 1) for held in shown]
            title = "The largest arrays" if len(self.tensors) > _SHOWN else "The arrays"
            tables.append(Table(title, ["bytes", "array", "kept for", "line"], 1, rows, bars))
        return tables

    def _table(self, title: str, shares: list[Share], saved: str) -> Table:
        shown = shares[:_SHOWN]
        rest = shares[_SHOWN:]
        if rest and title != "By function":  # functions call each other: they have no sum
            totals = [sum(part) for part in zip(*[share[1:] for share in rest], strict=True)]
            shown = [*shown, Share(f"{len(rest)} more", totals[0], totals[1], totals[2])]
        rows = [
            [
                bytes_text(share.bytes),
                f"{100 * share.bytes / max(self.arrays, 1):.0f} %",
                str(share.arrays),
                bytes_text(share.saved) if share.saved else "-",
                share.name,
            ]
            for share in shown
        ]
        bars = [share.bytes / max(self.arrays, 1) for share in shown]
        return Table(title, ["bytes", "", "arrays", saved, ""], 4, rows, bars)
