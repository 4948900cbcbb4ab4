"""Arithmetic, elementwise functions, reductions, products of matrices, losses; and their edges."""

import operator

import numpy as np

from .cases_rows import MOMENTS
from .inputs import (
    BOTH,
    HALVES,
    booleans,
    call,
    case,
    complexes,
    distinct,
    given,
    integers,
    nonzero,
    normal,
    positive,
    probabilities,
    unit,
)

SMOOTH = [
    "exp",
    "math.expm1",
    "sin",
    "cos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "sigmoid",
    "math.erf",
    "math.erfc",
    "math.softplus",
    "math.log_sigmoid",
    "nn.silu",
    "nn.gelu",
    "square",
    "negative",
    "identity",
]


def exact_dtypes(name):
    """Not double precision where TensorFlow's is wrong: erf(inf) is NaN, gelu's constants are
    floats.
    """
    return ("float32",) if name in ("math.erf", "nn.gelu") else BOTH


KINKED = ["abs", "sign", "nn.relu", "nn.relu6", "nn.elu", "nn.selu"]
SINGULAR = [
    "math.log",
    "math.log1p",
    "sqrt",
    "math.rsqrt",
    "math.reciprocal",
    "asin",
    "acos",
    "acosh",
    "atanh",
    "math.lgamma",
    "math.digamma",
    "nn.softsign",
    "math.reciprocal_no_nan",
]
STEPS = [
    "floor",
    "math.ceil",
    "round",
    "math.rint",
    "math.is_nan",
    "math.is_inf",
    "math.is_finite",
    "zeros_like",
    "ones_like",
]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "//": operator.floordiv,
    "%": operator.mod,
}
REDUCTIONS = [
    "reduce_sum",
    "reduce_mean",
    "reduce_prod",
    "reduce_max",
    "reduce_min",
    "reduce_logsumexp",
    "math.reduce_variance",
    "math.reduce_std",
    "math.reduce_euclidean_norm",
]

KINKS = given([0.0, -0.0, 1.0, -1.0, 0.5, 6.0])
LARGE = given([100.0, -100.0, 1e4, -1e4])
INFINITE = given([np.inf, -np.inf, np.nan])
ROWS_WITH_TIES = given([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, -1.0, 0.0]])
ZEROS_IN_PROD = "TensorFlow's first gradient is made of cumprod, whose own is wrong at zeros"
LEFT = given([[0.0, 1.0, -1.0, 2.0], [0.0, -2.0, 3.0, 0.5]])
RIGHT = given([[0.0, 1.0, 1.0, -2.0], [3.0, -2.0, 0.0, 2.0]])


def python_operators(op):
    return lambda tf, x, y: (op(x, y), op(x, 1.5), op(1.5, y))


def complex_operators(op):
    return lambda tf, x, y: (op(x, y), op(x, 1.5), op(2 - 1j, y))


def matmul(tf, a, b):
    return a @ b


def no_nan(tf, x, y):
    return tf.math.divide_no_nan(x, y), tf.math.multiply_no_nan(x, y)


def x_logs(tf, x, y):
    return tf.math.xlogy(x, y), tf.math.xdivy(x, y), tf.math.xlog1py(x, y)


def extremes(tf, x, y):
    return tf.maximum(x, y), tf.minimum(x, y)


def power(x, y):
    return case(f"power at {x} ** {y}", call("pow"), given(x), given(y), linear=True, order=1)


def masked(name, inner):
    def fn(tf, x):
        return tf.where(x > 0.0, inner(tf, x), 0.0)

    x = given([0.0, 0.5, 2.0])
    return case(f"where around {name}", fn, x, linear=True, order=1)


def reduction(name, x, **kwargs):
    text = ", ".join(f"{key}={value}" for key, value in kwargs.items())
    return case(f"{name}({text})", call(name, **kwargs), x)


# fmt: off
ELEMENTWISE = [
    *[case(f"{name} at kinks", call(name), KINKS, linear=True, dtypes=exact_dtypes(name))
      for name in KINKED + SMOOTH],
    *[case(f"{name} at +-1e4", call(name), LARGE, linear=True, order=1)
      for name in KINKED + SMOOTH],
    *[case(f"{name} at infinity", call(name), INFINITE, linear=True, order=1,
           dtypes=exact_dtypes(name)) for name in KINKED + SMOOTH],
    *[case(f"{name} at poles", call(name), KINKS, linear=True, order=1) for name in SINGULAR],
    *[case(f"{name} at infinity", call(name), INFINITE, linear=True, order=1)
      for name in SINGULAR],
    *[case(f"{name} is piecewise constant", call(name),
           given([-1.5, -0.5, 0.0, 0.5, 1.5, 2.5, np.inf, np.nan])) for name in STEPS],
    case("tan", call("tan"), unit(5)),
    # TensorFlow keeps alpha in single precision; 0.25 is the same in both.
    case("leaky_relu at kinks", call("nn.leaky_relu", alpha=0.25), KINKS, linear=True),
    case("leaky_relu at +-1e4", call("nn.leaky_relu", alpha=0.25), LARGE, linear=True),
    case("leaky_relu at infinity", call("nn.leaky_relu", alpha=0.25), INFINITE, linear=True,
         order=1),
    case("leaky_relu with the default alpha", call("nn.leaky_relu"), nonzero(2, 3),
         dtypes=("float32",)),
    case("crelu", call("nn.crelu"), nonzero(2, 3)),
    case("swish beta", lambda tf, x: tf.nn.swish(x, 1.5), normal(2, 3)),
    case("l2_loss of zeros", call("nn.l2_loss"), given([0.0, 0.0])),
]

ARITHMETIC = [
    *[case(f"operator {symbol}", python_operators(op), positive(2, 3), positive(3))
      for symbol, op in OPERATORS.items()],
    *[case(f"operator {symbol} on integers", lambda tf, x, y, op=op: (op(x, y), op(x, 2)),
           given([[7, -7, 5]]), given([[2], [-3]])) for symbol, op in OPERATORS.items()
      if symbol != "**"],
    *[case(f"operator {symbol} in half precision", python_operators(op), positive(2, 3),
           positive(3), dtypes=HALVES, order=1) for symbol, op in OPERATORS.items()],
    *[case(f"{name}", call(name), LEFT, RIGHT) for name in COMPARISONS],
    *[case(f"{name} of integers", call(name), given([1, 2, 3]), given([3, 2, 1]))
      for name in COMPARISONS],
    *[case(name, call(name), booleans(4), booleans(4))
      for name in ["logical_and", "logical_or", "math.logical_xor"]],
    case("logical_not", call("logical_not"), booleans(4)),
    case("operators & | ^ ~", lambda tf, a, b: (a & b, a | b, a ^ b, ~a), booleans(4), booleans(4)),
    case("unary operators", lambda tf, x: (-x, abs(x)), nonzero(2, 3)),
    case("reflected power", lambda tf, x: (2.0**x, x**2, x**3.0, x**0.5), positive(2, 3)),
    case("truediv floordiv mod", lambda tf, x, y: (
        tf.math.truediv(x, y), tf.math.floordiv(x, y), tf.math.floormod(x, y),
        tf.math.mod(x, y)), nonzero(2, 3), nonzero(3)),
    case("int / int is float64", lambda tf, x, y: x / y, given([1, 2, 3]), given([2, 3, 4])),
    case("division by zero", call("divide"), given([1.0, -1.0, 0.0]), given([0.0, 0.0, 0.0]),
         linear=True, order=1),
    case("no_nan at zero", no_nan, LEFT, RIGHT, linear=True),
    case("no_nan broadcast", no_nan, normal(2, 3), nonzero(3)),
    case("xlogy xdivy xlog1py", x_logs, normal(2, 3), positive(3)),
    case("xlogy xdivy xlog1py at zero", x_logs, given([0.0, 0.0, 2.0]), given([0.0, 3.0, 1.0]),
         linear=True, order=1),
    *[power(x, y) for x in (0.0, -2.0) for y in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0)],
    case("power broadcast", call("pow"), positive(2, 1), normal(3)),
    case("power of integers", call("pow"), given([2, -3, 5]), given([3, 2, 0])),
    case("atan2 at axes", call("atan2"), given([0.0, 0.0, 1.0, -1.0, 0.0]),
         given([0.0, -1.0, 0.0, 0.0, 2.0]), linear=True, order=1),
    case("maximum minimum ties", extremes, LEFT, RIGHT),
    case("maximum minimum broadcast", extremes, distinct(2, 3), given([[0.0], [0.5]])),
    case("maximum minimum with nan", extremes, given([np.nan, 1.0]), given([1.0, np.nan]),
         linear=True, order=1),
    case("maximum minimum with a number", lambda tf, x: extremes(tf, x, 0.0), LEFT),
    case("maximum minimum of integers", extremes, given([1, 5, 3]), given([2, 4, 3])),
    case("clip_by_value at its bounds", call("clip_by_value", -1.0, 2.0), LEFT),
    case("clip_by_value with tensors", call("clip_by_value"), distinct(2, 3),
         given([[-0.5], [-0.25]]), given([0.5, 0.25, 0.75])),
    case("clip_by_norm axes", call("clip_by_norm", 1.0, axes=[1]), nonzero(2, 3)),
    case("clip_by_norm at zero", call("clip_by_norm", 1.0), given([0.0, 0.0]), linear=True,
         order=1),
    case("clip_by_global_norm keeps small", lambda tf, x, y: tf.clip_by_global_norm([x, y], 99.0),
         normal(2, 3), normal(2)),
    case("l2_normalize at zero", call("math.l2_normalize", axis=0), given([0.0, 0.0]),
         linear=True, order=1),
    case("squared_difference ties", call("math.squared_difference"), LEFT, RIGHT),
    case("add_n of one", lambda tf, x: tf.add_n([x]), normal(3)),
    case("zero-size operands", lambda tf, x, y: (x + y, x * y, x / y), normal(0, 3), normal(1, 3)),
    case("scalar with matrix", lambda tf, x, y: (x + y, x * y, x - y), normal(), normal(2, 3)),
    case("same operand twice", lambda tf, x: (x * x, x + x, x - x, x / x), nonzero(2, 3)),
    case("stop_gradient", lambda tf, x: x * tf.stop_gradient(x), normal(2, 3)),
    case("unconnected input", lambda tf, x, y: x * tf.stop_gradient(y), normal(3), normal(3)),
    masked("log", lambda tf, x: tf.math.log(x)),
    masked("1/x", lambda tf, x: 1.0 / x),
    masked("x**0.5", lambda tf, x: x**0.5),
    masked("sqrt", lambda tf, x: tf.sqrt(x)),
    masked("rsqrt", lambda tf, x: tf.math.rsqrt(x)),
    masked("reciprocal", lambda tf, x: tf.math.reciprocal(x)),
    case("where around asin", lambda tf, x: tf.where(x < 1.0, tf.asin(x), 0.0),
         given([0.0, 0.5, 1.0]), linear=True, order=1),
    case("inner where protects", lambda tf, x: tf.where(
        x > 0.0, tf.math.log(tf.where(x > 0.0, x, tf.ones_like(x))), 0.0), given([0.0, 0.5, 2.0])),
]

REDUCING = [
    *[reduction(name, distinct(2, 3, 2), **kwargs) for name in REDUCTIONS for kwargs in (
        {}, {"axis": -1}, {"axis": [0, 2]}, {"axis": [-1, 0], "keepdims": True}, {"keepdims": True},
        {"axis": []})],
    *[case(f"{name} over an axis of size 1", call(name, axis=1), positive(3, 1))
      for name in REDUCTIONS if name != "math.reduce_std"],
    *[case(f"{name} over an empty axis", call(name, axis=0), normal(0, 2), order=1, linear=True)
      for name in REDUCTIONS],
    *[case(f"{name} beside an empty axis", call(name, axis=0), normal(2, 0), order=1)
      for name in REDUCTIONS],
    *[case(f"{name} of a scalar", call(name), positive()) for name in REDUCTIONS
      if name != "math.reduce_std"],
    *[case(f"{name} with ties", call(name, axis=1), ROWS_WITH_TIES)
      for name in ["reduce_max", "reduce_min"]],
    *[case(f"{name} with ties over all", call(name), ROWS_WITH_TIES)
      for name in ["reduce_max", "reduce_min"]],
    *[case(f"{name} with nan", call(name, axis=1), given([[1.0, np.nan], [2.0, 3.0]]), order=1)
      for name in REDUCTIONS],
    *[case(f"{name} at zero", call(name, axis=1), given([[0.0, 0.0], [3.0, 3.0]]), order=1,
           linear=True) for name in ["math.reduce_std", "math.reduce_euclidean_norm"]],
    *[case(f"{name} of integers", call(name, axis=1), integers(-4, 5, 2, 3))
      for name in ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"]],
    *[case(f"{name} in half precision", call(name, axis=1), positive(2, 3), dtypes=HALVES, order=1)
      for name in ["reduce_sum", "reduce_mean", "reduce_max", "reduce_prod"]],
    *[case(name, lambda tf, x, name=name: [
        call(name, axis=axis, keepdims=keepdims)(tf, x)
        for axis in (None, 0, -1, [0, 1]) for keepdims in (False, True)], booleans(2, 3))
      for name in ["reduce_all", "reduce_any"]],
    case("reduce_prod with one zero", call("reduce_prod"), given([2.0, 0.0, 3.0]), agrees=1,
         differs=ZEROS_IN_PROD),
    case("reduce_prod with two zeros", call("reduce_prod"), given([2.0, 0.0, 0.0]), agrees=1,
         differs=ZEROS_IN_PROD),
    case("reduce_prod with zeros by row", call("reduce_prod", axis=1),
         given([[0.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 5.0]]), agrees=1,
         differs=ZEROS_IN_PROD),
    case("reduce_logsumexp at +-1e4", call("reduce_logsumexp", axis=1),
         given([[1e4, -1e4, 1e4], [-1e4, -1e4, 0.0]]), linear=True),
    case("reduce_logsumexp with -inf", call("reduce_logsumexp", axis=1),
         given([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf]]), linear=True, order=1),
    *[case(f"norm ord={ord} axis={axis}", call("norm", ord=ord, axis=axis), distinct(2, 3))
      for ord in ("euclidean", 1, 2, 3.0, np.inf) for axis in (None, -1)
      if not (ord == 2 and axis is None)],
    case("norm keepdims", call("norm", axis=0, keepdims=True), nonzero(2, 3)),
    case("norm ord=fro of matrices", call("norm", ord="fro", axis=[-2, -1]), nonzero(2, 2, 3)),
    case("norm at zero", lambda tf, x: (tf.norm(x), tf.norm(x, 1), tf.norm(x, np.inf)),
         given([0.0, 0.0]), linear=True, order=1),
    case("norm of inf ties", call("norm", ord=np.inf), given([2.0, -2.0, 1.0]), linear=True),
    *[case(f"cumsum {kwargs}", call("cumsum", **kwargs), normal(2, 3)) for kwargs in (
        {}, {"axis": -1}, {"exclusive": True}, {"reverse": True}, {"axis": 1, "exclusive": True})],
    *[case(f"cumprod {kwargs}", call("math.cumprod", **kwargs), nonzero(2, 3)) for kwargs in (
        {}, {"axis": -1}, {"exclusive": True}, {"reverse": True},
        {"axis": 1, "exclusive": True, "reverse": True})],
    case("cumprod with a zero", call("math.cumprod"), given([2.0, 0.0, 3.0]), agrees=0,
         differs="TensorFlow divides by the element (V20)"),
    case("cumsum of an empty axis", call("cumsum"), normal(0, 2)),
    case("cumsum of integers", call("cumsum", axis=1), integers(-3, 4, 2, 3)),
    *[case(f"{name} axis={axis}", call(name, axis=axis), distinct(2, 3, 2))
      for name in ["argmax", "argmin"] for axis in (0, 1, -1)],
    case("argmax ties", lambda tf, x: (tf.argmax(x, 1), tf.argmin(x, 1)), ROWS_WITH_TIES),
    case("argmax output_type", call("argmax", output_type="int32"), distinct(3, 2)),
    case("weighted_moments", call("nn.weighted_moments", [0], [[1.0], [2.0], [0.5]]), normal(3, 2)),
    case("weighted_moments keepdims",
         call("nn.weighted_moments", [0, 1], [[1.0], [2.0]], keepdims=True), normal(2, 3)),
    case("normalize_moments",
         lambda tf, x, y: tf.nn.normalize_moments(tf.constant(3.0, x.dtype), x, y, None),
         normal(2), normal(2)),
    case("sufficient_statistics",
         lambda tf, x: tf.nn.sufficient_statistics(x, [0])[1:3], normal(3, 2)),
    case("sufficient_statistics shift",
         lambda tf, x, y: tf.nn.sufficient_statistics(x, [0, 1], shift=y, keepdims=True)[1:3],
         normal(3, 2), normal()),
    case("moments keepdims", call("nn.moments", axes=[0, 1], keepdims=True), normal(2, 3),
         agrees=1, differs=MOMENTS),
]

PRODUCTS = [
    *[case(f"matmul {kwargs}", call("matmul", **kwargs), normal(3, 3), normal(3, 3)) for kwargs in (
        {"transpose_a": True, "transpose_b": True}, {"adjoint_a": True}, {"adjoint_b": True},
        {"adjoint_a": True, "transpose_b": True})],
    *[case(f"matmul batched {kwargs}", call("matmul", **kwargs), normal(2, 1, 2, 2),
           normal(3, 2, 2)) for kwargs in ({}, {"transpose_a": True}, {"transpose_b": True},
                                          {"transpose_a": True, "transpose_b": True})],
    case("matmul operator", matmul, normal(2, 3), normal(3, 1)),
    case("matmul over an empty axis", matmul, normal(2, 0), normal(0, 3)),
    case("matmul with no rows", matmul, normal(0, 2), normal(2, 3)),
    case("matmul of integers", matmul, integers(-3, 4, 2, 3), integers(-3, 4, 3, 2)),
    case("matmul in half precision", matmul, normal(2, 3), normal(3, 2), dtypes=HALVES,
         order=1),
    *[case(f"matvec {kwargs}", call("linalg.matvec", **kwargs), normal(2, 3, 3), normal(2, 3))
      for kwargs in ({}, {"transpose_a": True}, {"adjoint_a": True})],
    case("matvec broadcast", call("linalg.matvec"), normal(2, 3), normal(2, 3)),
    *[case(f"tensordot axes={axes}", call("tensordot", axes=axes), normal(2, 3, 2), normal(2, 3, 2))
      for axes in (0, [[0], [0]], [[1, 0], [1, 0]], [[-1], [2]], [[0, 1, 2], [0, 1, 2]])],
    case("tensordot axes=1", call("tensordot", axes=1), normal(2, 3), normal(3, 2)),
    *[case(f"einsum {equation}", lambda tf, *xs, e=equation: tf.einsum(e, *xs), *inputs)
      for equation, inputs in {
          "ij->ji": [normal(2, 3)], "ij->": [normal(2, 3)], "ij->i": [normal(2, 3)],
          "ii": [normal(3, 3)], "bii->bi": [normal(2, 3, 3)],
          "i,i->": [normal(3), normal(3)], "ij,j->i": [normal(2, 3), normal(3)],
          "ij,ij->ij": [normal(2, 3), normal(2, 3)],
          "bij,bjk->bik": [normal(2, 2, 3), normal(2, 3, 2)],
          "...ij,...jk->...ik": [normal(2, 1, 2, 3), normal(3, 3, 2)],
          "...i->...": [normal(2, 2, 3)],
          "ij,jk,kl->il": [normal(2, 3), normal(3, 2), normal(2, 2)],
          "ij,jk": [normal(2, 3), normal(3, 2)], "ijk,jil->kl": [normal(2, 3, 2), normal(3, 2, 2)],
          "i,jk->ijk": [normal(2), normal(3, 2)], "ij,kj->ik": [normal(2, 3), normal(1, 3)],
          "abc,cd->abd": [normal(2, 1, 3), normal(3, 2)]}.items()],
    case("linalg.adjoint", call("linalg.adjoint"), normal(2, 2, 3)),
]

LOSSES = [
    *[case(f"{name} axis={axis}", call(name, axis=axis), normal(2, 3, 2))
      for name in ["nn.softmax", "nn.log_softmax"] for axis in (0, 1, -1)],
    *[case(f"{name} at +-1e4", call(name), given([[1e4, -1e4, 0.0], [1e4, 1e4, 1e4]]))
      for name in ["nn.softmax", "nn.log_softmax"]],
    *[case(f"{name} of one class", call(name), normal(3, 1))
      for name in ["nn.softmax", "nn.log_softmax"]],
    *[case(f"{name} of no rows", call(name), normal(0, 3))
      for name in ["nn.softmax", "nn.log_softmax"]],
    *[case(f"{name} in half precision", call(name), normal(2, 3), dtypes=HALVES, order=1)
      for name in ["nn.softmax", "nn.log_softmax", "nn.relu", "tanh", "sigmoid", "exp", "sqrt"]],
    case("softmax_cross_entropy at +-1e4", lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
        [[0.0, 1.0, 0.0]], x), given([[1e4, -1e4, 0.0], [-1e4, 1e4, 1e4]])),
    case("softmax_cross_entropy axis=0", lambda tf, p, x: tf.nn.softmax_cross_entropy_with_logits(
        tf.stop_gradient(tf.transpose(p)), x, axis=0), probabilities(2, 3), normal(3, 2)),
    case("softmax_cross_entropy batch", call("nn.softmax_cross_entropy_with_logits"),
         probabilities(2, 2, 3), normal(2, 2, 3), order=1),
    case("softmax_cross_entropy unnormalised labels",
         call("nn.softmax_cross_entropy_with_logits"), positive(2, 3), normal(2, 3), order=1),
    case("sparse_softmax_cross_entropy batch",
         call("nn.sparse_softmax_cross_entropy_with_logits"), integers(0, 3, 2, 2),
         normal(2, 2, 3)),
    case("sparse_softmax_cross_entropy at +-1e4",
         call("nn.sparse_softmax_cross_entropy_with_logits"), given([0, 1]),
         given([[1e4, -1e4, 0.0], [1e4, -1e4, 0.0]])),
    case("sparse_softmax_cross_entropy of one vector",
         call("nn.sparse_softmax_cross_entropy_with_logits"), given(1), normal(3)),
    case("sigmoid_cross_entropy at +-1e4", call("nn.sigmoid_cross_entropy_with_logits"),
         given([0.0, 1.0, 0.0, 1.0, 0.5]), given([1e4, -1e4, -1e4, 1e4, 0.0])),
    case("weighted_cross_entropy", lambda tf, p, x: tf.nn.weighted_cross_entropy_with_logits(
        p, x, 2.5), probabilities(2, 3), normal(2, 3)),
    case("bias_add of images", call("nn.bias_add"), normal(2, 2, 2, 3), normal(3)),
    case("batch_normalization without offset and scale",
         lambda tf, x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 1e-3),
         normal(3, 2), normal(2), positive(2)),
]

COMPLEX_UNARY = ["exp", "math.log", "sqrt", "math.rsqrt", "sin", "cos", "tan", "sinh", "cosh",
                 "tanh", "asinh", "acosh", "atanh", "sigmoid", "square", "math.reciprocal",
                 "negative", "abs", "math.real", "math.imag", "math.conj", "math.expm1",
                 "math.log1p", "math.angle", "identity", "reduce_sum", "reduce_mean", "cumsum",
                 "transpose", "linalg.adjoint"]

COMPLEX = [
    *[case(f"complex {name}", call(name), complexes(2, 3)) for name in COMPLEX_UNARY],
    *[case(f"complex operator {symbol}", complex_operators(OPERATORS[symbol]), complexes(2, 3),
           complexes(3)) for symbol in ("+", "-", "*", "/", "**")],
    case("tf.complex", call("complex"), normal(2, 3), normal(2, 3)),
    # Its gradient by the angle is 0, by cancellation: not to be compared in single precision.
    case("complex from real and back", lambda tf, a, b: tf.abs(tf.exp(tf.complex(a, b))) ** 2,
         normal(3), normal(3), dtypes=("float64",)),
    case("complex abs at zero", call("abs"), given([0j, 3 + 4j]), linear=True, order=1),
    case("complex cast from real", lambda tf, x: tf.cast(x, tf.complex128) * (2 - 1j), normal(3)),
    case("complex cast to real", lambda tf, z: tf.cast(z * z, tf.float64), complexes(3),
         dtypes=("float64",)),
    case("complex matmul", matmul, complexes(2, 3), complexes(3, 2)),
    *[case(f"complex matmul {kwargs}", call("matmul", **kwargs), complexes(2, 2), complexes(2, 2))
      for kwargs in ({"adjoint_a": True}, {"adjoint_b": True}, {"transpose_a": True},
                     {"transpose_b": True}, {"adjoint_a": True, "adjoint_b": True})],
    case("complex matvec", call("linalg.matvec", adjoint_a=True), complexes(3, 2), complexes(3)),
    case("complex tensordot", call("tensordot", axes=1), complexes(2, 3), complexes(3, 2)),
    case("complex einsum", lambda tf, a, b: tf.einsum("bij,bjk->bik", a, b),
         complexes(2, 2, 3), complexes(2, 3, 2)),
    case("complex transpose conjugate", call("transpose", conjugate=True), complexes(2, 3)),
    case("complex reduce_prod", call("reduce_prod", axis=1), complexes(2, 3), agrees=1,
         differs="TensorFlow forgets a conjugate in second order"),
    case("complex cumprod", call("math.cumprod", axis=1), complexes(2, 3), agrees=0,
         differs="TensorFlow forgets a conjugate"),
    case("complex xlogy", call("math.xlogy"), complexes(3), complexes(3), agrees=0,
         differs="TensorFlow forgets a conjugate"),
    case("complex xlog1py", call("math.xlog1py"), complexes(3), complexes(3), agrees=0,
         differs="TensorFlow forgets a conjugate"),
    case("complex xdivy", call("math.xdivy"), complexes(3), complexes(3), agrees=0,
         differs="TensorFlow forgets a conjugate"),
    case("complex multiply_no_nan", call("math.multiply_no_nan"), complexes(3), complexes(3),
         agrees=0, differs="TensorFlow forgets a conjugate"),
    case("complex squared_difference", call("math.squared_difference"), complexes(3),
         complexes(3), agrees=0,
         differs="TensorFlow forgets that |x - y|**2 takes only the real part from upstream"),
    case("complex norm", call("norm"), complexes(2, 3)),
    case("complex where", lambda tf, c, x, y: tf.where(c, x, y), booleans(3), complexes(3),
         complexes(3)),
    case("complex gather", call("gather", [1, 0, 1]), complexes(2, 2)),
    case("complex concat", lambda tf, x, y: tf.concat([x, y], 0), complexes(2), complexes(3)),
    case("complex stack and index", lambda tf, x, y: tf.stack([x, y])[:, ::2], complexes(3),
         complexes(3)),
    case("complex reshape pad", lambda tf, x: tf.pad(tf.reshape(x, [-1]), [[1, 2]]),
         complexes(2, 2)),
    case("complex |z|^2", lambda tf, z: tf.math.real(z * tf.math.conj(z)), complexes(3)),
    case("complex equal", lambda tf, x: (x == x, x != x), complexes(3)),
    case("complex add_n", lambda tf, x, y: tf.add_n([x, y]), complexes(2), complexes(2)),
    case("complex divide_no_nan", call("math.divide_no_nan"), complexes(2), given([0j, 1 + 2j]),
         linear=True, order=1),
    case("real of real", lambda tf, x: (tf.math.real(x), tf.math.imag(x), tf.math.conj(x)),
         normal(3)),
]

# fmt: on
CASES = [*ELEMENTWISE, *ARITHMETIC, *REDUCING, *PRODUCTS, *LOSSES, *COMPLEX]
