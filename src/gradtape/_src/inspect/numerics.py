"""`enable_check_numerics`: the first op that makes Inf or NaN raises, and says where it was called.

A witness of op calls looks at each result. An op is at fault that makes a NaN of inputs without
one, or an Inf of finite inputs: so an infinite constant, a mask of -inf, a best loss that begins at
infinity are nothing to report, nor is what becomes of them. Whether a rule of differentiation runs,
and of which op, is read from the frames, and only once there is a fault: a call pays for the look
at its result and for its line, which a fault in its gradient will name.

While a function is traced there are no values. Each op leaves a look in the graph, which is part of
a program only when its checks speak (docs/decisions/0017). A program of its own has one flag at its
end: are its results and the new values of variables finite? Where they are not, the looks run, on
the same arguments, variables and random keys, and the first that finds a fault raises; nothing has
been stored by then.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.backward import backward
from ..core.dtypes import as_dtype
from ..core.engine import engine_of
from ..core.errors import InvalidArgumentError
from ..core.op import Op, as_tuple
from ..core.placement import on_host
from ..core.tensor import Tensor, is_symbolic, new_key
from ..core.tracing import current_graph, tracing
from ..core.witness import Witness
from ..tape.forward import jvp_of_op
from ..tape.jacobian import whole_jacobian
from .traps import Place, Seen, exempt, safe, suggestion
from .users_code import Line, Lines, locals_of

_MOST = 100_000
"""Op calls whose lines are kept, twice: of a program that runs on and on, the last ones."""

_SHOWN = 3
"""Elements of a result that are shown."""

_BY_DOT = frozenset(map(np.dtype, (np.float32, np.float64)))
_ndarray = np.ndarray


# What is found


@dataclass(frozen=True)
class NumericsFault:
    """Where Inf or NaN began: the `fault` of the error that was raised."""

    op: str
    phase: str
    """"forward", "gradient" for a rule of the backward pass, "tangent" for one of forward mode."""
    of: str | None
    """The op whose derivative was computed; None for "forward"."""
    file: str
    line: int
    """The user's line that made the op run: in a derivative, that which asked for it."""
    forward_file: str | None
    forward_line: int | None
    """The user's line of the op whose derivative was computed, if it is known."""
    dtype: str
    shape: tuple[int, ...]
    nan: int
    positive_infinite: int
    negative_infinite: int
    suggestion: str | None


_Made = tuple[str, Line]
"""The name of the op that made a tensor, and the user's line. (The op itself may hold arrays, as a
call of a function does. A NamedTuple takes 0.2 µs more to make.)"""


class _Origin(NamedTuple):
    """Where an op runs: known without its values, so also while a function is traced."""

    op: Any
    names: list[str]
    made_by: frozenset[str]  # the ops that made its inputs; or those of the op it is derived from
    params: dict[str, Any]
    outputs: int  # how many
    line: Line
    phase: str = "forward"
    of: str | None = None
    forward: Line | None = None
    g: Any = None  # the array of the cotangent that a rule was given
    graph: str | None = None  # the name of the function that is traced
    stack: tuple[tuple[str, int, str], ...] = ()


# The witness


class NumericsCheck(Witness):
    """Looks at what each op gives."""

    looks_into_programs = True

    def __init__(self, stack_height_limit: int | None, path_length_limit: int | None) -> None:
        self.stack_height_limit = stack_height_limit
        self.path_length_limit = path_length_limit
        self._lines = Lines()
        self._made: dict[int, _Made] = {}
        self._made_earlier: dict[int, _Made] = {}

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        line = self._lines.here(2)
        made = op.name, line
        is_safe = op.name in safe or (type(op) is not Op and op.is_looked_at)
        for number, y in enumerate(outputs if type(outputs) is tuple else (outputs,)):
            array = y._array
            if not is_safe and not (type(array) is _ndarray and all_finite(array)):
                self._meet(op, inputs, as_tuple(outputs), number, params, line)
            key = y._key
            if key is None:  # (nobody else has it yet: what `key_of` guards against)
                key = y._key = new_key()
            self._made[key] = made
        if len(self._made) > _MOST:
            self._made_earlier, self._made = self._made, {}

    def _made_by(self, key: int | None) -> _Made | None:
        if key is None:
            return None
        return self._made.get(key) or self._made_earlier.get(key)

    def _meet(
        self, op: Any, inputs: Any, outputs: Any, number: int, params: dict[str, Any], line: Line
    ) -> None:
        """Look at an output that has no values yet, or is not finite."""
        array = outputs[number]._array
        if is_symbolic(array):
            self._look_later(op, inputs, outputs, number, params, line)
        elif type(array) is _ndarray or not all_finite(array):
            self._judge(op, inputs, outputs, number, params, line)

    def _judge(
        self, op: Any, inputs: Any, outputs: Any, number: int, params: dict[str, Any], line: Line
    ) -> None:
        """Raise if this op made what is not finite."""
        arrays = [x._array for x in inputs]
        graph = current_graph()
        if graph is not None and not graph.always_runs:
            self._look_later(op, inputs, outputs, number, params, line)
        elif not any(map(is_symbolic, arrays)):
            origin = self._origin(op, inputs, outputs, params, line)
            self.look(origin, number, outputs[number]._array, arrays)

    def _look_later(
        self, op: Any, inputs: Any, outputs: Any, number: int, params: dict[str, Any], line: Line
    ) -> None:
        """Let the program look that is being traced, when it speaks."""
        graph = current_graph()
        array = outputs[number]._array
        if graph is None or not graph.is_looked_at or array.dtype not in dtypes.INEXACT:
            return
        origin = self._origin(op, inputs, outputs, params, line)
        name = graph.root.name
        origin = origin._replace(graph=name, stack=tuple(_stack(self._lines)))
        gs = [] if origin.g is None else [origin.g]

        def say(y: Any, *values: Any) -> None:
            count = len(inputs)
            self.look(
                origin._replace(g=values[count] if gs else None), number, y, list(values[:count])
            )

        graph.look(say, array, *[x._array for x in inputs], *gs)

    def _origin(
        self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any], line: Line
    ) -> _Origin:
        names = list(op.names_of(inputs)) if isinstance(op, Op) else []
        names += [f"input {i}" for i in range(len(names), len(inputs))]
        rule = _rule_around(sys._getframe(1))
        if rule is None:
            made_by = self._makers([x._key for x in inputs])
            return _Origin(op, names, made_by, params, len(outputs), line)
        made = next(filter(None, map(self._made_by, rule.outputs)), None)
        forward = None if made is None else made[1]
        made_by = self._makers(rule.inputs)
        origin = _Origin(op, names, made_by, params, len(outputs), line)
        of = rule.op.name
        return origin._replace(phase=rule.phase, of=of, forward=forward, g=rule.g)

    def _makers(self, keys: Any) -> frozenset[str]:
        return frozenset([made[0] for made in map(self._made_by, keys) if made is not None])

    def look(self, origin: _Origin, number: int, y: Any, inputs: list[Any]) -> None:
        """Raise if values that are not finite begin here."""
        if origin.op.name in exempt or any(map(_is_infinite_number, origin.params.values())):
            return
        y, inputs = _on_host(y), list(map(_on_host, inputs))
        if any([x.dtype == object for x in inputs]):
            return  # read from a text
        nans = np.isnan(y)
        infinite = ~np.isfinite(y) & ~nans
        given_nan, given_inf = _has(inputs, np.isnan), _has(inputs, np.isinf)
        if not (nans.any() and not given_nan) and not (
            infinite.any() and not given_nan and not given_inf
        ):
            return
        with np.errstate(all="ignore"):
            error = self._error(origin, number, y, inputs, nans, infinite)
        self.meet_fault(error)

    def meet_fault(self, error: InvalidArgumentError) -> None:
        """What is to be done about a fault."""
        raise error

    def _error(
        self, origin: _Origin, number: int, y: Any, inputs: list[Any], nans: Any, infinite: Any
    ) -> InvalidArgumentError:
        at = np.argwhere(nans | infinite)
        places = [
            Place(
                [_element(x, tuple(index), y.shape) for x in inputs],
                y[tuple(index)],
                None if origin.g is None else _element(_on_host(origin.g), tuple(index), y.shape),
            )
            for index in at[:_SHOWN]
        ]
        advice = suggestion(Seen(origin.op.name, origin.of, origin.made_by, inputs, y, places))
        negative = int(np.sum(infinite & (y < 0))) if y.dtype.kind != "c" else 0
        file, line = origin.line
        forward_file, forward_line = origin.forward or (None, None)
        fault = NumericsFault(
            origin.op.name, origin.phase, origin.of, file, line, forward_file, forward_line,
            as_dtype(y.dtype).name, tuple(y.shape), int(nans.sum()),
            int(infinite.sum()) - negative, negative, advice,
        )  # fmt: skip
        shown = [(tuple(map(int, index)), p) for index, p in zip(at[:_SHOWN], places, strict=True)]
        error = InvalidArgumentError("\n".join(self._text(fault, origin, number, inputs, shown)))
        vars(error)["fault"] = fault
        return error

    # What is said

    def _text(
        self,
        fault: NumericsFault,
        origin: _Origin,
        number: int,
        inputs: list[Any],
        places: list[tuple[tuple[int, ...], Place]],
    ) -> Iterator[str]:
        kind = "eagerly-executing" if origin.graph is None else "graph"
        yield (
            f"\n\n!!! Detected Infinity or NaN in output {number} of {kind} op "
            f'"{fault.op}" (# of outputs: {origin.outputs}) !!!'
        )
        yield f"  dtype: {as_dtype(fault.dtype)!r}"
        yield f"  shape: {fault.shape}"
        counts = [
            ("-Inf", fault.negative_infinite),
            ("+Inf", fault.positive_infinite),
            ("+NaN", fault.nan),
        ]
        yield from [f"  # of {name} elements: {count}" for name, count in counts if count]
        yield ""
        if len(inputs) > 1:
            yield f"  Input tensors ({len(inputs)}):"
        elif inputs:
            yield "  Input tensor:"
        for i, (name, x) in enumerate(zip(origin.names, inputs, strict=True)):
            yield f"         {i}: {name}: {_summary(x)}"
        yield ""
        for index, place in places:
            there = [
                f"{name} = {value}"
                for name, value in zip(origin.names, place.inputs, strict=True)
                if value is not None
            ]
            of = f" of {', '.join(there)}" if there else ""
            yield f"  {list(index) if index else 'the value'}: {place.value}{of}"
        yield from self._where(fault, origin)
        if fault.suggestion is not None:
            yield f"  Instead: {fault.suggestion}"
        had = " and ".join(
            [name.lstrip("+") if name == "+NaN" else name for name, n in counts if n]
        )
        yield f" : Tensor had {had} values"

    def _where(self, fault: NumericsFault, origin: _Origin) -> Iterator[str]:
        yield ""
        phases = {"gradient": "In the gradient of", "tangent": "In the forward-mode derivative of"}
        phase = "Forward" if fault.of is None else f"{phases[fault.phase]} {fault.of}"
        yield f"  {phase}, at {self._at(origin.line)}"
        if origin.forward is not None:
            yield f"  {fault.of} itself ran at {self._at(origin.forward)}"
        if origin.graph is not None:
            yield f'  Graph name: "{origin.graph}"'
            yield ""
            yield '  Stack trace of op\'s creation ("->": inferred user code):'
            stack = origin.stack
            if self.stack_height_limit is not None and len(stack) > self.stack_height_limit:
                yield f"    + ... (Omitted {len(stack) - self.stack_height_limit} frames)"
                stack = stack[-self.stack_height_limit :]
            for file, line, function in stack:
                yield f"    + {self._path(file)} (L{line}) {function}"
                yield f" -> |   {linecache.getline(file, line).strip()}"
            yield ""

    def _at(self, line: Line) -> str:
        file, number = line
        source = linecache.getline(file, number).strip()
        return f"{self._path(file)}, line {number}" + (f": {source}" if source else "")

    def _path(self, file: str) -> str:
        limit = self.path_length_limit
        return file if limit is None or len(file) <= limit else f"...{file[len(file) - limit :]}"


# Whether all is finite


def all_finite(array: Any) -> bool:
    """Whether there is no Inf and no NaN: one pass over the array, made by BLAS where it can be.

    The sum of squares is not finite if an element is not; and if squares overflow, of finite
    elements. Only then each of them is looked at.
    """
    if type(array) is not _ndarray:
        return array.dtype not in dtypes.INEXACT or bool(
            engine_of(type(array)).isfinite(array).all()
        )
    dtype = array.dtype
    if dtype in _BY_DOT:
        if array.size == 1:
            return isfinite(array.item())
        flat = array.ravel("K")
        try:
            if isfinite(flat.dot(flat)):
                return True
        except RuntimeWarning:  # of the overflow, where the user has turned warnings into errors
            pass
    elif dtype.kind in "iubO" or dtype not in dtypes.INEXACT:
        return True
    return bool(np.isfinite(array).all())


def _has(arrays: list[Any], test: Callable[[Any], Any]) -> bool:
    return any([a.dtype in dtypes.INEXACT and bool(test(a).any()) for a in arrays])


def _is_infinite_number(value: Any) -> bool:
    return isinstance(value, float) and not isfinite(value)


def _on_host(array: Any) -> Any:
    return array if type(array) is _ndarray else np.asarray(on_host(array))


# Where it is


class _Rule(NamedTuple):
    """A rule of differentiation that runs."""

    phase: str
    op: Any
    inputs: list[int | None]  # keys
    outputs: list[int | None]
    g: Any = None  # the array of the cotangent


def _rule_around(frame: FrameType | None) -> _Rule | None:
    """The rule that runs in these frames, the innermost if a rule differentiates; if there is one.

    Forward mode comes before the rules by which it transposes.
    """
    found = None
    while frame is not None:
        if found is None and frame.f_code is backward.__code__:
            local = locals_of(frame)
            if "op" in local:  # else it adds up seeds
                keys, g = local["outputs"], local["g"]
                found = _Rule(
                    "gradient",
                    local["op"],
                    [key for _, key in local["inputs"]],
                    [keys] if type(keys) is int else list(keys),
                    g._array if type(g) is Tensor else None,
                )
        elif found is None and frame.f_code is whole_jacobian.__code__:
            local = locals_of(frame)
            if "op" in local:
                record, g = local["record"], local["g"]
                keys = [key for _, key in record.inputs]
                found = _Rule("gradient", local["op"], keys, [record.outputs], g._array)
        elif frame.f_code is jvp_of_op.__code__:
            local = locals_of(frame)
            inputs, outputs = local["inputs"], as_tuple(local["outputs"])
            return _Rule(
                "tangent", local["op"], [x._key for x in inputs], [y._key for y in outputs]
            )
        frame = frame.f_back
    return found


def _stack(lines: Lines) -> list[tuple[str, int, str]]:
    """The user's frames, the innermost last."""
    frames = lines.frames(2)
    return [(f.f_code.co_filename, f.f_lineno, f.f_code.co_name) for f in frames][::-1]


# What is shown of arrays


def _element(x: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The element of an input that meets this one of the result; None if it has no such place."""
    try:
        return np.broadcast_to(x, shape)[index]
    except ValueError:
        return None


def _summary(x: Any) -> str:
    what = f"{as_dtype(x.dtype).name} {tuple(x.shape)}"
    if not x.size or x.dtype == object or x.dtype.kind in "c" or x.dtype == bool:
        return what
    return f"{what}, {x.min()} to {x.max()}" if x.size > 1 else f"{what}, {x.reshape(-1)[0]}"


# Asking for it


class CheckingNumerics:
    """What `enable_check_numerics` gives: in a `with`, the checks end with the block."""

    def __init__(self, before: NumericsCheck | None) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before is None:
            disable_check_numerics()


def _present() -> NumericsCheck | None:
    return next((each for each in tracing.witnesses if type(each) is NumericsCheck), None)


def enable_check_numerics(
    stack_height_limit: int | None = 30, path_length_limit: int | None = 50
) -> CheckingNumerics:
    """Raise InvalidArgumentError at the first op, forward or backward, that makes Inf or NaN.

    The error names the op, your line, the elements and what they were made of; for a gradient the
    line of the op whose gradient it is; for the usual traps what to write instead. Its `fault` has
    the same as fields. An op is at fault if it makes NaN of inputs without NaN, or Inf of finite
    ones: what you make infinite yourself is not reported.

    A compiled function looks at its results and at the new values of variables, and runs a second
    time, op by op, where these are not finite. Before the error, nothing is assigned.

    >>> with tf.debugging.enable_check_numerics():
    ...     y = tf.math.log(tf.constant([1.0, 2.0]))

    `stack_height_limit` and `path_length_limit` are for the lines that are shown. The checks are of
    all threads; a second call sets other limits.
    """
    before = _present()
    if before is None:
        NumericsCheck(stack_height_limit, path_length_limit).begin()
    else:
        before.stack_height_limit = stack_height_limit
        before.path_length_limit = path_length_limit
    return CheckingNumerics(before)


def disable_check_numerics() -> None:
    """Check no more what ops give."""
    present = _present()
    if present is not None:
        present.end()
