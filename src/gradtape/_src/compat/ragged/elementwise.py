"""Elementwise ops on ragged tensors: on their flat values, once the operands have the same rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt, nest
from ...core.convert import as_tensor, operand
from ...core.errors import ShapeError
from ...core.pattern import ELEMENTWISE
from ...core.tensor import Tensor, is_symbolic
from ...ops.array.cast import cast
from ...ops.array.conversion import as_string, bitcast, saturate_cast
from ...ops.array.creation import ones_like, zeros, zeros_like
from ...ops.array.indexing import gather
from ...ops.array.masks import one_hot
from ...ops.array.shape import reshape
from ...ops.declare.static import static_axis
from ...ops.effects import debugging
from ...ops.effects.debugging import assert_equal, check_numerics
from ...ops.image.color import adjust_brightness, adjust_gamma, convert_image_dtype
from ...ops.math import arithmetic, complex as complex_numbers
from ...ops.math.conjugate import conj
from ...ops.math.logic import and_operator, invert_operator, or_operator, xor_operator
from ...ops.nn.activation import crelu, leaky_relu, silu
from ...ops.nn.dropout import dropout, stateless_dropout
from ...ops.nn.loss import sigmoid_cross_entropy_with_logits
from .ragged_tensor import RaggedTensor
from .row_partition import RowPartition, number, partition_dtype


def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """`op` applied to the flat values of the ragged tensors among its arguments, rows as before.

    The ragged tensors must have the same rows. They may stand in lists and dicts.

    >>> map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[1, 4], [9]]>
    """
    found = [x for x in nest.flatten((args, kwargs)) if isinstance(x, RaggedTensor)]
    if not found:
        return op(*args, **kwargs)
    partition_dtype(*found)
    _check_same_rows(found)
    flat_args, flat_kwargs = nest.map_structure(
        lambda x: x.flat_values if isinstance(x, RaggedTensor) else x, (args, kwargs)
    )
    result = op(*flat_args, **flat_kwargs)
    first = found[0]
    count, wanted = _size(result, "map_flat_values"), first.flat_values._array.shape[0]
    if count != wanted:
        raise ValueError(
            f"map_flat_values: `op` must give as many rows as it was given, {wanted}, and the "
            f"result has {count}."
        )
    return first.with_flat_values(result)


def _size(result: Any, op: str) -> Any:
    if isinstance(result, RaggedTensor):
        return result.row_splits._array.shape[0] - 1
    result = as_tensor(result, op=op)
    if not result.ndim:
        raise ShapeError(f"{op}: the result is a scalar, and must have a value for each one given.")
    return result._array.shape[0]


def _check_same_rows(values: list[RaggedTensor]) -> None:
    first = values[0].nested_row_splits
    for other in values[1:]:
        splits = other.nested_row_splits
        if len(splits) != len(first):
            raise ShapeError(
                f"Ragged tensors with {len(first)} and {len(splits)} ragged axes do not have the "
                "same rows."
            )
        for a, b in zip(first, splits, strict=True):
            if a is not b:
                _check_same_shape(a, b)
                assert_equal(a, b, "The ragged tensors do not have the same rows.")


def _check_same_shape(a: Tensor, b: Tensor) -> None:
    if a._array.shape != b._array.shape:
        raise ShapeError(
            f"The ragged tensors do not have the same number of rows: {a._array.shape[0] - 1} and "
            f"{b._array.shape[0] - 1}."
        )


# Ops of which one argument at least is ragged


@RaggedTensor._takes_over(ELEMENTWISE)
def _elementwise(op: Any, *args: Any, **kwargs: Any) -> Any:
    """What an elementwise op is for ragged tensors: that of `args`, broadcast to the same rows."""
    first = next(x for x in args if isinstance(x, RaggedTensor))
    dtype = first.flat_values._array.dtype
    values = [
        x if isinstance(x, (RaggedTensor, Tensor)) else operand(x, dtype, op.__name__) for x in args
    ]
    return on_same_rows(lambda *flat: op(*flat, **kwargs), values, op.__name__)


def on_same_rows(op: Any, values: list[Any], name: str) -> RaggedTensor:
    """`op` of the flat values of ragged tensors and tensors, which are broadcast to one shape."""
    flat, partitions = broadcast(values, name)
    result = op(*flat)
    for partition in reversed(partitions):
        result = RaggedTensor._like(result, partition)
    return result  # type: ignore[no-any-return]


def broadcast(values: list[Any], name: str) -> tuple[list[Tensor], list[RowPartition]]:
    """The flat values of `values`, one of them ragged, broadcast along all axes of rows.

    Beside them, the partitions that they share then. Axes within the flat values are left to the
    op.
    """
    dtype = partition_dtype(*values)
    ragged = [x for x in values if isinstance(x, RaggedTensor)]
    first = max(ragged, key=lambda x: x.ragged_rank)
    if all(
        _is_inner(x, first) if isinstance(x, Tensor) else _has_partitions_of(x, first)
        for x in values
    ):
        flat = [x if isinstance(x, Tensor) else x.flat_values for x in values]
        return flat, list(first._nested_row_partitions)
    rank = max(x.shape.rank for x in values)
    depth = max(x.ragged_rank + rank - x.shape.rank for x in ragged)
    operands = [_Operand(x, rank, depth, dtype) for x in values]
    count = next((each.count for each in operands if not _is_one(each.count)), 1)
    for each in operands:
        each.start(count, name)
    partitions = [_common_axis(operands, axis, name) for axis in range(depth)]
    return [each.flat() for each in operands], partitions


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1  # not so for an open one


def _is_inner(x: Tensor, rt: RaggedTensor) -> bool:
    """Whether `x` broadcasts along the axes within the flat values of `rt` alone."""
    return x.ndim < rt.flat_values.ndim


def _has_partitions_of(x: RaggedTensor, first: RaggedTensor) -> bool:
    a, b = x.nested_row_splits, first.nested_row_splits
    return len(a) == len(b) and all(p is q for p, q in zip(a, b, strict=True))


class _Operand:
    """A value on its way along the axes of rows, the outermost first.

    `rows` says which of its rows each row of the result is: None for the same ones.
    """

    def __init__(self, x: Any, rank: int, depth: int, dtype: Any) -> None:
        missing = rank - x.shape.rank
        if isinstance(x, Tensor):
            sizes = (*(1,) * missing, *x._array.shape)
            self.partitions = [
                RowPartition.from_uniform_row_length(
                    number(sizes[axis], dtype), nrows=number(math.prod(sizes[:axis]), dtype)
                )
                for axis in range(1, depth + 1)
            ]
            self.values = reshape(x, (math.prod(sizes[: depth + 1]), *sizes[depth + 1 :]))
            self.count = sizes[0]
        else:
            self.partitions = [*x._nested_row_partitions]
            self.values = x.flat_values
            self.count = x.row_splits._array.shape[0] - 1
            for _ in range(missing):
                whole = RowPartition.from_uniform_row_length(
                    number(self.count, dtype), nrows=number(1, dtype)
                )
                self.partitions.insert(0, whole)
                self.count = 1
            while len(self.partitions) < depth:  # axes that are ragged in another operand
                sizes = self.values._array.shape
                self.partitions.append(
                    RowPartition.from_uniform_row_length(
                        number(sizes[1], dtype), nrows=number(sizes[0], dtype)
                    )
                )
                self.values = reshape(self.values, (sizes[0] * sizes[1], *sizes[2:]))
        self.rows: Tensor | None = None

    def start(self, count: Any, name: str) -> None:
        """Begin with so many rows."""
        if self.count == count:
            return
        if not _is_one(self.count):
            raise ShapeError(
                f"{name}: the first axes have {self.count} and {count} rows, and do not broadcast."
            )
        self.rows = zeros((count,), dt.int64)

    def lengths(self, axis: int) -> Tensor:
        own = self.partitions[axis].row_lengths()
        return own if self.rows is None else gather(own, self.rows)

    def is_one(self, axis: int) -> bool:
        """Whether the axis is known to have size 1, and so is repeated."""
        length = self.partitions[axis].static_uniform_row_length
        if length is not None:
            return length == 1
        own = self.partitions[axis].row_lengths()._array
        return not is_symbolic(own) and len(own) > 0 and bool((own == 1).all())

    def advance(self, axis: int, to: RowPartition) -> None:
        """Find the values that stand in the rows `to`: those of its own rows, or one repeated."""
        own = self.partitions[axis]
        if self.rows is None and own.row_splits() is to.row_splits():
            return
        starts = own.row_starts() if self.rows is None else gather(own.row_starts(), self.rows)
        if self.is_one(axis):
            self.rows = gather(starts, to.value_rowids())
        elif self.rows is not None:
            self.rows = gather(starts, to.value_rowids()) + cast(to.offsets_in_rows(), starts.dtype)

    def flat(self) -> Tensor:
        return self.values if self.rows is None else gather(self.values, self.rows)


def _common_axis(operands: list[_Operand], axis: int, name: str) -> RowPartition:
    """The rows along `axis` to which all operands are broadcast, which they now are."""
    wide = [o for o in operands if not o.is_one(axis)] or operands
    chosen = next((o for o in wide if o.rows is None), wide[0])
    partition = chosen.partitions[axis]
    if chosen.rows is not None:
        partition = RowPartition.from_row_lengths(chosen.lengths(axis), validate=False)
    for other in wide:
        own = other.partitions[axis]
        if other is not chosen and not (
            other.rows is chosen.rows and own.row_splits() is partition.row_splits()
        ):
            lengths = other.lengths(axis)
            _check_lengths(lengths, partition.row_lengths(), axis, name)
    for each in operands:
        each.advance(axis, partition)
    return partition


def _check_lengths(a: Tensor, b: Tensor, axis: int, name: str) -> None:
    say = f"{name}: the rows along axis {axis + 1} have different lengths, and do not broadcast."
    if a._array.shape != b._array.shape:
        raise ShapeError(say)
    if is_symbolic(a._array) or is_symbolic(b._array):
        assert_equal(a, b, say)
    elif not np.array_equal(a._array, b._array):
        raise ShapeError(f"{say} Received: {a.numpy()!r:.100} and {b.numpy()!r:.100}.")


# Functions made of several ops


def _mapped(function: Any) -> None:
    """Let a function of one ragged tensor, the first argument, work on its flat values."""

    def rule(x: Any, *args: Any, **kwargs: Any) -> Any:
        return map_flat_values(function, x, *args, **kwargs)

    RaggedTensor._takes_over(function)(rule)


for _function in (
    adjust_brightness, adjust_gamma, arithmetic.reciprocal_no_nan, arithmetic.round,
    arithmetic.sign, as_string, bitcast, cast, check_numerics, complex_numbers.angle,
    complex_numbers.imag, complex_numbers.real, conj, convert_image_dtype, crelu, invert_operator,
    leaky_relu, ones_like, saturate_cast, silu, zeros_like,
):  # fmt: skip
    _mapped(_function)


def _of_operands(function: Any, *others: Any) -> None:
    """Let a function of two operands broadcast them as ops do."""

    def rule(x: Any, y: Any) -> Any:
        return _elementwise(function, x, y)

    RaggedTensor._takes_over(function, *others)(rule)


_of_operands(arithmetic.divide, arithmetic._divide)  # which for integers is more than its op
for _operator in (
    and_operator, arithmetic.divide_no_nan, or_operator, sigmoid_cross_entropy_with_logits,
    xor_operator,
):  # fmt: skip
    _of_operands(_operator)


def _asserted(check: Any) -> None:
    """Let a check of two operands look at them once they are broadcast."""

    def rule(x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        def checked(x: Any, y: Any) -> Any:
            check(x, y, *args, **kwargs)
            return x

        _elementwise(checked, x, y)

    RaggedTensor._takes_over(check)(rule)


for _check in (
    debugging.assert_equal, debugging.assert_greater, debugging.assert_greater_equal,
    debugging.assert_less, debugging.assert_less_equal, debugging.assert_near,
    debugging.assert_none_equal,
):  # fmt: skip
    _asserted(_check)


@RaggedTensor._takes_over(arithmetic.scalar_mul)
def _scalar_mul(scalar: Any, x: Any, name: Any = None) -> Any:
    return map_flat_values(lambda flat: arithmetic.scalar_mul(scalar, flat), x)


@RaggedTensor._takes_over(arithmetic.clip_by_value)
def _clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: Any = None) -> Any:
    return map_flat_values(arithmetic.clip_by_value, t, clip_value_min, clip_value_max)


@RaggedTensor._takes_over(arithmetic.add_n)
def _add_n(inputs: Any, name: Any = None) -> Any:
    first, *rest = inputs
    for other in rest:
        first = arithmetic.add(first, other)
    return first


@RaggedTensor._takes_over(dropout)
def _dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: Any = None) -> Any:
    if noise_shape is not None:
        raise ValueError("dropout: `noise_shape` is not supported for a RaggedTensor.")
    return map_flat_values(dropout, x, rate, seed=seed)


@RaggedTensor._takes_over(stateless_dropout)
def _stateless_dropout(
    x: Any, rate: Any, seed: Any, rng_alg: Any = None, noise_shape: Any = None, name: Any = None
) -> Any:
    if noise_shape is not None:
        raise ValueError("stateless_dropout: `noise_shape` is not supported for a RaggedTensor.")
    return map_flat_values(stateless_dropout, x, rate, seed, rng_alg)


@RaggedTensor._takes_over(one_hot)
def _one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Any = None,
) -> Any:
    if axis is not None:
        axis = static_axis(axis, indices.shape.rank + 1, "one_hot")
        if axis <= indices.ragged_rank:
            raise ValueError(
                f"one_hot: `axis` must be after the ragged ones, above {indices.ragged_rank}, "
                f"and is {axis}."
            )
        axis -= indices.ragged_rank
    return map_flat_values(one_hot, indices, depth, on_value, off_value, axis, dtype)
