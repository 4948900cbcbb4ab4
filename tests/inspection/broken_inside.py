"""Programs whose gradient is None, or zero, because of what happens inside of a function.

As those of `broken.py`; the marked line is that inside of the function.
"""

import gradtape as tf

from .broken import broken


@broken("STOPPED", "Leave it out")
def stopped_inside(Tape):
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        h = tf.stop_gradient(v) * x  # <-
        return h * 2.0

    with Tape() as tape:
        y = f(tf.constant(2.0))
    return tape, y, v


@broken("STOPPED", "Leave it out")
def an_argument_stopped_inside(Tape):
    @tf.function
    def f(x, y):
        return tf.stop_gradient(x * x) * y  # <-

    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with Tape() as tape:
        y = f(v * 2.0, w) * 3.0
    return tape, y, v


@broken("INTEGER", "softmax")
def argmax_inside(Tape):
    v = tf.Variable([3.0, 1.0])

    @tf.function
    def f():
        best = tf.argmax(v)  # <-
        return tf.cast(best, tf.float32) * 2.0

    with Tape() as tape:
        y = f()
    return tape, y, v


@broken("INTEGER", "softmax")
def an_integer_result(Tape):
    v = tf.Variable([2.0, 1.0])
    f = tf.function(lambda: tf.argmax(v))  # <-
    with Tape() as tape:
        y = tf.cast(f(), tf.float32) * 2.0
    return tape, y, v


@broken("INTEGER", "softmax")
def argmax_in_a_function_that_is_called_inside(Tape):
    v = tf.Variable([2.0, 1.0])

    @tf.function
    def g(x):
        return tf.cast(tf.argmax(x), tf.float32)  # <-

    @tf.function
    def f(x):
        return g(x * v) * 2.0

    with Tape() as tape:
        y = f(tf.ones([2]))
    return tape, y, v


@broken("OVERWRITTEN", "from the tensor itself")
def assigned_inside(Tape):
    v, w = tf.Variable(3.0), tf.Variable(1.0)

    @tf.function
    def f():
        w.assign(v * 2.0)  # <-
        return w * w

    with Tape() as tape:
        y = f()
    return tape, y, v


@broken("OVERWRITTEN", "from the tensor itself")
def state_assigned_in_a_loop(Tape):
    v, acc = tf.Variable(3.0), tf.Variable(0.0)

    @tf.function
    def f():
        for i in tf.range(3):
            acc.assign_add(v * tf.cast(i, tf.float32))  # <-
        return acc * 1.0

    with Tape() as tape:
        y = f()
    return tape, y, v


@broken("STOPPED", "Leave it out")
def stopped_in_a_loop(Tape):
    v = tf.Variable(2.0)

    @tf.function
    def f():
        y = tf.constant(1.0)
        for _ in tf.range(3):
            y = y + tf.stop_gradient(v)  # <-
        return y

    with Tape() as tape:
        y = f()
    return tape, y, v


@broken("STOPPED", "Leave it out")
def a_loop_variable_stopped(Tape):
    v = tf.Variable(2.0)

    @tf.function
    def f(n):
        y = tf.constant(1.0)
        for _ in tf.range(n):
            y = tf.stop_gradient(y * v)  # <-
        return y

    with Tape() as tape:
        y = f(tf.constant(3))
    return tape, y, v


@broken("INTEGER", "softmax")
def argmax_of_each_row(Tape):
    v = tf.Variable([[1.0, 2.0], [4.0, 3.0]])

    @tf.function
    def f():
        best = tf.map_fn(
            lambda row: tf.cast(tf.argmax(row), tf.float32),  # <-
            v,
        )
        return tf.reduce_sum(best)

    with Tape() as tape:
        y = f()
    return tape, y, v


@broken("STOPPED", "Leave it out")
def the_state_of_a_scan_stopped(Tape):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f():
        steps = tf.scan(
            lambda state, x: state + tf.stop_gradient(x),  # <-
            v * 3.0,
            tf.constant(0.0),
        )
        return steps[-1]

    with Tape() as tape:
        y = f()
    return tape, y, v


@broken("INTEGER", "softmax")
def argmax_in_a_branch(Tape):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        if x > 0.0:
            best = tf.cast(tf.argmax(v), tf.float32)  # <-
        else:
            best = tf.constant(0.0)
        return best * x

    with Tape() as tape:
        y = f(tf.constant(1.0))
    return tape, y, v


@broken("UNUSED", "leave it out")
def an_argument_that_is_not_used(Tape):
    v, w = tf.Variable(3.0), tf.Variable(1.0)

    @tf.function
    def f(x, y):
        return x * 2.0

    with Tape() as tape:
        y = f(v, w)
    return tape, y, w


@broken("BEFORE_TAPE", "into the block", alone=False)
def called_before(Tape):
    v = tf.Variable(3.0)
    f = tf.function(lambda: v * v)
    h = f()  # <-
    with Tape() as tape:
        y = h * 2.0
    return tape, y, v


@broken("ZERO", "condition")
def the_branch_not_taken(Tape):
    v, w = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f(x):
        if x > 0.0:
            return v * x
        else:
            return w * x

    with Tape() as tape:
        y = f(tf.constant(1.0))  # <-
    return tape, y, w


@broken("ZERO", "leaky_relu")
def a_dead_relu_inside(Tape):
    v = tf.Variable([-1.0])

    @tf.function
    def f(x):
        h = tf.nn.relu(v)  # <-
        return tf.reduce_sum(h * x)

    with Tape() as tape:
        y = f(tf.constant(1.0))
    return tape, y, v
