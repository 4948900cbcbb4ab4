from ..._src.compat.distribute.strategy import (
    strategy_supports_no_merge_call as strategy_supports_no_merge_call,
)
from . import interim as interim
