"""TensorFlow's `tf.compat`: `v2` is gradtape itself, `v1` what version 1 has in common with it."""

from .._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
