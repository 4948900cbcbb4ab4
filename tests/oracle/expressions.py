"""The expressions of random programs, as text: each has a shape, its numbers are of order one."""

from dataclasses import dataclass

import numpy as np

SHAPES = [(), (3,), (2, 3), (3, 2), (2, 2)]
SMOOTH = ["tf.tanh({})", "tf.sin({})", "tf.nn.softplus({})", "tf.sigmoid({})", "tf.cos({}) * 0.5",
          "tf.exp(-tf.square({}))", "tf.math.log1p(tf.square({}))", "tf.nn.gelu({})",
          "tf.math.erf({})", "tf.math.atan({})", "tf.nn.elu({})", "tf.math.rsqrt(1.5 + {0} * {0})",
          "tf.math.asinh({})", "-{}", "{} ** 2 * 0.3", "tf.identity({})"]  # fmt: skip
KINKED = ["tf.nn.relu({})", "tf.abs({})", "tf.clip_by_value({}, -0.8, 0.9)", "tf.nn.relu6({})",
          "tf.nn.leaky_relu({})", "tf.where({0} > 0.2, {0}, 0.3 * {0})",
          "tf.maximum({}, 0.1)"]  # fmt: skip
FLAT = ["tf.round({})", "tf.sign({})", "tf.floor({})", "tf.stop_gradient({})",
        "tf.cast(tf.cast({}, tf.int32), tf.float64)", "tf.cast({} > 0.0, tf.float64)",
        "tf.zeros_like({})", "tf.ones_like({})"]  # fmt: skip
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / (1.5 + tf.square({}))", "tf.maximum({}, {})",
          "tf.minimum({}, {})", "tf.math.squared_difference({}, {})", "tf.math.atan2({}, 2.0 + {})",
          "tf.math.multiply_no_nan({}, {})", "tf.sqrt(1.0 + tf.square({}) + tf.square({}))",
          "tf.where({0} < {1}, {0} * 0.5, {1})"]  # fmt: skip
ROWWISE = ["tf.nn.softmax({})", "tf.nn.log_softmax({})", "tf.cumsum({}, axis=-1)",
           "tf.reverse({}, [-1])", "tf.sort({}, axis=-1)", "tf.nn.l2_normalize({}, axis=-1)",
           "tf.roll({}, 1, axis=-1)", "tf.math.cumulative_logsumexp({}, axis=-1)"]  # fmt: skip
REDUCED = ["tf.reduce_sum({})", "tf.reduce_mean({})", "tf.reduce_max({})", "tf.norm({} + 0.1)",
           "tf.reduce_logsumexp({})", "tf.sqrt(0.1 + tf.math.reduce_variance({}))",
           "tf.reduce_prod({})", "tf.math.reduce_variance({})"]  # fmt: skip

SPD = "(tf.matmul({0}, {0}, transpose_b=True) + 2.0 * tf.eye(2, dtype=tf.float64))"
"""A matrix that is symmetric and far from singular."""

PAIRED = ["tf.math.real(tf.complex({0}, {1}) * tf.complex({1}, {0}))",
          "tf.abs(tf.complex({0}, 1.0 + tf.square({1})))",
          "tf.math.imag(tf.exp(tf.complex({0}, {1})))",
          "tf.math.angle(tf.complex(2.0 + tf.square({0}), {1}))",
          "tf.where(tf.logical_and({0} > 0.0, {1} < 0.5), {0}, {1})",
          "tf.cast(tf.math.logical_xor({0} > 0.1, {1} > 0.3), tf.float64)",
          "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid({0}), logits={1})",
          "tf.math.xlogy({0}, 1.0 + tf.square({1}))", "(1.2 + tf.square({0})) ** {1}",
          "tf.math.polyval([{0}, {1}], tf.constant(0.5, tf.float64))",
          "tf.math.floormod({0}, 0.7) + {1}",
          "tf.math.lgamma(2.0 + tf.square({0})) * {1}", "tf.math.cumprod(tf.stack([{0}, {1}]))[1]",
          "tf.cast(tf.cast(3.0 * {0}, tf.int64) % 3 + 1, tf.float64) * {1}",
          "tf.cast(tf.bitwise.bitwise_and(tf.cast(4.0 * {0}, tf.int32), 3), tf.float64) * {1}",
          "tf.add_n([{0}, {1}, {0}])", "tf.clip_by_norm({0}, 0.9) + {1}"]  # fmt: skip
"""Of two tensors of any shape, which the result has too."""

SHAPED = {
    (): [
        ("tf.linalg.logdet(" + SPD + ")", (2, 2)),
        ("tf.linalg.slogdet(" + SPD + ").log_abs_determinant", (2, 2)),
        ("tf.linalg.det({0})", (2, 2)),
        ("tf.linalg.trace({0})", (2, 2)),
        ("tf.einsum('ij,ij->', {0}, {1})", (2, 3), (2, 3)),
        ("tf.einsum('i,i', {0}, {1})", (3,), (3,)),
        ("tf.cast(tf.reduce_any({0} > 0.7), tf.float64)", (2, 3)),
        ("tf.cast(tf.math.count_nonzero({0} > 0.0), tf.float64)", (3, 2)),
        ("tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax({0}), {1})", (3,), (3,)),
        ("tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], {0}))", (2, 3)),
        ("tf.math.reduce_euclidean_norm({0} + 0.1)", (2, 3)),
    ],
    (3,): [
        ("tf.gather_nd({0}, [[0, 1], [1, 2], [0, 1]])", (2, 3)),
        ("tf.scatter_nd([[0], [2], [0]], {0}, [3])", (3,)),
        ("tf.einsum('ij,ij->j', {0}, {1})", (2, 3), (2, 3)),
        ("tf.linalg.matvec({0}, {1}[0])", (3, 2), (2, 2)),
        ("tf.concat([{0}[1:], {0}[:1]], 0)", (3,)),
        ("tf.unstack({0})[1]", (2, 3)),
        ("tf.squeeze(tf.expand_dims({0}, 0), 0)", (3,)),
        ("tf.cast(tf.argsort({0}), tf.float64)", (3,)),
        ("tf.cast(tf.searchsorted([-0.5, 0.1, 0.7], tf.cast({0}, tf.float32)), tf.float64)", (3,)),
        ("tf.math.real(tf.signal.fft(tf.complex({0}, {1})))", (3,), (3,)),
        ("tf.math.reduce_variance({0}, 0)", (2, 3)),
        ("tf.linalg.cross({0}, {1})", (3,), (3,)),
        ("tf.math.unsorted_segment_max({0}, [2, 0, 1], 3)", (3,)),
    ],
    (2, 3): [
        ("tf.linalg.solve(" + SPD + ", {1})", (2, 2), (2, 3)),
        ("tf.linalg.triangular_solve(" + SPD + ", {1})", (2, 2), (2, 3)),
        ("tf.linalg.cholesky_solve(tf.linalg.cholesky(" + SPD + "), {1})", (2, 2), (2, 3)),
        ("tf.gather({0}, [1, 0, 0], axis=1)", (2, 2)),
        ("tf.tensor_scatter_nd_add({0}, [[1]], [{1}])", (2, 3), (3,)),
        ("tf.tensor_scatter_nd_update({0}, [[0]], [{1}])", (2, 3), (3,)),
        ("tf.einsum('ii,j->ij', {0}, {1})", (2, 2), (3,)),
        ("tf.broadcast_to({0}, [2, 3])", (3,)),
        ("tf.pad({0}, [[0, 0], [1, 0]])", (2, 2)),
        ("tf.repeat({0}[tf.newaxis], 2, axis=0)", (3,)),
        ("tf.one_hot(tf.argmax({0}, axis=-1), 3, dtype=tf.float64)", (2, 3)),
        ("tf.math.segment_sum({0}, [0, 1])", (2, 3)),
        ("tf.nn.batch_normalization({0}, tf.reduce_mean({0}, -1, keepdims=True), "
         "tf.math.reduce_variance({0}, -1, keepdims=True), None, None, 0.1)", (2, 3)),
    ],
    (3, 2): [
        ("tf.gather({0}, [1, 0, 1])", (2, 2)),
        ("tf.einsum('ij->ji', {0})", (2, 3)),
        ("tf.pad({0}, [[1, 0], [0, 0]], 'REFLECT')", (2, 2)),
        ("tf.tile({0}[:, tf.newaxis], [1, 2])", (3,)),
        ("tf.concat([{0}, {1}[:1]], axis=0)", (2, 2), (3, 2)),
        ("tf.linalg.diag({0})[:, :2]", (3,)),
    ],
    (2, 2): [
        ("tf.linalg.inv(" + SPD + ")", (2, 2)),
        ("tf.linalg.cholesky(" + SPD + ")", (2, 2)),
        ("tf.linalg.expm(0.3 * {0})", (2, 2)),
        ("tf.linalg.band_part({0}, 0, 1)", (2, 2)),
        ("tf.linalg.set_diag({0}, {1}[0])", (2, 2), (2, 2)),
        ("tf.math.segment_mean({0}, [0, 0, 1])", (3, 2)),
        ("tf.math.segment_max({0}, [0, 0, 1])", (3, 2)),
        ("tf.math.unsorted_segment_sum({0}, [1, 0, 1], 2)", (3, 2)),
        ("tf.gather({0}, [[0, 2], [1, 1]], batch_dims=1)", (2, 3)),
        ("tf.einsum('ij,jk,kl->il', {0}, {1}, {2})", (2, 3), (3, 2), (2, 2)),
        ("{0}[:, ::2]", (2, 3)),
        ("{0}[..., :][-2:]", (3, 2)),
        ("tf.split({0}, [2, 1], axis=1)[0]", (2, 3)),
        ("tf.slice({0}, [1, 0], [2, 2])", (3, 2)),
        ("tf.math.top_k({0}, 2).values", (2, 3)),
    ],
}  # fmt: skip
"""By the shape of the result: expressions of tensors of given shapes."""

SIZED = ["tf.reduce_sum(tf.boolean_mask({0}, {0} > 0.1))",
         "tf.reduce_sum(tf.gather({0}, tf.where({0} > 0.2)[:, 0]))",
         "tf.reduce_sum({0}[: tf.cast(tf.reduce_sum(tf.abs({0})), tf.int32) % 3])",
         "tf.reduce_sum(tf.repeat({0}, tf.cast(tf.abs({0}) * 2.0, tf.int32)) ** 2)"]  # fmt: skip
"""Of vectors: what is computed on the way has a size that depends on values."""


@dataclass(frozen=True)
class Name:
    """A tensor of the program that is written."""

    text: str
    shape: tuple


class Expressions:
    """Writes expressions, chosen by `self.random`. `known` are the tensors that there are."""

    def pick(self, known, shape):
        """A tensor of this shape, whatever is at hand made to fit."""
        exact = [x for x in known if x.shape == shape]
        if exact and self.random.random() < 0.9:
            return self.random.choice(exact[-6:]).text
        return self.fitted(self.random.choice(known[-6:]), shape)

    def fitted(self, x, shape):
        if x.shape == shape:
            return x.text
        if not shape:
            return self.random.choice(REDUCED[:2] + REDUCED[4:5]).format(x.text)
        if not x.shape:
            return f"tf.fill({list(shape)}, {x.text})"
        total, wanted = int(np.prod(x.shape)), int(np.prod(shape))
        if total == wanted:
            if x.shape[::-1] == shape and self.random.random() < 0.5:
                return f"tf.transpose({x.text})"
            return f"tf.reshape({x.text}, {list(shape)})"
        flat = f"tf.reshape({x.text}, [-1])"
        if total > wanted:
            return f"tf.reshape({flat}[:{wanted}], {list(shape)})"
        places = [self.random.randrange(total) for _ in range(wanted)]
        return f"tf.reshape(tf.gather({flat}, {places}), {list(shape)})"

    def expression(self, known, shape, depth=2):
        chance = self.random.random()
        if depth == 0 or chance < 0.12:
            text = self.pick(known, shape)
            # (A second name of a variable would be one, which loops and += treat differently.)
            return f"{text} * 1.0" if text.startswith("x") else text
        if chance < 0.34:
            return self.random.choice(SMOOTH).format(self.operand(known, shape, depth))
        if chance < 0.42:
            return self.random.choice(KINKED).format(self.operand(known, shape, depth))
        if chance < 0.46:
            return self.random.choice(FLAT).format(self.pick(known, shape))
        if chance < 0.50:
            return self.random.choice(["0.7", "tf.constant(0.3, tf.float64)", "1.1"]) + (
                f" * {self.operand(known, shape, depth)}"
            )
        if chance < 0.60 and shape:
            return self.random.choice(ROWWISE).format(self.operand(known, shape, depth))
        if chance < 0.68 and len(shape) == 2:
            return self.product(known, shape, depth)
        if chance < 0.76:
            return self.reduction(known, shape, depth)
        if chance < 0.84 and shape in SHAPED:
            text, *shapes = self.random.choice(SHAPED[shape])
            return text.format(*[self.operand(known, source, depth) for source in shapes])
        return self.random.choice(BINARY if chance < 0.96 else PAIRED).format(
            self.operand(known, shape, depth), self.operand(known, shape, depth)
        )

    def operand(self, known, shape, depth):
        text = self.expression(known, shape, depth - 1)
        return text if text.isidentifier() else f"({text})"

    def product(self, known, shape, depth):
        inner = self.random.choice([2, 3])
        a = self.expression(known, (shape[0], inner), depth - 1)
        b = self.expression(known, (inner, shape[1]), depth - 1)
        return self.random.choice(
            [f"tf.matmul({a}, {b})", f"({a}) @ ({b})", f"tf.einsum('ij,jk->ik', {a}, {b})",
             f"tf.tensordot({a}, {b}, 1)"]
        )  # fmt: skip

    def reduction(self, known, shape, depth):
        """From a larger shape, over an axis; or over everything."""
        if not shape:
            source = self.random.choice(SHAPES[1:])
            return self.random.choice(REDUCED).format(self.operand(known, source, depth))
        if len(shape) == 1:
            x = self.expression(known, (2, *shape), depth - 1)
            kind = self.random.choice(["sum", "mean", "max", "logsumexp", "prod", "min"])
            return f"tf.reduce_{kind}({x}, axis=0)"
        row = self.expression(known, shape[1:], depth - 1)
        return f"tf.stack([{row}, {', '.join([self.pick(known, shape[1:])] * (shape[0] - 1))}])"

    def test(self, known):
        """A condition on tensors: no number is near enough to the limit to depend on rounding."""
        x = self.fitted(self.random.choice(known[-5:]), ())
        limit = f"{self.random.uniform(-0.9, 0.9):.2f}31"
        test = f"{x} {self.random.choice('<>')} {limit}"
        if self.random.random() < 0.2:
            y = self.fitted(self.random.choice(known), ())
            test = f"{test} {self.random.choice(['and', 'or'])} {y} < 0.4007"
        elif self.random.random() < 0.1:
            test = f"not {x} < {limit}"
        elif self.random.random() < 0.1:
            test = f"-1.507 < {x} < {limit}"
        return test

    def number(self, known, limit):
        """An integer tensor that depends on values, from 0 to below a limit."""
        x = self.fitted(self.random.choice(known[-5:]), ())
        return f"tf.cast(tf.abs({x}) * 2.7, tf.int32) % {limit}"

    def changeable(self, known):
        """The tensors that the program itself has given a name."""
        return [x for x in known if x.text.startswith("t") and x.text.isidentifier()]
