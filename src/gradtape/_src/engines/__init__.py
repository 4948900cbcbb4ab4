"""The array libraries that hold the values: NumPy always, others when their arrays turn up."""

from __future__ import annotations

from ..core.engine import Engine, register_engine
from .numpy.engine import engine as numpy_engine


def _load_xla() -> Engine:
    from .xla.engine import engine

    return engine


register_engine(lambda kind: kind.__module__.startswith("numpy"), lambda: numpy_engine)
register_engine(lambda kind: kind.__module__.startswith("ml_dtypes"), lambda: numpy_engine)
register_engine(lambda kind: kind.__module__.startswith("jax"), _load_xla)
