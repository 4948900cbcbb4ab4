"""Does it hold for half an hour? `python -m bench soak`: everything at once, with interrupts.

Two models are trained, one eagerly and one compiled, with batches of a `tf.data` pipeline and with
Adam; functions are traced; random numbers are drawn; checkpoints are written and restored; threads
read the variables all the while; and exceptions come in the middle of all this, at random times:
those of a timer's handler, and KeyboardInterrupts of real SIGINTs. The loss is the sum of all
weights, so each gradient is 1: after any number of steps all elements of all weights have one
value, and so do the slots of Adam, whatever comes in between. A value that is torn, lost, or of
another step than the others is seen at once. So is a row that a pass through the pipeline loses
over an interrupt or gives twice, a checkpoint that is restored in part, and a tape left recording.

Memory: the resident bytes after each round, after a garbage collection. The median over the last
quarter of the run must not be above that over the second quarter (the first is the warm-up, where
programs are compiled) by more than 5 % or 30 MB.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bench.questions.growth import resident_bytes
from gradtape._src.core.recorder import recorders as active_recorders

SHAPES = [(64, 32), (32,), (300, 200), (600, 500), ()]
ROWS, BATCH = 1000, 32
MAY_GROW, MAY_GROW_BYTES = 0.05, 30e6


class Interrupt(BaseException):
    """What the handler of the timer raises, as that of Ctrl-C raises KeyboardInterrupt."""


INTERRUPTS = (Interrupt, KeyboardInterrupt)


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
        self.interrupter = Interrupter()
        self.generator = tf.random.Generator.from_seed(1)
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

    def interrupted(self, work: Callable[[], Any]) -> bool:
        """Do it, and be interrupted more often than not; whether that came about."""
        try:
            if self.rng.random() < 0.8:
                self.interrupter.ask(self.rng.uniform(1e-4, 0.05), self.rng.random() < 0.5)
            work()
            self.interrupter.ask(0.0)
            return False
        except INTERRUPTS:
            self.interrupter.ask(0.0)
            self.counts["interrupts"] += 1
            return True

    def train(self) -> None:
        """An epoch of the pipeline, by one of the models; every row comes once.

        After an interrupt the pass goes on. (What `extend` takes, C takes and keeps.)
        """
        model = self.rng.choice(list(self.models.values()))
        data = self.tf.data.Dataset.from_tensor_slices(self._rows)
        data = data.shuffle(200).map(lambda x: x + 1.0).batch(BATCH).prefetch(2)
        rest, taken = iter(data), []

        def step() -> None:
            for batch in taken[before:]:
                model.step(batch)
                self.counts["steps"] += 1

        ended = False
        while not ended:
            before = len(taken)
            came = self.interrupted(lambda: taken.extend(islice(rest, 8)))
            ended = not came and len(taken) < before + 8
            self.interrupted(step)
            model.check()
        total = sum(float(self.tf.reduce_sum(batch)) for batch in taken)
        if total != float(np.sum(self._rows + 1, dtype=np.float64)):
            raise Wrong("the pipeline lost rows, or gave some twice")

    def save_and_restore(self) -> None:
        """What was saved comes back, whatever was done in between, and all of it at once."""
        model = self.rng.choice(list(self.models.values()))
        path = str(self.folder / "model")
        before = model.state()
        while self.interrupted(lambda: model.checkpoint.write(path)):
            _require_one_of("a written value", model.state(), before)
        for _ in range(3):
            model.step(self.tf.constant(self._rows[:BATCH]))
        after = model.state()
        if self.interrupted(lambda: model.checkpoint.restore(path)):
            _require_one_of("a value of an interrupted restoration", model.state(), before, after)
        model.checkpoint.restore(path)
        _require_one_of("a restored value", model.state(), before)
        self.counts["checkpoints"] += 1

    def trace(self) -> None:
        """A new function, with control flow, a variable of its own, and a gradient of its call."""
        tf = self.tf
        made: list[Any] = []

        @tf.function  # type: ignore[untyped-decorator]
        def f(x: Any) -> Any:
            if not made:
                made.append(tf.Variable(2.0))
            y = x * made[0]
            for _ in tf.range(3):
                if tf.reduce_sum(y) > 0:
                    y = y * x
            return tf.reduce_sum(y)

        def gradient() -> Any:
            with tf.GradientTape() as tape:
                y = f(tf.constant([2.0]))
            return tape.gradient(y, made[0])

        self.interrupted(gradient)
        if float(gradient()) != 16.0:
            raise Wrong("a function that was interrupted while it was traced is another one")
        self.counts["traces"] += 1

    def draw(self) -> None:
        """A draw from a Generator moves it on, or does not."""
        states = [self.generator.state.numpy()]
        self.generator.skip(1000)
        states.append(self.generator.state.numpy())
        self.generator.reset(states[0])
        self.interrupted(lambda: self.generator.normal([1000]))
        _require_one_of("a random state", [self.generator.state.numpy()], *[[x] for x in states])

    def round(self) -> None:
        """One of these, and a look at all values."""
        chances = {self.train: 6, self.save_and_restore: 2, self.trace: 1, self.draw: 1}
        (work,) = self.rng.choices(list(chances), list(chances.values()))
        work()
        for model in self.models.values():
            model.check()
        for _ in range(2):  # the second forgets what the first may have found
            with self.tf.GradientTape():
                pass
        if active_recorders():
            raise Wrong("a tape is left recording")
        self.counts["rounds"] += 1
        if self.wrong:
            raise Wrong(self.wrong[0])


def _require_one_of(what: str, values: list[Any], *allowed: list[Any]) -> None:
    """All values are those of one of these lists."""
    if not any(all(map(np.array_equal, values, each)) for each in allowed):
        raise Wrong(f"{what} is another one")


class Interrupter:
    """Interrupts the main thread: by a timer's signal, or by a SIGINT that another thread sends."""

    def __init__(self) -> None:
        self._armed = False
        self._sender = threading.Timer(0.0, int)
        signal.signal(signal.SIGALRM, self._handle)
        signal.signal(signal.SIGINT, self._handle)

    def _handle(self, number: int, _: object) -> None:
        if self._armed:
            raise KeyboardInterrupt if number == signal.SIGINT else Interrupt

    def ask(self, seconds: float, sigint: bool = False) -> None:
        """Ask for an interrupt after so many seconds; with 0, for none."""
        self._armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        self._sender.cancel()
        if not seconds:
            return
        if sigint:
            self._sender = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
            self._sender.start()
        else:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        self._armed = True


def soak(minutes: float) -> int:
    """Run for so many minutes, print what is done, and a verdict; 0 if all was right."""
    import gradtape as tf

    tf.function(lambda x: x + 1)(0)  # an interrupt in the middle of an import leaves half a module

    if not hasattr(signal, "setitimer"):
        print("soak: there are no timers on this system to interrupt by.", file=sys.stderr)
        return 2
    seconds = 60 * minutes
    memory: list[tuple[float, int]] = []
    start = shown = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Soak(tf, Path(folder)) as work:
        try:
            while (now := time.monotonic() - start) < seconds:
                work.round()
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
    names = ("rounds", "steps", "interrupts", "checkpoints", "traces", "reads")
    return ", ".join(f"{counts[name]:,} {name}" for name in names) + f", {resident / 1e6:.0f} MB"


def _quarter(memory: list[tuple[float, int]], seconds: float, number: int) -> float:
    """The median of the resident bytes in a quarter of the run, counted from 0."""
    found = [size for when, size in memory if 4 * when / seconds // 1 == number]
    return statistics.median(found or [size for _, size in memory])
