"""Several streams of elements as one: in turns, as chosen, or at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError
from .failures import Failure, attempt

_END = object()


def interleave(
    streams: Iterator[Iterator[Any] | Failure], cycle_length: int, block_length: int
) -> Iterator[Any]:
    """`block_length` elements of each of `cycle_length` streams in turn.

    Where a stream has ended, the next one takes its place when its turn comes. What fails does not
    count: neither as a stream nor as an element.
    """
    places: list[Any] = [_END] * cycle_length
    more = True
    while more or any(stream is not _END for stream in places):
        for i in range(cycle_length):
            while places[i] is _END and more:
                stream = next(streams, _END)
                if isinstance(stream, Failure):
                    yield stream
                    continue
                places[i] = stream
                more = stream is not _END
            left = block_length
            while left:
                element = _END if places[i] is _END else next(places[i], _END)
                if element is _END:
                    places[i] = _END
                    break
                yield element
                left -= not isinstance(element, Failure)


def choose(
    streams: list[Iterator[Any]], choices: Iterator[int | Failure], stop_on_empty: bool
) -> Iterator[Any]:
    """The next element of the stream that each of `choices` names.

    A choice of a stream that has ended ends all if `stop_on_empty`, and is passed over otherwise,
    until all have ended.
    """
    going = set(range(len(streams)))
    for choice in choices:
        if isinstance(choice, Failure):
            yield choice
            continue
        if not 0 <= choice < len(streams):
            message = (
                f"Dataset.choose_from_datasets: `choice_dataset` gave {choice}, and there are "
                f"{len(streams)} datasets. Choose from 0 to {len(streams) - 1}."
            )
            yield Failure(InvalidArgumentError(message))
            continue
        element = next(streams[choice], _END) if choice in going else _END
        if element is not _END:
            yield element
        elif stop_on_empty:
            return
        else:
            going.discard(choice)
            if not going:
                return


def group_by_key(
    elements: Iterator[Any], key_of: Callable[[Any], Any], size_of: Callable[[Any], int]
) -> Iterator[tuple[Any, list[Any]] | Failure]:
    """Keys, and as many elements with this key as `size_of` says; what is left, by the keys."""
    windows: dict[int, tuple[Any, int, list[Any]]] = {}

    def window_of(element: Any) -> tuple[int, Any, int, list[Any]]:
        key = key_of(element)
        number = int(key)
        if number not in windows:
            windows[number] = key, size_of(key), []
        return number, *windows[number]

    for element in elements:
        found = attempt(window_of, element)
        if isinstance(found, Failure):
            yield found
            continue
        number, key, size, window = found
        window.append(element)
        if len(window) == size:
            del windows[number]
            yield key, window
    for number in sorted(windows):
        key, _, window = windows[number]
        yield key, window


def side_by_side(streams: list[Iterator[Any]]) -> Iterator[list[Any] | Failure]:
    """The next elements of all streams, until one of them ends.

    Where one fails, the others are asked too: they stay side by side.
    """
    while True:
        row = []
        failure = None
        for stream in streams:
            element = next(stream, _END)
            if element is _END:
                if failure is None:
                    return
                break
            if isinstance(element, Failure):
                failure = failure or element
            row.append(element)
        yield failure or row


def as_chances(weights: Any, count: int, op: str) -> Any:
    """The weights of `count` datasets, by default equal, as probabilities."""
    chances: Any = np.asarray([1.0] * count if weights is None else weights, np.float64)
    if chances.shape != (count,) or chances.min() < 0 or not chances.any():
        raise ValueError(
            f"{op}: `weights` must be {count} numbers, one for each dataset, not negative and not "
            f"all zero. Received: {weights!r}."
        )
    return chances / chances.sum()


def draw_choices(chances: Any, random: np.random.Generator) -> Iterator[int]:
    """Choices without end, each as likely as its chance."""
    while True:
        yield from random.choice(len(chances), size=256, p=chances).tolist()
