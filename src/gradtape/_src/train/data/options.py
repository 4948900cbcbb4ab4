"""Options of datasets, which programs set for TensorFlow's runtime."""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any


class AutoShardPolicy(IntEnum):
    """How TensorFlow shares a dataset among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(IntEnum):
    """What TensorFlow does about state outside of a dataset that it serializes."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class Options:
    """Accepts what programs set, and has no effect: elements come in order, from one thread."""

    def __init__(self) -> None:
        self.deterministic: Any = None
        self.autotune = SimpleNamespace()
        self.experimental_distribute = SimpleNamespace()
        self.experimental_optimization = SimpleNamespace()
        self.threading = SimpleNamespace()
