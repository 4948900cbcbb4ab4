"""Part of what TensorFlow has in `tensorflow.python.data.ops.options`."""

from gradtape._src.train.data.options import (
    AutoShardPolicy,
    Options,
)
