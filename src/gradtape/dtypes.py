"""TensorFlow's `tf.dtypes`."""

from ._missing import missing_name
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
from .ops.complex import complex as complex
from .ops.creation import cast as cast
from .ops.creation import saturate_cast as saturate_cast


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
