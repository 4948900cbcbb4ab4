"""TensorFlow's `tf.dtypes`."""

from .._src.core import dtypes as _dtypes
from .._src.names import namespace as _namespace

bool = _dtypes.bool_

__getattr__, __dir__, __all__ = _namespace(globals())
