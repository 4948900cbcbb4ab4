"""What GradientMonitor has measured, shown: as a table, as a live table, as a figure."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from .tracks import Track

_HEADER = ["variable", "shape", "gradient", "weights", "update/weights", "zeros", "NaN", "Inf", ""]
_LEFT = 2  # columns of text; those after it are numbers, and the last is text again
_HEALTHY_RATIO = 1e-3
_MOST_NAMES = 16  # in a legend, or along an axis


# Tables


def table(tracks: list[Track]) -> str:
    """A title, a header, and a line for each variable, in columns."""
    rows = [_HEADER, *map(_row, tracks)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([_title(tracks), *(_line(row, widths).rstrip() for row in rows)])


def show(tracks: list[Track]) -> None:
    """Print the table, in colour on a terminal where `rich` is installed."""
    if _rich_terminal():
        from rich.console import Console

        Console().print(_rich_table(tracks))
    else:
        print(table(tracks))


@contextmanager
def live(tracks: Callable[[], list[Track]]) -> Iterator[None]:
    """Keep the table on the terminal up to date, or print it at the end where there is none."""
    if _rich_terminal():
        from rich.live import Live

        with Live(get_renderable=lambda: _rich_table(tracks()), refresh_per_second=4):
            yield
    else:
        try:
            yield
        finally:
            print(table(tracks()))


def _rich_terminal() -> bool:
    return sys.stdout.isatty() and find_spec("rich") is not None


def _rich_table(tracks: list[Track]) -> Any:
    from rich.table import Table

    result = Table(title=_title(tracks), title_justify="left", header_style="bold", box=None)
    for i, header in enumerate(_HEADER):
        text = i < _LEFT or i == len(_HEADER) - 1
        result.add_column(header, justify="left" if text else "right", no_wrap=True)
    for track in tracks:
        result.add_row(*_row(track), style="red" if track.problems else None)
    return result


def _title(tracks: list[Track]) -> str:
    if not tracks:
        return "GradientMonitor: nothing measured yet"
    step = max(track.latest.step for track in tracks)
    square = sum(track.latest.gradient_norm**2 for track in tracks if track.has_gradient)
    size = sum(track.size for track in tracks)
    return (
        f"step {step}: {len(tracks)} variables, {size:,} numbers, "
        f"norm of all gradients {_number(math.sqrt(square))}"
    )


def _row(track: Track) -> list[str]:
    now = track.latest
    return [
        track.name,
        str(track.shape),
        _number(now.gradient_norm) if track.has_gradient else "None",
        _number(now.weight_norm),
        _number(now.update_ratio),
        f"{now.zeros:.1%}" if track.has_gradient else "–",
        f"{now.nan:.0f}",
        f"{now.inf:.0f}",
        ", ".join(track.problems),
    ]


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2e}"


def _line(row: list[str], widths: list[int]) -> str:
    return "  ".join(
        cell.rjust(width) if _LEFT <= i < len(row) - 1 else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
