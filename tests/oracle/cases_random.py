"""Families of ops with random shapes, axes and indices: a few cases of each, drawn from a seed."""

import random

from .cases_math import KINKED, OPERATORS, REDUCTIONS, SMOOTH
from .inputs import (
    booleans,
    call,
    case,
    complexes,
    distinct,
    integers,
    nonzero,
    normal,
    positive,
)

FAMILIES = []


class Draw(random.Random):
    def shape(self, low=0, high=4):
        """`low` to `high` axes of size 1 to 3, now and then one of size 0."""
        shape = [self.randint(1, 3) for _ in range(self.randint(low, high))]
        if shape and self.random() < 0.1:
            shape[self.randrange(len(shape))] = 0
        return shape

    def solid(self, low=0, high=4):
        return [max(n, 1) for n in self.shape(low, high)]

    def flag(self):
        return self.random() < 0.5

    def axis(self, shape, extra=0):
        """One axis, counted from either end; `extra` places for a new axis."""
        n = len(shape) + extra
        return self.randrange(-n, n)

    def axes(self, shape):
        """None, one axis or a list of different ones."""
        if not shape or self.random() < 0.2:
            return None
        if self.flag():
            return self.axis(shape)
        chosen = self.sample(range(len(shape)), self.randint(1, len(shape)))
        return [a - len(shape) if self.flag() else a for a in chosen]

    def broadcastable(self, shape):
        """A shape that broadcasts against `shape` and to no more than it."""
        return [1 if self.random() < 0.3 else n for n in shape][self.randint(0, len(shape)) :]


def family(count):
    def add(make):
        FAMILIES.append((make.__name__, make, count))
        return make

    return add


def table(seed):
    cases = []
    for name, make, count in FAMILIES:
        for i in range(count):
            fn, *inputs = make(Draw(f"{seed}/{name}/{i}"))
            cases.append(case(f"random {name} {i}", fn, *inputs, dtypes=("float64",)))
    return cases


@family(12)
def unary(draw):
    return call(draw.choice(SMOOTH + KINKED)), nonzero(*draw.shape())


@family(14)
def binary(draw):
    op = draw.choice([OPERATORS[s] for s in "+-*/%"] + [OPERATORS["**"]])
    shape = draw.shape()
    operands = [positive(*shape), positive(*draw.broadcastable(shape))]
    if draw.flag():
        operands.reverse()
    return lambda tf, x, y: op(x, y), *operands


@family(8)
def extremum(draw):
    shape = draw.shape()
    other = normal(*draw.broadcastable(shape))
    name = draw.choice(["maximum", "minimum", "math.squared_difference"])
    return call(name), distinct(*shape), other


@family(5)
def where(draw):
    shape = draw.shape()
    a, b, c = (draw.broadcastable(shape) for _ in range(3))
    return lambda tf, m, x, y: tf.where(m, x, y), booleans(*a), normal(*b), normal(*c)


@family(40)
def reduction(draw):
    name = draw.choice(REDUCTIONS)
    shape = draw.solid()
    if name == "math.reduce_std":
        shape = [n + 1 for n in shape] or [2]
    axes, keepdims = draw.axes(shape), draw.flag()
    return call(name, axis=axes, keepdims=keepdims), distinct(*shape)


@family(8)
def empty_reduction(draw):
    shape = [*draw.solid(1, 3), 0]
    draw.shuffle(shape)
    name = draw.choice(["reduce_sum", "reduce_mean", "reduce_prod"])
    axis = draw.choice([i for i, n in enumerate(shape) if n])
    return call(name, axis=axis), normal(*shape)


@family(8)
def cumulative(draw):
    shape = draw.shape(1)
    return call(
        draw.choice(["cumsum", "math.cumprod"]),
        axis=draw.axis(shape),
        exclusive=draw.flag(),
        reverse=draw.flag(),
    ), nonzero(*shape)


@family(6)
def softmax(draw):
    shape = draw.solid(1)
    name = draw.choice(["nn.softmax", "nn.log_softmax"])
    return call(name, axis=draw.axis(shape)), normal(*shape)


@family(6)
def arg_extremum(draw):
    shape = draw.solid(1)
    return call(draw.choice(["argmax", "argmin"]), axis=draw.axis(shape)), distinct(*shape)


@family(6)
def sort(draw):
    shape = draw.solid(1, 3)
    direction = draw.choice(["ASCENDING", "DESCENDING"])
    return call("sort", axis=draw.axis(shape), direction=direction), distinct(*shape)


@family(4)
def top_k(draw):
    shape = draw.solid(1, 3)
    return call("math.top_k", k=draw.randint(1, shape[-1])), distinct(*shape)


@family(6)
def reshape(draw):
    shape = draw.solid()
    total = 1
    for n in shape:
        total *= n
    first = draw.choice([n for n in range(1, total + 1) if total % n == 0])
    return call("reshape", [first, -1]), normal(*shape)


@family(6)
def transpose(draw):
    shape = draw.shape()
    return call("transpose", draw.sample(range(len(shape)), len(shape))), normal(*shape)


@family(5)
def expand_and_squeeze(draw):
    shape = draw.shape()
    axis = draw.axis(shape, extra=1)
    return lambda tf, x: tf.squeeze(tf.expand_dims(x, axis) * 2.0, axis), normal(*shape)


@family(5)
def broadcast_to(draw):
    shape = draw.shape()
    return call("broadcast_to", shape), normal(*draw.broadcastable(shape))


@family(14)
def getitem(draw):
    shape = draw.solid(1)
    index = [
        draw.choice(
            [
                draw.randrange(-n, n),
                slice(
                    draw.choice([None, draw.randint(-n, n)]),
                    draw.choice([None, draw.randint(-n, n)]),
                    draw.choice([None, 1, 2, -1, -2]),
                ),
                slice(None),
            ]
        )
        for n in shape
    ]
    if draw.flag():
        start = draw.randint(0, len(shape))
        index[start : draw.randint(start, len(shape))] = [Ellipsis]
    if draw.flag():
        index.insert(draw.randint(0, len(index)), None)
    return lambda tf, x: x[tuple(index)], normal(*shape)


@family(6)
def pad(draw):
    shape = draw.solid(1, 3)
    mode = draw.choice(["CONSTANT", "REFLECT", "SYMMETRIC"])
    paddings = [[draw.randint(0, n - 1), draw.randint(0, n - 1)] for n in shape]
    return call("pad", paddings, mode=mode), normal(*shape)


@family(4)
def tile(draw):
    shape = draw.shape(1, 2)  # TensorFlow's second derivative fails for three repeated axes
    return call("tile", [draw.randint(1, 3) for _ in shape]), normal(*shape)


@family(4)
def repeat(draw):
    shape = draw.solid(1, 3)
    axis = draw.axis(shape)
    repeats = [draw.randint(0, 2) for _ in range(shape[axis])]
    return call("repeat", repeats, axis=axis), normal(*shape)


@family(5)
def reverse_and_roll(draw):
    shape = draw.solid(1)
    axis, shift = draw.axis(shape), draw.randint(-4, 4)
    return lambda tf, x: (tf.reverse(x, [axis]), tf.roll(x, shift, axis)), normal(*shape)


@family(6)
def concat(draw):
    shape = draw.shape(1)
    axis = draw.axis(shape)
    parts = []
    for _ in range(draw.randint(1, 3)):
        part = list(shape)
        part[axis] = draw.randint(0, 3)
        parts.append(normal(*part))
    return lambda tf, *xs: tf.concat(xs, axis), *parts


@family(5)
def stack(draw):
    shape = draw.shape(0, 3)
    axis = draw.axis(shape, extra=1)
    return lambda tf, *xs: tf.stack(xs, axis), *[normal(*shape)] * draw.randint(1, 3)


@family(5)
def split(draw):
    shape = draw.shape(1, 3)
    axis = draw.axis(shape)
    sizes = [draw.randint(0, 2) for _ in range(draw.randint(1, 3))]
    shape[axis] = sum(sizes)
    return call("split", sizes, axis=axis), normal(*shape)


@family(10)
def gather(draw):
    shape = draw.solid(1)
    axis = draw.randrange(len(shape))
    batch_dims = draw.randint(0, axis)
    indices = shape[:batch_dims] + draw.shape(0, 2)
    return (
        lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch_dims),
        normal(*shape),
        integers(0, shape[axis], *indices),
    )


@family(6)
def gather_nd(draw):
    shape = draw.solid(1)
    depth = draw.randint(1, len(shape))
    indices = [[draw.randrange(n) for n in shape[:depth]] for _ in range(draw.randint(1, 4))]
    return call("gather_nd", indices), normal(*shape)


@family(8)
def scatter(draw):
    shape = draw.solid(1)
    depth = draw.randint(1, len(shape))
    # Repeats only for the kinds that add: which repeated update wins is not defined.
    kind = draw.choice(["update", "add", "sub"])
    indices = [[draw.randrange(n) for n in shape[:depth]] for _ in range(draw.randint(1, 4))]
    if kind == "update":
        indices = [list(i) for i in dict.fromkeys(map(tuple, indices))]
    updates = normal(len(indices), *shape[depth:])
    return (
        lambda tf, x, u: (
            getattr(tf, f"tensor_scatter_nd_{kind}")(x, indices, u),
            tf.scatter_nd(indices, u, shape),
        ),
        normal(*shape),
        updates,
    )


@family(5)
def boolean_mask(draw):
    shape = draw.solid(1)
    mask = booleans(*shape[: draw.randint(1, len(shape))])
    return lambda tf, x, m: tf.boolean_mask(x, m), normal(*shape), mask


@family(14)
def matmul(draw):
    n, k, m = (draw.randint(0 if draw.random() < 0.1 else 1, 3) for _ in range(3))
    batch = draw.solid(0, 2)
    left, right = batch, draw.broadcastable(batch)
    if draw.flag():
        left, right = right, left
    ta, tb = draw.flag(), draw.flag()
    domain = draw.choice([normal, normal, complexes])
    key = draw.choice(["transpose", "adjoint"])
    return (
        call("matmul", **{f"{key}_a": ta, f"{key}_b": tb}),
        domain(*left, *((k, n) if ta else (n, k))),
        domain(*right, *((m, k) if tb else (k, m))),
    )


@family(6)
def tensordot(draw):
    shape = draw.solid(1, 3)
    left = draw.sample(range(len(shape)), draw.randint(1, len(shape)))
    other = [shape[a] for a in left] + draw.solid(0, 2)
    return call("tensordot", axes=[left, list(range(len(left)))]), normal(*shape), normal(*other)


@family(10)
def einsum(draw):
    sizes = {letter: draw.randint(1, 3) for letter in "abcd"}
    terms = ["".join(draw.sample("abcd", draw.randint(1, 3))) for _ in range(2)]
    out = [letter for letter in "abcd" if any(letter in t for t in terms) and draw.flag()]
    draw.shuffle(out)
    equation = f"{','.join(terms)}->{''.join(out)}"
    return (
        lambda tf, *xs: tf.einsum(equation, *xs),
        *[normal(*(sizes[letter] for letter in t)) for t in terms],
    )


@family(5)
def cross_entropy(draw):
    batch, classes = draw.solid(0, 2), draw.randint(1, 4)
    if draw.flag():
        return (
            call("nn.sparse_softmax_cross_entropy_with_logits"),
            integers(0, classes, *batch),
            normal(*batch, classes),
        )
    return (
        call("nn.sigmoid_cross_entropy_with_logits"),
        positive(*batch, classes),
        normal(*batch, classes),
    )


@family(6)
def composite(draw):
    """Shared subexpressions and broadcasting, as in small models."""
    n, m = draw.randint(1, 3), draw.randint(1, 3)

    def fn(tf, x, w, b):
        h = tf.tanh(x @ w + b)
        p = tf.nn.softmax(h * h - tf.reduce_mean(h, axis=0, keepdims=True))
        return tf.reduce_sum(p * tf.math.log(p + 0.1), axis=-1) + tf.norm(w)

    return fn, normal(n, m), normal(m, 3), normal(3)
