"""Functions that differentiate functions: each a few lines over the tape and the accumulator.

`argnums` chooses the argument to differentiate by, a position or a tuple of positions. Arguments
are tensors, variables, or nests of them; Python numbers and arrays are converted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import nest
from ..core.convert import as_tensor
from ..core.cotangent import dense
from ..core.tensor import Tensor
from ..ops.array.cast import identity
from ..ops.array.shape import reshape, transpose
from .forward import BatchForwardAccumulator, ForwardAccumulator, with_tangents
from .gradient_tape import GradientTape
from .variable import Variable

if TYPE_CHECKING:
    from ..core.annotations import AnyFunction

    Derived = Callable[..., Tensor | Any]

Argnums = int | tuple[int, ...]


def value_and_grad(
    f: AnyFunction, argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Tensor | Any, Tensor | Any]]:
    """The function that gives the value of `f` and its gradient: `(f(x), df/dx)`.

    >>> value, gradient = value_and_grad(lambda x: x**2)(3.0)
    >>> float(value), float(gradient)
    (9.0, 6.0)

    With `has_aux`, `f` returns a pair of the value to differentiate and something else.
    """

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        args, sources = _arguments(args, argnums)
        with GradientTape() as tape:
            tape.watch(sources)
            result = f(*args, **kwargs)
        value = result[0] if has_aux else result
        return result, tape.gradient(value, sources, unconnected_gradients="zero")

    return run


def grad(f: AnyFunction, argnums: Argnums = 0, has_aux: bool = False) -> Derived:
    """The function that gives the gradient of `f`, nested as the argument is.

    >>> grad(grad(lambda x: x**3))(2.0)
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>
    """
    both = value_and_grad(f, argnums, has_aux)

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        result, gradient = both(*args, **kwargs)
        return (gradient, result[1]) if has_aux else gradient

    return run


def jvp(f: AnyFunction, primals: Any, tangents: Any) -> tuple[Tensor | Any, Tensor | Any]:
    """`f(*primals)` and its Jacobian times `tangents`, by forward mode."""
    args = _tensors(tuple(primals))
    with ForwardAccumulator(args, _tensors(tuple(tangents))) as accumulator:
        result = f(*args)
    return result, accumulator.jvp(result, unconnected_gradients="zero")


def vjp(f: AnyFunction, *primals: Any) -> tuple[Tensor | Any, Derived]:
    """`f(*primals)` and the function from cotangents of it to cotangents of the primals."""
    args = _tensors(primals)
    with GradientTape(persistent=True) as tape:
        tape.watch(args)
        result = f(*args)

    def pull(cotangents: Any) -> Any:
        return tape.gradient(result, args, cotangents, unconnected_gradients="zero")

    return result, pull


def hvp(f: Callable[[Any], Any], x: Any, v: Any) -> Tensor | Any:
    """The Hessian of `f` at `x` times `v`: as it is symmetric, `v` pulled back by the gradient.

    (Not forward over reverse: with the tangents of all that the gradient keeps that takes 1.5 to
    1.9 times the memory, and for a small model twice the time.)
    """
    x = _tensors(x)
    directions = [tangent for _, tangent in with_tangents("hvp", x, v, names=("x", "v"))]
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        found = inner.gradient(value, x, unconnected_gradients="zero")
        gradient = [dense(g) for g in nest.flatten(found)]
    return outer.gradient(gradient, x, directions, unconnected_gradients="zero")


def jacrev(f: AnyFunction, argnums: Argnums = 0) -> Derived:
    """The Jacobian of `f` as a function, by reverse mode: for more inputs than outputs."""

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        args, sources = _arguments(args, argnums)
        with GradientTape() as tape:
            tape.watch(sources)
            result = f(*args, **kwargs)
        return tape.jacobian(result, sources, unconnected_gradients="zero")

    return run


def jacfwd(f: AnyFunction, argnums: int = 0) -> Derived:
    """The Jacobian of `f` as a function, by forward mode: for more outputs than inputs."""

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        args, x = _arguments(args, argnums)
        if not isinstance(x, (Tensor, Variable)):
            raise TypeError("jacfwd: the argument to differentiate by must be one tensor.")
        shape, size = tuple(x.shape), int(np.prod(tuple(x.shape)))
        if size == 1:  # one column needs no batch
            ones = Tensor(np.ones(shape, x.dtype.numpy_dtype))
            with ForwardAccumulator(x, ones) as accumulator:
                result = f(*args, **kwargs)
            tangents = accumulator.jvp(result, unconnected_gradients="zero")
            return nest.map_structure(lambda t: reshape(t, (*t._array.shape, *shape)), tangents)
        basis = Tensor(np.eye(size, dtype=x.dtype.numpy_dtype).reshape(size, *shape))
        with BatchForwardAccumulator(x, basis) as batch:
            result = f(*args, **kwargs)
        columns = batch.jvp(result, unconnected_gradients="zero")
        return nest.map_structure(lambda c: _columns_last(c, shape), columns)

    return run


def hessian(f: AnyFunction, argnums: int = 0) -> Derived:
    """The function that gives the Hessian of the scalar function `f`: shape x.shape + x.shape."""
    return jacrev(grad(f, argnums), argnums)


def hessian_diag(f: AnyFunction, x: Any) -> Tensor | Any:
    """The diagonal of the Hessian of the scalar function `f` at `x`, in the shape of `x`.

    All products with the unit vectors together, of which the diagonal is kept.
    """
    x = _tensors(x)
    rows = jacfwd(grad(f))(x)
    size = int(np.prod(tuple(x.shape)))
    flat = reshape(rows, (size * size,))
    return reshape(flat[:: size + 1], tuple(x.shape))


def _columns_last(columns: Tensor, shape: tuple[int, ...]) -> Tensor:
    """[input, output...] as [output..., input...]."""
    moved = transpose(columns, (*range(1, columns.ndim), 0))
    return reshape(moved, (*moved._array.shape[:-1], *shape))


def _arguments(args: tuple[Any, ...], argnums: Argnums) -> tuple[tuple[Any, ...], Any]:
    """The arguments, those to differentiate by as new tensors, and these (one, or a tuple)."""
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    for position in positions:
        if not -len(args) <= position < len(args):
            raise ValueError(
                f"argnums={argnums} names an argument that is not there: {len(args)} were given."
            )
    wanted = {position % len(args) for position in positions}
    args = tuple(_tensors(a) if i in wanted else a for i, a in enumerate(args))
    several = tuple(args[position] for position in positions)
    return args, several if isinstance(argnums, tuple) else several[0]


def _tensors(structure: Any) -> Any:
    """Each leaf as a new tensor (so that equal arguments are apart); a variable stays itself."""
    return nest.map_structure(
        lambda leaf: leaf if isinstance(leaf, Variable) else identity(as_tensor(leaf)), structure
    )
