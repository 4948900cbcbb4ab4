"""Numerical against analytical derivatives, for any function of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.convert import as_tensor
from ..core.tensor import Tensor
from ..ops.array.creation import constant
from ..ops.math.complex import real
from ..ops.math.reduction import reduce_sum
from ..tape.gradient_tape import GradientTape

Function = Callable[..., Any]


def numerical_jacobian(
    f: Callable[[Any], Any], x: Any, step: float = 1e-5
) -> np.ndarray[Any, np.dtype[Any]]:
    """The Jacobian of `f`, from array to array, by central differences: (output size, input size).

    Real and imaginary parts count as separate numbers.
    """
    x = np.array(x)
    flat = _as_real(x)
    columns = []
    for i in range(flat.size):
        moved = flat.copy()
        moved[i] += step
        above = _as_real(np.asarray(f(_like(moved, x))))
        moved[i] -= 2 * step
        below = _as_real(np.asarray(f(_like(moved, x))))
        columns.append((above - below) / (2 * step))
    size = _as_real(np.asarray(f(x))).size
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


def compute_gradient(
    f: Function, x: Any, delta: float | None = None
) -> tuple[list[Any], list[Any]]:
    """The Jacobians of `f` by each of its arguments `x`, by the rules and by differences.

    Each is a matrix, with a row for each number of the result; a complex number counts as two.

    >>> theoretical, numerical = compute_gradient(lambda x: x * x, [[1.0, 3.0]])
    >>> theoretical[0]
    array([[2., 0.],
           [0., 6.]], dtype=float32)
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"compute_gradient: `x` must be a list of the arguments of `f`, not {x!r:.100}."
        )
    tensors = [as_tensor(value, op="compute_gradient") for value in x]
    step = 1 / 1024 if delta is None else delta
    pairs = [_both_jacobians(f, tensors, i, step) for i in range(len(tensors))]
    return [rules for rules, _ in pairs], [differences for _, differences in pairs]


def _both_jacobians(f: Function, xs: list[Tensor], i: int, step: float) -> tuple[Any, Any]:
    def along(moved: Any) -> Any:
        return np.asarray(f(*xs[:i], constant(moved, x.dtype), *xs[i + 1 :]))

    x = xs[i]
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(*xs)
    size = _as_real(np.asarray(y)).size
    rows = []
    for k in range(size):
        seed = constant(_like(np.eye(1, size, k)[0], np.asarray(y)), y.dtype)
        g = tape.gradient(y, x, seed, "zero")
        rows.append(_as_real(np.asarray(_dense(g))))
    found = np.stack(rows) if rows else np.zeros((0, _as_real(np.asarray(x)).size))
    real_dtype = x.dtype.real_dtype.as_numpy_dtype
    by_differences = numerical_jacobian(along, np.asarray(x), step)
    return found.astype(real_dtype), by_differences.astype(real_dtype)


def check_gradients(
    f: Function,
    inputs: list[Any],
    *,
    order: int = 2,
    step: float = 1e-5,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    seed: int = 0,
    what: str = "f",
) -> None:
    """Raise AssertionError unless gradients of `f` agree with differences up to `order`.

    `f` takes tensors made of `inputs` (float64 or complex128 arrays) and returns a tensor or a
    tuple of tensors. What is compared is the derivative of a randomly weighted sum of the outputs.
    """
    random = np.random.default_rng(seed)
    arrays = [np.array(x) for x in inputs]

    def value(*xs: Tensor) -> Tensor:
        outputs = f(*xs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
        parts = [
            _weighted(y, random_weights(i, y)) for i, y in enumerate(outputs) if _is_inexact(y)
        ]
        return sum(parts[1:], start=parts[0])

    weights: dict[int, Any] = {}

    def random_weights(i: int, y: Tensor) -> Any:
        if i not in weights:
            weights[i] = random_like(random, np.asarray(y._array))
        return weights[i]

    _compare(value, arrays, order, step, rtol, atol, random, what, 1)


def _compare(
    value: Function, arrays: list[Any], order: int, step: float, rtol: float, atol: float,
    random: np.random.Generator, what: str, level: int,
) -> None:  # fmt: skip
    def gradient(*xs: Tensor) -> Sequence[Tensor]:
        with GradientTape() as tape:
            tape.watch(list(xs))
            y = value(*xs)
        return tape.gradient(y, list(xs), unconnected_gradients="zero")

    tensors = [constant(a) for a in arrays]
    analytical = [np.asarray(_dense(g)) for g in gradient(*tensors)]
    for i, array in enumerate(arrays):

        def along(moved: Any, i: int = i) -> Any:
            xs = [constant(moved) if j == i else t for j, t in enumerate(tensors)]
            return np.asarray(value(*xs)._array).real

        expected = numerical_jacobian(along, array, step).reshape(-1)
        found = _as_real(analytical[i])
        if not np.allclose(found, expected, rtol=rtol, atol=atol):
            raise AssertionError(
                f"{what}: order {level}: the gradient by input {i} is not that of central "
                f"differences.\n"
                f"  by the rules:       {found}\n  by differences:     {expected}\n"
                f"  largest difference: {np.max(np.abs(found - expected)):.3g}"
            )
    if level < order:
        weights = [random_like(random, g) for g in analytical]

        def next_value(*xs: Tensor) -> Tensor:
            parts = [_weighted(_dense(g), w) for g, w in zip(gradient(*xs), weights, strict=True)]
            return sum(parts[1:], start=parts[0])

        _compare(next_value, arrays, order, step, rtol, atol, random, what, level + 1)


def _weighted(y: Tensor, weights: Any) -> Tensor:
    """The real number sum(Re(y * conj(weights))), made of ops."""
    product = y * constant(np.conj(weights))
    return reduce_sum(real(product) if y.dtype.is_complex else product)


def random_like(random: np.random.Generator, array: Any) -> Any:
    weights = random.normal(size=array.shape)
    if array.dtype.kind == "c":
        weights = weights + 1j * random.normal(size=array.shape)
    return np.asarray(weights).astype(array.dtype)


def _is_inexact(y: Tensor) -> bool:
    return y.dtype.is_floating or y.dtype.is_complex


def _dense(g: Any) -> Tensor:
    return g if isinstance(g, Tensor) else g._as_tensor()


def _as_real(array: Any) -> Any:
    """The numbers of an array as a flat array of reals; a complex number gives two."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        return flat.astype(np.complex128).view(np.float64)
    return flat.astype(np.float64)


def _like(flat: Any, array: Any) -> Any:
    if array.dtype.kind == "c":
        return flat.view(np.complex128).reshape(array.shape)
    return flat.reshape(array.shape)
