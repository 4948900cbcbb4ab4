"""Names that are imported when they are first asked for, so that `import gradtape` stays quick."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ._missing import missing_name


def later(
    module: str, namespace: dict[str, Any], sources: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module whose names come from the modules in `sources`.

    `sources` gives for each module of gradtape the names to take from it, separated by spaces; the
    names under "" are modules themselves. A name that is nowhere raises the error that says so.
    """
    where = {name: source for source, names in sources.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in where:
            raise missing_name(module, name)
        source = where[name]
        if source:
            value = getattr(import_module(f".{source}", "gradtape"), name)
        else:
            value = import_module(f".{name}", "gradtape")
        namespace[name] = value
        return value

    def names() -> list[str]:
        return sorted({name for name in (*namespace, *where) if not name.startswith("_")})

    return get, names
