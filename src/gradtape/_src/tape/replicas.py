"""How the copies of a variable on several replicas are kept equal: here there is one."""

from __future__ import annotations

from enum import Enum


class VariableSynchronization(Enum):
    """When the copies of a variable are made equal."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """How what several replicas assign becomes one value."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
