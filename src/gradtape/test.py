"""TensorFlow's `tf.test`: what programs ask about the machine and the build."""

from ._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
