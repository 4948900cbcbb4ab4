"""Embeddings: rows of a table, by their numbers."""

from __future__ import annotations

from typing import Any

from ...core.errors import NotATensorError
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.creation import is_tensor
from ..array.indexing import gather
from ..array.joining import concat
from ..declare.static import to_tensor
from ..linalg.norm import clip_by_norm


def embedding_lookup(
    params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> Tensor:
    """The rows of `params` at the integers `ids`, each clipped to the norm `max_norm`, if given.

    A list of several `params` counts as one table, its parts one below the other. The gradient by
    `params` is an IndexedSlices.
    """
    if isinstance(params, (list, tuple)) and all(map(is_tensor, params)):
        if not params:
            raise ValueError("embedding_lookup: `params` is empty; it needs one table at least.")
        params = params[0] if len(params) == 1 else concat(params, 0)
    try:
        ids = to_tensor(ids, "embedding_lookup")
    except NotATensorError as error:
        return take_over(error, embedding_lookup, params, ids, max_norm)
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=list(range(ids.ndim, rows.ndim)))
