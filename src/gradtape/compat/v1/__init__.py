"""TensorFlow's `tf.compat.v1`: those of its names that are the same in both versions."""

from ..._src.names import namespace as _namespace
from ..._src.version import VERSION as _VERSION

__version__ = _VERSION  # TensorFlow's: programs for TensorFlow 1 ask for it here
__getattr__, __dir__, __all__ = _namespace(globals())
