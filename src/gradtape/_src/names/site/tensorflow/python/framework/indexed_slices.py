"""Part of what TensorFlow has in `tensorflow.python.framework.indexed_slices`."""

from gradtape._src.core.cotangent import IndexedSlices
from gradtape._src.tape.type_specs import IndexedSlicesSpec
