"""TensorFlow's `tf.ragged`: ragged tensors from lists, ranges and masks, and functions on them."""

from ._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
