from .._src.compat.profiler import (
    Profile as Profile,
    ProfilerOptions as ProfilerOptions,
    Trace as Trace,
    start as start,
    stop as stop,
)
