"""What gradtape is checked with, for you to check your own ops and functions with."""

from .check_op import all_ops as all_ops
from .check_op import check_op as check_op
from .gradcheck import check_gradients as check_gradients
from .gradcheck import numerical_jacobian as numerical_jacobian
