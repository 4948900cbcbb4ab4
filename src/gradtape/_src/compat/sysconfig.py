"""`tf.sysconfig`: what gradtape was built with, which is nothing but Python."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


def get_build_info() -> OrderedDict[str, Any]:
    """Whether there is code for GPUs of either kind: there is none."""
    return OrderedDict(
        cpu_compiler="",
        is_cuda_build=False,
        is_rocm_build=False,
        is_tensorrt_build=False,
    )
