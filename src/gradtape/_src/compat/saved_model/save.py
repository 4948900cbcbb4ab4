"""save: an object, all that it leads to, and its functions, into a folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core import nest
from ...core.dtypes import string
from ...core.errors import UnimplementedError
from ...core.trackable import Trackable
from ...function.api import Function
from ...function.concrete import BoundTrace
from ...function.export import saved_trace
from ...function.method import Method
from ...tape.type_specs import TensorSpec
from ...tape.variable import Variable, variable_of
from ...train.checkpoint import safetensors
from .structure import packed

FORMAT = 1
MODEL = "model.json"
VARIABLES = "variables.safetensors"
PROGRAMS = "programs"
DEFAULT_SIGNATURE = "serving_default"
_DEFAULT_ATTRIBUTE = "_default_save_signature"


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Write an object into the folder `export_dir`, for `tf.saved_model.load`.

    What it leads to goes with it: variables, lists, dicts, modules and layers, and the functions
    that have been called or have an `input_signature`, as compiled programs with their derivatives.
    `signatures` are functions to be found by name, or one, "serving_default": they take tensors by
    name, and give a dict. The folder is of gradtape's own format, which TensorFlow does not read.
    """
    if not isinstance(obj, Trackable):
        raise ValueError(
            "saved_model.save: `obj` must be trackable, such as a tf.Module or a Keras layer. "
            f"Received: {obj!r:.100} of type {type(obj).__name__}."
        )
    model = _Model()
    chosen = _signatures(obj) if signatures is None else _named(signatures)
    root = model.node(obj)
    found = {name: model.signature(name, function) for name, function in chosen.items()}
    aliases = getattr(options, "function_aliases", None) or {}
    model.description |= {
        "format": FORMAT,
        "root": root,
        "signatures": found,
        "aliases": {name: model.node(function) for name, function in aliases.items()},
    }
    model.write(Path(os.fspath(export_dir)))


class _Model:
    """What is being written: nodes, each once, the variables, and the programs."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.variables: list[Variable] = []
        self.traces: list[Any] = []
        self.programs: list[bytes] = []
        self.description: dict[str, Any] = {}
        self._numbers: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._saved: dict[int, int] = {}
        self._alive: list[Any] = []  # for their ids

    def node(self, value: Any) -> int:
        """The number of the node of an object."""
        value = variable_of(value)
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        number = self._numbers[id(value)] = len(self.nodes)
        self._alive.append(value)
        self.nodes.append(None)
        self.nodes[number] = self._described(value)
        return number

    def _described(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Variable):
            return {"variable": self.variable(value)}
        if isinstance(value, (Function, Method)):
            traces = [self.trace(t) for t in _traces_of(value)]
            return {"function": traces, "name": value.name}
        if isinstance(value, BoundTrace):
            return {"function": [self.trace(value)], "name": value.name}
        if isinstance(value, Trackable) and not isinstance(value, (list, dict, tuple)):
            children = value._trackable_children("savedmodel")
            return {"object": self._children(children)}
        if isinstance(value, Mapping):
            return {"dict": self._children({k: v for k, v in value.items() if isinstance(k, str)})}
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [self.node(v) for v in value if _is_saved(v)]}

    def _children(self, children: Mapping[str, Any]) -> dict[str, int]:
        return {
            name: self.node(child)
            for name, child in children.items()
            if _is_saved(child) and name != _DEFAULT_ATTRIBUTE
        }

    def variable(self, variable: Variable) -> int:
        """The number of a variable."""
        if id(variable) not in self._places:
            self._places[id(variable)] = len(self.variables)
            self.variables.append(variable)
        return self._places[id(variable)]

    def trace(self, bound: BoundTrace) -> int:
        """The number of a trace; a function under several names is written once."""
        _refuse_text(bound.name, [bound.structured_input_signature, bound.structured_outputs])
        trace = bound.trace
        if id(trace) not in self._saved:
            description, forward, backward = saved_trace(trace)
            description["arguments"] = [
                [name, packed(value, bound.name)] for name, value in bound.named_arguments
            ]
            description["variables"] = [self.variable(v) for v in bound.variables]
            description["programs"] = [self._program(forward), self._program(backward)]
            self._saved[id(trace)] = len(self.traces)
            self._alive.append(trace)
            self.traces.append(description)
        return self._saved[id(trace)]

    def _program(self, content: bytes | None) -> int | None:
        if content is None:
            return None
        self.programs.append(content)
        return len(self.programs) - 1

    def signature(self, name: str, function: Any) -> dict[str, Any]:
        """A function as one that takes tensors by name, and gives a dict."""
        bound = _concrete(name, function)
        number = self.trace(bound)
        keys: list[str] = []
        for argument, value in bound.named_arguments:
            for spec in nest.flatten(value):
                if isinstance(spec, TensorSpec):
                    keys.append(_unused(spec.name or argument, keys))
        return {"trace": number, "names": keys}

    def write(self, folder: Path) -> None:
        """Write the folder, whole or not at all."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        arrays = {str(i): np.asarray(v.numpy()) for i, v in enumerate(self.variables)}
        described = [
            {"name": v.name.removesuffix(":0"), "trainable": v.trainable} for v in self.variables
        ]
        self.description |= {"nodes": self.nodes, "variables": described, "traces": self.traces}
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            (made / PROGRAMS).mkdir()
            for i, content in enumerate(self.programs):
                (made / PROGRAMS / f"{i}.stablehlo").write_bytes(content)
            with open(made / VARIABLES, "wb") as file:
                safetensors.write(file, arrays, {})
            (made / MODEL).write_text(json.dumps(self.description), encoding="utf-8")
            made.chmod(0o755)
            if folder.exists():
                shutil.rmtree(folder)
            made.rename(folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _is_saved(value: Any) -> bool:
    """Whether a value is of a kind that is saved, or a container that leads to one."""
    value = variable_of(value)
    if isinstance(value, Mapping):
        return any(_is_saved(part) for key, part in value.items() if isinstance(key, str))
    if isinstance(value, (list, tuple)):
        return any(map(_is_saved, value))
    return isinstance(value, (Trackable, Function, Method, BoundTrace))


def _signatures(obj: Any) -> dict[str, Any]:
    """The function that is "serving_default" if none is named: the only one that can be."""
    try:
        default = getattr(obj, _DEFAULT_ATTRIBUTE, None)
        if default is not None:
            return {DEFAULT_SIGNATURE: default.get_concrete_function()}
    except Exception:  # a layer that does not know its inputs
        pass
    children = obj._trackable_children("savedmodel").values()
    functions = [child for child in children if isinstance(child, (Function, Method))]
    possible = [f for f in functions if f.input_signature is not None and _has_results(f)]
    return {DEFAULT_SIGNATURE: possible[0]} if len(possible) == 1 else {}


def _has_results(function: Any) -> bool:
    (trace,) = _traces_of(function)
    return bool(nest.flatten(trace.structured_outputs)[:1] != [None])


def _named(signatures: Any) -> dict[str, Any]:
    if isinstance(signatures, Mapping):
        return dict(signatures)
    return {DEFAULT_SIGNATURE: signatures}


def _concrete(name: str, function: Any) -> BoundTrace:
    if isinstance(function, BoundTrace):
        return function
    if isinstance(function, (Function, Method)):
        traces = _traces_of(function)
        if len(traces) == 1:
            return traces[0]
        raise ValueError(
            f"saved_model.save: the signature {name!r} must be one trace, and {function.name} has "
            f"{len(traces)}. Give function.get_concrete_function(...), or an `input_signature`."
        )
    raise ValueError(
        f"saved_model.save: the signature {name!r} must be a tf.function or a trace of one, and is "
        f"{function!r:.100}."
    )


def _traces_of(function: Any) -> list[BoundTrace]:
    _refuse_text(function.name, function.input_signature)  # it could not even be traced
    return function._list_all_concrete_functions()  # type: ignore[no-any-return]


def _refuse_text(name: str, specs: Any) -> None:
    found = nest.flatten(specs)
    if any(isinstance(spec, TensorSpec) and spec.dtype is string for spec in found):
        raise UnimplementedError(
            f"saved_model.save: {name} takes or gives text, and XLA's programs have numbers "
            "only. Save what comes behind the text, a function of numbers."
        )


def _unused(name: str, taken: list[str]) -> str:
    """The name, with a number if it is taken."""
    candidates = [name, *(f"{name}_{i}" for i in range(1, len(taken) + 1))]
    return next(each for each in candidates if each not in taken)
