"""Scopes around code (devices, names, dependencies); to eager code they change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..core.convert import promotion
from ..core.tracing import current_graph


_scopes: ContextVar[tuple[str, ...]] = ContextVar("name scopes", default=())


class name_scope:
    """A block whose name stands before the names of the variables made inside."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name_scope: `name` must be a string, not {name!r}.")
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        self._outer = _scopes.get()
        _scopes.set((*self._outer, self._name))
        return f"{get_current_name_scope()}/"

    def __exit__(self, *error: Any) -> None:
        _scopes.set(self._outer)


def get_current_name_scope() -> str:
    """The names of the scopes around this line, joined by slashes."""
    return "/".join(_scopes.get())


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """A block for one device. Eager tensors are on the CPU: another device is refused."""
    kind = str(device_name or "CPU").upper().strip("/").split(":")
    if "GPU" in kind or "TPU" in kind:
        raise ValueError(f"device: there is no {device_name!r} here. Eager tensors are on the CPU.")
    yield


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
        with graph.left():
            yield


def executing_eagerly() -> bool:
    """Whether ops run at once: not so while `@function` traces."""
    return current_graph() is None


def get_logger() -> Any:
    """The logger of gradtape, named "gradtape"; its warnings go there."""
    import logging

    return logging.getLogger("gradtape")


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


def enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Let tensors of different dtypes mix as NumPy's arrays do, from here on."""
    promotion.numpy = dtype_conversion_mode != "off"
