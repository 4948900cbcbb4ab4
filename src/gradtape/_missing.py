"""Errors for what TensorFlow has and gradtape does not: named, with what is close to it."""

from __future__ import annotations

import sys
from types import ModuleType

from gradtape._version import __version__


def missing_name(module_name: str, name: str) -> AttributeError:
    """The error for `name` looked up in the module `module_name`, to be raised by `__getattr__`."""
    if name.startswith("_"):
        # Asked for by tools that probe (inspect, copy, notebooks), which read no message.
        return AttributeError(f"module {module_name!r} has no attribute {name!r}")
    message = _message(f"{module_name}.{name}", spelt="tf")
    # With obj=None, or Python would add a "Did you mean" of its own to the close matches here.
    return AttributeError(message, name=name, obj=None)


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for the import of `tensorflow.x.y`."""
    own = "gradtape" + name.removeprefix("tensorflow")
    return ModuleNotFoundError(_message(own, spelt="tensorflow"), name=name)


def missing_import(own: str) -> ImportError:
    """The error for `from tensorflow.x import y`, where `own` is gradtape.x.y."""
    name = "tensorflow" + own.removeprefix("gradtape")
    return ImportError(_message(own, spelt="tensorflow"), name=name)


def _message(own: str, spelt: str) -> str:
    def written(name: str) -> str:
        return spelt + name.removeprefix("gradtape")

    home, _, name = own.rpartition(".")
    close = ", ".join(written(match) for match in _close(home, name))
    return (
        f"{written(own)}: gradtape {__version__} does not have it. "
        + (f"Close to it: {close}. " if close else "")
        + f"dir({home}) lists what is there."
    )


def _close(home: str, name: str) -> list[str]:
    """Up to three names like `name`: the same name in another namespace, then those in `home`."""
    from difflib import get_close_matches
    from importlib import import_module

    package = sys.modules["gradtape"]
    # Those that were not asked for yet are imported now: the error is worth it.
    spaces = [n for n in package._LATER[""].split() if n not in ("compat", "testing")]
    namespaces = [import_module(f"gradtape.{n}").__name__ for n in spaces]
    same = [
        f"{space}.{name}"
        for space in ["gradtape", *namespaces]
        if space != home and name in _names(sys.modules.get(space))
    ]
    alike = get_close_matches(name, _names(sys.modules.get(home)), n=3)
    return (same + [f"{home}.{match}" for match in alike])[:3]


def _names(module: ModuleType | None) -> list[str]:
    return [n for n in dir(module) if not n.startswith("_")] if module else []
