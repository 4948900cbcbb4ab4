"""Every op of the registry on the GPU, against NumPy: values, gradients, second derivatives."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core import dtypes as dt
from gradtape._src.core.cotangent import dense
from gradtape._src.core.op import as_tuple
from gradtape._src.core.tensor import Tensor
from gradtape._src.testing import all_ops
from gradtape._src.testing.gradcheck import random_like
from gradtape._src.testing.samples import samples_of

OPS = all_ops()
TOLERANCES = {"the value": 1e-9, "the gradient": 1e-8, "the second derivative": 1e-7}


def same_for_any_sign(outputs):
    """What of eigenvectors and singular vectors does not depend on their signs."""
    return tuple([y * tf.math.conj(y) for y in outputs])


SIGNLESS = {"eigh", "svd", "eig"}


def with_derivatives(op, tensors, params, order, place):
    """The outputs, the gradients of a sum of them, and then those of a sum of these."""
    random = np.random.default_rng(3)
    moving = [
        t for t, name in zip(tensors, op.names_of(tensors), strict=True)
        if t._array.dtype in dt.INEXACT and name.split("[")[0] not in op.nondiff
    ]  # fmt: skip
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(moving)
        outputs = as_tuple(op.call(*tensors, **params))
        if op.name in SIGNLESS:
            outputs = same_for_any_sign(outputs)
        found = [list(outputs)]
        for _ in range(order):
            targets = [y for y in found[-1] if y is not None and y._array.dtype in dt.INEXACT]
            if not targets or not moving:
                break
            weights = [Tensor(place(random_like(random, y._array))) for y in targets]
            pulled = tape.gradient(targets, moving, output_gradients=weights)
            found.append([None if g is None else dense(g) for g in pulled])
    return found


@pytest.fixture
def no_tf32(card):
    card.use_tf32(False)
    yield
    card.use_tf32(True)


@pytest.mark.parametrize("name", OPS)
def test_op_on_the_card_is_that_of_numpy(name, card, no_tf32):
    op = OPS[name]
    for number, (inputs, params) in enumerate(samples_of(op)):
        arrays = [np.asarray(x) for x in inputs]
        if any(a.dtype == object for a in arrays):
            continue
        tensors = [Tensor(a) for a in arrays]
        moved = [Tensor(card.asarray(a.copy())) for a in arrays]
        order = 2 if op.differentiable else 0
        wanted = with_derivatives(op, tensors, params, order, np.asarray)
        found = with_derivatives(op, moved, params, order, card.asarray)
        what = f"{name}, sample {number}"
        assert len(wanted) == len(found)
        for (part, tolerance), ws, gs in zip(TOLERANCES.items(), wanted, found, strict=False):
            for w, g in zip(ws, gs, strict=True):
                assert (w is None) == (g is None), f"{what}: {part} is {g}, not {w}"
                if w is not None:
                    check(w, g, tolerance, f"{what}: {part}", card, params)
        for a, m in zip(arrays, moved, strict=True):
            assert np.array_equal(a, m.numpy(), equal_nan=a.dtype.kind in "fc"), "an input changed"


def check(wanted, found, tolerance, what, card, params):
    on_card = type(found._array).__module__.startswith("cupy")
    assert on_card or found.dtype.size == 1, f"{what} is on the host"  # CuPy has no float8
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, (
        f"{what}: {found.dtype.name}{found.shape}, not {wanted.dtype.name}{wanted.shape}"
    )
    close = np.allclose(
        np.asarray(found).astype(np.complex128),
        np.asarray(wanted).astype(np.complex128),
        rtol=tolerance, atol=tolerance, equal_nan=True,
    )  # fmt: skip
    assert close, (
        f"{what}, {params}:\n  found    {np.asarray(found)}\n  expected {np.asarray(wanted)}"
    )


LOW = {np.dtype(np.float16): 2e-2, dt.bfloat16.numpy_dtype: 1e-1, np.dtype(np.float32): 1e-4}


@pytest.mark.parametrize("name", OPS)
def test_op_in_lower_precision(name, card, no_tf32):
    op = OPS[name]
    inputs, params = samples_of(op)[0]
    arrays = [np.asarray(x) for x in inputs]
    positions = [i for i in op.alike_of(arrays) if arrays[i].dtype == np.float64]
    if not positions or "dtype" in params:
        return
    for dtype, tolerance in LOW.items():
        if dtype not in op.dtypes:
            continue
        lower = [a.astype(dtype) if i in positions else a for i, a in enumerate(arrays)]
        wanted = as_tuple(op.call(*map(Tensor, lower), **params))
        found = as_tuple(op.call(*[Tensor(card.asarray(a)) for a in lower], **params))
        if name in SIGNLESS:
            wanted, found = same_for_any_sign(wanted), same_for_any_sign(found)
        for w, g in zip(wanted, found, strict=True):
            if w.dtype.is_floating or w.dtype.is_complex:
                check(w, g, tolerance, f"{name} in {dtype.name}", card, params)
