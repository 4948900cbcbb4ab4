"""Addition to powers, absolute value and sign, maximum, clipping, rounding."""

from __future__ import annotations

import operator

import numpy as np

from ..core import dtypes as dt
from ._family import conj, elementwise


@elementwise(x=1, y=1, dtypes=dt.NUMERIC, builtin=operator.add)
def add(xp, x, y):
    """`x + y`, elementwise."""
    return x + y


@elementwise(x=1, y=-1, dtypes=dt.NUMERIC, builtin=operator.sub)
def subtract(xp, x, y):
    """`x - y`, elementwise."""
    return x - y


@elementwise(
    x=lambda g, y: multiply(g, conj(y)), y=lambda g, x: multiply(g, conj(x)), dtypes=dt.NUMERIC, builtin=operator.mul
)
def multiply(xp, x, y):
    """`x * y`, elementwise."""
    return x * y


@elementwise(x=-1, dtypes=dt.NUMERIC, builtin=operator.neg)
def negative(xp, x):
    """`-x`, elementwise."""
    return -x


@elementwise(
    x=lambda g, y: g / conj(y),
    y=lambda g, x, y: -g * conj(x / y / y),
    domain={"y": (0.5, 2.0)},
    builtin=operator.truediv,
)
def _divide(xp, x, y):
    return x / y


@elementwise(x=lambda x: 2 * x, dtypes=dt.NUMERIC)
def square(xp, x):
    """`x * x`, elementwise."""
    return x * x
