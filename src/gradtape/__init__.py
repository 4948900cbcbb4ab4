"""gradtape: the tf.GradientTape system without TensorFlow.

>>> import gradtape as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     tape.watch(x)
...     y = x * x
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from typing import TYPE_CHECKING

from ._later import later
from ._version import __version__ as __version__
from .core.cotangent import IndexedSlices as IndexedSlices
from .core.dtypes import DType as DType
from .core.dtypes import as_dtype as as_dtype
from .core.dtypes import bfloat16 as bfloat16
from .core.dtypes import bool_ as bool
from .core.dtypes import complex128 as complex128
from .core.dtypes import complex64 as complex64
from .core.dtypes import double as double
from .core.dtypes import float16 as float16
from .core.dtypes import float32 as float32
from .core.dtypes import float64 as float64
from .core.dtypes import half as half
from .core.dtypes import int16 as int16
from .core.dtypes import int32 as int32
from .core.dtypes import int64 as int64
from .core.dtypes import int8 as int8
from .core.dtypes import string as string
from .core.dtypes import uint16 as uint16
from .core.dtypes import uint32 as uint32
from .core.dtypes import uint64 as uint64
from .core.dtypes import uint8 as uint8
from .core.shape import TensorShape as TensorShape
from .core.tensor import Tensor as Tensor
from .function import function as function
from .ops.arithmetic import abs as abs
from .ops.arithmetic import add as add
from .ops.arithmetic import add_n as add_n
from .ops.arithmetic import clip_by_value as clip_by_value
from .ops.arithmetic import divide as divide
from .ops.arithmetic import floor as floor
from .ops.arithmetic import maximum as maximum
from .ops.arithmetic import minimum as minimum
from .ops.arithmetic import multiply as multiply
from .ops.arithmetic import negative as negative
from .ops.arithmetic import pow as pow
from .ops.arithmetic import realdiv as realdiv
from .ops.arithmetic import round as round
from .ops.arithmetic import scalar_mul as scalar_mul
from .ops.arithmetic import sign as sign
from .ops.arithmetic import sqrt as sqrt
from .ops.arithmetic import square as square
from .ops.arithmetic import subtract as subtract
from .ops.arithmetic import truediv as truediv
from .ops.arithmetic import truncatediv as truncatediv
from .ops.arithmetic import truncatemod as truncatemod
from .ops.complex import complex as complex
from .ops.contraction import einsum as einsum
from .ops.contraction import matmul as matmul
from .ops.contraction import tensordot as tensordot
from .ops.creation import cast as cast
from .ops.creation import constant as constant
from .ops.creation import convert_to_tensor as convert_to_tensor
from .ops.creation import eye as eye
from .ops.creation import fill as fill
from .ops.creation import identity as identity
from .ops.creation import identity_n as identity_n
from .ops.creation import is_tensor as is_tensor
from .ops.creation import linspace as linspace
from .ops.creation import ones as ones
from .ops.creation import ones_like as ones_like
from .ops.creation import range as range
from .ops.creation import saturate_cast as saturate_cast
from .ops.creation import stop_gradient as stop_gradient
from .ops.creation import zeros as zeros
from .ops.creation import zeros_like as zeros_like
from .ops.exponential import exp as exp
from .ops.exponential import sigmoid as sigmoid
from .ops.indexing import gather as gather
from .ops.indexing import gather_nd as gather_nd
from .ops.indexing import scatter_nd as scatter_nd
from .ops.joining import concat as concat
from .ops.joining import meshgrid as meshgrid
from .ops.joining import parallel_stack as parallel_stack
from .ops.joining import repeat as repeat
from .ops.joining import reverse as reverse
from .ops.joining import roll as roll
from .ops.joining import split as split
from .ops.joining import stack as stack
from .ops.joining import tile as tile
from .ops.joining import unstack as unstack
from .ops.logic import equal as equal
from .ops.logic import greater as greater
from .ops.logic import greater_equal as greater_equal
from .ops.logic import less as less
from .ops.logic import less_equal as less_equal
from .ops.logic import logical_and as logical_and
from .ops.logic import logical_not as logical_not
from .ops.logic import logical_or as logical_or
from .ops.logic import not_equal as not_equal
from .ops.logic import where as where
from .ops.reduction import argmax as argmax
from .ops.reduction import argmin as argmin
from .ops.reduction import reduce_all as reduce_all
from .ops.reduction import reduce_any as reduce_any
from .ops.reduction import reduce_logsumexp as reduce_logsumexp
from .ops.reduction import reduce_max as reduce_max
from .ops.reduction import reduce_mean as reduce_mean
from .ops.reduction import reduce_min as reduce_min
from .ops.reduction import reduce_prod as reduce_prod
from .ops.reduction import reduce_sum as reduce_sum
from .ops.shape import broadcast_dynamic_shape as broadcast_dynamic_shape
from .ops.shape import broadcast_static_shape as broadcast_static_shape
from .ops.shape import broadcast_to as broadcast_to
from .ops.shape import ensure_shape as ensure_shape
from .ops.shape import expand_dims as expand_dims
from .ops.shape import rank as rank
from .ops.shape import reshape as reshape
from .ops.shape import shape as shape
from .ops.shape import shape_n as shape_n
from .ops.shape import size as size
from .ops.shape import squeeze as squeeze
from .ops.shape import transpose as transpose
from .ops.slicing import boolean_mask as boolean_mask
from .ops.slicing import one_hot as one_hot
from .ops.slicing import pad as pad
from .ops.slicing import reverse_sequence as reverse_sequence
from .ops.slicing import sequence_mask as sequence_mask
from .ops.slicing import slice as slice
from .ops.slicing import strided_slice as strided_slice
from .ops.slicing import unravel_index as unravel_index
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
from .tape.gradient_tape import GradientTape as GradientTape
from .tape.gradient_tape import UnconnectedGradients as UnconnectedGradients
from .tape.scopes import control_dependencies as control_dependencies
from .tape.scopes import device as device
from .tape.scopes import executing_eagerly as executing_eagerly
from .tape.scopes import get_current_name_scope as get_current_name_scope
from .tape.scopes import get_logger as get_logger
from .tape.scopes import init_scope as init_scope
from .tape.scopes import name_scope as name_scope
from .tape.variable import Variable as Variable

if TYPE_CHECKING:
    from . import autodiff as autodiff
    from . import autograph as autograph
    from . import bitwise as bitwise
    from . import compat as compat
    from . import config as config
    from . import data as data
    from . import debugging as debugging
    from . import dtypes as dtypes
    from . import errors as errors
    from . import experimental as experimental
    from . import image as image
    from . import keras as keras
    from . import linalg as linalg
    from . import math as math
    from . import nest as nest
    from . import nn as nn
    from . import optimizers as optimizers
    from . import random as random
    from . import signal as signal
    from . import summary as summary
    from . import testing as testing
    from . import train as train
    from . import utils as utils
    from .function.symbolic import gradients as gradients
    from .function.symbolic import hessians as hessians
    from .ops.bookkeeping import group as group
    from .ops.bookkeeping import inside_function as inside_function
    from .ops.bookkeeping import is_symbolic_tensor as is_symbolic_tensor
    from .ops.bookkeeping import no_op as no_op
    from .ops.bookkeeping import timestamp as timestamp
    from .ops.bookkeeping import tuple as tuple
    from .ops.conversion import as_string as as_string
    from .ops.conversion import bitcast as bitcast
    from .ops.conversion import get_static_value as get_static_value
    from .ops.conversion import guarantee_const as guarantee_const
    from .ops.conversion import (
        register_tensor_conversion_function as register_tensor_conversion_function,
    )
    from .ops.cumulative import cumsum as cumsum
    from .ops.debugging import Assert as Assert
    from .ops.debugging import assert_equal as assert_equal
    from .ops.debugging import assert_greater as assert_greater
    from .ops.debugging import assert_less as assert_less
    from .ops.debugging import assert_rank as assert_rank
    from .ops.decomposition import eig as eig
    from .ops.decomposition import eigvals as eigvals
    from .ops.histogram import approx_top_k as approx_top_k
    from .ops.histogram import histogram_fixed_width as histogram_fixed_width
    from .ops.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
    from .ops.initializers import constant_initializer as constant_initializer
    from .ops.initializers import ones_initializer as ones_initializer
    from .ops.initializers import random_normal_initializer as random_normal_initializer
    from .ops.initializers import random_uniform_initializer as random_uniform_initializer
    from .ops.initializers import zeros_initializer as zeros_initializer
    from .ops.linalg import matrix_square_root as matrix_square_root
    from .ops.norm import clip_by_global_norm as clip_by_global_norm
    from .ops.norm import clip_by_norm as clip_by_norm
    from .ops.norm import norm as norm
    from .ops.ordering import argsort as argsort
    from .ops.ordering import searchsorted as searchsorted
    from .ops.ordering import sort as sort
    from .ops.ordering import unique as unique
    from .ops.ordering import unique_with_counts as unique_with_counts
    from .ops.python import numpy_function as numpy_function
    from .ops.python import print as print
    from .ops.python import py_function as py_function
    from .ops.scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
    from .ops.scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
    from .ops.scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
    from .ops.scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
    from .ops.scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
    from .ops.segment import dynamic_partition as dynamic_partition
    from .ops.segment import dynamic_stitch as dynamic_stitch
    from .ops.stateless import random_index_shuffle as random_index_shuffle
    from .ops.windows import batch_to_space as batch_to_space
    from .ops.windows import extract_volume_patches as extract_volume_patches
    from .ops.windows import required_space_to_batch_paddings as required_space_to_batch_paddings
    from .ops.windows import space_to_batch as space_to_batch
    from .ops.windows import space_to_batch_nd as space_to_batch_nd
    from .tape.batching import vectorized_map as vectorized_map
    from .tape.control import case as case
    from .tape.control import cond as cond
    from .tape.control import foldl as foldl
    from .tape.control import foldr as foldr
    from .tape.control import map_fn as map_fn
    from .tape.control import scan as scan
    from .tape.control import switch_case as switch_case
    from .tape.control import while_loop as while_loop
    from .tape.custom import custom_gradient as custom_gradient
    from .tape.custom import grad_pass_through as grad_pass_through
    from .tape.custom import recompute_grad as recompute_grad
    from .tape.tensor_array import TensorArray as TensorArray
    from .tape.type_specs import IndexedSlicesSpec as IndexedSlicesSpec
    from .tape.type_specs import TensorArraySpec as TensorArraySpec
    from .tape.type_specs import TensorSpec as TensorSpec
    from .tape.type_specs import TypeSpec as TypeSpec
    from .tape.type_specs import type_spec_from_value as type_spec_from_value
    from .train.module import Module as Module

newaxis = None

_LATER = {
    "": (
        "autodiff autograph bitwise compat config data debugging dtypes errors "
        "experimental image keras linalg math nest nn optimizers random signal summary "
        "testing train utils"
    ),
    "function.symbolic": "gradients hessians",
    "ops.bookkeeping": "group inside_function is_symbolic_tensor no_op timestamp tuple",
    "ops.conversion": (
        "as_string bitcast get_static_value guarantee_const register_tensor_conversion_function"
    ),
    "ops.cumulative": "cumsum",
    "ops.debugging": "Assert assert_equal assert_greater assert_less assert_rank",
    "ops.decomposition": "eig eigvals",
    "ops.histogram": "approx_top_k histogram_fixed_width histogram_fixed_width_bins",
    "ops.initializers": (
        "constant_initializer ones_initializer random_normal_initializer "
        "random_uniform_initializer zeros_initializer"
    ),
    "ops.linalg": "matrix_square_root",
    "ops.norm": "clip_by_global_norm clip_by_norm norm",
    "ops.ordering": "argsort searchsorted sort unique unique_with_counts",
    "ops.python": "numpy_function print py_function",
    "ops.scatter": (
        "tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
        "tensor_scatter_nd_sub tensor_scatter_nd_update"
    ),
    "ops.segment": "dynamic_partition dynamic_stitch",
    "ops.stateless": "random_index_shuffle",
    "ops.windows": (
        "batch_to_space extract_volume_patches required_space_to_batch_paddings "
        "space_to_batch space_to_batch_nd"
    ),
    "tape.batching": "vectorized_map",
    "tape.control": "case cond foldl foldr map_fn scan switch_case while_loop",
    "tape.custom": "custom_gradient grad_pass_through recompute_grad",
    "tape.tensor_array": "TensorArray",
    "tape.type_specs": "IndexedSlicesSpec TensorArraySpec TensorSpec TypeSpec type_spec_from_value",
    "train.module": "Module",
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
__all__ = [name for name in __dir__() if name not in ("TYPE_CHECKING", "later")]
