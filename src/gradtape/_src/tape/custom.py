"""Gradients of one's own: custom_gradient, grad_pass_through, recompute_grad."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np

from ..core import nest
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.op import as_tuple
from ..core.recorder import Observer, heard_by, listeners
from ..core.stand_in import StandIn
from ..core.tensor import Tensor
from ..ops.array.cast import identity
from ..ops.random.sequence import Repeatable
from .batching import record_joint
from .gradient_tape import GradientTape
from .variable import Variable

P = ParamSpec("P")
R = TypeVar("R")
Q = ParamSpec("Q")
S = TypeVar("S")


@overload
def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> _CustomGradient[P, R]: ...
@overload
def custom_gradient(
    f: None = None,
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], _CustomGradient[P, R]]: ...
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate `f(*xs)`, that returns `(y, grad_fn)`, with the gradient that `grad_fn` gives.

    `grad_fn(*upstream)` takes a cotangent for each output and returns one for each argument (None
    for "not connected"). If `f` reads trainable variables that are not arguments, `grad_fn` takes
    them as `variables=` and returns `(gradients of the arguments, gradients of the variables)`.

    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    The gradient of the result is that of `grad_fn` alone, whatever `f` is made of; the second
    derivative is that of the ops that `grad_fn` runs. Forward mode uses the transpose of `grad_fn`.
    """
    if f is None:
        return custom_gradient

    return _CustomGradient(f)


class _CustomGradient(Generic[P, R]):
    """A function with a gradient of its own; as a method, `self` takes no gradient's place."""

    def __init__(self, f: Callable[P, tuple[R, Callable[..., Any]]]) -> None:
        self._f: Any = f
        update_wrapper(self, f)

    def remade(self, change: Callable[[Any], Any]) -> _CustomGradient[P, R]:
        """The same of another function: AutoGraph converts what is inside."""
        return _CustomGradient(change(self._f))

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: _CustomGradient[Concatenate[S, Q], R], instance: S, owner: Any = None
    ) -> _CustomGradient[Q, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _CustomGradient(self._f.__get__(instance, owner))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        f = self._f
        given: Any = args
        flat_args = nest.flatten(given)
        if any(map(_is_stand_in, flat_args)):  # read out here, it is no variable that `f` reads
            flat_args = [as_tensor(x) if _is_stand_in(x) else x for x in flat_args]
            given = nest.pack_sequence_as(given, flat_args)
        with _reading(listeners()) as read:  # tapes see it: `grad_fn` may use what `f` computed
            pair = f(*given, **kwargs)
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(
                f"custom_gradient: {_name(f)} must return a pair (result, function of the upstream "
                f"gradients), and returned {pair!r:.100}."
            )
        result, grad_fn = pair
        variables = _others(read, flat_args)
        if variables and not _takes_variables(grad_fn):
            raise TypeError(
                f"custom_gradient: {_name(f)} reads the variables {_names(variables)}, so its "
                "gradient function must take the keyword `variables` and return (gradients of the "
                "arguments, gradients of the variables)."
            )

        def rule(g: Any) -> list[Any]:
            upstream = as_tuple(g)
            if not variables:
                return _gradients(grad_fn(*upstream), flat_args, "argument", f)
            both = grad_fn(*upstream, variables=variables)
            if not isinstance(both, (tuple, list)) or len(both) != 2:
                raise ValueError(
                    f"custom_gradient: the gradient function of {_name(f)} must return (gradients "
                    f"of the arguments, gradients of the variables), and returned {both!r:.100}."
                )
            by_argument = _gradients(both[0], flat_args, "argument", f)
            return by_argument + _gradients(both[1], variables, "variable", f)

        made = _recorded(f"custom_gradient of {_name(f)}", flat_args + variables, result, rule)
        return made  # type: ignore[no-any-return]


def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """`f` with the gradient of the identity: what comes from above goes on to each argument."""

    @custom_gradient
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        def grad_fn(*upstream: Any, variables: Any = None) -> Any:
            gradients = upstream[0] if len(upstream) == 1 else list(upstream)
            return (gradients, [None] * len(variables)) if variables is not None else gradients

        return f(*args, **kwargs), grad_fn

    return wraps(f)(wrapped)


def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """`f`, whose intermediate results are not kept: `f` runs again when the gradient is taken.

    Trades time for memory: a tape keeps the arguments of the call only. Random draws in `f` are
    the same in both runs.
    """

    @wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        draws = Repeatable()
        with _reading([]) as read, draws.first():
            result = f(*args, **kwargs)
        flat_args = nest.flatten(args)
        variables = _others(read, flat_args)

        def rule(g: Any) -> list[Any]:
            # New tensors: an argument that is passed twice gets the gradient of each place.
            copies = [identity(a) if _is_smooth(a) else a for a in flat_args]
            smooth = [c for c, a in zip(copies, flat_args, strict=True) if _is_smooth(a)]
            with GradientTape() as tape:
                tape.watch(smooth)
                again = draws.again(lambda: f(*nest.pack_sequence_as(args, copies), **kwargs))
            targets = [as_tensor(y) for y in nest.flatten(again)]
            sources = smooth + variables
            # Zeros by what it did not use: the call is one op, as in TensorFlow.
            found = iter(tape.gradient(targets, sources, list(as_tuple(g)), "zero"))
            by_argument = [next(found) if _is_smooth(a) else None for a in flat_args]
            return by_argument + list(found)

        return _recorded(f"recompute_grad of {_name(f)}", flat_args + variables, result, rule)

    return wrapped


def _recorded(name: str, inputs: list[Any], result: Any, rule: Callable[[Any], list[Any]]) -> Any:
    """`result` as new tensors, recorded as the outputs of one op with the rule given."""
    outputs = [identity(as_tensor(y)) for y in nest.flatten(result)]
    record_joint(name, rule, [_input(x) for x in inputs], outputs)
    return nest.pack_sequence_as(result, outputs)


def _input(x: Any) -> Tensor:
    """What a tape sees as an input: a tensor, a read variable, or else a constant."""
    return as_tensor(x) if isinstance(x, (Tensor, Variable)) else Tensor(np.float32(0))


def _is_stand_in(x: Any) -> bool:
    """Whether it is a variable of another library, say, that stands for one of ours."""
    return isinstance(x, StandIn) and not isinstance(x, Variable)


class _VariableWatcher(Observer):
    """Tracks nothing, but notes which trainable variables are read."""

    watches_variables = True

    def watch_variable(self, variable: Variable) -> None:
        self.variables[variable._key] = variable


class _reading(heard_by):
    """A block that only `seen_by` see; gives the trainable variables that it reads, by key."""

    def __init__(self, seen_by: list[Any]) -> None:
        self._watcher = _VariableWatcher()
        super().__init__([*seen_by, self._watcher])

    def __enter__(self) -> dict[int, Variable]:
        super().__enter__()
        return self._watcher.variables


def _gradients(gradients: Any, inputs: list[Any], kind: str, f: Callable[..., Any]) -> list[Any]:
    """The gradients as a list, one for each input, each of the shape of its input."""
    flat = nest.flatten(gradients)
    if len(flat) != len(inputs):
        raise ValueError(
            f"custom_gradient: the gradient function of {_name(f)} returned {len(flat)} gradients "
            f"for {len(inputs)} {kind}s. It must return one for each, None where there is none."
        )
    return [_gradient(g, x, i, kind, f) for i, (g, x) in enumerate(zip(flat, inputs, strict=True))]


def _gradient(g: Any, x: Any, i: int, kind: str, f: Callable[..., Any]) -> Any:
    if g is None or not isinstance(x, (Tensor, Variable)):
        return None
    if isinstance(g, IndexedSlices):
        return g
    g = as_tensor(g, op="custom_gradient")
    if g.shape != x.shape:
        raise ValueError(
            f"custom_gradient: the gradient function of {_name(f)} returned a gradient of shape "
            f"{g.shape} for {kind} {i}, which has shape {x.shape}. They must be equal."
        )
    return g


def _others(read: dict[int, Variable], args: list[Any]) -> list[Variable]:
    """The variables that are not arguments, in the order in which they were created."""
    return [v for _, v in sorted(read.items()) if not any(v is a for a in args)]


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _is_smooth(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable)) and (x.dtype.is_floating or x.dtype.is_complex)


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", repr(f))


def _names(variables: list[Variable]) -> str:
    return ", ".join(repr(v.name) for v in variables)
