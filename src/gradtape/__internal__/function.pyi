from .._src.function.api import Function as Function
from .._src.function.method import Method as Method
from .._src.function.signature import Traced as Traced
