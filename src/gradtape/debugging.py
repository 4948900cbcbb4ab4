"""TensorFlow's `tf.debugging`."""

from ._missing import missing_name
from .ops.debugging import Assert as Assert
from .ops.debugging import assert_all_finite as assert_all_finite
from .ops.debugging import assert_equal as assert_equal
from .ops.debugging import assert_greater as assert_greater
from .ops.debugging import assert_greater_equal as assert_greater_equal
from .ops.debugging import assert_integer as assert_integer
from .ops.debugging import assert_less as assert_less
from .ops.debugging import assert_less_equal as assert_less_equal
from .ops.debugging import assert_near as assert_near
from .ops.debugging import assert_negative as assert_negative
from .ops.debugging import assert_non_negative as assert_non_negative
from .ops.debugging import assert_non_positive as assert_non_positive
from .ops.debugging import assert_none_equal as assert_none_equal
from .ops.debugging import assert_positive as assert_positive
from .ops.debugging import assert_proper_iterable as assert_proper_iterable
from .ops.debugging import assert_rank as assert_rank
from .ops.debugging import assert_rank_at_least as assert_rank_at_least
from .ops.debugging import assert_rank_in as assert_rank_in
from .ops.debugging import assert_same_float_dtype as assert_same_float_dtype
from .ops.debugging import assert_scalar as assert_scalar
from .ops.debugging import assert_shapes as assert_shapes
from .ops.debugging import assert_type as assert_type
from .ops.debugging import check_numerics as check_numerics
from .ops.debugging import is_numeric_tensor as is_numeric_tensor


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
