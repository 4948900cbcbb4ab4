"""`tf.profiler.experimental`: what a stretch of a program does with its time, for TensorBoard.

Two files are written into the folder of a run. JAX's profiler, if there is JAX, writes what runs:
the programs of compiled functions, the stretches that `Trace` names, and op calls by their names;
gradtape's own (`tape/profile.py`) op calls with the user's functions and lines around them, for the
viewer of Perfetto.
"""

from __future__ import annotations

import platform
import shutil
import threading
import time
from contextlib import AbstractContextManager
from importlib import util
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

from ..core.errors import AlreadyExistsError, UnavailableError
from ..core.late import late
from ..core.tracing import current_graph
from ..core.witness import Witness


class ProfilerOptions(NamedTuple):
    """How much is recorded: of the host (0 to 3), of Python's calls, of devices."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _State:
    folder: str | None = None  # for which is being recorded
    kept: TemporaryDirectory[str] | None = None  # where, until it is known that it is wanted
    ops: Any = None  # the profiler of op calls
    names: Witness | None = None  # tells JAX of them


_state = _State()


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Record what runs from here on, until `stop()` writes it into the folder `logdir`."""
    if _state.folder is not None:
        raise AlreadyExistsError(
            f"profiler.start: it records for {_state.folder!r} already. Call stop() first."
        )
    _state.kept = TemporaryDirectory()
    if _has_jax():
        _start_jax(_state.kept.name, options or ProfilerOptions())
        _state.names = _Names()
        _state.names.begin()
    _state.folder = str(logdir)
    _state.ops = late.new_profiler()
    _state.ops.begin()
    _state.ops.start()


def _start_jax(folder: str, given: ProfilerOptions) -> None:
    import jax

    settings: Any = jax.profiler.ProfileOptions()
    settings.host_tracer_level = given.host_tracer_level
    settings.python_tracer_level = given.python_tracer_level
    if hasattr(settings, "device_tracer_level"):  # not in JAX 0.12
        settings.device_tracer_level = given.device_tracer_level
    jax.profiler.start_trace(folder, profiler_options=settings)


def stop(save: bool = True) -> None:
    """End the recording, and write it unless `save` is False."""
    if _state.folder is None or _state.kept is None:
        raise UnavailableError(
            "profiler.stop: nothing is being recorded. Call profiler.start(logdir) first."
        )
    folder, _state.folder = _state.folder, None
    ops, names = _state.ops, _state.names
    _state.ops = _state.names = None
    ops.stop()
    ops.end()
    with _state.kept as kept:
        if names is not None:
            import jax

            names.end()
            jax.profiler.stop_trace()  # type: ignore[no-untyped-call, unused-ignore]
        if save:
            ops.profile().save_chrome_trace(_file_of_run(Path(kept)))
            shutil.copytree(kept, folder, dirs_exist_ok=True)


def _file_of_run(folder: Path) -> Path:
    """Where the op calls of a run are written: beside what JAX has written of it."""
    runs = folder / "plugins" / "profile"
    run = next(iter(runs.glob("*")), runs / time.strftime("%Y_%m_%d_%H_%M_%S"))
    run.mkdir(parents=True, exist_ok=True)
    return run / f"{platform.node() or 'host'}.ops.trace.json.gz"


class _Names(Witness):
    """Tells JAX's profiler what op runs."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def begins(self, op: Any) -> None:
        import jax

        if current_graph() is None:
            running = self._thread.__dict__.setdefault("running", [])
            name = jax.profiler.TraceAnnotation(op.name)
            name.__enter__()
            running.append((op, name))

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        running = self._thread.__dict__.get("running", [])
        if current_graph() is None and any([each is op for each, _ in running]):
            ended = None
            while ended is not op:  # those inside have failed
                ended, name = running.pop()
                name.__exit__(None, None, None)


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
        self._name, self._about = name, kwargs
        self._annotation: Any = None
        if _has_jax():
            import jax

            self._annotation = jax.profiler.TraceAnnotation(name, **kwargs)

    def __enter__(self) -> Self:
        self._start = time.perf_counter_ns()
        if self._annotation is not None:
            self._annotation.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._annotation is not None:
            self._annotation.__exit__(*error)
        if _state.ops is not None:
            _state.ops.add_block(self._name, self._start, self._about)


def _has_jax() -> bool:
    return util.find_spec("jax") is not None
