"""TensorFlow's `tf.version`: the version of TensorFlow whose names and behaviour these are."""

from ._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
