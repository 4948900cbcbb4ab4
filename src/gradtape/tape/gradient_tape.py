"""GradientTape: records what is computed from watched values, and differentiates it."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` itself takes a millisecond to import
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes, nest
from ..core.backward import backward
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.dispatch import Record, listeners
from ..core.engine import common_engine
from ..core.op import Op
from ..core.tensor import Tensor, is_symbolic, new_key
from ..core.tracing import current_graph
from .scopes import get_logger
from .variable import Variable

# What only some tapes need (budgets, Jacobians and their batching) is imported where it is used.
if TYPE_CHECKING:
    from .budget import Ledger


class UnconnectedGradients(Enum):
    """What `gradient` gives for a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


class GradientTape:
    """Records operations on watched tensors and variables inside its `with` block.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

    Trainable variables are watched when they are read, unless `watch_accessed_variables` is False.
    A tape gives one set of gradients and lets go of what it holds; a `persistent` one as many as
    asked for, and holds on until it is deleted.

    With a `memory_budget` (bytes, or "2GB") the tape drops what is cheap to compute again when it
    holds more than that, and computes it again on the way back; the gradients are the same to the
    last bit.
    """

    def __init__(
        self,
        persistent: bool = False,
        watch_accessed_variables: bool = True,
        *,
        memory_budget: int | str | None = None,
    ) -> None:
        self._persistent = persistent
        self._budget = None if memory_budget is None else _bytes(memory_budget)
        self.watches_variables = watch_accessed_variables
        self.tracked: set[int | None] = set()
        self.records: list[Any] | None = []
        self._ledger: Ledger | None = None
        self._variables: dict[int, Variable] = {}
        self._recording = False
        self._entered = False
        self._used = False
        self._listeners: list[Any] = []  # the active recorders of the thread that entered the tape
        self._forget()

    # Recording

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError("This tape is recording already: a block of it cannot hold another.")
        if self._used:
            self._forget()
        self._entered = True
        self._resume()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._recording:
            self._pause()

    def _resume(self) -> None:
        self._listeners = listeners()
        self._listeners.append(self)
        self._recording = True

    def _pause(self) -> None:
        self._listeners.remove(self)
        self._recording = False

    def _forget(self) -> None:
        self.tracked = set()
        self.records = [] if self._budget is None else None
        self._ledger = None if self._budget is None else _ledger(self._budget)
        self._variables = {}
        self._used = False

    def watch(self, tensor: Any) -> None:
        """Record what is computed from here on from a tensor, a variable, or a nest of them."""
        for each in nest.flatten(tensor):
            if isinstance(each, Variable):
                self._require_entered("watch()")
                self.watch_variable(each)
            elif isinstance(each, Tensor):
                self._require_entered("watch()")
                if each._array.dtype in dtypes.INEXACT:
                    self.tracked.add(key_of(each))
                else:
                    not_floating.log(each.dtype)
            else:
                raise ValueError(
                    "watch: expected a tensor, a variable or a nest of them, but received "
                    f"{each!r:.100} of type {type(each).__name__}. Make it a tensor with "
                    "tf.constant(...)."
                )

    def watch_variable(self, variable: Variable) -> None:
        """Record what is computed from `variable`; it calls this itself when it is read."""
        self._variables[variable._key] = variable
        if variable._array_outside().dtype in dtypes.INEXACT:
            self.tracked.add(variable._key)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that this tape watches, in the order in which they were created."""
        return tuple(self._variables[key] for key in sorted(self._variables))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block inside the tape's own in which nothing is recorded."""
        self._require_entered("stop_recording()")
        if not self._recording:
            raise ValueError("stop_recording() belongs inside the `with` block of the tape.")
        self._pause()
        try:
            yield
        finally:
            self._resume()

    def reset(self) -> None:
        """Forget what was recorded and watched so far, and go on recording."""
        if not self._recording:
            raise ValueError(
                "reset() belongs inside the `with` block of the tape: it is not recording."
            )
        self._forget()

    def _require_entered(self, use: str) -> None:
        if not self._entered:
            raise RuntimeError(
                f"{use} needs a tape that has been entered: write `with tf.GradientTape() as "
                "tape:`."
            )

    # Differentiating

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of `target` with respect to each of `sources`, nested as `sources` are.

        Several targets, and targets that are not scalars, are summed; `output_gradients` are their
        weights. A source that the target does not depend on gives None, or zeros if
        `unconnected_gradients` is "zero". The gradient of a look-up is an IndexedSlices.
        """
        zero = wants_zeros(unconnected_gradients)
        targets = _targets(target)
        flat_sources = nest.flatten(sources)
        source_keys = _source_keys(flat_sources)
        seeds = _seeds(targets, output_gradients)
        self._begin_backward()
        flat = backward(self._take_records(), seeds, source_keys)
        if zero:
            flat = [
                zeros_of(source) if g is None else g
                for g, source in zip(flat, flat_sources, strict=True)
            ]
        return nest.pack(sources, iter(flat))

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of `target` by each of `sources`, of shape target.shape + source.shape.

        One backward pass for all elements of the target together (in several, if memory is short).
        `parallel_iterations` limits how many elements go together; without `experimental_use_pfor`
        they go one by one, which takes a persistent tape.
        """
        from .jacobian import jacobian_rows, pull_rows, shape_jacobian

        zero = wants_zeros(unconnected_gradients)
        target = _single_target(target, "jacobian")
        flat_sources = nest.flatten(sources)
        keys = _source_keys(flat_sources)
        chunk = self._rows_together(parallel_iterations, experimental_use_pfor, "jacobian")
        self._begin_backward()
        records = list(self._take_records())[::-1]
        if target is None:
            flat: list[Any] = [None] * len(keys)
        else:
            flat = pull_rows(records, target, jacobian_rows(target), keys, chunk)
            flat = [
                None if rows is None else shape_jacobian(rows, target, source)
                for rows, source in zip(flat, flat_sources, strict=True)
            ]
        if zero:
            shape = () if target is None else target._array.shape
            flat = [
                _jacobian_zeros(shape, source) if j is None else j
                for j, source in zip(flat, flat_sources, strict=True)
            ]
        return nest.pack(sources, iter(flat))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each example: [b, ...] and [b, ...] give [b, target..., source...].

        Row i of the target must depend on row i of the source only. An unconnected source gives
        zeros.
        """
        from .jacobian import batch_jacobian_rows, pull_rows, shape_batch_jacobian

        wants_zeros(unconnected_gradients)
        target = _single_target(target, "batch_jacobian")
        if not isinstance(source, (Tensor, Variable)):
            raise TypeError(
                f"batch_jacobian: `source` must be one tensor, and is a {type(source).__name__}."
            )
        _check_examples(target, source)
        chunk = self._rows_together(parallel_iterations, experimental_use_pfor, "batch_jacobian")
        keys = _source_keys([source])
        self._begin_backward()
        records = list(self._take_records())[::-1]
        (rows,) = pull_rows(records, target, batch_jacobian_rows(target), keys, chunk)
        if rows is None:
            return _jacobian_zeros(target._array.shape, source[0])
        return shape_batch_jacobian(rows, target, source)

    def per_example_gradient(self, losses: Any, sources: Any) -> Any:
        """The gradient of each example's loss by each of `sources`, of shape [b, source...].

        One backward pass: the tensors that have a row for each example go back together, and only
        the rules of the parameters run example by example. Example i must depend on row i of the
        data only. A source that no loss depends on gives None. A tensor with as many rows as there
        are examples, and that is not computed from sources alone, is taken for one with a row for
        each example.
        """
        from .per_example import pull_examples

        losses = _single_target(losses, "per_example_gradient")
        if losses is None or losses.ndim != 1:
            raise ValueError(
                "per_example_gradient: `losses` must be a floating tensor of rank 1, a loss for "
                "each example."
            )
        keys = _source_keys(nest.flatten(sources))
        self._begin_backward()
        records = list(self._take_records())[::-1]
        return nest.pack(sources, iter(pull_examples(records, losses, keys)))

    def sparse_jacobian(self, target: Any, source: Any, structure: Any = None) -> Any:
        """The Jacobian of `target` by `source`: a SciPy csr_array, [target.size, source.size].

        The records tell which elements of the target may depend on which of the source. Rows that
        share no column (or columns that share no row, where that is fewer groups) are computed
        together, all groups in one batched pass: a banded Jacobian of any size takes as many
        directions as it is wide.

        >>> x = tf.constant([1.0, 2.0, 3.0, 4.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x[1:] ** 2 - x[:-1]
        >>> tape.sparse_jacobian(y, x).toarray()
        array([[-1.,  4.,  0.,  0.],
               [ 0., -1.,  6.,  0.],
               [ 0.,  0., -1.,  8.]], dtype=float32)

        Entries that could be nonzero are stored, whether they are or not. `structure`, if it is
        known (from `jacobian_structure`, for an earlier point), spares finding it; what it leaves
        out must be zero. Columns take rules that can be transposed: with a custom gradient on the
        tape, or complex numbers, it is always rows. An unconnected source gives an empty array;
        float16 and bfloat16 give float32. The result is no tensor: to differentiate it, use
        `jacobian`.
        """
        from . import sparse

        tensor, key = _target_and_source(target, source, "sparse_jacobian")
        if structure is not None:
            structure = sparse.check_structure(structure, target, source)
        self._begin_backward()
        records = list(self._take_records())[::-1]
        if structure is None:
            structure = sparse.structure_of(records, tensor, target, source, key)
        return sparse.jacobian_of(records, tensor, source, key, structure)

    def jacobian_structure(self, target: Any, source: Any) -> Any:
        """Which elements of `target` may depend on which of `source`: a boolean SciPy csr_array.

        It misses no dependence, and may hold more than there are: an op that declares no pattern
        counts as one whose every output depends on all of its inputs. The tape is not used up.

        >>> x = tf.constant([1.0, 2.0, 3.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.cumsum(x[:2]) * x[2]
        >>> tape.jacobian_structure(y, x).toarray()
        array([[ True,  True,  True],
               [ True,  True,  True]])
        """
        from . import sparse

        tensor, key = _target_and_source(target, source, "jacobian_structure")
        self._require_unused()
        return sparse.structure_of(list(self), tensor, target, source, key)

    def _rows_together(
        self, parallel_iterations: int | None, vectorised: bool, name: str
    ) -> int | None:
        """How many rows of a Jacobian to compute at once; None for as many as fit."""
        if not vectorised:
            if not self._persistent and current_graph() is None:
                raise RuntimeError(
                    f"{name}: experimental_use_pfor=False asks the tape once for each row, which "
                    "takes a persistent one: tf.GradientTape(persistent=True)."
                )
            return 1
        if parallel_iterations is None:
            return None
        if not self._persistent or parallel_iterations < 2:
            kind = RuntimeError if name == "batch_jacobian" and not self._persistent else ValueError
            raise kind(
                f"{name}: `parallel_iterations` limits how many rows are computed at once: it must "
                f"be 2 or more, on a persistent tape, and is {parallel_iterations}."
            )
        return parallel_iterations

    def _begin_backward(self) -> None:
        """Check that a gradient may be taken now, and stop recording if this is the only one."""
        self._require_unused()
        if self._recording:
            if self._persistent:
                _inside_persistent.log()
            else:
                self._pause()
        self._used = not self._persistent

    def _require_unused(self) -> None:
        if not self._entered:
            raise RuntimeError(
                "This tape was never entered, so it holds nothing to differentiate: compute the "
                "target inside `with tf.GradientTape() as tape:`."
            )
        if self._used:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians). Use tf.GradientTape(persistent=True) to ask it several times."
            )

    def _take_records(self) -> Iterator[Any]:
        """The records, last first; a tape that is not persistent lets go of each as it is used."""
        if self._ledger is not None:
            return self._ledger.taken(self._persistent)
        assert self.records is not None
        if self._persistent:
            return iter(reversed(self.records))
        records, self.records = self.records, []
        self.tracked = set()
        return _popped(records)

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        """With a memory budget: keep a record that can be run again."""
        if self._ledger is not None:
            self._ledger.add(op, inputs, outputs, params, self.tracked)

    def __iter__(self) -> Iterator[Record]:
        """The records as they stand, first to last."""
        if self._ledger is not None:
            return iter([Record(*entry) for entry in self._ledger.taken(True)][::-1])
        return (Record(*entry) for entry in self.records or ())

    def __repr__(self) -> str:
        state = "recording" if self._recording else "used" if self._used else "not recording"
        kind = "persistent, " if self._persistent else ""
        return f"<GradientTape: {kind}{state}, {len(self.records or self._ledger or ())} records>"


def _bytes(budget: int | str) -> int:
    from .budget import parse_bytes

    return parse_bytes(budget)


def _ledger(budget: int) -> Ledger:
    from .budget import Ledger

    return Ledger(budget)


_naming = allocate_lock()


def key_of(tensor: Tensor) -> int:
    """The number by which tapes know `tensor`; given to it on first use."""
    if tensor._key is None:
        with _naming:  # two threads may watch one tensor at the same time
            if tensor._key is None:
                tensor._key = new_key()
    return tensor._key


class _Limited:
    """A warning that is logged the first few times."""

    def __init__(self, message: str, times: int) -> None:
        self._message = message
        self._left = times

    def log(self, *details: Any) -> None:
        if self._left > 0:
            self._left -= 1
            get_logger().warning(self._message, *details)


not_floating = _Limited(
    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r: its gradient is "
    "None.",
    5,
)
_inside_persistent = _Limited(
    "Calling GradientTape.gradient on a persistent tape inside its own block is less efficient: "
    "the gradient is recorded as well. Call it after the block, or under tape.stop_recording(), "
    "unless you want higher derivatives from this tape.",
    1,
)


def _popped(records: list[Any]) -> Iterator[Any]:
    """The entries of `records`, last first, each let go of as it is taken."""
    records.insert(0, None)
    return iter(records.pop, None)


def _targets(target: Any) -> list[Tensor | None]:
    """The targets; None stands for one that has no gradient (integers, strings)."""
    if target is None:
        raise TypeError("gradient: `target` must be a tensor or a nest of tensors, and is None.")
    return [_target(each) for each in nest.flatten(target)]


def _target(each: Any) -> Any:
    if type(each) is Tensor:
        return each if each._array.dtype in dtypes.INEXACT else None
    if isinstance(each, IndexedSlices):
        raise TypeError(
            "gradient: an IndexedSlices cannot be a target. Make it dense: "
            "tf.convert_to_tensor(slices)."
        )
    if not isinstance(each, (Tensor, Variable)):
        raise TypeError(
            f"gradient: `target` must consist of tensors, and holds {each!r:.100} of type "
            f"{type(each).__name__}."
        )
    tensor = each._now() if isinstance(each, Variable) else each
    return tensor if tensor._array.dtype in dtypes.INEXACT else None


def _single_target(target: Any, name: str) -> Any:
    if not isinstance(target, (Tensor, Variable)):
        raise TypeError(
            f"{name}: `target` must be one tensor, and is a {type(target).__name__}: "
            f"{target!r:.100}."
        )
    tensor = _target(target)
    if tensor is not None:
        key_of(tensor)
    return tensor


def _target_and_source(target: Any, source: Any, name: str) -> tuple[Any, int]:
    """The tensor of the one target (None if it has no gradient), and the key of the one source."""
    tensor = _single_target(target, name)
    if not isinstance(source, (Tensor, Variable)):
        raise TypeError(
            f"{name}: `source` must be one tensor, and is a {type(source).__name__}: "
            f"{source!r:.100}."
        )
    (key,) = _source_keys([source])
    return tensor, key


def _check_examples(target: Any, source: Any) -> None:
    if target is None:
        raise TypeError("batch_jacobian: `target` must be floating or complex.")
    if target.ndim < 2 or source.ndim < 2:
        raise ValueError(
            "batch_jacobian: target and source need rank 2 or more, the first axis being the "
            f"examples. Received shapes {target.shape} and {source.shape}."
        )
    if target.shape[0] != source.shape[0]:
        raise ValueError(
            "batch_jacobian: target and source must have the same first dimension, the number of "
            f"examples. Received shapes {target.shape} and {source.shape}."
        )


def _jacobian_zeros(shape: tuple[int, ...], source: Any) -> Tensor:
    return Tensor(np.zeros((*shape, *source.shape), source.dtype.numpy_dtype))


def _source_keys(sources: list[Any]) -> list[int]:
    try:
        return [source._key or key_of(source) for source in sources]
    except AttributeError:
        wrong = next(s for s in sources if not isinstance(s, (Tensor, Variable)))
        raise TypeError(
            f"gradient: `sources` must consist of tensors and variables, and hold {wrong!r:.100} "
            f"of type {type(wrong).__name__}."
        ) from None


def _seeds(targets: list[Any], output_gradients: Any) -> list[tuple[int, Tensor]]:
    """The cotangents of the targets to begin with: as given, else ones."""
    if output_gradients is None:
        return [(key_of(t), ones_of(t)) for t in targets if t is not None]
    given = nest.flatten(output_gradients)
    seeds = []
    for i, target in enumerate(targets):
        if i < len(given):
            if given[i] is None:
                raise ValueError("gradient: `output_gradients` must not hold None.")
            g = as_tensor(given[i], op="gradient")
        elif target is not None:
            g = ones_of(target)
        if target is not None:
            seeds.append((key_of(target), g))
    return seeds


def ones_of(target: Tensor) -> Tensor:
    """Ones of the shape and dtype of a tensor: the cotangent that a gradient begins with."""
    array = target._array
    if is_symbolic(array):  # no constant of NumPy: it would be folded, and stored in the program
        return Tensor(common_engine([array]).ones_like(array))
    return Tensor(np.ones(array.shape, array.dtype) if array.shape else array.dtype.type(1))


def zeros_of(source: Any) -> Tensor:
    """Zeros of the shape and dtype of a tensor or a variable."""
    return Tensor(np.zeros(tuple(source.shape), source.dtype.numpy_dtype))


def wants_zeros(unconnected_gradients: Any) -> bool:
    """Whether a source that the target does not depend on gets zeros."""
    if unconnected_gradients is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(
            f"gradient: unknown value for `unconnected_gradients`: {unconnected_gradients!r}. It "
            "is 'none' or 'zero'."
        ) from None
