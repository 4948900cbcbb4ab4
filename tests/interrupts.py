"""Interrupts at every moment at which Python looks for signals, one after the other.

`at_every_point(step, check)` runs `step` again and again, and raises an exception in it: at the
first of these moments, at the second, and so on to its end. So holes are found without timers, on
any machine, however busy. What it knows of CPython: the handler of a signal is run when a function
is entered, after a call of a function of C, and when a loop begins another round. (3.11 to 3.13)
"""

import contextlib
import dis
import functools
import inspect
import sys
from collections import Counter

GRADTAPE = ("gradtape", contextlib.__file__)
"""What interrupts come to: gradtape, and what it enters blocks with."""

_GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Interrupt(BaseException):
    """What the handler of a signal raises."""


def at_every_point(step, check, begin=lambda: None, files=GRADTAPE, visits=1, stride=1):
    """Interrupt `step` at each point in `files`, the first times (`visits`) that it comes there.

    `begin` is called before each run of `step`, `check` after it. With a `stride`, only at every
    so manieth point. How many times it was interrupted.
    """
    begin()
    step()  # what is made once is made
    seen = Counter()
    begin()
    _run(step, files, lambda point: seen.update([point]))
    count = 0
    points = [(point, n) for point, times in seen.items() for n in range(min(times, visits))]
    for point, left in points[::stride]:
        begin()
        count += _interrupted(step, files, point, left)
        check()
    return count


def _interrupted(step, files, wanted, left):
    """Whether `step` was interrupted: it may have come to another end this time."""

    def visit(point):
        nonlocal left
        if point == wanted:
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise Interrupt

    try:
        _run(step, files, visit, wanted[0])
    except Interrupt:
        return True
    return left < 0  # in a place where Python can raise nothing, such as a finalizer


def _run(step, files, visit, only=None):
    """Call `step`; at each point in `files`, `visit((code, offset))`; `only` in this code."""

    called = set()  # frames that have just called a function of Python, not by way of C

    def enter(frame, event, _):
        code = frame.f_code
        if not code.co_name.startswith("__"):
            called.add(id(frame.f_back))
        if (code is not only) if only is not None else not _is_in(code.co_filename, files):
            return None
        if not code.co_flags & _GENERATES:
            visit((code, -1))
        points = _points(code)
        before = -1

        def inside(frame, event, _):
            nonlocal before
            if event == "opcode":
                offset, after = frame.f_lasti, before
                before = offset
                returned = id(frame) in called
                called.discard(id(frame))
                if points.get(offset, _NEVER)(after) and not returned:
                    visit((code, offset))
            return inside

        frame.f_trace = inside  # before the next line, which 3.13 forgets otherwise
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return inside

    outside = sys.gettrace()
    sys.settrace(enter)
    try:
        step()
    finally:
        sys.settrace(outside)


@functools.cache
def _is_in(file, files):
    return any(part in file for part in files) and not file.startswith(_TESTS)


_TESTS = __file__.rpartition("/")[0]
_NEVER = lambda before: False  # noqa: E731
_CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}


@functools.cache
def _points(code):
    """Where signals are looked for: by offset, whether they are, given the instruction before."""
    found = {}
    handlers = _handlers(code)
    previous = None
    for instruction in dis.get_instructions(code):
        name, offset = instruction.opname, instruction.offset
        if name == "JUMP_BACKWARD" or (name == "RESUME" and instruction.arg & 3 == 1):
            found[offset] = lambda before: True
        elif (
            previous is not None
            and previous.opname in _CALLS
            # The exception is that of the call: it must be caught by what catches those of it.
            and handlers(previous.offset) == handlers(offset)
        ):
            found[offset] = functools.partial(int.__eq__, previous.offset)
        if name not in ("CACHE", "NOP"):
            previous = instruction
    return found


def _handlers(code):
    entries = dis._parse_exception_table(code)

    def handler(offset):
        return next((e.target for e in entries if e.start <= offset < e.end), None)

    return handler
