"""Tables with bars, as text and as a page: how reports about tapes and programs are shown."""

from __future__ import annotations

import html
import linecache
import os
from collections.abc import Sequence
from typing import NamedTuple

_WIDTH = 16
_PARTS = " ▏▎▍▌▋▊▉█"


class Table(NamedTuple):
    """Cells by row. The first columns are numbers, at the right; after them a bar, then texts."""

    title: str
    heads: Sequence[str]
    numbers: int
    """How many of the columns stand before the bar."""
    rows: Sequence[Sequence[str]]
    shares: Sequence[float]
    """The length of the bar of each row, from 0 to 1."""

    def __str__(self) -> str:
        cells = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [self.title] if self.title else []
        for row, share in zip(cells, [0.0, *self.shares], strict=True):
            padded = [
                cell.rjust(width) if i < self.numbers else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            padded.insert(self.numbers, bar(share))
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    def html(self) -> str:
        """The same for a notebook."""
        heads = [f"<th>{html.escape(head)}</th>" for head in self.heads]
        heads.insert(self.numbers, "<th></th>")
        rows = []
        for row, share in zip(self.rows, self.shares, strict=True):
            cells = [
                f"<td style='text-align:{'right' if i < self.numbers else 'left'}'>"
                f"{html.escape(cell)}</td>"
                for i, cell in enumerate(row)
            ]
            length = f"width:{8 * share:.3g}em;height:0.8em;background:#4a7ebb"
            cells.insert(self.numbers, f"<td><div style='{length}'></div></td>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        caption = f"<b>{html.escape(self.title)}</b>" if self.title else ""
        return f"{caption}<table><tr>{''.join(heads)}</tr>{''.join(rows)}</table>"


class Tabled:
    """What is shown as some lines of text, with tables below: at a prompt and in a notebook."""

    def head(self) -> list[str]:
        """The lines before the tables."""
        return []

    def _tables(self) -> list[Table]:
        return []

    def __str__(self) -> str:
        return "\n\n".join(["\n".join(self.head()), *map(str, self._tables())])

    __repr__ = __str__  # at a prompt it is asked for to be read

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        head = "<br>".join(map(html.escape, self.head()))
        return f"<div>{head}{''.join([table.html() for table in self._tables()])}</div>"


def bar(share: float) -> str:
    """A bar of text, of an eighth of a letter's precision."""
    eighths = round(8 * _WIDTH * min(max(share, 0.0), 1.0))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_PARTS[rest] if rest else "")).ljust(_WIDTH)


def bytes_text(count: float) -> str:
    """A number of bytes to read: "1.21 MB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"


def place_text(file: str, line: int) -> str:
    """A line of the user's code, from the current folder if the file is in it; with its text."""
    if not file:
        return ""
    text = linecache.getline(file, line).strip()
    return f"{short(file)}:{line}" + (f"  {text:.60}" if text else "")


def short(file: str) -> str:
    """A path from the current folder, if the file is in it."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # on another drive of Windows
        return file
    return file if relative.startswith(os.pardir) else relative
