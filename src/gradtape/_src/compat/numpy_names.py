"""Names of `tf.experimental.numpy`: NumPy's functions on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.convert import as_tensor
from ..core.dtypes import as_dtype
from ..core.tensor import Tensor
from ..ops.array.cast import cast
from ..ops.math.logic import where


def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype, as numpy.finfo gives them."""
    wanted = as_dtype(dtype).numpy_dtype
    if wanted.kind in "fc":
        return np.finfo(wanted)
    import ml_dtypes

    return ml_dtypes.finfo(wanted)  # type: ignore[no-untyped-call]


def iinfo(type: Any) -> Any:
    """The limits of an integer dtype, as numpy.iinfo gives them."""
    return np.iinfo(as_dtype(type).numpy_dtype)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """Of each element the choice whose condition is the first to be true, else `default`.

    >>> select([[True, False]], [[1, 2]], 7).numpy().tolist()
    [1, 7]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select: there must be a choice for each condition. Received: {len(condlist)} "
            f"conditions and {len(choicelist)} choices."
        )
    choices = [as_tensor(choice) for choice in choicelist]
    common = np.result_type(*[c._array.dtype for c in choices])
    result = cast(as_tensor(default), common)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(condition, cast(choice, common), result)
    return result
