"""Part of what TensorFlow has in `tensorflow.python.framework.func_graph`."""

from gradtape._src.compat.internals.func_graph import FuncGraph
