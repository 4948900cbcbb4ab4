"""The exceptions of gradtape.

    Error(Exception)                           raised on purpose, by gradtape's own checks
    ├── OpError                                an op refused its arguments (as in TensorFlow)
    │   ├── InvalidArgumentError(ValueError)   bad values, shapes and dtypes (as in TensorFlow)
    │   │   ├── ShapeError                     shapes do not fit
    │   │   ├── DTypeError(TypeError)          dtypes do not fit
    │   │   ├── NotATensorError(TypeError)     a tensor is needed, and a composite value came
    │   │   └── ValuesNeeded                   Python needs values that a batch has many of
    │   ├── DataLossError(ValueError)          a file is damaged
    │   ├── NotFoundError(LookupError)
    │   ├── OutOfRangeError(IndexError)
    │   ├── UnimplementedError(NotImplementedError)
    │   ├── ResourceExhaustedError(MemoryError)
    │   ├── DeadlineExceededError(TimeoutError)
    │   ├── PermissionDeniedError(PermissionError)
    │   ├── AlreadyExistsError(FileExistsError)
    │   ├── FailedPreconditionError(RuntimeError)
    │   ├── InternalError(RuntimeError)
    │   ├── CancelledError
    │   ├── AbortedError
    │   ├── UnavailableError
    │   ├── UnauthenticatedError
    │   └── UnknownError
    ├── OperatorNotAllowedInGraphError(TypeError)
    │   └── SymbolicTensorError(...)           a value is asked for that @function does not know yet
    │       └── DynamicSizeError               an op asks for it: a size depends on values
    │           └── TextError                  it is text, which no program has
    └── NoGradientError(LookupError)           an op on the path has no gradient rule

Each is also the built-in exception that a Python programmer would expect, so `except ValueError`
catches a wrong shape. Some kinds are here because TensorFlow has them and programs name them:
nothing in gradtape is cancelled or unauthenticated.

A message says which op or argument, what was expected, what came, and what to do.
"""

from __future__ import annotations

from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class Error(Exception):
    """Base of the exceptions that gradtape raises on purpose."""


class OpError(Error):
    """An op refused its arguments: `OpError(message)`, or with TensorFlow's four arguments.

    `node_def` and `op` are nodes of TensorFlow's graphs, and None in what gradtape raises.
    """

    error_code: int = UNKNOWN
    """The number of the kind of error: one of the constants `CANCELLED` to `UNAUTHENTICATED`."""

    node_def: Any = None
    op: Any = None

    def __init__(
        self,
        node_def: Any,
        op: Any = None,
        message: str | None = None,
        error_code: int | None = None,
        *args: Any,
    ) -> None:
        if message is None:
            message = node_def  # the one argument of what is raised here
        else:
            self.node_def, self.op = node_def, op
        if error_code is not None and type(self).error_code == UNKNOWN:
            self.error_code = error_code  # of a kind that is known, TensorFlow takes no other
        super().__init__(message)

    @property
    def message(self) -> str:
        return str(self)

    @property
    def experimental_payloads(self) -> dict[str, bytes]:
        """Nothing: in TensorFlow, what a remote call adds to an error."""
        return {}


class InvalidArgumentError(OpError, ValueError):
    """An argument has a value, a shape or a dtype that the op cannot take."""

    error_code = INVALID_ARGUMENT


class ShapeError(InvalidArgumentError):
    """The shapes of the arguments do not fit together."""


class ValuesNeeded(InvalidArgumentError):
    """Python needs one value of what has another for each element of a batch."""


class DTypeError(InvalidArgumentError, TypeError):
    """The dtypes of the arguments do not fit together, or the op does not take this one."""


class NotATensorError(InvalidArgumentError, TypeError):
    """A tensor is needed, and a value came that is made of several."""

    value: Any = None


class DataLossError(OpError, ValueError):
    """A file is damaged or is not what it should be."""

    error_code = DATA_LOSS


class NotFoundError(OpError, LookupError):
    """Something named in the arguments does not exist."""

    error_code = NOT_FOUND


class OutOfRangeError(OpError, IndexError):
    """An index lies outside of what it indexes."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """A case of the op that does not exist here."""

    error_code = UNIMPLEMENTED


class ResourceExhaustedError(OpError, MemoryError):
    """Memory, or another resource, is used up."""

    error_code = RESOURCE_EXHAUSTED


class DeadlineExceededError(OpError, TimeoutError):
    """Something took longer than it was given."""

    error_code = DEADLINE_EXCEEDED


class PermissionDeniedError(OpError, PermissionError):
    """The caller may not do this."""

    error_code = PERMISSION_DENIED


class AlreadyExistsError(OpError, FileExistsError):
    """Something that is to be made exists already."""

    error_code = ALREADY_EXISTS


class FailedPreconditionError(OpError, RuntimeError):
    """The system is not in the state that the operation needs."""

    error_code = FAILED_PRECONDITION


class InternalError(OpError, RuntimeError):
    """Something that should hold inside does not."""

    error_code = INTERNAL


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = CANCELLED


class AbortedError(OpError):
    """The operation was given up, usually because of another one."""

    error_code = ABORTED


class UnavailableError(OpError):
    """A service cannot be reached now."""

    error_code = UNAVAILABLE


class UnauthenticatedError(OpError):
    """The caller does not prove who it is."""

    error_code = UNAUTHENTICATED


class UnknownError(OpError):
    """An error of which nothing more is known."""

    error_code = UNKNOWN


class OperatorNotAllowedInGraphError(Error, TypeError):
    """Python asks a tensor that has no value yet for one."""


class SymbolicTensorError(OperatorNotAllowedInGraphError, NotImplementedError, AttributeError):
    """A value is asked for while a function is traced, when tensors have none; or after that.

    It is each of the exceptions by which TensorFlow says so: `x.numpy()` raises AttributeError,
    `np.asarray(x)` NotImplementedError, `if x:` TypeError.
    """

    missed: Any = None
    """The tensor, or a nest of them, whose values are needed, where these are all that it takes."""


class DynamicSizeError(SymbolicTensorError):
    """An op of a traced function needs values: the size of its result, say, depends on them.

    Where only the user's own line asks for a value, it is a plain SymbolicTensorError.
    """

    reason = "In a compiled program sizes and axes are fixed"
    advice = (
        "compute with masks (tf.where with three arguments), pass the number as a Python value, "
        "give a TensorArray its size, or put what can be compiled into a @function of its own, "
        "which this one calls."
    )
    arguments: frozenset[int] = frozenset()
    """The arguments of the function, by number, of which `missed` is computed and nothing else."""


class TextError(DynamicSizeError):
    """A traced function has to do with text, which is no part of a program."""

    reason = "A compiled program has no text"
    advice = (
        "turn text into numbers before, as in tf.data.Dataset.map, or put what can be compiled "
        "into a @function of its own, which this one calls."
    )


class NoGradientError(Error, LookupError):
    """The path from target to source leads through an op without a gradient rule."""
