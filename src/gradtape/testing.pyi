from ._src.testing.check_op import (
    all_ops as all_ops,
    check_op as check_op,
)
from ._src.testing.gradcheck import (
    check_gradients as check_gradients,
    numerical_jacobian as numerical_jacobian,
)
