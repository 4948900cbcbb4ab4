"""Variables of compiled functions: created once, donated, read and assigned by several threads."""

import threading
import time

import numpy as np
import pytest
from semantics.helpers import grad, in_threads, same

pytestmark = pytest.mark.gradtape_only


# Created once


def test_created_by_the_first_call(tf):
    class Dense:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones([x.shape[-1], 2]) * 3.0, name="w")
            return x @ self.w

    dense = Dense()
    same(dense(tf.ones([1, 4])), [[12.0, 12.0]])
    first = dense.w
    same(dense(tf.ones([5, 4])), np.full([5, 2], 12.0))
    assert dense.w is first and first.name == "w:0" and first.shape == [4, 2]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(dense(tf.ones([1, 4])))
    same(tape.gradient(y, dense.w), np.ones([4, 2]))


def test_created_on_a_tape(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(5.0))
        return made[0] * x

    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert [v.ref() for v in tape.watched_variables()] == [made[0].ref()]
    same(tape.gradient(y, made[0]), 2.0)


def test_initial_values_may_depend_on_other_variables(tf):
    source, made = tf.Variable([1.0, 2.0]), []

    @tf.function
    def f():
        if not made:
            made.append(tf.Variable(source * 10.0))
            made.append(tf.Variable(lambda: made[0] + 1.0))
        return made[1] + 0.0

    same(f(), [11.0, 21.0])


def test_an_initial_value_that_depends_on_an_argument(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(2.0 * x, name="w"))
        return made[0] + x

    with pytest.raises(ValueError, match=r"initial value of the variable 'w.*' depends on an arg"):
        f(tf.constant(1.0))


def test_created_again(tf):
    @tf.function
    def f(x):
        return tf.Variable(1.0, name="again") + x

    for _ in range(2):
        with pytest.raises(ValueError, match=r"f creates variables \('again:0'\)"):
            f(tf.constant(1.0))


def test_another_signature_creates_no_more(tf):
    made = []

    @tf.function
    def f(x):
        if len(made) < 2:
            made.append(tf.Variable(1.0))
        return made[0] + x

    with pytest.raises(ValueError, match="A function may create variables on its first call only"):
        f(tf.constant(1.0))


# Arguments


def test_variables_as_arguments_are_assigned(tf):
    @tf.function
    def move(source, target, by):
        source.assign_sub(by)
        target.assign_add(by)
        return source + target

    a, b, c = tf.Variable(10.0), tf.Variable(0.0), tf.Variable(5.0)
    same(move(a, b, tf.constant(1.0)), 10.0)
    same(move(b, c, tf.constant(1.0)), 6.0)
    assert [float(v) for v in (a, b, c)] == [9.0, 0.0, 6.0]
    same(move(a, a, tf.constant(4.0)), 18.0)
    same(a, 9.0)


def test_lists_and_dicts_of_variables(tf):
    variables = {"a": tf.Variable([1.0, 2.0]), "b": [tf.Variable(3.0)]}

    @tf.function
    def loss(variables, x):
        return tf.reduce_sum(variables["a"] * x) * variables["b"][0]

    with tf.GradientTape() as tape:
        y = loss(variables, tf.constant(2.0))
    g = tape.gradient(y, variables)
    same(g["a"], [6.0, 6.0])
    same(g["b"][0], 6.0)


def test_a_variable_whose_shape_changes(tf):
    v = tf.Variable([1.0, 3.0], shape=[None])

    @tf.function
    def mean():
        return tf.reduce_mean(v)

    for value in ([1.0, 3.0], [1.0, 2.0, 3.0, 6.0], [7.0], [1.0, 3.0]):
        v.assign(value)
        with tf.GradientTape() as tape:
            y = mean()
        same(y, np.mean(value))
        same(tape.gradient(y, v), np.ones(len(value)) / len(value))

    @tf.function
    def longer():
        v.assign(tf.concat([v, v], 0))

    longer()
    longer()
    same(v, [1.0, 3.0] * 4)


# Values that someone holds outlive a step


HOLDERS = {
    "value()": lambda tf, v: v.value(),
    "read_value()": lambda tf, v: v.read_value(),
    "convert_to_tensor": lambda tf, v: tf.convert_to_tensor(v),
    "identity": lambda tf, v: tf.identity(v),
    "a part": lambda tf, v: v[:],
    "reshape": lambda tf, v: tf.reshape(v, [2]),
    "asarray": lambda tf, v: np.asarray(v),
    "a view": lambda tf, v: np.asarray(v)[:],
    "numpy": lambda tf, v: v.numpy(),
    "memoryview": lambda tf, v: memoryview(np.asarray(v)),
    "another variable": lambda tf, v: tf.Variable(v),
    "returned": lambda tf, v: tf.function(lambda: v)(),
    "a part returned": lambda tf, v: tf.function(lambda: tf.reshape(v, [2]))(),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("steps_before", [0, 1, 2])
def test_a_value_read_before_a_step_keeps(tf, hold, steps_before):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def double():
        v.assign(2.0 * v)

    for _ in range(steps_before):
        double()
    held = hold(tf, v)
    before = np.array(held)
    for _ in range(3):
        double()
    same(np.asarray(held), before)
    same(before, np.array([1.0, 2.0]) * 2**steps_before)
    same(v, before * 8.0)


def test_a_step_writes_into_the_array_that_nobody_holds(tf):
    v = tf.Variable(np.ones(1000, np.float32))

    @tf.function
    def double():
        v.assign(2.0 * v)

    for _ in range(3):
        double()
    places = set()
    for _ in range(5):
        double()
        v._cell.device.block_until_ready()
        places.add(v._cell.device.unsafe_buffer_pointer())
    assert len(places) == 2  # in turn


def test_what_a_tape_recorded_outlives_steps(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def double():
        v.assign(2.0 * v)

    f = tf.function(lambda: tf.reduce_sum(v**3))
    double()
    with tf.GradientTape(persistent=True) as tape:
        eager, compiled = v * v, f()
    for _ in range(3):
        double()
    same(tape.gradient(eager, v), [4.0, 8.0])
    same(tape.gradient(compiled, v), [12.0, 48.0])


def test_variables_that_share_a_value(tf):
    x = tf.constant([1.0, 2.0])
    v, w = tf.Variable(x), tf.Variable(x)

    @tf.function
    def step():
        v.assign(v * 2.0)
        w.assign(w * 3.0)

    @tf.function
    def copy():
        v.assign(w)

    @tf.function
    def swap():
        before = v + 0.0
        v.assign(w)
        w.assign(before)

    step()
    copy()
    step()
    same(v, [6.0, 12.0])
    same(w, [9.0, 18.0])
    swap()
    step()
    same(v, [18.0, 36.0])
    same(w, [18.0, 36.0])
    same(x, [1.0, 2.0])


def test_eager_updates_between_steps(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def double():
        v.assign(2.0 * v)
        return v.read_value()

    kept = double()
    v.scatter_nd_update([[0]], [100.0])
    double()
    v[1].assign(7.0)
    double()
    v.assign_add([1.0, 1.0])
    same(v, [401.0, 15.0])
    same(kept, [2.0, 4.0])


def test_an_array_of_the_caller_may_be_written_after_the_call(tf):
    f = tf.function(lambda x: tf.reduce_sum(x @ x))
    for size in (2, 500):
        x = np.ones([size, size])
        y = f(x)
        x[:] = 7.0
        same(y, float(size**3))


def test_a_step_in_a_loop_with_an_outer_tape(tf):
    v = tf.Variable(1.0)

    @tf.function
    def grow(x):
        v.assign(v * x)
        return v * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = sum(grow(x) for _ in range(3))
    # Each assignment cuts the chain: the gradient of v * x is v at that time.
    same(total, 4.0 + 8.0 + 16.0)
    same(tape.gradient(total, x), 2.0 + 4.0 + 8.0)
    same(v, 8.0)


# Threads


def test_a_counter_counts_every_call(tf):
    count = tf.Variable(0)

    @tf.function
    def increment():
        count.assign_add(1)
        return count.read_value()

    def task():
        return [int(increment()) for _ in range(100)]

    seen = [n for each in in_threads([task] * 6) for n in each]
    assert sorted(seen) == list(range(1, 601))
    assert int(count) == 600


def test_a_counter_counts_calls_on_tapes(tf):
    count = tf.Variable(0.0)

    @tf.function
    def increment(x):
        count.assign_add(1.0)
        return x * x

    def recorded():
        return [float(grad(tf, increment, tf.constant(3.0))) for _ in range(50)]

    def plain():
        return [float(increment(tf.constant(3.0))) for _ in range(50)]

    results = in_threads([recorded, plain, recorded, plain])
    assert results == [[6.0] * 50, [9.0] * 50] * 2
    assert float(count) == 200.0


def test_a_counter_counts_eager_updates_too(tf):
    count = tf.Variable(0)

    @tf.function
    def increment():
        count.assign_add(1)

    def compiled():
        for _ in range(300):
            increment()

    def eager():
        for _ in range(300):
            count.assign_add(1)

    in_threads([compiled, eager, compiled, eager])
    assert int(count) == 1200


def test_threads_compute_what_one_thread_computes(tf):
    w = tf.Variable(np.linspace(-1.0, 1.0, 12).reshape(3, 4))

    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.tanh(x @ w) ** 2)

    def slopes(seed):
        x = tf.constant(np.random.default_rng(seed).normal(size=(2 + seed % 3, 3)))
        with tf.GradientTape() as tape:
            y = loss(x)
        return tape.gradient(y, w).numpy()

    found = in_threads([lambda seed=seed: slopes(seed) for seed in range(8)])
    for seed, g in enumerate(found):
        np.testing.assert_array_equal(g, slopes(seed))
    assert loss.experimental_get_tracing_count() == 3


def test_readers_see_whole_values_while_another_thread_trains(tf):
    v = tf.Variable(np.zeros((200, 200), np.float32))
    one, done = tf.constant(1.0), threading.Event()

    @tf.function
    def step(x):
        v.assign(v + x)

    @tf.function
    def spread(x):
        return (tf.reduce_max(v) - tf.reduce_min(v)) * x

    def train():
        for _ in range(200):
            step(one)
        done.set()

    def compiled():
        while not done.is_set():
            assert float(spread(one)) == 0.0

    def eager():
        while not done.is_set():
            assert np.ptp(v.numpy()) == 0.0

    in_threads([train, compiled, eager, compiled])
    same(v[0, 0], 200.0)


def test_the_first_calls_at_once_trace_once(tf):
    class Model:
        v = None
        traces = 0

        @tf.function
        def count(self):
            self.traces += 1
            time.sleep(0.02)
            if self.v is None:
                self.v = tf.Variable(0.0)
            self.v.assign_add(1.0)

    model = Model()
    in_threads([model.count] * 5)
    same(model.v, 5.0)
    assert model.traces == 2  # the second one is without the creation


def test_other_threads_stay_eager_while_one_traces(tf):
    v, tracing = tf.Variable(1.0), threading.Event()

    @tf.function
    def f(x):
        tracing.set()
        time.sleep(0.2)
        return x * v

    def eager():
        assert tracing.wait(10)
        assert tf.executing_eagerly()
        with tf.GradientTape() as tape:
            y = v * v
        same(tape.gradient(y, v), 2.0)
        v.assign(5.0)
        same(v, 5.0)

    in_threads([lambda: f(tf.constant(2.0)), eager])
    same(f(tf.constant(2.0)), 10.0)


def test_python_called_by_a_program_may_read_variables(tf):
    big, factor = tf.Variable(np.ones((300, 300), np.float32)), tf.Variable(3.0)

    @tf.function
    def f(x):
        y = x @ x @ x
        seen = tf.numpy_function(
            lambda _: factor.numpy(), [tf.reduce_sum(y)], tf.TensorSpec([], tf.float32)
        )
        big.assign(y)
        factor.assign_add(1.0)
        return seen

    x = tf.ones([300, 300])
    assert [float(y) for y in in_threads([lambda: [f(x) for _ in range(5)]])[0]] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "method, value",
    [
        ("assign", lambda x: [x, x * 2.0, 7.0]),
        ("assign_add", lambda x: [x, 0.0, x]),
        ("assign_sub", lambda x: (x, x, x)),
    ],
)
def test_a_list_that_holds_tensors_is_assigned(tf, method, value):
    eager, compiled = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def change(x):
        getattr(compiled, method)(value(x))

    for x in tf.constant(2.0), tf.constant(5.0):
        getattr(eager, method)(value(x))
        change(x)
        np.testing.assert_array_equal(compiled, eager)


@pytest.mark.parametrize("how", ["update", "add", "sub", "max", "min"])
def test_a_list_that_holds_tensors_is_scattered(tf, how):
    eager, compiled = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def change(i, x):
        getattr(compiled, f"scatter_nd_{how}")([[i], [0]], [x, 1.5])

    for i, x in (1, 4.0), (2, -1.0):
        i, x = tf.constant(i), tf.constant(x)
        getattr(eager, f"scatter_nd_{how}")([[i], [0]], [x, 1.5])
        change(i, x)
        np.testing.assert_array_equal(compiled, eager)
