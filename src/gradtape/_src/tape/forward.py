"""ForwardAccumulator: Jacobian-vector products, computed along with the function itself.

The tangent of an op's output comes from its declaration, in this order: an op that is linear in an
argument is applied to the tangent; an elementwise op multiplies it by its partial; any other op
uses its gradient rule, which is linear in `g`, and transposes it by differentiating it by `g`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from ..core import dtypes, nest
from ..core.backward import backward
from ..core.convert import as_tensor
from ..core.cotangent import dense
from ..core.op import Op, as_tuple
from ..core.recorder import Observer, listeners
from ..core.tensor import Tensor, is_inexact, key_of, zeros_of
from ..ops.array.shape import broadcast_to
from .batching import Batch
from .derivative import UnconnectedGradients, not_floating, wants_zeros
from .transpose import recorded
from .variable import Variable, variable_of

if TYPE_CHECKING:
    from ..core.annotations import Nest


class ForwardAccumulator(Observer):
    """Computes Jacobian-vector products of what happens inside its `with` block.

    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x**3)
    >>> acc.jvp(y)
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>

    Accumulators and tapes nest: what is inside does not see what the outside computes about it. A
    tape inside an accumulator gives Hessian-vector products: `acc.jvp(tape.gradient(y, x))`.
    """

    computes_at_once = True

    def __init__(self, primals: Any, tangents: Any) -> None:
        super().__init__()
        self._tangents: dict[int, Tensor] = {}
        self._active = False
        self._watch(primals, tangents)

    def _watch(self, primals: Any, tangents: Any) -> None:
        for primal, tangent in with_tangents("ForwardAccumulator", primals, tangents):
            if primal.dtype.numpy_dtype not in dtypes.INEXACT:
                not_floating.log(primal.dtype)
                continue
            key = primal._key if isinstance(primal, Variable) else key_of(primal)
            if key in self._tangents:
                raise ValueError("ForwardAccumulator: a tensor is listed twice in `primals`.")
            self._tangents[key] = tangent
            self.tracked.add(key)

    def __enter__(self) -> Self:
        if self._active:
            raise ValueError(
                "This accumulator is active already: a block of it cannot hold another."
            )
        try:
            self.start()
        except BaseException:  # an interrupt, when it had begun
            self.stop()
            raise
        self._active = True
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self.stop()
        except BaseException:  # an interrupt, before it was done
            self.stop()
            raise
        finally:
            self._active = False

    @overload
    def jvp(self, primals: Tensor | Variable, unconnected_gradients: Any = ...) -> Tensor | Any: ...
    @overload
    def jvp(
        self, primals: Sequence[Tensor | Variable], unconnected_gradients: Any = ...
    ) -> Sequence[Tensor | Any]: ...
    @overload
    def jvp(self, primals: Nest, unconnected_gradients: Any = ...) -> Any: ...
    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The Jacobian-vector product of each tensor in `primals`; None if unconnected."""
        zero = wants_zeros(unconnected_gradients)

        def tangent(x: Any) -> Any:
            found = self._tangents.get(x._key) if x._key is not None else None
            return zeros_of(x) if found is None and zero else found

        return nest.map_structure(tangent, primals)

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        """Compute the tangents of the outputs of an op, out of sight of what is nested inside."""
        known = self._tangents
        tangents = {i: known[x._key] for i, x in enumerate(inputs) if x._key in known}
        active = listeners()
        place = active.index(self)
        inside = active[place:]
        del active[place:]
        try:
            results = jvp_of_op(op, inputs, outputs, params, tangents)
        finally:
            active[place:] = inside
        for y, t in zip(as_tuple(outputs), as_tuple(results), strict=True):
            if t is not None and is_inexact(y):
                self._tangents[y._key] = t
                self.tracked.add(y._key)

    def __repr__(self) -> str:
        return f"<ForwardAccumulator: {len(self._tangents)} tangents>"


class BatchForwardAccumulator:
    """A ForwardAccumulator for many tangents at once: they have one axis more, in front.

    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.BatchForwardAccumulator(x, tf.eye(2)) as acc:
    ...     y = tf.reduce_sum(x**3)
    >>> acc.jvp(y)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([12., 27.], dtype=float32)>

    The function itself runs once, its tangents through the batching rules of the ops.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._primals = primals
        self._tangents = nest.map_structure(as_tensor, tangents)
        sizes = {len(t) if t.ndim else None for t in nest.flatten(self._tangents)}
        if len(sizes) != 1 or None in sizes:
            raise ValueError(
                "BatchForwardAccumulator: `tangents` must have one axis more than `primals`, the "
                "first one, of one length for all."
            )
        self._batch = Batch(sizes.pop() or 0)
        self._inner: ForwardAccumulator | None = None
        self._joined: dict[int, Tensor] = {}

    def __enter__(self) -> Self:
        self._batch.__enter__()
        try:
            tangents = nest.map_structure(self._batch.of, self._tangents)
            self._inner = ForwardAccumulator(self._primals, tangents).__enter__()
        except BaseException:
            self._batch.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        assert self._inner is not None
        found = self._inner._tangents
        try:
            self._joined |= {key: self._batch.joined(t) for key, t in found.items()}
        finally:
            self._inner.__exit__(None, None, None)
            self._batch.__exit__(None, None, None)
            self._inner = None

    @overload
    def jvp(self, primals: Tensor | Variable, unconnected_gradients: Any = ...) -> Tensor | Any: ...
    @overload
    def jvp(
        self, primals: Sequence[Tensor | Variable], unconnected_gradients: Any = ...
    ) -> Sequence[Tensor | Any]: ...
    @overload
    def jvp(self, primals: Nest, unconnected_gradients: Any = ...) -> Any: ...
    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The products of each tensor in `primals`, along an axis in front; None if unconnected."""
        zero = wants_zeros(unconnected_gradients)

        def products(x: Any) -> Any:
            found = self._joined.get(x._key) if x._key is not None else None
            if self._inner is not None and x._key in self._inner._tangents:
                found = self._batch.joined(self._inner._tangents[x._key])
            if found is None and zero:
                return broadcast_to(zeros_of(x), (self._batch.size, *x.shape))
            return found

        return nest.map_structure(products, primals)


def with_tangents(
    op: str, primals: Any, tangents: Any, names: tuple[str, str] = ("primals", "tangents")
) -> list[tuple[Any, Tensor]]:
    """Each tensor and variable in `primals` with its tangent; an error if they do not match."""
    of_primals, of_tangents = names
    try:
        nest.assert_same_structure(primals, tangents)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{op}: `{of_tangents}` must be nested like `{of_primals}`. {error}"
        ) from None
    pairs = []
    flat = map(variable_of, nest.flatten(primals))
    for primal, tangent in zip(flat, nest.flatten(tangents), strict=True):
        if not isinstance(primal, (Tensor, Variable)):
            raise ValueError(
                f"{op}: `{of_primals}` must consist of tensors and variables, and hold "
                f"{primal!r:.100} of type {type(primal).__name__}."
            )
        tangent = as_tensor(tangent, op=op)
        if not _alike(primal, tangent):
            raise ValueError(
                f"{op}: a tangent must have the dtype and shape of its primal, "
                f"{primal.dtype.name} {primal.shape}, and has {tangent.dtype.name} "
                f"{tangent.shape}."
            )
        pairs.append((primal, tangent))
    return pairs


def _alike(x: Tensor | Variable, y: Tensor) -> bool:
    """Whether dtype and shape are the same."""
    a, b = getattr(x, "_array", None), y._array
    if type(a) is type(b) is np.ndarray and a.shape == b.shape:  # 0.1 µs in place of 1.3
        return bool(a.dtype == b.dtype)
    return x.dtype == y.dtype and x.shape == y.shape


def jvp_of_op(
    op: Any, inputs: Any, outputs: Any, params: dict[str, Any], tangents: dict[int, Tensor]
) -> Any:
    """The tangents of the outputs of one op from those of its inputs, given by position."""
    if op.push is not None:
        return op.push(tangents)
    if op.additive:
        every = [tangents[i] if i in tangents else zeros_of(x) for i, x in enumerate(inputs)]
        return op.call(*every, **params)
    total: Any = None
    for position, tangent in tangents.items():
        argument = op.argument_at(position)
        if argument in op.nondiff:
            continue
        if 0 in tangent._array.shape:  # a mean of nothing is NaN, and does not move
            part = _zeros(outputs)
        elif argument in op.linear:
            part = op.call(
                *(tangent if i == position else x for i, x in enumerate(inputs)), **params
            )
        elif argument in op.diagonal and _real(*inputs, outputs):
            shape = outputs._array.shape
            spread = tangent if tangent._array.shape == shape else broadcast_to(tangent, shape)
            part = op.diagonal[argument](spread, (*inputs, outputs), params)
        else:
            part = _transposed_rule(op, position, inputs, outputs, params, tangent)
        total = _added(total, part)
    return total


def _zeros(outputs: Any) -> Any:
    if type(outputs) is tuple:
        return tuple([zeros_of(y) if is_inexact(y) else None for y in outputs])
    return zeros_of(outputs)


def _transposed_rule(
    op: Op, position: int, inputs: Any, outputs: Any, params: dict[str, Any], tangent: Tensor
) -> Any:
    """J·t from the rule for Jᵀ·g, which is linear in `g`: its derivative by `g`."""
    several, results = type(outputs) is tuple, as_tuple(outputs)
    gs = [zeros_of(y) for y in results if is_inexact(y)]
    keep = op.keep_for((position,))
    saved = () if keep is None else keep(*op.slots_of(inputs), outputs)

    def pull(gs: list[Tensor]) -> Any:
        given = iter(gs)
        every: Any = gs[0]
        if several:
            every = tuple([next(given) if is_inexact(y) else zeros_of(y) for y in results])
        return op.pulls[position](every, saved, params)

    pulled, records = recorded(pull, gs)
    if pulled is None:
        return None
    found = backward(records, [(pulled._key, tangent)], [g._key for g in gs])
    parts = iter([None if g is None else dense(g) for g in found])
    if not several:
        return next(parts)
    return tuple([next(parts) if is_inexact(y) else None for y in results])


def _real(*tensors: Tensor) -> bool:
    return all([x._array.dtype not in dtypes.COMPLEX for x in tensors])


def _added(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return a if b is None else b
    if type(a) is tuple:
        return tuple([_added(x, y) for x, y in zip(a, b, strict=True)])
    return a + b
