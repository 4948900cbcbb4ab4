"""Large arrays in blocks that stay in the cache, on the threads that there are.

NumPy lets go of the GIL in its loops, so that several threads can each work on a block of one
array. And a kernel of many steps that runs block by block finds what the step before it has written
in the cache: softplus of 4 million float32 values takes 9 ms in place of 45, on one thread.

Where the blocks begin depends on shapes alone, and each has a result of its own: so the bits do not
depend on the number of threads, nor on which of them was quicker. (docs/decisions/0030)

`elementwise` runs a kernel so, `by_rows` a function that writes rows. `Helpers` are the threads;
what else has work to share (the step of an optimizer) takes them from `helpers`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

import numpy as np

from ...core.engine import LARGE
from ...core.interrupts import start
from .memory import empty

BLOCK = 2**16
"""Elements of a block. The arrays of a block, of which a kernel has a few, should stay in the cache
of a core; and a step of a kernel should take longer than to hand over the GIL.

CPU time in ms, one thread, by blocks of 2**14 | 15 | 16 | 17 | 18: gelu and its gradient, 4 million
float32, 16.2 | 13.9 | 13.0 | 13.3 | 14.3; softplus 5.9 | 5.3 | 5.4 | 5.4 | 5.5.
"""

# The threads


class Helper:
    """A thread that waits for something to do."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self.begin = self._tasks.put
        """Give it a `Task`. (A function of C, so that it can be one of the calls of a step.)"""
        start(Thread(target=self._work, name="gradtape helper", daemon=True))

    def _work(self) -> None:
        while True:
            self._tasks.get().run()  # no name for it: it must not hold the arrays


class Task:
    """What a helper is to do: `action()`, in the context of the thread that asks for it.

    The context brings `np.errstate` along, and whatever else the caller has set for itself.
    """

    def __init__(self, action: Callable[[], Any]) -> None:
        self._action: Callable[[], Any] | None = action
        self._context = copy_context()
        self._begun = self._cancelled = False
        self._outcome: list[BaseException | None] = []
        self._ended: SimpleQueue[None] = SimpleQueue()

    def run(self) -> None:
        self._begun = True
        error = None
        action, self._action = self._action, None
        if action is not None and not self._cancelled:
            try:
                self._context.run(action)
            except BaseException as raised:
                error = raised
        self._outcome.append(error)
        self._ended.put(None)

    def wait(self) -> None:
        """Until it has ended. If an interrupt ends the waiting, it may be called again."""
        while not self._outcome:
            self._ended.get()

    def finish(self) -> None:
        """Wait for the end; if it was an error, raise it."""
        self.wait()
        if self._outcome[0] is not None:
            raise self._outcome[0]

    def cancel(self) -> None:
        """Have it not begin any more; wait if it has begun. (It may never have been given away.)"""
        self._cancelled = True
        if self._begun:
            self.wait()


class Helpers:
    """The threads that help whoever has the lock; other threads meanwhile work alone."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._threads: list[Helper] = []

    def ready(self, most: int) -> list[Helper]:
        """Them all, or as many; for the holder of the lock. They begin when first needed."""
        count = min(threads() - 1, most)
        while len(self._threads) < count:
            self._threads.append(Helper())
        return self._threads[:count]


helpers = Helpers()
_threads = 0  # as it was set; 0: the default


def _renew() -> None:
    """After a fork, in the child: the threads are not there any more, and nobody holds the lock."""
    helpers.__init__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def threads() -> int:
    """How many threads work on one array."""
    return _threads or default_threads()


def set_threads(count: int) -> None:
    """Have so many threads work on one array; 0: as many as there are cores for this process."""
    global _threads
    _threads = count


@cache
def default_threads() -> int:
    """The cores that this process may use, or what OMP_NUM_THREADS says, as libraries heed it."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isdecimal() and int(said):
        return int(said)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Work in blocks


def share(parts: Sequence[Any], work: Callable[[Iterator[Any]], Any]) -> None:
    """Call `work` on all threads at once, each with an iterator over what parts are left.

    So what it keeps from one part to the next, as memory for its steps, is one thread's own. An
    exception ends it, when each thread is done with its part.
    """
    remaining = iter(parts)
    if len(parts) < 2 or threads() == 1 or helpers.lock.locked():
        work(remaining)
        return
    with helpers.lock:
        _share(remaining, min(threads(), len(parts)) - 1, work)


def each_block(blocks: Sequence[Any], work: Callable[[Any], Any]) -> None:
    """Call `work` with each of the blocks, on all threads at once."""

    def each(blocks: Iterator[Any]) -> None:
        for block in blocks:
            work(block)

    share(blocks, each)


def _slices(count: int, size: int) -> list[slice]:
    """The last one is longer by up to a half: a kernel may do otherwise with few elements."""
    number = max(1, (count + size // 2) // size)
    stops = [size * (i + 1) for i in range(number - 1)] + [count]
    return [slice(size * i, stop) for i, stop in enumerate(stops)]


def _share(remaining: Iterator[Any], most: int, work: Callable[[Iterator[Any]], Any]) -> None:
    def action() -> None:
        try:
            work(remaining)
        except BaseException:
            list(remaining)  # so that no thread begins another one
            raise

    tasks: list[Task] = []
    try:
        for helper in helpers.ready(most):
            tasks.append(Task(action))
            helper.begin(tasks[-1])
        action()
        for task in tasks:
            task.finish()
    except BaseException:
        list(remaining)
        for task in tasks:
            task.cancel()
        raise


# Kernels in blocks


def by_rows(like: Any, work: Callable[[slice, Any], Any]) -> Any:
    """A matrix like this one, of which `work(rows, out)` writes the rows `out`, each by itself.

    By larger blocks: such work writes in place, and reductions and look-ups are dear to call.
    """
    count, width = like.shape
    result = empty(like.shape, like.dtype)
    blocks = _slices(count, max(1, 2 * BLOCK // max(width, 1)))
    each_block(blocks, lambda rows: work(rows, result[rows]))
    return result


def elementwise(kernel: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """`kernel(*arrays)`, whose elements are made of elements of the arrays, which broadcast.

    It runs on blocks if the arrays lie in order; else on the whole.
    """
    shape = max([array.shape for array in arrays], key=len)
    for array in arrays:
        if array.ndim and (array.shape != shape or not array.flags.c_contiguous):
            return _by_rows(kernel, arrays)
    flat = [array.reshape(-1) if array.ndim else array for array in arrays]
    result = _run(kernel, flat, [array.ndim > 0 for array in flat], math.prod(shape), BLOCK)
    if result is None:
        return kernel(*arrays)
    if type(result) is tuple:
        return tuple([part.reshape(shape) for part in result])
    return result.reshape(shape)


def _by_rows(kernel: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """The same where some are smaller, as a bias is: on blocks of whole rows of the others."""
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    size = math.prod(shape)
    whole = [array.ndim == len(shape) and len(array) == shape[0] for array in arrays]
    in_order = [array.flags.c_contiguous for array in arrays]
    if not all(in_order) or shape[0] < 2 or size < LARGE:
        return kernel(*arrays)
    rows = max(1, BLOCK * shape[0] // size)
    result = _run(kernel, arrays, whole, shape[0], rows)
    return kernel(*arrays) if result is None else result


def _run(
    kernel: Callable[..., Any], arrays: Sequence[Any], cut: Sequence[bool], count: int, size: int
) -> Any:
    """The results of blocks of the arrays that are to be cut, put together.

    None if the first of them shows that they are no parts of it, or that it is a view.
    """
    blocks = _slices(count, size)

    def of_block(block: slice) -> Any:
        result = kernel(*[a[block] if is_cut else a for a, is_cut in zip(arrays, cut, strict=True)])
        return result if type(result) is tuple else (result,)

    parts = of_block(blocks[0])
    for part in parts:
        if type(part) is not np.ndarray or not part.ndim or len(part) != blocks[0].stop:
            return None
        if any([np.may_share_memory(part, array) for array in arrays]):
            return None
    results = [empty((count, *part.shape[1:]), part.dtype) for part in parts]

    def work(block: slice) -> None:
        store(block, of_block(block))

    def store(block: slice, parts: Any) -> None:
        for result, part in zip(results, parts, strict=True):
            result[block] = part

    store(blocks[0], parts)
    del parts
    each_block(blocks[1:], work)
    return results[0] if len(results) == 1 else tuple(results)
