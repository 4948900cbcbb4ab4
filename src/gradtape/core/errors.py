"""The exceptions of gradtape.

    Error(Exception)                           raised on purpose, by gradtape's own checks
    ├── OpError                                an op refused its arguments (as in TensorFlow)
    │   ├── InvalidArgumentError(ValueError)   bad values, shapes and dtypes (as in TensorFlow)
    │   │   ├── ShapeError                     shapes do not fit
    │   │   ├── DTypeError(TypeError)          dtypes do not fit
    │   │   └── ValuesNeeded                   Python needs values that a batch has many of
    │   ├── DataLossError(ValueError)          a file is damaged
    │   ├── NotFoundError(LookupError)
    │   ├── OutOfRangeError(IndexError)
    │   └── UnimplementedError(NotImplementedError)
    ├── SymbolicTensorError(TypeError, ...)    a value is asked for that @function does not know yet
    └── NoGradientError(LookupError)           an op on the path has no gradient rule

Each is also the built-in exception that a Python programmer would expect, so `except ValueError`
catches a wrong shape. A message says which op or argument, what was expected, what came, and what
to do.
"""

from __future__ import annotations


class Error(Exception):
    """Base of the exceptions that gradtape raises on purpose."""


class OpError(Error):
    """An op refused its arguments."""

    @property
    def message(self) -> str:
        return str(self)


class InvalidArgumentError(OpError, ValueError):
    """An argument has a value, a shape or a dtype that the op cannot take."""


class ShapeError(InvalidArgumentError):
    """The shapes of the arguments do not fit together."""


class ValuesNeeded(InvalidArgumentError):
    """Python needs one value of what has another for each element of a batch."""


class DTypeError(InvalidArgumentError, TypeError):
    """The dtypes of the arguments do not fit together, or the op does not take this one."""


class DataLossError(OpError, ValueError):
    """A file is damaged, or is not what it should be."""


class NotFoundError(OpError, LookupError):
    """Something named in the arguments does not exist."""


class OutOfRangeError(OpError, IndexError):
    """An index lies outside of what it indexes."""


class UnimplementedError(OpError, NotImplementedError):
    """A case of the op that does not exist here."""


class SymbolicTensorError(Error, TypeError, NotImplementedError, AttributeError):
    """A value is asked for while a function is traced, when tensors have none; or after that.

    It is each of the exceptions by which TensorFlow says so: `x.numpy()` raises AttributeError,
    `np.asarray(x)` NotImplementedError, `if x:` TypeError.
    """


class NoGradientError(Error, LookupError):
    """The path from target to source leads through an op without a gradient rule."""
