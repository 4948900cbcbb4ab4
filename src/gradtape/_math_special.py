"""TensorFlow's `tf.math.special`."""

from ._missing import missing_name
from .ops.special import bessel_i0 as bessel_i0
from .ops.special import bessel_i0e as bessel_i0e
from .ops.special import bessel_i1 as bessel_i1
from .ops.special import bessel_i1e as bessel_i1e
from .ops.special import bessel_j0 as bessel_j0
from .ops.special import bessel_j1 as bessel_j1
from .ops.special import bessel_k0 as bessel_k0
from .ops.special import bessel_k0e as bessel_k0e
from .ops.special import bessel_k1 as bessel_k1
from .ops.special import bessel_k1e as bessel_k1e
from .ops.special import bessel_y0 as bessel_y0
from .ops.special import bessel_y1 as bessel_y1
from .ops.special import dawsn as dawsn
from .ops.special import expint as expint
from .ops.special import fresnel_cos as fresnel_cos
from .ops.special import fresnel_sin as fresnel_sin
from .ops.special import spence as spence


def __getattr__(name: str) -> object:
    raise missing_name("gradtape.math.special", name)
