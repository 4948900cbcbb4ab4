"""Graph mode: `@function` and what belongs to it. JAX is imported at the first call."""

from .api import Function as Function
from .api import function as function
from .api import functions_run_eagerly as functions_run_eagerly
from .api import run_functions_eagerly as run_functions_eagerly
