"""A compiled function in a file: StableHLO, the values of the variables, and nothing of Python."""

from __future__ import annotations

import io
import json
import os
import zipfile
from operator import le
from typing import Any, NamedTuple

import jax
import jax.export
import numpy as np

from ..core.convert import as_tensor
from ..core.errors import InvalidArgumentError
from ..core.files import replacing
from ..core.placement import on_host
from ..core.tensor import Tensor
from .capacity import enough_for

_FORMAT = 1


class ExportedFunction:
    """A function without its Python: the program, and the state that it reads and assigns."""

    def __init__(self, exported: Any, description: dict[str, Any], state: list[Any]) -> None:
        self._exported = exported
        self._description = description
        self._state = state
        self._random = np.random.default_rng()
        # How many rounds of each loop without a bound are kept.
        self._rounds: list[int] = description.get("rounds", [])
        self.name = description["name"]

    @property
    def stablehlo(self) -> str:
        """The program as text."""
        return str(self._exported.mlir_module())

    def __call__(self, *tensors: Any) -> Any:
        """The results for these tensors, in the order of the signature."""
        wanted = self._description["inputs"]
        if len(tensors) != len(wanted):
            raise InvalidArgumentError(
                f"{self.name}: the exported function takes {len(wanted)} tensors, and got "
                f"{len(tensors)}."
            )
        given = []
        for i, (value, (dtype, shape)) in enumerate(zip(tensors, wanted, strict=True)):
            x = as_tensor(value, op=self.name)
            if x.dtype.name != dtype or list(x.shape) != shape:
                raise InvalidArgumentError(
                    f"{self.name}: tensor {i} must be {dtype} of shape {tuple(shape)}, and is "
                    f"{x.dtype.name} of shape {x.shape}."
                )
            given.append(x._array)
        keys = [
            self._random.integers(0, 2**32, 2, np.uint32) for _ in range(self._description["draws"])
        ]
        outputs = self._run([*given, *self._state, *keys])
        count = len(outputs) - len(self._description["assigned"])
        for i, value in zip(self._description["assigned"], outputs[count:], strict=True):
            self._state[i] = value
        return results_of(self._description["result"], map(Tensor, outputs[:count]))

    def _run(self, arrays: list[Any]) -> list[Any]:
        """The outputs of the program, run again if it could not keep all rounds of its loops."""
        with jax.enable_x64(True):
            if not self._rounds:
                return [np.asarray(y) for y in self._exported.call(*arrays)]
            while True:
                room = np.empty((*self._rounds, 0), np.float32)
                outputs = [np.asarray(y) for y in self._exported.call(*arrays, room)]
                end = len(outputs) - len(self._rounds)
                made = [int(n) for n in outputs[end:]]
                if all(map(le, made, self._rounds)):
                    return outputs[:end]
                self._rounds = list(map(enough_for, made, self._rounds))

    def save(self, path: Any) -> None:
        """Write the function to a file, whole or not at all."""
        arrays = {f"state_{i}": np.asarray(value) for i, value in enumerate(self._state)}
        arrays["program"] = np.frombuffer(self._exported.serialize(), np.uint8)
        arrays["description"] = np.frombuffer(json.dumps(self._description).encode(), np.uint8)
        with replacing(os.fspath(path)) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        inputs = ", ".join(f"{dtype}{shape}" for dtype, shape in self._description["inputs"])
        return f"<exported function {self.name}({inputs})>"


def load(path: Any) -> ExportedFunction:
    """A function that `fn.export(...).save(path)` wrote. The file holds no code of Python."""
    with open(path, "rb") as content:
        whole = io.BytesIO(content.read())
    try:
        with np.load(whole, allow_pickle=False) as file:
            description = json.loads(bytes(file["description"]))
            program = bytearray(bytes(file["program"]))
            state = [file[f"state_{i}"] for i in range(description["variables"])]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidArgumentError(
            f"function.load: {os.fspath(path)!r} is not an exported function: {error}."
        ) from None
    if description.get("format") != _FORMAT:
        raise InvalidArgumentError(
            f"function.load: {os.fspath(path)!r} has format {description.get('format')!r}; this "
            f"version reads {_FORMAT}."
        )
    return ExportedFunction(jax.export.deserialize(program), description, state)


def export(concrete: Any) -> ExportedFunction:
    """The program of a ConcreteFunction, for the platform that it runs on."""
    inputs, variables, draws = concrete.inputs_outside()
    exported = concrete.program.exported()
    description = {
        "format": _FORMAT,
        "name": concrete.name,
        "inputs": [[x.dtype.name, list(x.shape)] for x in inputs],
        "variables": len(variables),
        "assigned": concrete.assigned,
        "draws": draws,
        "rounds": [capacity.rows for capacity in concrete.program.counted],
        "result": concrete.described_result(_packed),
    }
    state = [np.asarray(on_host(v._cell.read()._array)) for v in variables]
    return ExportedFunction(exported, description, state)


class SavedTrace(NamedTuple):
    """A trace as it stands in a saved model: what it is, its program, and its derivative."""

    description: dict[str, Any]
    forward: bytes
    backward: bytes | None


def saved_trace(concrete: Any) -> SavedTrace:
    """A trace without its Python, whose sizes may be open, with its derivative.

    The programs take the arguments, then the open sizes as the shape of an empty array, then the
    variables and random keys. The first gives the results, the assigned values and the residuals;
    the second takes residuals and cotangents of results, and gives those of the sources.
    """
    program = concrete.program
    inputs, is_open = concrete.inputs_of_program()
    rounds = [capacity.rows for capacity in program.counted]
    residuals: list[Any] = []
    backward = gradient = None
    seeds, sources = concrete.differentiable()
    if seeds and sources and not rounds:
        pullback = program.pullback(tuple(seeds), tuple(sources), densely=True)
        residuals = pullback.residuals
        if not pullback.program.counted:
            backward = bytes(pullback.program.exported().serialize())
            present = [g is not None for g in pullback.results]
            numbers = [number for number, g in zip(sources.values(), present, strict=True) if g]
            gradient = {"seeds": list(seeds.values()), "sources": numbers}
    if backward is None:
        residuals = []
    forward = program.with_outputs([*program.outputs, *residuals]).exported()
    description = {
        "name": concrete.name,
        "inputs": inputs,
        "sizes": is_open,
        "assigned": concrete.assigned,
        "draws": len(concrete.graph.feeds),
        "rounds": rounds,
        "outputs": len(program.outputs),
        "result": concrete.described_result(_packed),
        "gradient": gradient,
    }
    return SavedTrace(description, bytes(forward.serialize()), backward)


def _packed(structure: Any, leaf: Any) -> Any:
    """A structure of results as JSON; `leaf(mark)` describes a leaf."""
    if isinstance(structure, dict):
        # In the order in which `nest` flattens them.
        return {"dict": [[key, _packed(structure[key], leaf)] for key in sorted(structure)]}
    if isinstance(structure, (list, tuple)):
        kind = "list" if isinstance(structure, list) else "tuple"
        return {kind: [_packed(v, leaf) for v in structure]}
    return leaf(structure)


def results_of(description: Any, tensors: Any) -> Any:
    """The results of a function in the structure that it returned, with these tensors."""
    if description is None:
        return None
    if "dict" in description:
        return {key: results_of(v, tensors) for key, v in description["dict"]}
    for kind, make in (("list", list), ("tuple", tuple)):
        if kind in description:
            return make(results_of(v, tensors) for v in description[kind])
    if "constant" in description:
        return Tensor(np.array(description["constant"], description["dtype"]))
    return next(tensors)
