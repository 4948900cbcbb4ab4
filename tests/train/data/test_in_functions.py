"""Iterators, datasets and Optionals inside `@function`: each call takes the next element."""

import gc
import weakref

import numpy as np
import pytest


def ints(tensors):
    return [int(x) for x in tensors]


# next


def test_Q31_each_call_takes_the_next_element(tf):
    iterator = iter(tf.data.Dataset.range(0, 6, 2))

    @tf.function
    def f():
        return next(iterator) * 10

    assert ints(f() for _ in range(3)) == [0, 20, 40]
    with pytest.raises(tf.errors.OutOfRangeError):
        f()
    with pytest.raises(StopIteration):
        next(iterator)


def test_get_next_and_several_in_a_call(tf):
    iterator = iter(tf.data.Dataset.range(6))
    f = tf.function(lambda: 10 * iterator.get_next() + iterator.get_next())
    assert ints([f(), f()]) == [1, 23]
    assert int(next(iterator)) == 4


def test_Q31_an_iterator_is_an_argument(tf):
    traces = []

    @tf.function
    def f(iterator, scale):
        traces.append(1)
        x, y = next(iterator)
        return x * scale + tf.cast(y["b"], x.dtype)

    pairs = tf.data.Dataset.from_tensor_slices(([1.0, 2.0], {"b": [10, 20]}))
    for _ in range(2):
        iterator = iter(pairs)
        assert [float(f(iterator, tf.constant(2.0))) for _ in range(2)] == [12.0, 24.0]
        with pytest.raises(tf.errors.OutOfRangeError):
            f(iterator, tf.constant(2.0))
    # Others of the same elements need no other trace.
    f(iter(pairs.repeat(2)), tf.constant(1.0))
    assert len(traces) == 1


@pytest.mark.gradtape_only  # TensorFlow takes from one iterator under two names in any order
def test_two_iterators_of_one_call(tf):
    numbers = tf.data.Dataset.range(9)
    for same_first in (True, False):
        f = tf.function(lambda a, b: next(a) * 100 + next(b))
        a, b = iter(numbers), iter(numbers.skip(3))
        if same_first:
            assert ints([f(a, a), f(a, b), f(a, b)]) == [1, 203, 304]
        else:
            assert ints([f(a, b), f(a, b), f(a, a)]) == [3, 104, 203]


@pytest.mark.gradtape_only
def test_a_trace_does_not_keep_the_iterator_that_it_was_made_with(tf):
    f = tf.function(lambda iterator: next(iterator))
    iterator = iter(tf.data.Dataset.range(5))
    f(iterator)
    gone = weakref.ref(iterator)
    del iterator
    gc.collect()
    assert gone() is None


def test_a_training_step_on_an_iterator(tf):
    w = tf.Variable(0.0)
    data = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])).repeat()

    @tf.function
    def step(iterator):
        x, y = next(iterator)
        with tf.GradientTape() as tape:
            loss = (w * x - y) ** 2
        w.assign_sub(0.05 * tape.gradient(loss, w))
        return loss

    iterator, expected = iter(data), 0.0
    for i in range(7):
        x = [1.0, 2.0, 3.0][i % 3]
        np.testing.assert_allclose(step(iterator), (expected * x - 2 * x) ** 2, rtol=1e-4)
        expected -= 0.05 * 2 * x * (expected * x - 2 * x)
    np.testing.assert_allclose(w, expected, rtol=1e-5)


@pytest.mark.parametrize("relaxed", [False, True])
def test_another_shape_is_another_element_not_a_lost_one(tf, relaxed):
    batches = tf.data.Dataset.range(10).batch(4)

    @tf.function(reduce_retracing=relaxed)
    def f(iterator):
        return tf.reduce_sum(next(iterator) * 2)

    for _ in range(3):
        iterator = iter(batches)
        assert ints(f(iterator) for _ in range(3)) == [12, 44, 34]
    assert f.experimental_get_tracing_count() <= 2
    assert int(f(iter(tf.data.Dataset.range(3).batch(3)))) == 6


def test_tracing_takes_nothing(tf):
    iterator = iter(tf.data.Dataset.range(4))
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(10, dtype=tf.int64))  # so it is traced twice
        return next(iterator) * x + made[0]

    f.get_concrete_function(tf.TensorSpec([], tf.int64))
    assert int(next(iterator)) == 0
    assert int(f(tf.constant(1, tf.int64))) == 11
    assert f(tf.constant([1, 1], tf.int64)).numpy().tolist() == [12, 12]  # another trace
    assert int(next(iterator)) == 3


def test_a_function_that_fails_while_it_is_traced_takes_nothing(tf):
    iterator = iter(tf.data.Dataset.range(4))

    @tf.function
    def f():
        next(iterator)
        raise KeyError("here")

    with pytest.raises(KeyError):
        f()
    assert int(next(iterator)) == 0


@pytest.mark.gradtape_only
def test_a_call_that_finds_the_end_changes_no_variable_and_loses_no_element(tf):
    v = tf.Variable(0)
    numbers, others = iter(tf.data.Dataset.range(9)), iter(tf.data.Dataset.range(1))

    @tf.function
    def f():
        v.assign_add(1)
        return next(numbers) + next(others)

    f()
    with pytest.raises(tf.errors.OutOfRangeError):
        f()
    assert int(v) == 1
    assert int(next(numbers)) == 1


def test_elements_are_constants_unless_watched(tf):
    iterator = iter(tf.data.Dataset.from_tensors(3.0).repeat())

    @tf.function
    def f():
        x = next(iterator)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert float(f()) == 6.0


@pytest.mark.gradtape_only
def test_a_tape_outside(tf):
    """(TensorFlow: "No gradient defined for operation 'IteratorGetNext'".)"""
    w = tf.Variable(2.0)
    iterator = iter(tf.data.Dataset.from_tensor_slices([1.0, 5.0]))
    f = tf.function(lambda: w * next(iterator))
    for expected in (1.0, 5.0):
        with tf.GradientTape() as tape:
            y = f()
        assert float(tape.gradient(y, w)) == expected


# In branches and loops


def test_Q31_each_round_takes_an_element(tf):
    iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def f(n):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(n):
            total = 10 * total + next(iterator)
        return total

    assert ints([f(tf.constant(3)), f(tf.constant(2))]) == [12, 34]
    assert int(next(iterator)) == 5
    with pytest.raises(tf.errors.OutOfRangeError):
        f(tf.constant(9))


def test_before_in_and_after_a_loop_in_order(tf):
    iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def f():
        first = next(iterator)
        inside = tf.constant(0, tf.int64)
        for _ in tf.range(2):
            inside = 10 * inside + next(iterator)
        return first, inside, next(iterator)

    assert ints(f()) == [0, 12, 3]
    assert ints(f()) == [4, 56, 7]


def test_the_branch_that_runs_takes_an_element(tf):
    iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def f(wanted):
        return next(iterator) if wanted else tf.constant(-1, tf.int64)

    assert ints(f(tf.constant(x)) for x in (True, False, True)) == [0, -1, 1]


def test_a_loop_of_training_steps(tf):
    w = tf.Variable(1.0)
    data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0])

    @tf.function
    def several(iterator, n):
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                loss = w * next(iterator)
            w.assign_sub(tape.gradient(loss, w))

    iterator = iter(data)
    several(iterator, tf.constant(3))
    assert float(w) == 1.0 - 6.0
    several(iterator, tf.constant(1))
    assert float(w) == 1.0 - 10.0


@pytest.mark.gradtape_only
def test_the_end_in_a_loop_changes_no_variable(tf):
    w = tf.Variable(0)
    iterator = iter(tf.data.Dataset.range(3))

    @tf.function
    def f():
        for _ in tf.range(5):
            w.assign_add(tf.cast(next(iterator), tf.int32) + 1)

    with pytest.raises(tf.errors.OutOfRangeError):
        f()
    assert int(w) == 0


# for


def test_Q32_for_over_a_dataset(tf):
    @tf.function
    def f(dataset):
        total, count = tf.constant(0, tf.int64), 0
        for x in dataset:
            total += x
            count += 1
        return total, count

    numbers = tf.data.Dataset.range(100)
    assert ints(f(numbers)) == [4950, 100]
    assert ints(f(numbers)) == [4950, 100]
    assert ints(f(numbers.take(0))) == [0, 0]


def test_the_program_does_not_grow_with_the_dataset(tf):
    rounds = []

    @tf.function
    def f():
        total = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(1000):
            rounds.append(x)
            total += x
        return total

    assert int(f()) == 499500
    assert len(rounds) < 5


def test_Q32_break_and_continue_in_an_infinite_dataset(tf):
    numbers = tf.data.Dataset.range(10).repeat()

    @tf.function
    def f(limit):
        total = tf.constant(0, tf.int64)
        for x in numbers:
            if x == 2:
                continue
            if total > limit:
                break
            total += x
        return total

    assert ints(f(tf.constant(n, tf.int64)) for n in (5, 100)) == [8, 105]


@pytest.mark.gradtape_only
def test_return_in_a_loop(tf):
    """(TensorFlow: "a return statement cannot be placed inside this TensorFlow loop".)"""

    @tf.function
    def first_above(limit):
        for x in tf.data.Dataset.range(50):
            if x > limit:
                return x
        return tf.constant(-1, tf.int64)

    assert ints(first_above(tf.constant(n, tf.int64)) for n in (7, 70)) == [8, -1]


def test_for_over_an_iterator_takes_what_it_uses(tf):
    iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def f():
        total = tf.constant(0, tf.int64)
        for x in iterator:
            total += x
            if x >= 3:
                break
        return total, next(iterator)

    assert ints(f()) == [6, 4]
    assert int(next(iterator)) == 5

    @tf.function
    def rest():
        total = tf.constant(0, tf.int64)
        for x in iterator:
            total += x
        return total

    assert int(rest()) == 6 + 7 + 8 + 9
    assert int(rest()) == 0


def test_a_loop_in_a_loop_begins_anew(tf):
    numbers = tf.data.Dataset.range(4)

    @tf.function
    def f(n):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(n):
            for x in numbers:
                total += x
        return total

    assert ints(f(tf.constant(n)) for n in (1, 3)) == [6, 18]


def test_each_iteration_is_shuffled_anew(tf):
    numbers = tf.data.Dataset.range(1000).shuffle(1000)

    @tf.function
    def first():
        found = tf.constant(-1, tf.int64)
        for x in numbers:
            found = x
            break
        return found

    assert len({int(first()) for _ in range(5)}) > 1


@pytest.mark.gradtape_only
def test_tracing_uses_up_no_order_of_a_shuffled_dataset(tf):
    def shuffled():
        return tf.data.Dataset.range(20).shuffle(20, seed=7)

    eager = shuffled()
    expected = [ints(eager)[:2] for _ in range(3)]
    for_loop, by_next, inner = shuffled(), shuffled(), shuffled()

    @tf.function
    def first_two():
        before = now = tf.constant(-1, tf.int64)
        for x in for_loop:
            before, now = now, x
            if before >= 0:
                break
        return before, now

    @tf.function
    def made():
        iterator = iter(by_next)
        return next(iterator), next(iterator)

    @tf.function
    def in_a_loop():
        found = tf.constant(0, tf.int64)
        for _ in tf.range(1):
            iterator = iter(inner)
            found += 100 * next(iterator) + next(iterator)
        return found

    assert [ints(first_two()) for _ in range(3)] == expected
    assert [ints(made()) for _ in range(3)] == expected
    assert ints(in_a_loop() for _ in range(3)) == [100 * x + y for x, y in expected]


def test_a_generator_is_read_anew_at_each_call(tf):
    values = [1.0, 2.0]
    dataset = tf.data.Dataset.from_generator(
        lambda: iter(values), output_signature=tf.TensorSpec([], tf.float32)
    )

    @tf.function
    def total():
        result = 0.0
        for x in dataset:
            result += x
        return result

    assert float(total()) == 3.0
    values.append(10.0)
    assert float(total()) == 13.0


def test_an_iterator_made_inside_begins_at_each_call(tf):
    numbers = tf.data.Dataset.range(5)

    @tf.function
    def f():
        iterator = iter(numbers)
        return next(iterator), next(iterator)

    assert [ints(f()), ints(f())] == [[0, 1], [0, 1]]


@pytest.mark.gradtape_only
def test_variables_that_begin_in_the_loop(tf):
    """(TensorFlow: "'y' must be defined before the loop".)"""

    @tf.function
    def last(dataset):
        for x in dataset:
            y = x * 2
        return y

    assert int(last(tf.data.Dataset.range(4))) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="must run at least once"):
        last(tf.data.Dataset.range(0))


def test_nested_elements_enumerate_and_zip(tf):
    numbers = tf.data.Dataset.range(4)

    @tf.function
    def f():
        total = tf.constant(0, tf.int64)
        for element in numbers.map(lambda x: {"a": x, "b": (x + 1, x + 2)}):
            total += element["a"] * element["b"][1]
        for i, x in enumerate(numbers.skip(1)):
            total += 100 * i * x
        for x, y in zip(numbers, numbers.skip(1)):  # noqa: B905
            total += 10000 * x * y
        return total

    expected = sum(x * (x + 2) for x in range(4)) + 100 * (0 + 2 + 6) + 10000 * (0 + 2 + 6)
    assert int(f()) == expected


def test_a_dataset_made_of_what_the_function_computes(tf):
    @tf.function
    def f(factor):
        total = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(4).map(lambda x: x * factor):
            total += x
        return total

    assert ints(f(tf.constant(n, tf.int64)) for n in (2, 3)) == [12, 18]


def test_reduce_inside(tf):
    values = [1, 2]
    dataset = tf.data.Dataset.from_generator(
        lambda: iter(values), output_signature=tf.TensorSpec([], tf.int32)
    )

    @tf.function
    def f(start):
        return dataset.reduce((start, 0), lambda state, x: (state[0] * x, state[1] + 1))

    assert ints(f(tf.constant(5))) == [10, 2]
    values.append(3)
    assert ints(f(tf.constant(1))) == [6, 3]


@pytest.mark.gradtape_only
def test_the_gradient_of_a_loop_over_a_dataset(tf):
    """TensorFlow gives None; each element is taken once, though the program runs twice."""
    w = tf.Variable(0.5)
    numbers = tf.data.Dataset.from_tensor_slices(np.arange(20, dtype=np.float32))

    @tf.function
    def f():
        with tf.GradientTape() as tape:
            loss = tf.constant(0.0)
            for x in numbers:
                loss += tf.sin(w * x)
        return tape.gradient(loss, w)

    x = np.arange(20)
    np.testing.assert_allclose(f(), (x * np.cos(0.5 * x)).sum(), rtol=1e-4)
    iterator = iter(numbers)

    @tf.function
    def g():
        with tf.GradientTape() as tape:
            loss, i = w * next(iterator), 0
            while i < 11:
                loss += tf.sin(w * next(iterator))
                i += 1
        return tape.gradient(loss, w)

    np.testing.assert_allclose(g(), (x * np.cos(0.5 * x))[1:12].sum(), rtol=1e-4)
    assert float(next(iterator)) == 12.0


# Optionals


def test_optionals_outside(tf):
    iterator = iter(tf.data.Dataset.range(1))
    there, missing = (iterator.get_next_as_optional() for _ in range(2))
    assert bool(there.has_value()) and not bool(missing.has_value())
    assert int(there.get_value()) == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        missing.get_value()
    assert there.element_spec == missing.element_spec == tf.TensorSpec([], tf.int64)
    made = tf.experimental.Optional.from_value({"a": 1.0, "b": [1, 2]})
    assert bool(made.has_value())
    assert float(made.get_value()["a"]) == 1.0
    assert made.element_spec["b"] == tf.TensorSpec([2], tf.int32)
    empty = tf.experimental.Optional.empty(tf.TensorSpec([3], tf.float32))
    assert not bool(empty.has_value())
    assert empty.element_spec == tf.TensorSpec([3], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        empty.get_value()


def test_Q33_optionals_inside(tf):
    @tf.function
    def f(iterator):
        optional = iterator.get_next_as_optional()
        if optional.has_value():
            return optional.get_value() * 2
        else:
            return tf.constant(-1, tf.int64)

    iterator = iter(tf.data.Dataset.range(2))
    assert ints(f(iterator) for _ in range(4)) == [0, 2, -1, -1]
    assert int(f(iter(tf.data.Dataset.range(7, 8)))) == 14


def test_a_value_that_is_missing_inside(tf):
    iterator = iter(tf.data.Dataset.range(1))
    f = tf.function(lambda: iterator.get_next_as_optional().get_value())
    assert int(f()) == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        f()


def test_optionals_in_a_loop(tf):
    @tf.function
    def total(iterator):
        result, more = tf.constant(0, tf.int64), tf.constant(True)
        while more:
            optional = iterator.get_next_as_optional()
            more = optional.has_value()
            if more:
                result += optional.get_value()
        return result

    assert int(total(iter(tf.data.Dataset.range(5)))) == 10


@pytest.mark.gradtape_only
def test_next_with_a_default(tf):
    """(TensorFlow raises at the end all the same.)"""
    iterator = iter(tf.data.Dataset.range(1))

    @tf.function
    def f():
        return next(iterator, tf.constant(-1, tf.int64))

    assert ints([f(), f(), f()]) == [0, -1, -1]


@pytest.mark.gradtape_only
def test_the_default_of_next_is_like_an_element(tf):
    iterator = iter(tf.data.Dataset.range(1))
    f = tf.function(lambda: next(iterator, -1))
    assert ints([f(), f()]) == [0, -1]
    pairs = iter(tf.data.Dataset.from_tensors((1.0, 2.0)))
    for default in (None, (1.0,), (1.0, "text")):
        with pytest.raises((TypeError, ValueError), match="next: only the run decides"):
            tf.function(lambda default=default: next(pairs, default))()


# What is told


@pytest.mark.gradtape_only
def test_a_trace_says_for_which_elements_it_is(tf):
    iterator = iter(tf.data.Dataset.range(5).batch(4))
    f = tf.function(lambda it: next(it)).get_concrete_function(iterator)
    f(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        f(iterator)
    assert "this trace is for elements of int64[4], and the next ones are of int64[1]." in str(
        error.value
    )
    assert next(iterator).numpy().tolist() == [4]


@pytest.mark.gradtape_only
def test_a_loop_of_python_that_does_not_end(tf):
    iterator = iter(tf.data.Dataset.counter())

    @tf.function(autograph=False)
    def f():
        return list(iterator)

    with pytest.raises(tf.errors.InvalidArgumentError, match="Let AutoGraph convert the loop"):
        f()
    assert int(next(iterator)) == 0


@pytest.mark.parametrize("of_open_sizes", [False, True], ids=["", "of_open_sizes"])
def test_an_optional_that_a_round_gives_its_spec(tf, of_open_sizes):
    """As Keras runs several steps in one call: what a step returns is not known before it ran.

    Elements of open sizes are for plain Python: there nobody says what the last call would return.
    """
    dataset = tf.data.Dataset.range(5)
    dataset = dataset.batch(1) if of_open_sizes else dataset
    steps = []

    @tf.function(autograph=False)
    def last_of_two(iterator):
        empty = tf.experimental.Optional.empty(None)

        def more(i, result, element):
            return tf.logical_and(i < 2, element.has_value())

        def one_round(i, result, element):
            def step():
                steps.append(element)
                y = tf.reduce_sum(element.get_value()) * 10
                made = tf.experimental.Optional.from_value({"y": y})
                empty._element_spec = made.element_spec
                return made

            def nothing():
                result._element_spec = empty._element_spec
                return result

            made = tf.cond(element.has_value(), step, nothing)
            following = tf.cond(i + 1 < 2, iterator.get_next_as_optional, lambda: element)
            return i + 1, made, following

        begin = [tf.constant(0), empty, iterator.get_next_as_optional()]
        _, result, _ = tf.while_loop(more, one_round, begin)
        result._element_spec = empty.element_spec
        return result

    iterator = iter(dataset)
    found = [last_of_two(iterator) for _ in range(4)]
    assert [bool(each.has_value()) for each in found] == [True, True, True, False]
    assert [int(each.get_value()["y"]) for each in found[:3]] == [10, 30, 40]
    assert len(steps) == 1 or of_open_sizes  # the round is traced once


@pytest.mark.gradtape_only  # an Optional of TensorFlow cannot be taken apart
def test_an_optional_that_a_branch_gives_its_spec_has_a_gradient(tf):
    @tf.function(autograph=False)
    def f(x):
        empty = tf.experimental.Optional.empty(None)

        def one_round(i, so_far):
            def begin():
                made = tf.experimental.Optional.from_value(x * 3.0)
                empty._element_spec = made.element_spec
                return made

            def go_on():
                so_far._element_spec = empty._element_spec
                value = tf.nest.flatten(so_far, expand_composites=True)[1]
                return tf.experimental.Optional.from_value(value * value)

            return i + 1, tf.cond(i < 1, begin, go_on)

        return tf.while_loop(lambda i, _: i < 3, one_round, [tf.constant(0), empty])[1].get_value()

    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy().tolist() == [81 * 2**4, 81 * 3**4]
    assert tape.gradient(y, x).numpy().tolist() == [4 * 81 * 2**3, 4 * 81 * 3**3]


@pytest.mark.gradtape_only  # in TensorFlow such a loop has no gradient
def test_elements_of_64_bits_in_threads_of_xla(tf):
    """A program so large that XLA runs parts of it, Python among them, in threads of its own."""
    rows = tf.constant([[0.75, 0.64], [0.2, -0.75]], tf.float64)
    seen = []

    def note(x):
        seen.append(x)
        return x

    def f(x):
        n = tf.constant(0)
        while n < 3 and tf.reduce_sum(x) < 1.5:
            n += 1
            for i in tf.data.Dataset.range(2):
                x = x + tf.tanh(x) + tf.cast(i, tf.float64)
        for i, row in tf.data.Dataset.from_tensor_slices(rows).enumerate():
            total = tf.numpy_function(note, [tf.reduce_sum(x)], tf.float64)
            x = tf.tanh(x) * row * tf.stop_gradient(total)
            if i < 1:
                x = tf.tanh(x * row)
                break
            x = tf.cumsum(x)
        return x

    results = []
    for call in (f, tf.function(f)):
        x = tf.constant([[0.1, 0.2], [0.3, 0.4]], tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        results.append((y.numpy(), tape.gradient(y, x).numpy()))
    for eager, compiled in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-12)
    assert [x.dtype for x in seen] == [np.float64, np.float64]
    assert abs(seen[0] - seen[1]) < 1e-12 * seen[0]
