"""What gradtape is checked with, for you to check your own ops and functions with."""

from .check_op import all_ops as all_ops, check_op as check_op
from .gradcheck import check_gradients as check_gradients, numerical_jacobian as numerical_jacobian
