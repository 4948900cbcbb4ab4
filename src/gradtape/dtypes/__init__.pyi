from .._src.core.dtypes import (
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
from .._src.ops.array.cast import cast as cast
from .._src.ops.array.conversion import saturate_cast as saturate_cast
from .._src.ops.math.complex import complex as complex
from . import experimental as experimental

bool: DType
