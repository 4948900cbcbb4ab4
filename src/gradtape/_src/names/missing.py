"""Errors for names that gradtape does not have.

A name of TensorFlow (`tensorflow_names.txt`) gets the sentence written for it (`advice.txt`), which
says what to use instead. Any other name is taken for a slip, and gets the names it may mean.
"""

from __future__ import annotations

import re
import sys
from difflib import SequenceMatcher, get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ..version import __version__


def missing_name(space: str, name: str) -> AttributeError | ImportError:
    """The error for `name` looked up in the module `space`, to be raised by `__getattr__`."""
    if name.startswith("_"):
        # Asked for by tools that probe (inspect, copy, notebooks), which read no message.
        return AttributeError(f"module {space!r} has no attribute {name!r}")
    path = _path(f"{space}.{name}")
    if _asked_by_from_import():
        root = "tensorflow" if "tensorflow" in sys.modules else "gradtape"
        return ImportError(_message(path, root), name=f"{root}.{path}")
    # With obj=None, or Python would add a "Did you mean" of its own to the close matches here.
    return AttributeError(_message(path, "tf"), name=name, obj=None)


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for the import of `tensorflow.x.y`."""
    return ModuleNotFoundError(_message(_path(name), "tensorflow"), name=name)


def advice(path: str) -> str | None:
    """The sentence on a name of TensorFlow's, given without `tf.`; None for any other name."""
    patterns = [pattern for pattern in _sentences() if fits(pattern, path)]
    return _sentences()[max(patterns, key=len)] if patterns else None


def fits(pattern: str, path: str) -> bool:
    """Whether a pattern of advice.txt is for the name `path`."""
    if "*" in pattern:  # names of one namespace
        same_home = pattern.rpartition(".")[0] == path.rpartition(".")[0]
        return same_home and fnmatchcase(path, pattern) and path in _tensorflow_names()
    return path == pattern or path.startswith(f"{pattern}.")


def _asked_by_from_import() -> bool:
    """Whether the lookup is that of `from x import name`, which then fails with this error."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame.f_code.co_name == "_handle_fromlist"


def _path(name: str) -> str:
    """A dotted name without its root; what is Keras' by its place there."""
    path = name.partition(".")[2]
    return f"keras.{path}" if path.split(".")[0] in ("optimizers", "utils") else path


def _message(path: str, root: str) -> str:
    said = advice(path)
    if said is None:
        home, _, name = path.removeprefix("keras.").rpartition(".")
        close = ", ".join(f"{root}.{match}" for match in _close(home, name))
        said = f"Close to it: {close}. " * bool(close)
        said += f"dir({_join('gradtape', home).rstrip('.')}) lists what is there."
    return f"{root}.{path}: gradtape {__version__} does not have it. {said}"


def _close(home: str, name: str) -> list[str]:
    """The same name in other namespaces; if there is none, the names of `home` most like it.

    What is less alike is another function: `amax` is not `argmax` (0.8), `assign` not `sign`.
    """
    spaces = _namespaces()
    same = [_join(space, name) for space in spaces if name in spaces[space]]
    alike = get_close_matches(name, spaces.get(home, []), n=3, cutoff=0.82)
    ratios = [SequenceMatcher(None, match, name).ratio() for match in alike]
    best = [match for match, ratio in zip(alike, ratios, strict=True) if ratio == ratios[0]]
    return same[:3] or [_join(home, match) for match in best]


@cache
def _namespaces() -> dict[str, list[str]]:
    """The names in each namespace. All are imported, but not what their names stand for."""
    names, spaces = {}, ["gradtape"]
    for space in spaces:
        module = import_module(space)
        names[space.partition(".")[2]] = module.__all__
        below = {file.name for file in iter_modules(module.__path__)}
        below -= {"compat", "keras", "testing"}
        spaces += [f"{space}.{name}" for name in sorted(below.intersection(module.__all__))]
    return names


@cache
def _tensorflow_names() -> frozenset[str]:
    lines = re.findall(r"^tf\.?(\S*): (.*)$", _text("tensorflow_names.txt"), re.MULTILINE)
    return frozenset(_join(home, name) for home, names in lines for name in names.split())


@cache
def _sentences() -> dict[str, str]:
    """The sentences of advice.txt by the patterns they are for."""
    blocks = re.findall(r"((?:^[^#\s].*\n)+)((?:^ .*\n)+)", _text("advice.txt"), re.MULTILINE)
    return {pattern: " ".join(said.split()) for names, said in blocks for pattern in names.split()}


def _text(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")


def _join(home: str, name: str) -> str:
    return f"{home}.{name}" if home else name
