"""Sparse Jacobians: what depends on what is read from the records, and few passes give all entries.

Three steps, each a section below. Structure: the chain rule once more, with boolean matrices for
cotangents; what one op contributes is its declared pattern (core/pattern.py). Colours: rows that
share no column, or columns that share no row, go together. Recovery: one batched pass with a seed
for each colour, from which every entry can be read off, since no two of them meet. See
docs/decisions/0007.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..core import dtypes
from ..core.backward import backward
from ..core.cotangent import dense
from ..core.errors import ShapeError
from ..core.op import JointOp, Op, as_tuple
from ..core.pattern import MOVES, Shape
from ..core.placement import on_host
from ..core.recorder import heard_by, named
from ..core.spec import Spec, spec_of
from ..core.tensor import Tensor, key_of, zeros_of
from .derivative import Derivative, require_single, single_target
from .jacobian import pull_rows
from .transpose import recorded

Matrix: TypeAlias = Any
"""A scipy.sparse.csr_array. (SciPy has no types, and is imported on first use.)"""


def _scipy() -> Any:
    import scipy.sparse

    return scipy.sparse


def sparse_jacobian(target: Any, source: Any, structure: Any) -> Derivative:
    """The Jacobian as a csr_array, in the `structure` given or, if it is None, found."""
    tensor = single_target(target, "sparse_jacobian")
    source = require_single(source, "source", "sparse_jacobian")
    given = None if structure is None else check_structure(structure, target, source)

    def pull(records: Iterable[Any], keys: list[int]) -> list[Any]:
        records, (key,) = [*records], keys
        if tensor is None:
            return [_no_entries(target, source, _scipy_dtype(source.dtype.numpy_dtype))]
        where = structure_of(records, tensor, source, key) if given is None else given
        return [jacobian_of(records, tensor, source, key, where)]

    return pull


def jacobian_structure(target: Any, source: Any) -> Derivative:
    """Where the Jacobian may have entries, as a boolean csr_array."""
    tensor = single_target(target, "jacobian_structure")
    source = require_single(source, "source", "jacobian_structure")

    def pull(records: Iterable[Any], keys: list[int]) -> list[Any]:
        if tensor is None:
            return [_no_entries(target, source, bool)]
        return [structure_of(records, tensor, source, keys[0])]

    return pull


def _no_entries(target: Any, source: Any, dtype: Any) -> Matrix:
    return _scipy().csr_array((_size(target), _size(source)), dtype=dtype)


# Structure


def structure_of(records: Iterable[Any], target: Tensor, source: Any, key: int) -> Matrix:
    """The boolean matrix of what may depend on what: rows for `target`, columns for `source`."""
    # SciPy's product of boolean matrices is "or" of "and", its sum "or".
    size = _size(target)
    seed = Dependence(spec_of(target._array), _selection(np.arange(1, size + 1), size))
    with heard_by([]):
        (found,) = backward(records, [(target._key, seed)], [key], _dependence_rules)
    matrix: Matrix = _no_entries(target, source, bool) if found is None else found.matrix
    matrix.sort_indices()
    return matrix


def _size(x: Any) -> int:
    return math.prod(x.shape)


class Dependence:
    """In the place of a cotangent: which elements of the target depend on which of this tensor."""

    def __init__(self, spec: Spec, matrix: Matrix) -> None:
        self.spec = spec
        self.matrix = matrix

    def __add__(self, other: Dependence) -> Dependence:
        return Dependence(self.spec, self.matrix + other.matrix)


def _dependence_rules(op: Op | JointOp, inputs: Any, outputs: Any) -> Any:
    return {i: partial(_pull_dependence, op, i) for i, _ in inputs}


def _pull_dependence(
    op: Op | JointOp, position: int, g: Any, saved: Any, params: Any
) -> Dependence | None:
    """What the target depends on in an input of an op, from what it depends on in the outputs."""
    if op.argument_at(position) in op.nondiff:
        return None
    several = [d if isinstance(d, Dependence) else None for d in as_tuple(g)]
    specs = [_spec(saved[-1][i]) if each is None else each.spec for i, each in enumerate(several)]

    def pull(gs: Sequence[Tensor]) -> Any:
        """The gradient rule of the op."""
        if type(g) is not tuple:
            return op.pulls[position](gs[0], saved, params)
        used = [t if op.fills_missing or d else None for t, d in zip(gs, several, strict=True)]
        return op.pulls[position](tuple(used), saved, params)

    if op.pattern == MOVES:
        moved = _moved(pull, [spec.shape for spec in specs])
        if moved is not None:
            return Dependence(Spec(moved.shape, specs[0].dtype), moved.apply(several, specs))
    pulled = pull([zeros_of(spec) for spec in specs])
    if pulled is None:
        return None
    own = spec_of(dense(pulled)._array)
    parts = [
        _through_axes(each.matrix, own.shape, each.spec.shape, pairs)
        for each in several
        if each is not None
        for pairs in [_axis_pairs(op, position, own.shape, each.spec.shape, params)]
    ]
    return Dependence(own, sum(parts[1:], parts[0]))


def _spec(saved: Any) -> Spec:
    return saved if isinstance(saved, Spec) else spec_of(saved._array)


def _axis_pairs(
    op: Op | JointOp, position: int, x: Shape, out: Shape, params: Any
) -> list[tuple[int, int]]:
    """The axes (of an input, of an output) along which elements stay apart; none: all on all."""
    if not callable(op.pattern):
        return []
    return [(i, j) for i, j in op.pattern(position, x, out, params) if x[i] == out[j]]


def _through_axes(matrix: Matrix, x: Shape, out: Shape, pairs: list[tuple[int, int]]) -> Matrix:
    """`matrix`, of an output, as that of an input: what agrees along all pairs depends."""
    if x == out and sorted(pairs) == [(i, i) for i in range(len(x))]:
        return matrix
    sizes = [x[i] for i, _ in pairs]
    count = math.prod(sizes)
    of_out = _selection(_block_numbers(out, [j for _, j in pairs]), count)
    of_x = _selection(_block_numbers(x, [i for i, _ in pairs]), count)
    return matrix @ of_out @ of_x.T.tocsr()


def _block_numbers(shape: Shape, axes: list[int]) -> Any:
    """For each element of an array, the number (from 1) that its indices along `axes` make."""
    numbers: Any = np.zeros(shape, np.int64)
    for axis in axes:
        along = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        numbers = numbers * shape[axis] + along
    return numbers + 1


def _selection(numbers: Any, count: int) -> Matrix:
    """The boolean matrix with a row for each number n, True in column n - 1; for 0 nowhere."""
    numbers = np.asarray(numbers, np.int64).reshape(-1)
    there = numbers > 0
    columns = numbers[there] - 1
    starts = np.concatenate([[0], np.cumsum(there)])
    parts = (np.ones(columns.size, bool), columns, starts)
    return _scipy().csr_array(parts, shape=(numbers.size, count))


class _Moved(NamedTuple):
    """Where the elements of an input of shape `shape` go: the matrix, outputs by inputs."""

    shape: Shape
    matrix: Matrix

    def apply(self, several: Sequence[Dependence | None], specs: list[Spec]) -> Matrix:
        if len(several) == 1 and several[0] is not None:
            return several[0].matrix @ self.matrix
        rows = next(d.matrix.shape[0] for d in several if d is not None)
        blocks = [
            _scipy().csr_array((rows, math.prod(s.shape)), dtype=bool) if d is None else d.matrix
            for d, s in zip(several, specs, strict=True)
        ]
        return _scipy().hstack(blocks, format="csr") @ self.matrix


def _moved(pull: Callable[[Sequence[Tensor]], Any], shapes: list[Shape]) -> _Moved | None:
    """Where an op that moves elements puts them, found by running its rule on numbers of places.

    The rule is the transpose of a matrix of zeros and ones. Where no column has two ones, pulling
    the numbers of the outputs (from 1; 0 is none) tells each input its output; where no row has
    two, pushing the numbers of the inputs tells each output its input. Nothing is negative, so the
    sums that count the ones cannot cancel. None if neither holds, or if an engine has no float64,
    which counts exactly as far as any array is long.
    """
    sizes = [math.prod(shape) for shape in shapes]
    total = sum(sizes)

    def pulled(values: Any) -> Any:
        return dense(pull(_cut(values, shapes)))._array

    def pushed(values: Any) -> Any:
        """The rule is linear: what it is the transpose of is its own gradient."""
        gs = _cut(np.zeros(total), shapes)
        x, records = recorded(pull, gs)
        assert x is not None
        found = backward(records, [(x._key, Tensor(values))], [g._key for g in gs])
        parts = [z if g is None else dense(g) for g, z in zip(found, gs, strict=True)]
        return np.concatenate([np.asarray(on_host(part._array)).reshape(-1) for part in parts])

    counts = pulled(np.ones(total))
    if counts.dtype != np.float64:
        return None
    shape, size = counts.shape, math.prod(counts.shape)
    if np.all(counts <= 1):
        places = pulled(np.arange(1.0, total + 1))
        return _Moved(shape, _selection(places, total).T.tocsr())
    if np.all(pushed(np.ones(shape)) <= 1):
        return _Moved(shape, _selection(pushed(np.arange(1.0, size + 1).reshape(shape)), size))
    return None


def _cut(values: Any, shapes: list[Shape]) -> list[Tensor]:
    """The vector `values` as tensors of these shapes, one after the other."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = np.split(values, ends)
    return [Tensor(part.reshape(shape)) for part, shape in zip(parts, shapes, strict=True)]


# Colours


class Colouring(NamedTuple):
    """A colour for each row, or for each column: those of one colour do not meet."""

    by_rows: bool
    colours: Any

    @property
    def passes(self) -> int:
        return int(self.colours.max()) + 1


def colour(structure: Matrix, columns_too: bool = True) -> Colouring:
    """The rows coloured, or the columns where they need fewer colours.

    The rows with an entry in one column need a colour each, and the reverse: by these lower bounds
    the side that promises less is tried first, and the other only if it can still do better.
    """
    bounds = {True: _longest(structure.T.tocsr()), False: _longest(structure)}
    best: Colouring | None = None
    for by_rows in sorted(bounds, key=lambda side: (bounds[side], not side)):
        if (by_rows or columns_too) and (best is None or bounds[by_rows] < best.passes):
            oriented = structure if by_rows else structure.T.tocsr()
            found = Colouring(by_rows, _colour_rows(oriented))
            if best is None or (found.passes, not by_rows) < (best.passes, not best.by_rows):
                best = found
    assert best is not None
    return best


def _longest(matrix: Matrix) -> int:
    """The largest number of entries in a row."""
    return int(np.diff(matrix.indptr).max(initial=0))


def _colour_rows(matrix: Matrix) -> Any:
    """Greedy: each row, those that meet most others first, takes the first colour that is free.

    For each column, the colours of the rows that have an entry there are the bits of one integer,
    so the graph of which rows meet is never built.
    """
    rows, columns = matrix.shape
    in_column = np.bincount(matrix.indices, minlength=columns)
    if (in_column == rows).any():
        return np.arange(rows)
    entries = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    meetings = np.bincount(entries, in_column[matrix.indices], minlength=rows)
    colours = np.zeros(rows, np.int64)
    used = [0] * columns
    starts, indices = matrix.indptr.tolist(), matrix.indices.tolist()
    for row in np.argsort(-meetings, kind="stable").tolist():
        own = indices[starts[row] : starts[row + 1]]
        met = 0  # the colours of the rows that this one meets
        for column in own:
            met |= used[column]
        free = ~met & (met + 1)  # the lowest bit that is 0
        for column in own:
            used[column] |= free
        colours[row] = free.bit_length() - 1
    return colours


# Recovery


def jacobian_of(
    records: list[Any], target: Tensor, source: Any, key: int, structure: Matrix
) -> Matrix:
    """The entries of the Jacobian in `structure`, from one pass with a seed for each colour."""
    dtype = _scipy_dtype(source.dtype.numpy_dtype)
    if not structure.nnz:
        return _scipy().csr_array(structure.shape, dtype=dtype)
    colouring = colour(structure, columns_too=_can_push(records, target, source))
    rows = np.repeat(np.arange(structure.shape[0]), np.diff(structure.indptr))
    columns = structure.indices
    with heard_by([]):
        if colouring.by_rows:
            values = _pulled(records, target, key, _seeds(colouring, target))
            place = (colouring.colours[rows], columns)
        else:
            values = _pushed(records, target, key, _seeds(colouring, source))
            place = (colouring.colours[columns], rows)
    data = np.zeros(structure.nnz, dtype)
    if values is not None:
        data[:] = values[place]
    return _scipy().csr_array((data, columns, structure.indptr), shape=structure.shape)


def _scipy_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """SciPy's sparse arrays have no 16-bit floats: those become float32."""
    return dtype if dtype.kind in "fc" and dtype.itemsize > 2 else np.dtype(np.float32)


def _can_push(records: list[Any], target: Tensor, source: Any) -> bool:
    """Whether columns can be computed: rules of real numbers, which are linear, can be transposed.

    A custom gradient may be any function of `g`. Complex cotangents are conjugates by convention,
    so that a column would come out conjugated.
    """
    real = dtypes.COMPLEX.isdisjoint((target._array.dtype, source.dtype.numpy_dtype))
    return real and not any(isinstance(record.op, JointOp) for record in named(records))


def _seeds(colouring: Colouring, like: Any) -> Any:
    """For each colour an array like `like`: 1 in the places of this colour, else 0."""
    which = np.arange(colouring.passes)[:, None] == colouring.colours
    shape = (colouring.passes, *tuple(like.shape))
    return which.astype(like.dtype.numpy_dtype).reshape(shape)


def _pulled(records: list[Any], target: Tensor, key: int, seeds: Any) -> Any:
    """For each seed the vector-Jacobian product with it."""
    (products,) = pull_rows(records, key_of(target), Tensor(seeds), [key])
    return (
        None if products is None else np.asarray(on_host(products._array)).reshape(len(seeds), -1)
    )


def _pushed(records: list[Any], target: Tensor, key: int, seeds: Any) -> Any:
    """For each seed the Jacobian-vector product with it: the chain rule, transposed."""
    zeros = zeros_of(target)
    pulled, transposed = recorded(
        lambda gs: backward(records, [(target._key, gs[0])], [key])[0], [zeros]
    )
    return None if pulled is None else _pulled(transposed, pulled, key_of(zeros), seeds)


def check_structure(structure: Any, target: Any, source: Any) -> Matrix:
    """`structure`, given by the user, as a boolean csr_array, or an error."""
    shape = (_size(target), _size(source))
    if not _scipy().issparse(structure):
        raise TypeError(
            "sparse_jacobian: `structure` must be a SciPy sparse array, such as "
            f"tape.jacobian_structure gives, and is a {type(structure).__name__}."
        )
    if structure.shape != shape:
        raise ShapeError(
            "sparse_jacobian: `structure` must have a row for each element of `target` and a "
            f"column for each of `source`: shape {shape}. Received shape {structure.shape}."
        )
    given = _scipy().csr_array(structure, dtype=bool, copy=True)  # the result takes its arrays over
    given.sum_duplicates()
    return given
