"""TensorFlow's `tf.experimental.numpy`: the switch to NumPy's rules of promotion."""

from .._src.core.tensor import Tensor as _Tensor
from .._src.names import namespace as _namespace

ndarray = _Tensor

__getattr__, __dir__, __all__ = _namespace(globals())
