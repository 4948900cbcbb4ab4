"""The rule: the mathematics of one step, declared once for each optimizer and executed in two ways.

The `rule` of an optimizer is arithmetic on arrays: `rule(xp, w, g, **slots, **scalars)` gives the
new value of the variable `w`, whose gradient is `g`, and of its slots by name. It changes nothing
itself. A `Rule` is such a function together with what comes before it (what was accumulated,
scaling, clipping, weight decay) and after it (a moving average); `Rule.update` executes it: on
NumPy's arrays by the kernel of in_place.py, in a step that is made `at_once`, and as it stands on
the tracers of `@function`.

Scalars arrive in the dtype of the arrays; what can be computed from scalars alone belongs into
`Optimizer.scalars`, where it is computed once for a step and not once for an element.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.engine import common_engine
from ...core.placement import card_of, on_host
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...ops.array.creation import zeros_like
from ...tape.cell import changing
from ...tape.variable import Variable
from .in_place import Kernel, Step, compile_in_place

RuleFunction = Callable[..., tuple[Any, dict[str, Any]]]
Preparation = Callable[..., tuple[Any, Any]]
Changes = list[tuple[Variable, Any]]
"""Scalar variables and their new values."""


def at_once(change: Callable[[Step | None], None]) -> None:
    """Call `change(step)`, and make the changes that it has added to the step, all at once.

    While a function is traced there is no step: a compiled call is one by itself.
    """
    if current_graph() is not None:
        change(None)
        return
    with changing():
        step = Step()
        change(step)
        step.make()


def clear(step: Step | None, variable: Variable) -> None:
    """Give a variable zeros, in a step."""
    if step is None:
        variable.assign(zeros_like(variable))
    else:
        step.clear(variable._cell)


def assign_all(step: Step | None, changes: Changes) -> None:
    """Give scalar variables their new values, in a step."""
    for variable, value in changes:
        if step is None:
            variable.assign(Tensor(value))
        else:
            step.assign(variable._cell, np.array(on_host(value)))


class Rule:
    """The function of a rule, what comes before and after it, and the slots that it updates.

    With `accumulates`, what an accumulator holds is added to the gradient, and the accumulator is
    empty then; with `averages`, a moving average moves towards the new value. Both are the
    variable's own, and come after its slots.
    """

    def __init__(
        self,
        function: RuleFunction,
        preparations: tuple[Preparation, ...],
        slots: tuple[str, ...],
        accumulates: bool = False,
        averages: bool = False,
    ) -> None:
        self.function = function
        self.preparations = preparations
        self.slots = slots
        self.accumulates = accumulates
        self.averages = averages

    def __call__(self, xp: Any, arrays: list[Any], g: Any, scalars: dict[str, Any]) -> list[Any]:
        """The new values of `arrays`: the variable, its slots, its average, its accumulator."""
        if card_of(arrays[0]) is not None:  # numbers of the host go along with its kernels
            scalars = {n: s[()] if type(s) is np.ndarray else s for n, s in scalars.items()}
        w, *rest = arrays
        if self.accumulates:
            _, g = scale_gradient(xp, w, g, factor=scalars["unscale"])
            g, _ = add_gradient(xp, rest.pop(), g)
        average = rest.pop() if self.averages else None
        slots = dict(zip(self.slots, rest, strict=True))
        for prepare in self.preparations:
            w, g = prepare(xp, w, g, **{name: scalars[name] for name in _scalars_of(prepare)})
        given = {name: scalars[name] for name in _scalars_of(self.function)}
        w, slots = self.function(xp, w, g, **slots, **given)
        new = [w, *[slots[name] for name in self.slots]]
        if self.averages:
            keep, take = scalars["keep_average"], scalars["take_average"]
            new.append(move_average(xp, average, w, keep_average=keep, take_average=take)[0])
        return [*new, scalars["zero"]] if self.accumulates else new

    @cached_property
    def kernel(self) -> Kernel:
        """The rule as it is executed in place."""
        functions = (*self.preparations, self.function, *[move_average] * self.averages)
        scalars = dict.fromkeys(name for each in functions for name in _scalars_of(each))
        if self.accumulates:
            scalars |= {"unscale": None, "zero": None}
        count = 1 + len(self.slots) + self.averages + self.accumulates
        return compile_in_place(self, count, tuple(scalars))

    def update(
        self, step: Step | None, variables: list[Variable], g: Any, scalars: dict[str, Any]
    ) -> None:
        """Give `variables`, the updated one and its slots, their values after a step."""
        if step is None:
            self._update_traced(variables, g, scalars)
        else:
            step.update(self.kernel, [variable._cell for variable in variables], g, scalars)

    def update_rows(
        self,
        step: Step | None,
        variables: list[Variable],
        rows: Any,
        g: Any,
        scalars: dict[str, Any],
    ) -> None:
        """Update some rows of the variables, each named once; the others are not touched."""
        if step is None:
            self._update_traced(variables, g, scalars, rows)
        else:
            cells = [variable._cell for variable in variables]
            step.update_rows(self.kernel, cells, rows, g, scalars)

    def _update_traced(
        self, variables: list[Variable], g: Any, scalars: dict[str, Any], rows: Any = None
    ) -> None:
        arrays = [as_tensor(variable)._array for variable in variables]
        xp = common_engine([*arrays, g])
        g, scalars = xp.adopt(g), {name: xp.adopt(value) for name, value in scalars.items()}
        parts = arrays if rows is None else [xp.getitem(array, (rows,)) for array in arrays]
        results = self(xp, parts, g, scalars)
        for variable, array, new in zip(variables, arrays, results, strict=True):
            if rows is None:
                variable.assign(Tensor(xp.broadcast_to(new, array.shape)))
            else:
                variable.assign(Tensor(xp.write_at(array, rows, new, "set")))

    def __reduce__(self) -> tuple[Any, ...]:
        own = (self.function, self.preparations, self.slots, self.accumulates, self.averages)
        return rule_of, own


@cache
def rule_of(
    function: RuleFunction,
    preparations: tuple[Preparation, ...] = (),
    slots: tuple[str, ...] = (),
    accumulates: bool = False,
    averages: bool = False,
) -> Rule:
    """The rule of a function: one for all variables, so that its kernel is compiled once."""
    return Rule(function, preparations, slots, accumulates, averages)


def _scalars_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the scalars: the parameters that can be given by name only."""
    code = function.__code__
    first = code.co_argcount
    return code.co_varnames[first : first + code.co_kwonlyargcount]


def wide_dtype(dtype: Any) -> Any:
    """Where scalars are computed: half precision does not tell 0.999 from 1."""
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def as_scalar(value: Any, dtype: Any) -> Any:
    """A number as rules take it: a tracer as it is, others as arrays of rank 0.

    (As an operand an array takes 0.2 µs less than the number itself.)
    """
    if current_graph() is None:
        on_card = card_of(value) is not None  # where it stays
        return value.astype(dtype) if on_card else np.array(value, dtype)
    return value.astype(dtype) if hasattr(value, "astype") else value


# What comes before a rule


def scale_gradient(xp: Any, w: Any, g: Any, *, factor: Any) -> tuple[Any, Any]:
    return w, g * factor


def clip_gradient(xp: Any, w: Any, g: Any, *, clip_low: Any, clip_high: Any) -> tuple[Any, Any]:
    return w, xp.minimum(xp.maximum(g, clip_low), clip_high)


def decay_weights(xp: Any, w: Any, g: Any, *, decay: Any) -> tuple[Any, Any]:
    return w - w * decay, g


# Rules that all optimizers use


def keep_value(xp: Any, w: Any, g: Any) -> tuple[Any, dict[str, Any]]:
    return w, {}


def take_gradient(xp: Any, w: Any, g: Any) -> tuple[Any, dict[str, Any]]:
    return g, {}


def add_gradient(xp: Any, w: Any, g: Any) -> tuple[Any, dict[str, Any]]:
    return w + g, {}


def move_average(
    xp: Any, w: Any, g: Any, *, keep_average: Any, take_average: Any
) -> tuple[Any, dict[str, Any]]:
    return w * keep_average + g * take_average, {}
