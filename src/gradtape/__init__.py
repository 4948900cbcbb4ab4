"""gradtape: the tf.GradientTape system without TensorFlow.

>>> import gradtape as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     tape.watch(x)
...     y = x * x
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from ._src import heart as _heart  # noqa: F401 (its import is its work)
from ._src.core import dtypes as _dtypes
from ._src.names import namespace as _namespace
from ._src.version import __version__ as __version__

bool = _dtypes.bool_
newaxis = None

__getattr__, __dir__, __all__ = _namespace(globals())
