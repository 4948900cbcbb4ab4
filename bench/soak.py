"""Does it hold for half an hour? `python -m bench soak`: everything at once, with interrupts.

Two models are trained, one eagerly and one compiled, with batches of a `tf.data` pipeline and with
Adam; checkpoints are written and restored; threads read the variables all the while; and a timer
raises an exception in the middle of it, at random times. The loss is the sum of all weights, so
each gradient is 1: after any number of steps all elements of all weights have one value, and so do
the slots of Adam, whatever comes in between. A value that is torn, lost, or of another step than
the others is seen at once.

Memory: the resident bytes after each round, after a garbage collection. The median over the last
quarter of the run must not be above that over the second quarter (the first is the warm-up, where
programs are compiled) by more than 5 % or 30 MB.
"""

from __future__ import annotations

import gc
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bench.questions.growth import resident_bytes

SHAPES = [(64, 32), (32,), (300, 200), (600, 500), ()]
ROWS, BATCH = 1000, 32
MAY_GROW, MAY_GROW_BYTES = 0.05, 30e6


class Interrupt(BaseException):
    """What the handler of the timer raises, as that of Ctrl-C raises KeyboardInterrupt."""


class Wrong(Exception):
    """A value is not what it must be."""


class Model:
    """Weights of many sizes, and Adam."""

    def __init__(self, tf: ModuleType, compiled: bool) -> None:
        self.tf = tf
        self.weights = [tf.Variable(np.zeros(shape, np.float32)) for shape in SHAPES]
        self.optimizer = tf.optimizers.Adam(1e-3)
        self.optimizer.build(self.weights)
        self.checkpoint = tf.train.Checkpoint(weights=self.weights, optimizer=self.optimizer)
        self.step = tf.function(self._step) if compiled else self._step

    def _step(self, batch: Any) -> Any:
        tf = self.tf
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(w) for w in self.weights])
            loss += 0.0 * tf.reduce_sum(batch)
        gradients = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(gradients, self.weights, strict=True))
        return loss

    def state(self) -> list[Any]:
        return [v.numpy() for v in (*self.weights, *self.optimizer.variables)]

    def check(self) -> None:
        """All elements of all weights are one number; so are those of the slots of one kind."""
        weights = [v.numpy() for v in self.weights]
        slots = [v.numpy() for v in self.optimizer.variables[2:]]
        for kind, values in (
            ("weight", weights),
            ("momentum", slots[::2]),
            ("velocity", slots[1::2]),
        ):
            if any(np.ptp(value) for value in values):
                raise Wrong(f"a {kind} is torn")
            if len({float(value.flat[0]) for value in values}) != 1:
                raise Wrong(f"the values of the {kind}s are of two steps")
        expected = 1 - 0.9 ** int(self.optimizer.iterations)
        if abs(float(slots[0].flat[0]) - expected) > 1e-3:
            raise Wrong("the count of steps and the momentum are of two steps")


class Soak:
    """The models, the threads that read them, and what is done in a round."""

    def __init__(self, tf: ModuleType, folder: Path) -> None:
        self.tf = tf
        self.folder = folder
        self.models = {"eager": Model(tf, False), "compiled": Model(tf, True)}
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.rng = random.Random(0)
        self._rows = np.arange(ROWS, dtype=np.float32)
        self._done = threading.Event()
        self._readers = [
            threading.Thread(target=self._read, args=[model], daemon=True)
            for model in self.models.values()
        ]

    def _read(self, model: Model) -> None:
        try:
            while not self._done.wait(0.001):
                for v in model.weights:
                    if np.ptp((v * 1.0).numpy()):
                        raise Wrong("a reader met a torn weight")
                self.counts["reads"] += len(model.weights)
        except BaseException as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    def __enter__(self) -> Soak:
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        for reader in self._readers:
            reader.join(60)

    # What is done

    def train(self) -> None:
        """An epoch of the pipeline, by one of the models; every row comes once."""
        model = self.rng.choice(list(self.models.values()))
        data = self.tf.data.Dataset.from_tensor_slices(self._rows)
        data = data.shuffle(200).map(lambda x: x + 1.0).batch(BATCH).prefetch(2)
        total = 0.0
        for batch in data:
            model.step(batch)
            total += float(self.tf.reduce_sum(batch))
            self.counts["steps"] += 1
        if total != float(np.sum(self._rows + 1, dtype=np.float64)):
            raise Wrong("the pipeline lost rows")

    def save_and_restore(self) -> None:
        """What was saved comes back, whatever was done in between."""
        model = self.rng.choice(list(self.models.values()))
        path = model.checkpoint.write(str(self.folder / "model"))
        saved = model.state()
        for _ in range(3):
            model.step(self.tf.constant(self._rows[:BATCH]))
        model.checkpoint.restore(path)
        for value, before in zip(model.state(), saved, strict=True):
            if not np.array_equal(value, before):
                raise Wrong("a restored value is another one")
        self.counts["checkpoints"] += 1

    def round(self, interrupting: Callable[[float], None]) -> None:
        """One of these, interrupted more often than not, and a look at all values."""
        restoring = self.rng.random() < 0.2
        work = self.save_and_restore if restoring else self.train
        try:
            # A restoration is a value after the other: an interrupt would leave it half done.
            if not restoring and self.rng.random() < 0.8:
                interrupting(self.rng.uniform(1e-4, 0.1))
            work()
            interrupting(0.0)
        except Interrupt:
            interrupting(0.0)
            self.counts["interrupts"] += 1
        for model in self.models.values():
            model.check()
        self.counts["rounds"] += 1
        if self.wrong:
            raise Wrong(self.wrong[0])


def interrupter() -> Callable[[float], None]:
    """Asks for an Interrupt of this thread after so many seconds; with 0, for none."""
    armed = threading.Event()

    def handle(*_: object) -> None:
        if armed.is_set():
            raise Interrupt

    signal.signal(signal.SIGALRM, handle)

    def ask(seconds: float) -> None:
        if seconds:
            armed.set()
        else:
            armed.clear()
        signal.setitimer(signal.ITIMER_REAL, seconds)

    return ask


def soak(minutes: float) -> int:
    """Run for so many minutes, print what is done, and a verdict; 0 if all was right."""
    import jax  # noqa: F401  (an interrupt in the middle of an import leaves half a module)

    import gradtape as tf

    if not hasattr(signal, "setitimer"):
        print("soak: there are no timers on this system to interrupt by.", file=sys.stderr)
        return 2
    seconds = 60 * minutes
    memory: list[tuple[float, int]] = []
    start = shown = time.monotonic()
    interrupting = interrupter()
    with tempfile.TemporaryDirectory() as folder, Soak(tf, Path(folder)) as work:
        try:
            while (now := time.monotonic() - start) < seconds:
                work.round(interrupting)
                gc.collect()
                memory.append((now, resident_bytes()))
                if time.monotonic() - shown >= max(seconds / 30, 1):
                    shown = time.monotonic()
                    print(f"{now / 60:5.1f} min  {_line(work.counts, memory[-1][1])}", flush=True)
        except Wrong as error:
            print(f"{(time.monotonic() - start) / 60:5.1f} min  WRONG: {error}")
            return 1
    print(f"{'total':>9}  {_line(work.counts, memory[-1][1])}")
    early, late = _quarter(memory, seconds, 1), _quarter(memory, seconds, 3)
    flat = late - early <= max(MAY_GROW * early, MAY_GROW_BYTES)
    print(
        f"memory: {early / 1e6:.0f} MB in the second quarter, {late / 1e6:.0f} MB in the last one"
    )
    print("no value was lost or torn; memory " + ("is flat" if flat else "GROWS"))
    return 0 if flat else 1


def _line(counts: Counter[str], resident: int) -> str:
    names = ("rounds", "steps", "interrupts", "checkpoints", "reads")
    return ", ".join(f"{counts[name]:,} {name}" for name in names) + f", {resident / 1e6:.0f} MB"


def _quarter(memory: list[tuple[float, int]], seconds: float, number: int) -> float:
    """The median of the resident bytes in a quarter of the run, counted from 0."""
    found = [size for when, size in memory if 4 * when / seconds // 1 == number]
    return statistics.median(found or [size for _, size in memory])
