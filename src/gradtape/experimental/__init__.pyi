from .._src.compat.extension_type import (
    ExtensionType as ExtensionType,
    ExtensionTypeSpec as ExtensionTypeSpec,
)
from .._src.compat.ragged.row_partition import RowPartition as RowPartition
from .._src.compat.ragged.shape import DynamicRaggedShape as DynamicRaggedShape
from .._src.core.dtypes import float8_e4m3fn as float8_e4m3fn, float8_e5m2 as float8_e5m2
from .._src.tape.scopes import numpy_promotion as numpy_promotion
from .._src.train.data.optional import Optional as Optional
from . import (
    dtensor as dtensor,
    extension_type as extension_type,
    numpy as numpy,
)
