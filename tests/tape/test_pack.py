"""Packs: small variables that travel to XLA side by side are variables like others."""

import gc
import threading
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.tape.pack import Place

pytestmark = pytest.mark.gradtape_only


def is_packed(variable):
    return type(variable._cell.device) is Place


def counters(count, shape=(2,), dtype=tf.float32):
    return [tf.Variable(tf.fill(shape, tf.cast(i, dtype))) for i in range(count)]


def add_one_to(variables):
    @tf.function
    def step():
        for v in variables:
            v.assign_add(tf.ones_like(v))

    return step


def values(variables):
    return [float(np.ravel(v.numpy())[0]) for v in variables]


def test_small_variables_that_are_assigned_share_an_array():
    small, large = counters(3), counters(2, (64, 64))
    step = add_one_to(small + large)
    step()
    assert all(map(is_packed, small)) and not any(map(is_packed, large))
    assert len({id(v._cell.place.pack) for v in small}) == 1
    step()
    assert values(small + large) == [2.0, 3.0, 4.0, 2.0, 3.0]


def test_one_by_itself_is_not_packed():
    several, alone = counters(2), counters(1, dtype=tf.int32)
    step = add_one_to(several + alone)
    step()
    assert all(map(is_packed, several)) and not is_packed(alone[0])
    assert values(several + alone) == [1.0, 2.0, 1.0]


def test_dtypes_and_shapes():
    variables = [
        *counters(2, (), tf.int64),
        *counters(2, (2, 0)),
        *counters(2, (3, 1), tf.float64),
        *counters(2, (), tf.float64),
        tf.Variable([True, False]),
        tf.Variable(False),
    ]
    before = [v.numpy() for v in variables]

    @tf.function
    def step():
        for v in variables:
            v.assign(tf.logical_not(v) if v.dtype == tf.bool else v + 1)

    for _ in range(3):
        step()
    for v, old in zip(variables, before, strict=True):
        new = v.numpy()
        wanted = ~old if old.dtype == bool else old + 3
        assert new.shape == old.shape and new.dtype == old.dtype
        np.testing.assert_array_equal(new, wanted)


def test_a_pack_is_not_too_large():
    variables = counters(40, (1000,))
    add_one_to(variables)()
    packs = {id(v._cell.place.pack): v._cell.place.pack for v in variables}
    assert len(packs) == 3 and max(p.array.nbytes for p in packs.values()) <= 65536
    assert values(variables) == [i + 1.0 for i in range(40)]


def test_eager_changes_between_steps():
    a, b, c = variables = counters(3)
    step = add_one_to(variables)
    optimizer = tf.optimizers.SGD(1.0)
    expected = np.array([0.0, 1.0, 2.0])
    for number in range(4):
        step()
        step()
        expected += 2
        b.assign([10.0 * number, 0.0])
        expected[1] = 10.0 * number
        c.assign_add([3.0, 0.0])
        expected[2] += 3
        optimizer.apply_gradients([(tf.fill([2], 0.5), a)])
        expected[0] -= 0.5
        assert values(variables) == expected.tolist()


def test_what_was_read_before_a_step_keeps_its_value():
    variables = counters(3)
    step = add_one_to(variables)
    step()
    before = [v.value() for v in variables]
    again = [v.value() for v in variables]
    step()
    assert [float(x[0]) for x in before] == [float(x[0]) for x in again] == [1.0, 2.0, 3.0]
    assert values(variables) == [2.0, 3.0, 4.0]


def test_a_tensor_of_a_small_variable_holds_no_more_than_its_value():
    variables = counters(40, (100,))
    step = add_one_to(variables)
    step()
    array = variables[0].value()._array
    assert array.base is None and array.nbytes == 400


def test_two_functions_that_share_some():
    a, b, c = counters(3)
    first, second = add_one_to([a, b]), add_one_to([b, c])
    both = add_one_to([a, b, c])
    for _ in range(3):
        first()
        second()
        both()
    assert values([a, b, c]) == [6.0, 10.0, 8.0]


def test_a_function_that_was_compiled_before_the_variables_were_packed():
    a, b = variables = counters(2)
    total = tf.function(lambda: tf.reduce_sum(a + b))
    only_a = tf.function(lambda: a.assign_add([1.0, 1.0]))
    assert float(total()) == 2.0
    only_a()
    step = add_one_to(variables)
    for number in range(1, 4):
        step()
        assert float(total()) == 2.0 + 6.0 * number - 2.0 + 2.0
        only_a()
    assert values(variables) == [7.0, 4.0]


def test_derivatives_by_packed_variables():
    a, b = variables = counters(2)
    step = add_one_to(variables)
    product = tf.function(lambda: tf.reduce_sum(a * b * b))
    for number in range(1, 4):
        step()
        with tf.GradientTape() as tape:
            y = product()
        by_a, by_b = tape.gradient(y, [a, b])
        x, z = float(number), float(number + 1)
        assert by_a.numpy().tolist() == [z * z] * 2 and by_b.numpy().tolist() == [2 * x * z] * 2


def test_a_failing_step_changes_none():
    variables = counters(3)

    @tf.function
    def step(i):
        for v in variables:
            v.assign_add([1.0, 1.0])
        return tf.gather([1.0, 2.0], i)

    step(tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(5))
    assert values(variables) == [1.0, 2.0, 3.0]
    step(tf.constant(0))
    assert values(variables) == [2.0, 3.0, 4.0]


def test_readers_in_other_threads_see_whole_values():
    variables = counters(2, (500,))
    step = add_one_to(variables)
    step()
    torn, done = [], threading.Event()

    def read():
        last = 0.0
        while not done.is_set():
            for v in variables:
                x = v.numpy()
                if x.min() != x.max():
                    torn.append(x)
            now = float(variables[0][0])
            if now < last:
                torn.append((last, now))
            last = now

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    seen = []
    for _ in range(300):
        step()
        seen.append(float(variables[0][0]))
    done.set()
    for reader in readers:
        reader.join()
    assert seen == [number + 2.0 for number in range(300)] and not torn


def test_writers_in_other_threads_are_not_lost():
    a, b = variables = counters(2)
    step = add_one_to(variables)
    step()

    def write():
        for _ in range(300):
            a.assign_add([1.0, 0.0])

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    for _ in range(300):
        step()
    for writer in writers:
        writer.join()
    assert float(a[0]) == 901.0 and float(a[1]) == 301.0 and float(b[0]) == 302.0


def test_variables_outlive_the_function_and_each_other():
    variables = counters(3)
    step = add_one_to(variables)
    step()
    last = variables[-1]
    pack = weakref.ref(last._cell.place.pack)
    del step, variables
    gc.collect()
    assert float(last[0]) == 3.0
    last.assign_add([1.0, 1.0])
    assert values([last]) == [4.0]
    del last
    gc.collect()
    assert pack() is None
