"""TensorFlow's `tf.linalg`."""

from ._missing import missing_name
from .ops.contraction import einsum as einsum
from .ops.contraction import matmul as matmul
from .ops.contraction import matvec as matvec
from .ops.contraction import tensordot as tensordot
from .ops.creation import eye as eye
from .ops.norm import global_norm as global_norm
from .ops.norm import l2_normalize as l2_normalize
from .ops.norm import norm as norm
from .ops.shape import adjoint as adjoint
from .ops.shape import matrix_transpose as matrix_transpose


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
