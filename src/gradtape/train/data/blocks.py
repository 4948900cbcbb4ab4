"""Blocks: what flows from one stage of a dataset to the next.

A block is a run of entries that can be cut by slicing: row numbers (a `range` or an integer
array), from which the elements are still to be made, or a list of elements. The stages that only
choose and order entries are here, once for both. Where rows lie in memory, a whole epoch is one
block, and a shuffle of it one permutation; where a function makes the elements, a block holds one
of them, so that no element is made before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, repeat
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError

Block = Sequence[Any]  # a range, an integer array or a list
Blocks = Iterator[Block]

_EXCHANGED_AT_ONCE = 2**16  # entries, so that an endless stream of rows is shuffled piece by piece


class Feed:
    """Reads a stream of blocks as one reads a file: so many entries at a time."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._block: Block = ()
        self._read = 0  # of the entries of this block

    def some(self, most: int) -> Block:
        """The next entries, as many as are at hand, up to `most`; none at the end."""
        while self._read == len(self._block):
            block = next(self._blocks, None)
            if block is None:
                return ()
            self._block, self._read = block, 0
        part = self._block[self._read : self._read + most]
        self._read += len(part)
        return part

    def read(self, size: int) -> Block:
        """The next `size` entries, or all that are left."""
        part = self.some(size)
        if len(part) == size:  # as a rule, where rows lie in memory
            return part
        parts = []
        while len(part):
            parts.append(part)
            size -= len(part)
            part = self.some(size) if size else ()
        return joined(parts)


def joined(blocks: list[Block]) -> Block:
    """The entries of all `blocks` in one block."""
    if len(blocks) == 1:
        return blocks[0]
    if blocks and not isinstance(blocks[0], list):
        return np.concatenate([_numbers(block) for block in blocks])
    return list(chain.from_iterable(blocks))


def _numbers(block: Any) -> Any:
    """Row numbers as an array."""
    return np.arange(block.start, block.stop, block.step) if isinstance(block, range) else block


def taken(blocks: Blocks, size: int) -> Blocks:
    """The first `size` entries; nothing beyond them is asked for."""
    feed = Feed(blocks)
    while size and len(part := feed.some(size)):
        yield part
        size -= len(part)


def skipped(blocks: Blocks, size: int) -> Blocks:
    """What comes after the first `size` entries."""
    for block in blocks:
        if len(block) > size:
            yield block[size:]
        size = max(0, size - len(block))


def sharded(blocks: Blocks, shards: int, index: int) -> Blocks:
    """Every entry whose place is `index` modulo `shards`."""
    for block in blocks:
        if len(block) > index:
            yield block[index::shards]
        index = (index - len(block)) % shards


def repeated(make: Callable[[], Blocks], times: int | None) -> Blocks:
    """`make()` that many times (None: for ever), unless there is nothing to repeat."""
    for _ in repeat(None) if times is None else repeat(None, times):
        found = 0
        for block in make():
            found += len(block)
            yield block
        if not found:
            return


def batched(blocks: Blocks, size: int, drop_remainder: bool) -> Blocks:
    """The entries in blocks of `size`, the last one shorter, or left out."""
    feed = Feed(blocks)
    while len(block := feed.read(size)) == size:
        yield block
    if len(block) and not drop_remainder:
        yield block


def windows(blocks: Blocks, size: int, shift: int, stride: int, drop_remainder: bool) -> Blocks:
    """Blocks of up to `size` entries, every `stride`-th, each beginning `shift` after the last."""
    reach = (size - 1) * stride + 1
    held: Block = ()
    start = 0
    for block in blocks:
        held = joined([held, block]) if len(held) else block
        while len(held) - start >= reach:
            yield held[start : start + reach : stride]
            start += shift
        gone = min(start, len(held))
        held, start = held[gone:], start - gone
    for first in () if drop_remainder else range(start, len(held), shift):
        yield held[first : first + reach : stride]


def exactly(blocks: Blocks, size: int) -> Blocks:
    """The same entries, and an error if there are not `size` of them."""
    found = 0
    for block in blocks:
        found += len(block)
        if found > size:
            break
        yield block
    if found != size:
        raise InvalidArgumentError(
            f"assert_cardinality: expected {size} elements, and there are "
            f"{'more' if found > size else f'only {found}'}."
        )


def counting(start: int, step: int) -> Blocks:
    """All integers from `start` on, `step` apart."""
    for first in count(start, 1024 * step):
        yield range(first, first + 1024 * step, step)


# Shuffling


def shuffled(blocks: Blocks, size: int, random: np.random.Generator) -> Blocks:
    """The entries, each drawn from a buffer of `size` that the next entry then fills up.

    So entry i comes out no earlier than at place i - size + 1, and with a buffer that holds all
    of them any order is equally likely. Elements and row numbers come in the same order for the
    same `random`.
    """
    slots, last = random.spawn(2)
    feed = Feed(blocks)
    held = feed.read(size)
    if len(held) == size:
        held = list(held) if isinstance(held, list) else np.array(_numbers(held))
        exchange = _exchanged_elements if isinstance(held, list) else _exchanged_numbers
        yield from exchange(held, feed, slots)
    if len(held):
        yield _in_order(held, last.permutation(len(held)))


def _in_order(block: Block, order: Any) -> Block:
    if isinstance(block, list):
        return [block[i] for i in order.tolist()]
    if isinstance(block, range):
        return order if block == range(len(block)) else block.start + block.step * order
    return block[order]


def _exchanged_elements(held: list[Any], feed: Feed, random: np.random.Generator) -> Blocks:
    """For each element to come, one of those `held`, whose slot it takes."""
    slots = chain.from_iterable(_draws(random, len(held)))
    while block := feed.some(1):
        slot = next(slots)
        out, held[slot] = held[slot], block[0]
        yield [out]


def _draws(random: np.random.Generator, size: int) -> Iterator[list[int]]:
    while True:  # a thousand at a time: a single draw takes 2 µs
        yield random.integers(size, size=1024).tolist()


def _exchanged_numbers(held: Any, feed: Feed, random: np.random.Generator) -> Blocks:
    """The same for row numbers, many at once.

    What comes out of a slot is what was put there last: found by sorting the draws by slot, so
    that the draws of one slot stand next to each other, in the order of time.
    """
    while len(block := feed.some(_EXCHANGED_AT_ONCE)):
        block = _numbers(block)
        slots = random.integers(len(held), size=len(block))
        by_slot = np.argsort(slots, kind="stable")
        slots = slots[by_slot]
        first = np.append(True, slots[1:] != slots[:-1])
        came_out = np.empty_like(block)
        came_out[by_slot[1:]] = block[by_slot[:-1]]
        came_out[by_slot[first]] = held[slots[first]]
        final = np.append(first[1:], True)
        held[slots[final]] = block[by_slot[final]]
        yield came_out
