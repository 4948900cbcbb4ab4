"""What stands above what, and beside what: layers by the longest path, ordered by barycentres.

Each group is a small graph of its own, of which only the order is decided here, once. Sizes change
when something is unfolded, and with them all coordinates: `placed` computes those, for texts here,
and the same lines in page.js for the page.
"""

from __future__ import annotations

from typing import Any

from .picture import Group, Picture

_WIDEST = 14
"""Children in a row; more are broken into several rows."""

_LONGEST = 10
"""Rows that an edge may cross in a lane of its own; a longer one crosses behind the boxes."""

_MOST_LANES = 400
_SWEEPS = 6

GAP_X, GAP_Y, PADDING, HEADER, LANE = 22.0, 36.0, 16.0, 30.0, 10.0


def arrange(picture: Picture) -> None:
    """Fill in the rows, lanes and links of the groups of a picture."""
    edges_of = _edges_inside(picture)
    starts = _starts(picture)
    for number, group in enumerate(picture.groups):
        _arrange(group, edges_of.get(number, {}), starts, picture)


def _starts(picture: Picture) -> list[int]:
    """When each box ran, and each group began."""
    first = len(picture.boxes)
    starts = list(range(first)) + [0] * len(picture.groups)

    def start(child: int) -> int:
        if child < first:
            return child
        starts[child] = min(map(start, picture.groups[child - first].children), default=0)
        return starts[child]

    start(first)
    return starts


def _edges_inside(picture: Picture) -> dict[int, dict[tuple[int, int], int]]:
    """For each group, its edges between children: how many there are of each."""
    parents, first = picture.parents(), len(picture.boxes)
    depth = [0] * len(parents)
    from_root = [first]
    for each in from_root:
        if each >= first:
            for child in picture.groups[each - first].children:
                depth[child] = depth[each] + 1
                from_root.append(child)
    found: dict[int, dict[tuple[int, int], int]] = {}
    for a, b, _ in picture.edges:
        while depth[a] > depth[b]:
            a = parents[a]
        while depth[b] > depth[a]:
            b = parents[b]
        while parents[a] != parents[b]:
            a, b = parents[a], parents[b]
        if a != b:
            inside = found.setdefault(parents[a] - first, {})
            inside[a, b] = inside.get((a, b), 0) + 1
    return found


def _arrange(group: Group, edges: Any, starts: list[int], picture: Picture) -> None:
    order = sorted(group.children, key=lambda child: _when(child, edges, starts, picture))
    rank = {child: i for i, child in enumerate(order)}
    forward = [(a, b) for a, b in edges if rank[a] < rank[b]]
    after: dict[int, list[int]] = {}
    before: dict[int, list[int]] = {}
    for a, b in forward:
        after.setdefault(a, []).append(b)
        before.setdefault(b, []).append(a)
    layer: dict[int, int] = {}
    for child in order:
        layer[child] = max([layer[a] + 1 for a in before.get(child, ())], default=0)
    for child in reversed(order):  # what nothing leads to stands right above what uses it
        if child not in before and child in after:
            layer[child] = min([layer[b] for b in after[child]]) - 1
    rows: list[list[int]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for child in order:
        rows[layer[child]].append(child)
    group.lanes, group.links = [], []
    for a, b in forward:
        here, span = a, layer[b] - layer[a]
        if 1 < span <= _LONGEST and len(group.lanes) + span < _MOST_LANES:
            for row in range(layer[a] + 1, layer[b]):
                group.lanes.append((a, b))
                lane = -len(group.lanes)
                rows[row].append(lane)
                group.links.append((here, lane))
                here = lane
        group.links.append((here, b))
    _order(rows, group.links)
    group.rows = [part for row in rows if row for part in _broken(row)]


def _when(child: int, edges: Any, starts: list[int], picture: Picture) -> float:
    """The moment by which it is sorted: inputs come just before what uses them first."""
    if child < len(picture.boxes) and picture.boxes[child].kind not in ("op", "exit"):
        return min([starts[b] for a, b in edges if a == child], default=starts[child]) - 0.5
    return starts[child]


def _order(rows: list[list[int]], links: list[tuple[int, int]]) -> None:
    """Sort each row by where its neighbours in the rows above, then below, stand on average."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for a, b in links:
        below.setdefault(a, []).append(b)
        above.setdefault(b, []).append(a)
    position = {each: i - len(row) / 2 for row in rows for i, each in enumerate(row)}
    for sweep in range(_SWEEPS):
        neighbours = below if sweep % 2 else above
        for row in reversed(rows) if sweep % 2 else rows:
            wanted = {}
            for each in row:
                places = [position[n] for n in neighbours.get(each, ())]
                wanted[each] = sum(places) / len(places) if places else position[each]
            row.sort(key=wanted.__getitem__)
            for i, each in enumerate(row):
                position[each] = i - len(row) / 2


def _broken(row: list[int]) -> list[list[int]]:
    count = -(-len(row) // _WIDEST)
    size = -(-len(row) // count)
    return [row[start : start + size] for start in range(0, len(row), size)]


# Coordinates

Rectangle = tuple[float, float, float, float]


def box_size(picture: Picture, item: int) -> tuple[float, float]:
    """Width and height of a box, or of a group that is folded."""
    if item < len(picture.boxes):
        box = picture.boxes[item]
        text = max(len(title_of(box)), len(subtitle_of(box)))
        ends = 26.0 if box.kind == "op" else 38.0
        return min(250.0, max(64.0, 7.4 * text + ends)), 40.0
    group = picture.groups[item - len(picture.boxes)]
    text = max(len(group.label), len(group.about))
    return min(300.0, max(110.0, 7.0 * text + 40.0)), 48.0


def title_of(box: Any) -> str:
    return f"{box.name} = {box.label}" if box.name and box.kind == "op" else box.name or box.label


def subtitle_of(box: Any) -> str:
    """The dtype and shape, as on the edges."""
    return "" if box.shape is None else f"{box.dtype}{shape_text(box.shape)}"


def shape_text(shape: Any) -> str:
    return f"[{', '.join('?' if n is None else str(n) for n in shape)}]"


def placed(picture: Picture, unfolded: bool = False) -> dict[int, Rectangle]:
    """Where all that is visible stands: left, top, width, height."""
    first = len(picture.boxes)
    sizes: dict[int, tuple[float, float]] = {}
    inner: dict[int, dict[int, tuple[float, float]]] = {}

    def measure(item: int) -> tuple[float, float]:
        group = picture.groups[item - first] if item >= first else None
        if group is None or not (unfolded or group.opened or item == first):
            sizes[item] = box_size(picture, item)
        else:
            for child in group.children:
                measure(child)
            width, height, inner[item] = _place(group, sizes)
            around = 2 * PADDING
            least = min(300.0, 7.0 * (len(group.label) + len(group.about)) + 60.0)
            sizes[item] = max(width + around, least), height + around + HEADER
        return sizes[item]

    measure(first)
    found: dict[int, Rectangle] = {}

    def put(item: int, left: float, top: float) -> None:
        found[item] = left, top, *sizes[item]
        if item in inner:
            for child, (x, y) in inner[item].items():
                if child >= 0:
                    put(child, left + PADDING + x, top + PADDING + HEADER + y)

    put(first, 0.0, 0.0)
    return found


def _place(group: Group, sizes: Any) -> tuple[float, float, dict[int, tuple[float, float]]]:
    """Width and height of the inside of a group, and the corners of what is in it."""

    def width(each: int) -> float:
        return sizes[each][0] if each >= 0 else LANE

    centre: dict[int, float] = {}
    row_of: dict[int, int] = {}
    for number, row in enumerate(group.rows):
        x = -(sum(map(width, row)) + GAP_X * (len(row) - 1)) / 2
        for each in row:
            centre[each] = x + width(each) / 2
            row_of[each] = number
            x += width(each) + GAP_X
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for a, b in group.links:
        if row_of[a] < row_of[b]:
            below.setdefault(a, []).append(b)
            above.setdefault(b, []).append(a)
    for sweep in range(4):
        neighbours = below if sweep % 2 else above
        for row in reversed(group.rows) if sweep % 2 else group.rows:
            wanted = []
            for each in row:
                near = neighbours.get(each, ())
                wanted.append(sum([centre[n] for n in near]) / len(near) if near else centre[each])
            _spread(row, wanted, width, centre)
    left = min([centre[e] - width(e) / 2 for row in group.rows for e in row], default=0.0)
    right = max([centre[e] + width(e) / 2 for row in group.rows for e in row], default=0.0)
    corners, y = {}, 0.0
    for row in group.rows:
        tallest = max([sizes[e][1] if e >= 0 else 0.0 for e in row])
        for e in row:
            height = sizes[e][1] if e >= 0 else tallest
            corners[e] = centre[e] - width(e) / 2 - left, y + (tallest - height) / 2
        y += tallest + GAP_Y
    return right - left, max(0.0, y - GAP_Y), corners


def _spread(row: list[int], wanted: list[float], width: Any, centre: dict[int, float]) -> None:
    """Put each as near to where it is wanted as the others leave room for.

    Pushed to the right only, and pushed to the left only, all keep their distance; so they do at
    the means of both.
    """
    to_right, to_left = wanted[:], wanted[:]
    for i in range(1, len(row)):
        apart = (width(row[i - 1]) + width(row[i])) / 2 + GAP_X
        to_right[i] = max(to_right[i], to_right[i - 1] + apart)
    for i in range(len(row) - 2, -1, -1):
        apart = (width(row[i]) + width(row[i + 1])) / 2 + GAP_X
        to_left[i] = min(to_left[i], to_left[i + 1] - apart)
    for each, a, b in zip(row, to_right, to_left, strict=True):
        centre[each] = (a + b) / 2
