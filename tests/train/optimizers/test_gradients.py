"""Gradients as optimizers take them: missing ones, those that do not fit, and rows."""

import numpy as np
import pytest

from .examples import RULES, gradtape_only, not_finite, peak_of, slices


def test_variables_without_gradient_are_named_in_a_warning(tf):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([1.0, 2.0], name="b")
    optimizer = tf.optimizers.Adam(0.1)
    with pytest.warns(UserWarning, match=r"Gradients do not exist for variables \['b:0'\]"):
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), a), (None, b)])
    np.testing.assert_allclose(a.numpy(), [0.9, 1.9], rtol=1e-4)
    np.testing.assert_array_equal(b.numpy(), [1.0, 2.0])
    assert int(optimizer.iterations.numpy()) == 1


@gradtape_only
def test_the_warning_says_where_to_read_why_and_points_to_the_call(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    with pytest.warns(UserWarning, match="gradtape run --explain") as caught:
        tf.optimizers.SGD().apply_gradients([(tf.constant(1.0), a), (None, b)])
    assert caught[0].filename == __file__


def test_no_gradient_at_all_is_an_error(tf):
    v = tf.Variable(1.0, name="v")
    optimizer = tf.optimizers.SGD(0.1)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])
    assert int(optimizer.iterations.numpy()) == 0


@gradtape_only
def test_the_error_names_the_variables_and_says_where_to_read_why(tf):
    with pytest.raises(ValueError, match=r"\['v:0'\].*gradtape run --explain"):
        tf.optimizers.SGD().apply_gradients([(None, tf.Variable(1.0, name="v"))])


def test_an_optimizer_knows_the_variables_that_it_was_built_with(tf):
    optimizer = tf.optimizers.SGD(0.1)
    first, other = tf.Variable(1.0), tf.Variable(1.0)
    optimizer.build([first])
    with pytest.raises(ValueError):
        optimizer.apply_gradients([(tf.constant(1.0), other)])
    assert other.numpy() == 1.0


def test_some_of_the_variables_can_be_updated(tf):
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = tf.optimizers.SGD(0.5, momentum=0.5)
    optimizer.build([a, b])
    optimizer.apply([tf.constant(1.0)], [b])
    assert (a.numpy(), b.numpy()) == (1.0, 0.5)
    optimizer.apply([tf.constant(1.0), tf.constant(1.0)])
    assert (a.numpy(), b.numpy()) == (0.5, -0.25)


@pytest.mark.parametrize("grads", [[], [1.0], [1.0, 1.0]])
def test_gradients_without_variables_need_a_built_optimizer(tf, grads):
    optimizer = tf.optimizers.SGD(0.1)
    grads = [tf.constant(g) for g in grads]
    if not grads:
        assert optimizer.apply(grads) is None
        return
    with pytest.raises(ValueError, match="must"):
        optimizer.apply(grads)
    optimizer.build([tf.Variable(1.0) for _ in range(3)])
    with pytest.raises(ValueError):
        optimizer.apply(grads)


@gradtape_only
def test_a_gradient_that_does_not_fit_changes_nothing(tf):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([1.0, 2.0], name="b")
    optimizer = tf.optimizers.Adam(0.1)
    for bad in tf.constant([1.0, 1.0, 1.0]), tf.constant(1.0), slices(tf, [[1.0]], [0], 2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="'b:0' has shape"):
            optimizer.apply_gradients([(tf.constant([1.0, 1.0]), a), (bad, b)])
    np.testing.assert_array_equal(a.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(b.numpy(), [1.0, 2.0])
    assert not any(v.numpy().any() for v in optimizer.variables if "learning" not in v.name)


@gradtape_only
def test_rows_that_do_not_fit_change_nothing(tf):
    table = tf.Variable(np.ones((3, 2), "float32"), name="table")
    optimizer = tf.optimizers.SGD(0.1)
    for values, indices, message in [
        ([[1.0, 1.0]], [3], r"indices\[0\] = 3 is not in \[0, 3\)"),
        ([[1.0, 1.0]], [-1], r"= -1 is not in"),
        ([[1.0, 1.0, 1.0]], [0], "the rows of its gradient"),
        ([[1.0, 1.0]], [0, 1], "the rows of its gradient"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            optimizer.apply_gradients([(slices(tf, values, indices, 3), table)])
    np.testing.assert_array_equal(table.numpy(), np.ones((3, 2)))


@gradtape_only
@pytest.mark.parametrize(
    "pairs, error, message",
    [
        (lambda tf: [], ValueError, "is empty"),
        (lambda tf: [(tf.constant(1.0), 3.0)], TypeError, "number 0 is a float"),
        (lambda tf: [(tf.constant(1.0), tf.Variable(1, name="n"))], TypeError, "'n:0' is int32"),
    ],
)
def test_what_cannot_be_updated(tf, pairs, error, message):
    with pytest.raises(error, match=message):
        tf.optimizers.SGD().apply_gradients(pairs(tf))


@gradtape_only
def test_a_variable_given_twice_is_an_error(tf):
    v = tf.Variable(1.0, name="twice")
    with pytest.raises(ValueError, match="'twice:0' is given twice"):
        tf.optimizers.SGD().apply_gradients([(tf.constant(1.0), v), (tf.constant(1.0), v)])
    assert v.numpy() == 1.0


def test_gradients_are_cast_to_the_dtype_of_the_variable(tf):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.SGD(0.5)
    for g in tf.constant([1, 1]), np.array([1.0, 1.0]), tf.constant([1.0, 1.0], tf.float64):
        optimizer.apply_gradients([(g, v)])
    np.testing.assert_array_equal(v.numpy(), [-0.5, 0.5])


@not_finite
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_gradients_that_are_not_finite_are_clipped_as_in_keras(tf, value):
    g = tf.constant([1.0, value], tf.float32)
    expected = {
        "clipnorm": [0.5 if value == np.inf else np.nan, np.nan],
        "global_clipnorm": [np.nan, np.nan],
        "clipvalue": [0.0, 0.0 if value == np.inf else np.nan],
    }
    for option, wanted in expected.items():
        v = tf.Variable([0.5, 0.5])
        tf.optimizers.SGD(0.5, **{option: 1.0}).apply_gradients([(g, v)])
        np.testing.assert_array_equal(v.numpy(), wanted, err_msg=option)


@gradtape_only
@pytest.mark.parametrize("name", RULES)
def test_repeated_rows_add_up(tf, name):
    """As the dense gradient has it. Keras squares the parts of the sum one by one."""
    kind, options = RULES[name]
    values = [[1.0, 2.0], [3.0, -1.0], [-0.5, 0.25]]
    rows = slices(tf, values, [1, 3, 1], 4)
    results = []
    for g in rows, tf.convert_to_tensor(rows):
        table = tf.Variable(np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2))
        optimizer = getattr(tf.optimizers, kind)(**({"learning_rate": 0.05} | options))
        for _ in range(3):
            optimizer.apply_gradients([(g, table)])
        results.append([v.numpy() for v in (table, *optimizer.variables)])
    for sparse, dense in zip(*results, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-6, atol=1e-7)


@gradtape_only
@pytest.mark.parametrize(
    "kind, options", [("SGD", {}), ("Adagrad", {}), ("SGD", {"clipnorm": 1.0})]
)
def test_rows_cost_what_they_are(tf, kind, options):
    table = tf.Variable(np.ones((100_000, 8), "float32"))
    optimizer = getattr(tf.optimizers, kind)(**options)
    g = slices(tf, np.ones((3, 8)), [5, 70_000, 5], 100_000)
    optimizer.apply_gradients([(g, table)])
    changed = np.flatnonzero((table.numpy() != 1).any(1))
    np.testing.assert_array_equal(changed, [5, 70_000])
    assert peak_of(lambda: optimizer.apply_gradients([(g, table)])) < table.numpy().nbytes / 50


@gradtape_only
def test_compiled_rows_that_repeat(tf):
    table = tf.Variable(np.zeros((3, 1), "float32"))
    optimizer = tf.optimizers.Adagrad(1.0, initial_accumulator_value=0.0, epsilon=0.0)

    @tf.function
    def step(indices):
        g = tf.IndexedSlices(tf.constant([[1.0], [2.0], [2.0]]), indices, tf.constant([3, 1]))
        optimizer.apply_gradients([(g, table)])

    step(tf.constant([2, 0, 2]))
    np.testing.assert_allclose(table.numpy(), [[-1.0], [0.0], [-1.0]])
    np.testing.assert_allclose(optimizer.variables[-1].numpy(), [[4.0], [0.0], [9.0]])
