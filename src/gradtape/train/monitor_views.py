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
_MOST_IN_LEGEND, _MOST_ALONG_AXIS = 16, 48  # names of variables


# Tables


def table(tracks: list[Track]) -> str:
    """A title, a header, and a line for each variable, in columns."""
    if not tracks:
        return _title(tracks)
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
    from rich.markup import escape
    from rich.table import Table

    result = Table(title=_title(tracks), title_justify="left", header_style="bold", box=None)
    for i, header in enumerate(_HEADER):
        text = i < _LEFT or i == len(_HEADER) - 1
        result.add_column(header, justify="left" if text else "right", no_wrap=True)
    for track in tracks:
        result.add_row(*map(escape, _row(track)), style="red" if track.problems else None)
    return result


def _title(tracks: list[Track]) -> str:
    if not tracks:
        return "GradientMonitor: nothing measured yet"
    step = max(track.latest.step for track in tracks)
    norm = math.hypot(*[track.latest.gradient_norm for track in tracks if track.has_gradient])
    size = sum(track.size for track in tracks)
    return (
        f"step {step}: {len(tracks)} variables, {size:,} numbers, "
        f"norm of all gradients {_number(norm)}"
    )


def _row(track: Track) -> list[str]:
    now = track.latest
    return [
        track.name,
        str(track.shape),
        _number(now.gradient_norm) if track.has_gradient else "None",
        _number(now.weight_norm),
        "–" if math.isnan(now.update_ratio) else _number(now.update_ratio),
        f"{now.zeros:.1%}" if track.has_gradient else "–",
        f"{now.nan:.0f}",
        f"{now.inf:.0f}",
        ", ".join(track.problems),
    ]


def _number(value: float) -> str:
    return f"{value:.2e}"


def _line(row: list[str], widths: list[int]) -> str:
    return "  ".join(
        cell.rjust(width) if _LEFT <= i < len(row) - 1 else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    )


# Figure


def plot(tracks: list[Track], path: Any = None) -> Any:
    """Norms and update ratios over time; root mean squares and magnitudes by variable.

    With a `path` it is saved there, and is none of pyplot's; without, `pyplot.show()` shows it.
    """
    if not tracks:
        raise ValueError("GradientMonitor: there is nothing to plot before the first update.")
    try:
        from matplotlib import colormaps
    except ImportError:
        raise ImportError(
            "GradientMonitor: plot needs matplotlib: pip install matplotlib."
        ) from None
    figure = _new_figure(path)(figsize=(13, 8.5), layout="constrained")
    norms, ratios, flow, magnitudes = figure.subplots(2, 2).flat
    colors = colormaps["viridis"](np.linspace(0, 0.9, len(tracks)))

    norms.set_title("Norm of the gradient (dark: the first variables)")
    _plot_over_time(norms, tracks, colors, "gradient_norm")
    ratios.set_title(f"Norm of the update / norm of the weights (dashed: {_HEALTHY_RATIO:g})")
    _plot_over_time(ratios, tracks, colors, "update_ratio")
    ratios.axhline(_HEALTHY_RATIO, color="0.4", linestyle="--", linewidth=1)
    flow.set_title("Gradient flow: root mean square (bar: 90 % of steps, dot: latest)")
    _plot_flow(flow, tracks, colors)
    magnitudes.set_title("Magnitudes in the latest gradient, and its share of zeros", pad=16)
    _plot_magnitudes(magnitudes, tracks)

    if len(tracks) <= _MOST_IN_LEGEND:
        figure.legend(*norms.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _new_figure(path: Any) -> Callable[..., Any]:
    if path is None:
        from matplotlib import pyplot

        return pyplot.figure
    from matplotlib.figure import Figure

    return Figure


def _plot_over_time(axes: Any, tracks: list[Track], colors: Any, field: str) -> None:
    for track, color in zip(tracks, colors, strict=True):
        values = getattr(track.history, field)
        axes.plot(
            track.history.step,
            np.where(values > 0, values, np.nan),  # a logarithmic axis has no place for 0
            color=color,
            linewidth=1.2,
            linestyle="-" if len(track.shape) > 1 else ":",
            label=_short(track.name),
        )
    axes.set_yscale("log")
    axes.set_xlabel("step")
    axes.grid(alpha=0.25)


def _plot_flow(axes: Any, tracks: list[Track], colors: Any) -> None:
    seen = []
    for place, (track, color) in enumerate(zip(tracks, colors, strict=True)):
        roots = track.history.gradient_norm / math.sqrt(track.gradient_size or 1)
        roots = roots[(roots > 0) & np.isfinite(roots)]
        if roots.size:
            low, middle, high = np.quantile(roots, [0.05, 0.5, 0.95])
            axes.fill_between([place - 0.3, place + 0.3], low, high, color=color, alpha=0.35, lw=0)
            axes.plot([place - 0.3, place + 0.3], [middle, middle], color=color)
            axes.plot(place, roots[-1], "o", color=color, markersize=5)
            seen += [low, high, roots[-1]]
    _finish_by_variable(axes, tracks, seen)


def _plot_magnitudes(axes: Any, tracks: list[Track]) -> None:
    seen: list[float] = []
    for place, track in enumerate(tracks):
        edges, counts = track.histogram
        if counts.size:
            shares = counts / counts.max()
            span = [place - 0.4, place + 0.4]
            axes.pcolormesh(span, edges, shares[:, None], cmap="Blues", vmin=0, vmax=1)
            most = np.searchsorted(np.cumsum(counts), 0.03 * counts.sum())  # few are far below
            seen += [edges[most], edges[-1]]
        share = f"{track.latest.zeros:.0%}" if track.has_gradient else "None"
        if share != "0%":
            axes.annotate(
                share,
                (place, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=8,
            )
    _finish_by_variable(axes, tracks, seen)


def _finish_by_variable(axes: Any, tracks: list[Track], seen: list[float]) -> None:
    """Names along the axis, and limits around what was seen: matplotlib's own cut bars off."""
    axes.set_yscale("log")
    if seen:
        axes.set_ylim(min(seen) / 2, max(seen) * 2)
    every = -(-len(tracks) // _MOST_ALONG_AXIS)
    names = [_short(track.name) for track in tracks[::every]]
    crowded = len(tracks) > _MOST_IN_LEGEND
    axes.set_xticks(
        range(0, len(tracks), every),
        names,
        rotation=90 if crowded else 30,
        ha="center" if crowded else "right",
        rotation_mode=None if crowded else "anchor",
        fontsize=7 if crowded else 9,
    )
    axes.set_xlim(-0.6, len(tracks) - 0.4)
    axes.grid(alpha=0.25, axis="y")


def _short(name: str) -> str:
    """The end of a long name, which is where names differ."""
    return name if len(name) <= 28 else f"…{name[-27:]}"
