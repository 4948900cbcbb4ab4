"""More statements of random programs: control flow as people write it, whatever is easy to trace.

The programs of `WIDER_SEEDS` have these too (programs.py). Many of them AutoGraph in
TensorFlow refuses; eager TensorFlow runs them all, and says what they give.
"""

from oracle.expressions import SHAPES, Name

SINGLE = "single_"
"""How names of float32 tensors begin: a program with one is right to fewer digits."""

ZERO = "unconnected_gradients=tf.UnconnectedGradients.ZERO"
PLAIN_NUMBERS = [
    "abs({0})", "sum([{0}, {1}, {0}])", "{0} * len([{1}, 1.0])", "pow({0}, 2) * 0.3",
    "sum(a * b for a, b in zip([{0}, {1}], [0.3, 0.4]))", "[{0}, {1}][len([{0}]) - 1] * 1.0",
    "sum(map(lambda a: 0.5 * a, [{0}, {1}]))", "list(reversed([{0}, {1}]))[0] * 1.0",
    "max(2, 1) * {0}", "{{k: v * 0.5 for k, v in {{'a': {0}, 'b': {1}}}.items()}}['b']",
    "(lambda a, *more, k=0.5: a * k + more[0])({0}, {1})", "{0}.__mul__({1})",
    "dict(a={0}, b={1}).get('b', {0}) * 1.0", "sum([*({0}, {1}), {0}])",
]  # fmt: skip
"""Of two tensors of any shape: what Python itself offers."""

LEFT_AS_THEY_ARE = {
    "for": """\
    for i in range({0}):
        if i == 1:
            result = one * 0.5
            break
    else:
        result = two * 0.5
""",
    "while": """\
    i = {0}
    while i < 2:
        i += 1
        result = one * 0.5
    else:
        result = two * 0.5
""",
    "match": """\
    match {{'k': {0}}}:
        case {{'k': 0}}:
            result = one * 0.5
        case _:
            result = two * 0.5
""",
}
"""Bodies of functions that AutoGraph does not convert."""


class Wider:
    """Statements of `Program`."""

    def over(self, known):
        """The head of a loop, what its rounds know, and its counter (None: it has none)."""
        number = self.name(()).text
        rows = [x for x in known if len(x.shape) == 2]
        kinds = ["range", "range", "down", "valued", "python", "data range"]
        kinds += ["rows", "data", "mapped", "numbered", "batches"] if rows else []
        kind = self.random.choice(kinds)
        size = self.random.randint(1, 4)
        counter = Name(f"tf.cast({number}, tf.float64)", ())
        if kind in ("range", "down", "valued", "python", "data range"):
            head = {
                "range": f"tf.range({size})",
                "down": f"tf.range({size}, -1, -1)",
                "valued": f"tf.range({self.number(known, 4)})",
                "python": f"range({size})",
                "data range": f"tf.data.Dataset.range({size})",
            }[kind]
            return f"for {number} in {head}:", [*known, counter], number, kind
        x = self.random.choice(rows)
        row = Name(f"r_{number}", x.shape[1:])
        if kind == "rows":
            return f"for {row.text} in {x.text}:", [*known, row, row], None, kind
        source = f"{x.text} * 1.0"
        if self.random.random() < 0.9:  # (A function with a dataset of what it computes is plain.)
            numbers = [[round(self.random.uniform(-1, 1), 2) for _ in range(x.shape[1])]
                       for _ in range(x.shape[0])]  # fmt: skip
            source = f"tf.constant({numbers}, tf.float64)"
        data = f"tf.data.Dataset.from_tensor_slices({source})"
        if kind == "mapped":
            data += f".map(lambda a: {self.expression([Name('a', row.shape)], row.shape, 1)})"
        if kind == "batches":
            data += f".batch({x.shape[0]}, drop_remainder=True)"
            row = Name(row.text, x.shape)
        if kind == "numbered":
            head = f"for {number}, {row.text} in {data}.enumerate():"
            return head, [*known, counter, row], number, kind
        return f"for {row.text} in {data}:", [*known, row, row], None, kind

    def decision(self, known, number):
        """A test, which may ask for the round: nothing but the first one is known of that."""
        if number is None or self.random.random() < 0.4:
            return self.test(known)
        test = f"{number} {self.random.choice(['==', '>', '>=', '<'])} {self.random.randint(0, 2)}"
        if self.random.random() < 0.4:
            test += f" {self.random.choice(['and', 'or'])} {self.test(known)}"
        return test

    def step(self, known, state):
        self.write(f"{state.text} = tf.tanh({self.expression([*known, state], state.shape)})")

    def leaving(self, known):
        """A loop with `break` and `continue` at any place, twice, or within another loop."""
        state = self.started(known)
        head, inside, number, kind = self.over(known)
        self.write(head)
        self.depth += 1
        # (A tensor cannot decide to leave a loop that Python unrolls.)
        words = ["continue"] if kind == "python" else ["break", "continue"]
        if self.random.random() < 0.5:
            self.step(inside, state)
        for _ in range(self.random.randint(1, 2)):
            self.write(f"if {self.decision([*inside, state], number)}:")
            self.depth += 1
            if self.random.random() < 0.4:
                self.step(inside, state)
            self.write(self.random.choice(words))
            self.depth -= 1
        if self.random.random() < 0.3:
            self.write(f"for j_{state.text} in tf.range({self.random.randint(1, 3)}):")
            self.depth += 1
            self.step([*inside, Name(f"tf.cast(j_{state.text}, tf.float64)", ())], state)
            self.write(f"if {self.decision([*inside, state], f'j_{state.text}')}:")
            self.indented(self.write, "break")
            self.depth -= 1
        self.step(inside, state)
        self.depth -= 1

    def returning(self, known):
        """A function that returns from a loop, with what the rounds before have made."""
        made = self.name(self.random.choice(SHAPES))
        state = Name(f"s_{made.text}", self.random.choice(SHAPES))
        start = self.expression(known, state.shape, 1)
        self.write(f"def f_{made.text}({state.text}):")
        self.depth += 1
        head, inside, number, kind = self.over(known)
        if kind == "python":
            head = head.replace("range", "tf.range")
        self.write(head)
        self.depth += 1
        inside = [*inside, state]
        if self.random.random() < 0.6:
            self.step(inside, state)
        if self.random.random() < 0.25:
            inner = f"j_{made.text}"
            self.write(f"for {inner} in tf.range({self.random.randint(1, 3)}):")
            self.depth += 1
            inside = [*inside, Name(f"tf.cast({inner}, tf.float64)", ())]
            self.write(f"if {self.decision(inside, inner)}:")
            self.indented(self.write, f"return {self.expression(inside, made.shape)}")
            self.depth -= 1
            inside = inside[:-1]
        else:
            self.write(f"if {self.decision(inside, number)}:")
            self.indented(self.write, f"return {self.expression(inside, made.shape)}")
            if self.random.random() < 0.3:
                self.write(f"elif {self.decision(inside, number)}:")
                word = self.random.choice(["continue", "break", "return"])
                if word == "return":
                    word += f" {self.expression(inside, made.shape)}"
                self.indented(self.write, word)
        self.step(inside, state)
        self.depth -= 1
        after = [*known, state, state]
        if self.random.random() < 0.3:
            self.write(f"if {self.test(after)}:")
            self.indented(self.write, f"return {self.expression(after, made.shape)}")
        self.write(f"return {self.expression(after, made.shape)}")
        self.depth -= 1
        self.write(f"{made.text} = f_{made.text}({start})")
        known.append(made)

    def flagged(self, known):
        """A loop that a boolean ends."""
        state, number, made = self.started(known), self.name(()), self.name(())
        flag = f"b_{state.text}"
        self.write(f"{flag}, {number.text} = tf.constant(False), 0")
        self.write(f"{number.text} = tf.constant(0, tf.{self.random.choice(['int32', 'int64'])})")
        self.write(f"while not {flag} and {number.text} < {self.random.randint(1, 5)}:")
        self.depth += 1
        self.write(f"{number.text} = {number.text} + 1")
        self.step(known, state)
        if self.random.random() < 0.5:
            limit = self.random.uniform(-0.5, 1)
            self.write(f"{flag} = tf.reduce_sum({state.text}) > {limit:.2f}31")
        else:
            self.write(f"if {self.decision([*known, state], number.text)}:")
            self.indented(self.write, f"{flag} = tf.constant(True)")
        self.depth -= 1
        text = f"tf.cast({flag}, tf.float64) + 0.2 * tf.cast({number.text}, tf.float64)"
        self.write(f"{made.text} = {text}")
        known.append(made)

    def first_bound(self, known):
        """Names that a loop, or a branch, is the first to bind, and that are read after it."""
        a, b = (self.name(self.random.choice(SHAPES)) for _ in range(2))
        inside = known
        kind = self.random.choice(["loop", "while", "branch"])
        if kind == "loop":
            number = self.name(()).text
            self.write(f"for {number} in tf.range({self.random.randint(1, 3)}):")
            inside = [*known, Name(f"tf.cast({number}, tf.float64)", ())]
        elif kind == "while":
            number = self.name(()).text
            self.write(f"{number} = tf.constant(0)")
            self.write(f"while {number} < {self.random.randint(1, 3)}:")
            self.indented(self.write, f"{number} += 1")
        else:
            self.write(f"if {self.test(known)}:")
            self.indented(self.write, f"{b.text} = {self.expression(known, b.shape)}")
            self.indented(self.write, f"{a.text} = {self.expression([*known, b], a.shape)}")
            self.write("else:")
        self.indented(self.write, f"{a.text} = {self.expression(inside, a.shape)}")
        self.indented(self.write, f"{b.text} = {self.expression([*inside, a], b.shape)}")
        if kind == "loop" and self.random.random() < 0.3:
            made = self.name(())
            self.write(f"{made.text} = tf.cast({number}, tf.float64) * 0.3")
            known.append(made)
        known += [a, b]

    def changed_variable(self, known):
        """A variable that rounds change, under a condition, and that is read within and after."""
        if not self.variables:
            return self.leaving(known)
        v, state = self.random.choice(self.variables), self.started(known)
        head, inside, number, kind = self.over(known)
        self.write(head)
        self.depth += 1
        inside = [*inside, state, v]
        how = self.random.choice(["assign", "assign_add", "assign_sub"])
        change = f"{v.text}.{how}(tf.tanh({self.expression(inside, v.shape, 1)}))"
        if self.random.random() < 0.6:
            self.write(f"if {self.decision(inside, number)}:")
            self.indented(self.write, change)
            if kind != "python" and self.random.random() < 0.4:
                self.indented(self.write, self.random.choice(["break", "continue"]))
        else:
            self.write(change)
        self.step(inside, state)
        self.depth -= 1
        made = self.name(v.shape)
        self.write(f"{made.text} = {v.text} * 0.5")
        known.append(made)

    def items(self, known):
        """Items of a dict or a list, or attributes, that a loop or a branch changes."""
        a, b = (self.name(self.random.choice(SHAPES)) for _ in range(2))
        d = f"d_{a.text}"
        one, two = (f"1.0 * ({self.expression(known, x.shape, 1)})" for x in (a, b))
        kind = self.random.choice(["dict", "list", "attribute", "nested"])
        if kind == "attribute":
            self.write(f"{d} = tf.Module()")
            self.write(f"{d}.a, {d}.b = {one}, {two}")
            first, second = f"{d}.a", f"{d}.b"
        else:
            pack, first, second = {
                "dict": ("{{'a': {}, 'b': {}}}", f"{d}['a']", f"{d}['b']"),
                "list": ("[{}, {}]", f"{d}[0]", f"{d}[1]"),
                "nested": ("{{'a': [{}], 'b': {{'c': {}}}}}", f"{d}['a'][0]", f"{d}['b']['c']"),
            }[kind]
            self.write(f"{d} = {pack.format(one, two)}")
        head, inside, number, _ = self.over(known)
        if self.random.random() < 0.3:
            head, inside, number = f"if {self.test(known)}:", known, None
        self.write(head)
        self.depth += 1
        inside = [*inside, Name(first, a.shape), Name(second, b.shape)]
        if self.random.random() < 0.3:
            self.write(f"if {self.decision(inside, number)}:")
            self.indented(self.write, f"{first} = tf.tanh({self.expression(inside, a.shape)})")
        else:
            self.write(f"{first} = tf.tanh({self.expression(inside, a.shape)})")
        self.write(f"{second} = tf.tanh({self.expression(inside, b.shape)})")
        self.depth -= 1
        self.write(f"{a.text}, {b.text} = {first}, {second}")
        known += [a, b]

    def appended(self, known):
        """A list that grows in a loop over a tensor."""
        shape = self.random.choice(SHAPES[:2])
        size = self.random.randint(1, 3)
        made, number = self.name((size, *shape)), self.name(())
        inside = [*known, Name(f"tf.cast({number.text}, tf.float64)", ())]
        self.write(f"{made.text}_list = []")
        self.write(f"for {number.text} in range({size}):")
        self.depth += 1
        self.write(f"if {self.decision(inside, number.text)}:")
        self.indented(self.write, f"a_{made.text} = {self.expression(inside, shape)}")
        self.write("else:")
        self.indented(self.write, f"a_{made.text} = {self.expression(inside, shape)}")
        self.write(f"{made.text}_list.append(a_{made.text})")
        self.depth -= 1
        self.write(f"{made.text} = tf.stack({made.text}_list)")
        known.append(made)

    def tape_around(self, known):
        """A tape around control flow."""
        x = self.name(self.random.choice(SHAPES))
        made = self.name(x.shape)
        tape, y = f"g_{x.text}", Name(f"y_{x.text}", x.shape)
        kind = self.random.choice(["once", "twice", "nested", "jacobian", "batch", "weighted"])
        if kind == "batch" and len(x.shape) != 2:
            kind = "jacobian"
        self.write(f"{x.text} = 1.0 * ({self.expression(known, x.shape, 1)})")
        options = "persistent=True" if kind in ("twice", "jacobian") else ""
        self.write(f"with tf.GradientTape({options}) as {tape}:")
        self.depth += 1
        self.write(f"{tape}.watch({x.text})")
        if kind == "nested":
            self.write(f"with tf.GradientTape() as {tape}_inner:")
            self.depth += 1
            self.write(f"{tape}_inner.watch({x.text})")
        self.write(f"{y.text} = {x.text} * {self.random.uniform(0.3, 1.2):.2f}")
        head, inside, number, _ = self.over(known)
        if self.random.random() < 0.3:
            head, inside, number = f"if {self.test([*known, x])}:", known, None
        self.write(head)
        self.depth += 1
        inside = [*inside, x, y, y]
        if self.random.random() < 0.4:
            self.write(f"if {self.decision(inside, number)}:")
            self.indented(self.step, inside, y)
        self.step(inside, y)
        self.depth -= 1
        if kind == "nested":
            self.depth -= 1
            self.write(f"{y.text} = {tape}_inner.gradient({y.text}, {x.text}, {ZERO})")
        self.depth -= 1
        if kind == "jacobian":
            text = f"{tape}.jacobian({y.text}, {x.text}, {ZERO})"
            text = f"tf.reduce_sum({text} ** 2, {list(range(len(x.shape)))})"
        elif kind == "batch":
            # (Of what keeps its rows apart.)
            text = f"tf.reduce_sum({tape}.gradient({y.text}, {x.text}, {ZERO}), -1, keepdims=True)"
            text = f"{text} * {x.text}"
        elif kind == "weighted":
            text = f"{tape}.gradient({y.text}, {x.text}, tf.cos({x.text}), {ZERO})"
        else:
            text = f"{tape}.gradient({y.text}, {x.text}, {ZERO})"
        if kind == "twice":
            text += f" + 0.5 * {tape}.gradient(tf.reduce_sum({y.text}), {x.text}, {ZERO})"
        self.write(f"{made.text} = tf.tanh({text})")
        known.append(made)

    def descent(self, known):
        """Steps down a slope: a tape in each round, and what came of it the state of the next."""
        state = self.started(known)
        tape, loss = f"g_{state.text}", f"l_{state.text}"
        head, inside, number, kind = self.over(known)
        self.write(head)
        self.depth += 1
        self.write(f"with tf.GradientTape() as {tape}:")
        self.depth += 1
        self.write(f"{tape}.watch({state.text})")
        text = self.expression([*inside, state, state], state.shape, 1)
        self.write(f"{loss} = tf.reduce_sum(tf.sin({state.text}) * ({text}))")
        self.depth -= 1
        text = f"tf.tanh({state.text} - 0.3 * {tape}.gradient({loss}, {state.text}))"
        if kind != "python" and self.random.random() < 0.4:
            self.write(f"if {self.decision([*inside, state], number)}:")
            self.indented(self.write, self.random.choice(["break", "continue"]))
        self.write(f"{state.text} = {text}")
        self.depth -= 1

    def integers(self, known):
        """Arithmetic on integers, and decisions by them."""
        n, m = self.name(()).text, self.name(()).text
        made = self.name(())
        kind = self.random.choice(["int32", "int64"])
        self.write(f"{n} = tf.cast({self.number(known, 5)}, tf.{kind}) + 4")
        self.write(f"{m} = tf.cast({self.number(known, 3)}, tf.{kind}) + 1")
        what = self.random.choice(["gcd", "swap", "collatz", "bits"])
        if what == "gcd":
            self.write(f"while {m} > 0:")
            self.indented(self.write, f"{n}, {m} = {m}, {n} % {m}")
        elif what == "swap":
            self.write(f"if {n} > {m} and {self.test(known)}:")
            self.indented(self.write, f"{n}, {m} = {m}, {n}")
        elif what == "collatz":
            self.write(f"while {n} != 1 and {m} < 9:")
            self.depth += 1
            self.write(f"{m} += 1")
            self.write(f"{n} = {n} // 2 if {n} % 2 == 0 else 3 * {n} + 1")
            self.depth -= 1
        else:
            self.write(f"{n} = ({n} ** 2 - {m} // 2) % 7 + abs({m} - {n})")
        self.write(f"{made.text} = tf.cast({n} - {m}, tf.float64) * 0.1")
        known.append(made)

    def plain_numbers(self, known):
        made = self.name(self.random.choice(SHAPES))
        one, two = (self.expression(known, made.shape, 1) for _ in range(2))
        text = self.random.choice(PLAIN_NUMBERS).format(f"({one})", f"({two})")
        self.write(f"{made.text} = {text}")
        known.append(made)

    def comprehension(self, known):
        """Over the rows of a tensor."""
        rows = [x for x in known if len(x.shape) == 2]
        if not rows:
            return self.plain_numbers(known)
        x = self.random.choice(rows)
        made = self.name(x.shape)
        row = Name("row", x.shape[1:])
        text = self.expression([*known, row, row], row.shape, 1)
        source = self.random.choice([x.text, f"tf.unstack({x.text} * 1.0)"])
        self.write(f"{made.text} = tf.stack([{text} for row in {source}])")
        known.append(made)

    def arrays(self, known):
        """A TensorArray whose rounds read what earlier ones wrote."""
        shape = self.random.choice(SHAPES[:2])
        size = self.random.randint(2, 3)
        made, number = self.name((size, *shape)), self.name(())
        rows, i = f"{made.text}_rows", number.text
        kind = self.random.choice(["read", "dynamic", "branch", "scatter", "gather", "concat"])
        options = "size=0, dynamic_size=True" if kind == "dynamic" else f"size={size}"
        options += ", clear_after_read=False"
        self.write(f"{rows} = tf.TensorArray(tf.float64, {options}, element_shape={list(shape)})")
        if kind == "scatter":
            text = self.expression(known, made.shape)
            self.write(f"{rows} = {rows}.scatter({list(range(size))[::-1]}, {text})")
        else:
            last = Name(f"last_{made.text}", shape)
            self.write(f"{last.text} = 1.0 * ({self.expression(known, shape, 1)})")
            self.write(f"for {i} in tf.range({size}):")
            self.depth += 1
            inside = [*known, Name(f"tf.cast({i}, tf.float64)", ()), last]
            if kind == "branch":
                self.write(f"if {self.decision(inside, i)}:")
                text = self.expression(inside, shape)
                self.indented(self.write, f"{rows} = {rows}.write({i}, {text})")
                self.write("else:")
                text = self.expression(inside, shape)
                self.indented(self.write, f"{rows} = {rows}.write({i}, {text})")
            else:
                self.write(f"{rows} = {rows}.write({i}, tf.tanh({self.expression(inside, shape)}))")
            if kind == "read":
                self.write(f"{last.text} = {rows}.read({i}) * 0.5")
            self.depth -= 1
        text = f"{rows}.stack()"
        if kind == "gather":
            text = f"{rows}.gather({list(range(size))[::-1]})"
        elif kind == "concat" and shape:
            text = f"tf.reshape({rows}.concat(), {[size, *shape]})"
        self.write(f"{made.text} = {text}")
        known.append(made)

    def more_forms(self, known):
        """Control flow as functions, with several states."""
        made = self.name(self.random.choice(SHAPES))
        other = Name("o", self.random.choice(SHAPES))
        state = Name("s", made.shape)
        one, two, start = (self.expression(known, x.shape, 1) for x in (made, made, other))
        inside = [*known, other, state, state]
        body = f"tf.tanh({self.expression(inside, made.shape, 1)})"
        body_other = f"tf.tanh({self.expression(inside, other.shape, 1)})"
        test = f"{self.fitted(self.random.choice(known), ())} < 0.3007"
        kind = self.random.choice(["while", "dict", "case", "nested", "scan", "map", "foldr"])
        if kind == "while":
            text = (
                f"tf.while_loop(lambda i, s, o: tf.reduce_sum(s) < 1.5, lambda i, s, o: "
                f"(i + 1, {body}, {body_other}), (0, {one}, {start}), "
                f"maximum_iterations={self.random.randint(1, 4)})[1]"
            )
        elif kind == "dict":
            text = (
                "tf.while_loop(lambda d: d['i'] < 2, lambda d: (lambda s, o: [{'i': d['i'] + 1, "
                f"'s': {body}, 'o': {body_other}}}])(d['s'], d['o']), "
                f"[{{'i': tf.constant(0), 's': {one}, 'o': {start}}}])[0]['s']"
            )
        elif kind == "case":
            text = f"tf.case([({test}, lambda: {one})], default=lambda: {two})"
        elif kind == "nested":
            text = (
                f"tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.cond(i < 1, lambda: s "
                f"* 0.5, lambda: tf.tanh({self.expression([*known, state], made.shape, 1)}))), "
                f"(tf.constant(0), {one}))[1]"
            )
        else:
            size = self.random.choice([2, 3])
            made = self.name((size, *self.random.choice(SHAPES[:2])))
            row, state = Name("r", made.shape[1:]), Name("s", made.shape[1:])
            elements = self.expression(known, made.shape, 1)
            start = self.expression(known, row.shape, 1)
            step = f"tf.tanh({self.expression([*known, row, state, state], row.shape, 1)})"
            if kind == "scan":
                reverse = self.random.choice(["", ", reverse=True"])
                text = (
                    f"tf.scan(lambda t, r: (lambda s: ({step}, t[1] + 1))(t[0]), {elements}, "
                    f"({start}, tf.constant(0)){reverse})[0]"
                )
            elif kind == "map":
                text = self.expression([*known, row, state], row.shape, 1)
                text = (
                    f"tf.map_fn(lambda p: (lambda r, s: {text})(p[0], p[1]), ({elements}, "
                    f"tf.sin({elements})), fn_output_signature=tf.float64)"
                )
            else:
                made = Name(made.text, row.shape)
                text = f"tf.foldr(lambda s, r: {step}, {elements}, {start})"
        self.write(f"{made.text} = {text}")
        known.append(made)

    def called_in_loop(self, known):
        """A function with a gradient of its own, or compiled, or recomputed, that rounds call."""
        state = self.started(known)
        f, a = f"f_{state.text}", Name(f"a_{state.text}", state.shape)
        kind = self.random.choice(["custom", "custom", "tf.function", "tf.recompute_grad", "plain"])
        if kind == "custom":
            self.write("@tf.custom_gradient")
            self.write(f"def {f}({a.text}):")
            rule = self.random.choice(["2.0 * g", f"g * tf.cos({a.text})", f"g * {a.text}"])
            value = self.expression([a], a.shape, 1)
            self.indented(self.write, f"return tf.tanh({value}), lambda g: {rule}")
        else:
            if kind != "plain":
                self.write(f"@{kind}")
            self.write(f"def {f}({a.text}):")
            self.depth += 1
            if kind != "tf.recompute_grad":
                self.write(f"if {self.test([a])}:")
                self.indented(self.write, f"return tf.tanh({self.expression([a], a.shape)})")
            self.write(f"return tf.tanh({self.expression([a], a.shape)})")
            self.depth -= 1
        head, inside, number, _ = self.over(known)
        self.write(head)
        self.depth += 1
        if self.random.random() < 0.4:
            self.write(f"if {self.decision([*inside, state], number)}:")
            self.indented(self.write, f"{state.text} = {f}({state.text})")
        inside = [*inside, state, state]
        self.write(f"{state.text} = {f}({self.expression(inside, state.shape, 1)})")
        self.depth -= 1

    def single(self, known):
        """float32 beside float64."""
        made = self.name(self.random.choice(SHAPES))
        state = f"{SINGLE}{made.text}"
        self.write(f"{state} = tf.cast({self.expression(known, made.shape, 1)}, tf.float32)")
        head, inside, _, _ = self.over(known)
        if self.random.random() < 0.5:
            head, inside = f"if {self.test(known)}:", known
        self.write(head)
        text = f"tf.sin({state}) + tf.cast({self.expression(inside, made.shape, 1)}, tf.float32)"
        self.indented(self.write, f"{state} = tf.tanh({text})")
        self.write(f"{made.text} = tf.cast({state}, tf.float64)")
        known.append(made)

    def python_only(self, known):
        """Statements in which no tensor decides: Python's own meaning."""
        made = self.name(self.random.choice(SHAPES))
        one, two = (self.expression(known, made.shape) for _ in range(2))
        i = f"i_{made.text}"
        kind = self.random.choice(["for", "while", "try", "walrus", "star", "match", "with"])
        if kind in LEFT_AS_THEY_ARE:
            lines = LEFT_AS_THEY_ARE[kind].format(self.random.randint(0, 2)).splitlines()
            self.above += [f"def f_{made.text}(one, two):", *lines, "    return result", ""]
            self.write(f"{made.text} = f_{made.text}({one}, {two})")
        elif kind == "try":
            self.write("try:")
            self.indented(self.write, f"{made.text} = {one}")
            if self.random.random() < 0.5:
                self.indented(self.write, "raise KeyError('a')")
            self.write("except KeyError:")
            self.indented(self.write, f"{made.text} = {two}")
            self.write("finally:")
            self.indented(self.write, f"{made.text}_done = True")
        elif kind == "walrus":
            self.write(f"{made.text} = ({i} := {one}) * {i}")
        elif kind == "star":
            self.write(f"{i}, *{made.text}_more = [{one}, {two}, 2.0]")
            self.write(f"{made.text} = {i} * {made.text}_more[0]")
        else:
            self.write("with tf.name_scope('part'):")
            self.indented(self.write, f"{made.text} = {one}")
            self.write(f"assert {made.text}.dtype == tf.float64")
        known.append(made)

    def methods(self, known):
        """An object of a class of the program's own, whose method decides."""
        made = self.name(self.random.choice(SHAPES))
        c, a = f"C_{made.text}", Name("a", made.shape)
        self.above += [
            f"class {c}:",
            "    def __init__(self, scale):",
            "        self.scale = scale",
            "    def __call__(self, a):",
            f"        if {self.test([a])}:",
            "            return a * self.scale",
            f"        return self.more(a) + ({self.expression([a], made.shape, 1)})",
            "    def more(self, a):",
            f"        for i in tf.range({self.random.randint(1, 3)}):",
            f"            if {self.decision([a], 'i')}:",
            f"                return {self.expression([a], made.shape, 1)}",
            f"            a = tf.tanh({self.expression([a], made.shape)})",
            "        return a",
            "",
        ]
        scale = self.pick(known, ())
        self.write(f"{made.text} = {c}({scale})({self.expression(known, made.shape, 1)})")
        known.append(made)


WIDER = {
    Wider.leaving: 3,
    Wider.returning: 3,
    Wider.flagged: 1,
    Wider.first_bound: 1.5,
    Wider.changed_variable: 1.5,
    Wider.items: 2,
    Wider.appended: 0.7,
    Wider.tape_around: 2.5,
    Wider.descent: 1.5,
    Wider.integers: 1,
    Wider.plain_numbers: 1,
    Wider.comprehension: 0.7,
    Wider.arrays: 1.5,
    Wider.more_forms: 2,
    Wider.called_in_loop: 1.5,
    Wider.single: 0.7,
    Wider.python_only: 1,
    Wider.methods: 0.7,
}
