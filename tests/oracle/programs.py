"""Random programs as source text: Python that people might write, with TensorFlow's control flow.

A program takes tensors and variables, and returns a list of tensors. It is text, because AutoGraph
reads source, and because a person must be able to read one that fails. The same seed gives the same
text. The shapes of all tensors are known while it is written, so every program is valid; what a
loop hands on is squashed, so that numbers stay of the order of one.

    python tests/oracle/programs.py SEED        prints the program of a seed
"""

import random
import sys
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from oracle.expressions import SHAPES, SIZED, Expressions, Name
from oracle.statements import WIDER, Wider

WIDER_SEEDS = range(800_000, 900_000)
"""The programs of these seeds have the statements of `Wider` too."""


class Program(Expressions, Wider):
    """The program of a seed: `source`, a function `program(x0, ...)`, and `arrays` for it."""

    def __init__(self, seed):
        self.seed = seed
        self.function = None
        self.random = random.Random(seed)
        self.lines = []
        self.above = []
        self.depth = 1
        self.count = 0
        self.nesting = 0
        self.variables = []
        self.kinds = STATEMENTS | WIDER if seed in WIDER_SEEDS else STATEMENTS
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
        if self.random.random() < 0.15:
            self.write(f"if {self.test(known)}:")
            early = [self.expression(known, x.shape, 1) for x in known[-count:]]
            self.indented(self.write, f"return [{', '.join(early)}]")
        arguments = ", ".join([x.text for x in self.inputs])
        self.write(f"return [{', '.join(last)}]")
        head = f"def program({arguments}):"
        self.source = "\n".join([*self.above, head, *self.lines, ""])

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

    # Statements: each adds what it makes to `known`

    def statements(self, known, count):
        for _ in range(count):
            kinds = self.kinds if self.nesting < 2 else SIMPLE
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

    def while_true(self, known):
        """A loop that only `break` leaves, and whose rounds may be cut short."""
        state, number = self.started(known), self.name(())
        self.write(f"{number.text} = tf.constant({self.random.randint(0, 2)})")
        self.write("while True:")
        self.depth += 1
        self.write(f"{number.text} += 1")
        self.write(f"if {number.text} > {self.random.randint(1, 4)}:")
        self.indented(self.write, "break")
        if self.random.random() < 0.5:
            self.write(f"if {self.test([*known, state])}:")
            self.indented(self.write, "continue")
        self.write(f"{state.text} = tf.tanh({self.expression([*known, state], state.shape)})")
        self.depth -= 1

    def counted(self, known):
        """A loop over integers that values decide on, whose last state is a number too."""
        state, number, made = self.started(known), self.name(()), self.name(())
        self.write(f"{number.text} = {self.number(known, 3)}")
        self.write(f"while {number.text} < {self.random.randint(4, 9)}:")
        factor = self.random.choice(["2 * {0} + 1", "{0} + 2", "{0} + {0} // 2 + 1"])
        self.depth += 1
        self.write(f"{number.text} = {factor.format(number.text)}")
        if self.random.random() < 0.4:
            self.write(f"if {number.text} % 2 == 0:")
            self.indented(self.block, known, state, True)
        else:
            self.rounds(known, state, may_break=False)
        self.depth -= 1
        self.write(f"{made.text} = tf.cast({number.text}, tf.float64) * 0.2")
        known.append(made)

    def carried(self, known):
        """A loop whose state is a dict of tensors, or a tuple."""
        a, b = (self.name(self.random.choice(SHAPES)) for _ in range(2))
        state, number = f"d_{a.text}", f"i_{a.text}"
        pack, first, second = self.random.choice(
            [("{{'a': {}, 'b': ({},)}}", "{}['a']", "{}['b'][0]"),
             ("({}, [{}])", "{}[0]", "{}[1][0]")]
        )  # fmt: skip
        one, two = (f"1.0 * ({self.expression(known, x.shape, 1)})" for x in (a, b))
        self.write(f"{state} = {pack.format(one, two)}")
        self.write(f"for {number} in tf.range({self.random.randint(1, 3)}):")
        inside = [*known, Name(first.format(state), a.shape), Name(second.format(state), b.shape)]
        one, two = (f"tf.tanh({self.expression(inside, x.shape, 1)})" for x in (a, b))
        self.indented(self.write, f"{state} = {pack.format(one, two)}")
        self.write(f"{a.text}, {b.text} = {first.format(state)}, {second.format(state)}")
        known += [a, b]

    def for_range(self, known):
        state, number = self.started(known), self.name(())
        where = self.random.choice(["tf.range", "tf.range", "range"])
        limit = self.random.randint(1, 4)
        if where == "tf.range" and self.random.random() < 0.3:
            limit = self.number(known, 4)
        self.write(f"for {number.text} in {where}({limit}):")
        number = Name(f"tf.cast({number.text}, tf.float64)", ())
        # (A tensor cannot decide to leave a loop that Python unrolls.)
        self.indented(self.rounds, [*known, number], state, where != "range")

    def for_rows(self, known):
        rows = [x for x in known if len(x.shape) == 2]
        if not rows:
            return self.for_range(known)
        state, x = self.started(known), self.random.choice(rows)
        row = self.name(x.shape[1:])
        kind = self.random.choice(["plain", "plain", "enumerate", "zip"])
        if kind == "enumerate":
            self.write(f"for i_{row.text}, {row.text} in enumerate({x.text}):")
            known = [*known, Name(f"tf.cast(i_{row.text}, tf.float64)", ())]
        elif kind == "zip":
            self.write(f"for {row.text}, z_{row.text} in zip({x.text}, tf.sin({x.text})):")
            known = [*known, Name(f"z_{row.text}", row.shape)]
        else:
            self.write(f"for {row.text} in {x.text}:")
        # (A tensor cannot decide to leave a loop over Python's zip.)
        self.indented(self.rounds, [*known, row], state, kind == "plain")

    def collected(self, known):
        """A Python list, or a TensorArray, that a loop fills."""
        shape = self.random.choice(SHAPES[:2])
        size = self.random.choice([2, 3])
        number = self.name(())
        inside = [*known, Name(f"tf.cast({number.text}, tf.float64)", ())]
        made = self.name((size, *shape))
        kind = self.random.choice(["list", "rows", "rows", "comprehension", "read"])
        if kind == "comprehension":
            text = self.expression(inside, shape)
            self.write(f"{made.text} = tf.stack([{text} for {number.text} in range({size})])")
        elif kind == "read":
            row = Name(f"{number.text}_row", shape)
            self.write(f"{made.text}_from = tf.TensorArray(tf.float64, size={size})")
            text = self.expression(known, made.shape)
            self.write(f"{made.text}_from = {made.text}_from.unstack({text})")
            self.write(f"{made.text} = tf.zeros({[*made.shape]}, tf.float64)")
            self.write(f"for {number.text} in tf.range({size}):")
            self.depth += 1
            self.write(f"{row.text} = {made.text}_from.read({size - 1} - {number.text})")
            place = f"tf.one_hot({number.text}, {size}, dtype=tf.float64)"
            text = f"tf.tensordot({place}, {self.expression([*inside, row, row], shape)}, 0)"
            self.write(f"{made.text} = {made.text} + {text}")
            self.depth -= 1
        elif kind == "list":
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
        if self.random.random() < 0.2:
            self.write(f"for i in tf.range({self.random.randint(1, 3)}):")
            self.depth += 1
            number = Name("tf.cast(i, tf.float64)", ())
            self.write(f"if {self.test([*known, number])}:")
            self.indented(self.write, f"return {self.expression([*known, number], made.shape)}")
            self.depth -= 1
        elif self.random.random() < 0.4:
            self.write(f"if {self.test(known)}:")
            self.indented(self.write, f"return {self.expression(known, made.shape)}")
        self.write(f"return {self.expression(known, made.shape)}")

    def recursive(self, known):
        """A function that calls itself."""
        if self.nesting:  # in a branch, its name would have to be known in the other one
            return self.called(known)
        made = self.name(self.random.choice(SHAPES))
        f = f"f_{made.text}"
        inside = [*known, Name("a", made.shape), Name("a", made.shape)]
        self.write(f"def {f}(a, n):")
        self.indented(self.write, "if n == 0:")
        self.indented(self.indented, self.write, "return a")
        step = f"tf.tanh({self.expression(inside, made.shape, 1)})"
        self.indented(self.write, f"return {f}({step}, n - 1) + 0.1 * a")
        start = self.expression(known, made.shape, 1)
        self.write(f"{made.text} = {f}({start}, {self.random.randint(1, 3)})")
        known.append(made)

    def ternary(self, known):
        made = self.name(self.random.choice(SHAPES))
        one, two = (self.expression(known, made.shape, 1) for _ in range(2))
        self.write(f"{made.text} = {one} if {self.test(known)} else {two}")
        known.append(made)

    def sized(self, known):
        """What has a size that depends on values."""
        made = self.name(())
        text = self.random.choice(SIZED).format(self.operand(known, (3,), 1))
        self.write(f"{made.text} = {text}")
        known.append(made)

    def custom_gradient(self, known):
        made = self.name(self.random.choice(SHAPES))
        f, x = f"f_{made.text}", f"a_{made.text}"
        self.write("@tf.custom_gradient")
        self.write(f"def {f}({x}):")
        rule = self.random.choice([f"g * tf.cos({x})", "2.0 * g", f"g * {x}", "tf.tanh(g)"])
        self.indented(self.write, f"return tf.sin({x}) * 1.0, lambda g: {rule}")
        self.write(f"{made.text} = {f}({self.expression(known, made.shape, 1)})")
        known.append(made)

    def custom_gradient_of_two(self, known):
        """With something kept for the way back."""
        made = self.name(self.random.choice(SHAPES))
        f, a, b = (f"{letter}_{made.text}" for letter in "fab")
        self.write("@tf.custom_gradient")
        self.write(f"def {f}({a}, {b}):")
        self.depth += 1
        # (Of its arguments alone: for variables a rule has another signature.)
        self.write(f"kept = {self.expression([Name(a, made.shape)], made.shape, 1)}")
        self.write("def back(g):")
        # (Of no cotangent they make none: that of a branch that is not taken is zeros.)
        rules = [f"g * {b} * kept", f"tf.where({a} > {b}, g, 0.5 * g)", "g * kept"]
        first = self.random.choice(rules)
        self.indented(self.write, f"return {first}, {self.random.choice(rules)}")
        self.write(f"return {a} * {b}, back")
        self.depth -= 1
        x, y = (self.expression(known, made.shape, 1) for _ in range(2))
        self.write(f"{made.text} = {f}({x}, {y})")
        known.append(made)

    def tape_inside(self, known):
        x = self.name(self.random.choice(SHAPES))
        made, tape = self.name(x.shape), f"g_{x.text}"
        # (A tensor of its own: whether a branch gives the very tensor that is watched, or one equal
        # to it, is not the same in compiled code.)
        self.write(f"{x.text} = 1.0 * ({self.expression(known, x.shape, 1)})")
        kind = self.random.choice(["once", "once", "persistent", "nested", "jacobian", "paused"])
        text = self.expression([*known, x], x.shape)
        persistent = "persistent=True" if kind == "persistent" else ""
        self.write(f"with tf.GradientTape({persistent}) as {tape}:")
        self.depth += 1
        self.write(f"{tape}.watch({x.text})")
        if kind == "nested":
            self.write(f"with tf.GradientTape() as {tape}_inner:")
            self.indented(self.write, f"{tape}_inner.watch({x.text})")
            self.indented(self.write, f"{made.text} = tf.sin({x.text}) * ({text})")
            self.write(f"{made.text} = {tape}_inner.gradient({made.text}, {x.text})")
        else:
            self.write(f"{made.text} = tf.sin({x.text}) * ({text})")
        if kind == "paused":
            self.write(f"with {tape}.stop_recording():")
            self.indented(self.write, f"{made.text}_aside = tf.cos({x.text})")
            self.write(f"{made.text} = {made.text} * {made.text}_aside")
        self.depth -= 1
        if kind == "persistent":
            self.write(f"{made.text}_more = {tape}.gradient({made.text} ** 2, {x.text})")
            self.write(
                f"{made.text} = {tape}.gradient({made.text}, {x.text}, tf.cos({x.text})) + "
                f"(0.0 if {made.text}_more is None else {made.text}_more)"
            )
        elif kind == "jacobian":
            axes = list(range(len(x.shape)))
            self.write(
                f"{made.text} = tf.reduce_sum({tape}.jacobian({made.text}, {x.text}) ** 2, {axes})"
            )
        elif kind == "nested":
            zero = "unconnected_gradients=tf.UnconnectedGradients.ZERO"
            self.write(f"{made.text} = {tape}.gradient({made.text}, {x.text}, {zero})")
        else:
            self.write(f"{made.text} = {tape}.gradient({made.text}, {x.text})")
        known.append(made)

    def forward_mode(self, known):
        x = self.name(self.random.choice(SHAPES))
        made = self.name(x.shape)
        self.write(f"{x.text} = 1.0 * ({self.expression(known, x.shape, 1)})")
        tangent = f"1.0 * ({self.expression(known, x.shape, 1)})"
        self.write(f"with tf.autodiff.ForwardAccumulator({x.text}, {tangent}) as f_{x.text}:")
        text = self.expression([*known, x], x.shape, 1)
        self.indented(self.write, f"{made.text} = tf.sin({x.text}) * ({text})")
        self.write(f"{made.text} = f_{x.text}.jvp({made.text})")
        known.append(made)

    def forms(self, known):
        """Control flow as functions."""
        made = self.name(self.random.choice(SHAPES))
        kind = self.random.choice(["cond", "while", "map", "scan", "switch", "foldl", "vectorized"])
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
            if kind == "vectorized":
                text = f"tf.vectorized_map(lambda r: {body}, {elements})"
            elif kind == "map":
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
        if v.shape and self.random.random() < 0.3:
            row = self.random.randrange(v.shape[0])
            text = self.expression(known, v.shape[1:], 1)
            self.write(f"{v.text}[{row}].assign(tf.tanh({text}))")
        else:
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
            place = f"tf.one_hot(tf.argmax({x.text}), {x.shape[0]}, dtype=tf.float64)"
            more = f"tf.reduce_sum({x.text} * {place})"
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
    Program.ternary: 0.7,
    Program.while_loop: 2,
    Program.while_true: 1,
    Program.counted: 1,
    Program.carried: 1,
    Program.for_range: 2,
    Program.for_rows: 1,
    Program.collected: 1.5,
    Program.called: 1.5,
    Program.recursive: 0.5,
    Program.custom_gradient: 0.7,
    Program.custom_gradient_of_two: 0.5,
    Program.tape_inside: 1.2,
    Program.forward_mode: 0.3,
    Program.sized: 0.1,
    Program.forms: 2,
    Program.assigned: 1.2,
}


if __name__ == "__main__":
    print(Program(int(sys.argv[1])).source)
