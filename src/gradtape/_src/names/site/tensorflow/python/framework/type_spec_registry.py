"""Part of what TensorFlow has in `tensorflow.python.framework.type_spec_registry`."""

from gradtape._src.compat.internals.type_spec_registry import get_name, lookup, register
