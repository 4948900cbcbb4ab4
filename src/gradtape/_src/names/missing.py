"""Errors for names that gradtape does not have.

A name of TensorFlow (`tensorflow_names.txt`) gets the sentence written for it (`advice.txt`), which
says what to use instead. Any other name gets the one that it may mean: what the function of that
name in NumPy, PyTorch or JAX is here, the same name in another namespace, or that of which it is a
slip.
"""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ..ops.foreign import FUNCTIONS
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
    home, _, name = path.removeprefix("keras.").rpartition(".")
    said = None
    if path in _tensorflow_names() or path in _sentences() or home not in _namespaces():
        said = advice(path)
    said = said or _guess(home, name, root) or advice(path) or ""
    if not said.endswith("."):
        said += f"dir({_join('gradtape', home).rstrip('.')}) lists what is there."
    return f"{root}.{path}: gradtape {__version__} does not have it. {said}"


def _guess(home: str, name: str, root: str) -> str | None:
    """What is said of a name that TensorFlow does not have; None if nothing is like it."""
    known = name if home in ("", "math", "linalg", "nn") else _join(home, name)
    if known in FUNCTIONS:
        return f"Write {FUNCTIONS[known]}."
    close = _elsewhere(name)[:3] or [_join(home, there) for there in _slips(home, name)]
    return f"Close to it: {', '.join(f'{root}.{match}' for match in close)}. " if close else None


def _elsewhere(name: str) -> list[str]:
    """The same name in other namespaces; failing that, spelt otherwise: `is_nan` for `isnan`."""
    spaces = _namespaces()
    same = [_join(space, name) for space in spaces if name in spaces[space]]
    return same or [
        _join(space, there)
        for space in spaces
        for there in spaces[space]
        if _letters(there) == _letters(name)
    ]


def _slips(home: str, name: str) -> list[str]:
    """The names of `home` of which `name` is a slip of the pen.

    What is less alike is another function: `amax` is not `argmax`, `assign` not `sign`. So is what
    differs in a short name, in the first letter, or in a digit: `cat` is not `cast`, `erfcx` not
    `erfc`, `istft` not `stft`, `conv4d` not `conv2d`. (A letter that is doubled is a slip.)
    """
    names = _namespaces().get(home, [])
    sized = [there for there in names if re.fullmatch(rf"{re.escape(name)}\d+", there)]
    if sized and name[-1:].isalpha():  # `float`, `int`
        return sized
    if name.endswith("s") and name[:-1] in names:
        return [name[:-1]]
    slips = {there: _edits(name, there) for there in names if _may_be_slip(name, there)}
    least = min(slips.values(), default=9)
    return [there for there in slips if slips[there] == least <= (1 if len(name) < 10 else 2)][:3]


def _may_be_slip(name: str, there: str) -> bool:
    alike = name[:1] == there[0] and re.findall(r"\d", name) == re.findall(r"\d", there)
    added = name[:-1] == there and name[-1:] != name[-2:-1]
    return alike and len(name) > (6 if added else 4)


def _edits(a: str, b: str) -> int:
    """How many letters were added, left out, replaced or exchanged with the next to make b of a."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        before, last = row, before
        row = [i + 1]
        for j, y in enumerate(b):
            edits = [before[j] + (x != y), before[j + 1] + 1, row[j] + 1]
            if i and j and (x, y) == (b[j - 1], a[i - 1]):
                edits.append(last[j - 1] + 1)
            row.append(min(edits))
    return row[-1]


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


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
