"""Optimizer: what all optimizers do around their rules, with the arguments of Keras."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, TypedDict

import numpy as np

from ...core.convert import as_tensor
from ...core.cotangent import IndexedSlices
from ...core.dtypes import float32, int64
from ...core.engine import common_engine
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...ops.arithmetic import floordiv
from ...ops.creation import cast, ones_like, zeros_like
from ...tape.control import cond
from ...tape.gradient_tape import GradientTape
from ...tape.variable import Variable
from .._waiting import attached
from . import rules
from .gradients import Rows, clip_scale, fitting, sum_of_squares
from .rules import Update, rank_0, run, run_on_rows, update_by
from .schedules import LearningRateSchedule, deserialize, serialize
from .state import State


class Options(TypedDict, total=False):
    """The arguments that every optimizer takes besides its own."""

    weight_decay: float | None
    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None
    gradient_accumulation_steps: int | None
    name: str | None


class Optimizer(State):
    """Base of the optimizers: changes variables by their gradients, and remembers what it needs.

    >>> w = tf.Variable([1.0, 2.0])
    >>> optimizer = tf.optimizers.SGD(learning_rate=0.5)
    >>> with tf.GradientTape() as tape:
    ...     loss = tf.reduce_sum(w)
    >>> steps = optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
    >>> w.numpy()
    array([0.5, 1.5], dtype=float32)

    An algorithm of your own is a subclass with `slot_groups`, `scalars` and `rule` (see `rules`),
    or, as in Keras, one that overrides `build` and `update_step` and works on variables.

    Updates are made in place: in a step no array of the size of a variable is allocated, unless
    a tensor still holds the old value, which it keeps.

    `weight_decay`: before the update, `w -= w * weight_decay * learning_rate`.
    `clipnorm`, `global_clipnorm`, `clipvalue` (one of them): the largest norm of each gradient, of
    all gradients together, or the largest size of an element.
    `use_ema`: keep moving averages of the variables, with `ema_momentum`; every
    `ema_overwrite_frequency` steps, and in `finalize_variable_values`, they become the values.
    `loss_scale_factor`: gradients are divided by it; `scale_loss` multiplies the loss by it.
    `gradient_accumulation_steps`: so many calls make one step, with the mean of their gradients.
    """

    settings: tuple[str, ...] = ()
    """The attributes, arguments of the constructor, that `get_config` adds."""

    def __init__(
        self,
        learning_rate: Any,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        clips = {
            "clipnorm": clipnorm,
            "clipvalue": clipvalue,
            "global_clipnorm": global_clipnorm,
        }
        if sum(value is not None for value in clips.values()) > 1:
            raise ValueError(
                f"{self._title}: only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be "
                f"given. Received: {clips}."
            )
        if gradient_accumulation_steps is not None:
            self._check_count("gradient_accumulation_steps", gradient_accumulation_steps, 2)
        if use_ema:
            if not 0 <= ema_momentum <= 1:
                raise ValueError(
                    f"{self._title}: `ema_momentum` must be in [0, 1]. Received: {ema_momentum!r}."
                )
            if ema_overwrite_frequency is not None:
                self._check_count("ema_overwrite_frequency", ema_overwrite_frequency, 1)
        self.weight_decay = weight_decay
        self.clipnorm = clipnorm
        self.clipvalue = clipvalue
        self.global_clipnorm = global_clipnorm
        self.use_ema = use_ema
        self.ema_momentum = ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = loss_scale_factor
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._trainable_variables: list[Variable] = []
        self._index: dict[int, int] = {}  # by id of the variable
        self._updated: list[list[Variable]] = []  # each variable and its slots
        self._changes: list[Update] = []  # how these are updated
        self._planned: Any = None  # for which options
        self._averages: list[Variable] = []
        self._accumulators: list[Variable] = []
        self._undecayed: list[Variable] = []
        self._undecayed_names: re.Pattern[str] | None = None
        self._iterations = self.add_variable((), dtype=int64, name="iteration")
        self._learning_rate = learning_rate
        if not callable(learning_rate):
            self._learning_rate = self.add_variable(
                (), lambda *_: self._rate(learning_rate), name="learning_rate"
            )

    def _check_count(self, name: str, value: Any, least: int) -> None:
        if not isinstance(value, int) or value < least:
            raise ValueError(
                f"{self._title}: `{name}` must be an integer of at least {least}, or None. "
                f"Received: {value!r}."
            )

    # The learning rate and the count of steps

    @property
    def iterations(self) -> Any:
        """How many steps were made."""
        if self.gradient_accumulation_steps:
            return floordiv(self._iterations, self.gradient_accumulation_steps)
        return self._iterations

    @property
    def learning_rate(self) -> Any:
        """The present learning rate: a variable, or what the schedule or the function gives."""
        rate = self._learning_rate
        if isinstance(rate, LearningRateSchedule):
            return rate(self._iterations)
        return rate if isinstance(rate, Variable) else rate()

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        before = self._learning_rate
        if callable(learning_rate):
            self._learning_rate = learning_rate
            self._variables = [v for v in self._variables if v is not before]
        elif isinstance(before, Variable):
            before.assign(self._rate(learning_rate))
        else:
            raise TypeError(
                f"{self._title}: the learning rate is a schedule or a function, and cannot be set "
                "to a number. Make the optimizer with a number, or set another schedule."
            )

    def _rate(self, value: Any) -> Tensor:
        """A number, as it can be assigned to the learning rate."""
        rate = as_tensor(value, op=f"{self._title}: `learning_rate`")
        if rate.ndim or not (rate.dtype.is_floating or rate.dtype.is_integer):
            raise ValueError(
                f"{self._title}: `learning_rate` must be a number, a LearningRateSchedule or a "
                f"function without arguments. Received: {value!r:.100}."
            )
        return cast(rate, float32)

    # State

    def slot_groups(self) -> list[dict[str, float]]:
        """What is remembered about each variable: names and initial values.

        The groups, and in each the variables, follow one another in `variables`.
        """
        return []

    def build(self, variables: Sequence[Variable]) -> None:
        """Make the slots for `variables`, which are those that can be updated from now on."""
        if self.built:
            return
        variables = list(variables)
        for i, variable in enumerate(variables):
            if not isinstance(variable, Variable):
                raise TypeError(
                    f"{self._title}: only variables can be updated, and number {i} is a "
                    f"{type(variable).__name__}: {variable!r:.100}."
                )
        self._trainable_variables = variables
        self._index = {id(variable): i for i, variable in enumerate(variables)}
        if self.use_ema:
            self._averages = self.add_optimizer_variables(variables, "average")
        if self.gradient_accumulation_steps:
            self._accumulators = self.add_optimizer_variables(variables, "gradient_accumulator")
        self._updated = [[variable] for variable in variables]
        for group in self.slot_groups():
            for variable, slots in zip(variables, self._updated, strict=True):
                slots += [
                    self.add_variable_from_reference(variable, name, initial)
                    for name, initial in group.items()
                ]
        self.built = True
        attached(self)

    @property
    def _slots(self) -> tuple[str, ...]:
        return tuple(name for group in self.slot_groups() for name in group)

    def _plan(self) -> None:
        """Decide how each variable is updated, if the options are not those of the last step."""
        options = (
            bool(
                self.clipnorm
                or self.global_clipnorm
                or self.loss_scale_factor is not None
                or self.gradient_accumulation_steps
            ),
            bool(self.clipvalue),
            self.weight_decay is not None,
        )
        if options == self._planned:
            return
        scales, clips, decays = self._planned = options
        common = [rules.scaled] * scales + [rules.clipped] * clips
        self._changes = [
            update_by(
                self.rule,
                (*common, rules.decayed) if decays and self._decays(variable) else (*common,),
                self._slots,
            )
            for variable in self._trainable_variables
        ]

    def _tracked_items(self) -> Iterator[tuple[str, Any]]:
        """The state by name, for checkpoints."""
        yield "iterations", self._iterations
        if isinstance(self._learning_rate, Variable):
            yield "learning_rate", self._learning_rate
        named = [self._iterations, self._learning_rate]
        columns = zip(*self._updated, strict=True)
        next(columns, None)  # the variables themselves
        lists = dict(zip(self._slots, map(list, columns), strict=False))
        lists |= {"average": self._averages, "gradient_accumulator": self._accumulators}
        for name, variables in lists.items():
            yield name, variables
            named += variables
        yield "other", [v for v in self._variables if not any(v is each for each in named)]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy, or what was read from a file, knows variables of its own."""
        self.__dict__.update(state)
        self._index = {id(variable): i for i, variable in enumerate(self._trainable_variables)}

    def _get_variable_index(self, variable: Variable) -> int:
        return self._index[id(variable)]

    # Steps

    def minimize(self, loss: Any, var_list: Any, tape: GradientTape | None = None) -> Variable:
        """One step towards a smaller loss. See `compute_gradients` for the arguments."""
        return self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def compute_gradients(
        self, loss: Any, var_list: Any, tape: GradientTape | None = None
    ) -> list[tuple[Any, Variable]]:
        """The gradients of `loss` and their variables, in pairs for `apply_gradients`.

        `loss` is a function without arguments, or a tensor and `tape` the tape that recorded it.
        `var_list` are the variables, or a function that gives them after the loss is computed.
        """
        if callable(loss):
            tape = GradientTape() if tape is None else tape
            with tape:
                loss = loss()
        elif tape is None:
            raise ValueError(
                "compute_gradients: `loss` is a tensor, so `tape` is needed: the GradientTape that "
                "recorded it. Or let `loss` be a function that computes it."
            )
        variables = list(var_list() if callable(var_list) else var_list)
        # The weight of the loss: as if the loss itself had been scaled.
        weight = cast(self.scale_loss(ones_like(loss)), as_tensor(loss).dtype)
        return list(zip(tape.gradient(loss, variables, weight), variables, strict=True))

    def scale_loss(self, loss: Any) -> Any:
        """`loss` times the factor by which `apply` divides the gradients."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def apply_gradients(self, grads_and_vars: Any) -> Variable:
        """One step, from pairs (gradient, variable). Returns the count of calls, a variable."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError(
                f"{self._title}.apply_gradients: `grads_and_vars` is empty. Expected pairs "
                "(gradient, variable), such as zip(gradients, variables); an iterator can be used "
                "once only."
            )
        self.apply([g for g, _ in pairs], [v for _, v in pairs])
        return self._iterations

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """One step, from gradients in the order of the variables.

        The first call with variables builds the optimizer; without, all variables that it was
        built with are meant.
        """
        grads = list(grads)
        if not grads:
            return
        if trainable_variables is None and not self.built:
            raise ValueError(
                f"{self._title}.apply: without `trainable_variables` the optimizer must be built. "
                "Call optimizer.build(variables) first, or give the variables."
            )
        given = self._trainable_variables if trainable_variables is None else trainable_variables
        variables = list(given)
        if len(grads) != len(variables):
            raise ValueError(
                f"{self._title}.apply: there are {len(grads)} gradients for {len(variables)} "
                "variables."
            )
        if not self.built:
            self.build(variables)
        self._plan()
        gradients = self._gradients(grads, variables)
        if self.gradient_accumulation_steps:
            self._accumulate(gradients)
        else:
            self._step(gradients, 1.0 / (self.loss_scale_factor or 1.0))
        if self.use_ema:
            self._average()
        for i in gradients:
            variable = self._trainable_variables[i]
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        self._count()

    def _gradients(self, grads: list[Any], variables: list[Variable]) -> dict[int, Any]:
        """The gradients that there are, checked, as arrays or rows, by the variable's number."""
        found: dict[int, Any] = {}
        missing = []
        for g, variable in zip(grads, variables, strict=True):
            i = self._index.get(id(variable))
            if i is None:
                raise ValueError(
                    f"{self._title}: the optimizer was built without the variable "
                    f"{getattr(variable, 'name', variable)!r}. Give build() all variables, or make "
                    "an optimizer for the others."
                )
            if g is None:
                missing.append(variable.name)
            elif i in found:
                raise ValueError(
                    f"{self._title}: the variable {variable.name!r} is given twice. Add its "
                    "gradients first."
                )
            else:
                by_rows = type(g) is not Tensor and self._keeps_rows(i)
                found[i] = fitting(g, variable, by_rows, self._title)
        if not found:
            raise ValueError(
                f"No gradients provided for any variable. {self._title} got None for all of "
                f"{missing}: the loss does not depend on them, or was not computed inside the "
                "tape's block. docs/why-none.md lists the causes."
            )
        if missing:
            warnings.warn(
                f"Gradients do not exist for variables {missing} when minimizing the loss: they "
                "are left as they are. docs/why-none.md lists the causes.",
                stacklevel=4,
            )
        return found

    def _keeps_rows(self, i: int) -> bool:
        """Whether rows of a variable without a gradient stay as they are, slots included."""
        return (
            self.rows_without_gradient_stay
            and rules.decayed not in self._changes[i].preparations
            and not self.gradient_accumulation_steps
            and not self._overrides_update_step
        )

    rows_without_gradient_stay = False
    """Whether a gradient of zero changes neither the variable nor its slots."""

    def _count(self) -> None:
        if current_graph() is None:
            count = self._iterations._writable()
            count += 1
        else:
            self._iterations.assign_add(1)

    def _accumulate(self, gradients: dict[int, Any]) -> None:
        """Add to the accumulators; in the last of so many calls, a step with what they hold."""
        steps = self.gradient_accumulation_steps
        change = update_by(rules.accumulated, (rules.scaled,))
        for i, g in gradients.items():
            factor = _scalar(1.0 / (self.loss_scale_factor or 1.0), g.dtype)
            run(change, [self._accumulators[i]], g, {"factor": factor})

        def step() -> None:
            self._step({i: as_tensor(self._accumulators[i])._array for i in gradients}, 1 / steps)
            for accumulator in self._accumulators:
                if current_graph() is None:
                    accumulator._writable().fill(0)
                else:
                    accumulator.assign(zeros_like(accumulator))

        cond((self._iterations + 1) % steps == 0, step, lambda: None)

    def _step(self, gradients: dict[int, Any], factor: float) -> None:
        """Change the variables by their gradients, multiplied by `factor`."""
        rate = as_tensor(self.learning_rate)._array
        factors = self._factors(gradients, factor)
        by_update_step = self._overrides_update_step
        self._begin_step()
        by_dtype: dict[Any, dict[str, Any]] = {}
        dtype = scalars = None
        for i, g in gradients.items():
            rows = type(g) is Rows
            values = g.values if rows else g
            if values.dtype is not dtype:
                dtype = values.dtype
                if dtype not in by_dtype:
                    by_dtype[dtype] = self._scalars(rate, dtype)
                scalars = by_dtype[dtype]
            if factors:
                scalars["factor"] = factors[i]
            if rows:
                run_on_rows(self._changes[i], self._updated[i], g.indices, values, scalars)
            elif by_update_step:
                self._prepare_and_update(i, g, scalars)
            else:
                run(self._changes[i], self._updated[i], g, scalars)

    @property
    def _overrides_update_step(self) -> bool:
        return type(self).update_step is not Optimizer.update_step

    def _prepare_and_update(self, i: int, g: Any, scalars: dict[str, Any]) -> None:
        """The same by the `update_step` of a subclass."""
        variable = self._trainable_variables[i]
        steps = self._changes[i].preparations
        if rules.decayed in steps:
            run(update_by(rules.unchanged, (rules.decayed,)), [variable], g, scalars)
        change = update_by(rules.replaced, tuple(s for s in steps if s is not rules.decayed))
        (g,) = change(common_engine([g]), [g], g, scalars)
        self.update_step(Tensor(g), variable, self.learning_rate)

    def _begin_step(self) -> None:
        """For what changes once in a step, before any variable does."""

    def _scalars(self, rate: Any, dtype: Any) -> dict[str, Any]:
        """All scalars of a step, in the dtype of the variables that they are for."""
        wide = _wide(dtype)
        rate = rate.astype(wide)[()]
        step = (as_tensor(self.iterations)._array + 1).astype(wide)[()]
        scalars = self.scalars(rate, step)
        if self.weight_decay is not None:
            scalars["decay"] = rate * self.weight_decay
        if self.clipvalue:
            scalars |= {"clip_low": -self.clipvalue, "clip_high": self.clipvalue}
        return {name: _scalar(value, dtype) for name, value in scalars.items()}

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        """What the rule needs besides arrays, by name; `step` is 1 in the first step.

        Both have the dtype of the variable (float32 for half precision); they are NumPy's scalars,
        or tracers of `@function`.
        """
        return {}

    @staticmethod
    def rule(xp: Any, w: Any, g: Any, **slots_and_scalars: Any) -> tuple[Any, dict[str, Any]]:
        """The new values of the variable and of its slots."""
        raise NotImplementedError("Override `rule`, or `update_step`, in a subclass of Optimizer.")

    def update_step(self, gradient: Any, variable: Variable, learning_rate: Any) -> None:
        """Change one variable. A subclass may override this in place of `rule`, as in Keras."""
        i = self._get_variable_index(variable)
        g = fitting(gradient, variable, False, self._title)
        scalars = self._scalars(as_tensor(learning_rate)._array, g.dtype)
        run(update_by(self.rule, (), self._slots), self._updated[i], g, scalars)

    def assign(self, variable: Variable, value: Any) -> None:
        """Store a value, or rows of it, in its dtype."""
        _assign(variable, value, variable.assign, variable.scatter_update)

    def assign_add(self, variable: Variable, value: Any) -> None:
        _assign(variable, value, variable.assign_add, variable.scatter_add)

    def assign_sub(self, variable: Variable, value: Any) -> None:
        _assign(variable, value, variable.assign_sub, variable.scatter_sub)

    # Clipping

    def _factors(self, gradients: dict[int, Any], factor: float) -> dict[int, Any]:
        """By what each gradient is multiplied, clipping by norm included; none if by nothing."""
        if not self._planned[0]:
            return {}
        arrays = {i: g.values if type(g) is Rows else g for i, g in gradients.items()}
        if self.clipnorm:
            scales = {
                i: factor * clip_scale(sum_of_squares(g) ** 0.5 * factor, self.clipnorm)
                for i, g in arrays.items()
            }
        elif self.global_clipnorm:
            norm = sum(map(sum_of_squares, arrays.values())) ** 0.5 * factor
            scale = factor * clip_scale(norm, self.global_clipnorm)
            scale = scale + (norm - norm)  # NaN for a norm that is not finite, as in Keras
            scales = dict.fromkeys(arrays, scale)
        else:
            scales = dict.fromkeys(arrays, factor)
        return {i: _scalar(scale, arrays[i].dtype) for i, scale in scales.items()}

    # Weight decay

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        """Leave out of weight decay these variables, and those whose names contain one of these.

        To be called before the optimizer is built.
        """
        if self.built:
            raise ValueError(
                f"{self._title}: exclude_from_weight_decay() must be called before the first step, "
                "when the optimizer is built."
            )
        self._undecayed = list(var_list or ())
        self._undecayed_names = re.compile("|".join(set(var_names))) if var_names else None

    def _decays(self, variable: Variable) -> bool:
        pattern = self._undecayed_names
        named = pattern is not None and pattern.search(variable.name)
        return not named and not any(variable is each for each in self._undecayed)

    # Moving averages

    def _average(self) -> None:
        """Move the averages towards the variables, and these to them when it is time."""
        iterations = as_tensor(self.iterations)._array
        change = update_by(rules.averaged)
        for variable, average in zip(self._trainable_variables, self._averages, strict=True):
            w = as_tensor(variable)._array
            keep = (iterations != 0).astype(_wide(w.dtype)) * self.ema_momentum
            scalars = {"keep": _scalar(keep, w.dtype), "take": _scalar(1 - keep, w.dtype)}
            run(change, [average], w, scalars)
        if self.ema_overwrite_frequency:
            due = (as_tensor(self.iterations) + 1) % self.ema_overwrite_frequency == 0
            cond(due, self._overwrite_by_averages, lambda: None)

    def _overwrite_by_averages(self) -> None:
        for variable, average in zip(self._trainable_variables, self._averages, strict=True):
            variable.assign(average)

    def finalize_variable_values(self, var_list: Any) -> None:
        """At the end of training: give the variables their moving averages, if there are any."""
        if not self.use_ema:
            return
        for variable in var_list:
            variable.assign(self._averages[self._get_variable_index(variable)])

    # As plain values

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an optimizer like this, without its state."""
        rate = self._learning_rate
        if isinstance(rate, Variable):
            rate = float(rate)
        elif isinstance(rate, LearningRateSchedule):
            rate = serialize(rate)
        names = [*Options.__annotations__, *self.settings]
        return {"learning_rate": rate} | {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Self:
        """The optimizer of such a configuration."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), Mapping):
            config["learning_rate"] = deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


def _wide(dtype: Any) -> Any:
    """Where scalars are computed: half precision does not tell 0.999 from 1."""
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def _scalar(value: Any, dtype: Any) -> Any:
    """A number as rules take it: as an array of rank 0; a tracer stays one."""
    if current_graph() is None:
        return rank_0(value, dtype)
    return value.astype(dtype) if hasattr(value, "astype") else value


def _assign(variable: Variable, value: Any, whole: Any, rows: Any) -> None:
    dtype = variable.dtype
    if isinstance(value, IndexedSlices):
        values = Tensor(value.values._array.astype(dtype.numpy_dtype))
        rows(IndexedSlices(values, value.indices, value.dense_shape))
    else:
        whole(Tensor(as_tensor(value)._array.astype(dtype.numpy_dtype)))
