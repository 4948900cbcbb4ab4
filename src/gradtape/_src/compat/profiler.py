"""`tf.profiler.experimental`: what a stretch of a program does with its time, for TensorBoard.

What is recorded is what JAX's profiler sees: the programs of compiled functions, and the stretches
that `Trace` names. Eager ops are NumPy's and do not show by themselves.
"""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

from ..core.errors import AlreadyExistsError, UnavailableError


class ProfilerOptions(NamedTuple):
    """How much is recorded: of the host (0 to 3), of Python's calls, of devices."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _State:
    folder: str | None = None  # for which is being recorded
    kept: TemporaryDirectory[str] | None = None  # where, until it is known that it is wanted


_state = _State()


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Record what runs from here on, until `stop()` writes it into the folder `logdir`."""
    import jax

    if _state.folder is not None:
        raise AlreadyExistsError(
            f"profiler.start: it records for {_state.folder!r} already. Call stop() first."
        )
    given = options or ProfilerOptions()
    settings: Any = jax.profiler.ProfileOptions()
    settings.host_tracer_level = given.host_tracer_level
    settings.python_tracer_level = given.python_tracer_level
    if hasattr(settings, "device_tracer_level"):  # not in JAX 0.12
        settings.device_tracer_level = given.device_tracer_level
    _state.kept = TemporaryDirectory()
    jax.profiler.start_trace(_state.kept.name, profiler_options=settings)
    _state.folder = str(logdir)


def stop(save: bool = True) -> None:
    """End the recording, and write it unless `save` is False."""
    import jax

    if _state.folder is None or _state.kept is None:
        raise UnavailableError(
            "profiler.stop: nothing is being recorded. Call profiler.start(logdir) first."
        )
    folder, _state.folder = _state.folder, None
    with _state.kept as kept:
        jax.profiler.stop_trace()  # type: ignore[no-untyped-call, unused-ignore]
        if save:
            shutil.copytree(kept, folder, dirs_exist_ok=True)


class Profile(AbstractContextManager["Profile"]):
    """A block that is recorded: `with tf.profiler.experimental.Profile(logdir):`"""

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir = logdir
        self._options = options

    def __enter__(self) -> Self:
        start(self._logdir, self._options)
        return self

    def __exit__(self, *error: object) -> None:
        stop()


class Trace(AbstractContextManager["Trace"]):
    """A block that has a name in the recording, and more about it: `Trace("step", step_num=3)`."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        import jax

        self._annotation = jax.profiler.TraceAnnotation(name, **kwargs)

    def __enter__(self) -> Self:
        self._annotation.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._annotation.__exit__(*error)
