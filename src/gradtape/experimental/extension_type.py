"""TensorFlow's `tf.experimental.dtensor`, as far as it means something on one device."""

from .._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
