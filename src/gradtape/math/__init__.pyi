from .._src.ops.linalg.norm import l2_normalize as l2_normalize
from .._src.ops.math.arithmetic import (
    abs as abs,
    accumulate_n as accumulate_n,
    add as add,
    add_n as add_n,
    ceil as ceil,
    divide as divide,
    divide_no_nan as divide_no_nan,
    floor as floor,
    floordiv as floordiv,
    floormod as floormod,
    maximum as maximum,
    minimum as minimum,
    mod as mod,
    multiply as multiply,
    multiply_no_nan as multiply_no_nan,
    negative as negative,
    reciprocal as reciprocal,
    reciprocal_no_nan as reciprocal_no_nan,
    rint as rint,
    round as round,
    scalar_mul as scalar_mul,
    sign as sign,
    square as square,
    squared_difference as squared_difference,
    subtract as subtract,
    truediv as truediv,
    xdivy as xdivy,
)
from .._src.ops.math.complex import (
    angle as angle,
    imag as imag,
    real as real,
)
from .._src.ops.math.conjugate import conj as conj
from .._src.ops.math.counting import bincount as bincount, confusion_matrix as confusion_matrix
from .._src.ops.math.cumulative import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
)
from .._src.ops.math.exponential import (
    exp as exp,
    expm1 as expm1,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    sigmoid as sigmoid,
    softplus as softplus,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from .._src.ops.math.gamma import (
    betainc as betainc,
    digamma as digamma,
    igamma as igamma,
    igammac as igammac,
    lbeta as lbeta,
    lgamma as lgamma,
    polygamma as polygamma,
    zeta as zeta,
)
from .._src.ops.math.logic import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    not_equal as not_equal,
)
from .._src.ops.math.ordering import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    top_k as top_k,
)
from .._src.ops.math.power import pow as pow, rsqrt as rsqrt, sqrt as sqrt
from .._src.ops.math.reduction import (
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_std as reduce_std,
    reduce_sum as reduce_sum,
    reduce_variance as reduce_variance,
    zero_fraction as zero_fraction,
)
from .._src.ops.math.segment import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from .._src.ops.math.special import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
    erf as erf,
    erfc as erfc,
    erfcinv as erfcinv,
    erfinv as erfinv,
    ndtri as ndtri,
    nextafter as nextafter,
    polyval as polyval,
)
from .._src.ops.math.trigonometric import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    sin as sin,
    sinh as sinh,
    tan as tan,
    tanh as tanh,
)
from .._src.ops.nn.activation import softsign as softsign
from .._src.ops.nn.loss import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from .._src.ops.random.sobol import sobol_sample as sobol_sample
from . import special as special
