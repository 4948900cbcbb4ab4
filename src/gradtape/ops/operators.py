from ..core.tensor import Tensor
from .arithmetic import add, subtract, multiply, negative, _divide
Tensor.__add__ = add
Tensor.__sub__ = subtract
Tensor.__mul__ = multiply
Tensor.__radd__ = lambda x, y: add(y, x)
Tensor.__rmul__ = lambda x, y: multiply(y, x)
Tensor.__neg__ = negative
Tensor.__truediv__ = _divide
Tensor.__rtruediv__ = lambda x, y: _divide(y, x)
