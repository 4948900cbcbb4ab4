"""The complex conjugate, in which gradient rules of complex numbers are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import NotATensorError
from ...core.pattern import ELEMENTWISE
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import to_tensor

_FLOAT32 = np.dtype(np.float32)


@op(
    batch_axes=(),
    pattern=ELEMENTWISE,
    linear="x",
    samples=lambda r: [([r.normal(size=3) + 1j * r.normal(size=3)], {})],
)
def _conj(xp, x):
    """The complex conjugate of each element."""
    return xp.conj(x)


@_conj.vjp("x")
def _conj_vjp(g):
    return conj(g)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate of `x`; `x` itself if it is real."""
    if type(x) is not Tensor:
        try:
            x = to_tensor(x, "conj")
        except NotATensorError as error:
            return take_over(error, conj, x)
    dtype = x._array.dtype
    return x if dtype is _FLOAT32 or dtype not in dt.COMPLEX else _conj(x)
