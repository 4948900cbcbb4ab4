"""The state of an optimizer: its variables, and how they are made, saved and set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, overload

import numpy as np

from ...core.dtypes import as_dtype, float32
from ...core.errors import ShapeError
from ...core.notebook import card
from ...core.placement import CPU, GPU
from ...core.trackable import Trackable, restore_deferred
from ...tape.scopes import device, name_scope
from ...tape.variable import Variable
from ..module import snake_case

_names: Counter[str] = Counter()


def _whole_or_not(build: Callable[..., None]) -> Callable[..., None]:
    """A method `build` that makes nothing if an exception, such as an interrupt, ends it."""

    @wraps(build)
    def whole(self: State, *args: Any, **kwargs: Any) -> None:
        before = {**vars(self), "_variables": list(self._variables)}
        try:
            build(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return whole


class State(Trackable):
    """The variables of an optimizer, in the order in which they were made."""

    def __init__(self, name: str | None) -> None:
        self._title = type(self).__name__
        self.name = name or _new_name(self._title)
        self.built = False
        self._variables: list[Variable] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = _whole_or_not(vars(cls)["build"])  # type: ignore[attr-defined]

    @property
    def variables(self) -> list[Variable]:
        """The state: the count of steps, the learning rate, and what the slots hold."""
        return list(self._variables)

    def _repr_html_(self: Any) -> str:  # (of an Optimizer, which has settings and steps)
        settings = {name: value for name, value in self.get_config().items() if value is not None}
        settings.pop("name", None)
        size = sum([v._cell.array().nbytes for v in self._variables])
        state = f"{len(self._variables)} variables, {size:,} bytes"
        return card(self.name, {"steps": int(self.iterations), **settings, "state": state})

    def add_variable(
        self,
        shape: Any,
        initializer: Any = "zeros",
        dtype: Any = None,
        aggregation: str = "none",
        layout: Any = None,
        name: str | None = None,
    ) -> Variable:
        """A new variable of the optimizer's state.

        `initializer` is "zeros", "ones", a number, or a function of the shape and the dtype.
        """
        return self._add_variable(shape, initializer, dtype, name, CPU)

    def _add_variable(
        self, shape: Any, initializer: Any, dtype: Any, name: str | None, kind: str
    ) -> Variable:
        """On a device of this kind: counters and rates on the host, where a step begins."""
        dtype = as_dtype(dtype or float32)
        value = initializer
        if callable(initializer):
            value = initializer(tuple(shape), dtype)
        elif initializer in ("zeros", 0.0):
            value = np.zeros(shape, dtype.numpy_dtype)
        else:
            value = np.full(shape, 1 if initializer == "ones" else initializer, dtype.numpy_dtype)
        with name_scope(self.name), device(kind):
            variable = Variable(value, trainable=False, dtype=dtype, name=name)
        self._variables.append(variable)
        if self.built:
            restore_deferred(self)
        return variable

    def add_variable_from_reference(
        self, reference_variable: Variable, name: str | None = None, initializer: Any = "zeros"
    ) -> Variable:
        """A new variable of the state, with shape and dtype of another one and named after it."""
        prefix = re.sub("[/:]", "_", reference_variable.name)
        return self._add_variable(
            reference_variable.shape,
            initializer,
            reference_variable.dtype,
            f"{prefix}_{name or 'var'}",
            CPU if reference_variable._cell.card is None else GPU,
        )

    @overload
    def add_optimizer_variables(
        self, trainable_variables: Sequence[Variable], name: str, initializer: Any = "zeros"
    ) -> list[Variable]: ...
    @overload
    def add_optimizer_variables(
        self,
        trainable_variables: Sequence[Variable],
        name: list[str] | tuple[str, ...],
        initializer: Any = "zeros",
    ) -> list[list[Variable]]: ...
    def add_optimizer_variables(
        self, trainable_variables: Sequence[Variable], name: Any, initializer: Any = "zeros"
    ) -> Any:
        """For each variable one of the state; with a list of names, a list of these lists."""
        names = [name] if isinstance(name, str) else list(name)
        many = isinstance(initializer, (list, tuple))
        initializers = initializer if many else [initializer] * len(names)
        made = [
            [
                self.add_variable_from_reference(variable, each, make)
                for each, make in zip(names, initializers, strict=True)
            ]
            for variable in trainable_variables
        ]
        columns = [list(column) for column in zip(*made, strict=True)] or [[] for _ in names]
        return columns[0] if isinstance(name, str) else columns

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the state, in the order of `variables`."""
        if not self.built:
            raise ValueError(
                f"{self._title}.set_weights: the optimizer is not built and has no state yet. Call "
                "optimizer.build(variables) first."
            )
        self.load_own_variables({str(i): weight for i, weight in enumerate(weights)})

    def save_own_variables(self, store: dict[str, Any]) -> None:
        """Write the state into `store`, under numbers in the order of `variables`."""
        store |= {str(i): variable.numpy() for i, variable in enumerate(self.variables)}

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Set the state to what `save_own_variables` wrote."""
        variables = self.variables
        if len(store) != len(variables):
            raise ValueError(
                f"{self._title}: the state has {len(variables)} variables, and {len(store)} values "
                "are given. Build the optimizer with the variables that it had."
            )
        values = [np.asarray(store[str(i)]) for i in range(len(variables))]
        for variable, value in zip(variables, values, strict=True):
            if value.shape != tuple(variable.shape):
                raise ShapeError(
                    f"{self._title}: the state {variable.name!r} has shape {variable.shape}, and "
                    f"its value {value.shape}. Build the optimizer with the variables that it had."
                )
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)


def _new_name(title: str) -> str:
    name = snake_case(title)
    number = _names[name]
    _names[name] += 1
    return f"{name}_{number}" if number else name
