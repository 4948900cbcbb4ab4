"""The most probable labels of a sequence by what a network trained with CTC says of each step."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import known, static_int, to_tensor
from .sparse_tensor import SparseTensor


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[SparseTensor], Tensor]:
    """The label of the largest logit of each step, without blanks; and the negative sum of these.

    `inputs` are logits, [time, batch, classes], of which `sequence_length` steps count in each
    sequence. The blank is class `blank_index`, the last unless given. With `merge_repeated` labels
    that follow each other without a blank are one. The labels come as a list of one SparseTensor,
    [batch, time]; the second result has shape [batch, 1].
    """
    op = "ctc_greedy_decoder"
    logits, lengths = _checked(inputs, sequence_length, op)
    classes = logits.shape[2]
    blank = classes - 1 if blank_index is None else static_int(blank_index, op, "blank_index")
    blank += classes if blank < 0 else 0
    if not 0 <= blank < classes:
        raise InvalidArgumentError(
            f"{op}: `blank_index` must be a class from 0 to {classes - 1}, and is {blank_index}."
        )
    best = logits.argmax(2)
    counts = np.arange(len(logits))[:, None] < lengths
    kept = counts & (best != blank)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    score = -np.where(counts, logits.max(2), 0).sum(0)
    labels = [best[kept[:, b], b] for b in range(len(lengths))]
    return [_as_rows(labels)], Tensor(score[:, None].astype(logits.dtype))


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: Any = 100, top_paths: Any = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The `top_paths` most probable sequences of labels, and the logarithms of their probabilities.

    Of each length only the `beam_width` best beginnings are followed. `inputs` are logits,
    [time, batch, classes], of which the last class is the blank. The labels come as a list of
    SparseTensors, [batch, time]; the second result has shape [batch, top_paths].
    """
    return beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def beam_search(
    inputs: Any, sequence_length: Any, beam_width: Any, top_paths: Any, merge_repeated: bool
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder`; with `merge_repeated`, equal labels in a row become one."""
    op = "ctc_beam_search_decoder"
    logits, lengths = _checked(inputs, sequence_length, op)
    width = static_int(beam_width, op, "beam_width")
    paths = static_int(top_paths, op, "top_paths")
    if not 0 < paths <= width:
        raise InvalidArgumentError(
            f"{op}: `top_paths` must be between 1 and `beam_width`. Received: {paths} and {width}."
        )
    wide = logits.astype(np.float64)
    shifted = wide - wide.max(2, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(2, keepdims=True))
    found = [
        _best_beginnings(log_probabilities[: lengths[b], b], width, paths, op)
        for b in range(len(lengths))
    ]
    labels = [
        _as_rows([_merged(each[path][0], merge_repeated) for each in found])
        for path in range(paths)
    ]
    scores = [[score for _, score in each] for each in found]
    return labels, Tensor(np.array(scores, logits.dtype).reshape(len(found), paths))


class _Beginning:
    """A sequence of labels that others go on from, and how probable it is, in logarithms.

    `total` is that of its ending with a blank, or with its last label.
    """

    __slots__ = ("blank", "children", "label", "last", "parent", "total", "was_blank", "was_total")

    def __init__(self, parent: _Beginning | None, last: int) -> None:
        self.parent = parent
        self.last = last
        self.children: dict[int, _Beginning] = {}
        self.forget()

    def forget(self) -> None:
        """Follow it no longer."""
        self.total = self.blank = self.label = -np.inf
        self.was_total = self.was_blank = -np.inf

    def before(self, label: Any) -> Any:
        """How probable it was one step before, in a form that `label` can follow."""
        return self.was_blank if label == self.last else self.was_total

    def labels(self) -> list[int]:
        found, node = [], self
        while node.parent is not None:
            found.append(node.last)
            node = node.parent
        return found[::-1]


def _best_beginnings(steps: Any, width: int, paths: int, op: str) -> list[tuple[list[int], float]]:
    """The best sequences of labels and their scores; `steps` has log-probabilities, blank last.

    As TensorFlow goes about it: a beginning that falls out of the beam while others grow is no
    more grown from itself, once its parent has come by it.
    """
    root = _Beginning(None, -1)
    root.total = root.blank = 0.0
    beam, numbers = [root], count()
    for step in steps:
        order = sorted(beam, key=lambda node: -node.total)
        for node in order:
            node.was_total, node.was_blank = node.total, node.blank
        _go_on(order, step)
        heap = [(node.total, next(numbers), node) for node in order]
        heapify(heap)
        for node in order:
            _grow(node, step, heap, width, numbers)
        for node in order:
            if node.total == -np.inf:
                node.forget()  # so that children do not come from it
        beam = [node for _, _, node in heap]
    if len(beam) < paths:
        raise InvalidArgumentError(
            f"{op}: there are {len(beam)} paths, and top_paths={paths} are asked for."
        )
    best = sorted(beam, key=lambda node: -node.total)[:paths]
    return [(node.labels(), float(node.total)) for node in best]


def _go_on(beam: list[_Beginning], step: Any) -> None:
    """To the next step, by a blank, by the last label again, or from the parent."""
    longer = [-np.inf if node.parent is None else node.parent.before(node.last) for node in beam]
    by_label = np.logaddexp([node.label for node in beam], longer)
    by_label += step[[node.last for node in beam]]  # of the root, which has none, it is -inf
    by_blank = np.array([node.was_total for node in beam]) + step[-1]
    totals = np.logaddexp(by_label, by_blank)
    found = zip(beam, totals.tolist(), by_blank.tolist(), by_label.tolist(), strict=True)
    for node, total, blank, label in found:
        node.total, node.blank, node.label = total, blank, label


def _grow(node: _Beginning, step: Any, heap: list[Any], width: int, numbers: Iterator[int]) -> None:
    """Put the children of a beginning into the beam, for those that are less probable.

    `numbers` tell equally probable ones apart.
    """

    def least() -> float:
        """What is in the beam is more probable."""
        return heap[0][0] if len(heap) == width else -np.inf

    if not node.was_total > least():
        return
    scores = step[:-1] + node.was_total
    if node.last >= 0:
        scores[node.last] = step[node.last] + node.was_blank
    promising = np.flatnonzero(scores > least()).tolist()
    for label in sorted({*promising, *node.children}):
        child = node.children.get(label)
        if child is not None and child.total > -np.inf:
            continue  # it is in the beam
        if not scores[label] > least():
            if child is not None:
                child.forget()
            continue
        if child is None:
            child = node.children[label] = _Beginning(node, label)
        child.total = child.label = float(scores[label])
        child.blank = -np.inf
        if len(heap) == width:
            heappop(heap)[2].total = -np.inf
        heappush(heap, (child.total, next(numbers), child))


def _merged(labels: list[int], merge_repeated: bool) -> Any:
    path = np.array(labels, np.int64)
    return path[np.append(True, path[1:] != path[:-1])[: len(path)]] if merge_repeated else path


def _checked(inputs: Any, sequence_length: Any, op: str) -> tuple[Any, Any]:
    logits = known(to_tensor(inputs, op), op, "inputs")
    lengths = known(to_tensor(sequence_length, op), op, "sequence_length")
    if logits.ndim != 3 or logits.dtype.kind != "f":
        raise ShapeError(
            f"{op}: `inputs` must be floats of shape [time, batch, classes], and are "
            f"{logits.dtype.name} of shape {logits.shape}."
        )
    if lengths.shape != logits.shape[1:2]:
        raise ShapeError(
            f"{op}: `sequence_length` must have a length for each of the {logits.shape[1]} "
            f"sequences, and has shape {lengths.shape}."
        )
    if lengths.max(initial=0) > len(logits):
        raise InvalidArgumentError(
            f"{op}: a `sequence_length` is {lengths.max()}, and `inputs` has {len(logits)} steps."
        )
    return logits, lengths.astype(np.int64)


def _as_rows(rows: list[Any]) -> SparseTensor:
    """Vectors of different lengths as the rows of a sparse matrix of int64."""
    counts = [len(row) for row in rows]
    numbers = np.repeat(np.arange(len(rows)), counts)
    begins = np.repeat(np.cumsum([0, *counts])[:-1], counts)
    places = np.stack([numbers, np.arange(len(numbers)) - begins], 1).astype(np.int64)
    values = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    return SparseTensor(places, values, [len(rows), max(counts, default=0)])
