"""`function.verify`: compiled and eager compared, and the first op that differs named."""

import pytest

pytestmark = pytest.mark.gradtape_only


def test_what_agrees(tf):
    w, steps = tf.Variable([[1.0, -2.0]]), tf.Variable(0)

    @tf.function
    def f(x):
        steps.assign_add(1)
        return {"y": tf.nn.relu(x @ w), "rows": tf.gather(w, [0, 0])}

    found = tf.function.verify(f, tf.constant([[0.5], [-1.0]]))
    assert found
    # two results, two variables, and the gradients by the argument and by `w`
    assert str(found) == "f: compiled and eager agree in 6 tensors."
    assert int(steps) == 0


def test_the_first_op_that_differs_is_named_with_its_line(tf):
    def f(x):
        factor = 1.0 if tf.executing_eagerly() else 1.1
        y = tf.exp(x)
        z = y * factor  # this line
        return tf.sin(z)

    found = tf.function.verify(f, tf.constant([1.0, 2.0]))
    assert not found
    line = f.__code__.co_firstlineno + 3
    assert "result 0 differs by up to" in str(found)
    assert f"The first op that differs is multiply (op 1), at {__file__}, line {line}." in str(
        found
    )


def test_other_ops_are_said(tf):
    def f(x):
        return tf.exp(x) if tf.executing_eagerly() else tf.exp(x) + 1.0

    assert "run different ops" in str(tf.function.verify(f, tf.constant(1.0)))


def test_a_gradient_that_differs(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda g: g * (2.0 if tf.executing_eagerly() else 3.0)

    found = tf.function.verify(lambda x: f(x), tf.constant(1.0))
    assert not found and "the gradient by argument 0 differs" in str(found)


def test_an_assignment_that_differs(tf):
    v = tf.Variable(1.0)

    def f():
        v.assign(2.0 if tf.executing_eagerly() else 3.0)

    found = tf.function.verify(f)
    assert not found and f"the value of {v.name!r} differs" in str(found)
    assert float(v) == 1.0


def test_dtypes_that_differ(tf):
    def f(x):
        return x if tf.executing_eagerly() else tf.cast(x, tf.float64)

    assert "is float32 () eagerly, and float64 () compiled" in str(
        tf.function.verify(f, tf.constant(1.0))
    )


def test_tolerances_can_be_given(tf):
    def f(x):
        return x * (1.0 if tf.executing_eagerly() else 1.01)

    assert not tf.function.verify(f, tf.constant(1.0))
    assert tf.function.verify(f, tf.constant(1.0), rtol=0.1)


def test_an_error_leaves_the_variables_as_they_were(tf):
    v = tf.Variable(1.0)

    def f():
        v.assign(5.0)
        if tf.executing_eagerly():
            raise KeyError("eager")

    with pytest.raises(KeyError):
        tf.function.verify(f)
    assert float(v) == 1.0


def test_a_method(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(3.0)

        @tf.function
        def __call__(self, x):
            return self.w * x

    assert tf.function.verify(Model().__call__, tf.constant(2.0))
