"""A Hessian by a tape inside a tape. It runs on TensorFlow, and with `gradtape run` on gradtape."""

import tensorflow as tf

x = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as inner:
        y = x[0] ** 3 * x[1] ** 2
    gradient = inner.gradient(y, x)
    parts = [gradient[0], gradient[1]]
hessian = [outer.gradient(part, x).numpy().tolist() for part in parts]

print("f(x, y) = x³ y²  at (1, 2)")
print("gradient", gradient.numpy().tolist())
print("Hessian ", hessian)
