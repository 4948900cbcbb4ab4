"""A function of one element, run once for a whole batch: vectorized_map, and jacobians.

Inside a `Batch` a tensor that differs from element to element is a BatchedTensor. It shows the
shape and dtype of one element; the values of all of them are a tensor with one axis more in
front. An op that meets one is run by its batching rule on these tensors. Rules are written in our
own ops, so tapes outside record the batched computation like any other, and batches nest. See
docs/decisions/0006.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..core import nest
from ..core.convert import as_tensor
from ..core.cotangent import dense
from ..core.dispatch import record
from ..core.draws import batches
from ..core.engine import register_engine
from ..core.errors import (
    Error,
    InvalidArgumentError,
    ShapeError,
    UnimplementedError,
    ValuesNeeded,
)
from ..core.interrupts import keep_variable
from ..core.op import JointOp, Op, as_tuple
from ..core.recorder import heard_by, recorders
from ..core.spec import Spec, spec_of
from ..core.tensor import Tensor
from ..core.tracing import note_uses
from ..ops.array.joining import stack
from ..ops.array.shape import broadcast_to
from ..ops.math.reduction import reduce_sum
from .scopes import get_logger

R = TypeVar("R")


def vectorized_map(
    fn: Callable[[Any], R], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> R:
    """`fn` of each element along axis 0 of the tensors in `elems`, the results stacked.

    `fn` runs once, for all elements together. A tensor in `elems` of length 1 goes to every
    element. A function that needs the values in Python (`if x > 0`, `float(x)`, a shape computed
    from them) runs in a loop instead, with a warning, or fails if `fallback_to_while_loop` is
    False.

    >>> vectorized_map(lambda row: tf.tensordot(row, row, 1), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 5., 25.], dtype=float32)>
    """
    tensors = [as_tensor(x, op="vectorized_map") for x in nest.flatten(elems)]
    size = _common_size(tensors)
    around = batches.get()
    try:
        with Batch(size, draws=True) as batch:
            pieces = [x[0] if len(x) == 1 != size else batch.of(x) for x in tensors]
            results = fn(nest.pack_sequence_as(elems, pieces))
            joined: R = nest.map_structure(
                lambda y: None if y is None else batch.joined(y), results
            )
            return joined
    except (ValuesNeeded, UnimplementedError) as needed:
        if not fallback_to_while_loop or size == 0:
            raise
        if warn:
            get_logger().warning("vectorized_map runs %r in a loop. %s", fn, needed)
    except BaseException:
        batches.set(around)  # an interrupt may have come when the block was left
        raise
    each = [
        fn(nest.pack_sequence_as(elems, [x[i if len(x) > 1 else 0] for x in tensors]))
        for i in range(size)
    ]
    stacked: R = nest.map_structure(lambda *ys: None if ys[0] is None else stack(ys), *each)
    return stacked


def _common_size(tensors: list[Tensor]) -> int:
    """The length along axis 0: one for all tensors, save those of length 1."""
    if not tensors:
        raise InvalidArgumentError("vectorized_map: `elems` holds no tensor.")
    for i, x in enumerate(tensors):
        if not x.ndim:
            raise ShapeError(
                f"vectorized_map: tensor {i} of `elems` is a scalar, and has no elements along "
                "axis 0."
            )
    sizes = {len(x) for x in tensors}
    size = max(sizes - {1}, default=1)
    if not sizes <= {1, size}:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(
            "vectorized_map: the tensors in `elems` must have one length along axis 0, or length "
            f"1. Received shapes: {shapes}."
        )
    return size


_depth: ContextVar[int] = ContextVar("depth of batches", default=0)
keep_variable(_depth)
keep_variable(batches)


class Batch:
    """A block in which the elements of a batch of `size` are computed together.

    With `draws`, random numbers are drawn for each element; else all elements see the same ones.

    >>> with Batch(3) as batch:
    ...     x = batch.of(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    ...     print(x.shape, batch.joined(tf.reduce_sum(x)).numpy())
    (2,) [ 3.  7. 11.]
    """

    def __init__(self, size: int, draws: bool = False) -> None:
        self.size = size
        self.draws = draws
        self.depth = 0
        self.running = False
        self._outside: tuple[Any, ...] = ()  # the recorders that see the batch as one computation

    def of(self, whole: Tensor) -> BatchedTensor:
        """The one tensor that stands for all elements of `whole` along axis 0."""
        return BatchedTensor(whole, self)

    def joined(self, x: Any) -> Tensor:
        """The values of `x` for all elements along a new axis 0."""
        x = as_tensor(x, op="vectorized_map")
        if type(x) is BatchedTensor and x.batch is self:
            return x.whole
        return broadcast_to(x, (self.size, *x._array.shape))

    def __enter__(self) -> Batch:
        self.depth = _depth.get() + 1
        _depth.set(self.depth)
        if self.draws:
            batches.set((*batches.get(), self))
        self._outside = tuple(recorders())
        self.running = True
        return self

    def __exit__(self, *error: Any) -> None:
        self.running = False
        self._outside = ()
        _depth.set(self.depth - 1)
        if self.draws:
            batches.set(batches.get()[:-1])

    def run(self, op: Op, inputs: Any, params: dict[str, Any]) -> Any:
        """The op on all elements, as one op call per element to the recorders that began inside.

        To those it is an op on BatchedTensors; those outside see the batching rule's ops on the
        tensors behind them, and nothing else.
        """
        if not self.running:
            raise InvalidArgumentError(
                f"{op.name}: a tensor made inside vectorized_map is used after it. Return it from "
                "the function: the result then holds its values for all elements."
            )
        inside = self._inside()
        if not inside:
            return self._run(op, inputs, params)
        with heard_by([r for r in recorders() if r not in inside]):
            outputs = self._run(op, inputs, params)
        if op.differentiable:
            record(op, inputs, outputs, params, to=inside)
        return outputs

    def _inside(self) -> list[Any]:
        """The recorders that began inside this batch, and see its elements."""
        return [r for r in recorders() if r not in self._outside]

    def _run(self, op: Op, inputs: Any, params: dict[str, Any]) -> Any:
        batched = set()
        tensors = []
        for name, x in zip(op.names_of(inputs), inputs, strict=True):
            if type(x) is BatchedTensor and x.batch is self:
                batched.add(name)
                tensors.append(x.whole)
            else:
                tensors.append(x)
        try:
            result = apply_batched(op, batched, tensors, params)
        except Error:
            if op.spec_rule is not None:  # says it in terms of one element, if it finds the fault
                op.spec_rule(*(spec_of(x._array) for x in inputs), **params)
            raise
        return tuple(map(self.of, result)) if type(result) is tuple else self.of(result)

    def record_joint(
        self, name: str, rule: Any, inputs: list[Tensor], outputs: list[Tensor]
    ) -> None:
        """`record_joint` below, for tensors whose innermost batch is this one."""
        inside = self._inside()
        if inside:
            _offer(name, rule, inputs, outputs, inside)

        def rule_of_all(g: Any) -> list[Any]:
            with nullcontext() if self.running else self:
                # An output that is the same for all elements: each gets its part of the cotangent.
                each = [
                    self.of(h) if type(y) is BatchedTensor and y.batch is self else h / self.size
                    for h, y in zip(as_tuple(g), outputs, strict=True)
                ]
                found = rule(tuple(each) if type(g) is tuple else each[0])
                return [self._cotangent(x, c) for x, c in zip(inputs, found, strict=True)]

        with heard_by([r for r in recorders() if r not in inside]):
            record_joint(
                name, rule_of_all, list(map(self._whole, inputs)), list(map(self._whole, outputs))
            )

    def _whole(self, x: Tensor) -> Tensor:
        return x.whole if type(x) is BatchedTensor and x.batch is self else x

    def _cotangent(self, x: Tensor, cotangent: Any) -> Any:
        """The cotangent of `x` outside of the batch, from that of what an element sees of it."""
        if cotangent is None:
            return None
        cotangents = self.joined(dense(cotangent))
        return cotangents if self._whole(x) is not x else reduce_sum(cotangents, 0)


def record_joint(name: str, rule: Any, inputs: list[Tensor], outputs: list[Tensor]) -> None:
    """Record a function that has one rule for all its inputs: `rule(g)` gives their cotangents.

    Inside a batch the rule is one of elements. Recorders outside get it as a rule of all of them.
    """
    batch = innermost((*inputs, *outputs))
    if batch is None:
        _offer(name, rule, inputs, outputs, recorders())
    else:
        batch.record_joint(name, rule, inputs, outputs)


def _offer(name: str, rule: Any, inputs: list[Tensor], outputs: list[Tensor], to: Any) -> None:
    note_uses(inputs)
    if outputs and any(x._key is not None for x in inputs):
        results = outputs[0] if len(outputs) == 1 else tuple(outputs)
        record(JointOp(name, rule), inputs, results, {}, to=to)


def innermost(tensors: Iterable[Any]) -> Batch | None:
    """The innermost batch that one of the tensors belongs to; None if none is batched."""
    batches = [x.batch for x in tensors if type(x) is BatchedTensor]
    return max(batches, key=lambda batch: batch.depth, default=None)


class BatchedTensor(Tensor):
    """A tensor inside a batch: to Python one element, to the ops all of them."""

    __slots__ = ("batch", "whole")
    __module__ = Tensor.__module__  # wherever a tensor is said to be from

    def __init__(self, whole: Tensor, batch: Batch) -> None:
        self._array = Element(whole._array.shape[1:], whole._array.dtype)
        self._key = None
        self.whole = whole
        self.batch = batch

    @staticmethod
    def _intercept(op: Op, inputs: Any, params: dict[str, Any]) -> Any:
        batch = innermost(inputs)
        assert batch is not None
        return batch.run(op, inputs, params)

    def __repr__(self) -> str:
        what = f"shape={self.shape}, dtype={self.dtype.name}"
        return f"<tf.Tensor: {what}, one of {self.batch.size} elements>"

    __str__ = __repr__

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> NoReturn:
        _refuse_values("a tensor")


class Element:
    """In the place of an array: shape and dtype of one element of a batch, and no values."""

    __slots__ = ("dtype", "shape")
    __array_ufunc__ = None

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def _refuse(self, *unused: Any, **options: Any) -> NoReturn:
        _refuse_values(f"a tensor ({Spec(self.shape, self.dtype)})")

    __array__ = __bool__ = __int__ = __float__ = __complex__ = __index__ = __getitem__ = (
        __iter__
    ) = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


def _refuse_values(of_what: str) -> NoReturn:
    raise ValuesNeeded(
        f"The values of {of_what} that differ from element to element of a batch are needed as "
        "one: by `if`, float(), numpy(), or where a shape depends on them. Choose between values "
        "with tf.where, or use tf.map_fn in place of tf.vectorized_map."
    )


# Code that asks for the engine of a tensor is about to compute with its array.
register_engine(lambda kind: kind is Element, lambda: _refuse_values("a tensor"))


def apply_batched(op: Op, batched: set[str], tensors: list[Tensor], params: dict[str, Any]) -> Any:
    """`op` of each element along axis 0 of the arguments named in `batched`, stacked."""
    names = op.names_of(tensors)
    size = len(next(x for name, x in zip(names, tensors, strict=True) if name in batched))
    if size == 0:  # not left to the rules: some divide by the size
        return _of_no_elements(op, batched, names, tensors, params)
    if op.batch_rule is not None:
        result = op.batch_rule(batched, *tensors, **params)
        if result is not NotImplemented:
            return result
    results = [
        op.call(
            *(x[i] if name in batched else x for name, x in zip(names, tensors, strict=True)),
            **params,
        )
        for i in range(size)
    ]
    if isinstance(results[0], tuple):
        return tuple(stack(column) for column in zip(*results, strict=True))
    return stack(results)


def _of_no_elements(
    op: Op, batched: set[str], names: list[str], tensors: list[Tensor], params: dict[str, Any]
) -> Any:
    """The stack of no results: shape and dtype are those of the op on an element of ones."""
    one = [
        Tensor(np.ones(x._array.shape[1:], x._array.dtype)) if name in batched else x
        for name, x in zip(names, tensors, strict=True)
    ]
    result = op.call(*one, **params)
    several = result if isinstance(result, tuple) else (result,)
    empty = tuple(Tensor(np.zeros((0, *y._array.shape), y._array.dtype)) for y in several)
    return empty if isinstance(result, tuple) else empty[0]
