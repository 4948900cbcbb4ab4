"""TensorFlow's `tf.math.special`."""

from typing import TYPE_CHECKING

from ._later import later


if TYPE_CHECKING:
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

_LATER = {
    "ops.special": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 "
        "bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos "
        "fresnel_sin spence"
    ),
}
__getattr__, __dir__ = later("gradtape.math.special", globals(), _LATER)
