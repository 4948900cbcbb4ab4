"""Composites in functions, control flow and tapes: IndexedSlices and Optional."""

import numpy as np
import pytest


@pytest.fixture
def Optional(tf):
    return tf.experimental.Optional


@pytest.fixture
def rows(tf):
    return tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))


def test_which_are_tensors(tf, rows, Optional):
    assert tf.is_tensor(rows)
    assert not tf.is_tensor(Optional.from_value(tf.constant(1.0)))
    assert not tf.is_tensor(tf.data.Dataset.range(2))


def test_specs(tf, rows, Optional):
    spec = tf.type_spec_from_value(rows)
    assert isinstance(spec, tf.TypeSpec) and isinstance(spec, tf.IndexedSlicesSpec)
    assert spec == tf.IndexedSlicesSpec([3, 2], tf.float32, tf.int32, tf.int32, [1])
    assert spec.is_compatible_with(tf.IndexedSlicesSpec([3, 2], tf.float32, tf.int32, tf.int32))
    optional = Optional.from_value({"x": tf.constant([1.0])})
    spec = tf.type_spec_from_value(optional)
    assert spec == tf.OptionalSpec({"x": tf.TensorSpec([1])})
    assert spec != tf.OptionalSpec({"x": tf.TensorSpec([2])})


def test_nest_expands_them(tf, rows):
    assert tf.nest.flatten([rows]) == [rows]
    assert len(tf.nest.flatten([rows], expand_composites=True)) == 3
    tripled = tf.nest.map_structure(lambda x: x * 3, [rows], expand_composites=True)[0]
    assert isinstance(tripled, tf.IndexedSlices)
    np.testing.assert_array_equal(tripled.values, [[3.0, 6.0]])
    tf.nest.assert_same_structure([rows], [tf.type_spec_from_value(rows)], expand_composites=True)
    with pytest.raises(ValueError):
        tf.nest.assert_same_structure([rows], [tf.constant(1.0)], expand_composites=True)


def test_a_function_takes_and_returns_rows(tf, rows):
    traces = []

    @tf.function
    def doubled(x):
        traces.append(x)
        return [tf.IndexedSlices(2.0 * x.values, x.indices, x.dense_shape)]

    (result,) = doubled(rows)
    np.testing.assert_array_equal(tf.convert_to_tensor(result), [[0, 0], [2, 4], [0, 0]])
    doubled(tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([0]), tf.constant([3, 2])))
    assert len(traces) == 1


def test_gradients_pass_rows_that_a_function_returns(tf):
    @tf.function
    def squares(x):
        return tf.IndexedSlices(x * x, tf.constant([0, 2]), tf.constant([3, 1]))

    x = tf.constant([[2.0], [3.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.convert_to_tensor(squares(x)) ** 2
        dx = inner.gradient(y, x)
    np.testing.assert_allclose(dx, [[32.0], [108.0]])
    np.testing.assert_allclose(outer.gradient(dx, x), [[48.0], [108.0]])


def test_a_function_returns_an_optional(tf, Optional):
    @tf.function
    def wrapped(x):
        return Optional.from_value((x, {"twice": 2 * x}))

    result = wrapped(tf.constant([1, 2]))
    assert isinstance(result, Optional) and bool(result.has_value())
    x, others = result.get_value()
    np.testing.assert_array_equal(x, [1, 2])
    np.testing.assert_array_equal(others["twice"], [2, 4])
    assert result.element_spec[0] == tf.TensorSpec([2], tf.int32)


def test_a_function_that_depends_on_sizes_returns_an_optional(tf, Optional):
    @tf.function
    def positive(x):
        return Optional.from_value(tf.boolean_mask(x, x > 0))

    np.testing.assert_array_equal(positive(tf.constant([1, -1, 2])).get_value(), [1, 2])


def test_a_function_takes_an_optional(tf, Optional):
    @tf.function
    def value_or_zero(optional):
        if optional.has_value():
            return optional.get_value()
        return tf.zeros([2])

    np.testing.assert_array_equal(value_or_zero(Optional.from_value(tf.ones([2]))), [1, 1])
    np.testing.assert_array_equal(value_or_zero(Optional.empty(tf.TensorSpec([2]))), [0, 0])


def test_branches_return_optionals(tf, Optional):
    @tf.function
    def root(x):
        return tf.cond(
            x >= 0,
            lambda: Optional.from_value(tf.sqrt(x)),
            lambda: Optional.empty(tf.TensorSpec([])),
        )

    x = tf.constant(4.0)
    assert float(root(x).get_value()) == 2.0
    none = root(tf.constant(-4.0))
    assert not bool(none.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError):
        none.get_value()


def test_the_gradient_of_what_an_optional_holds(tf, Optional):
    @tf.function
    def wrapped(x):
        return Optional.from_value(x**3)

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        eager = Optional.from_value(x**3).get_value()
    assert float(tape.gradient(eager, x)) == 12.0


@pytest.mark.gradtape_only  # TensorFlow gives no gradient of a variant that a function returns
def test_the_gradient_of_an_optional_from_a_function(tf, Optional):
    @tf.function
    def wrapped(x):
        return Optional.from_value(x**3)

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = wrapped(x).get_value()
        dx = tape.gradient(y, x)
    assert float(dx) == 12.0 and float(outer.gradient(dx, x)) == 12.0


def test_a_step_on_an_iterator_returns_an_optional(tf, Optional):
    @tf.function
    def step(iterator):
        return Optional.from_value(2 * next(iterator))

    iterator = iter(tf.data.Dataset.range(4).batch(2))
    np.testing.assert_array_equal(step(iterator).get_value(), [0, 2])
    np.testing.assert_array_equal(step(iterator).get_value(), [4, 6])
    with pytest.raises((StopIteration, tf.errors.OutOfRangeError)):
        step(iterator)


def test_loops_carry_rows(tf, rows):
    def doubled(x):
        return tf.IndexedSlices(2.0 * x.values, x.indices, x.dense_shape)

    def grown(x):
        return tf.while_loop(lambda x: x.values[0, 0] < 10.0, lambda x: [doubled(x)], [x])[0]

    for run in (grown, tf.function(grown)):
        np.testing.assert_array_equal(run(rows).values, [[16.0, 32.0]])


def test_autograph_carries_rows(tf, rows):
    @tf.function
    def run(x, flag):
        for _ in tf.range(3):
            x = tf.IndexedSlices(2.0 * x.values, x.indices, x.dense_shape)
        if flag:
            x = tf.IndexedSlices(-x.values, x.indices, x.dense_shape)
        return x

    np.testing.assert_array_equal(run(rows, tf.constant(False)).values, [[8.0, 16.0]])
    np.testing.assert_array_equal(run(rows, tf.constant(True)).values, [[-8.0, -16.0]])


def test_an_optional_is_an_element(tf, Optional):
    optionals = tf.data.Dataset.range(3).map(lambda i: Optional.from_value(2 * i))
    assert optionals.element_spec == tf.OptionalSpec(tf.TensorSpec([], tf.int64))
    assert [int(each.get_value()) for each in optionals] == [0, 2, 4]
