"""Functions in which sizes depend on values: they run, as plain Python where need be."""

import functools
import gc
import threading
import weakref

import numpy as np
import pytest
from semantics.helpers import grad, same, second

X = [1.0, -2.0, 3.0, 2.0]


def grown(tf, x):
    """The elements before the first negative one, doubled, in an array that grows."""
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(4):
        if x[i] < 0.0:
            break
        array = array.write(i, 2.0 * x[i])
    return array.stack()


def grown_while(tf, x, n):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    i = tf.constant(0)
    while i < n:
        array = array.write(i, x * tf.cast(i, tf.float32))
        i += 1
    return array.stack()


def grown_of_known_shape(tf, x, n):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[4])
    for i in tf.range(n):
        array = array.write(i, x * tf.cast(i, tf.float32))
    return array.stack()


PROGRAMS = {
    "boolean_mask": lambda tf, x, n: tf.boolean_mask(x, x > 0.0),
    "x[mask]": lambda tf, x, n: x[x > 0.0],
    "grown, of known shape": grown_of_known_shape,
    "where": lambda tf, x, n: tf.gather_nd(x, tf.where(x > 0.0)),
    "unique": lambda tf, x, n: x * tf.cast(tf.size(tf.unique(tf.cast(x, tf.int32))[0]), tf.float32),
    "range": lambda tf, x, n: tf.cast(tf.range(n), tf.float32) * x[0],
    "x[:n]": lambda tf, x, n: x[:n],
    "x[n:]": lambda tf, x, n: x[n:],
    "x[-n:]": lambda tf, x, n: x[-n:],
    "slice": lambda tf, x, n: tf.slice(x, [1], [n]),
    "strided_slice": lambda tf, x, n: tf.strided_slice(x, [0], [n]),
    "repeat": lambda tf, x, n: tf.repeat(x, n),
    "repeats": lambda tf, x, n: tf.repeat(x, tf.stack([n, 0, 1, n])),
    "zeros": lambda tf, x, n: tf.zeros([n, 4]) + x,
    "ones": lambda tf, x, n: tf.ones(tf.stack([n, 4])) * x,
    "fill": lambda tf, x, n: tf.fill([n], x[0]),
    "reshape": lambda tf, x, n: tf.reshape(x, [n, -1]),
    "tile": lambda tf, x, n: tf.tile(x, [n]),
    "broadcast_to": lambda tf, x, n: tf.broadcast_to(x, [n, 4]),
    "pad": lambda tf, x, n: tf.pad(x, [[n, 0]]),
    "split": lambda tf, x, n: tf.split(x, [n, 4 - n])[1],
    "one_hot": lambda tf, x, n: tf.one_hot([0, 1], n) * x[0],
    "eye": lambda tf, x, n: tf.eye(n) * x[0],
    "top_k": lambda tf, x, n: tf.math.top_k(x, n)[0],
    "linspace": lambda tf, x, n: tf.linspace(0.0, 1.0, n) * x[0],
    "sequence_mask": lambda tf, x, n: tf.cast(tf.sequence_mask(n), tf.float32) * x[0],
    "segment_sum": lambda tf, x, n: tf.math.segment_sum(x, tf.stack([0, 0, 1, n])),
    "dynamic_partition": lambda tf, x, n: tf.dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)[1],
    "bincount": lambda tf, x, n: tf.cast(tf.math.bincount([n, n]), tf.float32) * x[0],
    "axis": lambda tf, x, n: tf.reduce_sum(tf.reshape(x, [2, 2]), n - 1),
    "random": lambda tf, x, n: 0.0 * tf.random.uniform([n]) + x[0],
    "array of a size": lambda tf, x, n: tf.TensorArray(tf.float32, n).unstack(x[:n]).stack(),
    "array in a for with break": lambda tf, x, n: grown(tf, x),
    "array in a while": grown_while,
    "in a branch": lambda tf, x, n: tf.cond(n > 1, lambda: tf.reduce_sum(x[:n]), lambda: x[0]),
    "branches of two shapes": lambda tf, x, n: tf.cond(n > 1, lambda: x[:2], lambda: x),
    "in a loop": lambda tf, x, n: tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(x[:i])), [1, 0.0]
    )[1],
    "a loop that grows": lambda tf, x, n: tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, tf.concat([y, y], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )[1],
    "mapped": lambda tf, x, n: tf.map_fn(lambda v: v * v, x[:n]),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_gradient(tf, program):
    x, n = tf.constant(X), tf.constant(2)

    def plain(x, n):
        return PROGRAMS[program](tf, x, n)

    def composed(x, n):  # the conversion by AutoGraph follows calls
        return PROGRAMS[program](tf, 1.0 * x, n) * 3.0

    f = tf.function(composed)
    for k in (n, tf.constant(1), n):
        same(f(x, k), 3.0 * np.asarray(plain(x, k)))
        expected = grad(tf, lambda x, k=k: 3.0 * plain(x, k), x)
        found = grad(tf, lambda x, k=k: f(x, k), x)
        same(tf.convert_to_tensor(found), tf.convert_to_tensor(expected))


@pytest.mark.gradtape_only  # TensorFlow finds the directive where `tf` is a global name only
def test_a_for_that_grows(tf):
    @tf.function
    def doubled(x, n):
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, x], 0)
        return x

    same(doubled(tf.constant(X), tf.constant(2)), X * 4)
    same(grad(tf, lambda x: doubled(x, tf.constant(2)), tf.constant(X)), [4.0] * 4)


def test_higher_derivatives(tf):
    f = tf.function(lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0.0) ** 3))
    same(second(tf, f, tf.constant(X)), [6.0, 0.0, 18.0, 12.0])


def test_the_episode_of_an_actor_and_its_critic(tf):
    """The idiom of TensorFlow's guide: arrays that grow in a loop that is left at the end."""
    w = tf.Variable(tf.zeros([2, 1]))

    def environment(action):
        state = np.array([np.cos(action), np.sin(action)], np.float32)
        return state, np.array(1, np.int32), np.array(action >= 4, np.int32)

    def step(action):
        return tf.numpy_function(environment, [action], [tf.float32, tf.int32, tf.int32])

    def episode(state, most):
        values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
        rewards = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
        shape = state.shape
        for t in tf.range(most):
            value = tf.expand_dims(state, 0) @ w
            values = values.write(t, tf.squeeze(value))
            state, reward, done = step(t)
            state.set_shape(shape)
            rewards = rewards.write(t, reward)
            if tf.cast(done, tf.bool):
                break
        return values.stack(), rewards.stack()

    def returns(rewards):
        n = tf.shape(rewards)[0]
        found = tf.TensorArray(dtype=tf.float32, size=n)
        rewards = tf.cast(rewards[::-1], dtype=tf.float32)
        total = tf.constant(0.0)
        shape = total.shape
        for i in tf.range(n):
            total = rewards[i] + 0.9 * total
            total.set_shape(shape)
            found = found.write(i, total)
        return found.stack()[::-1]

    @tf.function
    def train(state, most):
        with tf.GradientTape() as tape:
            values, rewards = episode(state, most)
            loss = tf.reduce_sum((returns(rewards) - values) ** 2)
        (g,) = tape.gradient(loss, [w])
        w.assign_sub(0.1 * g)
        return loss, tf.reduce_sum(rewards)

    def outcome(step):
        w.assign([[0.5], [-0.25]])
        found = [step(tf.constant([1.0, 0.0]), most) for most in (10, 10, 3)]
        return [loss for loss, _ in found], [reward for _, reward in found], w.value()

    losses, rewards, trained = outcome(train)
    same(rewards, [5, 5, 3])
    eager = outcome(train.python_function)
    same(losses, eager[0])
    same(trained, eager[2])


# What happens how often


def test_variables_are_created_once(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = self.late = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            self.v.assign_add(1.0)
            chosen = tf.boolean_mask(x, x > 0.0)
            if self.late is None:
                self.late = tf.Variable(10.0)
            return chosen * self.v + self.late

    model = Model()
    same(model(tf.constant(X)), [13.0, 19.0, 16.0])
    kept = model.v
    same(model(tf.constant(X)), [14.0, 22.0, 18.0])
    assert model.v is kept
    assert len(model.variables) == 2


def test_a_variable_in_every_call_is_refused(tf):
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        return tf.boolean_mask(x, x > 0.0) * v

    with pytest.raises(ValueError):
        f(tf.constant(X))


def test_assignments_happen_once_in_each_call(tf):
    count = tf.Variable(0)

    @tf.function
    def f(x):
        count.assign_add(1)
        return tf.unique(x)[0]

    for _ in range(3):
        f(tf.constant(X))
    assert int(count) == 3


def test_random_numbers_differ_from_call_to_call(tf):
    f = tf.function(lambda n: tf.random.uniform([n]))
    assert not np.array_equal(f(tf.constant(4)), f(tf.constant(4)))


def test_what_is_given_and_returned_is_a_tensor(tf):
    f = tf.function(lambda x, k: {"all": (x[: x[0]], k, None), "k": 2.0})
    result = f(np.array([2, 5, 7], np.int32), 3)
    same(result["all"][0], [2, 5])
    assert tf.is_tensor(result["all"][1]) and tf.is_tensor(result["k"])
    assert result["all"][2] is None


def test_an_input_signature_is_kept_to(tf):
    f = tf.function(
        lambda x, n: x[:n], input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]
    )
    same(f([1.0, 2.0, 3.0], 2), [1.0, 2.0])
    same(f(tf.constant(X), 3), [1.0, -2.0, 3.0])
    with pytest.raises((TypeError, ValueError)):
        f(tf.constant([[1.0]]), 1)


def test_a_concrete_function(tf):
    f = tf.function(lambda x, n: x[:n] * 2.0)
    concrete = f.get_concrete_function(tf.TensorSpec([4]), tf.TensorSpec([], tf.int32))
    same(concrete(tf.constant(X), tf.constant(2)), [2.0, -4.0])
    same(grad(tf, lambda x: concrete(x, tf.constant(3)), tf.constant(X)), [2.0, 2.0, 2.0, 0.0])


def test_with_reduce_retracing(tf):
    f = tf.function(lambda x: tf.boolean_mask(x, x > 0.0), reduce_retracing=True)
    for n in range(1, 5):
        same(f(tf.ones([n])), np.ones(n))


def test_as_a_part_of_another_function(tf):
    inner = tf.function(lambda x: tf.boolean_mask(x, x > 0.0))
    outer = tf.function(lambda x: tf.reduce_sum(inner(x)) * 2.0)
    same(outer(tf.constant(X)), 12.0)
    same(grad(tf, outer, tf.constant(X)), [2.0, 0.0, 2.0, 2.0])


def test_in_several_threads(tf):
    f = tf.function(lambda x, n: x[:n])
    found = {}

    def run(n):
        found[n] = [np.asarray(f(tf.constant(X), tf.constant(n))) for _ in range(20)]

    threads = [threading.Thread(target=run, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(1, 5):
        for value in found[n]:
            same(value, X[:n])


@pytest.mark.gradtape_only
def test_the_instance_of_a_method_is_not_kept(tf):
    class Model:
        @tf.function
        def f(self, x):
            return tf.unique(x)[0]

    model = Model()
    model.f(tf.constant(X))
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


# What is still refused

MISTAKES = {
    "numpy": lambda x, n: x.numpy(),
    "np.asarray": lambda x, n: np.asarray(x),
    "range of Python": lambda x, n: list(range(n)),
    "float": lambda x, n: x * float(n),
    "if": lambda x, n: x if n > 1 else -x,
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_the_user_stay_errors(tf, mistake):
    f = tf.function(MISTAKES[mistake], autograph=False)
    with pytest.raises((TypeError, AttributeError, NotImplementedError)):
        f(tf.constant(X), tf.constant(2))


def test_a_loop_that_grows_unannounced_is_refused(tf):
    def f(x, n):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, tf.concat([y, y], 0)), [0, x]
        )[1]

    with pytest.raises(ValueError):
        tf.function(f)(tf.constant(X), tf.constant(2))


# A branch of a `cond`, of two


def total(tf, x):
    """The sum; of what is greater than 100, if there is such."""
    great = x > 100.0
    return tf.cond(
        tf.reduce_any(great),
        lambda: tf.reduce_sum(tf.boolean_mask(x, great) ** 2.0),
        lambda: tf.reduce_sum(x**2.0),
    )


GREAT = [1.0, 200.0, 3.0, 300.0]


def total_of_rounds(tf, x):
    result = 0.0
    for i in tf.range(3):
        result += total(tf, x * tf.cast(i, tf.float32))
    return result


@pytest.mark.parametrize(
    "f", [total, lambda tf, x: total(tf, x) + total(tf, x / 2.0), total_of_rounds]
)
def test_a_branch_whose_size_depends_on_values(tf, f):
    compiled = tf.function(lambda x: f(tf, x))
    for values in (X, X, GREAT, X, GREAT):
        x = tf.constant(values)
        same(compiled(x), f(tf, x))
        same(grad(tf, compiled, x), grad(tf, lambda x: f(tf, x), x))
        same(second(tf, compiled, x), second(tf, lambda x: f(tf, x), x))


@pytest.mark.parametrize("options", [{"reduce_retracing": True}, {"input_signature": "open"}])
def test_such_a_branch_with_open_sizes(tf, options):
    if "input_signature" in options:
        options = {"input_signature": [tf.TensorSpec([None])]}
    compiled = tf.function(lambda x: total(tf, x), **options)
    for values in (X, X[:3], X[:2], GREAT, GREAT[:2], X[:3]):
        same(compiled(tf.constant(values)), total(tf, tf.constant(values)))


def test_such_a_branch_in_a_concrete_function(tf):
    concrete = tf.function(lambda x: total(tf, x)).get_concrete_function(tf.TensorSpec([4]))
    same(concrete(tf.constant(X)), 18.0)
    same(concrete(tf.constant(GREAT)), 130000.0)


def test_a_call_that_takes_such_a_branch_does_all_once(tf):
    count, called = tf.Variable(0), []

    @tf.function
    def f(elements):
        x = next(elements)
        count.assign_add(1)
        return total(tf, x)

    @tf.function
    def calling_python(x):
        tf.py_function(lambda: called.append(0), [], [])
        return total(tf, x)

    elements = iter(tf.data.Dataset.from_tensor_slices([X, X, GREAT, X]))
    assert [float(f(elements)) for _ in range(4)] == [18.0, 18.0, 130000.0, 18.0]
    assert int(count) == 4
    for values in (X, GREAT, X):
        calling_python(tf.constant(values))
    assert len(called) == 3


@pytest.mark.gradtape_only
def test_the_other_branch_is_compiled(tf, warnings):
    runs = []

    @tf.function
    def f(x):
        runs.append(0)
        return total(tf, x)

    for _ in range(3):
        f(tf.constant(X))
    assert len(runs) == 1 and not warnings()
    f(tf.constant(GREAT))
    f(tf.constant(X))
    assert len(runs) == 3 and len(warnings()) == 1


@pytest.mark.gradtape_only
def test_such_a_branch_is_refused_where_it_must_be_compiled(tf):
    f = tf.function(lambda x: total(tf, x), jit_compile=True)
    same(f(tf.constant(X)), 18.0)
    with pytest.raises(tf.errors.DynamicSizeError, match="jit_compile=True"):
        f(tf.constant(GREAT))
    same(f(tf.constant(X)), 18.0)
    with pytest.raises(tf.errors.DynamicSizeError):  # a file would hold one branch only
        f.export(tf.constant(X))


@pytest.mark.gradtape_only
def test_such_a_branch_of_a_derivative_is_refused(tf):
    @tf.custom_gradient
    def twice(x):
        return x * 2.0, lambda g: total(tf, g) * tf.ones_like(x)

    compiled = tf.function(twice)
    same(grad(tf, compiled, tf.constant(X)), [4.0] * 4)
    with tf.GradientTape() as tape:
        x = tf.constant(X)
        tape.watch(x)
        y = tf.reduce_sum(compiled(x)) * 101.0
    with pytest.raises(tf.errors.DynamicSizeError, match="boolean_mask"):
        tape.gradient(y, x)


# Said of it


@pytest.fixture
def warnings(caplog):
    return lambda: [m for m in caplog.messages if "plain Python" in m]


@pytest.mark.gradtape_only
def test_one_warning_names_op_and_line(tf, warnings):
    @tf.function
    def chosen(x):
        return tf.boolean_mask(x, x > 0.0)  # this line

    for n in (4, 4, 3):
        chosen(tf.ones([n]))
    (message,) = warnings()
    assert message.startswith("chosen runs as plain Python, not compiled. ")
    line = chosen.python_function.__code__.co_firstlineno + 2
    assert f"test_dynamic_sizes.py, line {line}: boolean_mask: the size of its" in message


@pytest.mark.gradtape_only
def test_one_warning_for_a_method_of_many(tf, warnings):
    class Model:
        @tf.function
        def f(self, x):
            return tf.unique(x)[0]

    for _ in range(3):
        Model().f(tf.constant(X))
    assert len(warnings()) == 1


@pytest.mark.gradtape_only
def test_only_that_signature_is_not_compiled(tf):
    runs = []

    @tf.function
    def f(x, dynamic):
        runs.append(dynamic)
        return x[: tf.cast(x[0], tf.int32)] if dynamic else x

    for _ in range(3):
        same(f(tf.constant([2.0, 3.0, 4.0]), False), [2.0, 3.0, 4.0])
        same(f(tf.constant([2.0, 3.0, 4.0]), True), [2.0, 3.0])
    assert runs.count(False) == 1
    assert runs.count(True) == 4  # the trace that failed, and each call


@pytest.mark.gradtape_only
def test_functions_inside_are_compiled_for_themselves(tf):
    inside = []

    @tf.function
    def dense(x):
        inside.append(1)
        return 2.0 * x

    @tf.function
    def f(x):
        return tf.boolean_mask(dense(x), x > 0.0)

    for _ in range(4):
        same(f(tf.constant(X)), [2.0, 6.0, 4.0])
    assert len(inside) == 1  # while `f` was traced, which failed; the trace of `dense` is kept


@pytest.mark.gradtape_only
@pytest.mark.parametrize("program", ["boolean_mask", "where", "unique", "dynamic_partition"])
def test_what_must_be_compiled_is_refused(tf, program):
    @tf.function(jit_compile=True)
    def f(x, n):
        return PROGRAMS[program](tf, x, n)

    with pytest.raises(tf.errors.DynamicSizeError, match="jit_compile=True") as caught:
        f(tf.constant(X), tf.constant(2))
    assert "test_dynamic_sizes.py, line " in str(caught.value)


@pytest.mark.gradtape_only
def test_no_program_to_look_at(tf):
    concrete = tf.function(lambda x: tf.unique(x)[0]).get_concrete_function(tf.TensorSpec([3]))
    with pytest.raises(tf.errors.DynamicSizeError, match=r"no `graph`, because .* unique"):
        concrete.graph.get_operations()
    with pytest.raises(tf.errors.DynamicSizeError, match="not compiled"):
        tf.function(lambda x: tf.unique(x)[0]).export(tf.TensorSpec([3]))


# With jit_compile=True: arguments that decide on sizes count by value


def test_sizes_that_are_arguments_are_compiled_for_each_value(tf):
    traces = []

    @tf.function(jit_compile=True)
    def f(x, sizes, shift):
        traces.append(1)
        first, second = tf.split(x + shift, tf.concat([sizes, [tf.size(x) - sizes[0]]], 0))
        return tf.reduce_sum(first), tf.reduce_prod(second)

    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    for size, wanted in [(1, [1, 24]), (3, [6, 4]), (1, [1, 24])]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            first, second = f(x, tf.constant([size]), tf.constant(0.0))
        assert [float(first), float(second)] == wanted
        assert tape.gradient(second, x).numpy()[-1] == wanted[1] / 4
    before = len(traces)
    assert float(f(x, tf.constant([3]), tf.constant(1.0))[0]) == 9  # `shift` is not known by value
    assert len(traces) == before


OF_A_NUMBER = {
    "getitem": lambda tf, x, n: x[1:n],
    "range": lambda tf, x, n: tf.range(n),
    "reshape": lambda tf, x, n: tf.reshape(x, [n, -1]),
    "pad": lambda tf, x, n: tf.pad(x, [[n, 0]]),
    "pad with a tensor": lambda tf, x, n: tf.pad(x, tf.stack([[n, n]])),
    "tile": lambda tf, x, n: tf.tile(x, [n]),
    "reduce_sum": lambda tf, x, n: tf.reduce_sum(tf.reshape(x, [3, 4]), axis=n - 2),
}


@pytest.mark.parametrize("program", OF_A_NUMBER.values(), ids=OF_A_NUMBER)
def test_a_number_that_decides_on_a_size(tf, program):
    f = tf.function(functools.partial(program, tf), jit_compile=True)
    x = tf.range(12.0)
    for n in (2, 3):
        wanted = program(tf, x, tf.constant(n)).numpy()
        assert f(x, tf.constant(n)).numpy().tolist() == wanted.tolist()


@pytest.mark.gradtape_only
def test_sizes_that_are_computed_from_other_values_are_refused(tf):
    weight = tf.Variable(2)

    @tf.function(jit_compile=True)
    def by_numbers(x):
        return tf.zeros([tf.cast(tf.reduce_sum(x), tf.int32)])

    @tf.function(jit_compile=True)
    def by_a_variable(n):
        return tf.zeros([n * weight])

    for refused, argument in [(by_numbers, 1.0), (by_a_variable, 3)]:
        with pytest.raises(tf.errors.DynamicSizeError, match="jit_compile=True"):
            refused(tf.constant(argument))


def test_a_size_that_is_an_argument_of_a_function_inside(tf):
    @tf.function(jit_compile=True)
    def ones(n):
        return tf.ones([n])

    @tf.function
    def f(n):
        return tf.reduce_sum(ones(n) * 2.0)

    assert [float(f(tf.constant(n))) for n in (2, 3)] == [4, 6]


def test_the_width_of_a_band_may_be_a_tensor(tf):
    @tf.function(jit_compile=True)
    def f(x, lower, upper):
        return tf.linalg.band_part(x, lower, upper)

    x = tf.reshape(tf.range(1.0, 13.0), [3, 4])
    for lower, upper in [(0, 0), (1, -1), (-1, 2), (2, 1)]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(lower), tf.constant(upper))
        wanted = tf.linalg.band_part(x, lower, upper).numpy()
        assert y.numpy().tolist() == wanted.tolist()
        assert tape.gradient(y, x).numpy().tolist() == (wanted != 0).tolist()


@pytest.mark.gradtape_only
@pytest.mark.parametrize("program", ["boolean_mask", "x[mask]", "where", "unique", "sequence_mask"])
def test_an_error_that_is_made_anew_on_its_way(tf, program):
    """As Keras does, to tell what a layer was given."""

    @tf.function(autograph=False)
    def f(x, n):
        try:
            return PROGRAMS[program](tf, x, n)
        except Exception as error:
            raise type(error)(f"In a layer: {error}") from None

    wanted = PROGRAMS[program](tf, tf.constant(X), tf.constant(2))
    same(f(tf.constant(X), tf.constant(2)), wanted.numpy())


@pytest.mark.gradtape_only
def test_one_warning_for_functions_made_anew_of_the_same_lines(tf, warnings):
    def make():
        return tf.function(lambda x: tf.unique(x)[0])

    for _ in range(3):
        make()(tf.constant(X))
    assert len(warnings()) == 1


@pytest.mark.gradtape_only
def test_no_warning_for_a_function_inside_for_the_same_reason(tf, warnings):
    @tf.function
    def inside(x):
        return tf.unique(x)[0]

    @tf.function
    def around(x):
        return inside(x)

    around(tf.constant(X))
    (message,) = warnings()
    assert message.startswith("around runs as plain Python")


@pytest.mark.gradtape_only
def test_a_function_inside_for_a_reason_of_its_own_is_told_of(tf, warnings):
    @tf.function
    def inside(x):
        return tf.unique(x)[0]

    @tf.function
    def around(x, text):
        return inside(x), tf.strings.length(text)

    around(tf.constant(X), tf.constant("a"))
    assert [message.split()[0] for message in warnings()] == ["around", "inside"]


def told_more(call):
    """As Keras does it: an error is made anew, with more to say."""

    def calling(x):
        try:
            return call(x)
        except Exception as error:
            more = f"while calling a layer\n{error}\nwith\nmany\nlines"
            try:
                new = type(error)(more)
            except TypeError:
                new = RuntimeError(more)
            raise new from None

    return calling


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x: tf.unique(x)[0],
        lambda tf, x: tf.boolean_mask(x, x > 0.0),
        lambda tf, x: x[: tf.cast(tf.reduce_sum(x), tf.int32)],
        lambda tf, x: tf.range(tf.cast(tf.reduce_sum(x), tf.int32)),
        lambda tf, x: tf.sparse.from_dense(x).values,
    ],
    ids=["unique", "boolean_mask", "slice", "range", "sparse"],
)
def test_an_error_that_became_another_on_its_way_is_known(tf, call):
    x = tf.constant([1.0, 0.0, 1.0])
    result = tf.function(told_more(lambda x: call(tf, x)))(x)
    np.testing.assert_array_equal(result, call(tf, x))


@pytest.mark.gradtape_only
def test_the_warning_has_what_the_op_said_where_others_made_errors_of_it(tf, warnings):
    def call(x):
        return tf.unique(x)[0]  # the line

    tf.function(told_more(call))(tf.constant(X))
    (message,) = warnings()
    assert "layer" not in message
    assert f"line {call.__code__.co_firstlineno + 1}: unique: " in message


@pytest.mark.gradtape_only
def test_what_the_user_asks_for_stays_the_error_it_became(tf):
    with pytest.raises(tf.errors.SymbolicTensorError, match="while calling a layer"):
        tf.function(told_more(lambda x: x.numpy()))(tf.constant(X))


@pytest.mark.gradtape_only
def test_a_signature_with_open_sizes_is_tried_once_for_all_sizes(tf, caplog):
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def positive(x):
        return tf.boolean_mask(x, x > 0.0)

    for size in (4, 3, 4, 2, 1):
        same(positive(tf.constant(X[:size])), [x for x in X[:size] if x > 0.0])
    assert positive.experimental_get_tracing_count() == 2  # with its sizes open, and for 4
    assert len(caplog.messages) == 1


@pytest.mark.gradtape_only
def test_sizes_that_are_tried_are_no_calls_that_are_traced_again(tf, caplog):
    f = tf.function(lambda x: tf.boolean_mask(x, x > 0.0))
    positive = f.get_concrete_function(tf.TensorSpec([None]))
    for size in (4, 3):
        same(positive(tf.constant(X[:size])), [x for x in X[:size] if x > 0.0])
    (message,) = caplog.messages
    assert "runs as plain Python" in message
