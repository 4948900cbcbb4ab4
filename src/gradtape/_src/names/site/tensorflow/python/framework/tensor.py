"""Part of what TensorFlow has in `tensorflow.python.framework.tensor`."""

from gradtape._src.core.tensor import Tensor
from gradtape._src.tape.type_specs import TensorSpec
