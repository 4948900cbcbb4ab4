"""A picture as SVG: what the page shows first, or all of it, with nothing to press."""

from __future__ import annotations

from html import escape

from .layered import HEADER, Rectangle, placed, subtitle_of, title_of
from .picture import Picture

_STYLE = """
.back{fill:#f6f7f9}.frame{fill:#e9eef5;stroke:#d8dee6}.deep{fill:#dfe6f0;stroke:#d8dee6}
.op,.folded{fill:#fff;stroke:#9aa7b6}.variable{fill:#dff0e3;stroke:#9aa7b6}
.input{fill:#e3eafc;stroke:#9aa7b6}.constant{fill:#eee;stroke:#9aa7b6}.exit{fill:#fde3e1}
.cut{stroke:#b3261e;stroke-dasharray:6 4}.unrecorded{stroke-dasharray:6 4}
.edge{fill:none;stroke:#9aa7b6;stroke-width:1.2}.dead{stroke-dasharray:5 5}.tip{fill:#9aa7b6}
text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#16202c}.about{font-size:11px;fill:#566577}
.title{font-weight:600}
@media (prefers-color-scheme:dark){.back{fill:#11161d}.frame{fill:#19222d;stroke:#2c3745}
.deep{fill:#1e2935;stroke:#2c3745}.op,.folded{fill:#222c38;stroke:#66758a}
.variable{fill:#1c3a2a;stroke:#66758a}.input{fill:#22325a;stroke:#66758a}
.constant{fill:#2b2f36;stroke:#66758a}.exit{fill:#4a2422}.cut{stroke:#ff8a80}
.edge{stroke:#66758a}.tip{fill:#66758a}text{fill:#e6ebf2}.about{fill:#9aa8ba}}
"""


def svg(picture: Picture, unfolded: bool = False) -> str:
    """The text of the SVG file."""
    where = placed(picture, unfolded)
    visible, edges = picture.shown(unfolded)
    first = len(picture.boxes)
    _, _, width, height = where[first]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{_text(picture.name)}">',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker></defs>',
        f'<rect class="back" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    depths = _depths(picture)
    is_open = [i for i in visible if i >= first and (unfolded or picture.groups[i - first].opened)]
    for item in is_open:
        parts.append(_frame(picture, item, where[item], depths[item]))
    frames = set(is_open)
    for start, end, flows, _ in edges:
        parts.append(_edge(where[start], where[end], flows))
    parts += [_item(picture, item, where[item]) for item in visible if item not in frames]
    return "\n".join([*parts, "</svg>", ""])


def _depths(picture: Picture) -> list[int]:
    parents, first = picture.parents(), len(picture.boxes)
    depths = [0] * len(parents)
    waiting = [first]
    for item in waiting:
        for child in picture.groups[item - first].children if item >= first else ():
            depths[child] = depths[parents[child]] + 1
            waiting.append(child)
    return depths


def _frame(picture: Picture, item: int, place: Rectangle, depth: int) -> str:
    x, y, w, h = place
    group = picture.groups[item - len(picture.boxes)]
    kind = "frame" if depth % 2 else "deep"
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="10"/>'
        f'<text class="title" x="{x + 12:.1f}" y="{y + HEADER / 2 + 4:.1f}">'
        f"{_text(_fitting(group.label, w - 24))}"
        f'<tspan class="about" dx="8">{_text(group.about)}</tspan></text>'
    )


def _item(picture: Picture, item: int, place: Rectangle) -> str:
    x, y, w, h = place
    if item >= len(picture.boxes):
        group = picture.groups[item - len(picture.boxes)]
        title, about, kind = group.label, group.about, "folded"
        behind = (
            f'<rect class="folded" x="{x + 4:.1f}" y="{y + 4:.1f}" width="{w:.1f}" '
            f'height="{h:.1f}" rx="6"/>'
        )
        hint = ""
    else:
        box = picture.boxes[item]
        title, about, behind = title_of(box), subtitle_of(box) or box.kind, ""
        kind = box.kind
        if box.cut:
            kind += " cut"
        elif box.kind == "op" and not box.recorded:
            kind += " unrecorded"
        hint = f"<title>{_text(f'{box.cut[0]}: {box.cut[1]}')}</title>" if box.cut else ""
    shape = _shape(kind.partition(" ")[0], x, y, w, h)
    return (
        f'<g>{hint}{behind}<{shape} class="{kind}"/>'
        f'<text class="title" x="{x + 13:.1f}" y="{y + h / 2 - 3:.1f}">'
        f"{_text(_fitting(title, w - 24, kind == 'variable'))}</text>"
        f'<text class="about" x="{x + 13:.1f}" y="{y + h / 2 + 13:.1f}">'
        f"{_text(_fitting(about, w - 24))}</text></g>"
    )


def _shape(kind: str, x: float, y: float, w: float, h: float) -> str:
    """What it is can be told by the shape alone, as on the page."""
    if kind == "input":
        return f'path d="M{x + 12:.1f} {y:.1f}h{w - 12:.1f}l-12 {h:.1f}h{12 - w:.1f}Z"'
    if kind == "exit":
        return (
            f'path d="M{x:.1f} {y:.1f}h{w - 14:.1f}l14 {h / 2:.1f}l-14 {h / 2:.1f}h{14 - w:.1f}Z"'
        )
    radius = {"variable": h / 2, "constant": 1.0}.get(kind, 6.0)
    return f'rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{radius:.0f}"'


def _edge(start: Rectangle, end: Rectangle, flows: bool) -> str:
    ax, ay = start[0] + start[2] / 2, start[1] + start[3]
    bx, by = end[0] + end[2] / 2, end[1]
    if by < ay:  # back, in a loop
        side = max(start[0] + start[2], end[0] + end[2]) + 14
        path = f"M{ax:.1f} {ay:.1f}C{side:.1f} {ay + 30:.1f} {side:.1f} {by - 30:.1f}"
    else:
        middle = (by - ay) / 2
        path = f"M{ax:.1f} {ay:.1f}C{ax:.1f} {ay + middle:.1f} {bx:.1f} {by - middle:.1f}"
    dead = "" if flows else " dead"
    return f'<path class="edge{dead}" marker-end="url(#tip)" d="{path} {bx:.1f} {by:.1f}"/>'


def _fitting(text: str, width: float, keeps_end: bool = False) -> str:
    """Of a name with scopes the end is kept: variables of a layer differ there."""
    most = max(2, int(width / 6.6))
    if len(text) <= most:
        return text
    return f"…{text[1 - most :]}" if keeps_end else f"{text[: most - 1]}…"


def _text(text: str) -> str:
    """As XML may hold it: without the control characters that it may not."""
    return escape("".join([c if c.isprintable() else "?" for c in text]))
