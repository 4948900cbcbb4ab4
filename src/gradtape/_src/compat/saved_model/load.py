"""load: the objects of a folder that `save` wrote, with their functions as programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import DTypeError, InvalidArgumentError, UnimplementedError
from ...core.tensor import Tensor
from ...core.trackable import AutoTrackable
from ...tape.type_specs import TensorSpec
from ...tape.variable import Variable
from ...train.checkpoint.safetensors import SafetensorsFile
from ...version import VERSION
from .save import FORMAT, MODEL, PROGRAMS, VARIABLES
from .structure import unpacked
from .trace import LoadedTrace


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """The object that `tf.saved_model.save` wrote into a folder.

    It has the attributes that it had, as far as they are saved: variables, lists, dicts, objects,
    and functions, which compute what they computed and can be differentiated once. `signatures` has
    those that were named.
    """
    folder = Path(os.fspath(export_dir))
    _check(folder)
    try:
        wants_aliases = getattr(options, "experimental_load_function_aliases", False)
        return _Loading(folder).root(wants_aliases)
    except (KeyError, ValueError, TypeError, json.JSONDecodeError) as error:
        raise InvalidArgumentError(
            f"saved_model.load: {os.fspath(export_dir)!r} is damaged: {error}."
        ) from error


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder is one that `tf.saved_model.save` wrote."""
    return (Path(os.fspath(export_dir)) / MODEL).is_file()


def _check(folder: Path) -> None:
    if contains_saved_model(folder):
        return
    if any((folder / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt")):
        raise UnimplementedError(
            f"saved_model.load: {str(folder)!r} is a SavedModel of TensorFlow, a graph of its ops, "
            "which gradtape does not read. Save the weights with TensorFlow (a .keras or "
            ".weights.h5 file of Keras, for instance), and load them into the model here."
        )
    raise FileNotFoundError(f"saved_model.load: there is no saved model at {str(folder)!r}.")


class _Loading:
    """A folder on its way into objects: each node becomes one, made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._description = json.loads((folder / MODEL).read_text(encoding="utf-8"))
        if self._description.get("format") != FORMAT:
            raise InvalidArgumentError(
                f"saved_model.load: {str(folder)!r} has format "
                f"{self._description.get('format')!r}; this version reads {FORMAT}."
            )
        with open(folder / VARIABLES, "rb") as file:
            content = SafetensorsFile(file)
            self._variables = [
                Variable(
                    Tensor(content.read(str(i))), trainable=each["trainable"], name=each["name"]
                )
                for i, each in enumerate(self._description["variables"])
            ]
        self._folder = folder
        self._traces: dict[int, LoadedTrace] = {}
        self._made: dict[int, Any] = {}

    def root(self, wants_aliases: bool) -> Any:
        loaded = self.node(self._description["root"])
        signatures = {
            name: Signature(name, self.trace(each["trace"]), each["names"])
            for name, each in self._description["signatures"].items()
        }
        loaded.signatures = SignatureMap(signatures)
        loaded.tensorflow_version = VERSION
        aliases = self._description["aliases"]
        if wants_aliases:
            loaded.function_aliases = {name: self.node(n) for name, n in aliases.items()}
        return loaded

    def node(self, number: int) -> Any:
        if number in self._made:
            return self._made[number]
        described = self._description["nodes"][number]
        if "variable" in described:
            made: Any = self._variables[described["variable"]]
        elif "function" in described:
            traces = [self.trace(n) for n in described["function"]]
            made = LoadedFunction(described["name"], traces)
        elif "object" in described:
            children = described["object"]
            made = CallableObject() if "__call__" in children else LoadedObject()
            self._made[number] = made  # before its children: they may lead back to it
            for name, child in children.items():
                object.__setattr__(made, "_call" if name == "__call__" else name, self.node(child))
        elif "dict" in described:
            made = self._made[number] = {}
            made.update({name: self.node(child) for name, child in described["dict"].items()})
        else:
            ((kind, parts),) = described.items()
            made = [self.node(part) for part in parts]
            made = tuple(made) if kind == "tuple" else made
        self._made[number] = made
        return made

    def trace(self, number: int) -> LoadedTrace:
        if number not in self._traces:
            described = self._description["traces"][number]
            programs = [None if n is None else self._program(n) for n in described["programs"]]
            self._traces[number] = LoadedTrace(
                described,
                tuple(programs),  # type: ignore[arg-type]
                [self._variables[n] for n in described["variables"]],
                [(name, unpacked(value)) for name, value in described["arguments"]],
            )
        return self._traces[number]

    def _program(self, number: int) -> bytes:
        return (self._folder / PROGRAMS / f"{int(number)}.stablehlo").read_bytes()


class LoadedObject(AutoTrackable):
    """An object of a saved model: it has the attributes that were saved, but not its class."""

    signatures: SignatureMap


class CallableObject(LoadedObject):
    """One whose `__call__` was saved."""

    _call: LoadedFunction

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


class LoadedFunction:
    """A function of a saved model: for each signature it was traced for, a program."""

    def __init__(self, name: str, traces: list[LoadedTrace]) -> None:
        self.name = name
        self.__name__ = name
        self.concrete_functions = traces

    def _list_all_concrete_functions(self) -> list[LoadedTrace]:
        return self.concrete_functions

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.concrete_functions:
            raise ValueError(
                f"{self.name}: Found zero restored functions for caller function. It had not been "
                "called, and has no `input_signature`, when it was saved."
            )
        for trace in self.concrete_functions:
            tensors = _fitting(trace, args, kwargs)
            if tensors is not None:
                return trace.run(tensors)
        options = "\n".join(f"  {_shown(trace)}" for trace in self.concrete_functions)
        raise ValueError(
            f"{self.name}: Could not find matching concrete function to call loaded from the "
            f"SavedModel. Got {args!r:.200} and {kwargs!r:.200}. Expected one of:\n{options}"
        )

    def __repr__(self) -> str:
        return f"<function {self.name} of a saved model>"


class SignatureMap(Mapping[str, "Signature"]):
    """The signatures of a saved model, by name."""

    def __init__(self, signatures: dict[str, Signature]) -> None:
        self._signatures = signatures

    def __getitem__(self, name: str) -> Signature:
        return self._signatures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures!r})"


class Signature:
    """A function that takes tensors by name and gives a dict of tensors."""

    def __init__(self, name: str, trace: LoadedTrace, names: list[str]) -> None:
        self.name = name
        self._trace = trace
        self._names = names

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self._trace.variables

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return self._trace.trainable_variables

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, TensorSpec]]:
        pairs = zip(self._names, self._trace.specs, strict=True)
        return (), {name: TensorSpec(spec.shape, spec.dtype, name) for name, spec in pairs}

    @property
    def structured_outputs(self) -> dict[str, Any]:
        outputs = _as_dict(self._trace.structured_outputs)
        return {name: TensorSpec(y.shape, y.dtype, name) for name, y in outputs.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        given = dict(zip(self._names, args, strict=False)) | kwargs
        if len(args) > len(self._names) or given.keys() != set(self._names):
            raise TypeError(
                f"{self.name}: the signature takes {', '.join(self._names) or 'nothing'}, and got "
                f"{len(args)} by position and {', '.join(kwargs) or 'none'} by name."
            )
        tensors = []
        for name, spec in zip(self._names, self._trace.specs, strict=True):
            tensor = _as_spec(given[name], spec)
            if tensor is None:
                raise InvalidArgumentError(
                    f"{self.name}: `{name}` must be a {spec}, and is {given[name]!r:.100}."
                )
            tensors.append(tensor)
        return _as_dict(self._trace.run(tensors))

    def __repr__(self) -> str:
        return f"<signature {self.name}({', '.join(self._names)}) of a saved model>"


def _as_dict(result: Any) -> dict[str, Any]:
    """The results by name; those without one are numbered."""
    if isinstance(result, dict):
        return result
    return {f"output_{i}": y for i, y in enumerate(nest.flatten(result))}


def _fitting(trace: LoadedTrace, args: Any, kwargs: Any) -> list[Tensor] | None:
    """The tensors among the arguments, if these are what a trace is for; else None."""
    names = [name for name, _ in trace.arguments]
    if len(args) > len(names) or not kwargs.keys() <= set(names[len(args) :]):
        return None
    given = dict(zip(names, args, strict=False)) | kwargs
    tensors: list[Tensor] = []
    for name, wanted in trace.arguments:
        value = given.get(name, wanted)
        if not _gather(value, wanted, tensors):
            return None
    return tensors


def _gather(value: Any, wanted: Any, tensors: list[Tensor]) -> bool:
    """Add the tensors of an argument to `tensors`; give whether it is nested as wanted."""
    if isinstance(wanted, TensorSpec):
        tensor = None if isinstance(value, TensorSpec) else _as_spec(value, wanted)
        if tensor is None:
            return False
        tensors.append(tensor)
        return True
    if isinstance(wanted, dict):
        return (
            isinstance(value, Mapping)
            and value.keys() == wanted.keys()
            and all([_gather(value[key], wanted[key], tensors) for key in sorted(wanted)])
        )
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(wanted)
            and all([_gather(v, w, tensors) for v, w in zip(value, wanted, strict=True)])
        )
    return type(value) is type(wanted) and bool(value == wanted)


def _as_spec(value: Any, spec: TensorSpec) -> Tensor | None:
    """The value as a tensor of this dtype and shape; None if it cannot be one."""
    try:
        if not hasattr(value, "dtype") or isinstance(value, (np.ndarray, np.generic)):
            value = as_tensor(value, spec.dtype)
        tensor = as_tensor(value)
    except (TypeError, ValueError, DTypeError):
        return None
    return tensor if spec.is_compatible_with(tensor) else None


def _shown(trace: LoadedTrace) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in trace.arguments)
