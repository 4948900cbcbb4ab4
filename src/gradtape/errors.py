"""TensorFlow's `tf.errors`."""

from ._missing import missing_name
from .core.errors import DTypeError as DTypeError
from .core.errors import DataLossError as DataLossError
from .core.errors import Error as Error
from .core.errors import InvalidArgumentError as InvalidArgumentError
from .core.errors import NoGradientError as NoGradientError
from .core.errors import NotFoundError as NotFoundError
from .core.errors import OpError as OpError
from .core.errors import OutOfRangeError as OutOfRangeError
from .core.errors import ShapeError as ShapeError
from .core.errors import SymbolicTensorError as SymbolicTensorError
from .core.errors import UnimplementedError as UnimplementedError


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
