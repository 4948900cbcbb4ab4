"""AutoGraph: Python's control flow on tensors inside @function. Runs on both systems."""

import functools

import numpy as np
import pytest


def gradient(tf, f, x):
    """The value of f and its gradient by x, with the tape outside."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y.numpy(), tape.gradient(y, x).numpy()


def inner_gradient(tf, f, x):
    """The gradient of f by x, with the tape inside a compiled function."""

    @tf.function
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return g(tf.constant(x)).numpy()


# if


def test_if_else(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            y = x * x
        else:
            y = -3.0 * x
        return y

    assert gradient(tf, f, 2.0) == (4.0, 4.0)
    assert gradient(tf, f, -2.0) == (6.0, -3.0)
    assert f.experimental_get_tracing_count() == 1
    assert inner_gradient(tf, f, -2.0) == -3.0


def test_elif(tf):
    @tf.function
    def f(x):
        if x < 0.0:
            y = -x
        elif x < 1.0:
            y = x * x
        elif x < 2.0:
            y = 3.0 * x
        else:
            y = x**3
        return y

    for value, result, slope in [
        (-1.0, 1.0, -1.0),
        (0.5, 0.25, 1.0),
        (1.5, 4.5, 3.0),
        (2.0, 8.0, 12.0),
    ]:
        assert gradient(tf, f, value) == (result, slope)
    assert f.experimental_get_tracing_count() == 1


def test_if_without_else_keeps_the_value(tf):
    @tf.function
    def f(x):
        y = x + 1.0
        if x > 0.0:
            y = y * 10.0
        return y

    assert gradient(tf, f, 1.0) == (20.0, 10.0)
    assert gradient(tf, f, -3.0) == (-2.0, 1.0)


def test_nested_if(tf):
    @tf.function
    def f(x, z):
        y = 0.0
        if x > 0.0:
            if z > 0.0:
                y = x * z
            else:
                y = x - z
        elif z > 0.0:
            y = z
        return y

    values = [f(tf.constant(x), tf.constant(z)).numpy() for x in (2.0, -2.0) for z in (3.0, -3.0)]
    assert values == [6.0, 5.0, 3.0, 0.0]


def test_python_condition_is_pythons_own(tf):
    @tf.function
    def f(x, flag):
        if flag:
            y = "yes"
        else:
            y = None
        return x + (1.0 if y else 2.0)

    assert f(tf.constant(1.0), True).numpy() == 2.0
    assert f(tf.constant(1.0), False).numpy() == 3.0


def test_python_value_that_is_the_same_in_both_branches_stays_python(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            x = x * 2.0
            how = "sum"
        else:
            x = x * 3.0
            how = "sum"
        return tf.reduce_sum(x) if how == "sum" else x

    assert f(tf.constant(1.0)).numpy() == 2.0


def test_structures_in_branches(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            state = {"a": x, "b": [x + 1.0]}
        else:
            state = {"a": -x, "b": [x - 1.0]}
        return state["a"], state["b"][0]

    a, b = f(tf.constant(-2.0))
    assert (a.numpy(), b.numpy()) == (2.0, -3.0)


def test_attributes_are_variables_of_a_branch(tf):
    class Counter:
        def __init__(self):
            self.last = 0.0

        def run(self, x):
            if x > 0.0:
                self.last = x
            else:
                self.last = -x
            return self.last * 2.0

    counter = Counter()

    @tf.function
    def f(x):
        counter.last = 0.0
        result = counter.run(x)
        counter.last = 0.0
        return result

    assert f(tf.constant(-3.0)).numpy() == 6.0
    assert f(tf.constant(2.0)).numpy() == 4.0


def test_assign_in_a_branch(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        if x > 0.0:
            v.assign_add(x)
        return v + 0.0

    assert f(tf.constant(2.0)).numpy() == 3.0
    assert f(tf.constant(-2.0)).numpy() == 3.0
    assert v.numpy() == 3.0


def test_condition_that_is_a_variable(tf):
    v = tf.Variable(True)

    @tf.function
    def f(x):
        if v:
            return x + 1.0
        return x - 1.0

    assert f(tf.constant(1.0)).numpy() == 2.0
    v.assign(False)
    assert f(tf.constant(1.0)).numpy() == 0.0


def test_variable_of_the_branch_not_taken_has_zeros(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(x):
        if x > 0.0:
            y = v * x
        else:
            y = w * x
        return y

    with tf.GradientTape() as tape:
        y = f(tf.constant(5.0))
    assert [g.numpy() for g in tape.gradient(y, [v, w])] == [5.0, 0.0]


# Expressions


def test_conditional_expression(tf):
    @tf.function
    def f(x):
        return x * x if x > 1.0 else 5.0 * x

    assert gradient(tf, f, 3.0) == (9.0, 6.0)
    assert gradient(tf, f, 1.0) == (5.0, 5.0)


@pytest.mark.parametrize("x", [-1.0, 1.0, 3.0, 7.0])
def test_logic(tf, x):
    @tf.function
    def f(x):
        a = 1.0 if x > 0.0 and x < 2.0 else 0.0
        b = 1.0 if x < 0.0 or x > 5.0 else 0.0
        c = 1.0 if not x > 0.0 else 0.0
        d = 1.0 if 0.0 < x < 5.0 else 0.0
        e = 1.0 if x > 0.0 and not (x > 2.0 or x == 1.0) else 0.0
        return tf.stack([a, b, c, d, e])

    wanted = [0 < x < 2, x < 0 or x > 5, x <= 0, 0 < x < 5, 0 < x <= 2 and x != 1]
    assert f(tf.constant(x)).numpy().tolist() == [float(w) for w in wanted]


def test_and_is_lazy_where_the_second_has_effects(tf):
    v = tf.Variable(0)

    def count():
        v.assign_add(1)
        return v > 0

    @tf.function
    def f(x):
        if x > 0.0 and count():
            return 1.0
        return 2.0

    assert f(tf.constant(1.0)).numpy() == 1.0
    assert v.numpy() == 1
    assert f(tf.constant(-1.0)).numpy() == 2.0
    assert v.numpy() == 1


def test_python_operands_keep_pythons_meaning(tf):
    @tf.function
    def f(x, default=None):
        scale = default or 3.0
        name = default and "given"
        assert name is None
        return x * scale

    assert f(tf.constant(2.0)).numpy() == 6.0


# return


def test_early_return(tf):
    @tf.function
    def f(x):
        if x > 10.0:
            return x
        y = x * 2.0
        if y > 10.0:
            return y * y
        return -y

    assert gradient(tf, f, 11.0) == (11.0, 1.0)
    assert gradient(tf, f, 6.0) == (144.0, 48.0)
    assert gradient(tf, f, 1.0) == (-2.0, -2.0)


def test_return_of_several(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            return x, {"y": 2.0 * x}
        else:
            return -x, {"y": 3.0 * x}

    x, rest = f(tf.constant(-1.0))
    assert (x.numpy(), rest["y"].numpy()) == (1.0, -3.0)


# for


def test_for_in_range(tf):
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(4):
            y = y * x
        return y

    assert gradient(tf, f, 2.0) == (32.0, 80.0)
    assert inner_gradient(tf, f, 2.0) == 80.0


def test_for_in_tensor(tf):
    @tf.function
    def f(x):
        total = 0.0
        for row in x:
            total = total * 0.5 + tf.reduce_sum(row * row)
        return total

    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    y, slope = gradient(tf, f, x)
    np.testing.assert_allclose(y, 5 / 4 + 25 / 2 + 61)
    np.testing.assert_allclose(slope, 2 * x * np.array([[0.25], [0.5], [1.0]]))


def test_second_derivative_of_a_loop(tf):
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(3):
            y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (32.0, 48.0)


def test_body_of_a_loop_over_a_tensor_is_traced_once(tf):
    rounds = []

    @tf.function
    def f(x):
        total = tf.constant(0.0)
        for value in x:
            rounds.append(None)
            total += value
        return total

    assert f(tf.ones([50])).numpy() == 50.0
    assert len(rounds) == 1


def test_range_of_python_is_unrolled(tf):
    rounds = []

    @tf.function
    def f(x):
        for i in range(3):
            rounds.append(i)
            x = x * 2.0
        return x

    assert f(tf.constant(1.0)).numpy() == 8.0
    assert rounds == [0, 1, 2]


@pytest.mark.parametrize("arguments", [(), (2,), (2, 3)])
def test_range_whose_end_is_a_tensor(tf, arguments):
    @tf.function
    def f(n):
        total = 0
        start = arguments[:1]
        step = arguments[1:]
        for i in tf.range(*start, n, *step):
            total += i
        return total

    for n in (3, 9):
        bounds = [*arguments[:1], n, *arguments[1:]]
        assert f(tf.constant(n)).numpy() == sum(range(*bounds))
    assert f.experimental_get_tracing_count() == 1


def test_pythons_range_of_a_tensor(tf):
    @tf.function
    def f(n):
        total = 0
        for i in range(n):
            total += i * i
        return total

    assert f(tf.constant(5)).numpy() == 30
    assert f(tf.constant(0)).numpy() == 0


def test_break_and_continue(tf):
    @tf.function
    def f(x):
        total = 0.0
        for value in x:
            if value < 0.0:
                continue
            if value > 10.0:
                break
            total += value * value
        return total

    x = np.array([1.0, -5.0, 2.0, 11.0, 3.0], np.float32)
    y, slope = gradient(tf, f, x)
    assert y == 5.0
    assert slope.tolist() == [2.0, 0.0, 4.0, 0.0, 0.0]


def test_nested_loops(tf):
    @tf.function
    def f(x):
        total = 0.0
        for i in tf.range(3):
            for j in tf.range(4):
                if j > i:
                    break
                total += x * tf.cast(i + j, tf.float32)
        return total

    wanted = sum(i + j for i in range(3) for j in range(i + 1))
    assert gradient(tf, f, 2.0) == (2.0 * wanted, float(wanted))


def test_empty_loop(tf):
    @tf.function
    def f(x):
        y = tf.constant(7.0)
        for value in x:
            y = y + value
        return y

    assert f(tf.zeros([0])).numpy() == 7.0


def test_value_defined_in_the_loop_only(tf):
    @tf.function
    def f(x):
        for value in x:
            last = value * 2.0
        return last

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy() == 6.0


def test_structure_carried_by_a_loop(tf):
    @tf.function
    def f(x):
        state = (x, [x, 1])
        for i in tf.range(3):
            a, (b, n) = state
            state = (a + b, [b * 2.0, n + i])
        return state

    a, (b, n) = f(tf.constant(1.0))
    assert (a.numpy(), b.numpy(), n.numpy()) == (8.0, 8.0, 4)


def test_list_that_is_replaced_in_a_loop_leaves_the_old_one(tf):
    @tf.function
    def f(x):
        first = [x, x]
        states = first
        for _ in tf.range(2):
            states = [states[0] + 1.0, states[1] * 2.0]
        return first[0], states[0], states[1]

    assert [y.numpy() for y in f(tf.constant(3.0))] == [3.0, 5.0, 12.0]


def test_assign_in_a_loop(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        for i in tf.range(3):
            v.assign_add(tf.cast(i, tf.float32))
        return v * 2.0

    assert f().numpy() == 8.0
    assert v.numpy() == 4.0


def test_gradient_of_a_variable_used_in_a_loop(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = x * v
        return x

    with tf.GradientTape() as tape:
        y = f(tf.constant(5.0))
    assert y.numpy() == 40.0
    assert tape.gradient(y, v).numpy() == 60.0


def test_variable_as_the_first_value_of_a_loop(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f():
        x = v
        for _ in tf.range(3):
            x = x * 2.0
        return x

    with tf.GradientTape() as tape:
        y = f()
    assert (y.numpy(), tape.gradient(y, v).numpy()) == (16.0, 8.0)
    assert v.numpy() == 2.0


# while


def test_while(tf):
    @tf.function
    def f(x):
        n = 0
        while x > 1.0:
            x = x / 2.0
            n += 1
        return x, n

    x, n = f(tf.constant(20.0))
    assert (x.numpy(), n.numpy()) == (0.625, 5)
    x, n = f(tf.constant(0.5))
    assert (x.numpy(), n.numpy()) == (0.5, 0)


def test_gradient_of_a_bounded_while(tf):
    @tf.function
    def f(x):
        y = tf.identity(x)  # without another use of tf, TensorFlow's conversion fails
        while y < 50.0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=10)
            y = y * x
        return y

    assert gradient(tf, f, 2.0) == (64.0, 192.0)
    assert gradient(tf, f, 5.0) == (125.0, 75.0)


def test_maximum_iterations_stops_a_loop(tf):
    @tf.function
    def f(x):
        n = tf.constant(0)
        while x > 0.0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            n += 1
        return n

    assert f(tf.constant(1.0)).numpy() == 3


def test_while_with_break_continue_and_else_conditions(tf):
    @tf.function
    def f(n):
        total = 0
        i = 0
        while i < n and total < 100:
            i += 1
            if i % 2 == 0:
                continue
            if i > 9:
                break
            total += i
        return total, i

    def python(n):
        odd = [i for i in range(1, n + 1) if i % 2 and i <= 9]
        return sum(odd)

    for n in (0, 4, 9, 30):
        assert f(tf.constant(n))[0].numpy() == python(n)


def test_while_on_a_variable(tf):
    v = tf.Variable(1)

    @tf.function
    def f():
        while v < 100:
            v.assign(v * 3)
        return v + 0

    assert f().numpy() == 243
    assert v.numpy() == 243


def test_python_while_is_unrolled(tf):
    @tf.function
    def f(x, n):
        while n > 0:
            x = x * 2.0
            n -= 1
        return x

    assert f(tf.constant(1.0), 3).numpy() == 8.0


# Lists


def test_list_in_a_python_loop(tf):
    @tf.function
    def f(x):
        out = []
        for i in range(3):
            out.append(x * float(i))
        return tf.stack(out)

    assert f(tf.constant(2.0)).numpy().tolist() == [0.0, 2.0, 4.0]


def test_tensor_array_in_a_loop(tf):
    @tf.function
    def f(x):
        squares = tf.TensorArray(tf.float32, size=4)
        for i in tf.range(4):
            squares = squares.write(i, x[i] * x[i])
        return squares.stack()

    x = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    assert f(tf.constant(x)).numpy().tolist() == [1.0, 4.0, 9.0, 16.0]
    _, slope = gradient(tf, lambda x: tf.reduce_sum(f(x)), x)
    assert slope.tolist() == [2.0, 4.0, 6.0, 8.0]


def test_tensor_array_written_in_a_branch(tf):
    @tf.function
    def f(x):
        kept = tf.TensorArray(tf.float32, size=4, element_shape=[])
        count = 0
        for value in x:
            if value > 0.0:
                kept = kept.write(count, value)
                count += 1
        return kept.stack(), count

    stacked, count = f(tf.constant([1.0, -2.0, 3.0, -4.0]))
    assert (stacked.numpy().tolist(), count.numpy()) == ([1.0, 3.0, 0.0, 0.0], 2)


@pytest.mark.parametrize("element_shape", [None, [2]])
def test_the_other_branch_of_a_cond_sees_the_tensor_array_as_it_was(tf, element_shape):
    def f(x):
        def one_round(i, array):
            array = tf.cond(i > 0, lambda: array.write(i, x), lambda: array.write(i, 2.0 * x))
            array = tf.cond(
                i > 0, lambda: array.write(i, array.read(i) * array.read(i - 1)), lambda: array
            )
            return i + 1, array

        array = tf.TensorArray(tf.float32, 3, element_shape=element_shape, clear_after_read=False)
        return tf.while_loop(lambda i, _: i < 3, one_round, [tf.constant(0), array])[1].stack()

    x = np.array([2.0, 3.0], np.float32)
    found, slope = gradient(tf, lambda x: tf.reduce_sum(tf.function(f)(x)), x)
    assert found == np.sum(2 * x + 2 * x**2 + 2 * x**3)
    assert slope.tolist() == (2 + 4 * x + 6 * x**2).tolist()


def test_tensor_array_in_a_loop_with_a_break(tf):
    @tf.function
    def f(x):
        kept = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            kept = kept.write(i, x[i] * 2.0)
            if x[i] > 1.5:
                break
        return kept.stack()

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [2.0, 4.0, 0.0]


# Functions that are called


def helper(tf, x):
    if x > 0.0:
        return x * 2.0
    return x * 3.0


class Layer:
    def __init__(self, tf, scale):
        self.tf = tf
        self._scale = scale

    def __call__(self, x):
        return self.apply(x) if x > -100.0 else x

    def apply(self, x):
        if x > 0.0:
            return x * self._scale
        return -x

    @classmethod
    def shift(cls, x):
        return x + 1.0 if x > 0.0 else x - 1.0

    @staticmethod
    def halve(x):
        return x / 2.0 if x > 0.0 else x


class Child(Layer):
    def apply(self, x):
        y = super().apply(x)
        if y > 5.0:
            y = y + 100.0
        return y


def test_called_function_is_converted(tf):
    @tf.function
    def f(x):
        y = helper(tf, x)
        return y + 1.0

    assert f(tf.constant(1.0)).numpy() == 3.0
    assert f(tf.constant(-1.0)).numpy() == -2.0


def test_methods_callables_partials_and_super(tf):
    layer, child = Layer(tf, 4.0), Child(tf, 4.0)
    helped = functools.partial(helper, tf)

    @tf.function
    def f(x):
        return tf.stack(
            [layer(x), child(x), layer.apply(x), Layer.shift(x), layer.halve(x), helped(x)]
        )

    assert f(tf.constant(2.0)).numpy().tolist() == [8.0, 108.0, 8.0, 3.0, 1.0, 4.0]
    assert f(tf.constant(-2.0)).numpy().tolist() == [2.0, 2.0, 2.0, -3.0, -2.0, -6.0]
    assert f.experimental_get_tracing_count() == 1


def test_method_that_is_compiled(tf):
    class Model:
        def __init__(self, bias):
            self.bias = tf.Variable(bias)

        @tf.function
        def __call__(self, x):
            if x > self.bias:
                return x - self.bias
            return x * 0.0

    assert Model(1.0)(tf.constant(3.0)).numpy() == 2.0
    assert Model(5.0)(tf.constant(3.0)).numpy() == 0.0


def test_nested_functions_and_closures(tf):
    @tf.function
    def f(x):
        scale = 2.0

        def inner(y):
            if y > 0.0:
                return y * scale
            return y

        def twice(function, y):
            return function(function(y))

        scale = 3.0
        return twice(inner, x)

    assert f(tf.constant(1.0)).numpy() == 9.0
    assert f(tf.constant(-1.0)).numpy() == -1.0


def test_lambda(tf):
    f = tf.function(lambda x: x * 2.0 if x > 0.0 else x)
    assert f(tf.constant(3.0)).numpy() == 6.0
    assert f(tf.constant(-3.0)).numpy() == -3.0


def test_recursion(tf):
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    @tf.function
    def f(x):
        return power(x, 4)

    assert f(tf.constant(2.0)).numpy() == 16.0


def test_defaults_and_keywords(tf):
    def scaled(x, *rest, by=2.0, **options):
        if x > 0.0:
            x = x * by
        return x + sum(rest) + options.get("more", 0.0)

    @tf.function
    def f(x):
        arguments = [1.0, 2.0]
        return scaled(x, *arguments, by=3.0) + scaled(x, more=10.0)

    assert f(tf.constant(1.0)).numpy() == 18.0


def test_function_inside_a_function(tf):
    @tf.function
    def inner(x):
        if x > 0.0:
            return x * 2.0
        return x

    @tf.function
    def outer(x):
        for _ in tf.range(3):
            x = inner(x)
        return x

    assert outer(tf.constant(1.0)).numpy() == 8.0
    assert outer(tf.constant(-1.0)).numpy() == -1.0


def test_function_handed_to_map_fn(tf):
    def clipped(x):
        if x > 1.0:
            return x * 0.0 + 1.0
        return x

    @tf.function
    def f(x):
        return tf.map_fn(clipped, x)

    assert f(tf.constant([0.5, 2.0])).numpy().tolist() == [0.5, 1.0]


def test_do_not_convert(tf):
    @tf.autograph.experimental.do_not_convert
    def plain(x):
        if x > 0.0:
            return x
        return -x

    @tf.function
    def f(x):
        return plain(x)

    assert plain(tf.constant(-2.0)).numpy() == 2.0
    with pytest.raises(TypeError):
        f(tf.constant(-2.0))


def test_autograph_off(tf):
    @tf.function(autograph=False)
    def f(x):
        if x > 0.0:
            return x
        return -x

    with pytest.raises(TypeError):
        f(tf.constant(-2.0))


def test_generators_and_comprehensions_are_pythons(tf):
    def numbers(n):
        for i in range(n):
            yield float(i)

    @tf.function
    def f(x):
        return sum([x * i for i in numbers(4) if i > 0.0])

    assert f(tf.constant(2.0)).numpy() == 12.0


def test_try_with_and_del(tf):
    @tf.function
    def f(x):
        try:
            y = {}["missing"]
        except KeyError:
            y = x
        with tf.GradientTape() as tape:
            tape.watch(y)
            if y > 0.0:
                z = y * y
            else:
                z = y
        unused = 1
        del unused
        return tape.gradient(z, y)

    assert f(tf.constant(3.0)).numpy() == 6.0
    assert f(tf.constant(-3.0)).numpy() == 1.0


def test_globals_and_nonlocals(tf):
    count = 0

    @tf.function
    def f(x):
        nonlocal count
        count += 1
        if "helper" in globals():
            x = x * 2.0
        return x

    assert f(tf.constant(3.0)).numpy() == 6.0
    assert count == 1


# Checks


def test_assert_on_python_values(tf):
    @tf.function
    def f(x, n):
        assert n > 0, f"n is {n}"
        return x

    with pytest.raises(AssertionError, match="n is 0"):
        f(tf.constant(1.0), 0)


# Errors


def test_error_of_the_user_comes_with_its_type(tf):
    def check(x):
        if x.shape == ():
            raise KeyError("a scalar")
        return x

    @tf.function
    def f(x):
        if x > 0.0:
            x = check(x)
        return x

    with pytest.raises(KeyError, match="a scalar"):
        f(tf.constant(1.0))


def test_variable_of_one_branch_only(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            y = x
        return y

    with pytest.raises(ValueError, match=r"y.* must also be initialized in the else branch"):
        f(tf.constant(1.0))


def test_return_in_one_branch_only(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            return x

    with pytest.raises(ValueError, match="else branch must also have a return"):
        f(tf.constant(1.0))


def test_other_dtype_in_a_branch(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            y = 1
        else:
            y = 2.0
        return y

    with pytest.raises(TypeError, match="dtype"):
        f(tf.constant(1.0))


def test_other_structure_in_a_branch(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            y = (x, x)
        else:
            y = (x,)
        return y

    with pytest.raises(TypeError, match="same nested structure"):
        f(tf.constant(1.0))


def test_other_dtype_in_a_loop(tf):
    @tf.function
    def f(x):
        y = 1
        for _ in tf.range(3):
            y = x
        return y

    with pytest.raises(TypeError, match=r"y.* dtype int32 before the loop.* float32 after"):
        f(tf.constant(1.0))


def test_none_before_a_loop(tf):
    @tf.function
    def f(x):
        y = None
        for _ in tf.range(3):
            y = x
        return y

    assert gradient(tf, f, 3.0) == (3.0, 1.0)


def test_unbound_variable(tf):
    @tf.function
    def f(x, flag):
        if flag:
            y = x
        return y

    with pytest.raises(UnboundLocalError, match="y"):
        f(tf.constant(1.0), False)


# Functions that call themselves


def power(x, n):
    if n == 0:
        return x / x
    return x * power(x, n - 1)


def flattened(nested):
    found = []
    for each in nested:
        if isinstance(each, list):
            found += flattened(each)
        else:
            found.append(each)
    return found


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def times_until(x, n, limit):
    """A tensor decides in each call, a Python number how deep they go."""
    if n == 0:
        return x
    if x > limit:
        y = x
    else:
        y = x * 2.0
    return times_until(y, n - 1, limit)


factorial = lambda n: 1 if n == 0 else n * factorial(n - 1)  # noqa: E731


def test_recursion_of_a_global_function(tf):
    assert gradient(tf, tf.function(lambda x: power(x, 3)), 2.0) == (8.0, 12.0)
    compiled = tf.function(power)
    assert gradient(tf, lambda x: compiled(x, 4), 2.0) == (16.0, 32.0)


def test_recursive_helper(tf):
    f = tf.function(lambda nested: tf.add_n(flattened(nested)))
    one, two, three = map(tf.constant, (1.0, 2.0, 3.0))
    assert f([one, [two, [three]]]).numpy() == 6.0
    assert f([one, two]).numpy() == 3.0


def test_functions_that_call_each_other(tf):
    assert tf.function(lambda x: x if is_even(4) else -x)(tf.constant(1.0)).numpy() == 1.0
    assert tf.function(lambda x: x if is_even(5) else -x)(tf.constant(1.0)).numpy() == -1.0


def test_recursive_lambda(tf):
    assert tf.function(lambda x: x * factorial(4))(tf.constant(2)).numpy() == 48


def test_recursion_with_a_branch_by_a_tensor(tf):
    f = tf.function(lambda x: times_until(x, 4, 5.0))
    assert gradient(tf, f, 1.0) == (8.0, 8.0)
    assert gradient(tf, f, 0.25) == (4.0, 16.0)


def test_recursion_of_a_compiled_function(tf):
    @tf.function
    def power(x, n):
        if n == 0:
            return tf.ones_like(x)
        return x * power(x, n - 1)

    assert gradient(tf, lambda x: power(x, 3), 2.0) == (8.0, 12.0)


def test_recursion_that_a_tensor_decides_does_not_end(tf):
    @tf.function
    def down(x):
        if x <= 0:
            return x
        return down(x - 1)

    with pytest.raises(Exception, match=r"(?s)down|recursion"):
        down(tf.constant(3))


# and, or, :=


def test_an_operand_waits_for_the_one_before_it(tf):
    @tf.function
    def count(x, n):
        i = 0
        while i < n and x[i] > 0.0:
            i += 1
        return i

    @tf.function
    def at(x, i):
        if i < 0 or i > 1 or x[i] > 5.0:
            return -1.0
        return x[i]

    @tf.function
    def many(n):
        return n != 0 and 10 // n > 2

    x = tf.constant([1.0, 2.0])
    assert int(count(x, tf.constant(2))) == 2
    assert [float(at(x, tf.constant(i))) for i in (1, 2, -3)] == [2.0, -1.0, -1.0]
    assert [bool(many(tf.constant(n))) for n in (0, 3, 5)] == [False, True, False]


def test_assignments_in_conditions_are_python(tf):
    @tf.function
    def f(x):
        numbers = iter([2.0, 3.0])
        k = 0.0
        while (k := next(numbers, None)) is not None:
            x = x * k
        k = 1.0
        if False or (k := 5.0) > 2.0:
            x = x * k
        y = (k := 7.0) if k > 2.0 else 1.0
        return x * k + y

    assert float(f(tf.constant(1.0))) == 217.0


def upward(x):
    return sorted(x)


def downward(x):
    return sorted(x, reverse=True)


def by_key(x):
    return sorted(x, key=lambda each: -each)


@pytest.mark.parametrize(
    "f, found, slope",
    [
        (upward, [1.0, 2.0, 3.0], [4.0, 1.0, 2.0]),
        (downward, [3.0, 2.0, 1.0], [1.0, 4.0, 2.0]),
        (by_key, [3.0, 2.0, 1.0], [1.0, 4.0, 2.0]),
    ],
)
def test_sorted(tf, f, found, slope):
    x = tf.constant([3.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(f)(x)
    np.testing.assert_allclose(y, found)
    by_x = tape.gradient(y, x, tf.constant([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(tf.convert_to_tensor(by_x), slope)


def test_rows_are_sorted_by_a_key(tf):
    rows = tf.constant([[1.0, 9.0], [3.0, 7.0], [2.0, 8.0]])
    first = tf.function(lambda x: sorted(x, key=lambda row: row[0]))(rows)
    np.testing.assert_array_equal(first, [[1.0, 9.0], [2.0, 8.0], [3.0, 7.0]])
    assert tf.function(lambda x: sorted([3, 1, 2]))(rows)[0].numpy() == 1
    with pytest.raises((TypeError, ValueError)):
        tf.function(lambda x: sorted(x))(rows)
