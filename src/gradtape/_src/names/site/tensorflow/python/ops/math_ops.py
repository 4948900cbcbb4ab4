"""Part of what TensorFlow has in `tensorflow.python.ops.math_ops`."""

from gradtape._src.ops.array.cast import cast
from gradtape._src.ops.array.creation import range
from gradtape._src.ops.linalg.matmul import matmul
from gradtape._src.ops.math.arithmetic import (
    add,
    multiply,
    square,
    subtract,
)
from gradtape._src.ops.math.logic import (
    equal,
    is_finite,
    is_nan,
    logical_and,
    logical_not,
    logical_or,
)
from gradtape._src.ops.math.reduction import (
    reduce_mean,
    reduce_sum,
)
