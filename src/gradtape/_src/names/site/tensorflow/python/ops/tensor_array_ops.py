"""Part of what TensorFlow has in `tensorflow.python.ops.tensor_array_ops`."""

from gradtape._src.tape.tensor_array import TensorArray
from gradtape._src.tape.type_specs import TensorArraySpec
