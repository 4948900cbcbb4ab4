"""The normal distribution in float32, in NumPy's vectorised steps.

SciPy's `erfc` takes 5.7 ns for a number, 6.8 with what makes a probability of it. Here probability
and density together take 2.2. (`erf` and `erfc` made so, as exact as they should be, would take 7.)

The tail of the distribution is exp(-x²/2) times a function that changes slowly (the ratio of Mills,
by the square root of 2 pi), for which a polynomial in 1 / (|x| + c) suffices: of degree 9, with
coefficients such that its largest relative error is smallest, 6e-8. So small probabilities are as
exact, relatively, as large ones: to 8 units of the last place for |x| < 3. Farther out, where x²/2
is rounded, it is x² of them, as it is if `erfc` of a rounded number is taken.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

WORTH = 4096
"""Elements from which these thirty calls of NumPy are quicker."""

_C = np.float32(3)
_COEFFICIENTS = [np.float32(c) for c in (
    0.398873687, 1.20167625, 3.04673934, 9.57062626, -11.9114265, 154.811111, -580.173035,
    830.570312, -435.539185,
)]  # fmt: skip

_f = np.float32
_SIGN = np.uint32(1 << 31)
_ONE = np.float32(1).view(np.uint32)


def normal(x: Any) -> tuple[Any, Any]:
    """The probabilities of less than `x`, and the densities there."""
    near = x.clip(_f(-15), _f(15))  # beyond, both are 0 or 1; the infinities give no NaN
    distance = np.abs(near)
    tail = _ratio(distance)
    density = np.square(distance, distance)
    density *= _f(-0.5)
    np.exp(density, density)
    tail *= density
    density *= _f(1 / math.sqrt(2 * math.pi))
    # The tail where x is negative, one less it elsewhere, by the bit of the sign.
    sign = np.bitwise_and(near.view(np.uint32), _SIGN)
    positive = np.bitwise_xor(sign, _SIGN, sign)
    bits = tail.view(np.uint32)
    np.bitwise_xor(bits, positive, bits)
    ones = positive.view(np.int32)
    np.right_shift(ones, 31, ones)
    np.bitwise_and(positive, _ONE, positive)
    tail += positive.view(np.float32)
    return tail, density


def _ratio(distance: Any) -> Any:
    r = distance + _C
    np.divide(_f(1), r, r)
    result = r * _COEFFICIENTS[-1]
    for coefficient in _COEFFICIENTS[-2::-1]:
        result += coefficient
        result *= r
    return result
