"""A trace of a saved model: run by XLA, and differentiated by the program saved beside it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le
from typing import Any

import jax
import jax.export
import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import as_dtype
from ...core.errors import NoGradientError
from ...core.tensor import Tensor, zeros_of
from ...core.tracing import current_graph
from ...function.capacity import enough_for
from ...function.export import results_of
from ...ops.random.sequence import generator_for
from ...tape.custom import custom_gradient
from ...tape.type_specs import TensorSpec
from ...tape.variable import Variable


class LoadedTrace:
    """A function for one signature: a program, and the variables that it reads and assigns."""

    def __init__(
        self,
        description: dict[str, Any],
        programs: tuple[bytes, bytes | None],
        variables: Sequence[Variable],
        arguments: list[tuple[str, Any]],
    ) -> None:
        self._description = description
        self.name: str = description["name"]
        self.variables = tuple(variables)
        self.arguments = arguments  # names and structures of TensorSpecs and plain values
        self._forward = _program(programs[0])
        self._backward = None if programs[1] is None else _program(programs[1])
        self._rounds: list[int] = description["rounds"]

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if v.trainable)

    @property
    def specs(self) -> list[TensorSpec]:
        return [TensorSpec(shape, as_dtype(dtype)) for dtype, shape in self._description["inputs"]]

    @property
    def structured_outputs(self) -> Any:
        outputs = self._forward.out_avals[: self._description["outputs"]]
        specs = [TensorSpec([_size(n) for n in y.shape], as_dtype(y.dtype)) for y in outputs]
        return results_of(self._description["result"], iter(specs))

    def run(self, tensors: list[Tensor]) -> Any:
        """The results for the tensors among the arguments."""
        count = self._description["outputs"]

        @custom_gradient
        def program(*inputs: Any) -> tuple[list[Tensor], Any]:
            given = [as_tensor(x)._array for x in inputs]
            outputs = self._run(given[: len(tensors)], given[len(tensors) :])
            residuals = outputs[count:]

            @custom_gradient
            def derivative(*both: Any) -> tuple[list[Any], Any]:
                upstream = both[len(inputs) :]
                return self._pull(inputs, residuals, upstream), self._refuse_second_order

            def gradient(*upstream: Tensor) -> list[Any]:
                return derivative(*inputs, *upstream)

            return [Tensor(y) for y in outputs[:count]], gradient

        outputs = program(*tensors, *self.variables)
        assigned = self._description["assigned"]
        for number, value in zip(assigned, outputs[count - len(assigned) :], strict=True):
            self.variables[number].assign(value)
        return results_of(self._description["result"], iter(outputs))

    def _run(self, arguments: list[Any], state: list[Any]) -> list[Any]:
        arrays = [*arguments]
        sizes = self._description["sizes"]
        if sizes:
            shape = [arguments[number].shape[axis] for number, axis in sizes]
            arrays.append(_empty((*shape, 0), np.bool_))
        arrays += state
        arrays += [_random_key() for _ in range(self._description["draws"])]
        if not self._rounds:
            return _call(self._forward, arrays)
        while True:  # again, if it could not keep all rounds of its loops
            room = np.empty((*self._rounds, 0), np.float32)
            outputs = _call(self._forward, [*arrays, room])
            end = len(outputs) - len(self._rounds)
            if current_graph() is not None:
                return outputs[:end]
            made = [int(n) for n in outputs[end:]]
            if all(map(le, made, self._rounds)):
                return outputs[:end]
            self._rounds = list(map(enough_for, made, self._rounds))

    def _refuse_second_order(self, *upstream: Any) -> None:
        raise NoGradientError(
            f"{self.name}: a function of a saved model can be differentiated once. For second "
            "derivatives, use the function itself, not what was saved of it."
        )

    def _pull(self, inputs: Any, residuals: list[Any], upstream: Any) -> list[Any]:
        described = self._description["gradient"]
        if described is None or self._backward is None:
            raise NoGradientError(
                f"{self.name}: the saved model has no derivative of this function: it has a loop "
                "without a bound, or none of its results depends smoothly on its inputs."
            )
        cotangents = []
        for numbers in described["seeds"]:
            total = upstream[numbers[0]]
            for number in numbers[1:]:
                total = total + upstream[number]
            cotangents.append(total._array)
        found = _call(self._backward, [*residuals, *cotangents])
        arguments = len(self._description["inputs"])
        shift = bool(self._description["sizes"])  # the sizes stand behind the arguments
        gradients: list[Any] = [None] * len(inputs)
        for number, g in zip(described["sources"], found, strict=True):
            gradients[number if number < arguments else number - shift] = Tensor(g)
        return [
            zeros_of(as_tensor(x)) if g is None and as_tensor(x).dtype.is_floating else g
            for g, x in zip(gradients, inputs, strict=True)
        ]


def _program(serialized: bytes) -> Any:
    return jax.export.deserialize(bytearray(serialized))


def _call(program: Any, arrays: list[Any]) -> list[Any]:
    with jax.enable_x64(True):
        outputs = program.call(*arrays)
        return outputs if current_graph() is not None else [np.asarray(y) for y in outputs]


def _empty(shape: Any, dtype: Any) -> Any:
    if all(isinstance(n, int) for n in shape):
        return np.empty(shape, dtype)
    return jax.numpy.zeros(shape, dtype)  # a size is open, in a function being traced


def _size(n: Any) -> int | None:
    return n if isinstance(n, int) else None


def _random_key() -> Any:
    """Two random words, from the sequence that tf.random.set_seed begins."""
    return generator_for(op="saved_model").integers(0, 2**32, 2, np.uint32)
