"""The devices: one CPU, on which eager ops run.

A function is compiled by JAX for the device that JAX takes by default; `gradtape info --devices`
lists those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.errors import InvalidArgumentError, UnimplementedError


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


_PHYSICAL = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
_LOGICAL = [LogicalDevice("/device:CPU:0", "CPU")]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine that eager ops can run on, all or those of one type."""
    return [d for d in _PHYSICAL if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that programs can name, all or those of one type."""
    return [d for d in _LOGICAL if device_type in (None, d.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices in use: those that there are."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Use these devices only. The CPU is always in use, so it cannot be left out."""
    given = list(devices) if isinstance(devices, list) else [devices] if devices else []
    for device in given:
        if device not in _PHYSICAL or device_type not in (None, device.device_type):
            raise ValueError(
                f"set_visible_devices: unrecognized device: {device!r}. "
                f"tf.config.list_physical_devices({device_type or ''!r}) has those there are."
            )
    if device_type in (None, "CPU") and not given:
        raise RuntimeError(
            "set_visible_devices: eager ops run on the CPU, which cannot be left out."
        )


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How a device is divided: not at all."""
    _check("get_logical_device_configuration", device)
    return None


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Divide a device. The CPU is one device here, and stays one."""
    _check("set_logical_device_configuration", device)
    if len(logical_devices) != 1:
        raise UnimplementedError(
            f"set_logical_device_configuration: {len(logical_devices)} logical devices were asked "
            "for. gradtape computes on one; a larger batch on it gives the same numbers."
        )
    if logical_devices[0].memory_limit is not None:
        raise ValueError("set_logical_device_configuration: a CPU has no `memory_limit`.")


def get_soft_device_placement() -> bool:
    """Whether an op may run on another device than the one it was given: there is only one."""
    return _placement.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Say whether an op may run on another device than the one it was given."""
    _placement.soft = bool(enabled)


class _Placement:
    soft = True


_placement = _Placement()


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device. Of a CPU, as in TensorFlow, nothing."""
    _check("get_device_details", device)
    return {}


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether memory is taken as it is needed: a question for GPUs only."""
    _refuse_growth("get_memory_growth", device)
    return False


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Take memory as it is needed: a switch of GPUs only."""
    _refuse_growth("set_memory_growth", device)


def get_memory_info(device: str) -> dict[str, int]:
    """The memory that tensors take on a device. Of the CPU it is not counted: 0, as there."""
    _check_name("get_memory_info", device)
    return {"current": 0, "peak": 0}


def reset_memory_stats(device: str) -> None:
    """Count the peak of `get_memory_info` anew."""
    _check_name("reset_memory_stats", device)


def _refuse_growth(op: str, device: PhysicalDevice) -> None:
    _check(op, device)
    raise ValueError(f"{op}: only GPUs have it, and {device.name} is a CPU.")


def _check(op: str, device: Any) -> None:
    if device not in _PHYSICAL:
        raise ValueError(
            f"{op}: unrecognized device: {device!r}. tf.config.list_physical_devices() has those "
            "there are."
        )


def _check_name(op: str, device: Any) -> None:
    if str(device).upper().lstrip("/").removeprefix("DEVICE:") not in ("CPU", "CPU:0"):
        raise InvalidArgumentError(f"{op}: there is no device {device!r}, only 'CPU:0'.")
