from .._src.train.summary.writer import (
    get_step as get_step,
    set_step as set_step,
    summary_scope as summary_scope,
)
