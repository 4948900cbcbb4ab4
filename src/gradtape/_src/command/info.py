"""What `gradtape info` prints: found without importing the libraries, which may take seconds."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib import metadata, util
from typing import NamedTuple

from ..version import VERSION, __version__


class Library(NamedTuple):
    module: str
    role: str
    distribution: str
    extra: str = ""
    devices: Callable[[], list[str]] | None = None


def numpy_devices() -> list[str]:
    return [f"CPU, {os.cpu_count()} cores"]


def jax_devices() -> list[str]:
    import jax

    return [str(device) for device in jax.devices()]


def cupy_devices() -> list[str]:
    import cupy

    runtime = cupy.cuda.runtime
    found = []
    for number in range(runtime.getDeviceCount()):
        name = runtime.getDeviceProperties(number)["name"]
        with cupy.cuda.Device(number):
            free, total = runtime.memGetInfo()
        name = name.decode() if isinstance(name, bytes) else name
        found.append(f"GPU:{number} {name}, {free / 2**30:.0f} of {total / 2**30:.0f} GiB free")
    return found


LIBRARIES = [
    Library("numpy", "engine numpy (default)", "numpy", devices=numpy_devices),
    Library("jax", "engine xla", "jax", "xla", jax_devices),
    Library("cupy", "engine cupy: eager ops on a GPU", "cupy-cuda13x", "gpu", cupy_devices),
    Library("scipy", "linear algebra, special functions", "scipy"),
    Library("ml_dtypes", "bfloat16", "ml_dtypes"),
    Library("malt", "AutoGraph in engine xla", "diastatic-malt", "xla"),
    Library("keras", "tf.keras", "keras", "keras"),
    Library("matplotlib", "figures of GradientMonitor", "matplotlib", "viz"),
    Library("rich", "the table of GradientMonitor, live", "rich", "viz"),
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
        f"gradtape  {__version__}, with the API of TensorFlow {VERSION}",
        f"Python    {platform.python_version()} ({platform.python_implementation()})",
        f"platform  {platform.platform()}",
    ]
    missing = sorted({library.extra for library in LIBRARIES if not _found(library)} - {""})
    foot = [f"To add what is missing: pip install 'gradtape[{','.join(missing)}]'"] * bool(missing)
    foot += ["To list the devices: gradtape info --devices"] * (not devices)
    if devices:
        foot.append(_use_of_gpu())
    return "\n".join([*head, "", *table, "", *foot]).rstrip()


def _use_of_gpu() -> str:
    """Whether eager code uses a GPU, and if not, why; and whether functions have the same one."""
    from ..core.placement import placement

    try:
        card = placement.card
    except (RuntimeError, ValueError) as error:
        return f"GPU in use: none. {error}"
    if card is None:
        return f"GPU in use: none. {placement.reason[:1].upper()}{placement.reason[1:]}."
    from ..engines.cupy.xla import has_card

    if not has_card():
        return (
            "GPU in use: GPU:0, by eager code only. JAX compiles for the CPU, so each call of a "
            "tf.function copies: pip install 'jax[cuda13]'."
        )
    return "GPU in use: GPU:0, by eager code and compiled functions."


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
    try:
        return metadata.version(library.distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
