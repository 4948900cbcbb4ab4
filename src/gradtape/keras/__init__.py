"""TensorFlow's `tf.keras`: Keras where it is installed, else optimizers and the progress bar."""

from .._src.names import namespace as _namespace
from .._src.names.keras import answer_with_keras as _answer_with_keras

if not _answer_with_keras(__name__):
    __getattr__, __dir__, __all__ = _namespace(globals())
