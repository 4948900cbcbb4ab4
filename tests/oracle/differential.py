"""Run one case on a module that speaks TensorFlow; keep and compare the results."""

import json
from dataclasses import replace

import numpy as np

# Relative to the largest expected element: a few thousand roundings in double, a hundred in single
# and eight in half precision, where both sides may accumulate in either precision.
TOLERANCE = {"float64": 1e-10, "float32": 1e-5, "float16": 2.0**-7, "bfloat16": 2.0**-4}


def flatten(structure):
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def differentiable(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def weights(like):
    """Fixed, irregular, nonzero numbers between -1.6 and 1.6 in the shape and dtype of an array."""
    k = np.arange(like.size)
    w = ((k * k * 37 + k * 11 + 5) % 97 - 48.5) / 32
    if like.dtype.kind == "c":
        w = w + 0.5j * w[::-1]
    return w.reshape(like.shape).astype(like.dtype)


def run(tf, case, arrays):
    """{"value": arrays, "first", "second": an array or None for each floating input, "sparse"}.

    "first" differentiates sum(w * y + y * y / 2) (only w * y if the case is linear), "second" the
    weighted sum of those gradients. Where the module has no gradient the entry is "LookupError".
    """
    xs = [tf.constant(a) for a in arrays]
    sources = [x for x in xs if differentiable(x)]
    result = {"first": "not asked", "second": "not asked", "sparse": []}
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            outputs = flatten(case.fn(tf, *xs))
        result["value"] = [np.asarray(y.numpy()) for y in outputs]
        if case.order < 1 or not sources:
            return result
        targets = [y for y in outputs if differentiable(y)]
        cotangents = [tf.constant(weights(y.numpy())) for y in targets]
        if not case.linear:
            cotangents = [w + y for w, y in zip(cotangents, targets, strict=True)]
        try:
            first = inner.gradient(targets or outputs, sources, cotangents or None)
        except LookupError:
            return result | {"first": "LookupError"}
        result["sparse"] = [isinstance(g, tf.IndexedSlices) for g in first]
        first = [g if g is None else tf.convert_to_tensor(g) for g in first]
    result["first"] = [g if g is None else g.numpy() for g in first]
    connected = [g for g in first if g is not None]
    if case.order < 2 or not connected:
        return result
    try:
        cotangents = [tf.constant(weights(g.numpy())) for g in connected]
        second = outer.gradient(connected, sources, cotangents)
    except LookupError:
        return result | {"second": "LookupError"}
    result["second"] = [g if g is None else tf.convert_to_tensor(g).numpy() for g in second]
    return result


def differences(f, arrays, step=1e-5):
    """The gradients of the real number f(arrays) by its floating and complex arrays.

    Central differences; df/dx + i df/dy for a complex element. Truncation is of the order step**2
    times a third derivative, rounding of 1e-16 / step times the value.
    """
    gradients = []
    for i, array in enumerate(arrays):
        if array.dtype.kind not in "fc":
            continue
        g = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            for direction in (1, 1j) if array.dtype.kind == "c" else (1,):
                ends = []
                for move in (step * direction, -step * direction):
                    moved = array.copy()
                    moved[place] += move
                    ends.append(f([*arrays[:i], moved, *arrays[i + 1 :]]))
                g[place] += direction * (ends[0] - ends[1]) / (2 * step)
        gradients.append(g)
    return gradients


def loss(tf, case, arrays):
    """The number that the "first" of `run` differentiates."""
    values = run(tf, replace(case, order=0), arrays)["value"]
    return sum(dot(y) + 0.5 * np.sum(np.abs(y) ** 2) for y in values)


def slope(tf, case, arrays):
    """The number that the "second" of `run` differentiates."""
    gradients = run(tf, replace(case, order=1), arrays)["first"]
    return sum(dot(g) for g in gradients if g is not None)


def dot(y):
    return np.real(np.sum(np.conj(weights(y)) * y))


def compare(case, dtype, expected, actual):
    """Raise AssertionError where `actual` departs from `expected` (results of `run`)."""
    compare_arrays("value", dtype, expected["value"], actual["value"])
    for order, name in enumerate(("first", "second"), 1):
        if order > case.agrees or isinstance(expected[name], str):
            return
        assert not isinstance(actual[name], str), f"{name} order: {actual[name]}"
        wanted, got = expected[name], actual[name]
        if order == 1:
            assert expected["sparse"] == actual["sparse"], "IndexedSlices in one module only"
        else:
            wanted, got = fill_none(wanted, got)
        compare_arrays(f"{name} order", dtype, wanted, got)


def fill_none(wanted, got):
    """Zeros for None where the other side has an array.

    Above first order it depends on how a rule is written whether a vanishing derivative is
    connected, and docs/semantics.md makes no promise.
    """
    pairs = [
        (
            np.zeros_like(b) if a is None and b is not None else a,
            np.zeros_like(a) if b is None and a is not None else b,
        )
        for a, b in zip(wanted, got, strict=True)
    ]
    return [a for a, _ in pairs], [b for _, b in pairs]


def compare_arrays(label, dtype, wanted, got):
    assert len(wanted) == len(got), f"{label}: {len(got)} results, expected {len(wanted)}"
    for i, (a, b) in enumerate(zip(wanted, got, strict=True)):
        if a is None or b is None:
            assert a is b, f"{label} {i}: expected {a}, got {b}"
            continue
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype, f"{label} {i}: expected {a.dtype}, got {b.dtype}"
        assert a.shape == b.shape, f"{label} {i}: expected shape {a.shape}, got {b.shape}"
        compare_numbers(f"{label} {i}", TOLERANCE[dtype], a, b)


def compare_numbers(label, tolerance, a, b):
    if a.dtype.kind in "biuSUO":
        np.testing.assert_array_equal(b, a, err_msg=label)
        return
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = np.abs(a[np.isfinite(a)])
    scale = max(1.0, finite.max()) if finite.size else 1.0
    np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * scale, err_msg=label)


def save(path, results):
    """An index in JSON and one block of bytes: a member for each array would be mostly headers."""
    chunks, offset = [], 0

    def encode(value):
        nonlocal offset
        if isinstance(value, dict):
            return {key: encode(v) for key, v in value.items()}
        if isinstance(value, list):
            return [encode(v) for v in value]
        if isinstance(value, (np.ndarray, np.generic)):
            reference = {"dtype": value.dtype.name, "shape": value.shape, "offset": offset}
            chunks.append(value.tobytes())
            offset += len(chunks[-1])
            return reference
        return value

    index = json.dumps(encode(results)).encode()
    np.savez_compressed(
        path, index=np.frombuffer(index, np.uint8), data=np.frombuffer(b"".join(chunks), np.uint8)
    )


def load(path):
    with np.load(path) as file:
        index, data = json.loads(file["index"].tobytes()), file["data"].tobytes()

    def decode(value):
        if isinstance(value, list):
            return [decode(v) for v in value]
        if not isinstance(value, dict):
            return value
        if "offset" not in value:
            return {key: decode(v) for key, v in value.items()}
        count = int(np.prod(value["shape"]))
        array = np.frombuffer(data, np.dtype(value["dtype"]), count, value["offset"])
        return array.reshape(value["shape"])

    return decode(index)
