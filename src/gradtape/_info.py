"""What `gradtape info` prints: found without importing the libraries, which may take seconds."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib import metadata, util
from typing import NamedTuple

from gradtape._version import __version__


class Library(NamedTuple):
    module: str
    role: str
    distributions: tuple[str, ...]
    extra: str = ""
    devices: Callable[[], list[str]] | None = None


def numpy_devices() -> list[str]:
    return [f"CPU, {os.cpu_count()} cores"]


def jax_devices() -> list[str]:
    import jax

    return [str(device) for device in jax.devices()]


def cupy_devices() -> list[str]:
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    return [cupy.cuda.runtime.getDeviceProperties(i)["name"].decode() for i in range(count)]


LIBRARIES = [
    Library("numpy", "engine numpy (default)", ("numpy",), devices=numpy_devices),
    Library("jax", "engine xla", ("jax",), "xla", jax_devices),
    Library("cupy", "engine cupy", ("cupy-cuda12x", "cupy-cuda13x", "cupy"), "gpu", cupy_devices),
    Library("scipy", "special functions", ("scipy",)),
    Library("ml_dtypes", "bfloat16, float8", ("ml_dtypes",)),
    Library("keras", "layers and models", ("keras",), "keras"),
]


def report(devices: bool = False) -> str:
    """The versions as a table; with `devices`, each engine is started to ask for its own."""
    rows = [["library", "version", "for", "devices"]]
    rows += [_row(library, devices) for library in LIBRARIES]
    if not devices:
        rows = [row[:-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    head = [
        f"gradtape  {__version__}",
        f"Python    {platform.python_version()} ({platform.python_implementation()})",
        f"platform  {platform.platform()}",
    ]
    missing = sorted({library.extra for library in LIBRARIES if not _found(library)} - {""})
    foot = [f"To add what is missing: pip install 'gradtape[{','.join(missing)}]'"] * bool(missing)
    foot += ["To list the devices: gradtape info --devices"] * (not devices)
    return "\n".join([*head, "", *table, "", *foot]).rstrip()


def _row(library: Library, devices: bool) -> list[str]:
    row = [library.module, _version(library), library.role]
    if not (devices and library.devices and _found(library)):
        return [*row, "-"]
    try:
        return [*row, "; ".join(library.devices()) or "none"]
    except Exception as error:  # whatever a driver raises, the other rows are still of use
        return [*row, f"{type(error).__name__}: {error}".splitlines()[0]]


def _found(library: Library) -> bool:
    return util.find_spec(library.module) is not None


def _version(library: Library) -> str:
    if not _found(library):
        return "not installed"
    for name in library.distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"
