"""Random programs: every way to take a Hessian-vector product gives the same.

A program is a list of steps, each one public op applied to earlier tensors, the latest among them.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

pytestmark = pytest.mark.gradtape_only

SHAPES = [(), (2,), (3,), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3), (2, 1, 3), (2, 2, 2)]
LONGEST = 6
LARGEST = 24

checked = settings(
    max_examples=6,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class Op:
    """What a step may be: `apply(tf, *tensors, **params)`, for which shapes, with which params."""

    apply: Callable
    arity: int = 1
    accepts: Callable = lambda *shapes: True
    params: Callable = lambda *shapes: st.just({})


class Step:
    def __init__(self, name, inputs, params):
        self.name, self.inputs, self.params = name, inputs, params

    def __repr__(self):
        inputs = [f"t{i}" for i in self.inputs]
        params = [f"{name}={value!r}" for name, value in self.params.items()]
        return f"{self.name}({', '.join(inputs + params)})"

    def run(self, tf, tensors):
        return OPS[self.name].apply(tf, *(tensors[i] for i in self.inputs), **self.params)


class Program:
    def __init__(self, seed, shapes):
        self.seed, self.shapes, self.steps = seed, shapes, []

    def __repr__(self):
        lines = [f"t{i} = source of shape {shape}" for i, shape in enumerate(self.shapes)]
        lines += [f"t{i} = {step}" for i, step in enumerate(self.steps, len(self.shapes))]
        return "\n    ".join([f"Program with seed {self.seed}:", *lines])

    def draw(self, tf, shapes, which):
        """Random tensors of these shapes: others for another `which`."""
        rng = np.random.default_rng([self.seed, which])
        return [tf.constant(rng.uniform(-1, 1, shape)) for shape in shapes]

    def sources(self, tf):
        return self.draw(tf, self.shapes, 0)

    def directions(self, tf):
        return self.draw(tf, self.shapes, 1)

    def weights(self, tf, result):
        """A cotangent for the result."""
        return self.draw(tf, [result.shape], 2)[0]

    def run(self, tf, sources):
        tensors = list(sources)
        for step in self.steps:
            tensors.append(step.run(tf, tensors))
        return tensors[-1]

    def loss(self, tf, sources):
        result = self.run(tf, sources)
        return tf.reduce_sum(result * self.weights(tf, result))


@st.composite
def programs(draw, tf, first):
    """Programs that begin with the op `first`."""
    shapes = draw(st.sampled_from(sources_for(OPS[first])))
    program = Program(draw(st.integers(0, 999)), shapes)
    tensors = program.sources(tf)
    for i in range(draw(st.integers(1, LONGEST))):
        known = [tuple(t.shape) for t in tensors]
        usable = {name: places for name, op in OPS.items() if (places := fitting(op, known))}
        name = draw(st.sampled_from(sorted(usable))) if i else first
        inputs = draw(st.sampled_from(usable[name]))
        params = draw(OPS[name].params(*(known[i] for i in inputs)))
        program.steps.append(Step(name, inputs, params))
        tensors.append(program.steps[-1].run(tf, tensors))
    return program


def sources_for(op):
    """Shapes of one or two sources on which the op can begin."""
    shapes = [*itertools.product(SHAPES), *itertools.product(SHAPES, repeat=2)]
    return [s for s in shapes if fitting(op, s)]


def fitting(op, shapes):
    """The inputs that the op accepts: places in `shapes`, the last one among them."""
    latest = len(shapes) - 1
    places = itertools.product(range(len(shapes)), repeat=op.arity)
    return [p for p in places if latest in p and op.accepts(*(shapes[i] for i in p))]


# Where a function is defined or stays small.


def positive(x):
    return x * x + 0.5


def bounded(tf, x):
    return 0.9 * tf.tanh(x)


def regular(tf, x):
    """A symmetric positive definite matrix from any matrix."""
    return tf.matmul(x, x, transpose_b=True) + tf.eye(x.shape[-2], dtype=tf.float64)


def every_second(shape):
    return np.arange(math.prod(shape)).reshape(shape) % 2 == 0


# Which shapes an op takes.


def rank(least, most=9):
    return lambda *shapes: all(least <= len(s) <= most for s in shapes)


def small(*shapes):
    return math.prod(itertools.chain(*shapes)) <= LARGEST


def broadcastable(a, b):
    try:
        return small(np.broadcast_shapes(a, b))
    except ValueError:
        return False


def multipliable(a, b):
    return min(len(a), len(b)) >= 2 and a[-1] == b[-2] and a[:-2] == b[:-2]


def rows(a):
    return len(a) >= 1 and small(a)


# Which parameters.


def one_of(**choices):
    return lambda *shapes: st.fixed_dictionaries(
        {name: st.sampled_from(values) for name, values in choices.items()}
    )


def axis(*shapes):
    return st.fixed_dictionaries({"axis": st.integers(-len(shapes[0]), len(shapes[0]) - 1)})


def axes(*shapes):
    """Any axis of the first input, or all of them; kept or not."""
    some = st.sampled_from([None, *range(-len(shapes[0]), len(shapes[0]))])
    return st.fixed_dictionaries({"axis": some, "keepdims": st.booleans()})


def permutation(a):
    return st.fixed_dictionaries({"perm": st.permutations(range(len(a)))})


def new_shape(a):
    n = math.prod(a)
    fits = [s for s in [(n,), (1, n), (-1, 1), (n // 2, 2), (3, -1), (2, 1, -1)] if divides(s, n)]
    return st.fixed_dictionaries({"shape": st.sampled_from(fits)})


def divides(shape, n):
    known = math.prod(abs(d) for d in shape)
    return n % known == 0 if -1 in shape else n == known


def slices(a):
    one = st.sampled_from(
        [slice(None), slice(1), slice(None, None, -1), slice(None, None, 2), 0, -1]
    )
    insert = st.sampled_from([(), (None,), (...,)])
    return st.tuples(st.lists(one, max_size=len(a)).map(tuple), insert).map(
        lambda drawn: {"index": drawn[0] + drawn[1]}
    )


def indices(a):
    return st.fixed_dictionaries(
        {"indices": st.lists(st.integers(0, a[0] - 1), min_size=1, max_size=3)}
    )


def indices_and_axis(a):
    def along(axis):
        place = st.integers(0, a[axis] - 1)
        return st.fixed_dictionaries(
            {"indices": st.lists(place, min_size=1, max_size=3), "axis": st.just(axis)}
        )

    return st.integers(0, len(a) - 1).flatmap(along)


def mask(a):
    chosen = st.lists(st.booleans(), min_size=a[0], max_size=a[0])
    return st.fixed_dictionaries({"mask": chosen.filter(any)})


def segments(a):
    return st.fixed_dictionaries({"ids": st.lists(st.integers(0, 2), min_size=a[0], max_size=a[0])})


def multiples(a):
    return st.fixed_dictionaries({"multiples": st.tuples(*[st.integers(1, 2) for _ in a])})


def paddings(a):
    return st.fixed_dictionaries(
        {"paddings": st.tuples(*[st.tuples(st.integers(0, 1), st.integers(0, 1)) for _ in a])}
    )


UNARY = {
    "negative": lambda tf, x: -x,
    "square": lambda tf, x: tf.square(x),
    "cube": lambda tf, x: x**3,
    "sin": lambda tf, x: tf.sin(x),
    "cos": lambda tf, x: tf.cos(x),
    "tan": lambda tf, x: tf.tan(bounded(tf, x)),
    "asin": lambda tf, x: tf.asin(bounded(tf, x)),
    "acos": lambda tf, x: tf.acos(bounded(tf, x)),
    "atan": lambda tf, x: tf.atan(x),
    "sinh": lambda tf, x: tf.sinh(bounded(tf, x)),
    "cosh": lambda tf, x: tf.cosh(bounded(tf, x)),
    "tanh": lambda tf, x: tf.tanh(x),
    "asinh": lambda tf, x: tf.asinh(x),
    "acosh": lambda tf, x: tf.acosh(positive(x) + 1.0),
    "atanh": lambda tf, x: tf.atanh(bounded(tf, x)),
    "exp": lambda tf, x: tf.exp(bounded(tf, x)),
    "expm1": lambda tf, x: tf.math.expm1(bounded(tf, x)),
    "log": lambda tf, x: tf.math.log(positive(x)),
    "log1p": lambda tf, x: tf.math.log1p(positive(x)),
    "sqrt": lambda tf, x: tf.sqrt(positive(x)),
    "rsqrt": lambda tf, x: tf.math.rsqrt(positive(x)),
    "reciprocal": lambda tf, x: tf.math.reciprocal(positive(x)),
    "power": lambda tf, x: positive(x) ** -1.5,
    "exponential": lambda tf, x: 2.0 ** bounded(tf, x),
    "sigmoid": lambda tf, x: tf.sigmoid(x),
    "log_sigmoid": lambda tf, x: tf.math.log_sigmoid(x),
    "erf": lambda tf, x: tf.math.erf(x),
    "erfc": lambda tf, x: tf.math.erfc(x),
    "lgamma": lambda tf, x: tf.math.lgamma(positive(x)),
    "digamma": lambda tf, x: tf.math.digamma(positive(x)),
    "softplus": lambda tf, x: tf.nn.softplus(x),
    "gelu": lambda tf, x: tf.nn.gelu(x),
    "silu": lambda tf, x: tf.nn.silu(x),
    "shifted": lambda tf, x: 1.0 - x / 2.0,
    "inverse": lambda tf, x: 2.0 / positive(x),
}

BINARY = {
    "add": lambda tf, x, y: x + y,
    "subtract": lambda tf, x, y: x - y,
    "multiply": lambda tf, x, y: x * y,
    "divide": lambda tf, x, y: x / positive(y),
    "pow": lambda tf, x, y: positive(x) ** bounded(tf, y),
    "atan2": lambda tf, x, y: tf.atan2(x, positive(y)),
    "squared_difference": lambda tf, x, y: tf.math.squared_difference(x, y),
    "xlogy": lambda tf, x, y: tf.math.xlogy(positive(x), positive(y)),
    "divide_no_nan": lambda tf, x, y: tf.math.divide_no_nan(x, positive(y)),
    "sigmoid_cross_entropy": lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(
        *(z + tf.zeros_like(x + y) for z in (x, y))
    ),
}

REDUCTIONS = {
    "reduce_sum": lambda tf, x, **at: tf.reduce_sum(x, **at),
    "reduce_mean": lambda tf, x, **at: tf.reduce_mean(x, **at),
    "reduce_prod": lambda tf, x, **at: tf.reduce_prod(x, **at),
    "reduce_logsumexp": lambda tf, x, **at: tf.reduce_logsumexp(x, **at),
    "reduce_variance": lambda tf, x, **at: tf.math.reduce_variance(x, **at),
    "reduce_euclidean_norm": lambda tf, x, **at: tf.math.reduce_euclidean_norm(positive(x), **at),
    "norm": lambda tf, x, **at: tf.norm(positive(x), **at),
    "variance_of_moments": lambda tf, x, axis, keepdims: tf.nn.moments(
        x, list(range(len(x.shape))) if axis is None else [axis], keepdims=keepdims
    )[1],
}

ALONG_AN_AXIS = {
    "softmax": lambda tf, x, axis: tf.nn.softmax(x, axis),
    "log_softmax": lambda tf, x, axis: tf.nn.log_softmax(x, axis),
    "l2_normalize": lambda tf, x, axis: tf.nn.l2_normalize(positive(x), axis),
    "cumsum": lambda tf, x, axis: tf.cumsum(x, axis, exclusive=True),
    "cumsum_reverse": lambda tf, x, axis: tf.cumsum(x, axis, reverse=True),
    "cumprod": lambda tf, x, axis: tf.math.cumprod(positive(x), axis),
    "cumulative_logsumexp": lambda tf, x, axis: tf.math.cumulative_logsumexp(x, axis),
    "expand_dims": lambda tf, x, axis: tf.expand_dims(x, axis),
    "reverse": lambda tf, x, axis: tf.reverse(x, [axis]),
    "roll": lambda tf, x, axis: tf.roll(x, 1, axis),
    "part_of_unstack": lambda tf, x, axis: tf.unstack(x, axis=axis)[-1],
    "product_of_split": lambda tf, x, axis: math.prod(tf.split(x, x.shape[axis], axis)),
}

MATRICES = {
    "gram": lambda tf, x: tf.matmul(x, x, transpose_a=True),
    "inv": lambda tf, x: tf.linalg.inv(regular(tf, x)),
    "det": lambda tf, x: tf.linalg.det(regular(tf, x)),
    "logdet": lambda tf, x: tf.linalg.slogdet(regular(tf, x))[1],
    "cholesky": lambda tf, x: tf.linalg.cholesky(regular(tf, x)),
    "solve": lambda tf, x: tf.linalg.solve(regular(tf, x), x),
    "triangular_solve": lambda tf, x: tf.linalg.triangular_solve(regular(tf, x), x),
    "trace": lambda tf, x: tf.linalg.trace(x),
    "diag_part": lambda tf, x: tf.linalg.diag_part(x),
    "band_part": lambda tf, x: tf.linalg.band_part(x, 1, 0),
    "matrix_transpose": lambda tf, x: tf.linalg.matrix_transpose(x),
    "tensordot": lambda tf, x: tf.tensordot(x, x, [[0], [0]])[:, 0],
    "cross_entropy": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
        tf.nn.softmax(tf.ones_like(x)), x
    ),
}

OPS = {
    **{name: Op(f) for name, f in UNARY.items()},
    **{name: Op(f, 2, broadcastable) for name, f in BINARY.items()},
    **{name: Op(f, 1, rank(1), axes) for name, f in REDUCTIONS.items()},
    **{name: Op(f, 1, rank(1, 4), axis) for name, f in ALONG_AN_AXIS.items()},
    **{name: Op(f, 1, rank(2, 3)) for name, f in MATRICES.items()},
    "matmul": Op(lambda tf, x, y: tf.matmul(x, y), 2, multipliable),
    "matvec": Op(lambda tf, x: tf.linalg.matvec(x, x[..., 0, :]), 1, rank(2)),
    "einsum": Op(
        lambda tf, x, y: tf.einsum("...ij,...jk->...ki", x, y),
        2,
        multipliable,
    ),
    "outer": Op(
        lambda tf, x, y: tf.einsum("i,j->ij", tf.reshape(x, [-1]), tf.reshape(y, [-1])), 2, small
    ),
    "linalg.diag": Op(
        lambda tf, x: tf.linalg.diag(x), 1, lambda a: len(a) >= 1 and small(a, a[-1:])
    ),
    "where": Op(
        lambda tf, x, y, first: tf.where(first, x, y), 2, broadcastable, one_of(first=[True, False])
    ),
    "where_mask": Op(lambda tf, x: tf.where(every_second(x.shape), tf.sin(x), x * x)),
    "reshape": Op(lambda tf, x, shape: tf.reshape(x, shape), 1, lambda a: True, new_shape),
    "transpose": Op(lambda tf, x, perm: tf.transpose(x, perm), 1, rank(1), permutation),
    "index": Op(lambda tf, x, index: x[index], 1, rank(1), slices),
    "squeeze": Op(lambda tf, x: tf.squeeze(x)),
    "broadcast_to": Op(lambda tf, x: tf.broadcast_to(x, [2, *x.shape]), 1, small),
    "gather": Op(lambda tf, x, indices: tf.gather(x, indices), 1, rows, indices),
    "gather_axis": Op(
        lambda tf, x, indices, axis: tf.gather(x, indices, axis=axis), 1, rows, indices_and_axis
    ),
    "gather_nd": Op(
        lambda tf, x, indices: tf.gather_nd(x, [[i] for i in indices]), 1, rows, indices
    ),
    "boolean_mask": Op(lambda tf, x, mask: tf.boolean_mask(x, mask), 1, rows, mask),
    "segment_sum": Op(
        lambda tf, x, ids: tf.math.unsorted_segment_sum(x, ids, 3), 1, rows, segments
    ),
    "scatter_update": Op(
        lambda tf, x, y: tf.tensor_scatter_nd_update(x, [[0]], y[:1]),
        2,
        lambda a, b: a == b and len(a) >= 1,
    ),
    "scatter_add": Op(
        lambda tf, x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], tf.stack([y[0], y[-1]])),
        2,
        lambda a, b: a == b and len(a) >= 1,
    ),
    "concat": Op(
        lambda tf, x, y, axis: tf.concat([x, y, x], axis),
        2,
        lambda a, b: a == b and rows(a),
        axis,
    ),
    "stack": Op(
        lambda tf, x, y, axis: tf.stack([x, y], axis), 2, lambda a, b: a == b and rows(a), axis
    ),
    "add_n": Op(lambda tf, x, y: tf.add_n([x, y, x]), 2, lambda a, b: a == b),
    "tile": Op(lambda tf, x, multiples: tf.tile(x, multiples), 1, rows, multiples),
    "repeat": Op(lambda tf, x: tf.repeat(x, 2, axis=0), 1, rows),
    "pad": Op(lambda tf, x, paddings: tf.pad(x, paddings), 1, rows, paddings),
}


def gradient(tf, program, xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = program.loss(tf, xs)
    grads = tape.gradient(y, xs, unconnected_gradients="zero")
    return [tf.convert_to_tensor(g) for g in grads]


def tape_in_tape(tf, program, xs, vs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        grads = gradient(tf, program, xs)
        product = tf.add_n([tf.reduce_sum(g * v) for g, v in zip(grads, vs, strict=True)])
    return tape.gradient(product, xs, unconnected_gradients="zero")


def forward_over_reverse(tf, program, xs, vs):
    with tf.autodiff.ForwardAccumulator(xs, vs) as acc:
        grads = gradient(tf, program, xs)
    return acc.jvp(grads, unconnected_gradients="zero")


def reverse_over_forward(tf, program, xs, vs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        with tf.autodiff.ForwardAccumulator(xs, vs) as acc:
            y = program.loss(tf, xs)
        product = acc.jvp(y, unconnected_gradients="zero")
    return tape.gradient(product, xs, unconnected_gradients="zero")


def differences(tf, program, xs, vs, h=3e-4):
    """Central differences of the gradient, of fourth order."""

    def at(step):
        return flat(gradient(tf, program, [x + step * v for x, v in zip(xs, vs, strict=True)]))

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def flat(tensors):
    return np.concatenate([np.ravel(np.asarray(t)) for t in tensors])


def dense(tf, tensors):
    return flat(tf.convert_to_tensor(t) for t in tensors)


def agree(actual, expected, tol, scale, way):
    worst = np.max(np.abs(actual - expected), initial=0.0)
    assert worst <= tol * scale, f"{way}: {actual} in place of {expected}"


@pytest.mark.parametrize("op", OPS)
@checked
@given(st.data())
def test_hessian_vector_products_agree(tf, op, data):
    program = data.draw(programs(tf, op))
    xs, vs = program.sources(tf), program.directions(tf)
    expected = dense(tf, tape_in_tape(tf, program, xs, vs))
    scale = 1.0 + np.max(np.abs(expected)) + np.max(np.abs(flat(gradient(tf, program, xs))))
    for way in (forward_over_reverse, reverse_over_forward):
        agree(dense(tf, way(tf, program, xs, vs)), expected, 1e-10, scale, way.__name__)
    agree(differences(tf, program, xs, vs), expected, 1e-6, scale, "differences")


@pytest.mark.parametrize("op", OPS)
@checked
@given(st.data())
def test_forward_and_reverse_are_adjoint(tf, op, data):
    program = data.draw(programs(tf, op))
    xs, vs = program.sources(tf), program.directions(tf)
    with tf.autodiff.ForwardAccumulator(xs, vs) as acc, tf.GradientTape() as tape:
        tape.watch(xs)
        y = program.run(tf, xs)
    u = program.weights(tf, y)
    forward = np.asarray(acc.jvp(y, unconnected_gradients="zero"))
    reverse = dense(tf, tape.gradient(y, xs, u, unconnected_gradients="zero"))
    assert forward.shape == tuple(y.shape)
    left, right = np.sum(u.numpy() * forward), np.dot(reverse, flat(vs))
    scale = 1.0 + np.max(np.abs(forward), initial=0.0) + np.max(np.abs(reverse))
    agree(left, right, 1e-11, scale, "u·(Jv) = (Jᵀu)·v")
