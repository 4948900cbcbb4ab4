from .._src.ops.array.creation import eye as eye
from .._src.ops.array.shape import (
    adjoint as adjoint,
    matrix_transpose as matrix_transpose,
)
from .._src.ops.linalg.decomposition import (
    eig as eig,
    eigh as eigh,
    eigh_tridiagonal as eigh_tridiagonal,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
    qr as qr,
    svd as svd,
)
from .._src.ops.linalg.diagonal import (
    band_part as band_part,
    banded_triangular_solve as banded_triangular_solve,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
from .._src.ops.linalg.einsum import einsum as einsum, tensordot as tensordot
from .._src.ops.linalg.matmul import matmul as matmul, matvec as matvec
from .._src.ops.linalg.matrix_functions import (
    cross as cross,
    expm as expm,
    logm as logm,
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    normalize as normalize,
    pinv as pinv,
    sqrtm as sqrtm,
)
from .._src.ops.linalg.norm import (
    global_norm as global_norm,
    l2_normalize as l2_normalize,
    norm as norm,
)
from .._src.ops.linalg.operators.combined import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
    LinearOperatorKronecker as LinearOperatorKronecker,
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from .._src.ops.linalg.operators.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    LinearOperatorZeros as LinearOperatorZeros,
)
from .._src.ops.linalg.operators.matrices import (
    LinearOperatorDiag as LinearOperatorDiag,
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
)
from .._src.ops.linalg.operators.operator import (
    LinearOperator as LinearOperator,
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorComposition as LinearOperatorComposition,
    LinearOperatorInversion as LinearOperatorInversion,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from .._src.ops.linalg.operators.structured import (
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    LinearOperatorHouseholder as LinearOperatorHouseholder,
    LinearOperatorPermutation as LinearOperatorPermutation,
    LinearOperatorToeplitz as LinearOperatorToeplitz,
    LinearOperatorTridiag as LinearOperatorTridiag,
)
from .._src.ops.linalg.systems import (
    cholesky as cholesky,
    cholesky_solve as cholesky_solve,
    det as det,
    inv as inv,
    logdet as logdet,
    slogdet as slogdet,
    solve as solve,
    triangular_solve as triangular_solve,
)
from . import experimental as experimental
