"""Part of what TensorFlow has in `tensorflow.python.framework.ops`."""

from gradtape._src.compat.internals.eager_tensor import EagerTensor
from gradtape._src.core.cotangent import IndexedSlices
from gradtape._src.core.tensor import Tensor
from gradtape._src.ops.array.creation import convert_to_tensor
from gradtape._src.tape.scopes import (
    control_dependencies,
    device,
    init_scope,
    name_scope,
)
