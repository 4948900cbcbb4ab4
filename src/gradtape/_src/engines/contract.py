"""The contract of an engine: all that kernels, tapes, functions and optimizers ask of a library.

An engine is an object of a subclass of `Contract`, made of an array namespace and registered with
`register_engine` (see `engines/__init__.py`). This is what it needs:

1. **A namespace in the style of NumPy** with the functions of `NAMESPACE`: NumPy's signatures,
   NumPy's broadcasting, NumPy's promotion of dtypes (a Python number takes the dtype of the array).
   An engine may define any of them itself, to be faster or right where its library is not.
2. **Arrays in the style of NumPy** with the attributes and methods of `ARRAY` (the dtype is NumPy's
   or that of ml_dtypes), Python's operators, and indexing by integers, slices, None, Ellipsis and
   arrays, NumPy's too. An operation that meets a NumPy array takes it, or raises TypeError: then
   the op is run again on what `adopt` makes of its arrays.
3. **The members below.** Each has a default: in terms of the namespace (some of these write into
   arrays that they have just made, by `x[key] = y` or `ufunc.at`, so a library whose arrays cannot
   be written defines them anew), or, where NumPy's namespace has nothing for it, by way of the host
   (`on_host`: right, and slow). So `name`, `adopt` and `to_numpy` make an eager engine; the rest is
   speed. A compiled engine defines whatever would ask for values.

Nobody writes into an array that was handed in: results are new arrays or views. Unless a text says
otherwise they have the dtype of the first array, and `op` is the name that an error begins with.
Arrays of 16-bit floats come to every member, but to linear algebra.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..core.engine import Engine, engine_of
from ..core.errors import InvalidArgumentError

NAMESPACE = """
    abs all angle arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
    argsort asarray broadcast_arrays broadcast_to ceil clip concatenate conj cos cosh cumprod cumsum
    diagonal dot einsum exp expand_dims expm1 eye flip floor floor_divide fmax fmin fmod full imag
    isfinite isinf isnan linspace log log1p max maximum minimum nextafter ones ones_like pad power
    real remainder reshape rint roll searchsorted sign sin sinh sort sqrt square squeeze stack sum
    take take_along_axis tan tanh tile transpose trunc unique vecdot where zeros
"""
"""What kernels use of the namespace. `floor_divide`, `remainder` and `fmod` of integers by zero
raise an ArithmeticError (compiled, when the program is called), as does `power` of integers to
negative ones (a ValueError). `einsum` comes with its output written out, without `...`, and with
`optimize`. `unique` of a compiled engine takes JAX's `size` and `fill_value`."""

NAMESPACE_OF_DEFAULTS = """
    add argwhere array ascontiguousarray bitwise_and copyto divide empty fft invert linalg logaddexp
    matmul moveaxis multiply negative nonzero partition subtract tensordot zeros_like
"""
"""What the defaults of this contract use besides; of ufuncs also `at`, and of `add`, `reduce`."""

ARRAY = """
    shape ndim size nbytes itemsize dtype flags real imag astype view copy reshape transpose
    swapaxes conj sum prod max min any all cumsum dot
"""
"""What kernels and defaults use of an array."""

SPECIAL = """
    betainc dawsn digamma erf erfc erfinv expi fresnel gammainc gammaincc gammaln i0 i0e i1 i1e j0
    j1 k0 k0e k1 k1e ndtr ndtri spence y0 y1 zeta
"""
"""The special functions, by SciPy's names."""


class Contract(Engine):
    """The base of all engines: what they must do, and how it is done if they do not say."""

    # What it is

    @property
    def host(self) -> Any:
        """The NumPy engine."""
        return engine_of(np.ndarray)

    def on_host(self, function: Any, *arrays: Any, **params: Any) -> Any:
        """What a function of NumPy arrays gives, as arrays of this engine."""
        result = function(*map(self.to_numpy, arrays), **params)
        return tuple(map(self.asarray, result)) if type(result) is tuple else self.asarray(result)

    # One array in both worlds: asked of an engine whose arrays are on a device of their own

    def device_of(self, array: Any) -> str:
        """The device of an array, such as "GPU:0"."""
        return f"{self.device_type}:0"

    def to_xla(self, array: Any) -> Any:
        """The array as one of JAX, which shares its memory if XLA computes on the same device."""
        raise NotImplementedError(f"The engine {self.name} hands no arrays to XLA.")

    def from_xla(self, array: Any) -> Any:
        """An array of JAX as one of this engine; the memory is shared, and not written to."""
        raise NotImplementedError(f"The engine {self.name} takes no arrays from XLA.")

    def begun(self, array: Any) -> bool:
        """Whether the program that computes this array of JAX runs on this engine's device by now.

        Then its arrays can be asked for later. ResourceExhaustedError if it could not begin.
        """
        return False

    def forget_xla(self, array: Any) -> None:
        """The array is going to be written to: no array of JAX has its values any longer."""

    def empty_for_xla(self, shape: Any, dtype: Any) -> Any:
        """An array of JAX, on the same device, for a program to write into."""
        raise NotImplementedError(f"The engine {self.name} hands no arrays to XLA.")

    def upload(self, array: Any) -> Any:
        """An array of NumPy as one of this engine; the copy may still be going on."""
        return self.asarray(array)

    def drawn(self, what: str, key: Any, counter: Any, count: int, dtype: Any) -> Any:
        """A vector of the numbers that NumPy's Philox has for a key and a counter.

        `what` is "uniform", "normal" or "truncated_normal". None if the host has them sooner.
        """
        return None

    def use_tf32(self, enabled: bool) -> None:
        """Whether products of float32 may round their factors to TF32; nothing if it has none."""

    # Arrays

    def number(self, value: int, dtype: Any) -> Any:
        """`value` as a scalar or an array of rank 0. Under tracing, a size may be symbolic."""
        return dtype.type(value)

    def make_complex(self, real: Any, imag: Any) -> Any:
        """Complex numbers from two real arrays of one dtype, float32 or float64, that broadcast."""
        shape = np.broadcast_shapes(real.shape, imag.shape)
        result = self.empty(shape, np.result_type(real.dtype, np.complex64))
        result.real, result.imag = real, imag
        return result

    def to_integers(self, x: Any, dtype: Any) -> Any:
        """`x` in an integer dtype: truncated towards zero, then to the bits that it has.

        What even the machine's own integers (of 32 bits, or of 64 for uint32 and int64) cannot hold
        becomes the lowest of these, as NaN does.
        """
        wide = x.astype(np.int64) if dtype == np.uint32 and x.dtype.kind not in "iub" else x
        return wide.astype(dtype)

    def bitcast(self, x: Any, dtype: Any) -> Any:
        """The bits as another dtype: several for one on a new last axis, or one for that axis."""
        x = self.ascontiguousarray(x).reshape(x.shape)  # a rank of 0 would become 1
        if x.itemsize > dtype.itemsize:
            return x.reshape(*x.shape, 1).view(dtype)
        y = x.view(dtype)
        return y if x.itemsize == dtype.itemsize else y.reshape(x.shape[:-1])

    def pad_constant(self, x: Any, paddings: Any, value: Any) -> Any:
        """`x` with `value` around it; `paddings` are pairs of ints >= 0, one for each axis.

        For 4 x 4 elements in 7 µs, where np.pad takes 32.
        """
        shape = [low + size + high for (low, high), size in zip(paddings, x.shape, strict=True)]
        result = self.full(shape, value, x.dtype)
        inner = zip(paddings, x.shape, strict=True)
        result[tuple([slice(low, low + size) for (low, _), size in inner])] = x
        return result

    # Reading and writing at places

    def getitem(self, x: Any, key: Any) -> Any:
        """`x[key]`; an int outside of its axis raises IndexError on every engine."""
        return x[key]

    def window(self, x: Any, starts: Any, sizes: Any) -> Any:
        """The part of `x` of shape `sizes` from `starts` on, which must lie inside of `x`."""
        return x[window_key(list(map(int, starts)), sizes, x.shape)]

    def framed(self, x: Any, starts: Any, shape: Any) -> Any:
        """Zeros of `shape` with `x` from `starts` on, which must fit."""
        key = window_key(list(map(int, starts)), x.shape, shape)
        return self.write_at(self.zeros(shape, dtype=x.dtype), key, x, "set")

    def valid_indices(self, indices: Any, size: int, op: str) -> Any:
        """`indices` as integers that can index, if they all lie in [0, size).

        Else InvalidArgumentError names the first that does not. A compiled engine clips them, and
        the call of the program raises.
        """
        array = self.asarray(indices, np.intp)
        outside = (array < 0) | (array >= size)
        if outside.any():
            wrong = self.to_numpy(self.argwhere(outside))[0]
            place = f"[{', '.join(map(str, wrong))}]" if array.ndim else ""
            raise InvalidArgumentError(
                f"{op}: indices{place} = {array[tuple(wrong)]} is not in [0, {size})."
            )
        return array

    def inverse_permutation(self, x: Any, op: str) -> Any:
        """Where 0, 1, ... stand in the vector `x`; InvalidArgumentError if one is missing.

        For a compiled engine the call of the program raises.
        """
        inverse = self.argsort(x)
        if not (x[inverse] == self.arange(x.size)).all():
            raise InvalidArgumentError(f"{op}: `x` must have each of 0, ..., {x.size - 1} once.")
        return inverse

    def segment_places(self, ids: Any, count: int, op: str) -> Any:
        """Integer `ids` flat, the negative ones (to be dropped) as `count`, if none is larger.

        An id that is not below `count` raises InvalidArgumentError.
        """
        places = self.asarray(ids, np.intp).reshape(-1)
        if not places.size:
            return places
        if places.max() >= count:
            known = self.to_numpy(ids)
            wrong = np.argwhere(known >= count)[0]
            place = f"[{', '.join(map(str, wrong))}]" if len(wrong) else ""
            raise InvalidArgumentError(
                f"{op}: segment_ids{place} = {known[tuple(wrong)]} is not in [0, {count})."
            )
        return self.where(places < 0, count, places) if places.min() < 0 else places

    def write_at(self, array: Any, key: Any, updates: Any, how: str = "set") -> Any:
        """A copy of `array` with `updates`, which broadcast, written at `[key]`.

        `how` is "set", "add", "subtract", "multiply", "divide", "max" or "min". Each of the updates
        of one place counts; of several that set it, one does. IndexError for a key out of range.
        """
        result = self.array(array)
        if how == "set":
            result[key] = updates
        else:
            ufunc = {"max": "maximum", "min": "minimum"}.get(how, how)
            places = tuple(map(self.adopt, key)) if type(key) is tuple else self.adopt(key)
            getattr(self, ufunc).at(result, places, updates)
        return result

    def index_add(self, shape: Any, key: Any, updates: Any, unique: bool = False) -> Any:
        """Zeros of `shape` with `updates` added at `[key]`.

        `updates` have the shape of what the key selects. `unique`: it selects no element twice.
        """
        return self.write_at(self.zeros(shape, dtype=updates.dtype), key, updates, "add")

    def rows_add(self, count: int, indices: Any, rows: Any) -> Any:
        """`count` rows of zeros with `rows` added at `indices` (flat, valid), repeats adding up."""
        zeros = self.zeros((count, *rows.shape[1:]), dtype=rows.dtype)
        return self.write_at(zeros, indices, rows, "add")

    def rows_reduce(self, how: str, start: Any, count: int, indices: Any, rows: Any) -> Any:
        """`count` rows of `start`, combined with `rows` at `indices`: "multiply", "max", "min"."""
        full = self.full((count, *rows.shape[1:]), start, dtype=rows.dtype)
        return self.write_at(full, indices, rows, how)

    # Order

    def top_k(self, x: Any, k: int) -> Any:
        """The `k` largest along the last axis, largest first, and their indices; ties by index."""
        size = x.shape[-1]
        rows = x.reshape(math.prod(x.shape[:-1]), size)
        few = self._top_few(rows, k) if 0 < 8 * k < size else None
        candidates = rows if few is None else self.take_along_axis(rows, few, -1)
        # The order of the mirror image, mirrored: descending, and equal elements still in order.
        mirrored = self.argsort(candidates[:, ::-1], -1, stable=True)[:, ::-1][:, :k]
        indices = candidates.shape[-1] - 1 - mirrored
        if few is not None:
            indices = self.take_along_axis(few, indices, -1)
        values = self.take_along_axis(rows, indices, -1)
        return values.reshape(*x.shape[:-1], k), indices.reshape(*x.shape[:-1], k)

    def _top_few(self, rows: Any, k: int) -> Any:
        """The indices of the `k` largest of each row, unsorted: those above the k-th, first ties.

        Linear in the size: 47 ms for 10 of each of 64 rows of 50 000, where sorting takes 335 ms.
        """
        bound = self.partition(rows, -k, axis=-1)[:, -k, None]
        above, equal = rows > bound, rows == bound
        missing = k - above.sum(-1, keepdims=True)
        among_top = above | (equal & (equal.cumsum(-1) <= missing))
        if (among_top.sum(-1) != k).any():  # NaN compares to nothing
            return None
        return self.nonzero(among_top)[1].reshape(-1, k)

    def searchsorted_rows(self, rows: Any, values: Any, side: str) -> Any:
        """Where the elements of each row of `values` belong in that row of sorted `rows`: intp."""
        found = [self.searchsorted(row, v, side) for row, v in zip(rows, values, strict=True)]
        return self.stack(found) if found else self.zeros(values.shape, dtype=np.intp)

    # Functions of each element

    def special(self, name: str, *arrays: Any) -> Any:
        """SciPy's special function `name`, one of SPECIAL; in float32 for 16-bit floats.

        The arrays have one dtype and broadcast. "fresnel", of float32 and wider, gives two results.
        """
        dtype = arrays[0].dtype
        if dtype.itemsize > 2:
            return self.special_function(name)(*arrays)
        wide = [a.astype(np.float32) for a in arrays]
        return self.special_function(name)(*wide).astype(dtype)

    def special_function(self, name: str) -> Any:
        """What `special` calls, with arrays of float32 or float64."""
        return partial(self.on_host, self.host.special_function(name))

    def sigmoid(self, x: Any) -> Any:
        """`1 / (1 + exp(-x))`; 0 and 1 at the infinities."""
        return 1 / (1 + self.exp(-x))

    def relu(self, x: Any) -> Any:
        """The larger of `x` and 0; NaN stays."""
        return self.maximum(x, x.dtype.type(0))

    def relu_grad(self, dy: Any, y: Any) -> Any:
        """`dy` where `y` is positive, else 0."""
        return self.where(y > 0, dy, self.zeros_like(dy))

    def keep_where(self, x: Any, mask: Any) -> Any:
        """`x` where the bool `mask`, of the same shape, is true, else 0."""
        return self.where(mask, x, self.zeros((), dtype=x.dtype))

    def gelu(self, x: Any, approximate: bool) -> Any:
        """`x` times the probability of less; by a tanh if `approximate`. None: op by op."""
        return None

    def normal(self, x: Any) -> Any:
        """The probabilities that a standard normal number is less than `x`, and the densities."""
        density = self.exp(self.square(x) * -0.5) * (1 / math.sqrt(2 * math.pi))
        return self.special("erfc", x * -math.sqrt(0.5)) * 0.5, density

    def gelu_slope(self, x: Any) -> Any:
        """The derivative of the approximate one. None: op by op."""
        return None

    def softmax(self, x: Any, axis: int) -> Any:
        """The softmax along an axis. None: op by op."""
        return None

    def dot_along(self, x: Any, y: Any, axis: int) -> Any:
        """The sums of `x * y` along an axis, without it. None: op by op."""
        return None

    def moments(self, x: Any, axis: Any) -> Any:
        """Mean and variance over a tuple of axes, without them. None: op by op."""
        return None

    def sum_of_first(self, a: Any, count: int) -> Any:
        """The sums over the first axes, as the gradient of a bias is."""
        return self.add.reduce(a, 0 if count == 1 else tuple(range(count)))

    def log1p_exp(self, x: Any) -> Any:
        """`log(1 + exp(x))` for `x <= 0`, to two roundings."""
        return self.log1p(self.exp(x))

    def cumlogsumexp(self, x: Any, axis: int) -> Any:
        """The logarithms of the running sums of exp(x), without overflow."""
        sums = [self.take(x, i, axis) for i in range(x.shape[axis])]
        for i in range(1, len(sums)):
            sums[i] = self.logaddexp(sums[i - 1], sums[i])
        return self.stack(sums, axis) if sums else x

    def linear_recurrence(self, a: Any, b: Any, axis: int) -> Any:
        """The sequence s[j] = b[j] + a[j] s[j-1] along an axis, from b[0].

        Two steps of it are one step of the same form, so log2(n) rounds suffice: each doubles the
        reach.
        """
        everything = (slice(None),) * axis
        reach = 1
        while reach < b.shape[axis]:
            head, tail = (*everything, slice(reach)), (*everything, slice(reach, None))
            earlier = (*everything, slice(-reach))
            b = self.concatenate([b[head], b[tail] + a[tail] * b[earlier]], axis=axis)
            a = self.concatenate([a[head], a[tail] * a[earlier]], axis=axis)
            reach *= 2
        return b

    def fused(self, program: Any, dtype: Any) -> Any:
        """A function of the inputs of an `ElementProgram`, then of arrays for its results.

        All are of one dtype, or numbers. It writes the results when all are computed, so the
        arrays may be inputs too.
        """

        def run(*arrays: Any) -> None:
            values = list(arrays[: program.inputs])
            for name, operands in program.steps:
                values.append(getattr(self, name)(*[values[i] for i in operands]))
            for i, array in zip(program.results, arrays[program.inputs :], strict=True):
                array[...] = values[i]

        return run

    # Losses

    def sparse_cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The losses of the rows of `logits` at the integer `labels`, and the softmax of the rows.

        A label that is no class raises as in `valid_indices`.
        """
        op = "sparse_softmax_cross_entropy_with_logits"
        labels = self.valid_indices(labels, logits.shape[1], op)
        below = logits - self.max(logits, axis=1, keepdims=True)
        exponentials = self.exp(below)
        total = exponentials.sum(1, keepdims=True)
        at_label = self.take_along_axis(below, labels[:, None], 1)
        return (self.log(total) - at_label)[:, 0], exponentials / total

    def sparse_cross_entropy_grad(self, dy: Any, probabilities: Any, labels: Any) -> Any:
        """`dy` times (probabilities, less 1 at the label), row by row; the labels are valid."""
        classes = self.arange(probabilities.shape[1])
        return (probabilities - (classes == labels[:, None])) * dy[:, None]

    def isotonic(self, rows: Any) -> Any:
        """For each row of float64 the nearest one, by squares, that does not increase."""
        return self.on_host(self.host.isotonic, rows)

    # Products and linear maps

    def matrix_product(self, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
        """Matrix products of arrays of rank 2 or more; leading axes broadcast.

        `transpose_a` and `transpose_b` swap the last two axes first.
        """
        a = a.swapaxes(-1, -2) if transpose_a else a
        b = b.swapaxes(-1, -2) if transpose_b else b
        return self.matmul(a, b)

    def apply_map(self, x: Any, map: Any, axis: int) -> Any:
        """The `AxisMap` (ops/image/resize.py) from `map.size` to `map.length` along `axis`.

        It has `is_selection` with `indices[0]`, and `matrix` (length, size), NumPy arrays.
        """
        if map.is_selection:
            return self.take(x, self.asarray(map.indices[0]), axis)
        matrix = self.asarray(map.matrix, dtype=x.dtype)
        return self.moveaxis(self.tensordot(matrix, x, (1, axis)), 0, axis)

    @cached_property
    def matrices(self) -> Any:
        """Linear algebra: an object of a subclass of `LinearAlgebra`."""
        from .linalg import LinearAlgebra

        return LinearAlgebra(self)

    # Windows

    @cached_property
    def windows(self) -> Any:
        """Windows along one axis: an object of a subclass of `Windows`."""
        from .windows import Windows

        return Windows(self)

    convolves_halves = False
    """Whether the three below take 16-bit floats, and add in float32; else they get float32."""

    def convolution(self, x: Any, filters: Any, *, groups: int, **geometry: Any) -> Any:
        """Sums of products of `filters` with the windows of `x`.

        `x` is (batch, *space, channels), with a space of 1, 2 or 3 axes, `filters` are (*kernel,
        channels / groups, output channels), the result (batch, *places, output channels). The
        geometry is `strides` and `dilations`, ints >= 1 for each axis, and `padding`, pairs of
        which a negative amount cuts.
        """
        return self.windows.convolution(x, filters, groups=groups, **geometry)

    def convolution_input_gradient(
        self, y: Any, filters: Any, *, size: Any, groups: int, **geometry: Any
    ) -> Any:
        """The adjoint of `convolution` in `x`, whose space has the sizes `size`."""
        return self.windows.input_gradient(y, filters, size, groups=groups, **geometry)

    def convolution_filter_gradient(
        self, x: Any, y: Any, *, kernel: Any, groups: int, **geometry: Any
    ) -> Any:
        """The adjoint of `convolution` in `filters`, whose kernel has the sizes `kernel`."""
        return self.windows.filter_gradient(x, y, kernel, groups=groups, **geometry)

    # Signals

    def fft_complex(self, x: Any, axes: Any, norm: str, inverse: bool) -> Any:
        """The Fourier transform of complex `x` over `axes`; `norm` as NumPy's; complex64 stays."""
        return (self.fft.ifftn if inverse else self.fft.fftn)(x, axes=axes, norm=norm)

    def fft_real(self, x: Any, axes: Any, norm: str) -> Any:
        """The transform of real `x` over `axes`; of the last, only the first half."""
        return self.fft.rfftn(x, axes=axes, norm=norm)

    def fft_hermitian(self, x: Any, axes: Any, norm: str, length: int) -> Any:
        """The inverse of `fft_real`; `length` is the size of the last axis of the result."""
        if len(axes) > 1:
            x = self.fft_complex(x, axes[:-1], norm, True)
        return self.fft.irfft(x, length, axis=axes[-1], norm=norm)

    def dct(self, x: Any, type: int, norm: str | None) -> Any:
        """The cosine transform of `type` 1 to 4 along the last axis; `norm` is "ortho" or None."""
        return self.on_host(self.host.dct, x, type=type, norm=norm)

    def frames(self, x: Any, axis: int, length: int, step: int, count: int) -> Any:
        """`count` pieces of `x` along `axis`, `length` long, each `step` after the one before.

        They are numbered along a new axis, before that of their elements.
        """
        if not count:
            shape = (*x.shape[:axis], 0, length, *x.shape[axis + 1 :])
            return self.zeros(shape, dtype=x.dtype)
        positions = step * self.arange(count)[:, None] + self.arange(length)
        return self.take(x, positions, axis)

    def overlap_add(self, x: Any, axis: int, step: int, size: int) -> Any:
        """The adjoint of `frames`: the pieces added up where they were taken from, of `size`."""
        *outer, count, length = x.shape[: axis + 2]
        inner = x.shape[axis + 2 :]
        parts = -(-length // step)
        before = (slice(None),) * axis
        total = self.zeros((*outer, count + parts - 1, step, *inner), dtype=x.dtype)
        for part in range(parts):
            width = min(step, length - part * step)
            piece = x[(*before, slice(None), slice(part * step, part * step + width))]
            total[(*before, slice(part, part + count), slice(width))] += piece
        flat = total.reshape(*outer, (count + parts - 1) * step, *inner)
        missing = size - flat.shape[axis]
        if missing > 0:
            paddings = [(0, missing * (i == axis)) for i in range(flat.ndim)]
            flat = self.pad_constant(flat, paddings, 0)
        return flat[(*before, slice(size))]

    # Checks, and calls of Python

    def finite_or_error(self, x: Any, message: str) -> Any:
        """`x`; InvalidArgumentError with `message` if there is a NaN or Inf in it.

        A compiled engine lets the call of the program raise it.
        """
        if self.isfinite(x).all():
            return x
        found = [("Inf", self.isinf(x).any()), ("NaN", self.isnan(x).any())]
        names = " and ".join(name for name, there in found if there)
        raise InvalidArgumentError(f"check_numerics: {message}: the tensor holds {names}.")

    def call_unless(self, holds: Any, action: Any, *arrays: Any) -> None:
        """Call `action` with the values of `arrays` where the bool `holds` is not true.

        A compiled engine: at each call of the program, and nothing leaves the device otherwise.
        """
        if not holds:
            action(*arrays)

    def call_python(self, function: Any, likes: list[Any], arrays: list[Any]) -> list[Any]:
        """The results of a function of NumPy arrays, of the shapes and dtypes of `likes`.

        A compiled engine calls it when the program runs, and what it raises comes out of that call.
        """
        return [self.asarray(y) for y in function(*map(self.to_numpy, arrays))]

    # Random numbers are drawn by NumPy's generators, on the host. The draws of a compiled program
    # are those of `generator`.

    def generator(self, next_key: Any) -> Any:
        """An object with the methods of `numpy.random.Generator`, each draw from `next_key()`.

        Asked of a compiled engine only, as `seeded_generator` is: see `xla/random.py`.
        """
        raise NotImplementedError(f"The engine {self.name} draws with NumPy's generators.")

    def seeded_generator(self, pair: Any) -> Any:
        """The same, with draws that a pair of integers of up to 64 bits determines."""
        raise NotImplementedError(f"The engine {self.name} draws with NumPy's generators.")


def window_key(starts: Any, sizes: Any, shape: Any) -> tuple[slice, ...]:
    """The key of the part of shape `sizes` from `starts` on, if it lies inside of `shape`."""
    for axis, (start, size, total) in enumerate(zip(starts, sizes, shape, strict=True)):
        if not 0 <= start <= start + size <= total:
            raise InvalidArgumentError(
                f"slice: `begin`={list(starts)}, `size`={list(sizes)} reach outside of `input_`: "
                f"axis {axis} has size {total}."
            )
    return tuple([slice(start, start + size) for start, size in zip(starts, sizes, strict=True)])
