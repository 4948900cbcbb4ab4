"""Draws results whose cases have a `line` and a number `n` of things."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.driver import Result
from bench.systems import SYSTEMS

COLUMNS = 3
SPAN = 1000
"""From the bottom to the top at the least: on a narrow axis any line bends."""

STYLES = {
    "gradtape": {"color": "#1f5fa8", "marker": "o", "linewidth": 2},
    "torch": {"color": "#c1502e", "marker": "s", "linestyle": "--"},
    "before": {"color": "0.5", "marker": ".", "linestyle": ":"},
}


def draw(results: Sequence[Result], path: Path) -> None:
    """The time of each thing by the number of them, a small picture for each line."""
    from matplotlib.figure import Figure

    lines: dict[str, list[Result]] = {}
    for result in results:
        if {"line", "n"} <= set(result.given):
            lines.setdefault(result.given["line"], []).append(result)
    if not lines:
        raise ValueError("bench: no question here has cases with a `line` and an `n` to be drawn")
    rows = -(-(len(lines) + 1) // COLUMNS)  # one place for the legend
    figure = Figure(figsize=(4 * COLUMNS, 3.1 * rows), layout="constrained")
    places = list(figure.subplots(rows, COLUMNS).flat)
    for axes, (line, found) in zip(places, lines.items(), strict=False):
        _draw_line(axes, line, found)
    for axes in places[len(lines) :]:
        axes.set_axis_off()
    places[len(lines)].legend(
        *places[0].get_legend_handles_labels(), title="time of each", loc="center", frameon=False
    )
    figure.savefig(path, dpi=120)


def _draw_line(axes: Any, line: str, results: Sequence[Result]) -> None:
    for system, style in STYLES.items():
        points = [(r.given["n"], r.figures[system]) for r in results if system in r.figures]
        if points:
            numbers, seconds = zip(*points, strict=True)
            label = SYSTEMS[system].label
            axes.plot(numbers, [1e6 * s for s in seconds], label=label, markersize=4, **style)
    axes.set(xscale="log", yscale="log", title=line, xlabel="how many", ylabel="µs of each")
    low, high = axes.get_ylim()
    room = max(1.0, (SPAN * low / high) ** 0.5)
    axes.set_ylim(low / room, high * room)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.grid(alpha=0.3)
