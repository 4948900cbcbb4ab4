"""TensorFlow's `tf.compat.v1.io`."""

from ..._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
