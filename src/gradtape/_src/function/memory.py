"""ProgramMemory: what a compiled function takes of memory, as fields, as text and as a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..core.tables import Table, Tabled, bytes_text, place_text

_SHOWN = 12


class Buffer(NamedTuple):
    """An array that a program makes for itself and lets go of."""

    bytes: int
    op: str
    """What makes it, in the words of XLA; several ops may be one."""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, repr=False)
class ProgramMemory(Tabled):
    """What a compiled function takes of memory, in bytes, as XLA has assigned it."""

    name: str
    arguments: int
    """Tensors and variables that it is given, and the arrays that it may write results into."""
    outputs: int
    """What it gives: results, and new values of variables."""
    aliased: int
    """The part of the outputs that is written over arguments."""
    temporary: int
    """What it holds while it runs, at the most."""
    code: int
    buffers: list[Buffer] = field(default_factory=list)
    """What there is of the temporary arrays when they take most, the largest first."""

    @property
    def total(self) -> int:
        """All bytes at the peak."""
        return self.arguments + self.outputs - self.aliased + self.temporary

    @property
    def by_line(self) -> list[tuple[str, int, int, int]]:
        """(file, line, bytes, buffers) of the user's lines that hold the peak, the largest first.

        A buffer of several fused ops counts for the line of the last of them.
        """
        found: dict[tuple[str, int], list[int]] = {}
        for buffer in self.buffers:
            entry = found.setdefault((buffer.file, buffer.line), [0, 0])
            entry[0] += buffer.bytes
            entry[1] += 1
        rows = [(file, line, size, count) for (file, line), (size, count) in found.items()]
        return sorted(rows, key=lambda row: -row[2])

    def head(self) -> list[str]:
        """How much memory the program takes in all, and which line takes most of it."""
        lines = [
            f"{self.name} takes {bytes_text(self.total)}: arguments {bytes_text(self.arguments)}, "
            f"outputs {bytes_text(self.outputs)} ({bytes_text(self.aliased)} of them written over "
            f"arguments), temporary {bytes_text(self.temporary)}."
        ]
        peak = next((row for row in self.by_line if row[0]), None)
        if peak is not None:
            share = 100 * peak[2] / max(self.temporary, 1)
            lines.append(f"At the peak {share:.0f} % of what is temporary is of one line:")
            lines.append(f"  {place_text(peak[0], peak[1])}")
        return lines

    def _tables(self) -> list[Table]:
        if not self.buffers:
            return []
        whole = max(self.temporary, 1)
        lines = self.by_line[:_SHOWN]
        rows = [
            [bytes_text(size), str(count), place_text(file, line) or "(XLA names no line)"]
            for file, line, size, count in lines
        ]
        bars = [size / whole for _, _, size, _ in lines]
        largest = self.buffers[:_SHOWN]
        by_buffer = [[bytes_text(b.bytes), b.op, place_text(b.file, b.line)] for b in largest]
        return [
            Table("Temporary arrays at the peak, by line", ["bytes", "arrays", ""], 2, rows, bars),
            Table(
                "The largest of them", ["bytes", "ops", "line"], 1, by_buffer,
                [b.bytes / whole for b in largest],
            ),
        ]  # fmt: skip
