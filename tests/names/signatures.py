"""The parameters of public functions and methods as text, so that two systems can be compared.

To remake tensorflow_signatures.txt:

    TENSORFLOW_PYTHON tests/names/signatures.py
"""

import inspect
import re
import sys
import types
from enum import Enum
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE / "tensorflow_signatures.txt"
NAMES = HERE.parent.parent / "src" / "gradtape" / "_src" / "names" / "tensorflow_names.txt"
ANYTHING = "..."  # a default that is an object: it says nothing
LEFT_OUT = "distribute.", "dtensor.", "experimental.numpy.", "test.", "tpu."  # far from here


def default_text(value):
    """A default as both systems write it."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if hasattr(value, "as_numpy_dtype"):
        return f"tf.{value.name}"
    if isinstance(value, (list, tuple)):
        return f"({' '.join(map(default_text, value))})"
    plain = value is None or isinstance(value, (bool, int, float, str))
    return repr(value) if plain else ANYTHING


def signature_text(function):
    """The parameters, as in `x, axis=None, *, name=None`; None where Python does not know them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    words, marked = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not marked:
            words.append("*")
        marked = marked or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={default_text(p.default)}"
        words.append(f"{stars}{p.name}{default}")
    return ", ".join(words)


def parts(kind):
    """(name, function without `self`) for a class itself, as "", and each public method."""
    yield "", constructor(kind)
    for name in dir(kind):
        if name.startswith("_") and name != "__call__":
            continue
        raw = inspect.getattr_static(kind, name)
        if isinstance(raw, (staticmethod, classmethod)):
            yield name, getattr(kind, name)
        elif callable(raw) and not isinstance(raw, type):
            yield name, unbound(getattr(kind, name))


def constructor(kind):
    """`kind` as a function: what its `__init__` takes, or its `__new__`."""
    if issubclass(kind, Enum):
        return None
    for name in ("__init__", "__new__"):
        function = getattr(kind, name)
        if function is not getattr(object, name) and not isinstance(
            function, (types.WrapperDescriptorType, types.BuiltinFunctionType)
        ):
            return unbound(function)
    return None


def unbound(method):
    """A method as a function without its first parameter."""

    def function(): ...

    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return None
    function.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    return function


def public_names():
    text = NAMES.read_text(encoding="utf-8")
    for module, names in re.findall(r"^tf\.?(\S*): (.*)$", text, re.MULTILINE):
        for name in names.split():
            yield f"{module}.{name}".lstrip(".")


def resolve(root, path):
    for part in path.split("."):
        root = getattr(root, part)
    return root


def listed(tf):
    """{signature: the names that have it} of every public function and method of `tf`."""
    values = {}
    for path in public_names():
        try:
            values[path] = resolve(tf, path)
        except (AttributeError, ImportError):
            continue
    classes = {value for value in values.values() if isinstance(value, type)}
    found = {}
    for path, value in values.items():
        if callable(value) and not path.startswith(LEFT_OUT):
            for name, function in parts_listed(value, classes):
                text = None if function is None else signature_text(function)
                if text is not None:
                    found.setdefault(text, []).append(f"{path}.{name}".rstrip("."))
    return found


def parts_listed(value, classes):
    """The parts of a class but those that it inherits from another of `classes`; or a function."""
    if not isinstance(value, type):
        return [("", value)]
    bases = [base for base in value.__mro__[1:] if base in classes]
    static = inspect.getattr_static
    return [
        (name, function)
        for name, function in parts(value)
        if not name or not any(static(b, name, None) is static(value, name) for b in bases)
    ]


def main():
    import tensorflow as tf

    lines = [f"({text}) {' '.join(names)}" for text, names in sorted(listed(tf).items())]
    head = f"# The parameters of TensorFlow {tf.__version__}, and the names that have them."
    FILE.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    print(f"{len(lines)} signatures in {FILE}")


if __name__ == "__main__":
    sys.exit(main())
