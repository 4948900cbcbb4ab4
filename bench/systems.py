"""The systems that are measured: what to import, what to install, how to keep to one thread."""

from __future__ import annotations

import importlib
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
}


def _torch_one_thread(torch: Any) -> None:
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)


def _tensorflow_one_thread(tf: Any) -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


@dataclass(frozen=True)
class System:
    """One column of the table; without `requirements` it runs in the interpreter of the driver."""

    label: str
    module: str
    requirements: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    one_thread: Callable[[Any], None] = lambda module: None
    to_numpy: Callable[[Any], Any] = np.asarray

    def load(self) -> Any:
        module = importlib.import_module(self.module)
        for submodule in self.submodules:
            importlib.import_module(f"{self.module}.{submodule}")
        self.one_thread(module)
        return module


SYSTEMS = {
    "gradtape": System("gradtape", "gradtape"),
    "torch": System(
        "PyTorch",
        "torch",
        ("torch==2.13.0", "numpy"),
        one_thread=_torch_one_thread,
        to_numpy=lambda tensor: tensor.detach().numpy(),
    ),
    "tensorflow": System(
        "TensorFlow",
        "tensorflow",
        ("tensorflow-cpu==2.21.0",),
        one_thread=_tensorflow_one_thread,
    ),
    "autograd": System("autograd", "autograd", ("autograd",), ("numpy",)),
    "numpy": System("NumPy", "numpy"),
}
