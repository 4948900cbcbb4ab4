"""The Bessel functions that JAX lacks, in `jax.numpy`: J, Y and K of orders 0 and 1.

Each is elementary factors times functions that are smooth between two bounds; of these the
Chebyshev coefficients are computed, once, from SciPy's values. In double precision the results
agree with SciPy's to 1.5e-14, relative to the envelope of the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jax_special

_NEAR = 8.0  # J and Y: power series up to here, amplitude and phase beyond
_NEAR_K = 2.0


def bessel(name: str) -> Callable[[Any], Any] | None:
    """The function that SciPy has under `name`, if it is one of these."""
    order = int(name[1]) if name[1:2] in ("0", "1") else 0
    match name:
        case "j0" | "j1":
            return lambda x: _j(order, x)
        case "y0" | "y1":
            return lambda x: _y(order, x)
        case "k0" | "k1" | "k0e" | "k1e":
            return lambda x: _k(order, x, scaled=name.endswith("e"))
    return None


def _j(order: int, x: Any) -> Any:
    size = jnp.abs(x)
    near = _j_near(order, jnp.minimum(size, _NEAR))
    p, q, angle = _far(order, jnp.maximum(size, _NEAR))
    value = jnp.where(size < _NEAR, near, p * jnp.cos(angle) - q * jnp.sin(angle))
    return value * jnp.sign(x) if order else value


def _y(order: int, x: Any) -> Any:
    p, q, angle = _far(order, jnp.maximum(x, _NEAR))
    far = p * jnp.sin(angle) + q * jnp.cos(angle)
    x = jnp.minimum(x, _NEAR)
    log = jnp.log(x) * _j_near(order, x)
    near = 2 / math.pi * (log - 1 / x if order else log)
    near = near + (x if order else 1) * _chebyshev(_y_coefficients(order), x * x / 32 - 1)
    return jnp.where(x < _NEAR, near, far)


def _j_near(order: int, x: Any) -> Any:
    return (x if order else 1) * _chebyshev(_j_coefficients(order), x * x / 32 - 1)


def _far(order: int, x: Any) -> tuple[Any, Any, Any]:
    """Both amplitudes and the angle: J is `p cos - q sin`, Y is `p sin + q cos` of the angle."""
    p, q = _amplitudes(order)
    ratio = _NEAR / x
    z = 2 * ratio * ratio - 1
    decay = jnp.sqrt(2 / (math.pi * x))
    angle = x - (order / 2 + 0.25) * math.pi
    return decay * _chebyshev(p, z), decay * ratio * _chebyshev(q, z), angle


def _k(order: int, x: Any, scaled: bool) -> Any:
    beyond = jnp.maximum(x, _NEAR_K)
    far = _chebyshev(_k_far(order), 4 / beyond - 1) / jnp.sqrt(beyond)
    x = jnp.minimum(x, _NEAR_K)
    smooth = _chebyshev(_k_near(order), x * x / 2 - 1)
    if order:
        near = 1 / x + jnp.log(x / 2) * jax_special.i1(x) + x * smooth
    else:
        near = smooth - jnp.log(x / 2) * jax_special.i0(x)
    if scaled:
        return jnp.where(x < _NEAR_K, near * jnp.exp(x), far)
    return jnp.where(x < _NEAR_K, near, far * jnp.exp(-beyond))


def _chebyshev(coefficients: Any, t: Any) -> Any:
    """The Chebyshev series at `t` in [-1, 1], by Clenshaw's recurrence."""
    first = second = jnp.zeros_like(t)
    for c in coefficients[:0:-1]:
        first, second = 2 * t * first - second + c, first
    return t * first - second + coefficients[0]


def _interpolated(function: Callable[[Any], Any], degree: int) -> list[float]:
    coefficients = np.polynomial.chebyshev.chebinterpolate(function, degree)
    return [float(c) for c in coefficients]


def _scipy(name: str) -> Any:
    import scipy.special

    return getattr(scipy.special, name)


@cache
def _j_coefficients(order: int) -> list[float]:
    def smooth(t: Any) -> Any:
        x = np.sqrt(32 * (t + 1))
        return _scipy("j1")(x) / x if order else _scipy("j0")(x)

    return _interpolated(smooth, 24)


@cache
def _y_coefficients(order: int) -> list[float]:
    def smooth(t: Any) -> Any:
        x = np.sqrt(32 * (t + 1))
        log = np.log(x) * _scipy(f"j{order}")(x)
        rest = _scipy(f"y{order}")(x) - 2 / math.pi * (log - 1 / x if order else log)
        return rest / x if order else rest

    return _interpolated(smooth, 24)


@cache
def _amplitudes(order: int) -> tuple[list[float], list[float]]:
    def amplitude(t: Any, *, of_sine: bool) -> Any:
        x = _NEAR / np.sqrt((t + 1) / 2)
        angle = x - (order / 2 + 0.25) * math.pi
        j, y = _scipy(f"j{order}")(x), _scipy(f"y{order}")(x)
        growth = np.sqrt(math.pi * x / 2)
        if of_sine:
            return growth * (y * np.cos(angle) - j * np.sin(angle)) * x / _NEAR
        return growth * (j * np.cos(angle) + y * np.sin(angle))

    return (
        _interpolated(lambda t: amplitude(t, of_sine=False), 20),
        _interpolated(lambda t: amplitude(t, of_sine=True), 20),
    )


@cache
def _k_near(order: int) -> list[float]:
    def smooth(t: Any) -> Any:
        x = np.sqrt(2 * (t + 1))
        if order:
            return (_scipy("k1")(x) - 1 / x - np.log(x / 2) * _scipy("i1")(x)) / x
        return _scipy("k0")(x) + np.log(x / 2) * _scipy("i0")(x)

    return _interpolated(smooth, 12)


@cache
def _k_far(order: int) -> list[float]:
    def smooth(t: Any) -> Any:
        x = 4 / (t + 1)
        return _scipy(f"k{order}e")(x) * np.sqrt(x)

    return _interpolated(smooth, 28)
