"""Update rules: what one step makes of a variable and of what is remembered about it.

A rule is arithmetic on arrays, written once: `rule(xp, w, g, **slots, **scalars)` gives the new
value of the variable `w`, whose gradient is `g`, and of its slots by name. It changes nothing
itself. `run` does: in place on NumPy's arrays, as the rule stands on the tracers of `@function`.

Scalars arrive in the dtype of the arrays; what can be computed from scalars alone belongs into
`Optimizer.scalars`, where it is computed once for a step and not once for an element.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.engine import common_engine
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...tape.variable import Variable

Rule = Callable[..., tuple[Any, dict[str, Any]]]
Preparation = Callable[..., tuple[Any, Any]]


class Update:
    """A rule, what comes before it, and the slots that it has to do with."""

    def __init__(self, rule: Rule, preparations: tuple[Preparation, ...], slots: tuple[str, ...]):
        self.rule = rule
        self.preparations = preparations
        self.slots = slots

    def __call__(self, xp: Any, arrays: list[Any], g: Any, scalars: dict[str, Any]) -> list[Any]:
        """The new values of `arrays`: the variable and its slots in order."""
        w, *rest = arrays
        slots = dict(zip(self.slots, rest, strict=True))
        for prepare in self.preparations:
            w, g = prepare(xp, w, g, **{name: scalars[name] for name in _keywords(prepare)})
        given = {name: scalars[name] for name in _keywords(self.rule)}
        w, slots = self.rule(xp, w, g, **slots, **given)
        return [w, *[slots[name] for name in self.slots]]

    @property
    def scalars(self) -> tuple[str, ...]:
        """The names of all scalars that are needed."""
        functions = (*self.preparations, self.rule)
        return tuple(dict.fromkeys(name for each in functions for name in _keywords(each)))

    @cached_property
    def plan(self) -> Plan:
        return _plan(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return update_by, (self.rule, self.preparations, self.slots)


@cache
def update_by(
    rule: Rule, preparations: tuple[Preparation, ...] = (), slots: tuple[str, ...] = ()
) -> Update:
    """The update by a rule: one for all variables, so that its plan is made once."""
    return Update(rule, preparations, slots)


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the scalars: the parameters that can be given by name only."""
    code = function.__code__
    first = code.co_argcount
    return code.co_varnames[first : first + code.co_kwonlyargcount]


# What comes before a rule


def scaled(xp: Any, w: Any, g: Any, *, factor: Any) -> tuple[Any, Any]:
    return w, g * factor


def clipped(xp: Any, w: Any, g: Any, *, clip_low: Any, clip_high: Any) -> tuple[Any, Any]:
    return w, xp.minimum(xp.maximum(g, clip_low), clip_high)


def decayed(xp: Any, w: Any, g: Any, *, decay: Any) -> tuple[Any, Any]:
    return w - w * decay, g


# Rules that all optimizers use


def unchanged(xp: Any, w: Any, g: Any) -> tuple[Any, dict[str, Any]]:
    return w, {}


def replaced(xp: Any, w: Any, g: Any) -> tuple[Any, dict[str, Any]]:
    return g, {}


def accumulated(xp: Any, w: Any, g: Any) -> tuple[Any, dict[str, Any]]:
    return w + g, {}


def averaged(xp: Any, w: Any, g: Any, *, keep: Any, take: Any) -> tuple[Any, dict[str, Any]]:
    return w * keep + g * take, {}


# Running them


def run(change: Update, variables: list[Variable], g: Any, scalars: dict[str, Any]) -> None:
    """Give `variables`, the updated one and its slots, their values after a step."""
    if current_graph() is None:
        change.plan.run([variable._writable() for variable in variables], g, scalars)
        return
    arrays = [as_tensor(variable)._array for variable in variables]
    xp = common_engine([*arrays, g])
    for variable, array in zip(variables, change(xp, arrays, g, scalars), strict=True):
        variable.assign(Tensor(array))


def run_on_rows(
    change: Update, variables: list[Variable], rows: Any, g: Any, scalars: dict[str, Any]
) -> None:
    """The same for some rows of the variables, each named once; the others are not touched."""
    if current_graph() is None:
        arrays = [variable._writable() for variable in variables]
        parts = [array[rows] for array in arrays]
        change.plan.run(parts, g, scalars)
        for array, part in zip(arrays, parts, strict=True):
            array[rows] = part
        return
    arrays = [as_tensor(variable)._array for variable in variables]
    xp = common_engine([*arrays, g])
    parts = change(xp, [xp.getitem(array, (rows,)) for array in arrays], g, scalars)
    for variable, array, part in zip(variables, arrays, parts, strict=True):
        variable.assign(Tensor(xp.index_set(array, rows, part)))


# In place


BLOCK = 2**17
"""Bytes of an array that are updated at a time, so that what is computed on the way stays in cache.

Adam on 1.9 million float32 values: 5.8 ms by 2**15 bytes, 4.9 by 2**16, 4.5 by 2**17 and 2**18.
"""

LARGE = 2**19
"""Bytes from which two threads share an update, by larger blocks: the GIL changes hands at each.

On a quiet machine, 0.2 million values take 0.4 ms in place of 0.6, 1.9 million 2.8 in place of 5.2;
with more threads it takes longer.
"""


@cache
def helper() -> Any:
    """The thread that shares large updates, as an executor; None where there is one core for us."""
    if os.environ.get("OMP_NUM_THREADS") == "1" or os.cpu_count() == 1:
        return None
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1, "gradtape optimizer")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=helper.cache_clear)  # the thread is not there any more


def rank_0(value: Any, dtype: Any) -> Any:
    """An array of one number: as an operand it takes 0.2 µs less than the number itself."""
    array = np.empty((), dtype)  # np.asarray takes 0.7 µs, this 0.3
    array[()] = value
    return array


class Call(NamedTuple):
    """One call of a ufunc, on registers: `ufunc(first, second, out)`, or without `second`."""

    ufunc: Any
    first: int
    second: int | None
    out: int


class Plan(NamedTuple):
    """An update as calls of ufuncs that write where the result belongs.

    Registers hold, in this order, the arrays to update, the gradient, the scalars, and scratch
    arrays of the size of a block.
    """

    calls: list[Call]
    scalars: tuple[str, ...]
    scratch: int

    def run(self, arrays: list[Any], g: Any, scalars: dict[str, Any]) -> None:
        w = arrays[0]
        constants = [scalars[name] for name in self.scalars]
        if w.nbytes <= BLOCK or not all([array.flags.c_contiguous for array in arrays]):
            scratch = [np.empty(w.shape, w.dtype) for _ in range(self.scratch)]
            self._run([*arrays, g, *constants, *scratch])
            return
        flat = [array.reshape(-1) for array in (*arrays, g)]
        block = BLOCK // w.itemsize
        if w.nbytes < LARGE or helper() is None:
            self._run_blocks(flat, constants, range(0, w.size, block))
            return
        middle = w.size // (4 * block) * 2 * block
        rest = range(middle, w.size, 2 * block)
        other = helper().submit(self._run_blocks, flat, constants, rest)
        try:
            self._run_blocks(flat, constants, range(0, middle, 2 * block))
        finally:
            other.result()

    def _run_blocks(self, flat: list[Any], constants: list[Any], starts: range) -> None:
        size, dtype = flat[0].size, flat[0].dtype
        scratch = [np.empty(starts.step, dtype) for _ in range(self.scratch)]
        for start in starts:
            stop = start + starts.step
            if stop > size:
                scratch = [array[: size - start] for array in scratch]
            self._run([*[array[start:stop] for array in flat], *constants, *scratch])

    def _run(self, registers: list[Any]) -> None:
        for ufunc, first, second, out in self.calls:
            if second is None:
                ufunc(registers[first], registers[out])
            else:
                ufunc(registers[first], registers[second], registers[out])


class _Symbol:
    """A value of a rule that is being recorded."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder

    def __add__(self, other: _Symbol) -> _Symbol:
        return self._recorder.call(np.add, self, other)

    def __sub__(self, other: _Symbol) -> _Symbol:
        return self._recorder.call(np.subtract, self, other)

    def __mul__(self, other: _Symbol) -> _Symbol:
        return self._recorder.call(np.multiply, self, other)

    def __truediv__(self, other: _Symbol) -> _Symbol:
        return self._recorder.call(np.divide, self, other)

    def __pow__(self, other: _Symbol) -> _Symbol:
        return self._recorder.call(np.power, self, other)

    def __neg__(self) -> _Symbol:
        return self._recorder.call(np.negative, self)

    def _refuse(self, other: Any) -> _Symbol:
        return self._recorder.call(None, other, self)

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = _refuse


class _Recorder:
    """The `xp` of a rule that is being recorded: NumPy's ufuncs by name."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple[_Symbol, ...], _Symbol]] = []

    def call(self, ufunc: Any, *operands: _Symbol) -> _Symbol:
        for operand in operands:
            if not isinstance(operand, _Symbol):
                raise TypeError(
                    f"A rule has the number {operand!r} in it. Give it a name in `scalars`, and "
                    "take it from there: a rule works on arrays and scalars of their dtype."
                )
        result = _Symbol(self)
        self.calls.append((ufunc, operands, result))
        return result

    def __getattr__(self, name: str) -> Callable[..., _Symbol]:
        ufunc = _BY_KEYWORD.get(name) or getattr(np, name)
        return lambda *operands: self.call(ufunc, *operands)


# These two ufuncs alone take their third argument by name only.
_BY_KEYWORD: dict[str, Callable[[Any, Any, Any], Any]] = {
    "maximum": lambda x, y, out: np.maximum(x, y, out=out),
    "minimum": lambda x, y, out: np.minimum(x, y, out=out),
}


def _plan(change: Update) -> Plan:
    """The calls that run `change` in place.

    A result is written over the old value once nothing needs that any more, else into scratch and
    copied at the end.
    """
    recorder = _Recorder()
    targets = [_Symbol(recorder) for _ in ("w", *change.slots)]
    g = _Symbol(recorder)
    scalars = {name: _Symbol(recorder) for name in change.scalars}
    results = change(recorder, targets, g, scalars)

    register = {symbol: i for i, symbol in enumerate((*targets, g, *scalars.values()))}
    inputs = len(register)
    last_read = dict.fromkeys(targets, -1)
    last_read |= {x: i for i, (_, operands, _) in enumerate(recorder.calls) for x in operands}
    home = {result: i for i, result in enumerate(results)}
    free: list[int] = []
    calls = []
    scratch = 0
    for i, (ufunc, operands, out) in enumerate(recorder.calls):
        free += {register[x] for x in operands if last_read[x] == i and register[x] >= inputs}
        if out in home and last_read[targets[home[out]]] <= i:
            register[out] = home[out]
        elif free:
            register[out] = free.pop()
        else:
            register[out] = inputs + scratch
            scratch += 1
        if out in home:
            last_read[out] = len(recorder.calls)
        first, *rest = (register[x] for x in operands)
        calls.append(Call(ufunc, first, rest[0] if rest else None, register[out]))
    calls += [Call(np.positive, register[x], None, i) for x, i in home.items() if register[x] != i]
    return Plan(calls, change.scalars, scratch)
