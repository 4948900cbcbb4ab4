"""Shuffling: entries drawn from a buffer, by random generators that a seed makes reproducible."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError
from ...ops.declare.static import static_int
from .blocks import Block, BlockReader, Blocks, join, row_numbers
from .cardinality import UNKNOWN_CARDINALITY
from .failures import Failure

_EXCHANGED_AT_ONCE = 2**16  # entries, so that an endless stream of rows is shuffled piece by piece


def as_buffer_size(value: Any) -> int:
    size = static_int(value, "Dataset.shuffle", "buffer_size")
    if size < 1 and size != UNKNOWN_CARDINALITY:
        raise InvalidArgumentError(
            "Dataset.shuffle: `buffer_size` must be positive, or tf.data.UNKNOWN_CARDINALITY "
            f"to hold all elements. Received: {size}."
        )
    return sys.maxsize if size == UNKNOWN_CARDINALITY else size


def shuffle(blocks: Blocks, size: int, random: np.random.Generator) -> Blocks:
    """The entries, each drawn from a buffer of `size` that the next entry then fills up.

    So entry i comes out no earlier than at place i - size + 1, and with a buffer that holds all
    of them any order is equally likely. Elements and row numbers come in the same order for the
    same `random`.
    """
    slots, last = random.spawn(2)
    reader = BlockReader(blocks)
    parts: list[Block] = []
    left = size
    while left:
        part = reader.read_some(left)
        if isinstance(part, Failure):
            yield part
            continue
        if not len(part):
            break
        parts.append(part)
        left -= len(part)
    buffer = join(parts)
    if not left:
        if isinstance(buffer, list):
            buffer = list(buffer)
            yield from _exchange_elements(buffer, reader, slots)
        else:
            buffer = np.array(row_numbers(buffer))
            yield from _exchange_numbers(buffer, reader, slots)
    if len(buffer):
        yield _in_order(buffer, last.permutation(len(buffer)))


def _in_order(block: Block, order: np.ndarray[Any, np.dtype[np.int64]]) -> Block:
    if isinstance(block, list):
        return [block[i] for i in order.tolist()]
    if isinstance(block, range):
        return order if block == range(len(block)) else block.start + block.step * order
    ordered: Block = block[order]
    return ordered


def _exchange_elements(
    buffer: list[Any], reader: BlockReader, random: np.random.Generator
) -> Blocks:
    """For each element to come, one of the buffer, whose slot it takes."""
    slots = chain.from_iterable(_draws(random, len(buffer)))
    while block := reader.read_some(1):
        if isinstance(block, Failure):
            yield block
            continue
        slot = next(slots)
        out, buffer[slot] = buffer[slot], block[0]
        yield [out]


def _draws(random: np.random.Generator, size: int) -> Iterator[list[int]]:
    while True:  # a thousand at a time: a single draw takes 2 µs
        yield random.integers(size, size=1024).tolist()


def _exchange_numbers(buffer: Any, reader: BlockReader, random: np.random.Generator) -> Blocks:
    """The same for row numbers, many at once.

    What comes out of a slot is what was put there last: found by sorting the draws by slot, so
    that the draws of one slot stand next to each other, in the order of time.
    """
    while True:
        block = reader.read_some(_EXCHANGED_AT_ONCE)
        if isinstance(block, Failure):
            yield block
            continue
        if not len(block):
            return
        numbers = row_numbers(block)
        slots = random.integers(len(buffer), size=len(numbers))
        by_slot = np.argsort(slots, kind="stable")
        slots = slots[by_slot]
        first = np.append(True, slots[1:] != slots[:-1])
        out = np.empty_like(numbers)
        out[by_slot[1:]] = numbers[by_slot[:-1]]
        out[by_slot[first]] = buffer[slots[first]]
        final = np.append(first[1:], True)
        buffer[slots[final]] = numbers[by_slot[final]]
        yield out


def random_numbers(random: np.random.Generator) -> Blocks:
    """Integers from [0, 2**32), without end."""
    while True:
        yield random.integers(2**32, size=1024)
