"""Control flow as functions, TensorArray, vectorized_map; checks that are identities; bits."""

from .inputs import case, distinct, given, integers, normal, positive


def scanned(tf, x, w):
    return tf.scan(lambda state, row: tf.tanh(tf.linalg.matvec(w, state) + row), x)


def scanned_pairs(tf, x, start):
    def step(state, row):
        return {"sum": state["sum"] + row, "product": state["product"] * (1 + row)}

    states = tf.scan(step, x, initializer={"sum": start, "product": start + 1.0}, reverse=True)
    return [states["sum"], states["product"]]


def loop_with_array(tf, x):
    def body(i, state, array):
        state = tf.tanh(state + x[i] * x[i])
        return i + 1, state, array.write(i, state * x[i])

    start = (0, tf.zeros_like(x[0]), tf.TensorArray(x.dtype, size=3))
    return tf.while_loop(lambda i, *rest: i < 3, body, start)[2].stack()


def newton(tf, x):
    """The square root of x by as many rounds as it takes: their number depends on the value."""
    loop = tf.while_loop(
        lambda y: tf.abs(y * y - x) > 1e-3,
        lambda y: (0.5 * (y + x / y),),
        (x,),
        maximum_iterations=20,
    )
    return loop[0]


def arrays(tf, x):
    parts = tf.TensorArray(x.dtype, 3, infer_shape=False).split(x, [1, 0, 3])
    spread = tf.TensorArray(x.dtype, 0, dynamic_size=True).scatter([3, 0], x[:2])
    rows = tf.TensorArray(x.dtype, 4, clear_after_read=False).unstack(x * x)
    return parts.concat(), spread.stack(), rows.gather([2, 0, 2]), rows.read(1)


def per_row(tf, x, w):
    def f(row):
        with tf.GradientTape() as tape:
            tape.watch(row)
            y = tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, row)) ** 2)
        return y, tape.gradient(y, row)

    return tf.vectorized_map(f, x)


BRANCHES = [lambda x: x * x, lambda x: x**3, lambda x: -x]

CASES = [
    case("cond", lambda tf, x: tf.cond(x[0] < x[1], lambda: x * x, lambda: x**3), distinct(3)),
    case(
        "cond, other branch",
        lambda tf, x: tf.cond(x[0] >= x[1], lambda: x * x, lambda: x**3),
        distinct(3),
    ),
    case(
        "case",
        lambda tf, x: tf.case(
            [(x[0] > 1e6, lambda: x), (x[0] > -1e6, lambda: x * x)], default=lambda: x**3
        ),
        normal(3),
    ),
    case(
        "case, default", lambda tf, x: tf.case([(x[0] > 1e6, lambda: x)], lambda: x**3), normal(3)
    ),
    *[
        case(
            f"switch_case {index}",
            lambda tf, x, i: tf.switch_case(i, [lambda f=f: f(x) for f in BRANCHES]),
            normal(3),
            given(index),
        )
        for index in (0, 1, 2, 5, -1)
    ],
    case("while_loop with TensorArray", loop_with_array, normal(3, 2)),
    case("while_loop, rounds by value", newton, given([2.0, 7.0][0])),
    case("map_fn", lambda tf, x: tf.map_fn(lambda r: tf.reduce_sum(r * r) * r, x), normal(3, 2)),
    case(
        "map_fn of pairs",
        lambda tf, x, y: tf.map_fn(
            lambda p: (p[0] * p[1], tf.reduce_sum(p[0])),
            (x, y),
            fn_output_signature=(x.dtype, x.dtype),
        ),
        normal(3, 2),
        normal(3, 2),
    ),
    case(
        "map_fn to integers",
        lambda tf, x: tf.map_fn(tf.argmax, x, fn_output_signature=tf.int64),
        distinct(3, 4),
    ),
    case(
        "map_fn of nothing", lambda tf, x: tf.map_fn(lambda r: r * r, x[:0]), normal(3, 2), order=1
    ),
    case("scan", scanned, normal(4, 2), normal(2, 2)),
    case("scan in reverse with a nest", scanned_pairs, normal(3, 2), normal(2)),
    case("foldl", lambda tf, x: tf.foldl(lambda a, r: a * r + r, x), normal(4, 2)),
    case("foldr", lambda tf, x: tf.foldr(lambda a, r: a * r + r, x), normal(4, 2)),
    case(
        "foldl with initializer",
        lambda tf, x, a: tf.foldl(lambda a, r: tf.sin(a) * r, x, initializer=a),
        normal(4, 2),
        normal(2),
    ),
    case("TensorArray", arrays, normal(4)),
    case(
        "vectorized_map",
        lambda tf, x, w: tf.vectorized_map(lambda r: tf.sin(tf.linalg.matvec(w, r)), x),
        normal(3, 2),
        normal(4, 2),
    ),
    case("vectorized_map with a tape inside", per_row, normal(3, 2), normal(4, 2)),
    case(
        "vectorized_map of integers",
        lambda tf, x, i: tf.vectorized_map(lambda p: tf.gather(p[0], p[1]) ** 2, (x, i)),
        normal(3, 4),
        integers(0, 4, 3, 2),
    ),
    case(
        "debugging.check_numerics",
        lambda tf, x: tf.debugging.check_numerics(x * x, "no"),
        normal(3),
    ),
    case(
        "debugging.assert_all_finite",
        lambda tf, x: tf.debugging.assert_all_finite(x**3, "no"),
        positive(3),
    ),
    case("guarantee_const", lambda tf, x: tf.guarantee_const(x) * x, normal(3)),
    case("tuple", lambda tf, x: tf.tuple([x * x, tf.sin(x)]), normal(3)),
    case("bitcast", lambda tf, x: tf.bitcast(x, tf.int32), normal(3)),
    case("bitcast back", lambda tf, x: tf.bitcast(tf.bitcast(x, tf.uint8), x.dtype), normal(2, 2)),
    case("bitcast to pairs", lambda tf, x: tf.bitcast(x, tf.int16), integers(0, 10**6, 3)),
    case("bitcast of complex", lambda tf, x: tf.bitcast(tf.complex(x, x), x.dtype), normal(3)),
]
