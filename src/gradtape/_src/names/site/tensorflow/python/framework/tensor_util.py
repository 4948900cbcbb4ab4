"""Part of what TensorFlow has in `tensorflow.python.framework.tensor_util`."""

from gradtape._src.ops.array.conversion import get_static_value as constant_value
from gradtape._src.ops.array.creation import is_tensor as is_tf_type
from gradtape._src.train.summary.tensor_proto import (
    make_ndarray as MakeNdarray,
    make_tensor_proto,
)

is_tensor = is_tf_type
