"""TensorFlow's `tf.nn`."""

from typing import TYPE_CHECKING

from . import _nn_experimental as experimental
from ._later import later
from .ops.activation import crelu as crelu
from .ops.activation import elu as elu
from .ops.activation import gelu as gelu
from .ops.activation import leaky_relu as leaky_relu
from .ops.activation import relu as relu
from .ops.activation import relu6 as relu6
from .ops.activation import selu as selu
from .ops.activation import silu as silu
from .ops.activation import softsign as softsign
from .ops.activation import swish as swish
from .ops.exponential import sigmoid as sigmoid
from .ops.exponential import softplus as softplus
from .ops.loss import compute_average_loss as compute_average_loss
from .ops.loss import log_poisson_loss as log_poisson_loss
from .ops.loss import log_softmax as log_softmax
from .ops.loss import scale_regularization_loss as scale_regularization_loss
from .ops.loss import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from .ops.loss import softmax as softmax
from .ops.loss import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from .ops.loss import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from .ops.loss import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from .ops.nn import batch_normalization as batch_normalization
from .ops.nn import bias_add as bias_add
from .ops.nn import dropout as dropout
from .ops.nn import embedding_lookup as embedding_lookup
from .ops.nn import moments as moments
from .ops.nn import normalize_moments as normalize_moments
from .ops.nn import weighted_moments as weighted_moments
from .ops.reduction import zero_fraction as zero_fraction
from .ops.trigonometric import tanh as tanh

if TYPE_CHECKING:
    from .ops.convolution import atrous_conv2d as atrous_conv2d
    from .ops.convolution import atrous_conv2d_transpose as atrous_conv2d_transpose
    from .ops.convolution import (
        batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    )
    from .ops.convolution import conv1d as conv1d
    from .ops.convolution import conv1d_transpose as conv1d_transpose
    from .ops.convolution import conv2d as conv2d
    from .ops.convolution import conv2d_transpose as conv2d_transpose
    from .ops.convolution import conv3d as conv3d
    from .ops.convolution import conv3d_transpose as conv3d_transpose
    from .ops.convolution import conv_transpose as conv_transpose
    from .ops.convolution import convolution as convolution
    from .ops.depthwise import depthwise_conv2d as depthwise_conv2d
    from .ops.depthwise import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
    from .ops.depthwise import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
    from .ops.depthwise import separable_conv2d as separable_conv2d
    from .ops.histogram import approx_max_k as approx_max_k
    from .ops.histogram import approx_min_k as approx_min_k
    from .ops.histogram import in_top_k as in_top_k
    from .ops.nn_sampling import collapse_repeated as collapse_repeated
    from .ops.nn_sampling import ctc_loss as ctc_loss
    from .ops.nn_sampling import ctc_unique_labels as ctc_unique_labels
    from .ops.nn_sampling import isotonic_regression as isotonic_regression
    from .ops.nn_sampling import nce_loss as nce_loss
    from .ops.nn_sampling import sampled_softmax_loss as sampled_softmax_loss
    from .ops.norm import l2_loss as l2_loss
    from .ops.norm import l2_normalize as l2_normalize
    from .ops.ordering import top_k as top_k
    from .ops.pooling import avg_pool as avg_pool
    from .ops.pooling import avg_pool1d as avg_pool1d
    from .ops.pooling import avg_pool2d as avg_pool2d
    from .ops.pooling import avg_pool3d as avg_pool3d
    from .ops.pooling import fractional_avg_pool as fractional_avg_pool
    from .ops.pooling import fractional_max_pool as fractional_max_pool
    from .ops.pooling import max_pool as max_pool
    from .ops.pooling import max_pool1d as max_pool1d
    from .ops.pooling import max_pool2d as max_pool2d
    from .ops.pooling import max_pool3d as max_pool3d
    from .ops.pooling import max_pool_with_argmax as max_pool_with_argmax
    from .ops.pooling import pool as pool
    from .ops.sampling import all_candidate_sampler as all_candidate_sampler
    from .ops.sampling import compute_accidental_hits as compute_accidental_hits
    from .ops.sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
    from .ops.sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    from .ops.windows import depth_to_space as depth_to_space
    from .ops.windows import dilation2d as dilation2d
    from .ops.windows import erosion2d as erosion2d
    from .ops.windows import local_response_normalization as local_response_normalization
    from .ops.windows import lrn as lrn
    from .ops.windows import space_to_batch as space_to_batch
    from .ops.windows import space_to_depth as space_to_depth
    from .ops.windows import with_space_to_batch as with_space_to_batch

_LATER = {
    "ops.convolution": (
        "atrous_conv2d atrous_conv2d_transpose batch_norm_with_global_normalization "
        "conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose "
        "conv_transpose convolution"
    ),
    "ops.depthwise": (
        "depthwise_conv2d depthwise_conv2d_backprop_filter "
        "depthwise_conv2d_backprop_input separable_conv2d"
    ),
    "ops.histogram": "approx_max_k approx_min_k in_top_k",
    "ops.nn_sampling": (
        "collapse_repeated ctc_loss ctc_unique_labels isotonic_regression nce_loss "
        "sampled_softmax_loss"
    ),
    "ops.norm": "l2_loss l2_normalize",
    "ops.ordering": "top_k",
    "ops.pooling": (
        "avg_pool avg_pool1d avg_pool2d avg_pool3d fractional_avg_pool "
        "fractional_max_pool max_pool max_pool1d max_pool2d max_pool3d "
        "max_pool_with_argmax pool"
    ),
    "ops.sampling": (
        "all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler "
        "learned_unigram_candidate_sampler"
    ),
    "ops.windows": (
        "depth_to_space dilation2d erosion2d local_response_normalization lrn "
        "space_to_batch space_to_depth with_space_to_batch"
    ),
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
