from .._src.core.dtypes import float8_e4m3fn as float8_e4m3fn, float8_e5m2 as float8_e5m2
