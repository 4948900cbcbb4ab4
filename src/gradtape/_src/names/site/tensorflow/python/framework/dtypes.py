"""Part of what TensorFlow has in `tensorflow.python.framework.dtypes`."""

from gradtape._src.core.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool_ as bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
