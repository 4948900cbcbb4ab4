"""Functions that differentiate functions, against closed forms and each other."""

import numpy as np
import pytest

import gradtape as tf
from gradtape import autodiff


def f(x):
    return tf.reduce_sum(tf.sin(x) * x**2)


X = np.array([[0.5, -1.0], [2.0, 0.25]])
FIRST = np.cos(X) * X**2 + 2 * X * np.sin(X)
SECOND = -np.sin(X) * X**2 + 4 * X * np.cos(X) + 2 * np.sin(X)


def close(found, expected):
    np.testing.assert_allclose(
        tf.convert_to_tensor(found).numpy(), expected, rtol=1e-10, atol=1e-12
    )


def test_grad_and_value():
    close(autodiff.grad(f)(X), FIRST)
    value, gradient = autodiff.value_and_grad(f)(X)
    close(value, np.sum(np.sin(X) * X**2))
    close(gradient, FIRST)


def test_grad_of_grad():
    close(autodiff.grad(autodiff.grad(lambda x: x**4))(tf.constant(2.0, tf.float64)), 48.0)


def test_argnums_and_structures():
    def g(a, b):
        return tf.reduce_sum(a["x"] * b)

    a = {"x": tf.constant([1.0, 2.0])}
    b = tf.constant([3.0, 4.0])
    close(autodiff.grad(g)(a, b)["x"], [3.0, 4.0])
    close(autodiff.grad(g, argnums=1)(a, b), [1.0, 2.0])
    first, second = autodiff.grad(g, argnums=(0, 1))(a, b)
    close(first["x"], [3.0, 4.0])
    close(second, [1.0, 2.0])
    with pytest.raises(ValueError, match="argnums=5"):
        autodiff.grad(g, argnums=5)(a, b)


def test_has_aux():
    gradient, aux = autodiff.grad(lambda x: (x * x, "more"), has_aux=True)(3.0)
    assert (float(gradient), aux) == (6.0, "more")


def test_the_same_tensor_twice_is_two_arguments():
    x = tf.constant(3.0)
    close(autodiff.grad(lambda a, b: a * a * b, argnums=0)(x, x), 18.0)


def test_hvp_and_hessian_agree():
    v = np.array([[1.0, 2.0], [-1.0, 0.5]])
    close(autodiff.hvp(f, X, v), SECOND * v)
    hessian = autodiff.hessian(f)(X)
    assert hessian.shape == (2, 2, 2, 2)
    close(hessian, np.diag(SECOND.ravel()).reshape(2, 2, 2, 2))
    close(autodiff.hessian_diag(f, X), SECOND)


def test_hvp_is_the_derivative_of_the_gradient():
    a, b = np.array([0.3, -0.7]), np.array([1.5, 0.25])
    u, v = np.array([1.0, -2.0]), np.array([0.5, 3.0])

    def g(parameters):
        return tf.reduce_sum(tf.exp(parameters["a"] * parameters["b"])) + parameters["b"][0] ** 3

    found = autodiff.hvp(g, {"a": a, "b": b}, {"a": u, "b": v})
    step = 1e-5
    above, below = (
        autodiff.grad(g)({"a": tf.constant(a + h * u), "b": tf.constant(b + h * v)})
        for h in (step, -step)
    )
    for name in ("a", "b"):
        slope = (above[name].numpy() - below[name].numpy()) / (2 * step)
        np.testing.assert_allclose(found[name].numpy(), slope, rtol=1e-8)


def test_hvp_of_a_look_up():
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 1.0, -1.0])
    found = autodiff.hvp(lambda x: tf.reduce_sum(tf.gather(x, [0, 0, 2]) ** 3), x, v)
    close(found, [12.0, 0.0, -18.0])


def test_hvp_of_complex_numbers_is_that_of_their_parts():
    z, v = np.array([1 + 2j, 0.5 - 1j]), np.array([0.3 + 1j, 2 - 1j])

    def g(z):
        return tf.reduce_sum(tf.abs(z) ** 4 + tf.math.real(z**3))

    def of_parts(parts):
        return g(tf.complex(parts[0], parts[1]))

    expected = autodiff.hvp(of_parts, np.array([z.real, z.imag]), np.array([v.real, v.imag]))
    close(autodiff.hvp(g, z, v), expected.numpy()[0] + 1j * expected.numpy()[1])


def test_hvp_takes_a_vector_of_the_structure_and_shape_of_x():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^hvp: `v` must be nested like `x`"):
        autodiff.hvp(lambda x: tf.reduce_sum(x[0] * x[1]), [x, x], [x])
    with pytest.raises(ValueError, match=r"^hvp: a tangent must have .* float32 \(2,\)"):
        autodiff.hvp(tf.reduce_sum, x, tf.constant(1.0))


def test_jacobians_agree():
    a = np.random.default_rng(0).normal(size=(3, 4))

    def g(x):
        return tf.tanh(tf.linalg.matvec(a, x)) * x[0]

    x = np.array([0.1, -0.2, 0.3, 0.4])
    y, d = np.tanh(a @ x), 1 - np.tanh(a @ x) ** 2
    expected = d[:, None] * a * x[0] + np.outer(y, [1, 0, 0, 0])
    close(autodiff.jacrev(g)(x), expected)
    close(autodiff.jacfwd(g)(x), expected)


def test_jvp_and_vjp_are_transposes():
    x = tf.constant(X)
    v, u = tf.constant(X * 2 + 1), tf.constant(X.T.copy())
    value, pushed = autodiff.jvp(lambda x: tf.exp(x) @ x, (x,), (v,))
    again, pull = autodiff.vjp(lambda x: tf.exp(x) @ x, x)
    close(value, again)
    close(tf.reduce_sum(pushed * u), tf.reduce_sum(pull(u)[0] * v).numpy())


def test_jacfwd_takes_one_tensor():
    with pytest.raises(TypeError, match="one tensor"):
        autodiff.jacfwd(lambda d: d["x"])({"x": tf.constant(1.0)})
