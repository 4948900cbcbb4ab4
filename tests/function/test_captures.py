"""Tensors that a function uses without being given them; a tape watches them at a later call."""

import functools
import gc
import types
import weakref

import numpy as np
import pytest
from semantics.helpers import same

import gradtape as tf

pytestmark = pytest.mark.gradtape_only


# Where they are found


class Holder:
    def __init__(self, tensor):
        self.tensor = tensor
        self.itself = self

    def __call__(self, x):
        return x * self.tensor**2


class Loop(list):
    """A list that holds itself."""

    def __init__(self, tensor):
        super().__init__([tensor])
        self.append(self)


def seen_by_helper(c):
    def helper(x):
        return x * c**2

    return lambda x: helper(x)


def seen_in_a_holder(c):
    holder = Holder(Holder(c))
    return lambda x: x * holder.tensor.tensor**2


def seen_in_a_dict(c):
    values = {1: "one", "c": [c], None: {}}  # keys that cannot be sorted
    return lambda x: x * values["c"][0] ** 2


def seen_in_a_loop(c):
    loop = Loop(c)
    return lambda x: x * loop[1][0] ** 2


class Slotted:
    __slots__ = ("tensor",)

    def __init__(self, tensor):
        self.tensor = tensor


class Behind:
    """What it holds is found by running code only."""

    def __init__(self, tensor):
        self._get = Slotted(tensor)

    @property
    def tensor(self):
        return self._get.tensor

    def give(self):
        return self.tensor

    def each(self):
        yield self.tensor

    def __getattr__(self, name):
        if name == "anything":
            return self.tensor
        raise AttributeError(name)


def seen_in_a_property(c):
    behind = Behind(c)
    return lambda x: x * behind.tensor**2


def seen_by_a_method(c):
    behind = Behind(c)
    return lambda x: x * behind.give() ** 2


def seen_by_getattr(c):
    behind = Behind(c)
    return lambda x: x * behind.anything**2


def seen_in_slots(c):
    slotted = Slotted(c)
    return lambda x: x * slotted.tensor**2


def seen_in_a_module(c):
    module = types.ModuleType("module_with_a_tensor")
    module.tensor = c
    return lambda x: x * module.tensor**2


def seen_by_a_generator(c):
    behind = Behind(c)
    return lambda x: x * next(behind.each()) ** 2


def seen_in_closures_of_closures(c):
    def outer():
        def middle():
            return lambda: c

        return middle

    return lambda x: x * outer()()() ** 2


def seen_by_weak_reference(c):
    reference = weakref.ref(c)
    return lambda x: x * reference() ** 2


def seen_far_away(c):
    values = [None] * 5000 + [c]
    return lambda x: x * values[-1] ** 2


SIGHTS = {
    "closure": lambda c: lambda x: x * c**2,
    "helper": seen_by_helper,
    "object": seen_in_a_holder,
    "callable": Holder,
    "method": lambda c: Holder(c).__call__,
    "dict": seen_in_a_dict,
    "a list that holds itself": seen_in_a_loop,
    "partial": lambda c: functools.partial(lambda c, x: x * c**2, c),
    "property": seen_in_a_property,
    "method of an object": seen_by_a_method,
    "getattr": seen_by_getattr,
    "slots": seen_in_slots,
    "module": seen_in_a_module,
    "generator": seen_by_a_generator,
    "closures of closures": seen_in_closures_of_closures,
    "weak reference": seen_by_weak_reference,
    "after many others": seen_far_away,
    "default": lambda c: lambda x, c=c: x * c**2,
}


@pytest.mark.parametrize("sight", SIGHTS.values(), ids=SIGHTS)
def test_a_tensor_in_sight_may_be_watched_at_a_later_call(tf, sight):
    c, x = tf.constant(3.0), tf.constant(2.0)
    f = tf.function(sight(c))
    same(f(x), 18.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = f(x)
    same(tape.gradient(y, c), 12.0)


def test_a_tensor_made_in_init_scope(tf):
    class Model:
        scale = None

        @tf.function
        def __call__(self, x):
            if self.scale is None:
                with tf.init_scope():
                    self.scale = tf.constant(3.0) * 1.0
            return x * self.scale**2

    model, x = Model(), tf.constant(2.0)
    same(model(x), 18.0)
    with tf.GradientTape() as tape:
        tape.watch(model.scale)
        y = model(x)
    same(tape.gradient(y, model.scale), 12.0)


def test_init_scope_is_outside_for_tapes_too(tf):
    a = tf.constant(2.0)
    made = []

    @tf.function
    def f(x):
        y = a * x
        with tf.init_scope():
            made.append(a * 5.0)
        return y * made[0]

    f(tf.constant(1.0))
    with tf.GradientTape() as tape:
        tape.watch(made[0])
        y = f(tf.constant(1.0))
    same(tape.gradient(y, made[0]), 2.0)


def test_a_tensor_that_only_a_tape_holds(tf):
    """Its own gradient nobody can ask for, but that of what it was made of."""
    a, x = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        values = [a**2]
        y = tf.function(lambda x: x * values.pop())(x)
    same(tape.gradient(y, a), 12.0)


# What is done with them


def in_a_branch(tf, c, x):
    return tf.cond(x > 0.0, lambda: x * c**2, lambda: x)


def in_a_nested_branch(tf, c, x):
    inner = lambda: tf.cond(x > 1.0, lambda: x * c**2, lambda: x)  # noqa: E731
    return tf.cond(x > 0.0, inner, lambda: x)


def in_a_loop(tf, c, x):
    step = lambda i, y: (i + 1, y * c)  # noqa: E731
    return tf.while_loop(lambda i, y: i < 2, step, (0, x), maximum_iterations=2)[1]


def as_start_of_a_loop(tf, c, x):
    step = lambda i, y: (i + 1, y * y * x)  # noqa: E731
    return tf.while_loop(lambda i, y: i < 1, step, (0, c), maximum_iterations=1)[1]


def as_rows_of_a_scan(tf, c, x):
    return x * tf.scan(lambda y, row: y * row, tf.stack([c, c]))[-1]


def in_map_fn(tf, c, x):
    return tf.map_fn(lambda row: row * c**2, x[None])[0]


def by_itself(tf, c, x):
    """Nothing here depends on the argument but the last product."""
    return x * (c * c)


def with_an_integer(tf, c, x):
    """No gradient flows through the argument."""
    return tf.cast(tf.cast(x, tf.int32), tf.float32) * c**2


def as_part_of_a_list(tf, c, x):
    return x * tf.reduce_prod([c, c])


def in_a_nested_function(tf, c, x):
    return tf.function(lambda x: x * c**2)(x)


def in_a_custom_gradient(tf, c, x):
    @tf.custom_gradient
    def square(y):
        return y * y, lambda g: 2.0 * y * g

    return x * square(c)


def in_recomputed_code(tf, c, x):
    return tf.recompute_grad(lambda y, z: z * y**2)(c, x)


def alone_in_recomputed_code(tf, c, x):
    """What it gives has a value while the function is traced."""
    return x * tf.recompute_grad(lambda y: y**2)(c)


def in_recomputed_code_of_a_loop(tf, c, x):
    square = tf.recompute_grad(lambda y: y**2)
    step = lambda i, y: (i + 1, square(c * 1.0))  # noqa: E731
    return x * tf.while_loop(lambda i, y: i < 2, step, (0, c), maximum_iterations=2)[1]


def in_recomputed_code_of_a_branch(tf, c, x):
    square = tf.recompute_grad(lambda y: y**2)
    return x * tf.cond(x > 0.0, lambda: square(c), lambda: c)


def in_the_gradient_of_a_constant(tf, c, x):
    @tf.custom_gradient
    def square(y):
        return tf.constant(9.0), lambda g: 2.0 * y * g

    return x * square(c)


USES = [
    in_a_branch, in_a_nested_branch, in_a_loop, as_start_of_a_loop, as_rows_of_a_scan, in_map_fn,
    by_itself, with_an_integer, as_part_of_a_list, in_a_nested_function, in_a_custom_gradient,
    in_recomputed_code, alone_in_recomputed_code, in_recomputed_code_of_a_loop,
    in_recomputed_code_of_a_branch, in_the_gradient_of_a_constant,
]  # fmt: skip


@pytest.fixture(params=USES, ids=lambda use: use.__name__)
def used(tf, request):
    """x c² in some way, traced before a tape is there; and the tensor c."""
    behind = Behind(tf.constant(3.0))
    f = tf.function(lambda x: request.param(tf, behind.tensor, x))
    same(f(tf.constant(2.0)), 18.0)
    return f, behind.tensor


def test_the_gradient_of_any_use(tf, used):
    f, c = used
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = f(tf.constant(2.0))
    same(tape.gradient(y, c), 12.0)


def test_the_second_derivative_of_any_use(tf, used):
    f, c = used
    with tf.GradientTape() as outer:
        outer.watch(c)
        with tf.GradientTape() as inner:
            inner.watch(c)
            y = f(tf.constant(2.0))
        first = inner.gradient(y, c)
    same(outer.gradient(first, c), 4.0)


def test_forward_mode_of_any_use(tf, used):
    f, c = used
    with tf.autodiff.ForwardAccumulator(c, tf.constant(1.0)) as accumulator:
        y = f(tf.constant(2.0))
    same(accumulator.jvp(y), 12.0)


def test_a_tape_inside_watches_it(tf):
    behind = Behind(tf.constant(3.0))

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(behind.tensor)
            y = x * behind.tensor**3
        return tape.gradient(y, behind.tensor)

    c = behind.tensor
    same(slope(tf.constant(2.0)), 54.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        g = slope(tf.constant(2.0))
    same(tape.gradient(g, c), 36.0)


def test_only_the_rule_of_a_custom_gradient_uses_it(tf):
    behind, x = Behind(tf.constant(3.0)), tf.constant(2.0)

    @tf.custom_gradient
    def strange(x):
        return x * 1.0, lambda g: g * behind.tensor**2

    f = tf.function(strange)
    f(x)
    with tf.GradientTape() as outer:
        outer.watch(behind.tensor)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    same(g, 9.0)
    same(outer.gradient(g, behind.tensor), 6.0)


def test_eigenvalues_of_a_tensor_without_a_tape(tf):
    behind = Behind(tf.constant([[2.0, 0.0], [0.0, 1.0]]))
    f = tf.function(lambda x: x * tf.linalg.eigvalsh(behind.tensor))
    f(tf.constant(1.0))
    with tf.GradientTape() as tape:
        tape.watch(behind.tensor)
        y = f(tf.constant(1.0))
    same(tape.gradient(y, behind.tensor), np.eye(2))


# Constants of the function itself


def test_numbers_of_the_function_are_nobodys_sources(tf):
    @tf.function
    def f(x):
        y = x * 2.0 + tf.constant(3.0) * tf.ones([])
        for _ in tf.range(3):
            y = y * 0.5 + tf.constant(1.0)
        return tf.cond(y > 0.0, lambda: y * 4.0, lambda: y), tf.constant(5.0) * 2.0

    concrete = f.get_concrete_function(tf.constant(1.0))._concrete
    assert [argument for _, argument, _ in concrete._sources] == [0]
    assert not concrete.graph.captured
    constants = [y for y in concrete._constants if y is not None]
    assert len(constants) == 1
    same(constants[0], 10.0)


def test_a_large_constant_of_the_function_is_not_kept(tf):
    arrays = []

    @tf.function
    def f(x):
        large = tf.zeros([1000]) + 1.0
        arrays.append(weakref.ref(large._array))
        return x * tf.reduce_sum(large)

    same(f(tf.constant(2.0)), 2000.0)
    gc.collect()
    assert arrays[0]() is None


def test_a_tape_over_a_function_keeps_its_constants_apart(tf):
    @tf.function
    def f(x):
        return x * 2.0 + tf.constant(3.0) * tf.constant(4.0)

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        g = tape.gradient(y, x)
    same(g, 2.0)
    assert tape.gradient(g, x) is None


RETURNED_AS_IT_IS = {
    "by a branch": lambda x, y: tf.cond(tf.reduce_mean(x) < 10.0, lambda: y, lambda: x * 1.0),
    "by both branches": lambda x, y: tf.cond(tf.reduce_mean(x) < 10.0, lambda: y, lambda: y),
    "by a case": lambda x, y: tf.switch_case(tf.cast(x[0], tf.int32), [lambda: y, lambda: x]),
    "by a round": lambda x, y: tf.while_loop(
        lambda i, _: i < 1, lambda i, _: (i + 1, y), (tf.constant(0), x)
    )[1],
    "by each round": lambda x, y: tf.reduce_sum(tf.map_fn(lambda _: y, x), axis=0) / 2.0,
}


@pytest.mark.parametrize("name", RETURNED_AS_IT_IS)
def test_a_tensor_of_the_outside_that_is_returned_as_it_is(name):
    """No op has it as an input; its gradient must arrive all the same."""
    x = tf.constant([0.1, 0.2])
    f = RETURNED_AS_IT_IS[name]

    def calls_a_function(x):
        y = tf.atan(x)
        return tf.function(lambda: f(x, y))()

    for call in (calls_a_function, tf.function(calls_a_function)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = call(x)
        np.testing.assert_allclose(result, np.arctan(x), rtol=1e-6)
        np.testing.assert_allclose(tape.gradient(result, x), 1 / (1 + x.numpy() ** 2), rtol=1e-6)


def test_a_branch_returns_a_tensor_that_a_tape_watches_after_the_trace():
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda p: tf.cond(p, lambda: x, lambda: x * 2.0))
    f(tf.constant(True))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(tf.constant(True))
    np.testing.assert_array_equal(tape.gradient(y, x), [1.0, 1.0])
