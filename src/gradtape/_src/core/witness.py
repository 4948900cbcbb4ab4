"""Witnesses: objects that are told of all that happens to tensors, recorded by a tape or not.

A recorder (recorder.py) follows what it watches, for a derivative. A witness looks on at all of it:
to say why a gradient is None, where a NaN began, what took the time. While there is none, an op
call pays nothing for it: see `switches` in tracing.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .tracing import tracing

Derivative = Callable[[Any, list[int]], list[Any]]


class Witness:
    """Base of witnesses. Each method does nothing here; a witness defines those that it needs."""

    keeps_records = False
    """Whether a tape that was used up keeps its records: there are questions to come."""

    looks_into_programs = False
    """Whether it is told of the ops of functions while they are traced, to look at them later.

    Functions are then traced for it, apart from the traces that others use.
    """

    def begins(self, op: Any) -> None:
        """The kernel of an op is about to run. (If it fails, the op has not run.)"""

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        """An op call: tensors in a tuple or list, and a tensor or a tuple of them."""

    def left(self, tensor: Any, use: str) -> None:
        """The values of a tensor become numbers of Python or NumPy, for this use.

        Or those of a result that no op makes: of `tf.where` with one argument, say.
        """

    def handed_on(self, name: str, pairs: Any) -> None:
        """Control flow, while it is traced, gives the first tensor of each pair as the second.

        Into a branch or a round of a loop, and out of it: no op runs for that.
        """

    def created(self, variable: Any, value: Any) -> None:
        """A variable was made, of this initial value."""

    def was_read(self, variable: Any) -> None:
        """The value of a variable was taken."""

    def assigned(self, variable: Any, value: Any) -> None:
        """A value is stored in a variable."""

    def resumed(self, tape: Any) -> None:
        """A tape records from here on."""

    def deriving(self, tape: Any, derivative: Derivative) -> Derivative:
        """What a tape is to compute of its records, last first, and the keys of the sources."""
        return derivative

    def paused(self, tape: Any) -> None:
        """A tape records no more, for now: at the end of its block, for instance."""

    def derived(self, tape: Any, target: Any, sources: list[Any], found: list[Any]) -> None:
        """A tape has given the gradients `found` of `target` by `sources`."""

    def retraced(self, function: Any, argument: str, values: list[str]) -> None:
        """A function was traced again and again, because `argument` took each of these values."""

    def copied(self, file: str, line: int, text: str) -> None:
        """Arrays go to a card or come from it at this line of the user's, time after time."""

    def reason_for(self, key: int) -> Any:
        """Why the gradient by the variable with this key is None, if that is known."""

    def begin(self) -> None:
        """Be told of what happens from here on."""
        tracing.tell(self)

    def end(self) -> None:
        """Be told no more."""
        tracing.tell(no_more=self)
