"""docs/semantics.md, section L: complex numbers."""

import numpy as np
import pytest

from .helpers import grad, same

Z = np.array([1.0 + 2.0j, -0.5 + 0.25j])

HOLOMORPHIC = {
    "square": (lambda tf, z: z * z, lambda z: 2 * z),
    "cube": (lambda tf, z: z**3, lambda z: 3 * z**2),
    "exp": (lambda tf, z: tf.exp(z), np.exp),
    "log": (lambda tf, z: tf.math.log(z), lambda z: 1 / z),
    "sin": (lambda tf, z: tf.sin(z), np.cos),
    "sqrt": (lambda tf, z: tf.sqrt(z), lambda z: 0.5 / np.sqrt(z)),
    "reciprocal": (lambda tf, z: 1.0 / z, lambda z: -1 / z**2),
    "constant factor": (lambda tf, z: (3 - 1j) * z, lambda z: (3 - 1j) * np.ones_like(z)),
}


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_L1_holomorphic_gives_the_conjugate_derivative(tf, name):
    f, derivative = HOLOMORPHIC[name]
    g = grad(tf, lambda z: f(tf, z), tf.constant(Z))
    same(g, np.conj(derivative(Z)), tol=1e-12)


def test_L1_square_at_1_plus_2j(tf):
    same(grad(tf, lambda z: z * z, tf.constant(1 + 2j)), 2 - 4j)


@pytest.mark.parametrize(
    "name, expected",
    {
        "real": 1 + 0j,
        "imag": 1j,
        "squared modulus": 6 + 8j,
        "abs": 0.6 + 0.8j,
    }.items(),
)
def test_L2_real_target(tf, name, expected):
    f = {
        "real": tf.math.real,
        "imag": tf.math.imag,
        "abs": tf.abs,
        "squared modulus": lambda z: tf.math.real(z * tf.math.conj(z)),
    }[name]
    same(grad(tf, f, tf.constant(3 + 4j)), expected)


def test_L2_conj_of_a_holomorphic_target(tf):
    same(grad(tf, tf.math.conj, tf.constant(Z)), [1, 1])


def test_L3_abs_of_zero(tf):
    same(grad(tf, tf.abs, tf.constant([0j, 3 + 4j])), [0j, 0.6 + 0.8j])


def test_L4_complex_connects_real_parts(tf):
    a, b = tf.constant(3.0), tf.constant(4.0)
    ga, gb = grad(tf, lambda a, b: tf.abs(tf.complex(a, b)), a, b)
    assert ga.dtype == gb.dtype == tf.float32
    same(ga, 0.6)
    same(gb, 0.8)


def test_L4_real_and_imag_of_a_product(tf):
    a, b = tf.constant(3.0, tf.float64), tf.constant(4.0, tf.float64)
    ga, gb = grad(tf, lambda a, b: tf.math.imag(tf.complex(a, b) ** 2), a, b)
    same(ga, 8.0)
    same(gb, 6.0)


def test_L5_cast_to_complex_gives_a_real_gradient(tf):
    g = grad(tf, lambda x: tf.cast(x, tf.complex64) * (2 - 3j), tf.constant([1.0, 5.0]))
    assert g.dtype == tf.float32
    same(g, [2.0, 2.0])


def test_L5_cast_to_real_gives_a_complex_gradient(tf):
    g = grad(tf, lambda z: 2.0 * tf.cast(z, tf.float32), tf.constant([1 + 2j], tf.complex64))
    assert g.dtype == tf.complex64
    same(g, [2 + 0j])


def test_L6_jacobian_of_a_square(tf):
    z = tf.constant(Z)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    same(tape.jacobian(y, z), np.diag(np.conj(2 * Z)))


def test_L7_the_fourier_transform(tf):
    def power(x):
        return tf.reduce_sum(tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))) ** 2)

    same(grad(tf, power, tf.constant([1.0, 2.0, 4.0])), [6.0, 12.0, 24.0])


def test_L8_complex_variables_are_watched(tf):
    v = tf.Variable(3 + 4j)
    with tf.GradientTape() as tape:
        y = tf.abs(v)
    assert v.trainable
    assert [w is v for w in tape.watched_variables()] == [True]
    g = tape.gradient(y, v)
    assert g.dtype == tf.complex128
    same(g, 0.6 + 0.8j)
