"""GradientMonitor: what gradients and weights do during training, and a warning when it is bad.

measurements.py measures and judges, variable by variable; views.py shows the result.
"""

from __future__ import annotations

import math
import warnings
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import numpy as np

from ...core import nest
from ...core.cotangent import IndexedSlices
from ...core.errors import ShapeError
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ..summary.record import histogram, scalar
from ..summary.writer import SummaryWriter, create_noop_writer
from . import views
from .measurements import Settings, Track


class GradientWarning(UserWarning):
    """A gradient vanishes, explodes, is dead, or is not finite."""


class GradientMonitor:
    """Keeps for each variable the norms of gradient and weights, and how fast it changes.

        monitor = GradientMonitor()
        for x, y in batches:
            with tf.GradientTape() as tape:
                loss = loss_of(model(x), y)
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(monitor(grads, model.trainable_variables))
        print(monitor)
        monitor.plot("gradients.png")

    It warns with a `GradientWarning`, once for each variable and condition, of a gradient that

    - holds NaN or infinity, or whose variable does;
    - is dead: None, or zero everywhere, for `patience` steps;
    - vanishes: its root mean square is below `vanishing` for `patience` steps;
    - explodes: its norm is above `exploding`, or above 1 and `jump` times what it usually was.

    With a `writer` (of `summary.create_file_writer`) it writes for TensorBoard every `write_every`
    steps. It measures the norms of the gradients in each step; those of the weights, their change
    since the step before (on a `sample`), the shares of zeros and histograms (of a sample) in the
    first steps and then every `detail_every` steps. At most `history` measurements of each variable
    are kept: when there are more, every second one is dropped.
    """

    def __init__(
        self,
        *,
        vanishing: float = 1e-7,
        exploding: float = 1e4,
        jump: float = 100.0,
        patience: int = 20,
        detail_every: int = 10,
        history: int = 512,
        sample: int = 4096,
        writer: SummaryWriter | None = None,
        write_every: int = 100,
    ) -> None:
        self._settings = Settings(
            vanishing, exploding, jump, patience, detail_every, history, sample
        )
        for name, value in {**vars(self._settings), "write_every": write_every}.items():
            if not value > 0:
                raise ValueError(f"GradientMonitor: `{name}` must be above 0, not {value!r}.")
        self._writer = writer
        self._write_every = write_every
        self._tracks: dict[int, Track] = {}  # by the id of the variable, which the track keeps
        self._by_name: dict[str, Track] = {}
        self.problems: list[str] = []
        """The texts of the warnings, in their order."""

    # Measuring

    def update(
        self, gradients: Any, variables: Any = None, step: Any = None
    ) -> list[tuple[Any, Any]]:
        """Measure the gradients of this step. Returns the pairs (gradient, variable).

        Takes `gradients` and `variables`, nested alike, or pairs of both as `gradients`. Without
        `step`, each variable counts its own from 0. To be called once in each step, either always
        before or always after the variables are updated.
        """
        if current_graph() is not None:
            raise RuntimeError(
                "GradientMonitor: inside @function the gradients have no values yet. Return them "
                "from the function, and call the monitor outside, with what it returned."
            )
        pairs = _pairs(gradients, variables)
        arrays = [self._array_of(gradient, variable) for gradient, variable in pairs]
        step = None if step is None else int(step)
        tracks = [self._track(variable) for _, variable in pairs]
        with np.errstate(all="ignore"):  # what overflows or is not finite is found and named
            for track, array in zip(tracks, arrays, strict=True):
                track.measure(array, step)
        if self._writer is not None:
            due = [track for track in tracks if track.steps % self._write_every == 0]
            _write(due, self._writer, None)
        for track in tracks:
            for condition in track.conditions():
                if condition not in track.problems:
                    self._warn(track, condition)
        return pairs

    __call__ = update

    def _array_of(self, gradient: Any, variable: Any) -> Any:
        """A gradient as an array of the shape of `variable`; IndexedSlices and None as they are."""
        track = self._tracks.get(id(variable))
        if track is None and not hasattr(variable, "assign"):
            raise TypeError(
                "GradientMonitor: it follows variables from step to step, and this is none: "
                f"{variable!r:.100}. Pass monitor(gradients, variables)."
            )
        if gradient is None or isinstance(gradient, IndexedSlices):
            return gradient
        array = np.asarray(gradient._array if isinstance(gradient, Tensor) else gradient)
        if (track is None or array.shape != track.shape) and array.shape != np.shape(variable):
            raise ShapeError(
                f"GradientMonitor: the gradient of {variable.name!r} must have its shape "
                f"{np.shape(variable)}, and has {array.shape}. Are both lists in the same order?"
            )
        return array

    def _track(self, variable: Any) -> Track:
        track = self._tracks.get(id(variable))
        if track is None:
            name = _unused(variable.name.removesuffix(":0"), self._by_name)
            track = Track(name, variable, self._settings)
            self._tracks[id(variable)] = self._by_name[name] = track
        return track

    def _warn(self, track: Track, condition: str) -> None:
        text = track.explain(condition)
        track.problems.append(condition)
        self.problems.append(text)
        self._tell(text)

    def _tell(self, text: str) -> None:
        warnings.warn(f"GradientMonitor: {text}", GradientWarning, stacklevel=4)

    # Reading

    @property
    def tracks(self) -> list[Track]:
        """What is known of each variable, in the order in which they came."""
        return list(self._by_name.values())

    def __getitem__(self, variable: Any) -> Track:
        """What is known of a variable, given itself or its name."""
        if isinstance(variable, str):
            track = self._by_name.get(variable.removesuffix(":0"))
        else:
            track = self._tracks.get(id(variable))
        if track is None:
            raise KeyError(
                f"GradientMonitor: {variable!r:.100} was not measured. These were: "
                f"{', '.join(self._by_name) or 'none'}."
            )
        return track

    # Showing

    def table(self) -> str:
        """A line for each variable, with its latest measurement."""
        return views.table(self.tracks)

    __str__ = table

    def show(self) -> None:
        """Print the table."""
        views.show(self.tracks)

    def live(self) -> AbstractContextManager[None]:
        """A block during which the table is kept up to date at the bottom of the terminal.

        That needs `rich`; without it, or without a terminal, the table is printed at the end.

            with monitor.live():
                train()
        """
        return views.live(lambda: self.tracks)

    def plot(self, path: Any = None) -> Any:
        """The gradient flow as a figure of matplotlib, saved to `path` if that is given."""
        return views.plot(self.tracks, path)

    def write(self, writer: SummaryWriter | None = None, step: Any = None) -> None:
        """Write the latest measurements for TensorBoard, to `writer` or to the default one."""
        _write(self.tracks, writer or create_noop_writer(), step)


def _pairs(gradients: Any, variables: Any) -> list[tuple[Any, Any]]:
    if variables is None:
        pairs = list(gradients)
        if not all([isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs]):
            raise TypeError(
                "GradientMonitor: without `variables`, `gradients` must consist of pairs "
                f"(gradient, variable), and is {gradients!r:.100}. Pass both: monitor(grads, vars)."
            )
        return [tuple(pair) for pair in pairs]
    gradients, variables = nest.flatten(gradients), nest.flatten(variables)
    if len(gradients) != len(variables):
        raise ValueError(
            f"GradientMonitor: there are {len(gradients)} gradients and {len(variables)} "
            "variables. Pass one gradient, or None, for each variable."
        )
    return list(zip(gradients, variables, strict=True))


def _unused(name: str, in_use: Any) -> str:
    """`name`, with a number if another variable has it: unnamed ones are all called Variable."""
    numbered = (f"{name}_{i}" for i in count(1))
    return name if name not in in_use else next(each for each in numbered if each not in in_use)


def _write(tracks: list[Track], writer: SummaryWriter, step: Any) -> None:
    with writer.as_default():
        for track in tracks:
            values = track.latest._asdict()
            measured_at = values.pop("step")
            at = measured_at if step is None else step
            for field, value in values.items():
                if not math.isnan(value):
                    scalar(f"{field}/{track.name}", value, at)
            histogram(f"gradient/{track.name}", track.gradient_sample, at)
            histogram(f"weights/{track.name}", track.weight_sample, at)
