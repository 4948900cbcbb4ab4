from ..._src.compat.distribute.strategy import maybe_merge_call as maybe_merge_call
