"""Scopes around code: devices, names, dependencies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from ..core.convert import promotion
from ..core.errors import InvalidArgumentError
from ..core.interrupts import keep_variable
from ..core.placement import CPU, GPU, placement
from ..core.tracing import current_graph

if TYPE_CHECKING:
    import logging

_scopes: ContextVar[tuple[tuple[name_scope, str], ...]] = ContextVar("name scopes", default=())
"""The scopes that this thread has entered, the outermost first, each with the prefix of names."""
keep_variable(_scopes)
keep_variable(placement.block_of_thread)


class name_scope:
    """A block whose name stands before the names of the variables made inside.

    A name that ends with a slash, such as `with` gives, is the whole of it; "" is none at all. The
    object may be entered again, also inside of itself and by several threads.

    >>> with tf.name_scope("a") as a, tf.name_scope("b") as b, tf.name_scope(a) as again:
    ...     print(a, b, again)
    a/ a/b/ a/
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name_scope: `name` must be a string, not {name!r}.")
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        name = self._name
        whole = name if not name or name.endswith("/") else f"{name_prefix()}{name}/"
        _scopes.set((*_scopes.get(), (self, whole)))
        return whole

    def __exit__(self, *error: Any) -> None:
        # Its own entry, which need not be the last: a generator may be left after what is around.
        entries = _scopes.get()
        for i in reversed(range(len(entries))):
            if entries[i][0] is self:
                _scopes.set((*entries[:i], *entries[i + 1 :]))
                break


def name_prefix() -> str:
    """What the names of variables begin with at this line: "" or a text that ends with a slash."""
    entries = _scopes.get()
    if entries and min(_holders(entries)) <= _LEFT:
        # An interrupt came at the first instruction of `__exit__`: no `with` knows it any more.
        known = zip(entries, _holders(entries), strict=True)
        entries = tuple([entry for entry, count in known if count > _LEFT])
        _scopes.set(entries)
    return entries[-1][1] if entries else ""


def _holders(entries: tuple[tuple[name_scope, str], ...]) -> list[int]:
    return list(map(getrefcount, [scope for scope, _ in entries]))


_LEFT = _holders(((name_scope(""), ""),))[0]


def get_current_name_scope() -> str:
    """The names of the scopes around this line, joined by slashes."""
    return name_prefix().rstrip("/")


@contextmanager
def outside_name_scopes() -> Iterator[None]:
    """A block around which there are no name scopes: a function that is being traced."""
    token = _scopes.set(())
    try:
        yield
    finally:
        _scopes.reset(token)


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """A block whose tensors and variables are made on this device, such as "/GPU:0" or "CPU".

    Ops run where their arrays are; `tf.identity` moves one here. With soft placement, as it is set
    at the start, a device that is not there is the CPU.

    >>> with tf.device("/CPU:0"):
    ...     print(tf.constant(1.0).device)
    /job:localhost/replica:0/task:0/device:CPU:0
    """
    token = placement.enter(device_kind(device_name))
    try:
        yield
    finally:
        placement.leave(token)


def device_kind(name: Any) -> str | None:
    """The type of a device by its name; None if the name leaves it open."""
    name = getattr(name, "name", name)  # of a logical device
    place = parse_device(name, "device")
    if place is None:
        return None
    if place == (CPU, 0) or (place == (GPU, 0) and placement.card is not None):
        return place[0]
    if placement.soft:
        return CPU
    known = "CPU:0" if placement.card is None else "CPU:0 and GPU:0"
    reason = f": {placement.reason}" if place[0] == GPU and placement.card is None else ""
    raise InvalidArgumentError(
        f"device: there is no {name!r} here{reason}. There are {known}; with "
        "tf.config.set_soft_device_placement(True) a block for another device runs on the CPU."
    )


def parse_device(name: Any, op: str) -> tuple[str, int] | None:
    """The type and the number of a device, from any of the spellings that TensorFlow takes."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise ValueError(f"{op}: a device is given by its name, and not by {name!r}.")
    found = None
    for part in name.strip("/").split("/") if name.strip("/") else []:
        key, _, rest = part.partition(":")
        if key.lower() in ("job", "replica", "task"):
            if rest.lower() not in ("localhost", "0", "*"):
                raise InvalidArgumentError(f"{op}: {name!r} is on another machine.")
            continue
        if key.lower() == "device":
            key, _, rest = rest.partition(":")
        number = "0" if rest in ("", "*") else rest
        if key.upper() not in (CPU, GPU, "TPU") or not number.isdecimal():
            raise ValueError(
                f"{op}: {name!r} is no device. A name is such as 'CPU', '/GPU:0' or "
                "'/device:GPU:0'."
            )
        found = (key.upper(), int(number))
    return found


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """A block that runs after `control_inputs`: eager code runs in order anyway."""
    yield


@contextmanager
def init_scope() -> Iterator[None]:
    """A block outside of any graph being built: what it computes is computed at once."""
    graph = current_graph()
    if graph is None:
        yield
    else:
        with graph.outside():
            yield


def executing_eagerly() -> bool:
    """Whether ops run at once: not so while `@function` traces."""
    return current_graph() is None


def get_logger() -> logging.Logger:
    """The logger of gradtape, named "gradtape"; its warnings go there."""
    import logging

    return logging.getLogger("gradtape")


class LimitedWarning:
    """A warning that is logged the first few times."""

    def __init__(self, message: str, times: int) -> None:
        self._message = message
        self._left = times

    def log(self, *details: Any) -> None:
        if self._left > 0:
            self._left -= 1
            get_logger().warning(self._message, *details)


@contextmanager
def numpy_promotion(enabled: bool = True) -> Iterator[None]:
    """A block in which tensors of different dtypes mix as NumPy's arrays do.

    >>> with numpy_promotion():
    ...     tf.constant(1) + tf.constant(2.5, tf.float64)
    <tf.Tensor: shape=(), dtype=float64, numpy=3.5>
    """
    before = promotion.numpy
    promotion.numpy = enabled
    try:
        yield
    finally:
        promotion.numpy = before


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Let tensors of different dtypes mix as NumPy's arrays do, from here on."""
    promotion.numpy = dtype_conversion_mode != "off"
