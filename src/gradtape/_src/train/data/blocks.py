"""Blocks of entries, which flow from one stage of a dataset to the next, chosen and put in order.

A block is a run of entries that can be cut by slicing: row numbers (a `range` or an integer
array), from which the elements are still to be made, or a list of elements. In its place there may
be a Failure, which is no entry: it is handed on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ...core.errors import FailedPreconditionError
from .failures import Failure

Block: TypeAlias = range | list[Any] | np.ndarray[Any, np.dtype[Any]]
Blocks: TypeAlias = Iterator[Block | Failure]


class BlockReader:
    """Reads a stream of blocks as one reads a file: so many entries at a time."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._block: Block = range(0)
        self._position = 0  # in this block

    def read_some(self, most: int) -> Block | Failure:
        """The next entries, as many as are at hand, up to `most`; none at the end."""
        while self._position == len(self._block):
            block = next(self._blocks, None)
            if block is None:
                return range(0)
            if isinstance(block, Failure):
                return block
            self._block, self._position = block, 0
        part = self._block[self._position : self._position + most]
        self._position += len(part)
        return part

    def at_hand(self, size: int) -> Iterator[Block]:
        """The entries at hand, cut into as many blocks of `size` as there are.

        (No Python runs for each: 0.8 µs of the 3.5 of a small batch less than `read` takes.)
        """
        block, start = self._block, self._position
        self._position = end = len(block) - (len(block) - start) % size
        ends = range(start + size, end + size, size)
        return map(block.__getitem__, map(slice, range(start, end, size), ends))

    def read(self, size: int, past_failures: bool) -> Block | Failure:
        """The next `size` entries, or all that are left, or the first Failure among them.

        It counts as an entry: the others are read too, if `past_failures`, and are gone with it.
        """
        parts: list[Block] = []
        failure = None
        while size:
            part = self.read_some(size)
            if isinstance(part, Failure):
                failure = failure or part
                if not past_failures:
                    break
                size -= 1
                continue
            if not len(part):
                break
            parts.append(part)
            size -= len(part)
        return failure or join(parts)


def join(blocks: list[Block]) -> Block:
    """The entries of all `blocks` in one block."""
    if len(blocks) == 1:
        return blocks[0]
    if blocks and not any(isinstance(block, list) for block in blocks):
        return np.concatenate([row_numbers(block) for block in blocks])
    return list(itertools.chain.from_iterable(blocks))


def row_numbers(block: Any) -> Any:
    """A block of row numbers as an array."""
    return np.arange(block.start, block.stop, block.step) if isinstance(block, range) else block


def take(blocks: Blocks, size: int) -> Blocks:
    """The first `size` entries; nothing beyond them is asked for."""
    reader = BlockReader(blocks)
    while size:
        part = reader.read_some(size)
        if not isinstance(part, Failure):
            if not len(part):
                return
            size -= len(part)
        yield part


def skip(blocks: Blocks, size: int) -> Blocks:
    """What comes after the first `size` entries. A Failure among those is all that comes."""
    for block in blocks:
        if isinstance(block, Failure):
            yield block
            if size:
                return
            continue
        if len(block) > size:
            yield block[size:]
        size = max(0, size - len(block))


def shard(blocks: Blocks, shards: int, index: int) -> Blocks:
    """Every entry whose place is `index` modulo `shards`."""
    for block in blocks:
        if isinstance(block, Failure):
            yield block
            continue
        if len(block) > index:
            yield block[index::shards]
        index = (index - len(block)) % shards


def repeat(make: Callable[[], Blocks], times: int | None) -> Blocks:
    """`make()` that many times (None: for ever), unless there is nothing to repeat."""
    for _ in itertools.count() if times is None else range(times):
        found = 0
        for block in make():
            found += 1 if isinstance(block, Failure) else len(block)
            yield block
        if not found:
            return


def cache(make: Callable[[], Blocks], stored: list[Block]) -> Blocks:
    """The `stored` blocks, if any; else those of `make()`, which are then stored at their end."""
    if stored:
        yield from stored
        return
    so_far: list[Block] = []
    for block in make():
        if not isinstance(block, Failure):
            so_far.append(block)
        yield block
    stored[:] = [join(so_far)]


def cut(blocks: Blocks, size: int, drop_remainder: bool, past_failures: bool = True) -> Blocks:
    """The entries in blocks of `size`, as for a batch; the last one shorter, or left out."""
    reader = BlockReader(blocks)
    while True:
        yield from reader.at_hand(size)
        block = reader.read(size, past_failures)
        if not isinstance(block, Failure) and len(block) < size:
            break
        yield block
    if len(block) and not drop_remainder:
        yield block


def window(blocks: Blocks, size: int, shift: int, stride: int, drop_remainder: bool) -> Blocks:
    """Blocks of up to `size` entries, every `stride`-th, each beginning `shift` after the last."""
    reach = (size - 1) * stride + 1
    ahead: Block = range(0)  # read and still needed
    start = 0
    for read in blocks:
        block = [read] if isinstance(read, Failure) else read
        ahead = join([ahead, block]) if len(ahead) else block
        while len(ahead) - start >= reach:
            yield _failure_in(ahead[start : start + reach : stride])
            start += shift
        past = min(start, len(ahead))
        ahead, start = ahead[past:], start - past
    for first in () if drop_remainder else range(start, len(ahead), shift):
        yield _failure_in(ahead[first : first + reach : stride])


def _failure_in(block: Block) -> Block | Failure:
    """The first Failure in a block, or the block."""
    failures = (entry for entry in block if isinstance(entry, Failure))
    return next(failures, block) if isinstance(block, list) else block


def check_count(blocks: Blocks, size: int) -> Blocks:
    """The same entries, and no end, but errors, if there are not `size` of them."""
    found = 0
    for block in blocks:
        if not isinstance(block, Failure):
            left = size - found
            found += len(block)
            if found > size:
                if left:
                    yield block[:left]
                break
        yield block
    while found != size:
        message = (
            f"assert_cardinality: expected {size} elements, and there are "
            f"{'more' if found > size else f'only {found}'}. Give their true number."
        )
        yield Failure(FailedPreconditionError(message))


def count_up(start: int, step: int) -> Blocks:
    """All integers from `start` on, `step` apart."""
    for first in itertools.count(start, 1024 * step):
        yield range(first, first + 1024 * step, step)
