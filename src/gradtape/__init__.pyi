from . import (
    __internal__ as __internal__,
    audio as audio,
    autodiff as autodiff,
    autograph as autograph,
    bitwise as bitwise,
    compat as compat,
    config as config,
    data as data,
    debugging as debugging,
    distribute as distribute,
    dtypes as dtypes,
    errors as errors,
    experimental as experimental,
    image as image,
    io as io,
    keras as keras,
    linalg as linalg,
    lookup as lookup,
    math as math,
    nest as nest,
    nn as nn,
    optimizers as optimizers,
    profiler as profiler,
    quantization as quantization,
    ragged as ragged,
    random as random,
    raw_ops as raw_ops,
    saved_model as saved_model,
    sets as sets,
    signal as signal,
    sparse as sparse,
    strings as strings,
    summary as summary,
    sysconfig as sysconfig,
    test as test,
    testing as testing,
    train as train,
    types as types,
    utils as utils,
    version as version,
)
from ._src.compat.ragged.ragged_tensor import (
    RaggedTensor as RaggedTensor,
    RaggedTensorSpec as RaggedTensorSpec,
)
from ._src.compat.sparse.edit_distance import edit_distance as edit_distance
from ._src.compat.sparse.sparse_tensor import (
    SparseTensor as SparseTensor,
    SparseTensorSpec as SparseTensorSpec,
)
from ._src.compat.strings.hashing import fingerprint as fingerprint
from ._src.core.cotangent import IndexedSlices as IndexedSlices
from ._src.core.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)
from ._src.core.shape import TensorShape as TensorShape
from ._src.core.tensor import Tensor as Tensor
from ._src.function.api import function as function
from ._src.function.symbolic import (
    gradients as gradients,
    hessians as hessians,
)
from ._src.names.alias import install_as_tensorflow as install_as_tensorflow
from ._src.names.keras import (
    initializers as initializers,
    losses as losses,
    metrics as metrics,
)
from ._src.ops.array.cast import (
    cast as cast,
    identity as identity,
    identity_n as identity_n,
    stop_gradient as stop_gradient,
)
from ._src.ops.array.conversion import (
    as_string as as_string,
    bitcast as bitcast,
    get_static_value as get_static_value,
    guarantee_const as guarantee_const,
    register_tensor_conversion_function as register_tensor_conversion_function,
    saturate_cast as saturate_cast,
)
from ._src.ops.array.creation import (
    constant as constant,
    convert_to_tensor as convert_to_tensor,
    eye as eye,
    fill as fill,
    is_tensor as is_tensor,
    ones as ones,
    ones_like as ones_like,
    range as range,
    zeros as zeros,
    zeros_like as zeros_like,
)
from ._src.ops.array.indexing import (
    gather as gather,
    gather_nd as gather_nd,
    scatter_nd as scatter_nd,
)
from ._src.ops.array.joining import (
    concat as concat,
    meshgrid as meshgrid,
    parallel_stack as parallel_stack,
    repeat as repeat,
    split as split,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from ._src.ops.array.linspace import linspace as linspace
from ._src.ops.array.masks import (
    boolean_mask as boolean_mask,
    one_hot as one_hot,
    sequence_mask as sequence_mask,
)
from ._src.ops.array.pad import pad as pad
from ._src.ops.array.reverse import (
    reverse as reverse,
    reverse_sequence as reverse_sequence,
    roll as roll,
)
from ._src.ops.array.scatter import (
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from ._src.ops.array.shape import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    broadcast_to as broadcast_to,
    ensure_shape as ensure_shape,
    expand_dims as expand_dims,
    rank as rank,
    reshape as reshape,
    shape as shape,
    shape_n as shape_n,
    size as size,
    squeeze as squeeze,
    transpose as transpose,
)
from ._src.ops.array.slicing import (
    slice as slice,
    strided_slice as strided_slice,
    unravel_index as unravel_index,
)
from ._src.ops.effects.bookkeeping import (
    group as group,
    inside_function as inside_function,
    is_symbolic_tensor as is_symbolic_tensor,
    no_gradient as no_gradient,
    no_op as no_op,
    timestamp as timestamp,
    tuple as tuple,
)
from ._src.ops.effects.debugging import (
    Assert as Assert,
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_less as assert_less,
    assert_rank as assert_rank,
)
from ._src.ops.effects.python import (
    numpy_function as numpy_function,
    print as print,
    py_function as py_function,
)
from ._src.ops.linalg.decomposition import (
    eig as eig,
    eigvals as eigvals,
)
from ._src.ops.linalg.einsum import einsum as einsum, tensordot as tensordot
from ._src.ops.linalg.matmul import matmul as matmul
from ._src.ops.linalg.matrix_functions import matrix_square_root as matrix_square_root
from ._src.ops.linalg.norm import (
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    norm as norm,
)
from ._src.ops.math.arithmetic import (
    abs as abs,
    add as add,
    add_n as add_n,
    clip_by_value as clip_by_value,
    divide as divide,
    floor as floor,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    realdiv as realdiv,
    round as round,
    scalar_mul as scalar_mul,
    sign as sign,
    square as square,
    subtract as subtract,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from ._src.ops.math.complex import complex as complex
from ._src.ops.math.counting import (
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
)
from ._src.ops.math.cumulative import cumsum as cumsum
from ._src.ops.math.exponential import (
    exp as exp,
    sigmoid as sigmoid,
)
from ._src.ops.math.logic import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    not_equal as not_equal,
    where as where,
)
from ._src.ops.math.ordering import (
    approx_top_k as approx_top_k,
    argsort as argsort,
    searchsorted as searchsorted,
    sort as sort,
    unique as unique,
    unique_with_counts as unique_with_counts,
)
from ._src.ops.math.power import pow as pow, sqrt as sqrt
from ._src.ops.math.reduction import (
    argmax as argmax,
    argmin as argmin,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from ._src.ops.math.segment import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
)
from ._src.ops.math.trigonometric import (
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
from ._src.ops.nn.blocks import (
    batch_to_space as batch_to_space,
    required_space_to_batch_paddings as required_space_to_batch_paddings,
    space_to_batch as space_to_batch,
    space_to_batch_nd as space_to_batch_nd,
)
from ._src.ops.nn.patches import extract_volume_patches as extract_volume_patches
from ._src.ops.random.initializers import (
    constant_initializer as constant_initializer,
    ones_initializer as ones_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    zeros_initializer as zeros_initializer,
)
from ._src.ops.random.stateless import random_index_shuffle as random_index_shuffle
from ._src.tape.batching import vectorized_map as vectorized_map
from ._src.tape.control import (
    case as case,
    cond as cond,
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
    switch_case as switch_case,
    while_loop as while_loop,
)
from ._src.tape.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from ._src.tape.derivative import UnconnectedGradients as UnconnectedGradients
from ._src.tape.gradient_tape import GradientTape as GradientTape
from ._src.tape.replicas import (
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)
from ._src.tape.scopes import (
    control_dependencies as control_dependencies,
    device as device,
    executing_eagerly as executing_eagerly,
    get_current_name_scope as get_current_name_scope,
    get_logger as get_logger,
    init_scope as init_scope,
    name_scope as name_scope,
)
from ._src.tape.tensor_array import TensorArray as TensorArray
from ._src.tape.type_specs import (
    IndexedSlicesSpec as IndexedSlicesSpec,
    NoneTensorSpec as NoneTensorSpec,
    TensorArraySpec as TensorArraySpec,
    TensorSpec as TensorSpec,
    TypeSpec as TypeSpec,
    type_spec_from_value as type_spec_from_value,
)
from ._src.tape.variable import Variable as Variable
from ._src.train.data.optional import OptionalSpec as OptionalSpec
from ._src.train.module import Module as Module
from ._src.train.summary.tensor_proto import (
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)

__version__: str
bool: DType
newaxis: None
