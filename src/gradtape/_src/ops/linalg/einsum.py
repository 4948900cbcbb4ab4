"""Sums of products over labelled or paired axes: einsum and tensordot."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dispatch import _agree, _operands
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.spec import Spec, broadcast_shapes
from ...core.tensor import Tensor
from ..array.shape import _broadcast_to, _reshape
from ..declare.op import op
from ..declare.static import static_axes, static_axis, static_int, static_ints
from ..math.conjugate import conj
from .matmul import _matmul, _products

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # the labels of einsum


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Products of elements of `a` and `b`, summed over pairs of axes.

    `axes`: a number n (the last n axes of `a`, the first n of `b`; 0 is the outer product), or the
    axes of `a` and those of `b`.
    """
    a, b = _operands(_matmul.op, a, b)
    axes_a, axes_b = _paired_axes(axes, a.ndim, b.ndim)
    shape_a, shape_b = a._array.shape, b._array.shape
    if [shape_a[i] for i in axes_a] != [shape_b[i] for i in axes_b]:
        raise ShapeError(
            f"tensordot: the paired axes must agree in size. Received: a.shape={tuple(shape_a)}, "
            f"b.shape={tuple(shape_b)}, axes {list(axes_a)} of `a` with {list(axes_b)} of `b`."
        )
    if len(shape_a) == len(shape_b) == 2 and len(axes_a) == 1:
        return _products[axes_a[0] == 0, axes_b[0] == 1](a, b)
    equation = _dot_equation(len(shape_a), len(shape_b), axes_a, axes_b)
    return _einsum(a, b, equation=equation, optimize="greedy")


@lru_cache(maxsize=1024)
def _dot_equation(rank_a: int, rank_b: int, axes_a: Any, axes_b: Any) -> str:
    """The Einstein sum that a tensordot is."""
    labels_a = list(_LETTERS[:rank_a])
    labels_b = list(_LETTERS[rank_a : rank_a + rank_b])
    for i, j in zip(axes_a, axes_b, strict=True):
        labels_b[j] = labels_a[i]
    result = [x for i, x in enumerate(labels_a) if i not in axes_a]
    result += [x for j, x in enumerate(labels_b) if j not in axes_b]
    return f"{''.join(labels_a)},{''.join(labels_b)}->{''.join(result)}"


def _paired_axes(axes: Any, rank_a: int, rank_b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if np.ndim(axes) == 0 and not isinstance(axes, (list, tuple)):
        count = static_int(axes, "tensordot", "axes")
        if not 0 <= count <= min(rank_a, rank_b):
            raise ShapeError(
                f"tensordot: `axes`={count} does not fit arguments of rank {rank_a} and {rank_b}."
            )
        return tuple(range(rank_a - count, rank_a)), tuple(range(count))
    if len(axes) != 2:
        raise InvalidArgumentError(
            "tensordot: `axes` must be a number, or the axes of `a` and those of `b`; not "
            f"{axes!r}."
        )
    first, second = (static_ints(each, "tensordot", "axes") for each in axes)
    if len(first) != len(second):
        raise InvalidArgumentError(
            f"tensordot: as many axes of `a` as of `b` are needed; `axes` has {len(first)} and "
            f"{len(second)}."
        )
    static_axes(first, rank_a, "tensordot", "axes")
    static_axes(second, rank_b, "tensordot", "axes")
    return (
        tuple([static_axis(i, rank_a, "tensordot", "axes") for i in first]),
        tuple([static_axis(j, rank_b, "tensordot", "axes") for j in second]),
    )


def _einsum_samples(r):
    n = r.normal
    return [
        ([n(size=(2, 3)), n(size=(3, 4))], {"equation": "ij,jk->ki", "optimize": "greedy"}),
        ([n(size=(2, 3, 3))], {"equation": "bii->b", "optimize": "greedy"}),
        ([n(size=(3, 3)), n(size=2)], {"equation": "ii,j->ij", "optimize": "greedy"}),
        ([n(size=(2, 3)), n(size=(2, 3, 2))], {"equation": "ab,abc->ac", "optimize": "greedy"}),
        (
            [n(size=(2, 3)), n(size=(3, 2)), n(size=2)],
            {"equation": "ij,jk,k->i", "optimize": "greedy"},
        ),
        ([n(size=(2, 3)), n(size=4)], {"equation": "ij,k->k", "optimize": "greedy"}),
        ([n(size=()), n(size=2)], {"equation": ",i->i", "optimize": "greedy"}),
    ]


def _einsum_pattern(position, x, out, params):
    """Elements stay apart along the labels that an operand shares with the result."""
    inputs, result = params["equation"].split("->")
    own = inputs.split(",")[position]
    return [(own.index(label), i) for i, label in enumerate(result) if label in own]


def _multiplications(*tensors: Tensor, equation: str, optimize: str) -> float:
    """For each two that are contracted, the product of the sizes of their labels."""
    terms, out = equation.split("->")
    labels, operands = terms.split(","), tensors[:-1]
    sizes = {
        x: n
        for term, operand in zip(labels, operands, strict=True)
        for x, n in zip(term, operand._array.shape, strict=True)
    }
    if len(labels) > 2:
        empty = [np.broadcast_to(np.float32(0), x._array.shape) for x in operands]
        steps = np.einsum_path(equation, *empty, optimize=optimize)[0][1:]
    else:
        steps = [tuple(range(len(labels)))]
    work = 0.0
    for step in steps:
        taken = {x for i in step for x in labels[i]}
        labels = [term for i, term in enumerate(labels) if i not in step]
        work += math.prod([float(sizes[x]) for x in taken])
        labels.append("".join(taken & {*out, *"".join(labels)}))
    return work


@op(
    pattern=_einsum_pattern,
    linear="operands",
    dtypes=dt.NUMERIC,
    samples=_einsum_samples,
    work=_multiplications,
)
def _einsum(xp, *operands, equation, optimize):
    """An Einstein sum whose equation is written out: no `...`, and nothing broadcasts."""
    return xp.einsum(equation, *operands, optimize=optimize)


@_einsum.vjp("operands")
def _einsum_vjp(g, index, operands, *, equation, optimize):
    """Again an einsum, of `g` and the other operands.

    A label that the operand has twice (a diagonal) becomes two, tied by an identity matrix; along a
    label that only this operand has, which was summed over, the result is constant.
    """
    inputs, out = equation.split("->")
    labels = inputs.split(",")
    own = labels[index]
    shape = operands[index]._array.shape
    terms = [(out, g)]
    terms += [
        (x, conj(t)) for i, (x, t) in enumerate(zip(labels, operands, strict=True)) if i != index
    ]
    free = iter([letter for letter in _LETTERS if letter not in equation])
    wanted: list[str] = []
    for label, size in zip(own, shape, strict=True):
        if label in wanted:
            twin = next(free)
            terms.append((label + twin, Tensor(np.eye(size, dtype=g._array.dtype))))
            label = twin
        wanted.append(label)
    reached = {label for term, _ in terms for label in term}
    known = "".join([label for label in wanted if label in reached])
    full = f"{','.join([term for term, _ in terms])}->{known}"
    cotangent = _einsum(*[tensor for _, tensor in terms], equation=full, optimize=optimize)
    if len(known) == len(wanted):
        return cotangent
    spread = tuple([size if x in reached else 1 for x, size in zip(wanted, shape, strict=True)])
    return _broadcast_to(_reshape(cotangent, shape=spread), shape=tuple(shape))


@_einsum.batch
def _einsum_batch(batched, *operands, equation, optimize):
    inputs, out = equation.split("->")
    label = next(letter for letter in _LETTERS if letter not in equation)
    labels = [
        label + x if f"operands[{i}]" in batched else x for i, x in enumerate(inputs.split(","))
    ]
    return _einsum(*operands, equation=f"{','.join(labels)}->{label}{out}", optimize=optimize)


@_einsum.spec
def _einsum_spec(*operands, equation, optimize):
    inputs, out = equation.split("->")
    sizes: dict[str, int] = {}
    for i, (labels, operand) in enumerate(zip(inputs.split(","), operands, strict=True)):
        for label, size in zip(labels, operand.shape, strict=True):
            if sizes.setdefault(label, size) != size:
                raise ShapeError(
                    f"einsum: label {label!r} stands for an axis of size {sizes[label]} and, in "
                    f"operand {i}, for one of size {size} (equation {equation!r}, shapes "
                    f"{', '.join(str(o.shape) for o in operands)})."
                )
    return Spec(tuple([sizes[label] for label in out]), operands[0].dtype)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Products of the elements of `inputs`, summed over the labels that the output does not have.

    `...` stands for axes that broadcast. A label twice in one input takes the diagonal. Without
    `->` the output has the labels that occur once, in alphabetical order. `optimize` ("greedy",
    "optimal") says how the order of three and more factors is chosen.

    >>> einsum("ij,jk->ik", [[1, 2]], [[3], [4]])
    <tf.Tensor: shape=(1, 1), dtype=int32, numpy=array([[11]], dtype=int32)>
    """
    optimize = kwargs.pop("optimize", "greedy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"einsum: unknown arguments {', '.join(kwargs)}; there is `optimize`.")
    if not isinstance(equation, str):
        raise TypeError(
            "einsum: the first argument is the equation, a text such as 'ij,jk->ik', not a "
            f"{type(equation).__name__}."
        )
    if not inputs:
        raise InvalidArgumentError("einsum: no inputs to multiply.")
    tensors = _one_dtype(inputs)
    terms, out = _parse(equation, len(tensors))
    written, tensors = _without_ellipsis(equation, terms, out, tensors)
    optimize = "optimal" if optimize == "optimal" else "greedy"
    return _einsum(*tensors, equation=written, optimize=optimize)


def _one_dtype(inputs: Any) -> list[Tensor]:
    """The inputs as tensors; plain values take the dtype of the tensors among them."""
    if all(type(x) is Tensor for x in inputs):
        return list(inputs)  # the op itself compares the dtypes
    return _agree(_einsum.op, list(inputs), [f"inputs[{i}]" for i in range(len(inputs))])


@lru_cache(maxsize=1024)
def _parse(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of each of `count` inputs and of the output, inferred if the equation has none."""
    text = equation.replace(" ", "")
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise InvalidArgumentError(
            f"einsum: {equation!r} has {len(terms)} inputs, and {count} were given."
        )
    if not arrow:
        letters = left.replace("...", "").replace(",", "")
        out = "..." * ("..." in left) + "".join(
            sorted(x for x in set(letters) if letters.count(x) == 1)
        )
    for term in (*terms, out):
        labels = term.replace("...", "", 1)
        if not all(x in _LETTERS for x in labels):
            raise InvalidArgumentError(
                f"einsum: {term!r} in {equation!r} is not letters and one `...`."
            )
    seen = set("".join(terms))
    outs = out.replace("...", "")
    if not set(outs) <= seen or len(set(outs)) != len(outs):
        raise InvalidArgumentError(
            f"einsum: the output of {equation!r} must have labels of the inputs, each once."
        )
    return terms, out


def _without_ellipsis(
    equation: str, terms: list[str], out: str, tensors: list[Tensor]
) -> tuple[str, list[Tensor]]:
    """The equation with letters for `...`, the tensors without broadcast axes of size 1."""
    dots = "." in equation
    for i, (term, x) in enumerate(zip(terms, tensors, strict=True)):
        named = len(term.replace("...", "")) if dots else len(term)
        if x.ndim != named and not ("..." in term and x.ndim > named):
            raise ShapeError(
                f"einsum: input {i} has rank {x.ndim}, and {term!r} in {equation!r} stands for "
                f"rank {named}{' or more' if '...' in term else ''}."
            )
    if not dots or not any("..." in term for term in terms):
        return f"{','.join(terms)}->{out.replace('...', '')}", tensors
    hidden = [
        x.ndim - len(t.replace("...", "")) if "..." in t else 0
        for t, x in zip(terms, tensors, strict=True)
    ]
    count = max(hidden)
    free = [letter for letter in _LETTERS if letter not in equation][:count]
    covered = {
        f"inputs[{i}]": x._array.shape[t.index("...") : t.index("...") + n]
        for i, (t, x, n) in enumerate(zip(terms, tensors, hidden, strict=True))
        if "..." in t
    }
    common = broadcast_shapes("einsum", **covered)
    written, reduced = [], []
    for term, x, n in zip(terms, tensors, hidden, strict=True):
        if "..." in term:
            at, shape = term.index("..."), x._array.shape
            labels = free[count - n :]
            axes = range(n)
            stays = [common[count - n + i] == shape[at + i] for i in axes]
            if not all(stays):
                lengths = [shape[at + i] for i in axes if stays[i]]
                x = _reshape(x, shape=(*shape[:at], *lengths, *shape[at + n :]))
            term = term.replace("...", "".join([labels[i] for i in axes if stays[i]]))
        written.append(term)
        reduced.append(x)
    return f"{','.join(written)}->{out.replace('...', ''.join(free))}", reduced
