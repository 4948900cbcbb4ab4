"""The array libraries that hold the values: NumPy always, others when their arrays turn up."""

from __future__ import annotations

from importlib.util import find_spec

from ..core.engine import Engine, register_engine
from ..core.placement import placement
from .numpy.engine import engine as numpy_engine


def _load_xla() -> Engine:
    from .xla.engine import engine

    return engine


def _load_cupy() -> Engine:
    from .cupy.engine import engine

    return engine


def _find_card() -> tuple[Engine | None, str]:
    """The engine of the GPU; or None, and what is missing."""
    spec = find_spec("cupy")
    if spec is None or spec.origin is None:  # a folder of this name on the path is not CuPy
        return None, "CuPy is not installed (pip install 'gradtape[gpu]')"
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # a broken installation, or a driver that does not answer
        import logging

        reason = f"CuPy does not work here: {type(error).__name__}: {error}"
        logging.getLogger("gradtape").warning("The GPU is not used. %s", reason)
        return None, reason
    if not count:
        return None, "CuPy finds no GPU"
    from .cupy.engine import engine
    from .cupy.xla import share_memory

    share_memory()
    engine.use_tf32(True)
    return engine, ""


register_engine(lambda kind: kind.__module__.startswith("numpy"), lambda: numpy_engine)
register_engine(lambda kind: kind.__module__.startswith("ml_dtypes"), lambda: numpy_engine)
register_engine(lambda kind: kind.__module__.startswith("jax"), _load_xla)
register_engine(lambda kind: kind.__module__.startswith("cupy"), _load_cupy)
placement.supply(_find_card)
