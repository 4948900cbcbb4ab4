"""What GradientMonitor has measured, shown: as a table, as a live table, as a figure."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from .measurements import Track

_HEADER = ["variable", "shape", "gradient", "weights", "update/weights", "zeros", "NaN", "Inf", ""]
_LEFT = 2  # columns of text; those after it are numbers, and the last is text again
_SIZE = (13, 8.5)  # inches
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
    if path is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=_SIZE, layout="constrained")
    else:
        from matplotlib.figure import Figure

        figure = Figure(figsize=_SIZE, layout="constrained")
    logarithmic = {"yscale": "log", "autoscaley_on": False}
    norms, ratios, flow, magnitudes = figure.subplots(2, 2, subplot_kw=logarithmic).flat
    colors = colormaps["viridis"](np.linspace(0, 0.9, len(tracks)))

    norms.set_title("Norm of the gradient (dark: the first variables)")
    _plot_over_time(norms, tracks, colors, "gradient_norm")
    ratios.set_title(f"Norm of the update / norm of the weights (dashed: {_HEALTHY_RATIO:g})")
    _plot_over_time(ratios, tracks, colors, "update_ratio", _HEALTHY_RATIO)
    ratios.axhline(_HEALTHY_RATIO, color="0.4", linestyle="--", linewidth=1)
    flow.set_title("Gradient flow: root mean square (bar: 90 % of steps, dot: latest)")
    _plot_flow(flow, tracks, colors)
    magnitudes.set_title("Magnitudes in the latest gradient, and its share of zeros", pad=26)
    _plot_magnitudes(magnitudes, tracks)

    if len(tracks) <= _MOST_IN_LEGEND:
        figure.legend(*norms.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _plot_over_time(axes: Any, tracks: list[Track], colors: Any, field: str, *more: float) -> None:
    seen: list[Any] = [*more]
    for track, color in zip(tracks, colors, strict=True):
        seen.append(values := getattr(track.history, field))
        shown = _on_log_axis(values)
        beside = np.pad(shown, 1)
        axes.plot(
            track.history.step,
            np.where(shown, values, np.nan),
            color=color,
            linewidth=1.2,
            linestyle="-" if len(track.shape) > 1 else ":",
            marker=".",
            markevery=~(beside[:-2] | beside[2:]),  # between gaps there is no line to see
            label=_short(track.name),
        )
    _limit(axes, seen)
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    axes.set_xlabel("step")
    axes.grid(alpha=0.25)


def _plot_flow(axes: Any, tracks: list[Track], colors: Any) -> None:
    from matplotlib.collections import PolyCollection

    summaries = np.full((4, len(tracks)), np.nan)
    for column, track in zip(summaries.T, tracks, strict=True):
        roots = track.history.gradient_norm / math.sqrt(track.gradient_size or 1)
        roots = roots[_on_log_axis(roots)]
        if roots.size:
            column[:] = *np.quantile(roots, [0.05, 0.5, 0.95]), track.root_mean_square
    low, middle, high, latest = np.where(_on_log_axis(summaries), summaries, np.nan)
    left, places, right = np.add.outer([-0.3, 0, 0.3], np.arange(len(tracks)))
    corners = np.stack([left, low, left, high, right, high, right, low], axis=1).reshape(-1, 4, 2)
    axes.add_collection(PolyCollection(list(corners), facecolors=colors, alpha=0.35), autolim=False)
    axes.hlines(middle, left, right, colors=colors)
    axes.scatter(places, latest, 25 if len(tracks) <= _MOST_ALONG_AXIS else 4, colors)
    _limit(axes, [*summaries])
    _name_variables(axes, tracks)


def _plot_magnitudes(axes: Any, tracks: list[Track]) -> None:
    """One mesh for all variables (of thousands, each its own takes a minute), with gaps between."""
    histograms = [track.histogram for track in tracks]
    edges = np.unique(np.concatenate([own_edges for own_edges, _ in histograms]))
    shares = np.full((edges.size - 1, 2 * len(tracks) - 1), np.nan)
    seen: list[float] = []
    for column, (own_edges, counts) in zip(shares.T[::2], histograms, strict=True):
        if counts.size:
            start = np.searchsorted(edges, own_edges[0])
            column[start : start + counts.size] = counts / counts.max()
            most = np.searchsorted(np.cumsum(counts), 0.03 * counts.sum())  # few are far below
            seen += [own_edges[most], own_edges[-1]]
    if seen:
        sides = np.add.outer(np.arange(len(tracks)), [-0.4, 0.4]).ravel()
        axes.pcolormesh(sides, edges, shares, cmap="Blues", vmin=0, vmax=1)
    _limit(axes, seen)
    _name_variables(axes, tracks)
    crowded = len(tracks) > _MOST_IN_LEGEND
    look = {"ha": "center", "fontsize": 7 if crowded else 8, "rotation": 90 if crowded else 0}
    for place in map(int, axes.get_xticks()):
        share = f"{tracks[place].latest.zeros:.0%}" if tracks[place].has_gradient else "None"
        if share != "0%":
            axes.text(place, 1.01, share, transform=axes.get_xaxis_transform(), **look)


def _on_log_axis(values: Any) -> Any:
    """Which of the values have a place on a logarithmic axis: not 0, NaN and Inf."""
    return (values > 0) & (values < math.inf)


def _limit(axes: Any, seen: list[Any]) -> None:
    """Limits around what was seen: matplotlib's own cut bars off, and need two different values."""
    values = np.hstack([[], *seen])
    values = values[_on_log_axis(values)].clip(1e-150, 1e150)  # beyond, its ticks overflow
    if values.size:
        axes.set_ylim(values.min() / 2, values.max() * 2)
    else:
        axes.text(0.5, 0.5, "nothing but 0, NaN and Inf", ha="center", transform=axes.transAxes)


def _name_variables(axes: Any, tracks: list[Track]) -> None:
    """Names along the axis, of as many variables as there is room for."""
    named = range(0, len(tracks), -(-len(tracks) // _MOST_ALONG_AXIS))
    crowded = len(tracks) > _MOST_IN_LEGEND
    axes.set_xticks(
        named,
        [_short(tracks[place].name) for place in named],
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
