"""The devices: the CPU, and a GPU if CuPy finds one.

Eager ops run on either, by where their arrays are; a function is compiled by JAX for the device
that JAX takes by default, which is the GPU too if JAX has it. `gradtape info --devices` lists both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.errors import UnimplementedError
from ...core.placement import CPU, GPU, placement
from ...tape.scopes import parse_device


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as programs name it."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How one of the logical devices of a physical one is set up."""

    memory_limit: Any = None
    experimental_priority: Any = None
    experimental_device_ordinal: Any = None


class _State:
    limit: int | None = None  # bytes of the GPU that eager tensors may take
    growth = True
    peak = 0
    hidden = False


_state = _State()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine that eager ops can run on, all or those of one type."""
    kinds = [CPU, GPU] if _has_gpu() else [CPU]
    devices = [PhysicalDevice(f"/physical_device:{kind}:0", kind) for kind in kinds]
    return [d for d in devices if device_type in (None, d.device_type)]


def _has_gpu() -> bool:
    return _state.hidden or placement.card is not None


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that programs can name, all or those of one type."""
    visible = get_visible_devices(device_type)
    return [LogicalDevice(f"/device:{d.device_type}:0", d.device_type) for d in visible]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices in use."""
    found = list_physical_devices(device_type)
    return [d for d in found if d.device_type == CPU or not _state.hidden]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Use these devices only. The CPU is always in use, so it cannot be left out.

    `set_visible_devices([], "GPU")` keeps new values, and functions compiled from here on, on the
    CPU; variables that are on the GPU stay there.
    """
    given = list(devices) if isinstance(devices, list) else [devices] if devices else []
    for device in given:
        if device not in list_physical_devices() or device_type not in (None, device.device_type):
            raise ValueError(
                f"set_visible_devices: unrecognized device: {device!r}. "
                f"tf.config.list_physical_devices({device_type or ''!r}) has those there are."
            )
    kinds = {device.device_type for device in given}
    if device_type in (None, CPU) and CPU not in kinds:
        raise RuntimeError(
            "set_visible_devices: eager ops run on the CPU, which cannot be left out."
        )
    if device_type in (None, GPU) and _has_gpu():
        _show_gpu(GPU in kinds)


def _show_gpu(visible: bool) -> None:
    if visible == (not _state.hidden):
        return
    _state.hidden = not visible
    if visible:
        placement.forget()
    else:
        placement.hide()
    jax = sys.modules.get("jax")
    if jax is None:
        if not visible:
            os.environ.setdefault("JAX_PLATFORMS", "cpu")
        elif os.environ.get("JAX_PLATFORMS") == "cpu":
            del os.environ["JAX_PLATFORMS"]
    else:
        jax.config.update("jax_default_device", None if visible else jax.devices("cpu")[0])


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How a device is divided: not at all. A limit of its memory is what was set."""
    _check("get_logical_device_configuration", device)
    if device.device_type == GPU and _state.limit is not None:
        return [LogicalDeviceConfiguration(_state.limit)]
    return None


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Limit the memory of a GPU, in MiB, for eager tensors. A device is one, and stays one."""
    _check("set_logical_device_configuration", device)
    if len(logical_devices) != 1:
        raise UnimplementedError(
            f"set_logical_device_configuration: {len(logical_devices)} logical devices were asked "
            "for. gradtape computes on one; a larger batch on it gives the same numbers."
        )
    limit = logical_devices[0].memory_limit
    if limit is None:
        return
    if device.device_type == CPU:
        raise ValueError("set_logical_device_configuration: a CPU has no `memory_limit`.")
    _state.limit = limit
    _pool().set_limit(size=int(limit * 2**20))


def get_soft_device_placement() -> bool:
    """Whether an op may run on another device than the one it was given."""
    return placement.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Say whether an op may run on another device than the one it was given."""
    placement.soft = bool(enabled)


def get_log_device_placement() -> bool:
    """Whether the devices of new variables are logged."""
    return placement.log


def set_log_device_placement(enabled: bool) -> None:
    """Log the device of each new variable, and of what is made in a block for a device."""
    placement.log = bool(enabled)


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: of a GPU its name and compute capability; of a CPU nothing."""
    _check("get_device_details", device)
    if device.device_type == CPU:
        return {}
    import cupy

    found = cupy.cuda.runtime.getDeviceProperties(0)
    name = found["name"]
    return {
        "device_name": name.decode() if isinstance(name, bytes) else name,
        "compute_capability": (found["major"], found["minor"]),
    }


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether memory is taken as it is needed: a question for GPUs only."""
    _refuse_growth("get_memory_growth", device)
    return _state.growth


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Take memory of a GPU as it is needed: it always is, or CuPy and XLA could not share it."""
    _refuse_growth("set_memory_growth", device)
    _state.growth = bool(enable)


def get_memory_info(device: str) -> dict[str, int]:
    """The bytes that tensors take on a device, now and at most. Of the CPU they are not counted.

    Of the GPU: those of eager tensors, and those that XLA holds. The peak of eager tensors is that
    of the moments when this was asked.
    """
    if _named("get_memory_info", device) == CPU:
        return {"current": 0, "peak": 0}
    eager = _pool().used_bytes()
    xla = _xla_memory()
    _state.peak = max(_state.peak, eager)
    return {
        "current": eager + xla.get("bytes_in_use", 0),
        "peak": _state.peak + xla.get("peak_bytes_in_use", 0),
    }


def get_memory_usage(device: str) -> int:
    """`get_memory_info(device)["current"]`, of a GPU."""
    if _named("get_memory_usage", device) == CPU:
        raise ValueError("get_memory_usage: the memory of a CPU is not counted.")
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Count the peak of `get_memory_info` anew, as far as it is that of eager tensors."""
    if _named("reset_memory_stats", device) == GPU:
        _state.peak = _pool().used_bytes()


def _pool() -> Any:
    import cupy

    return cupy.get_default_memory_pool()


def _xla_memory() -> dict[str, int]:
    jax = sys.modules.get("jax")
    if jax is None or jax.default_backend() != "gpu":
        return {}
    return jax.devices()[0].memory_stats() or {}


def _refuse_growth(op: str, device: PhysicalDevice) -> None:
    _check(op, device)
    if device.device_type == CPU:
        raise ValueError(f"{op}: only GPUs have it, and {device.name} is a CPU.")


def _check(op: str, device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(
            f"{op}: unrecognized device: {device!r}. tf.config.list_physical_devices() has those "
            "there are."
        )


def _named(op: str, device: Any) -> str:
    """The kind of the device with this name."""
    place = parse_device(device, op)
    known = [(CPU, 0)] + [(GPU, 0)] * _has_gpu()
    if place not in known:
        names = " and ".join([f"'{kind}:{number}'" for kind, number in known])
        raise ValueError(f"{op}: there is no device {device!r}, only {names}.")
    return place[0]
