"""Bounding boxes: drawing them, and choosing among overlapping ones."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.indexing import gather
from ..array.undifferentiated import undifferentiated
from ..declare.static import known, static_int, to_tensor, values_that_size
from ..math.logic import select

_COLORS = [
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
    [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
]  # fmt: skip


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """`images` with the outlines of `boxes[n, i] = [y1, x1, y2, x2]`, 1 being the far border.

    `colors` (or None for ten colours of TensorFlow's) are used in turn. What is not drawn upon has
    the gradient of the images.
    """
    x = to_tensor(images, "draw_bounding_boxes")
    if x.dtype not in (dt.float32, dt.float16):
        raise DTypeError(
            f"draw_bounding_boxes: `images` must be float32 or float16, and are {x.dtype.name}."
        )
    corners = known(cast(boxes, dt.float32), "draw_bounding_boxes", "boxes")
    shape = tuple(x._array.shape)
    shapes = f"images.shape={shape}, boxes.shape={corners.shape}"
    if len(shape) != 4 or corners.ndim != 3 or corners.shape[::2] != (shape[0], 4):
        raise ShapeError(
            "draw_bounding_boxes: `images` must be [n, height, width, channels] and `boxes` [n, "
            f"count, 4]. Received: {shapes}."
        )
    depth = shape[3]
    if depth not in (1, 3, 4):
        raise ShapeError(
            f"draw_bounding_boxes: `images` must have 1, 3 or 4 channels. Received: {shapes}."
        )
    table = np.array(_COLORS if depth > 1 else [[1]], np.float32)
    if colors is not None:
        colors = to_tensor(colors, "draw_bounding_boxes")
        given = known(colors, "draw_bounding_boxes", "colors")
        if given.ndim != 2 or given.shape[1] < depth:
            raise ShapeError(
                f"draw_bounding_boxes: `colors` must be [count, channels]. Received: shape "
                f"{given.shape}."
            )
        table = given if len(given) else table
    lines, drawn = np.zeros(shape, np.float32), np.zeros(shape, bool)
    for image, where, each in zip(lines, drawn, corners, strict=True):
        for number, box in enumerate(each):
            _draw(image, box, table[number % len(table), :depth])
            _draw(where, box, True)
    colored = Tensor(lines.astype(x.dtype.numpy_dtype))
    if colors is not None:
        colored = undifferentiated(colors, colored, name="draw_bounding_boxes")
    return select(drawn, colored, x)


def _draw(image: Any, box: Any, color: Any) -> None:
    last = np.array(image.shape[:2]) - 1
    places = box * np.tile(last, 2).astype(np.float32)  # in float32, 0.7 * 10 is 7
    top, left, bottom, right = np.trunc(places).astype(int)
    if top > bottom or left > right or top > last[0] or left > last[1] or bottom < 0 or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, last[0]) + 1)
    columns = slice(max(left, 0), min(right, last[1]) + 1)
    for row in (top, bottom):
        if 0 <= row <= last[0]:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column <= last[1]:
            image[rows, column] = color


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The indices of the boxes to keep, best first: none overlaps a better one too much.

    `boxes[i] = [y1, x1, y2, x2]` (any two opposite corners); two of them overlap too much when the
    area they share is more than `iou_threshold` of what they cover together.
    """
    indices, _ = non_max_suppression_with_scores(
        boxes, scores, max_output_size, iou_threshold, score_threshold
    )
    return indices


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`non_max_suppression`, and the scores of what was selected.

    With `soft_nms_sigma` > 0 an overlap lowers the score of the worse box, by a Gaussian; scores
    that were lowered so have no gradient.
    """
    op_name = "non_max_suppression"
    boxes, scores = to_tensor(boxes, op_name), to_tensor(scores, op_name)
    corners = values_that_size(boxes, op_name)
    if corners.ndim != 2 or corners.shape[1] != 4:
        raise ShapeError(f"{op_name}: `boxes` must be [count, 4]. Received: shape {corners.shape}.")
    low = np.minimum(corners[:, :2], corners[:, 2:])
    high = np.maximum(corners[:, :2], corners[:, 2:])
    areas = (high - low).prod(1)

    def overlaps(one: int, others: Any) -> Any:
        sides = np.minimum(high[one], high[others]) - np.maximum(low[one], low[others])
        shared = np.maximum(sides, 0).prod(1)
        union = areas[one] + areas[others] - shared
        proper = (areas[one] > 0) & (areas[others] > 0)
        return np.where(proper, shared / np.where(proper, union, 1), 0)

    sigma = float(soft_nms_sigma)
    indices, lowered = _chosen(
        overlaps, len(corners), scores, max_output_size, iou_threshold, score_threshold, sigma,
        op_name,
    )  # fmt: skip
    if not sigma:
        return indices, gather(scores, indices)
    for source in (boxes, scores):
        lowered = undifferentiated(source, lowered, name=f"{op_name}_with_scores")
    return indices, lowered


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """`non_max_suppression` of boxes whose `overlaps[i, j]` are given."""
    op_name = "non_max_suppression_overlaps"
    table = values_that_size(to_tensor(overlaps, op_name), op_name)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ShapeError(f"{op_name}: `overlaps` must be square. Received: shape {table.shape}.")
    indices, _ = _chosen(
        lambda one, others: table[one, others], len(table), scores, max_output_size,
        overlap_threshold, score_threshold, 0.0, op_name,
    )  # fmt: skip
    return indices


def _chosen(
    overlaps: Callable[[int, Any], Any],
    count: int,
    scores: Any,
    max_output_size: Any,
    threshold: Any,
    score_threshold: Any,
    sigma: float,
    op_name: str,
) -> tuple[Tensor, Tensor]:
    """Best first; a box whose score an overlap has lowered waits for its turn again."""
    given = values_that_size(to_tensor(scores, op_name), op_name)
    if given.shape != (count,):
        raise ShapeError(
            f"{op_name}: there must be one entry of `scores` for each of the {count} boxes. "
            f"Received: shape {given.shape}."
        )
    most = static_int(max_output_size, op_name, "max_output_size")
    limit, least = float(threshold), float(score_threshold)
    if most < 0 or not 0 <= limit <= 1 or sigma < 0:
        raise InvalidArgumentError(
            f"{op_name}: `max_output_size` and `soft_nms_sigma` must be >= 0, and the threshold in "
            f"[0, 1]. Received: {most}, {sigma} and {limit}."
        )
    waiting = [(-score, i, 0) for i, score in enumerate(given.tolist()) if score > least]
    heapq.heapify(waiting)
    selected: list[int] = []
    selected_scores: list[float] = []
    while waiting and len(selected) < most:
        negative, box, seen = heapq.heappop(waiting)
        common = overlaps(box, np.array(selected[seen:], int))
        if sigma:
            weights = np.exp(-0.5 / sigma * common * common)
            score = -negative * float(weights.prod())
            if score < -negative:
                if score > least:
                    heapq.heappush(waiting, (-score, box, len(selected)))
                continue
        elif (common > limit).any():
            continue
        selected.append(box)
        selected_scores.append(-negative)
    return Tensor(np.array(selected, np.int32)), Tensor(np.array(selected_scores, given.dtype))
