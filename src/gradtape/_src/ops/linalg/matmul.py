"""Products of matrices, and of matrices with vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dispatch import _operands, binary
from ...core.dtypes import as_dtype
from ...core.engine import common_engine
from ...core.errors import NotATensorError, ShapeError
from ...core.op import Keep, Op, Rule
from ...core.pattern import aligned
from ...core.spec import Spec, broadcast_shapes, same_dtype
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.shape import _reshape, _transpose, insert_axes
from ..declare.elementwise import sum_back
from ..declare.op import public
from ..math.conjugate import conj

_BLAS = frozenset(map(np.dtype, "fdFD"))
_products: dict[tuple[bool, bool], Callable[..., Tensor]] = {}


def _product(name: str, transpose_a: bool, transpose_b: bool) -> Any:
    """Declare a matrix product: one op for each way to transpose its arguments.

    BLAS reads a transposed matrix where it lies, so the products that the gradient of a product
    consists of need no copies. Four ops without static parameters go the fast way of `binary`.
    """

    def kernel(xp, a, b):
        if a.ndim < 2 or b.ndim < 2:
            raise ValueError("the arguments of a matrix product have rank 2 or more")
        return xp.matrix_product(a, b, transpose_a, transpose_b)

    def run(a, b):
        """What the kernel does, without asking for the engine where `@` does it."""
        if a.ndim == 2 and b.ndim == 2 and a.dtype in _BLAS and type(a) is type(b) is np.ndarray:
            return (a.T if transpose_a else a) @ (b.T if transpose_b else b)
        return kernel(common_engine((a, b)), a, b)

    def vjp_a(g, a: Spec, b):
        if transpose_a:
            cotangent = _products[transpose_b, True](conj(b), g)
        else:
            cotangent = _products[False, not transpose_b](g, conj(b))
        return cotangent if a is None else sum_back(cotangent, a)

    def vjp_b(g, a, b: Spec):
        a = conj(a)
        if not transpose_a and b is not None and g.ndim > 2 and b.ndim == 2:
            a, g = _rows(a), _rows(g)
        if transpose_b:
            cotangent = _products[True, transpose_a](g, a)
        else:
            cotangent = _products[not transpose_a, False](a, g)
        return cotangent if b is None else sum_back(cotangent, b)

    def rows_a(g, b):
        """The derivative of element j of one row by this row is column j of `b`."""
        if g.ndim != 2 or b.ndim != 2 or g._array.shape[0] != 1:
            return None
        rows = _scaled_columns(conj(b), g, transpose_b)
        n, k = rows._array.shape
        return _reshape(rows, shape=(n, k, 1) if transpose_a else (n, 1, k))

    def rows_b(g, a):
        """The derivative of element i of one column by this column is row i of `a`."""
        if g.ndim != 2 or a.ndim != 2 or g._array.shape[1] != 1:
            return None
        rows = _scaled_columns(conj(a), _reshape(g, shape=g._array.shape[::-1]), not transpose_a)
        m, k = rows._array.shape
        return _reshape(rows, shape=(m, 1, k) if transpose_b else (m, k, 1))

    def spec(a, b):
        return _product_spec(a, b, transpose_a, transpose_b)

    def batch(batched, a, b):
        shape = b._array.shape
        if batched == {"b"} and a.ndim == 2 and len(shape) == 3 and shape[2 - transpose_b] == 1:
            # One matrix times many columns: these as the rows of one product.
            rows = _reshape(b, shape=(shape[0], shape[1 + transpose_b]))
            columns = _products[False, not transpose_a](rows, a)
            return _reshape(columns, shape=(*columns._array.shape, 1))
        named = [("a", a), ("b", b)]
        rank = max(x.ndim - (n in batched) for n, x in named)
        if len(batched) == 2 or rank > 2:
            a, b = (
                insert_axes(x, rank + 1 - x.ndim, at=1) if n in batched else x for n, x in named
            )
        return call(a, b)

    kernel.__name__ = name
    kernel.__doc__ = _product.__doc__
    samples = _product_samples(transpose_a, transpose_b)
    pattern = _product_pattern(transpose_a, transpose_b)
    declared = Op(
        kernel,
        linear="a, b",
        work=_multiplications(-2 if transpose_a else -1),
        pattern=pattern,
        dtypes=dt.NUMERIC,
        name=name,
        samples=samples,
        builtin=run,
    )
    declared.set_rule("a", _own_spec_if_broadcast(declared.make_rule(vjp_a)))
    declared.set_rule("b", _own_spec_if_broadcast(declared.make_rule(vjp_b)))
    declared.rows("a")(rows_a)
    declared.rows("b")(rows_b)
    declared.spec(spec)
    declared.batch(batch)
    call = public(declared, binary(declared))
    _products[transpose_a, transpose_b] = call
    return call


def _scaled_columns(x: Tensor, g: Tensor, transposed: bool) -> Tensor:
    """The columns of `x` (its rows, if it is `transposed`), each times one of `g`, as rows."""
    if transposed:
        return x * _reshape(g, shape=g._array.shape[::-1])
    return _transpose(x * g, perm=(1, 0))


def _product_pattern(transpose_a: bool, transpose_b: bool) -> Any:
    """A row of the result comes from one row of `a`, a column from one column of `b`."""
    of_matrices = aligned(2)

    def pattern(position, x, out, params):
        flipped = transpose_b if position else transpose_a
        kept = len(x) - 1 if flipped != bool(position) else len(x) - 2
        return [*of_matrices(position, x, out, params), (kept, len(out) - 2 + position)]

    return pattern


def _multiplications(axis: int) -> Callable[..., float]:
    """Those of a matrix product: for each element of it as many as the summed axis of `a` is long.

    (Not of three sizes alone: an axis may be a batch.)
    """
    return lambda a, b, out: float(out._array.size) * a._array.shape[axis]


def _own_spec_if_broadcast(rule: Rule) -> Rule:
    """A rule that needs the shape of its argument only where batch axes were broadcast."""
    relaxed = {Keep.SPEC: Keep.SPEC_IF_BROADCAST}
    return Rule(rule.pull, {slot: relaxed.get(keep, keep) for slot, keep in rule.keeps.items()})


def _product_samples(transpose_a: bool, transpose_b: bool) -> Callable[..., Any]:
    shapes = [
        ((2, 3), (3, 4)), ((2, 3), (3, 1)), ((1, 3), (3, 4)), ((2, 1, 2, 3), (2, 3, 2)),
        ((2, 2, 3), (3, 1)), ((1, 3), (2, 3, 2)), ((2, 0), (0, 3)),
    ]  # fmt: skip

    def samples(r):
        return [
            ([_flipped(r.normal(size=a), transpose_a), _flipped(r.normal(size=b), transpose_b)], {})
            for a, b in shapes
        ]

    return samples


def _flipped(x: Any, transpose: bool) -> Any:
    return x.swapaxes(-1, -2).copy() if transpose else x


def _rows(x: Tensor) -> Tensor:
    """All matrices of `x` below one another."""
    shape = x._array.shape
    return x if len(shape) == 2 else _reshape(x, shape=(math.prod(shape[:-1]), shape[-1]))


def _product_spec(a: Spec, b: Spec, transpose_a: bool, transpose_b: bool) -> Spec:
    dtype = same_dtype("matmul", a=a, b=b)
    received = f"Received: a.shape={a.shape}, b.shape={b.shape}"
    if a.ndim < 2 or b.ndim < 2:
        raise ShapeError(
            f"matmul: both arguments must have rank 2 or more. {received}. For a vector use "
            "linalg.matvec(a, b) or tensordot(a, b, axes=1)."
        )
    *batch_a, m, k = (*a.shape[:-2], *(a.shape[:-3:-1] if transpose_a else a.shape[-2:]))
    *batch_b, depth, n = (*b.shape[:-2], *(b.shape[:-3:-1] if transpose_b else b.shape[-2:]))
    flags = f"{', transpose_a=True' * transpose_a}{', transpose_b=True' * transpose_b}"
    if k != depth:
        raise ShapeError(
            f"matmul: inner dimensions must agree. {received}{flags}, so {k} != {depth}. "
            "Transpose one argument, or use tensordot(a, b, axes=...)."
        )
    batch = broadcast_shapes("matmul (batch axes)", a=tuple(batch_a), b=tuple(batch_b))
    return Spec((*batch, m, n), dtype)


_matmul = _product("matmul", False, False)
for _name, *_flags in (("nt", False, True), ("tn", True, False), ("tt", True, True)):
    _product(f"matmul_{_name}", *_flags)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product `a @ b` over the last two axes; the axes before them broadcast.

    A flag transposes (adjoint: and conjugates) an argument first. `a_is_sparse`, `b_is_sparse`,
    `grad_a` and `grad_b` are TensorFlow's hints to itself and change nothing.
    """
    if not (transpose_a or transpose_b or adjoint_a or adjoint_b) and output_type is None:
        try:
            return _matmul(a, b)
        except NotATensorError as error:
            return take_over(error, matmul, a, b)
    if transpose_a and adjoint_a:
        raise ValueError("matmul: only one of `transpose_a` and `adjoint_a` can be true.")
    if transpose_b and adjoint_b:
        raise ValueError("matmul: only one of `transpose_b` and `adjoint_b` can be true.")
    if output_type is not None:
        wanted = as_dtype(output_type)
        a, b = cast(a, wanted), cast(b, wanted)
    product = _products[bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b)]
    try:
        return product(conj(a) if adjoint_a else a, conj(b) if adjoint_b else b)
    except NotATensorError as error:
        flags = transpose_a, transpose_b, adjoint_a, adjoint_b
        return take_over(error, matmul, a, b, *flags)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of the matrix `a` (its last two axes) and the vector `b` (its last axis)."""
    a, b = _operands(_matmul.op, a, b)
    if b.ndim < 1 or a.ndim < 2:
        raise ShapeError(
            f"matvec: `a` must have rank 2 or more and `b` rank 1 or more. Received: "
            f"a.shape={tuple(a.shape)}, b.shape={tuple(b.shape)}."
        )
    turned = transpose_a or adjoint_a
    if a._array.shape[-2 if turned else -1] != b._array.shape[-1]:
        raise ShapeError(
            f"matvec: each {'column' if turned else 'row'} of `a` must be as long as `b`. "
            f"Received: a.shape={tuple(a.shape)}, b.shape={tuple(b.shape)}."
        )
    column = _reshape(b, shape=(*b._array.shape, 1))
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return _reshape(out, shape=tuple(out._array.shape[:-1]))
