"""TensorFlow's `tf.compat`, in which `v2` is tensorflow itself."""

from gradtape._src.names.alias import face as _face

v2 = __import__("tensorflow")
__getattr__, __dir__, __all__ = _face(globals())
