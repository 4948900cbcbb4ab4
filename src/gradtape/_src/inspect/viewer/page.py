"""The page: one HTML file with its style, its program and its data. It asks the network nothing."""

from __future__ import annotations

import html
import json
import linecache
import math
import os
from importlib.resources import files
from typing import Any

from .layered import GAP_X, GAP_Y, HEADER, LANE, PADDING, box_size, subtitle_of, title_of
from .picture import Picture

_AROUND = 150
"""Lines of a long file that are shown before and after those that are needed."""


def page(title: str, pictures: list[Picture]) -> str:
    """The text of the page."""
    sources = _Sources()
    data = {
        "title": title,
        "gaps": [GAP_X, GAP_Y, PADDING, HEADER, LANE],
        "views": [_view(picture, sources) for picture in pictures],
        "files": sources.texts(),
    }
    part = files(__package__).joinpath
    filled = {
        "TITLE": html.escape(title),
        "CSS": part("page.css").read_text(encoding="utf-8"),
        "JS": part("page.js").read_text(encoding="utf-8"),
        "DATA": as_json(data),
    }
    text = part("page.html").read_text(encoding="utf-8")
    pieces = text.split("@@")
    pieces[1::2] = [filled[name] for name in pieces[1::2]]
    return "".join(pieces)


def as_json(data: Any) -> str:
    """`data` as it can stand inside of a script element: no `<` in it ends that."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class _Sources:
    """The files that lines are from, by number."""

    def __init__(self) -> None:
        self._lines: dict[str, list[int]] = {}
        self._numbers: dict[str, int] = {}

    def number(self, file: str, line: int) -> int:
        """The number of a file, of which this line is needed; -1 for none."""
        if not file:
            return -1
        self._lines.setdefault(file, []).append(line)
        return self._numbers.setdefault(file, len(self._numbers))

    def texts(self) -> list[dict[str, Any]]:
        found = []
        for file, used in self._lines.items():
            lines = linecache.getlines(file)
            first = 1
            if len(lines) > 20 * _AROUND:
                first = max(1, min(used) - _AROUND)
                lines = lines[first - 1 : max(used) + _AROUND]
            name = os.path.basename(file) or file
            texts = [line.rstrip("\n") for line in lines]
            found.append({"name": name, "path": file, "first": first, "lines": texts})
        return found


def _view(picture: Picture, sources: _Sources) -> dict[str, Any]:
    return {
        "name": picture.name,
        "note": picture.note,
        "source": picture.source,
        "target": picture.target,
        "boxes": [_box(picture, number, sources) for number in range(len(picture.boxes))],
        "edges": [n for start, end, flows in picture.edges for n in (start, end, int(flows))],
        "groups": [_group(picture, number, sources) for number in range(len(picture.groups))],
    }


def _box(picture: Picture, number: int, sources: _Sources) -> dict[str, Any]:
    box = picture.boxes[number]
    fields = {
        "title": title_of(box),
        "about": subtitle_of(box),
        "label": box.label,
        "kind": box.kind,
        "name": box.name,
        "width": box_size(picture, number)[0],
        "file": sources.number(box.file, box.line),
        "line": box.line,
        "size": box.size,
        "held": box.held,
        "seconds": None if box.seconds is None else float(f"{box.seconds:.3g}"),
        "value": _rounded(box.value),
        "gradient": _rounded(box.gradient),
        "unrecorded": int(not box.recorded and box.kind == "op"),
        "cut": box.cut,
        "explained": box.explained,
        "detail": box.detail,
    }
    left_out = (None, "", 0)  # most boxes have most of them, and there may be many boxes
    return {k: value for k, value in fields.items() if k == "file" or value not in left_out}


def _group(picture: Picture, number: int, sources: _Sources) -> dict[str, Any]:
    group = picture.groups[number]
    return {
        "title": group.label,
        "about": group.about,
        "style": group.style,
        "file": sources.number(group.file, group.line),
        "line": group.line,
        "runs": group.runs,
        "width": box_size(picture, len(picture.boxes) + number)[0],
        "children": group.children,
        "rows": group.rows,
        "lanes": [n for lane in group.lanes for n in lane],
        "links": [n for link in group.links for n in link],
        "open": int(group.opened),
    }


def _rounded(numbers: dict[str, Any] | None) -> dict[str, Any] | None:
    """Six digits of each number: what is not finite, JSON has no word for."""
    if numbers is None:
        return None
    found = {}
    for name, value in numbers.items():
        if isinstance(value, float):
            value = float(f"{value:.6g}") if math.isfinite(value) else str(value)
        found[name] = value
    return found
