"""TensorFlow's `tf.__internal__`: what Keras and other libraries use of its inside."""

from .._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
