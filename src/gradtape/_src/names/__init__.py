"""Public names: each namespace is a stub file, the one list of its names.

`gradtape/math/__init__.pyi` says which names `gradtape.math` has and where each is made. Type
checkers and editors read it as they read any stub; here it is read at run time, and gives the
module its `__getattr__`, which imports a name when it is first asked for, its `__dir__`, its
`__all__`, and to its classes their public place: `gradtape.Tensor`, not `gradtape._src…`.

`alias` gives it all the name `tensorflow`; `missing` has the errors for what is not there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import resolve_name
from typing import Any

from ..core.composite import new_classes

_IMPORT = re.compile(r"^from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NAME = re.compile(r"(\w+) as \1")
_CONSTANT = re.compile(r"^(\w+):", re.MULTILINE)

# Names from there are not shown: Keras may not be installed.
_OF_KERAS = "gradtape._src.names.keras"

# The __getattr__, __dir__ and __all__ of a module.
Names = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]

# The namespaces whose objects are seen before anyone asks for them: errors, traced functions, an
# Optional.
_EARLY = ("errors", "__internal__/function", "experimental/__init__")

_root = "gradtape"
_unplaced: dict[str, dict[str, list[str]]] = {}  # by namespace, the homes not looked at yet
_private: dict[str, str] = {}  # where TensorFlow itself has a class, by its public name
_classes: dict[type, tuple[str, str]] = {}  # every public class: its home below the root, its name


def namespace(module: dict[str, Any]) -> Names:
    """The `__getattr__`, `__dir__` and `__all__` of the module with these globals."""
    spec = module["__spec__"]
    if spec.name.startswith("gradtape.compat.v2."):  # which is gradtape, and so are its modules
        own: Any = import_module(spec.name.replace(".compat.v2", ""))
        sys.modules[spec.name] = own
        return own.__getattr__, own.__dir__, own.__all__
    stub = spec.loader.get_data(f"{spec.origin}i").decode()
    homes = _homes(stub, spec.parent)
    below = homes.pop(spec.name, [])  # the namespaces below this one
    places = {name: home for home, names in homes.items() for name in names}
    constants = [name for name in _CONSTANT.findall(stub) if not name.startswith("_")]
    public = sorted(
        name
        for name in [*below, *places, *constants]
        if not name.startswith("_") and places.get(name) != _OF_KERAS
    )
    # With a path, be it empty, Python asks `get` about each name of `from gradtape.image import x`
    # before it raises an error of its own.
    module.setdefault("__path__", [])

    def get(name: str) -> Any:
        if name in places:
            value = getattr(import_module(places[name]), name)
            for space in list(_unplaced):  # what it loads may have classes of other namespaces
                _place_classes(space)
        elif name in below:
            value = import_module(f"{spec.name}.{name}")
        else:
            from .missing import missing_name

            raise missing_name(spec.name, name)
        module[name] = value  # found once, an ordinary attribute ever after
        return value

    _unplaced[spec.name] = homes
    _place_classes(spec.name)
    if spec.name == "gradtape":
        for early in _EARLY:
            stub = spec.loader.get_data(f"{module['__path__'][0]}/{early}.pyi").decode()
            space = f"gradtape.{early}".replace("/", ".").removesuffix(".__init__")
            parent = ".".join(["gradtape", *early.split("/")[:-1]])
            _unplaced[space] = _homes(stub, parent)
            _place_classes(space)
    return get, lambda: public, public


def _homes(stub: str, parent: str) -> dict[str, list[str]]:
    """The names that a stub imports, by the module that each comes from."""
    return {resolve_name(at, parent): _NAME.findall(text) for at, text in _IMPORT.findall(stub)}


def _place_classes(space: str) -> None:
    """Give the classes of the namespace `space` that are loaded by now their public place."""
    homes = _unplaced[space]
    for home, names in list(homes.items()):
        values = vars(sys.modules[home]) if home in sys.modules else {}
        if all([name in values for name in names]):  # not while another thread still imports it
            homes.pop(home, None)
            kinds = [values[name] for name in names if isinstance(values[name], type)]
            new = [kind for kind in kinds if kind.__module__.startswith("gradtape._src.")]
            for kind in new:
                _classes[kind] = space.removeprefix("gradtape"), kind.__name__
            for kind in new:
                _place(kind)


def _place_new(kind: type) -> None:
    """Give a class that is just being made its public place, if it has one."""
    for space, homes in list(_unplaced.items()):
        if kind.__name__ in homes.get(kind.__module__, ()):
            _classes[kind] = space.removeprefix("gradtape"), kind.__name__
            return _place(kind)


new_classes.append(_place_new)


def show_classes_in(root: str, private: dict[str, str] | None = None) -> None:
    """From now on the public classes say that they are of `root`, "gradtape" or "tensorflow".

    `private` has, by public names, those that are to show another place: that of TensorFlow's own
    class, by which its clients know it.
    """
    global _root, _private
    _root, _private = root, private or {}
    for kind in _classes:
        _place(kind)


def _place(kind: type) -> None:
    home, name = _classes[kind]
    place = _private.get(f"{home}.{name}".removeprefix("."), f"{_root}{home}.{name}")
    module, _, shown = place.rpartition(".")
    _move(kind, module)
    kind.__name__ = kind.__qualname__ = shown


def _move(kind: type, module: str) -> None:
    private: type
    for private in type.__subclasses__(kind):
        if private.__module__ == kind.__module__ and private not in _classes:
            _move(private, module)  # such as a variable's part: to users, a tensor
    kind.__module__ = module
