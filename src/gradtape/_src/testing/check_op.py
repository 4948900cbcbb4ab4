"""check_op: every contract of one op, tested from its declaration."""

from __future__ import annotations

import itertools
import pkgutil
from importlib import import_module
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.cotangent import dense
from ..core.op import Op, as_tuple, registry
from ..core.spec import spec_of
from ..core.tensor import Tensor
from ..function.api import function
from ..ops.array.creation import constant
from ..tape.batching import apply_batched
from ..tape.forward import ForwardAccumulator
from ..tape.gradient_tape import GradientTape
from .gradcheck import check_gradients, random_like
from .samples import samples_of

_LOW_PRECISION = {
    np.dtype(np.float16): 2e-2,
    dt.bfloat16.numpy_dtype: 1e-1,
    np.dtype(np.float32): 1e-4,
}


def all_ops() -> dict[str, Op]:
    """Every op of gradtape by name, those of modules that are imported late included."""
    package = import_module("gradtape._src.ops")
    for module in pkgutil.walk_packages(package.__path__, "gradtape._src.ops."):
        import_module(module.name)
    return dict(sorted(registry.items()))


def check_op(op: Any, *, order: int = 2, jit: bool = True) -> None:
    """Raise AssertionError, with contract and sample, unless the op keeps all contracts.

    For each sample of its declaration: the value is that of the `reference` (if there is one) and
    of strided inputs; the inputs are not written to; the spec rule gives the result's shape and
    dtype; lower precision stays in its dtype and near; each argument's gradient has the argument's
    shape and dtype; gradients agree with central differences in float64 to `order`; forward mode
    agrees with reverse mode; rows that are declared are those of the gradient rule; the batching
    rule agrees with a loop; a compiled function gives the value and the gradient that the op gives,
    and for the first sample the second derivative.
    """
    declared: Op = getattr(op, "op", op)
    missing = [
        a for a in declared.arguments if a not in declared.rules and a not in declared.nondiff
    ]
    assert not missing, (
        f"{declared.name}: no gradient rule and no `nondiff` for {', '.join(missing)}"
    )
    samples = samples_of(declared)
    assert samples, f"{declared.name}: no samples"
    without_rows = set(declared.all_rows)
    for number, (arrays, params) in enumerate(samples):
        arrays = [np.asarray(a) for a in arrays]
        shapes = ", ".join(str(spec_of(a)) for a in arrays)
        what = f"{declared.name}, sample {number} ({shapes}{', ' if params else ''}{params or ''})"
        result = _check_value(declared, arrays, params, what)
        _check_strides(declared, arrays, params, result, what)
        _check_dtypes(declared, arrays, params, result, what)
        if declared.differentiable:
            _check_gradients(declared, arrays, params, order, what)
            _check_forward(declared, arrays, params, what)
            without_rows -= _check_rows(declared, arrays, params, what)
        _check_batching(declared, arrays, params, what)
        if jit:  # compiling takes longest, so the second derivative is compiled once
            _check_compiled(declared, arrays, params, min(order, 1 if number else 2), what)
    assert not without_rows, (
        f"{declared.name}: no sample has rows by {', '.join(map(repr, without_rows))}"
    )


def _run(op: Op, arrays: list[Any], params: dict[str, Any]) -> list[Any]:
    """The outputs, as NumPy arrays."""
    outputs = op.call(*(constant(a) for a in arrays), **params)
    return [np.asarray(y) for y in (outputs if isinstance(outputs, tuple) else [outputs])]


def _check_value(op: Op, arrays: list[Any], params: dict[str, Any], what: str) -> list[Any]:
    tensors = [Tensor(a) for a in arrays]
    before = [a.copy() for a in arrays]
    outputs = op.call(*tensors, **params)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for a, b in zip(arrays, before, strict=True):
        assert np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"), (
            f"{what}: the kernel wrote to its inputs"
        )
    if op.reference is not None:
        wanted = op.reference(*arrays, **params)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for y, w in zip(outputs, wanted, strict=True):
            _assert_close(
                np.asarray(y), np.asarray(w), 1e-9, f"{what}: the value is not the reference's"
            )
    if op.in_order:
        assert np.array_equal(np.ravel(arrays[0]), np.ravel(outputs[0]), equal_nan=True), (
            f"{what}: it is declared to keep elements in order"
        )
    if op.spec_rule is not None:
        specs = op.spec_rule(*(spec_of(a) for a in arrays), **params)
        specs = specs if type(specs) is tuple else (specs,)
        for y, spec in zip(outputs, specs, strict=True):
            assert spec_of(y._array) == spec, (
                f"{what}: the spec rule says {spec}, the result is {spec_of(y._array)}"
            )
    return [np.asarray(y) for y in outputs]


def _check_strides(
    op: Op, arrays: list[Any], params: dict[str, Any], result: Any, what: str
) -> None:
    strided = [np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a for a in arrays]
    outputs = op.call(*(Tensor(a) for a in strided), **params)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for y, w in zip(outputs, result, strict=True):
        _assert_close(
            np.asarray(y), w, 1e-9, f"{what}: the value depends on the strides of the inputs"
        )


def _check_dtypes(
    op: Op, arrays: list[Any], params: dict[str, Any], result: Any, what: str
) -> None:
    positions = [i for i in op.alike_of(arrays) if arrays[i].dtype == np.float64]
    if not positions:
        return
    for dtype, tolerance in _LOW_PRECISION.items():
        if dtype not in op.dtypes or "dtype" in params:
            continue
        lower = [a.astype(dtype) if i in positions else a for i, a in enumerate(arrays)]
        tensors = [Tensor(a) for a in lower]
        watched = [t for t in tensors if t._array.dtype == dtype]
        with GradientTape() as tape:
            tape.watch(watched)
            outputs = op.call(*tensors, **params)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for y, w in zip(outputs, result, strict=True):
            expected = _lowered(w.dtype, dtype)
            assert y._array.dtype == expected, f"{what}: {dtype.name} in, {y._array.dtype.name} out"
            if w.dtype.kind in "fc":
                _assert_close(
                    np.asarray(y).astype(w.dtype),
                    w,
                    tolerance,
                    f"{what}: the value in {dtype.name}",
                )
        targets = [y for y in outputs if y._array.dtype in dt.INEXACT]
        if op.differentiable and targets:
            for x, g in zip(watched, tape.gradient(targets, watched), strict=True):
                if g is not None:
                    assert g.shape == x.shape, (
                        f"{what}: a gradient of shape {g.shape} for {x.shape}"
                    )
                    assert g.dtype == x.dtype, (
                        f"{what}: a gradient of {g.dtype.name} for {x.dtype.name}"
                    )


def _lowered(result: Any, dtype: Any) -> Any:
    """The dtype expected of a result that is `result` for float64, when the inputs are `dtype`."""
    if result == np.float64:
        return dtype
    return np.complex64 if result == np.complex128 and dtype == np.float32 else result


def _check_gradients(
    op: Op, arrays: list[Any], params: dict[str, Any], order: int, what: str
) -> None:
    names = op.names_of(arrays)
    smooth = [
        i for i, (name, a) in enumerate(zip(names, arrays, strict=True))
        if a.dtype.kind in "fc" and name.split("[")[0] not in op.nondiff
    ]  # fmt: skip

    def f(*xs: Tensor) -> Any:
        moving = iter(xs)
        return op.call(
            *(next(moving) if i in smooth else constant(a) for i, a in enumerate(arrays)), **params
        )

    if smooth:
        check_gradients(f, [arrays[i] for i in smooth], order=order, what=what)


def _check_forward(op: Op, arrays: list[Any], params: dict[str, Any], what: str) -> None:
    """Forward against reverse mode: u · (J v) is (Jᵀ u) · v for any u and v."""
    random = np.random.default_rng(2)
    tensors = [constant(a) for a in arrays]
    moving = [
        t for t, name in zip(tensors, op.names_of(arrays), strict=True)
        if t._array.dtype in dt.INEXACT and name.split("[")[0] not in op.nondiff
    ]  # fmt: skip
    vs = [random_like(random, np.asarray(t)) for t in moving]
    with GradientTape() as tape, ForwardAccumulator(moving, [constant(v) for v in vs]) as forward:
        tape.watch(moving)
        outputs = op.call(*tensors, **params)
    targets = [
        y
        for y in (outputs if type(outputs) is tuple else (outputs,))
        if y._array.dtype in dt.INEXACT
    ]
    us = [random_like(random, np.asarray(y)) for y in targets]
    pushed = [np.asarray(t) for t in forward.jvp(targets, unconnected_gradients="zero")]
    pulled = tape.gradient(targets, moving, [constant(u) for u in us], unconnected_gradients="zero")
    found = _inner(us, pushed)
    expected = _inner([np.asarray(dense(g)) for g in pulled], vs)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9), (
        f"{what}: forward mode: u · (J v) = {found}, reverse mode: (Jᵀ u) · v = {expected}"
    )


def _check_rows(op: Op, arrays: list[Any], params: dict[str, Any], what: str) -> set[str]:
    """The declared rows against the gradient rule, one by one; the arguments that had any."""
    tensors = [constant(a) for a in arrays]
    out = op.call(*tensors, **params)
    random = np.random.default_rng(3)
    had = set()
    for argument, rows_of in op.all_rows.items():
        g = random_like(random, np.asarray(out))
        position = op.arguments.index(argument)
        keep = op.keep_for((position,))
        saved = () if keep is None else keep(*tensors, out)
        rows = rows_of(constant(g), saved, params)
        if rows is None:
            continue
        had.add(argument)
        shape = (np.size(g), *np.shape(arrays[position]))
        assert np.shape(rows) == shape, f"{what}: rows of shape {np.shape(rows)}, not {shape}"
        for i in range(len(rows)):
            unit = np.zeros_like(g)
            unit.flat[i] = np.asarray(g).flat[i]
            wanted = np.asarray(dense(op.pulls[position](constant(unit), saved, params)))
            _assert_close(np.asarray(rows)[i], wanted, 1e-9, f"{what}: row {i} by `{argument}`")
    return had


def _inner(us: list[Any], vs: list[Any]) -> float:
    """The inner product of real numbers: of complex ones, real and imaginary parts apart."""
    return sum(float(np.sum(np.conj(u) * v).real) for u, v in zip(us, vs, strict=True))


def _check_batching(op: Op, arrays: list[Any], params: dict[str, Any], what: str) -> None:
    """The batching rule against the loop, for every combination of batched arguments."""
    if op.batch_rule is None:
        raise AssertionError(f"{op.name}: no batching rule")
    names = op.names_of(arrays)
    size = 2
    random = np.random.default_rng(1)
    for chosen in itertools.product([False, True], repeat=min(len(names), 3)):
        batched = {name for name, c in zip(names, chosen, strict=False) if c}
        if not batched:
            continue
        stacked = [
            Tensor(_several(a, size, random) if name in batched else a)
            for name, a in zip(names, arrays, strict=True)
        ]
        by_rule = apply_batched(op, batched, stacked, params)
        by_rule = by_rule if isinstance(by_rule, tuple) else (by_rule,)
        for b in range(size):
            one = [
                x._array[b] if n in batched else x._array
                for n, x in zip(names, stacked, strict=True)
            ]
            for y, w in zip(by_rule, _run(op, one, params), strict=True):
                _assert_close(
                    np.asarray(y)[b], w, 1e-9, f"{what}: the batching rule over {sorted(batched)}"
                )


def _several(a: Any, size: int, random: np.random.Generator) -> Any:
    """Several arrays like `a`, stacked: scaled a little for floats, equal for others."""
    stacked = np.stack([a] * size)
    if a.dtype.kind in "fc":
        stacked = stacked * random.uniform(0.97, 1.0, size=(size,) + (1,) * a.ndim)
    return stacked.astype(a.dtype)


def _check_compiled(
    op: Op, arrays: list[Any], params: dict[str, Any], order: int, what: str
) -> None:
    """The op in a function that is compiled against the op as it is: value and derivatives."""
    if any(a.dtype.kind == "O" for a in arrays):
        return
    tensors = [Tensor(a) for a in arrays]

    def outcome(*tensors: Tensor) -> list[Any]:
        return _with_derivatives(op, tensors, params, order if op.differentiable else 0)

    # XLA sums in another order, which a derivative may do more than once.
    parts = [("the value", 1e-9), ("the gradient", 1e-7), ("the second derivative", 1e-7)]
    compiled = function(outcome, autograph=False)(*tensors)
    for (name, tolerance), found, wanted in zip(parts, compiled, outcome(*tensors), strict=False):
        for y, w in zip(found, wanted, strict=True):
            assert (y is None) == (w is None), f"{what}: compiled, {name} is {y}, and eagerly {w}"
            if w is not None:
                differs = f"{what}: compiled, {name} differs"
                assert y.dtype == w.dtype, f"{differs}: {y.dtype.name} in place of {w.dtype.name}"
                _assert_close(np.asarray(y), np.asarray(w), tolerance, differs)


def _with_derivatives(op: Op, tensors: Any, params: dict[str, Any], order: int) -> list[Any]:
    """The outputs, the gradients of a sum of them, and then those of a sum of these."""
    random = np.random.default_rng(3)
    moving = [
        t for t, name in zip(tensors, op.names_of(tensors), strict=True)
        if t._array.dtype in dt.INEXACT and name.split("[")[0] not in op.nondiff
    ]  # fmt: skip
    with GradientTape(persistent=True) as tape:
        tape.watch(moving)
        outputs = as_tuple(op.call(*tensors, **params))
        found = [list(outputs)]
        for _ in range(order):
            targets = [y for y in found[-1] if y is not None and y._array.dtype in dt.INEXACT]
            if not targets or not moving:
                break
            weights = [Tensor(random_like(random, y._array)) for y in targets]
            pulled = tape.gradient(targets, moving, output_gradients=weights)
            found.append([None if g is None else dense(g) for g in pulled])
    return found


def _assert_close(found: Any, wanted: Any, tolerance: float, what: str) -> None:
    assert found.shape == wanted.shape, f"{what}: shape {found.shape} instead of {wanted.shape}"
    if found.dtype.kind == "O":
        assert np.array_equal(found, wanted), what
        return
    close = np.allclose(
        found.astype(np.complex128),
        wanted.astype(np.complex128),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
    )
    assert close, f"{what}:\n  found    {found}\n  expected {wanted}"
