"""What tests of TensorFlow programs ask about the machine and the build: `tf.test`."""

from __future__ import annotations

from typing import Any


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether eager ops can run on a GPU. They run on the CPU."""
    return False


def gpu_device_name() -> str:
    """The name of a GPU that eager ops can run on; empty, as there is none."""
    return ""


def is_built_with_cuda() -> bool:
    return False


def is_built_with_rocm() -> bool:
    return False


def is_built_with_gpu_support() -> bool:
    return False


def is_built_with_xla() -> bool:
    """Whether functions can be compiled by XLA. All are."""
    return True
