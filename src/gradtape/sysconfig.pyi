from ._src.compat.sysconfig import (
    get_build_info as get_build_info,
)
