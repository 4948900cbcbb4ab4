"""Part of what TensorFlow has in `tensorflow.compiler.tf2xla.python.xla`."""

from gradtape._src.compat.internals.xla import dynamic_update_slice
