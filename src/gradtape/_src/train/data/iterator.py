"""Iterator: the elements of one pass through a dataset."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator as PythonIterator
from itertools import islice, repeat, starmap
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, OutOfRangeError
from ...core.recorder import heard_by, recorders
from ...core.tensor import Tensor
from ...core.tracebacks import shorten
from ...core.tracing import Stream, current_graph, tracing
from ...core.trackable import Trackable
from ...function.streams import next_in_trace
from .failures import Failure, made
from .optional import Optional
from .seeds import Pass, here


class Iterator(Trackable, Stream):
    """The elements of one pass through a dataset. What makes them is out of sight of all tapes.

    Inside `@function`, each call takes the next element, and so does each round of a loop. In a
    tf.train.Checkpoint its place is saved. When that is restored, the pass is gone through again up
    to there, in the same random order. So it is after an interrupt (a KeyboardInterrupt, say) while
    an element is made: the next one is the one that was to come. After an error, where an element
    cannot be made, the next one is the one after it.
    """

    def __init__(
        self, make_elements: Callable[[], PythonIterator[Any]], element_spec: Callable[[], Any]
    ) -> None:
        self._make_elements = make_elements
        self._element_spec = element_spec
        self._back: list[Any] = []  # what was put back, the last first
        self._begin(Pass(), 0)

    def _begin(self, through: Pass, position: int) -> None:
        """Begin a pass, and go to this place in it; if an interrupt comes, nothing has changed."""
        thread = here()
        around = thread.through
        try:
            thread.through = through
            elements = self._make_elements()
            if position:
                with heard_by([]):
                    deque(islice(elements, position), maxlen=0)
        finally:
            thread.through = around
        back: list[Any] = []
        self._pass, self._position, self._back, self._elements = through, position, back, elements

    def _go_on(self) -> Any:
        """The next element of the same pass, made anew."""
        self._begin(Pass(self._pass.given), self._position)
        here().through = self._pass
        return next(self._elements)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        try:
            if tracing.threads and current_graph() is not None:
                return self._next_in_trace()
            if self._back:
                element = self._back[-1]
                del self._back[-1]  # (`pop` is a call, after which an interrupt may come)
            else:
                element = self._take()
                if type(element) is Failure:
                    self._position += 1
                    raise element.error
        except StopIteration:
            raise
        except Exception as error:
            shorten(error)
            raise
        except BaseException:
            # The generators that it came through are at their end, in the midst of the pass.
            self._elements = starmap(self._go_on, repeat(()))
            raise
        self._position += 1
        return element

    def _take(self) -> Any:
        tapes = recorders()
        if tapes:
            return self._take_unheard(tapes)
        thread = here()
        around, thread.through = thread.through, self._pass
        try:
            return next(self._elements)
        finally:
            thread.through = around

    def _take_unheard(self, tapes: list[Any]) -> Any:
        around = tapes[:]
        try:
            del tapes[:]
            return self._take()
        finally:
            tapes[:] = around

    def _next_in_trace(self) -> Any:
        return next_in_trace(self)[1]

    def put_back(self, element: Any) -> None:
        self._back += (element,)  # (no call: an interrupt comes before all of this, or after it)
        self._position -= 1

    def get_next(self, name: str | None = None) -> Any:
        """The next element; at the end an OutOfRangeError, where `next` raises StopIteration."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(
                "get_next: there are no more elements. iter(dataset) begins anew; repeat() goes on."
            ) from None

    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, which has no value at the end."""
        if tracing.threads and current_graph() is not None:
            return Optional(*next_in_trace(self, optional=True), self.element_spec)
        try:
            return Optional(True, next(self), self.element_spec)
        except StopIteration:
            return Optional.empty(self.element_spec)

    @property
    def element_spec(self) -> Any:
        return self._element_spec()

    @property
    def state(self) -> Tensor:
        """How many elements were taken, and the seeds of the random orders so far."""
        return Tensor(np.array([self._position, *self._pass.given], np.int64))

    def reset(self, state: Any) -> None:
        """Go to the place of `state` in a pass of its own, through the elements before it."""
        position, *given = np.asarray(state).tolist()
        self._begin(Pass(given), position)


class TracedIterator(Iterator):
    """An iterator made while a function is traced: each call makes it anew."""

    def __init__(
        self,
        make: Callable[[], Iterator],
        element_spec: Callable[[], Any],
        leave: Callable[[Stream], None],
    ) -> None:
        super().__init__(lambda: iter(()), element_spec)
        self._make = make
        self._leave = leave
        graph = current_graph()
        if graph.outer is not None:
            graph.root.takes.open_here(self)

    def opened(self) -> Iterator:
        return self._make()

    def leave(self, opened: Stream) -> None:
        self._leave(opened)

    def _next_in_trace(self) -> Any:
        try:
            return super()._next_in_trace()
        except OutOfRangeError:
            raise StopIteration from None  # for a loop that Python itself runs


class UnrolledIterator(Iterator):
    """The elements of a dataset that depends on the function being traced, known while tracing."""

    is_unrolled = True

    def _next_in_trace(self) -> Any:
        return made(self._take())


def single_element(elements: PythonIterator[Any]) -> Any:
    """The element of a dataset that has just one."""
    element, further = made(next(elements, None)), made(next(elements, None))
    if element is None or further is not None:
        raise InvalidArgumentError(
            "Dataset.get_single_element: there must be one element, and there "
            f"{'is none' if element is None else 'are more: use take(1)'}."
        )
    return element
