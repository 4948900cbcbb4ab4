"""Random programs as source text: Python that people might write, with TensorFlow's control flow.

A program takes tensors and variables, and returns a list of tensors. It is text, because AutoGraph
reads source, and because a person must be able to read one that fails. The same seed gives the same
text. The shapes of all tensors are known while it is written, so every program is valid; what a
loop hands on is squashed, so that numbers stay of the order of one.

    python tests/oracle/programs.py SEED        prints the program of a seed
"""

import random
import sys
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


@dataclass(frozen=True)
class Name:
    """A tensor of the program that is written."""

    text: str
    shape: tuple


class Program:
    """The program of a seed: `source`, a function `program(x0, ...)`, and `arrays` for it."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 1
        self.count = 0
        self.nesting = 0
        self.variables = []
        draw = np.random.default_rng(seed)
        shapes = [self.random.choice(SHAPES) for _ in range(self.random.randint(2, 4))]
        self.is_variable = [self.random.random() < 0.35 for _ in shapes]
        self.arrays = [np.asarray(draw.normal(size=shape) * 0.8) for shape in shapes]
        self.inputs = [Name(f"x{i}", shape) for i, shape in enumerate(shapes)]
        known = list(self.inputs)
        self.variables = [x for x, is_one in zip(known, self.is_variable, strict=True) if is_one]
        self.statements(known, self.random.randint(3, 7))
        count = min(len(known), self.random.randint(1, 3))
        last = [x.text for x in known[-count:]]
        arguments = ", ".join([x.text for x in self.inputs])
        self.source = "\n".join(
            [f"def program({arguments}):", *self.lines, f"    return [{', '.join(last)}]", ""]
        )

    # Text

    def write(self, line):
        self.lines.append("    " * self.depth + line)

    def name(self, shape):
        self.count += 1
        return Name(f"t{self.count}", shape)

    def indented(self, action, *arguments):
        self.depth += 1
        self.nesting += 1
        try:
            return action(*arguments)
        finally:
            self.depth -= 1
            self.nesting -= 1

    # Expressions: each returns the text of an expression of a shape

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
        return self.random.choice(BINARY).format(
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
        return test

    def changeable(self, known):
        """The tensors that the program itself has given a name."""
        return [x for x in known if x.text.startswith("t") and x.text.isidentifier()]

    # Statements: each adds what it makes to `known`

    def statements(self, known, count):
        for _ in range(count):
            kinds = STATEMENTS if self.nesting < 2 else SIMPLE
            self.random.choices(list(kinds), list(kinds.values()))[0](self, known)

    def assignment(self, known):
        shape = self.random.choice(SHAPES)
        made = self.name(shape)
        self.write(f"{made.text} = {self.expression(known, shape)}")
        known.append(made)

    def augmented(self, known):
        made = self.changeable(known)
        if not made:
            return self.assignment(known)
        x = self.random.choice(made)
        self.write(f"{x.text} {self.random.choice('+-*')}= {self.expression(known, x.shape, 1)}")

    def branch(self, known):
        made = self.name(self.random.choice(SHAPES))
        self.write(f"if {self.test(known)}:")
        self.indented(self.block, known, made)
        if self.random.random() < 0.3:
            self.write(f"elif {self.test(known)}:")
            self.indented(self.block, known, made)
        self.write("else:")
        self.indented(self.block, known, made)
        known.append(made)

    def block(self, known, made, squash=False):
        """Some statements, the last of which gives `made` its value."""
        inside = list(known)
        self.statements(inside, self.random.randint(0, 2))
        text = self.expression(inside, made.shape)
        self.write(f"{made.text} = tf.tanh({text})" if squash else f"{made.text} = {text}")

    def branch_changing(self, known):
        """An `if` without an `else`, that changes what is there."""
        made = self.changeable(known)
        if not made:
            return self.branch(known)
        self.write(f"if {self.test(known)}:")
        self.indented(self.block, known, self.random.choice(made))

    def started(self, known):
        """A tensor that a loop changes."""
        state = self.name(self.random.choice(SHAPES))
        self.write(f"{state.text} = {self.expression(known, state.shape, 1)}")
        known.append(state)
        return state

    def rounds(self, known, state, may_break=True):
        if may_break and self.random.random() < 0.25:
            self.write(f"if {self.test([*known, state])}:")
            self.indented(self.write, self.random.choice(["break", "continue"]))
            # (What follows runs under a condition, where names that are new are refused.)
            self.write(f"{state.text} = tf.tanh({self.expression([*known, state], state.shape)})")
        else:
            self.block(known, state, squash=True)

    def while_loop(self, known):
        state, number = self.started(known), self.name(())
        limit = self.random.randint(1, 4)
        self.write(f"{number.text} = tf.constant(0)")
        test = f"{number.text} < {limit}"
        if self.random.random() < 0.4:
            test += f" and tf.reduce_sum({state.text}) < {self.random.uniform(0.5, 3):.3f}"
        self.write(f"while {test}:")
        self.indented(self.write, f"{number.text} += 1")
        self.indented(self.rounds, known, state)

    def for_range(self, known):
        state, number = self.started(known), self.name(())
        where = self.random.choice(["tf.range", "tf.range", "range"])
        self.write(f"for {number.text} in {where}({self.random.randint(1, 4)}):")
        number = Name(f"tf.cast({number.text}, tf.float64)", ())
        # (A tensor cannot decide to leave a loop that Python unrolls.)
        self.indented(self.rounds, [*known, number], state, where != "range")

    def for_rows(self, known):
        rows = [x for x in known if len(x.shape) == 2]
        if not rows:
            return self.for_range(known)
        state, x = self.started(known), self.random.choice(rows)
        row = self.name(x.shape[1:])
        self.write(f"for {row.text} in {x.text}:")
        self.indented(self.rounds, [*known, row], state)

    def collected(self, known):
        """A Python list, or a TensorArray, that a loop fills."""
        shape = self.random.choice(SHAPES[:2])
        size = self.random.choice([2, 3])
        number = self.name(())
        inside = [*known, Name(f"tf.cast({number.text}, tf.float64)", ())]
        made = self.name((size, *shape))
        if self.random.random() < 0.5:
            self.write(f"{made.text}_list = []")
            self.write(f"for {number.text} in range({size}):")
            self.indented(self.write, f"{made.text}_list.append({self.expression(inside, shape)})")
            self.write(f"{made.text} = tf.stack({made.text}_list)")
        else:
            self.write(f"{made.text}_rows = tf.TensorArray(tf.float64, size={size})")
            self.write(f"for {number.text} in tf.range({size}):")
            text = self.expression(inside, shape)
            self.indented(
                self.write, f"{made.text}_rows = {made.text}_rows.write({number.text}, {text})"
            )
            self.write(f"{made.text} = {made.text}_rows.stack()")
        known.append(made)

    def called(self, known):
        """A function inside, which may return early."""
        made = self.name(self.random.choice(SHAPES))
        parameter = self.name(self.random.choice(SHAPES))
        if self.random.random() < 0.15:
            self.write(self.random.choice(["@tf.recompute_grad", "@tf.function"]))
        self.write(f"def f_{made.text}({parameter.text}):")
        self.indented(self.function_body, [*known, parameter], made)
        self.write(f"{made.text} = f_{made.text}({self.pick(known, parameter.shape)})")
        known.append(made)

    def function_body(self, known, made):
        # (No statements: to assign a name of the function around would make it local.)
        if self.random.random() < 0.4:
            self.write(f"if {self.test(known)}:")
            self.indented(self.write, f"return {self.expression(known, made.shape)}")
        self.write(f"return {self.expression(known, made.shape)}")

    def custom_gradient(self, known):
        made = self.name(self.random.choice(SHAPES))
        f, x = f"f_{made.text}", f"a_{made.text}"
        self.write("@tf.custom_gradient")
        self.write(f"def {f}({x}):")
        rule = self.random.choice([f"g * tf.cos({x})", "2.0 * g", f"g * {x}", "tf.tanh(g)"])
        self.indented(self.write, f"return tf.sin({x}) * 1.0, lambda g: {rule}")
        self.write(f"{made.text} = {f}({self.expression(known, made.shape, 1)})")
        known.append(made)

    def tape_inside(self, known):
        x = self.name(self.random.choice(SHAPES))
        made, tape = self.name(x.shape), f"g_{x.text}"
        self.write(f"{x.text} = {self.expression(known, x.shape, 1)}")
        self.write(f"with tf.GradientTape() as {tape}:")
        self.indented(self.write, f"{tape}.watch({x.text})")
        text = self.expression([*known, x], x.shape)
        self.indented(self.write, f"{made.text} = tf.sin({x.text}) * ({text})")
        self.write(f"{made.text} = {tape}.gradient({made.text}, {x.text})")
        known.append(made)

    def forms(self, known):
        """Control flow as functions."""
        made = self.name(self.random.choice(SHAPES))
        kind = self.random.choice(["cond", "while", "map", "scan", "switch", "foldl"])
        one, two = (self.expression(known, made.shape, 1) for _ in range(2))
        if kind == "cond":
            text = f"tf.cond({self.fitted(known[-1], ())} < 0.2003, lambda: {one}, lambda: {two})"
        elif kind == "switch":
            index = f"tf.cast(tf.abs(4.0 * {self.fitted(known[-1], ())}), tf.int32) % 2"
            text = f"tf.switch_case({index}, [lambda: {one}, lambda: {two}])"
        elif kind == "while":
            state = Name("s", made.shape)
            body = self.expression([*known, state, state], made.shape, 1)
            text = (
                f"tf.while_loop(lambda i, s: i < {self.random.randint(1, 3)}, lambda i, s: "
                f"(i + 1, tf.tanh({body})), (tf.constant(0), {one}))[1]"
            )
        else:
            made = self.name((self.random.choice([2, 3]), *self.random.choice(SHAPES[:2])))
            row = Name("r", made.shape[1:])
            elements = self.expression(known, made.shape, 1)
            start = self.expression(known, row.shape, 1)
            state = Name("s", row.shape)
            body = self.expression([*known, row, row], row.shape, 1)
            step = self.expression([*known, row, state, state], row.shape, 1)
            if kind == "map":
                text = f"tf.map_fn(lambda r: {body}, {elements})"
            elif kind == "scan":
                text = f"tf.scan(lambda s, r: tf.tanh({step}), {elements}, {start})"
            else:
                made = Name(made.text, row.shape)
                text = f"tf.foldl(lambda s, r: tf.tanh({step}), {elements}, {start})"
        self.write(f"{made.text} = {text}")
        known.append(made)

    def assigned(self, known):
        """A variable gets another value."""
        if not self.variables:
            return self.assignment(known)
        v = self.random.choice(self.variables)
        how = self.random.choice(["assign", "assign_add", "assign_sub"])
        self.write(f"{v.text}.{how}(tf.tanh({self.expression(known, v.shape, 1)}))")
        if self.random.random() < 0.5:
            made = self.name(v.shape)
            self.write(f"{made.text} = {v.text} * 1.0")
            known.append(made)

    def chosen(self, known):
        """Indices that depend on values."""
        rows = [x for x in known if x.shape]
        if not rows:
            return self.assignment(known)
        x = self.random.choice(rows)
        made = self.name(x.shape[1:])
        index = self.fitted(self.random.choice(known), ())
        index = f"tf.cast(tf.abs({index}) * 2.7, tf.int32) % {x.shape[0]}"
        text = self.random.choice([f"tf.gather({x.text}, {index})", f"{x.text}[{index}]"])
        if len(x.shape) == 1:
            more = f"tf.reduce_sum({x.text} * tf.one_hot(tf.argmax({x.text}), 3, dtype=tf.float64))"
            text = self.random.choice([text, more, f"tf.math.top_k({x.text}, 2).values[1]"])
        self.write(f"{made.text} = {text}")
        known.append(made)

    def structured(self, known):
        """Dicts and tuples of tensors."""
        a, b = self.name(self.random.choice(SHAPES)), self.name(self.random.choice(SHAPES))
        self.write(
            f"d_{a.text} = {{'a': {self.expression(known, a.shape)}, "
            f"'b': ({self.expression(known, b.shape)}, 1.5)}}"
        )
        self.write(f"{a.text}, ({b.text}, _) = d_{a.text}['a'], d_{a.text}['b']")
        known += [a, b]


SIMPLE = {Program.assignment: 6, Program.augmented: 2, Program.chosen: 1, Program.structured: 0.5}
STATEMENTS = SIMPLE | {
    Program.branch: 2.5,
    Program.branch_changing: 1.5,
    Program.while_loop: 2,
    Program.for_range: 2,
    Program.for_rows: 1,
    Program.collected: 1.5,
    Program.called: 1.5,
    Program.custom_gradient: 0.7,
    Program.tape_inside: 0.7,
    Program.forms: 2,
    Program.assigned: 1.2,
}


if __name__ == "__main__":
    print(Program(int(sys.argv[1])).source)
