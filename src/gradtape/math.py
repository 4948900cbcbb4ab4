"""TensorFlow's `tf.math`."""

from typing import TYPE_CHECKING

from . import _math_special as special
from ._later import later
from .ops._family import conj as conj
from .ops.arithmetic import abs as abs
from .ops.arithmetic import accumulate_n as accumulate_n
from .ops.arithmetic import add as add
from .ops.arithmetic import add_n as add_n
from .ops.arithmetic import ceil as ceil
from .ops.arithmetic import divide as divide
from .ops.arithmetic import divide_no_nan as divide_no_nan
from .ops.arithmetic import floor as floor
from .ops.arithmetic import floordiv as floordiv
from .ops.arithmetic import floormod as floormod
from .ops.arithmetic import maximum as maximum
from .ops.arithmetic import minimum as minimum
from .ops.arithmetic import mod as mod
from .ops.arithmetic import multiply as multiply
from .ops.arithmetic import multiply_no_nan as multiply_no_nan
from .ops.arithmetic import negative as negative
from .ops.arithmetic import pow as pow
from .ops.arithmetic import reciprocal as reciprocal
from .ops.arithmetic import reciprocal_no_nan as reciprocal_no_nan
from .ops.arithmetic import rint as rint
from .ops.arithmetic import round as round
from .ops.arithmetic import rsqrt as rsqrt
from .ops.arithmetic import scalar_mul as scalar_mul
from .ops.arithmetic import sign as sign
from .ops.arithmetic import sqrt as sqrt
from .ops.arithmetic import square as square
from .ops.arithmetic import squared_difference as squared_difference
from .ops.arithmetic import subtract as subtract
from .ops.arithmetic import truediv as truediv
from .ops.arithmetic import xdivy as xdivy
from .ops.complex import angle as angle
from .ops.complex import imag as imag
from .ops.complex import real as real
from .ops.exponential import digamma as digamma
from .ops.exponential import erf as erf
from .ops.exponential import erfc as erfc
from .ops.exponential import erfcinv as erfcinv
from .ops.exponential import erfinv as erfinv
from .ops.exponential import exp as exp
from .ops.exponential import expm1 as expm1
from .ops.exponential import lgamma as lgamma
from .ops.exponential import log as log
from .ops.exponential import log1p as log1p
from .ops.exponential import log_sigmoid as log_sigmoid
from .ops.exponential import ndtri as ndtri
from .ops.exponential import polygamma as polygamma
from .ops.exponential import sigmoid as sigmoid
from .ops.exponential import softplus as softplus
from .ops.exponential import xlog1py as xlog1py
from .ops.exponential import xlogy as xlogy
from .ops.exponential import zeta as zeta
from .ops.logic import equal as equal
from .ops.logic import greater as greater
from .ops.logic import greater_equal as greater_equal
from .ops.logic import is_finite as is_finite
from .ops.logic import is_inf as is_inf
from .ops.logic import is_nan as is_nan
from .ops.logic import less as less
from .ops.logic import less_equal as less_equal
from .ops.logic import logical_and as logical_and
from .ops.logic import logical_not as logical_not
from .ops.logic import logical_or as logical_or
from .ops.logic import logical_xor as logical_xor
from .ops.logic import not_equal as not_equal
from .ops.reduction import argmax as argmax
from .ops.reduction import argmin as argmin
from .ops.reduction import count_nonzero as count_nonzero
from .ops.reduction import reduce_all as reduce_all
from .ops.reduction import reduce_any as reduce_any
from .ops.reduction import reduce_euclidean_norm as reduce_euclidean_norm
from .ops.reduction import reduce_logsumexp as reduce_logsumexp
from .ops.reduction import reduce_max as reduce_max
from .ops.reduction import reduce_mean as reduce_mean
from .ops.reduction import reduce_min as reduce_min
from .ops.reduction import reduce_prod as reduce_prod
from .ops.reduction import reduce_std as reduce_std
from .ops.reduction import reduce_sum as reduce_sum
from .ops.reduction import reduce_variance as reduce_variance
from .ops.reduction import zero_fraction as zero_fraction
from .ops.trigonometric import acos as acos
from .ops.trigonometric import acosh as acosh
from .ops.trigonometric import asin as asin
from .ops.trigonometric import asinh as asinh
from .ops.trigonometric import atan as atan
from .ops.trigonometric import atan2 as atan2
from .ops.trigonometric import atanh as atanh
from .ops.trigonometric import cos as cos
from .ops.trigonometric import cosh as cosh
from .ops.trigonometric import sin as sin
from .ops.trigonometric import sinh as sinh
from .ops.trigonometric import tan as tan
from .ops.trigonometric import tanh as tanh

if TYPE_CHECKING:
    from .ops.activation import softsign as softsign
    from .ops.cumulative import cumprod as cumprod
    from .ops.cumulative import cumsum as cumsum
    from .ops.cumulative import cumulative_logsumexp as cumulative_logsumexp
    from .ops.histogram import approx_max_k as approx_max_k
    from .ops.histogram import approx_min_k as approx_min_k
    from .ops.histogram import bincount as bincount
    from .ops.histogram import confusion_matrix as confusion_matrix
    from .ops.histogram import in_top_k as in_top_k
    from .ops.histogram import is_non_decreasing as is_non_decreasing
    from .ops.histogram import is_strictly_increasing as is_strictly_increasing
    from .ops.loss import log_softmax as log_softmax
    from .ops.loss import softmax as softmax
    from .ops.norm import l2_normalize as l2_normalize
    from .ops.ordering import invert_permutation as invert_permutation
    from .ops.ordering import top_k as top_k
    from .ops.segment import segment_max as segment_max
    from .ops.segment import segment_mean as segment_mean
    from .ops.segment import segment_min as segment_min
    from .ops.segment import segment_prod as segment_prod
    from .ops.segment import segment_sum as segment_sum
    from .ops.segment import unsorted_segment_max as unsorted_segment_max
    from .ops.segment import unsorted_segment_mean as unsorted_segment_mean
    from .ops.segment import unsorted_segment_min as unsorted_segment_min
    from .ops.segment import unsorted_segment_prod as unsorted_segment_prod
    from .ops.segment import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
    from .ops.segment import unsorted_segment_sum as unsorted_segment_sum
    from .ops.special import bessel_i0 as bessel_i0
    from .ops.special import bessel_i0e as bessel_i0e
    from .ops.special import bessel_i1 as bessel_i1
    from .ops.special import bessel_i1e as bessel_i1e
    from .ops.special import betainc as betainc
    from .ops.special import igamma as igamma
    from .ops.special import igammac as igammac
    from .ops.special import lbeta as lbeta
    from .ops.special import nextafter as nextafter
    from .ops.special import polyval as polyval
    from .ops.special import sobol_sample as sobol_sample

_LATER = {
    "ops.activation": "softsign",
    "ops.cumulative": "cumprod cumsum cumulative_logsumexp",
    "ops.histogram": (
        "approx_max_k approx_min_k bincount confusion_matrix in_top_k is_non_decreasing "
        "is_strictly_increasing"
    ),
    "ops.loss": "log_softmax softmax",
    "ops.norm": "l2_normalize",
    "ops.ordering": "invert_permutation top_k",
    "ops.segment": (
        "segment_max segment_mean segment_min segment_prod segment_sum "
        "unsorted_segment_max unsorted_segment_mean unsorted_segment_min "
        "unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum"
    ),
    "ops.special": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc igamma igammac lbeta nextafter "
        "polyval sobol_sample"
    ),
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
