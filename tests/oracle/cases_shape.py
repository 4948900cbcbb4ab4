"""Shapes, indexing, joining, gathering, scattering, where, sorting, making tensors, casts."""

from .inputs import (
    HALVES,
    booleans,
    call,
    case,
    complexes,
    distinct,
    given,
    integers,
    normal,
    positive,
)

INDEXINGS = {
    "[0]": lambda x: x[0],
    "[-1]": lambda x: x[-1],
    "[1, -2]": lambda x: x[1, -2],
    "[1:]": lambda x: x[1:],
    "[:-1]": lambda x: x[:-1],
    "[::2]": lambda x: x[::2],
    "[::-1]": lambda x: x[::-1],
    "[2:0:-1]": lambda x: x[2:0:-1],
    "[::-2]": lambda x: x[::-2],
    "[None]": lambda x: x[None],
    "[:, None, 1]": lambda x: x[:, None, 1],
    "[..., 0]": lambda x: x[..., 0],
    "[0, ..., 1:]": lambda x: x[0, ..., 1:],
    "[..., None]": lambda x: x[..., None],
    "[1:1]": lambda x: x[1:1],
    "[5:]": lambda x: x[5:],
    "[:, ::-1, ::2]": lambda x: x[:, ::-1, ::2],
    "[-2:, 1:3]": lambda x: x[-2:, 1:3],
    "[...]": lambda x: x[...],
    "[1:2, 0, None, :]": lambda x: x[1:2, 0, None, :],
}


def strided(tf, x, begin, end, strides=None, **masks):
    return tf.strided_slice(x, begin, end, strides, **masks)


# fmt: off
INDEXING = [
    *[case(f"getitem {text}", lambda tf, x, f=f: f(x), normal(3, 4, 2))
      for text, f in INDEXINGS.items()],
    case("getitem with tensors", lambda tf, x, i: (x[i], x[i:], x[:, i]), normal(3, 2), given(1)),
    case("getitem with a boolean mask", lambda tf, x, m: x[m], normal(4, 2),
         given([True, False, True, True])),
    case("getitem of a scalar", lambda tf, x: (x[...], x[None]), normal()),
    case("getitem of integers", lambda tf, x: (x[1], x[::-1]), integers(-5, 5, 3, 2)),
    case("iteration", lambda tf, x: [row * row for row in x], normal(3, 2)),
    case("overlapping slices", lambda tf, x: x[1:] * x[:-1] + x[0], normal(4)),
    case("slice to the end", call("slice", [1, 0], [-1, 2]), normal(3, 3)),
    case("slice of size 0", call("slice", [1, 0], [0, 2]), normal(3, 3)),
    case("strided_slice", lambda tf, x: strided(tf, x, [0, 3], [3, 0], [2, -1]), normal(3, 4)),
    case("strided_slice without strides", lambda tf, x: strided(tf, x, [1, 0], [3, -1]),
         normal(3, 4)),
    case("strided_slice with masks", lambda tf, x: (
        strided(tf, x, [1, 1], [2, 2], [1, 1], begin_mask=1, end_mask=2),
        strided(tf, x, [1, 1], [2, 2], [1, 1], shrink_axis_mask=1),
        strided(tf, x, [0, 1], [0, 3], [1, 1], new_axis_mask=1),
        strided(tf, x, [0, 1], [0, 3], [1, 1], ellipsis_mask=1)), normal(3, 4)),
    case("boolean_mask of rows", call("boolean_mask", [True, False, True]), normal(3, 2)),
    case("boolean_mask axis=1", call("boolean_mask", [True, False, True], axis=1), normal(2, 3)),
    case("boolean_mask of nothing", call("boolean_mask", [False, False]), normal(2, 3)),
]

SHAPING = [
    *[case(f"reshape {shape}", call("reshape", shape), normal(2, 3, 2))
      for shape in ([-1], [12], [3, 4], [2, -1], [1, 2, 6, 1])],
    case("reshape to a scalar", call("reshape", []), normal(1, 1)),
    case("reshape of nothing", call("reshape", [3, 0]), normal(0, 2)),
    *[case(f"transpose {perm}", call("transpose", perm), normal(2, 3, 4))
      for perm in (None, [0, 2, 1], [2, 0, 1])],
    case("transpose with a negative axis", call("transpose", [-1, 0, 1]), normal(2, 3, 4), agrees=0,
         order=0, differs="TensorFlow's gradient refuses negative axes"),
    case("linalg.matrix_transpose", call("linalg.matrix_transpose"), normal(2, 3, 2)),
    *[case(f"expand_dims {axis}", call("expand_dims", axis), normal(2, 3))
      for axis in (0, 1, 2, -1, -2, -3)],
    *[case(f"squeeze {axis}", call("squeeze", axis), normal(1, 2, 1))
      for axis in (None, 0, -1, [0], [0, 2], [-1, 0])],
    case("broadcast_to more axes", call("broadcast_to", [2, 3, 2]), normal(3, 1)),
    case("broadcast_to from a scalar", call("broadcast_to", [2, 2]), normal()),
    case("broadcast_to an empty axis", call("broadcast_to", [0, 3]), normal(1, 3)),
    *[case(f"pad {mode}", call("pad", [[1, 1], [0, 2]], mode=mode), normal(3, 3))
      for mode in ("CONSTANT", "REFLECT", "SYMMETRIC")],
    case("pad with a constant", call("pad", [[1, 1], [0, 2]], constant_values=3.0), normal(2, 2)),
    case("pad with nothing", call("pad", [[0, 0]]), normal(3)),
    case("tile once", call("tile", [1, 1]), normal(2, 2)),
    case("tile zero times", call("tile", [0, 2]), normal(2, 2)),
    case("tile three axes", call("tile", [2, 1, 3]), normal(1, 2, 2)),
    case("repeat a number of times", call("repeat", 3, axis=0), normal(2, 2)),
    case("repeat flattened", call("repeat", 2), normal(2, 2)),
    case("repeat by row", call("repeat", [1, 3], axis=-2), normal(2, 2)),
    case("reverse two axes", call("reverse", [0, -1]), normal(2, 3)),
    case("roll one axis", call("roll", shift=1, axis=0), normal(3, 2)),
    case("roll far", call("roll", shift=-7, axis=1), normal(2, 3)),
    case("identity ensure_shape", lambda tf, x: (tf.identity(x), tf.ensure_shape(x, [None, 2])),
         normal(3, 2)),
    case("shape size rank", lambda tf, x: (tf.shape(x), tf.size(x), tf.rank(x)), normal(2, 3)),
    case("meshgrid", lambda tf, x, y: tf.meshgrid(x, y), normal(2), normal(3)),
]

JOINING = [
    *[case(f"concat axis={axis}", lambda tf, *xs, a=axis: tf.concat(xs, a), normal(2, 3),
           normal(2, 3)) for axis in (0, 1, -1, -2)],
    case("concat with an empty part", lambda tf, x, y: tf.concat([x, y], 0), normal(0, 2),
         normal(2, 2)),
    case("concat of one", lambda tf, x: tf.concat([x], 0), normal(2, 2)),
    case("concat of integers", lambda tf, x, y: tf.concat([x, y], 0), given([1, 2]), given([3])),
    *[case(f"stack axis={axis}", lambda tf, *xs, a=axis: tf.stack(xs, a), normal(2, 3),
           normal(2, 3)) for axis in (0, 1, 2, -1, -3)],
    case("stack of scalars", lambda tf, x, y: tf.stack([x, y, 2.0]), normal(), normal()),
    *[case(f"unstack axis={axis}", call("unstack", axis=axis), normal(2, 3)) for axis in (0, -1)],
    case("unstack, one used", lambda tf, x: tf.unstack(x)[1], normal(3, 2)),
    case("split evenly", call("split", 2, axis=0), normal(4, 2)),
    case("split by sizes", call("split", [1, 0, 2], axis=-1), normal(2, 3)),
    case("split with -1", call("split", [1, -1], axis=1), normal(2, 3)),
    case("split, one used", lambda tf, x: tf.split(x, 3, axis=1)[2], normal(2, 3)),
]

GATHERING = [
    case("gather a row", call("gather", 1), normal(3, 2)),
    case("gather with indices of rank 2", call("gather", [[0, 2], [0, 1]]), normal(3, 2)),
    case("gather nothing", lambda tf, x: tf.gather(x, tf.constant([], tf.int32)), normal(3, 2)),
    case("gather from a vector", call("gather", [1, 1, 0]), normal(2)),
    case("gather axis=-1", call("gather", [[1, 0], [1, 1]], axis=-1), normal(2, 3)),
    case("gather a scalar axis=1", call("gather", 1, axis=1), normal(2, 3)),
    case("gather batch_dims=1 axis=2", call("gather", [[1, 0], [0, 0]], axis=2, batch_dims=1),
         normal(2, 2, 3)),
    case("gather batch_dims=-1", call("gather", [[1, 0], [2, 2]], batch_dims=-1), normal(2, 3)),
    case("gather batch_dims=2", call("gather", [[[1], [0]], [[2], [2]]], batch_dims=2),
         normal(2, 2, 3)),
    case("gather of integers", call("gather", [1, 0]), given([5, 6])),
    case("gather twice", lambda tf, x: tf.gather(x, [0, 1]) + tf.gather(x, [1, 1]), normal(2, 2)),
    case("gather and dense", lambda tf, x: tf.gather(x, [0, 1]) * x, normal(2, 2)),
    case("gather of a product", lambda tf, x: tf.gather(x * x, [0, 0]), normal(2, 2)),
    case("embedding_lookup", lambda tf, x: tf.nn.embedding_lookup(x, [2, 0, 2]), normal(3, 2)),
    case("gather_nd rows", call("gather_nd", [[0], [2], [0]]), normal(3, 2)),
    case("gather_nd of rank 3", call("gather_nd", [[[0, 1]], [[1, 0]]]), normal(2, 2, 3)),
    case("gather_nd batch_dims=1", call("gather_nd", [[1], [0]], batch_dims=1), normal(2, 3)),
    case("gather_nd one element", call("gather_nd", [1, 2]), normal(2, 3), agrees=0, order=0,
         differs="TensorFlow's gradient refuses a scalar update"),
]

SCATTERING = [
    case("scatter_nd rows", lambda tf, u: tf.scatter_nd([[2], [0]], u, [4, 2]), normal(2, 2)),
    case("scatter_nd elements", lambda tf, u: tf.scatter_nd([[0, 1], [1, 1], [0, 1]], u, [2, 3]),
         normal(3)),
    case("scatter_nd of integers", lambda tf, u: tf.scatter_nd([[1], [1]], u, [3]), given([4, 5])),
    *[case(f"tensor_scatter_nd_{kind} elements", lambda tf, x, u, kind=kind: getattr(
        tf, f"tensor_scatter_nd_{kind}")(x, [[0, 1], [1, 2]], u), normal(2, 3), normal(2))
      for kind in ("update", "add", "sub")],
    *[case(f"tensor_scatter_nd_{kind} rows", lambda tf, x, u, kind=kind: getattr(
        tf, f"tensor_scatter_nd_{kind}")(x, [[2], [0]], u), normal(3, 2), normal(2, 2))
      for kind in ("update", "add", "sub")],
    *[case(f"tensor_scatter_nd_{kind} repeats", lambda tf, x, u, kind=kind: getattr(
        tf, f"tensor_scatter_nd_{kind}")(x, [[1], [1], [0]], u), normal(3), normal(3))
      for kind in ("add", "sub")],
]

WHERE = [
    case("where with broadcast", lambda tf, c, x, y: tf.where(c, x, y), given([[True], [False]]),
         normal(3), normal(2, 1)),
    case("where with a number", lambda tf, c, x: tf.where(c, x, 0.0), booleans(2, 3), normal(2, 3)),
    case("where of scalars", lambda tf, x, y: (tf.where(True, x, y), tf.where(False, x, y)),
         normal(), normal()),
    case("where from a comparison", lambda tf, x, y: tf.where(x > y, x * y, x - y), normal(2, 3),
         normal(3)),
    case("where, indices", lambda tf, c: tf.where(c), booleans(2, 3)),
    case("where, indices of nonzero", lambda tf, x: tf.where(x), given([0.0, 2.0, -1.0, 0.0])),
    case("where of integers", lambda tf, c, x: tf.where(c, x, -x), booleans(3), given([1, 2, 3])),
]

TIED = given([[2.0, 1.0, 2.0, 0.0], [3.0, 3.0, 3.0, 3.0]])

SORTING = [
    *[case(f"sort {direction} axis={axis}", call("sort", axis=axis, direction=direction),
           distinct(3, 2)) for direction in ("ASCENDING", "DESCENDING") for axis in (-1, 0, 1)],
    # Order 0: TensorFlow gives zeros for integer targets that come from top_k, and None for others.
    *[case(f"argsort {direction}", call("argsort", direction=direction, stable=True), TIED, order=0)
      for direction in ("ASCENDING", "DESCENDING")],
    *[case(f"sort {direction} with ties", call("sort", direction=direction), TIED)
      for direction in ("ASCENDING", "DESCENDING")],
    case("sort of integers", call("sort"), given([[3, 1, 2], [5, 5, 4]])),
    case("top_k with ties", call("math.top_k", k=2), TIED),
    case("top_k of all", call("math.top_k", k=4), distinct(4)),
    case("top_k default", call("math.top_k"), distinct(2, 3)),
    case("top_k indices", lambda tf, x: tf.math.top_k(x, k=2).indices, distinct(2, 3), order=0),
]

MAKING = [
    case("one_hot", lambda tf, i: (
        tf.one_hot(i, 3), tf.one_hot(i, 3, axis=0), tf.one_hot(i, 2, on_value=5, off_value=-1),
        tf.one_hot(i, 3, dtype=tf.float64)), given([0, 2, -1, 1])),
    case("one_hot values get no gradient", lambda tf, a, b: tf.one_hot([0, 2], 3, a, b) * a,
         normal(), normal()),
    case("linspace", lambda tf, a, b: tf.linspace(a, b, 5), normal(), normal()),
    case("linspace of one", lambda tf, a, b: tf.linspace(a, b, 1), normal(), normal()),
    case("linspace of vectors", lambda tf, a, b: (
        tf.linspace(a, b, 3), tf.linspace(a, b, 3, axis=-1)), normal(2), normal(2)),
    case("fill", lambda tf, x: tf.fill([2, 3], x), normal()),
    case("eye", lambda tf: (
        tf.eye(3), tf.eye(2, 3), tf.eye(2, batch_shape=[2]), tf.eye(2, dtype=tf.int32)),
        dtypes=("float64",)),
    case("range", lambda tf: (
        tf.range(4), tf.range(1, 7, 2), tf.range(3.0), tf.range(5, 0, -2), tf.range(0.0, 1.0, 0.25),
        tf.range(3, dtype=tf.float64)), dtypes=("float64",)),
    case("zeros ones", lambda tf: (
        tf.zeros([2, 3]), tf.ones([2], tf.int64), tf.zeros([]), tf.ones([0, 2], tf.float16)),
        dtypes=("float64",)),
    case("zeros_like ones_like", lambda tf, x: (
        tf.zeros_like(x), tf.ones_like(x), tf.zeros_like(x, dtype=tf.int32)), normal(2, 3)),
    *[case(f"cast to {dtype}", call("cast", dtype), given([1.75, -1.75, 0.0, 300.0]))
      for dtype in ("float32", "float64", "float16", "bfloat16", "int32", "int64", "bool",
                    "complex64", "complex128")],
    case("cast between halves", lambda tf, x: tf.cast(x, tf.float32) * tf.cast(x, tf.float32),
         positive(3), dtypes=HALVES, order=1),
    case("cast there and back", lambda tf, x: tf.cast(tf.cast(x * x, tf.float16), x.dtype),
         given([1.5, -2.25]), order=1),
    case("cast through integers", lambda tf, x: tf.cast(tf.cast(x, tf.int32), x.dtype) + x,
         positive(3)),
    case("cast of integers and booleans", lambda tf, i, b: (
        tf.cast(i, tf.float32), tf.cast(b, tf.float64), tf.cast(i, tf.bool), tf.cast(b, tf.int32)),
        given([0, -2, 3]), booleans(3)),
    *[case(f"{name} in half precision", fn, positive(2, 3), dtypes=HALVES, order=1)
      for name, fn in {"reshape": call("reshape", [-1]), "transpose": call("transpose"),
                       "getitem": lambda tf, x: x[:, ::2], "gather": call("gather", [1, 1]),
                       "concat": lambda tf, x: tf.concat([x, x], 0)}.items()],
    case("complex getitem", lambda tf, x: x[::-1, 0], complexes(3, 2)),
    case("pack python numbers", lambda tf, x: tf.stack([[x, 1.0], [2.0, x * x]]), normal()),
]

# fmt: on
CASES = [*INDEXING, *SHAPING, *JOINING, *GATHERING, *SCATTERING, *WHERE, *SORTING, *MAKING]
