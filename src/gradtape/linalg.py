"""TensorFlow's `tf.linalg`."""

from typing import TYPE_CHECKING

from . import _linalg_experimental as experimental
from ._later import later
from .ops.contraction import einsum as einsum
from .ops.contraction import matmul as matmul
from .ops.contraction import matvec as matvec
from .ops.contraction import tensordot as tensordot
from .ops.creation import eye as eye
from .ops.shape import adjoint as adjoint
from .ops.shape import matrix_transpose as matrix_transpose

if TYPE_CHECKING:
    from .ops.decomposition import eig as eig
    from .ops.decomposition import eigh as eigh
    from .ops.decomposition import eigh_tridiagonal as eigh_tridiagonal
    from .ops.decomposition import eigvals as eigvals
    from .ops.decomposition import eigvalsh as eigvalsh
    from .ops.decomposition import lu as lu
    from .ops.decomposition import lu_matrix_inverse as lu_matrix_inverse
    from .ops.decomposition import lu_reconstruct as lu_reconstruct
    from .ops.decomposition import lu_solve as lu_solve
    from .ops.decomposition import qr as qr
    from .ops.decomposition import svd as svd
    from .ops.diagonal import band_part as band_part
    from .ops.diagonal import banded_triangular_solve as banded_triangular_solve
    from .ops.diagonal import diag as diag
    from .ops.diagonal import diag_part as diag_part
    from .ops.diagonal import set_diag as set_diag
    from .ops.diagonal import tensor_diag as tensor_diag
    from .ops.diagonal import tensor_diag_part as tensor_diag_part
    from .ops.diagonal import trace as trace
    from .ops.diagonal import tridiagonal_matmul as tridiagonal_matmul
    from .ops.diagonal import tridiagonal_solve as tridiagonal_solve
    from .ops.linalg import cross as cross
    from .ops.linalg import expm as expm
    from .ops.linalg import logm as logm
    from .ops.linalg import lstsq as lstsq
    from .ops.linalg import matrix_rank as matrix_rank
    from .ops.linalg import normalize as normalize
    from .ops.linalg import pinv as pinv
    from .ops.linalg import sqrtm as sqrtm
    from .ops.linear_operator import LinearOperator as LinearOperator
    from .ops.linear_operator import LinearOperatorDiag as LinearOperatorDiag
    from .ops.linear_operator import LinearOperatorFullMatrix as LinearOperatorFullMatrix
    from .ops.linear_operator import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
    from .ops.linear_operator_combined import LinearOperatorAdjoint as LinearOperatorAdjoint
    from .ops.linear_operator_combined import LinearOperatorBlockDiag as LinearOperatorBlockDiag
    from .ops.linear_operator_combined import LinearOperatorComposition as LinearOperatorComposition
    from .ops.linear_operator_combined import LinearOperatorInversion as LinearOperatorInversion
    from .ops.linear_operator_combined import LinearOperatorKronecker as LinearOperatorKronecker
    from .ops.linear_operator_combined import (
        LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
    )
    from .ops.linear_operator_identity import LinearOperatorIdentity as LinearOperatorIdentity
    from .ops.linear_operator_identity import (
        LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    )
    from .ops.linear_operator_identity import LinearOperatorZeros as LinearOperatorZeros
    from .ops.linear_operator_structured import LinearOperatorCirculant as LinearOperatorCirculant
    from .ops.linear_operator_structured import (
        LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    )
    from .ops.linear_operator_structured import (
        LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    )
    from .ops.linear_operator_structured import (
        LinearOperatorHouseholder as LinearOperatorHouseholder,
    )
    from .ops.linear_operator_structured import (
        LinearOperatorPermutation as LinearOperatorPermutation,
    )
    from .ops.linear_operator_structured import LinearOperatorToeplitz as LinearOperatorToeplitz
    from .ops.linear_operator_structured import LinearOperatorTridiag as LinearOperatorTridiag
    from .ops.linear_systems import cholesky as cholesky
    from .ops.linear_systems import cholesky_solve as cholesky_solve
    from .ops.linear_systems import det as det
    from .ops.linear_systems import inv as inv
    from .ops.linear_systems import logdet as logdet
    from .ops.linear_systems import slogdet as slogdet
    from .ops.linear_systems import solve as solve
    from .ops.linear_systems import triangular_solve as triangular_solve
    from .ops.norm import global_norm as global_norm
    from .ops.norm import l2_normalize as l2_normalize
    from .ops.norm import norm as norm

_LATER = {
    "ops.decomposition": (
        "eig eigh eigh_tridiagonal eigvals eigvalsh lu lu_matrix_inverse lu_reconstruct "
        "lu_solve qr svd"
    ),
    "ops.diagonal": (
        "band_part banded_triangular_solve diag diag_part set_diag tensor_diag "
        "tensor_diag_part trace tridiagonal_matmul tridiagonal_solve"
    ),
    "ops.linalg": "cross expm logm lstsq matrix_rank normalize pinv sqrtm",
    "ops.linear_operator": (
        "LinearOperator LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorLowerTriangular"
    ),
    "ops.linear_operator_combined": (
        "LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorComposition "
        "LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate"
    ),
    "ops.linear_operator_identity": "LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros",
    "ops.linear_operator_structured": (
        "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D "
        "LinearOperatorHouseholder LinearOperatorPermutation LinearOperatorToeplitz "
        "LinearOperatorTridiag"
    ),
    "ops.linear_systems": "cholesky cholesky_solve det inv logdet slogdet solve triangular_solve",
    "ops.norm": "global_norm l2_normalize norm",
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
