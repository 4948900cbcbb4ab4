"""TensorFlow's `tf.types.experimental`: what values count as."""

from .._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
