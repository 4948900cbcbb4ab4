"""The systems that are measured: what to import, what to install, how to set them up."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# Read by the BLAS libraries when they load, so they are set before a worker starts.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NPROC": "1",  # the size of XLA's thread pool
}


_MANY = "GRADTAPE_BENCH_ALL_THREADS"


def all_threads() -> dict[str, str | None]:
    """The environment of a worker that has the threads its system takes by default."""
    return {_MANY: "1", **dict.fromkeys(ONE_THREAD)}


def _torch_one_thread(torch: Any) -> None:
    if not os.environ.get(_MANY):
        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)


def _tensorflow_one_thread(tf: Any) -> None:
    if not os.environ.get(_MANY):
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)


def _jax_float64(jax: Any) -> None:
    jax.config.update("jax_enable_x64", True)


def compiled(jax: Any, f: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    """A step of JAX: `f(*args)` compiled, on arrays of its own, and waited for."""
    f, args = jax.jit(f), jax.device_put(args)
    return lambda: jax.block_until_ready(f(*args))


@dataclass(frozen=True)
class System:
    """One column of the table; without `requirements` it runs in the interpreter of the driver."""

    label: str
    module: str
    requirements: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    set_up: Callable[[Any], None] = lambda module: None
    to_numpy: Callable[[Any], Any] = np.asarray

    def load(self) -> Any:
        module = importlib.import_module(self.module)
        for submodule in self.submodules:
            importlib.import_module(f"{self.module}.{submodule}")
        self.set_up(module)
        return module


KERAS = "keras==3.15.1"

SYSTEMS = {
    "gradtape": System("gradtape", "gradtape"),
    "function": System("gradtape @function", "gradtape"),
    "before": System("gradtape before", "gradtape"),  # another checkout: `--against`
    "torch": System(
        "PyTorch",
        "torch",
        ("torch==2.13.0", "numpy", KERAS),
        set_up=_torch_one_thread,
        to_numpy=lambda tensor: tensor.detach().numpy(),
    ),
    "tensorflow": System(
        "TensorFlow",
        "tensorflow",
        ("tensorflow-cpu==2.21.0", KERAS),
        set_up=_tensorflow_one_thread,
    ),
    "jax": System("JAX", "jax", ("jax==0.10.2", KERAS), set_up=_jax_float64),
    "autograd": System("autograd", "autograd", ("autograd",), ("numpy",)),
    "numpy": System("NumPy", "numpy"),
}
