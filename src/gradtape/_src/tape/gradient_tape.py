"""GradientTape: records what is computed from watched values, and differentiates it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self, overload

from ..core import dtypes, nest
from ..core.backward import backward
from ..core.late import late
from ..core.recorder import Record, Tape, named
from ..core.tensor import Tensor, key_of, zeros_of
from ..core.tracebacks import border, shorten
from ..core.tracing import tracing
from .derivative import (
    CompositeSources,
    Derivative,
    UnconnectedGradients,
    components_of,
    gradient_like,
    not_floating,
    seeds_of,
    source_keys,
    wants_zeros,
)
from .drawn import Drawn
from .scopes import LimitedWarning
from .variable import Variable, variable_of

# What only some tapes need (budgets, Jacobians and their batching) is imported where it is used.
if TYPE_CHECKING:
    from ..core.annotations import Nest
    from .budget import Ledger
    from .explanation import Explanation
    from .memory import Memory
    from .profile import Profile

    Source = Tensor | Variable
    Target = Source | Nest

_inside_persistent = LimitedWarning(
    "Calling GradientTape.gradient on a persistent tape inside its own block is less efficient: "
    "the gradient is recorded as well. Call it after the block, or under tape.stop_recording(), "
    "unless you want higher derivatives from this tape.",
    1,
)


class GradientTape(Tape, Drawn):
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

    With `profile`, `tape.profile()` tells the time of each op of the block and of the gradient.

    With `explain`, `tape.explain(target, source)` can say of any gradient why it is what it is, and
    where: all ops are noted, with their lines, as long as the tape lives.
    """

    _ledger: Ledger | None = None
    """What listens in the place of a tape with a budget."""

    _used_tracked: frozenset[int | None] | set[int | None] = frozenset()
    _used_records: list[Any] | None = None
    """What it followed when it was used up, and its records if a witness wants them."""

    def __init__(
        self,
        persistent: bool = False,
        watch_accessed_variables: bool = True,
        *,
        memory_budget: int | str | None = None,
        explain: bool = False,
        profile: bool = False,
    ) -> None:
        self.persistent = persistent
        self.watches_variables = watch_accessed_variables
        self._recording = False
        self._entered = False
        if memory_budget is not None:
            from .budget import Ledger

            self._ledger = Ledger(memory_budget, persistent, watch_accessed_variables)
        self._forget()
        if explain:
            late.explain_tape(self)
        if profile:
            late.profile_tape(self)

    # Recording

    def __enter__(self) -> Self:
        if self._recording:
            raise ValueError("This tape is recording already: a block of it cannot hold another.")
        if self._used:
            self._forget()
        self._entered = True
        try:
            self._resume()
        except BaseException:  # an interrupt, when it had begun
            self._pause()
            raise
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self._recording:
            try:
                self._pause()
            except BaseException:  # an interrupt, before it was done
                self._pause()
                raise

    def _resume(self) -> None:
        if self._ledger is None:
            self.start()
        else:
            self._ledger.start()
        self._recording = True
        if tracing.witnesses:
            for witness in tracing.witnesses:
                witness.resumed(self)

    def _pause(self) -> None:
        if self._ledger is None:
            self.stop()
        else:
            self._ledger.stop()
        self._recording = False
        if tracing.witnesses:
            for witness in tracing.witnesses:
                witness.paused(self)

    def _forget(self) -> None:
        # As Tape.__init__ does, by way of which a tape would take 0.12 µs more, a third, to make.
        self.tracked = set()
        self.records = []
        self.variables = {}
        self._used = False
        if self._ledger is not None:
            self._ledger.begin(self.tracked, self.variables)

    def watch(self, tensor: Target) -> None:
        """Record what is computed from here on from a tensor, a variable, or a nest of them."""
        for each in map(variable_of, nest.flatten(tensor, expand_composites=True)):
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

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that this tape watches, in the order in which they were created."""
        return tuple(self.variables[key] for key in sorted(self.variables))

    def stop_recording(self) -> AbstractContextManager[None]:
        """A block inside the tape's own in which nothing is recorded."""
        return _Stopped(self)

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

    # What checkers see: a tensor for a tensor, a sequence for a sequence. `Tensor | Any`, because
    # None (not connected) and IndexedSlices (a look-up) are known to the program, not to its types:
    # a program that is right needs neither a cast nor an assertion. A Sequence, be it of a list or
    # of a tuple, because the next line may well put a list in its place, as in
    # `grads, norm = tf.clip_by_global_norm(grads, 1.0)`.
    @overload
    def gradient(
        self,
        target: Target,
        sources: Source,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Tensor | Any: ...
    @overload
    def gradient(
        self,
        target: Target,
        sources: Sequence[Source],
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Sequence[Tensor | Any]: ...
    @overload
    def gradient(
        self,
        target: Target,
        sources: Nest,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any: ...
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
        try:
            zeros = zeros_of if wants_zeros(unconnected_gradients) else None
            seeds = seeds_of(target, output_gradients)
            return self._derive(
                sources, lambda records, keys: backward(records, seeds, keys), zeros, target=target
            )
        except Exception as error:
            shorten(error)
            raise

    @overload
    def explain(self, target: Target, source: Source) -> Explanation: ...
    @overload
    def explain(self, target: Target, source: Sequence[Source]) -> Sequence[Explanation]: ...
    @overload
    def explain(self, target: Target, source: Nest) -> Any: ...
    @border
    def explain(self, target: Any, source: Any) -> Any:
        """Why the gradient of `target` by `source` is what it is: an `Explanation`.

        `print` shows it as text, a notebook as a page; `cause`, `file`, `line`, `suggestion` and
        `path` are its parts. Several sources give as many. A tape that was asked for its gradient
        knows least; one made with `explain=True` knows all, with the lines.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.explain(y, x).cause.name
        'NOT_WATCHED'
        """
        return late.explain_gradient(self, target, source)

    @border
    def memory(self) -> Memory:
        """What the tape holds: arrays, each once, by op, by line and by function; and its records.

        `print` shows it as a table, a notebook as a page. `total` is all of it in bytes, `freed`
        what goes with the tape, `budget_frees` what a small `memory_budget` would not hold. Lines
        are known to a tape made with `explain=True` or `profile=True`, functions to the latter.
        What was used up is held no more: ask before the gradient.

        >>> x = tf.ones([100, 100])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.sin(tf.exp(x))
        >>> [(held.what, held.kept_for) for held in tape.memory().tensors]
        [('exp [100, 100] float32', ('exp', 'sin'))]
        """
        return late.memory_of_tape(self)  # type: ignore[no-any-return]

    @border
    def profile(self) -> Profile:
        """Where the time of this tape's block and of its derivatives went, by op and by line.

        For a tape made with `profile=True`. `print` shows it as a table, a notebook as a page;
        `save_chrome_trace(path)` and `save_speedscope(path)` write it for the viewers of Perfetto
        and speedscope.

        >>> x = tf.ones([100, 100])
        >>> with tf.GradientTape(profile=True) as tape:
        ...     tape.watch(x)
        ...     y = tf.reduce_sum(x @ x)
        >>> _ = tape.gradient(y, x)
        >>> sorted([(row.name, row.calls) for row in tape.profile().ops if row.flops])
        [('matmul', 1), ('matmul_nt', 1), ('matmul_tn', 1)]
        """
        return late.profile_of_tape(self)  # type: ignore[no-any-return]

    @overload
    def jacobian(
        self,
        target: Source,
        sources: Source,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | Any: ...
    @overload
    def jacobian(
        self,
        target: Source,
        sources: Sequence[Source],
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Sequence[Tensor | Any]: ...
    @overload
    def jacobian(
        self,
        target: Source,
        sources: Nest,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any: ...
    @border
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
        from .jacobian import jacobian

        at_once = self.persistent, parallel_iterations, experimental_use_pfor
        return self._derive(sources, *jacobian(target, unconnected_gradients, *at_once))

    @border
    def batch_jacobian(
        self,
        target: Source,
        source: Source,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | Any:
        """The Jacobian of each example: [b, ...] and [b, ...] give [b, target..., source...].

        Row i of the target must depend on row i of the source only. An unconnected source gives
        zeros.
        """
        from .jacobian import batch_jacobian

        at_once = self.persistent, parallel_iterations, experimental_use_pfor
        return self._derive(
            source, *batch_jacobian(target, source, unconnected_gradients, *at_once)
        )

    @overload
    def per_example_gradient(self, losses: Source, sources: Source) -> Tensor | Any: ...
    @overload
    def per_example_gradient(
        self, losses: Source, sources: Sequence[Source]
    ) -> Sequence[Tensor | Any]: ...
    @overload
    def per_example_gradient(self, losses: Source, sources: Nest) -> Any: ...
    @border
    def per_example_gradient(self, losses: Any, sources: Any) -> Any:
        """The gradient of each example's loss by each of `sources`, of shape [b, source...].

        One backward pass: the tensors that have a row for each example go back together, and only
        the rules of the parameters run example by example. Example i must depend on row i of the
        data only. A source that no loss depends on gives None. A tensor with as many rows as there
        are examples, and that is not computed from sources alone, is taken for one with a row for
        each example.
        """
        from .per_example import per_example_gradient

        return self._derive(sources, per_example_gradient(losses))

    @border
    def sparse_jacobian(self, target: Source, source: Source, structure: Any = None) -> Any:
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
        from .sparse import sparse_jacobian

        return self._derive(source, sparse_jacobian(target, source, structure))

    @border
    def jacobian_structure(self, target: Source, source: Source) -> Any:
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
        from .sparse import jacobian_structure

        return self._derive(source, jacobian_structure(target, source), uses_up=False)

    def _derive(
        self,
        sources: Any,
        derivative: Derivative,
        zeros: Callable[[Any], Tensor] | None = None,
        uses_up: bool = True,
        target: Any = None,
    ) -> Any:
        """What `derivative` makes of the records for each of `sources`, nested as they are.

        A source that gets None gets `zeros(source)` where these are given. Of the gradient of a
        `target` the witnesses are told.
        """
        try:
            flat_sources = nest.flatten(sources)
        except RecursionError:
            raise nest.too_deep("gradient: `sources`") from None
        try:
            keys = source_keys(flat_sources)
        except CompositeSources:
            parts = [components_of(source) for source in flat_sources]
            by_parts = self._derive(parts, derivative, zeros, uses_up)
            return nest.pack(sources, map(gradient_like, flat_sources, by_parts))
        self._require_unused()
        self._used = uses_up and not self.persistent
        if self._recording and self._used:
            self._pause()
        elif self._recording and uses_up:
            _inside_persistent.log()
        records = self._reversed(release=self._used)
        for witness in tracing.witnesses:
            derivative = witness.deriving(self, derivative)
        found = derivative(records, keys)
        if zeros is not None:
            found = [
                zeros(source) if g is None else g
                for g, source in zip(found, flat_sources, strict=True)
            ]
        if tracing.witnesses and target is not None:
            for witness in tracing.witnesses:
                witness.derived(self, target, flat_sources, found)
        return nest.pack(sources, iter(found))

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

    def _reversed(self, release: bool) -> Iterator[Any]:
        """The records, last first; with `release` the tape lets go of each as it is used."""
        if self._ledger is not None:
            return self._ledger.reversed(release)
        if not release:
            return iter(reversed(self.records))
        records, self.records = self.records, []
        self._used_tracked, self.tracked = self.tracked, set()
        if any([witness.keeps_records for witness in tracing.witnesses]):
            self._used_records = records
            return iter(reversed(records))
        records.insert(0, None)
        return iter(records.pop, None)

    def __iter__(self) -> Iterator[Record]:
        """The records as they stand, first to last."""
        return named([*self._reversed(release=False)][::-1])

    def __repr__(self) -> str:
        kind = "persistent, " if self.persistent else ""
        return f"<GradientTape: {kind}{self._state()}, {len(self._kept())} records>"

    def _repr_html_(self) -> str:
        from ..core.notebook import card

        counts = Counter([record.op.name for record in named(self._used_records or self.records)])
        ops = ", ".join([f"{name} ×{count}" for name, count in counts.most_common(8)])
        variables = [v.name.removesuffix(":0") for v in self.watched_variables()]
        rows = {
            "state": f"{self._state()}{', persistent' if self.persistent else ''}",
            "records": len(self._kept() or self._used_records or ()),
            "ops": ops + (", …" if len(counts) > 8 else ""),
            "variables": ", ".join(variables[:8]) + (", …" if len(variables) > 8 else ""),
        }
        return card("GradientTape", rows, "tape.show() draws it.")

    def _state(self) -> str:
        return "recording" if self._recording else "used" if self._used else "not recording"

    def _kept(self) -> Any:
        return self.records or self._ledger or ()


class _Stopped:
    """A block in which a tape does not record."""

    def __init__(self, tape: GradientTape) -> None:
        self._tape = tape

    def __enter__(self) -> None:
        self._tape._require_entered("stop_recording()")
        if not self._tape._recording:
            raise ValueError("stop_recording() belongs inside the `with` block of the tape.")
        self._tape._pause()

    def __exit__(self, *error: Any) -> None:
        self._tape._resume()
