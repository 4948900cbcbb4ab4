"""Special functions: inside their domains, at the edges, and where pieces of them meet."""

from .inputs import call, case, given, normal, positive, uniform

ANYWHERE = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "dawsn",
    "fresnel_cos",
    "fresnel_sin",
]
OF_POSITIVE = [
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "expint",
    "spence",
]
SCALED = ["bessel_i0e", "bessel_i1e", "bessel_k0e", "bessel_k1e"]
FAR = given([7.9, 8.1, 15.0, 40.0])
NEAR_ZERO = given([0.0, 0.01, 0.0625, 0.125, -0.01])
HALF_AT_ZERO = "The derivative of bessel_i1 at 0 is 1/2, TensorFlow says 1"
NAN_AT_ZERO = "The second derivative of bessel_j1 at 0 is 0, TensorFlow says NaN"


def polynomial(tf, a, b, c, x):
    return tf.math.polyval([a, b, c], x)


def igammas(tf, a, x):
    return tf.math.igamma(a, x), tf.math.igammac(a, x)


CASES = [
    *[case(f"{name}", call(f"math.special.{name}"), normal(2, 3)) for name in ANYWHERE],
    *[case(f"{name}", call(f"math.special.{name}"), positive(2, 3)) for name in OF_POSITIVE],
    *[
        case(f"{name} far out", call(f"math.special.{name}"), FAR, dtypes=("float64",))
        for name in [*ANYWHERE, *OF_POSITIVE]
        if name not in ("bessel_i0", "bessel_i1", "expint")
    ],
    *[
        case(f"{name} near 0", call(f"math.special.{name}"), NEAR_ZERO)
        for name in ["dawsn", "fresnel_cos", "fresnel_sin", "bessel_j0"]
    ],
    case(
        "bessel_i1 near 0",
        call("math.special.bessel_i1"),
        NEAR_ZERO,
        differs=HALF_AT_ZERO,
        agrees=0,
    ),
    case(
        "bessel_j1 near 0", call("math.special.bessel_j1"), NEAR_ZERO, differs=NAN_AT_ZERO, agrees=1
    ),
    *[
        case(f"{name} at 0", call(f"math.special.{name}"), given([0.0]), linear=True, order=1)
        for name in ["bessel_i0", "bessel_i0e", "bessel_i1e"]
    ],
    *[
        case(
            f"{name} at its border",
            call(f"math.special.{name}"),
            given([0.0, -1.0]),
            linear=True,
            order=1,
            dtypes=("float64",),
        )
        for name in OF_POSITIVE
        if name not in ("expint", "spence")
    ],
    case(
        "spence near 1",
        call("math.special.spence"),
        given([0.96, 0.98, 1.0, 1.01, 1.05]),
        linear=True,
        order=1,
    ),
    case(
        "spence at its border",
        call("math.special.spence"),
        given([0.0, -1.0]),
        linear=True,
        order=1,
    ),
    case("math.bessel_i0", call("math.bessel_i0"), normal(3)),
    case("igamma and igammac", igammas, positive(2, 3), positive(3)),
    case(
        "igamma on both sides",
        igammas,
        given([0.25, 0.25, 3.0, 3.0, 30.0, 30.0]),
        given([0.125, 2.0, 0.5, 8.0, 22.0, 40.0]),
    ),
    case(
        "igamma at the edges",
        call("math.igamma"),
        given([0.5, 2.0, -1.0, 1.0]),
        given([0.0, 0.0, 1.0, -1.0]),
        linear=True,
        order=0,
    ),
    case(
        "igammac at the edges",
        call("math.igammac"),
        given([0.5, 2.0, 0.0, -1.0, 1.0]),
        given([0.0, 0.0, 1.0, 1.0, -1.0]),
        linear=True,
        order=0,
    ),
    case("betainc", call("math.betainc"), positive(2, 3), positive(2, 3), uniform(0.1, 0.9, 2, 3)),
    case("betainc of a scalar", call("math.betainc"), given(2.0), given(1.5), uniform(0.1, 0.9, 4)),
    case(
        "betainc at the edges",
        call("math.betainc"),
        given([1.0, 1.0, 2.0, 2.0, 0.0, 1.0]),
        given([1.0, 1.0, 3.0, 3.0, 1.0, 1.0]),
        given([0.0, 1.0, 0.0, 1.0, 0.5, 2.0]),
        linear=True,
        order=1,
    ),
    case("lbeta", call("math.lbeta"), positive(2, 3)),
    case(
        "lbeta of one and of none",
        lambda tf, x, y: (tf.math.lbeta(x), tf.math.lbeta(y)),
        positive(1),
        given([[], []]),
        linear=True,
        order=1,
    ),
    case("nextafter", call("math.nextafter"), given([1.0, 0.0, 2.0]), given(1.5)),
    case("polyval", polynomial, normal(), normal(3), normal(2, 1), normal(3)),
    case("sobol_sample", lambda tf: tf.math.sobol_sample(5, 9, skip=3)),
]
