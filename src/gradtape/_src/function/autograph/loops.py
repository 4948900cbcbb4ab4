"""`for` and `while` of AutoGraph's converted code.

A loop over a tensor, or on a condition that only the program knows, becomes a loop of the program.
It carries the tensors and numbers among the Python variables that the loop changes; other values
pass through it unchanged. What is appended to a list in each round is collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core import nest
from ...core.convert import as_tensor, operand
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError, TextError
from ...core.tensor import Tensor
from ...core.tracing import Stream, current_graph
from ...ops.math.logic import logical_and, logical_or
from ...tape.control import Stacked, forms, shapes_may_change
from ...tape.tensor_array import TensorArray
from ...tape.variable import Variable
from ..lines import user_line
from ..streams import next_in_trace
from . import operators
from .containers import noted
from .iterated import Elements, TensorRange, extended, is_dataset


class Locals(NamedTuple):
    """The Python variables that a loop changes."""

    get: Callable[[], Any]
    set: Callable[[Any], None]
    names: tuple[str, ...]


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    """`while test(): body()`. From the round on at which only the program knows: a loop of it."""
    while True:
        condition = test()
        if operators.symbolic(condition) is not None:
            break
        if not condition:
            return
        body()
    local = Locals(get_state, set_state, names)
    with shapes_may_change("shape_invariants" in options):
        loop = _ProgramLoop(local, lambda number: body(), condition)
        loop.run_while(lambda number: test(), lambda number: body(), _bound(options))


def for_stmt(
    iterated: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    """`for each in iterated: body(each)`, as long as `extra_test()` (from break and return)."""
    local = Locals(get_state, set_state, names)
    if current_graph() is not None:
        if isinstance(iterated, Variable):
            iterated = iterated._as_tensor()
        if type(iterated) is Tensor:
            iterated = Elements(iterated)
        with shapes_may_change("shape_invariants" in options):
            if isinstance(iterated, Elements):
                _for_elements(iterated.first(_bound(options)), extra_test, body, local)
                return
            if is_dataset(iterated):
                iterated = iter(iterated)
            if isinstance(iterated, Stream) and not iterated.is_unrolled:
                _for_stream(iterated, extra_test, body, local, _bound(options))
                return
            if isinstance(iterated, TensorRange):
                _for_range(iterated, extra_test, body, local, _bound(options))
                return
    _for_python(iterated, extra_test, body, local)


def _bound(options: dict[str, Any]) -> int | None:
    """The `maximum_iterations` of set_loop_options."""
    bound = options.get("maximum_iterations")
    return None if bound is None else int(bound)


def _for_python(
    iterated: Any, extra_test: Callable[[], Any] | None, body: Callable[[Any], None], local: Locals
) -> None:
    if extra_test is None:
        for each in iterated:
            body(each)
        return
    go_on = extra_test()
    if operators.symbolic(go_on) is None and not go_on:
        return
    for each in iterated:
        if operators.symbolic(go_on) is None:
            body(each)
        else:  # whether the loop was left before, the program knows
            operators.if_stmt(go_on, partial(body, each), lambda: None, *local, len(local.names))
        go_on = extra_test()
        if operators.symbolic(go_on) is None and not go_on:
            return


# Loops of the program


def _for_elements(
    elements: Elements,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    local: Locals,
) -> None:
    def round_of(number: Any) -> None:
        body(elements.row(number))

    go_on = True if extra_test is None else extra_test()
    if not elements.count or (operators.symbolic(go_on) is None and not go_on):
        return
    if operators.symbolic(go_on) is None and _replaces_none(local, round_of):
        # `if x is None` has a meaning in the first round only, which is Python's then.
        round_of(0)
        _for_elements(elements.rest(), extra_test, body, local)
        return
    loop = _ProgramLoop(local, round_of, go_on)
    if extra_test is None:
        loop.run_walk(body, elements.tensors)
    else:
        loop.run_while(lambda number: extra_test(), round_of, elements.count)


def _replaces_none(local: Locals, round_of: Callable[[Any], None]) -> bool:
    """Whether a round gives a value to a variable that is None before."""
    before = local.get()
    if not any(value is None for value in before):
        return False
    after = _tried(local, before, round_of)
    return any(x is None and y is not None for x, y in zip(before, after, strict=True))


def _tried(
    local: Locals, start: Any, round_of: Callable[[Any], None], any_round: bool = False
) -> Any:
    """The values of the variables after a round that is not part of the program.

    The first one, in which what is known at the start is known; or any, in which it is not.
    """
    before = local.get()

    def unknown(leaf: Any) -> Any:
        known = not _is_carried(leaf) or isinstance(leaf, TensorArray)
        return leaf if known else current_graph().tensor(as_tensor(leaf)._array)

    def run() -> Any:
        given, number = operators.own_copies(start), np.int32(0)
        if any_round:
            given = nest.map_structure(unknown, given, expand_composites=True)
        local.set(given)
        round_of(unknown(number) if any_round else Tensor(number))
        return local.get()

    try:
        return operators.probed(run)
    finally:
        local.set(before)


def _for_range(
    numbers: TensorRange,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    local: Locals,
    bound: int | None,
) -> None:
    def test(number: Tensor) -> Any:
        more = number < numbers.count
        return more if extra_test is None else logical_and(more, operators.as_bool(extra_test()))

    def round_of(number: Tensor) -> None:
        body(numbers.at(number))

    loop = _ProgramLoop(local, round_of, test(Tensor(np.int32(0))))
    loop.run_while(test, round_of, bound)


def _for_stream(
    stream: Stream,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    local: Locals,
    bound: int | None,
) -> None:
    """Each round takes an element, if there is one; the last one finds none."""
    more: Any = True if extra_test is None else extra_test()
    begun: Any = Tensor(np.False_)
    if operators.symbolic(more) is None and not more:
        return

    def get() -> Any:
        return (*local.get(), more, begun)

    def put(values: Any) -> None:
        nonlocal more, begun
        *others, more, begun = values
        local.set(tuple(others))

    def one_round(number: Any) -> None:
        nonlocal more, begun
        more, element = next_in_trace(stream, optional=True)
        begun = logical_or(begun, more)
        operators.if_stmt(more, lambda: body(element), lambda: None, *local, len(local.names))

    def goes_on(number: Any) -> Any:
        left = True if extra_test is None else extra_test()
        return logical_and(operators.as_bool(more), operators.as_bool(left))

    more = operators.as_bool(more)
    names = (*local.names, "more elements", "a first element")
    loop = _ProgramLoop(
        Locals(get, put, names), lambda number: body(next_in_trace(stream, optional=True)[1]), True
    )
    loop.run_while(goes_on, one_round, bound)
    if loop.filled:
        _assert_begins(begun, loop.filled)


class _ProgramLoop:
    """The variables of a loop on their way through the program.

    `begin` is whether the loop runs at all, a tensor if only the program knows.
    """

    def __init__(self, local: Locals, round_of: Callable[[Any], None], begin: Any) -> None:
        self.locals = local
        self.before = tuple(local.get())
        self.filled: list[str] = []  # variables that get their first value in the loop
        self.start = self._start(round_of, begin)
        leaves = [leaf for value in self.start for leaf in nest.flatten(value, True)]
        self.carried = [operators.as_part(leaf) for leaf in leaves if _is_carried(leaf)]
        self.unchanged: list[bool] = []  # of what is carried
        self.in_place: list[bool] = []  # of lists
        self.collected: list[tuple[int, int]] = []  # variables, and how many each round appends

    # Before it

    def _start(self, round_of: Callable[[Any], None], begin: Any) -> tuple[Any, ...]:
        """The values to begin with.

        A variable that has none begins with zeros like what a round gives it, and a gradtape
        Variable that a round replaces with its value: to know, a round is tried. What the first
        round gives no value, since its conditions are known, another may.
        """
        if not any(operators.is_absent(x) or _holds_variable(x) for x in self.before):
            return self.before
        start = self._begun(self.before, _tried(self.locals, self.before, round_of))
        if any(map(operators.is_absent, start)):
            start = self._begun(start, _tried(self.locals, start, round_of, any_round=True))
        if self.filled:
            _assert_begins(begin, self.filled)
        return start

    def _begun(self, before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values to begin with, if these are before and after a round."""
        start = list(before)
        for i, (value, later) in enumerate(zip(before, after, strict=True)):
            if not operators.is_absent(value):
                start[i] = _values_of_replaced(value, later)
            elif not operators.is_absent(later) and all(map(_has_zeros, nest.flatten(later, True))):
                start[i] = operators.zeros_like_value(later)
                if type(value) is operators.Undefined:
                    self.filled.append(self.locals.names[i])
        return tuple(start)

    # In a round

    def _enter(self, tensors: list[Tensor]) -> tuple[Any, ...]:
        """Give the Python variables the values of a round."""
        given = iter(tensors)

        def value(start: Any) -> Any:
            return nest.map_structure(
                lambda x: next(given) if _is_carried(x) else x, start, expand_composites=True
            )

        values = tuple(x if operators.is_absent(x) else value(x) for x in self.start)
        self.locals.set(values)
        return values

    def _round(
        self, body: Callable[[], None], given: tuple[Any, ...]
    ) -> tuple[list[Tensor], list[Any]]:
        """What a round hands on and what it collects; its changes of containers are its own."""
        copies = operators.own_copies(given)
        with noted() as changes:
            body()
        result = self._leave(given, copies)
        changes.spoil()
        return result

    def _leave(
        self, given: tuple[Any, ...], copies: tuple[Any, ...]
    ) -> tuple[list[Tensor], list[Any]]:
        """The values of the variables after a round: what is carried on, and what is collected."""
        after = self.locals.get()
        carried: list[Tensor] = []
        collected: list[Any] = []
        self.collected, self.unchanged = [], []
        self.in_place = [x is y for x, y in zip(given, after, strict=True)]
        for i, (name, start, later) in enumerate(
            zip(self.locals.names, self.start, after, strict=True)
        ):
            if operators.is_absent(start):
                _refuse_return(start, later)
                continue
            if isinstance(start, list) and isinstance(later, list) and len(later) > len(start):
                collected += later[len(start) :]
                self.collected.append((i, len(later) - len(start)))
                later = later[: len(start)]
            carried += self._next(name, start, copies[i], later)
        return carried, collected

    def _next(self, name: str, start: Any, now: Any, later: Any) -> Iterator[Tensor]:
        """The tensors of a variable after a round, if they fit those before it."""
        what = operators.described(name)
        if operators.is_absent(later):
            raise ValueError(f"{user_line()}: {what} has no value after a round of the loop.")
        try:
            nest.assert_same_structure(start, later, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{user_line()}: {what} must have the same nested structure before the loop and "
                f"after a round of it, because the loop is part of the program. {error}"
                f"{operators.list_hint(start, later)}"
            ) from None
        if nest.composites(start) != nest.composites(later):
            raise ShapeError(
                f"{user_line()}: {what} is made of {nest.composites(start)} before the loop and of "
                f"{nest.composites(later)} after a round of it. A compiled loop keeps its shapes."
            )
        leaves = [nest.flatten(each, expand_composites=True) for each in (start, now, later)]
        for first, x, y in zip(*leaves, strict=True):
            if _is_carried(first):
                self.unchanged.append(x is y and not isinstance(x, TensorArray))
                yield _fitting(what, first, x, y)
            elif operators.is_text(y) and not operators.same(first, y):
                raise TextError(f"{what} is text that changes from round to round of a loop.")
            elif not operators.same(first, y):
                raise TypeError(
                    f"{user_line()}: {what} is {first!r:.80} before the loop and {y!r:.80} after "
                    "a round of it. A loop of the program carries tensors and numbers only: begin "
                    "with a tensor of the shape and dtype that it has later."
                )

    # Running it

    def run_walk(self, body: Callable[[Any], None], elems: Any) -> None:
        """The loop along axis 0 of `elems`."""

        def step(carried: list[Tensor], element: Any) -> tuple[list[Tensor], list[Any]]:
            given = self._enter(carried)
            return self._round(lambda: body(element), given)

        self._run(lambda: forms.get().walk(step, self.carried, elems, False))

    def run_while(
        self, test: Callable[[Tensor], Any], body: Callable[[Tensor], None], bound: int | None
    ) -> None:
        """The loop while `test(number of the round)`, at most `bound` times."""

        def goes_on(number: Tensor, *carried: Tensor) -> Tensor:
            self._enter(list(carried))
            return operators.as_bool(test(number))

        def step(number: Tensor, *carried: Tensor) -> list[Tensor]:
            given = self._enter(list(carried))
            later, collected = self._round(lambda: body(number), given)
            if collected:
                raise _unbounded_list(self.locals.names[self.collected[0][0]])
            return [number + 1, *later]

        def run() -> tuple[Any, Any]:
            start = [Tensor(np.int32(0)), *self.carried]
            return forms.get().loop(goes_on, step, start, bound)[1:], []

        self._run(run)

    def _run(self, run: Callable[[], tuple[Any, Any]]) -> None:
        try:
            finals, results = run()
        except BaseException as error:
            self.locals.set(self.before)
            if isinstance(error, DTypeError):
                self._add_note(error)
            raise
        self.locals.set(self._end(list(finals), results))

    def _add_note(self, error: Exception) -> None:
        """Say which numbers the loop has made tensors of: their dtypes may not be those wanted."""
        for name, value in zip(self.locals.names, self.start, strict=True):
            if type(value) in (int, float):
                error.add_note(
                    f"In the loop, `{name}` is a tensor of {as_tensor(value).dtype.name}, because "
                    f"it begins as the number {value!r}. If that is the fault, begin with a tensor "
                    "of the dtype that it has later."
                )

    # After it

    def _end(self, finals: list[Tensor], results: Any) -> list[Any]:
        final = iter(zip(finals, self.unchanged, strict=True))

        def leaf(first: Any) -> Any:
            if not _is_carried(first):
                return first
            tensor, unchanged = next(final)
            return first if unchanged else tensor

        values = [
            _lost(x)
            if operators.is_absent(x)
            else nest.map_structure(leaf, x, expand_composites=True)
            for x in self.start
        ]
        appended = iter(results.tensors if isinstance(results, Stacked) else ())
        for i, count in self.collected:
            values[i] = extended(values[i], [next(appended) for _ in range(count)])
        return list(map(operators.put_back, self.before, values, self.in_place))


def _is_carried(leaf: Any) -> bool:
    return operators.is_number(leaf) and not isinstance(leaf, Variable)


def _has_zeros(leaf: Any) -> bool:
    return operators.is_number(leaf) and not isinstance(leaf, TensorArray)


def _holds_variable(value: Any) -> bool:
    return any(isinstance(leaf, Variable) for leaf in nest.flatten(value))


def _values_of_replaced(value: Any, later: Any) -> Any:
    """`value`, in which a Variable stays only if it is still there after a round."""
    still_there = {id(leaf) for leaf in nest.flatten(later)}

    def read(leaf: Any) -> Any:
        is_gone = isinstance(leaf, Variable) and id(leaf) not in still_there
        return as_tensor(leaf) if is_gone else leaf

    return nest.map_structure(read, value)


def _fitting(what: str, first: Any, before: Any, value: Any) -> Any:
    """The tensor that a round hands on to the next, if it is what the first was given."""
    if isinstance(before, TensorArray) and isinstance(value, TensorArray):
        return value
    known = isinstance(value, (Tensor, Variable, np.ndarray, np.generic))
    if not operators.is_number(value):
        raise TypeError(
            f"{user_line()}: {what} is a tensor before the loop and {value!r:.80} after a round "
            "of it. A loop of the program carries the same tensors from round to round."
        )
    later = as_tensor(value) if known else operand(value, before._array.dtype, "loop")
    if later.dtype != before.dtype:
        begin = "" if isinstance(first, Tensor) else f" (it begins as the number {first!r:.40})"
        raise DTypeError(
            f"{user_line()}: {what} has dtype {before.dtype.name} before the loop{begin} and "
            f"{later.dtype.name} after a round of it. Begin with a tensor of {later.dtype.name}, "
            "or convert with tf.cast."
        )
    if later.shape != before.shape:
        raise ShapeError(
            f"{user_line()}: {what} has shape {before.shape} before the loop and {later.shape} "
            "after a round of it. A compiled loop keeps its shapes: begin with the shape that it "
            "has later, or collect values with a tf.TensorArray or by appending to a list."
        )
    return later


def _unbounded_list(name: str) -> TypeError:
    return TypeError(
        f"{user_line()}: `{name}` is appended to in a loop of which only the program knows the "
        "number of rounds, so that a list cannot hold the results. Use a tf.TensorArray of the "
        "largest size, or a `for` over a tensor without break and return."
    )


def _lost(value: Any) -> Any:
    """A variable that had no value before a loop, and none that a loop of the program carries."""
    if type(value) is operators.UndefinedReturnValue:
        return value
    return operators.Undefined(value.name, ": a loop of the program gives tensors and numbers only")


def _refuse_return(start: Any, later: Any) -> None:
    if type(start) is operators.UndefinedReturnValue and not operators.is_absent(later):
        raise TypeError(
            f"{user_line()}: the function returns {later!r:.80} from a loop of which only the "
            "program knows the rounds. Such a `return` gives tensors and numbers only."
        )


def _assert_begins(begin: Any, names: list[str]) -> None:
    """Raise at the run if variables that only the loop gives values to would not get any."""
    condition = operators.symbolic(begin)
    if condition is None:
        return
    where = user_line()

    def check(value: Any) -> None:
        if not value:
            raise InvalidArgumentError(
                f"{where}: the loop must run at least once to give a value to {', '.join(names)}. "
                "Give them values before the loop."
            )

    current_graph().at_run_time(check, operators.as_bool(condition)._array)
