"""The switches of TensorFlow's runtime, as far as something answers to them here."""

from __future__ import annotations

from typing import Any

from ...core.placement import placement
from ...engines.numpy import blas, blocks


class _Settings:
    determinism = False
    synchronous = True
    intra_op = inter_op = 0  # 0: as many as there are cores
    jit = ""
    device_policy = "silent"


_settings = _Settings()
_options: dict[str, Any] = {}


def enable_op_determinism() -> None:
    """Have each op give the same numbers for the same inputs. On the CPU they do so anyway.

    What is random repeats with tf.random.set_seed.
    """
    _settings.determinism = True


def disable_op_determinism() -> None:
    _settings.determinism = False


def is_op_determinism_enabled() -> bool:
    """Whether `enable_op_determinism` was called."""
    return _settings.determinism


def get_synchronous_execution() -> bool:
    """Whether an op has run when it returns. Here it always has."""
    return _settings.synchronous


def set_synchronous_execution(enable: bool) -> None:
    """Say whether ops may return before they have run. Here they never do."""
    _settings.synchronous = bool(enable)


def get_device_policy() -> str:
    """What happens if the inputs of an op are on several devices: there is only one."""
    return _settings.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Say what happens if the inputs of an op are on several devices."""
    if device_policy not in (None, "silent", "silent_for_int32", "warn", "explicit"):
        raise ValueError(
            f"set_device_policy: {device_policy!r} is none of None, 'silent', 'silent_for_int32', "
            "'warn' and 'explicit'."
        )
    _settings.device_policy = device_policy or "silent"


def tensor_float_32_execution_enabled() -> bool:
    """Whether GPUs may round products of float32 to 10 bits. The CPU never does."""
    return placement.tf32


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Say whether GPUs may round products of float32 to 10 bits. The CPU never does.

    Compiled functions are traced again for it.
    """
    placement.tf32 = bool(enabled)
    card = placement.card
    if card is not None:
        card.use_tf32(bool(enabled))


def get_intra_op_parallelism_threads() -> int:
    """The number of threads that one op may take; 0 if it was not set."""
    return _settings.intra_op


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Let an eager op take this many threads, in NumPy's OpenBLAS and outside; 0 for all cores.

    Results do not depend on it, but for those of products, to rounding. It may be set at any time.
    Compiled functions take those of XLA, which are made when JAX starts.
    """
    _settings.intra_op = _threads("set_intra_op_parallelism_threads", num_threads)
    blocks.set_threads(_settings.intra_op)
    blas.set_threads(blocks.threads())


def get_inter_op_parallelism_threads() -> int:
    """The number of ops that may run at the same time, as it was set; 0 if it was not."""
    return _settings.inter_op


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Let this many ops run at the same time. Eager ops run one after the other."""
    _settings.inter_op = _threads("set_inter_op_parallelism_threads", num_threads)


def _threads(op: str, count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"{op}: `num_threads` must be a number of threads, and is {count!r}.")
    return count


def get_jit() -> str:
    """Whether functions are compiled by XLA without being told so, as it was set."""
    return _settings.jit


def set_jit(enabled: bool | str) -> None:
    """Have functions compiled by XLA. Here all of them are."""
    _settings.jit = "autoclustering" if enabled else ""


def get_experimental_options() -> dict[str, Any]:
    """The options of the optimizer of graphs, as they were set."""
    return _options | {"disable_model_pruning": False, "disable_meta_optimizer": False} | _options


def set_experimental_options(options: dict[str, Any]) -> None:
    """Set options of TensorFlow's optimizer of graphs. XLA, which optimizes here, has none such."""
    _options.update(options)
