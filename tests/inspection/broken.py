"""Programs whose gradient is None, or zero: what people ask about, in a few lines each.

A program gets the class of tapes, and returns (tape, target, source). Beside it stand the cause
that must be found and words of the suggestion; `# <-` marks the line that must be named, where one
can be.
"""

import math
import threading

import numpy as np

import gradtape as tf

PROGRAMS = {}


def broken(cause, advice, *, alone=True):
    """`alone`: a tape made with explain=True finds it too, without a journal from the start."""

    def add(program):
        PROGRAMS[program.__name__] = (program, cause, advice, alone)
        return program

    return add


# Not watched


@broken("NOT_WATCHED", "tape.watch(")
def a_constant(Tape):
    x = tf.constant(3.0)
    with Tape() as tape:
        y = x * x  # <-
    return tape, y, x


@broken("NOT_WATCHED", "tape.watch(")
def a_constant_deep_inside(Tape):
    x = tf.constant([1.0, 2.0])
    w = tf.Variable([3.0, 4.0])
    with Tape() as tape:
        h = x * 2.0  # <-
        y = tf.reduce_sum(tf.tanh(h) * w)
    return tape, y, x


@broken("NOT_WATCHED", "before this line")
def watched_after_it_was_used(Tape):
    x = tf.constant(3.0)
    with Tape() as tape:
        y = x * x  # <-
        tape.watch(x)
    return tape, y, x


@broken("NOT_WATCHED", "tape.watch(")
def variables_are_not_watched(Tape):
    v = tf.Variable(3.0)
    with Tape(watch_accessed_variables=False) as tape:
        y = v * v  # <-
    return tape, y, v


@broken("NOT_WATCHED", "tape.watch(")
def the_input_of_a_model(Tape):
    w = tf.Variable(np.ones((4, 2), np.float32))
    image = tf.ones([1, 4])
    with Tape() as tape:
        scores = tf.matmul(image, w)  # <-
        loss = scores[0, 1]
    return tape, loss, image


@broken("NOT_WATCHED", "tape.watch(")
def the_other_tensor_is_watched(Tape):
    x, y = tf.constant(1.0), tf.constant(2.0)
    with Tape() as tape:
        tape.watch(y)
        z = x * y  # <-
    return tape, z, x


@broken("NOT_WATCHED", "tape.watch(")
def a_random_tensor(Tape):
    x = tf.random.normal([3])
    with Tape() as tape:
        y = tf.reduce_sum(x**2)  # <-
    return tape, y, x


@broken("NOT_WATCHED", "tape.watch(")
def inside_a_function_that_is_compiled(Tape):
    f = tf.function(lambda x: tf.reduce_sum(x * x))
    x = tf.constant([1.0, 2.0])
    with Tape() as tape:
        y = f(x)  # <-
    return tape, y, x


@broken("NOT_WATCHED", "tape.watch(")
def the_tape_was_reset(Tape):
    x = tf.constant(3.0)
    with Tape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x  # <-
    return tape, y, x


# Before, after, beside the tape


@broken("BEFORE_TAPE", "into the block", alone=False)
def computed_before(Tape):
    v = tf.Variable(3.0)
    y = v * v  # <-
    with Tape() as tape:
        z = y + 1.0
    return tape, z, v


@broken("BEFORE_TAPE", "into the block", alone=False)
def all_of_it_before(Tape):
    v = tf.Variable(3.0)
    loss = v * v  # <-
    with Tape() as tape:
        pass
    return tape, loss, v


@broken("BEFORE_TAPE", "into the block", alone=False)
def features_before(Tape):
    w = tf.Variable([[1.0], [2.0]])
    x = tf.ones([4, 2])
    hidden = tf.matmul(x, w)  # <-
    with Tape() as tape:
        loss = tf.reduce_mean(tf.square(hidden))
    return tape, loss, w


@broken("BEFORE_TAPE", "into the block", alone=False)
def a_regularizer_computed_once(Tape):
    w = tf.Variable([1.0, 2.0])
    penalty = tf.reduce_sum(w * w)  # <-
    with Tape() as tape:
        loss = penalty * 0.01
    return tape, loss, w


@broken("AFTER_TAPE", "into the block")
def computed_after(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = v * v
    z = y + 1.0  # <-
    return tape, z, v


@broken("AFTER_TAPE", "into the block")
def the_loss_outside(Tape):
    w = tf.Variable([[1.0], [2.0]])
    x, labels = tf.ones([4, 2]), tf.zeros([4, 1])
    with Tape() as tape:
        out = tf.matmul(x, w)
    loss = tf.reduce_mean((out - labels) ** 2)  # <-
    return tape, loss, w


@broken("AFTER_TAPE", "into the block")
def a_mean_outside(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        losses = v * v
    return tape, tf.reduce_mean(losses), v  # <-


@broken("NOT_RECORDED", "stop_recording")
def while_recording_is_stopped(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        a = v * 2.0
        with tape.stop_recording():
            b = a * a  # <-
        y = b + 1.0
    return tape, y, v


@broken("NOT_RECORDED", "stop_recording")
def a_metric_that_became_the_loss(Tape):
    v = tf.Variable([3.0, 1.0])
    with Tape() as tape:
        first = tf.reduce_sum(v)
        with tape.stop_recording():
            error = tf.abs(first - 5.0)  # <-
        loss = error * 2.0
    return tape, loss, v


# Stopped


@broken("STOPPED", "Leave it out")
def stop_gradient(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = tf.stop_gradient(v * v)  # <-
        z = y * 2.0
    return tape, z, v


@broken("STOPPED", "Leave it out")
def stop_gradient_of_the_source(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = tf.stop_gradient(v) ** 2.0  # <-
    return tape, y, v


@broken("STOPPED", "Leave it out")
def a_target_network(Tape):
    w = tf.Variable([1.0, 2.0])
    other = tf.Variable([3.0, 4.0])
    with Tape() as tape:
        goal = tf.stop_gradient(tf.reduce_sum(w))  # <-
        loss = (goal - tf.reduce_sum(other)) ** 2
    return tape, loss, w


@broken("STOPPED", "Leave it out")
def both_ways_are_stopped(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        a = tf.stop_gradient(v)
        b = tf.stop_gradient(v * 2.0)  # <-
        y = a * b
    return tape, y, v


# Integers


@broken("INTEGER", "3.0")
def an_integer_constant(Tape):
    x = tf.constant(3)
    with Tape() as tape:
        tape.watch(x)
        y = x * x  # <-
    return tape, y, x


@broken("INTEGER", "3.0")
def an_integer_variable(Tape):
    v = tf.Variable([1, 2, 3])
    with Tape() as tape:
        y = tf.reduce_sum(tf.cast(v, tf.float32))  # <-
    return tape, y, v


@broken("INTEGER", "cast to integers")
def a_cast_to_int(Tape):
    v = tf.Variable(3.7)
    with Tape() as tape:
        whole = tf.cast(v, tf.int32)  # <-
        y = tf.cast(whole, tf.float32) * 2.0
    return tape, y, v


@broken("INTEGER", "softmax")
def argmax(Tape):
    logits = tf.Variable([1.0, 3.0, 2.0])
    with Tape() as tape:
        best = tf.argmax(logits)  # <-
        y = tf.cast(best, tf.float32)
    return tape, y, logits


@broken("INTEGER", "sigmoid")
def a_threshold(Tape):
    v = tf.Variable([0.2, 0.8])
    with Tape() as tape:
        positive = v > 0.5  # <-
        y = tf.reduce_sum(tf.cast(positive, tf.float32))
    return tape, y, v


@broken("INTEGER", "loss of the logits")
def the_target_is_an_integer(Tape):
    logits = tf.Variable([[1.0, 3.0]])
    with Tape() as tape:
        predicted = tf.argmax(logits, axis=1)  # <-
    return tape, predicted, logits


@broken("INTEGER", "accuracy")
def accuracy_as_the_loss(Tape):
    logits = tf.Variable([[1.0, 3.0], [2.0, 1.0]])
    labels = tf.constant([[1.0, 3.0], [2.0, 2.0]])
    with Tape() as tape:
        right = tf.equal(logits, labels)  # <-
        loss = 1.0 - tf.reduce_mean(tf.cast(right, tf.float32))
    return tape, loss, logits


@broken("INTEGER", "Stay with floats")
def a_count(Tape):
    v = tf.Variable([1.0, 2.0, 3.0])
    with Tape() as tape:
        count = tf.math.count_nonzero(v * 1.0)  # <-
        y = tf.cast(count, tf.float32) * 2.0
    return tape, y, v


@broken("INTEGER", "cast to integers")
def indices_computed_from_it(Tape):
    v = tf.Variable(1.2)
    table = tf.constant([10.0, 20.0, 30.0])
    with Tape() as tape:
        i = tf.cast(v, tf.int32)  # <-
        y = tf.gather(table, i)
    return tape, y, v


# Left the tape


@broken("LEFT_TAPE", "tf.square")
def numpy_in_between(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = tf.constant(np.square(v.numpy()))  # <-
        z = y * 2.0
    return tape, z, v


@broken("LEFT_TAPE", "tf.square")
def a_function_of_numpy(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        root = np.sqrt(v)  # <-
        y = tf.reduce_sum(root)
    return tape, y, v


@broken("LEFT_TAPE", "leave .numpy() out")
def a_float(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = tf.constant(float(v * v))  # <-
        z = y + 1.0
    return tape, z, v


@broken("LEFT_TAPE", "leave .numpy() out")
def a_list_of_floats(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        parts = [float(v[0]), float(v[1])]  # <-
        y = tf.reduce_sum(tf.constant(parts))
    return tape, y, v


@broken("LEFT_TAPE", "tf's functions")
def the_target_is_a_number(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = (v * v).numpy()  # <-
    return tape, y, v


@broken("LEFT_TAPE", "tf.square")
def numpy_mean_as_the_loss(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        squares = v * v
        loss = tf.convert_to_tensor(np.mean(squares.numpy()))  # <-
        loss = loss * 1.0
    return tape, loss, v


@broken("LEFT_TAPE", "leave .numpy() out")
def a_new_tensor_of_old_values(Tape):
    x = tf.constant([1.0, 2.0])
    with Tape() as tape:
        tape.watch(x)
        copied = tf.constant((x * 2.0).numpy())  # <-
        y = tf.reduce_sum(copied * copied)
    return tape, y, x


@broken("LEFT_TAPE", "leave .numpy() out")
def an_item(Tape):
    v = tf.Variable([[1.0, 2.0]])
    with Tape() as tape:
        first = v.numpy()[0, 0]  # <-
        y = tf.square(first)
    return tape, y, v


# Overwritten


@broken("OVERWRITTEN", "x.assign", alone=False)
def a_variable_replaced_by_a_tensor(Tape):
    x = tf.Variable(2.0)
    x = x + 1.0  # <-
    with Tape() as tape:
        y = x * x
    return tape, y, x


@broken("OVERWRITTEN", "w.assign", alone=False)
def gradient_descent_without_assign(Tape):
    w = tf.Variable([1.0, 2.0])
    for _ in range(2):
        with Tape() as tape:
            loss = tf.reduce_sum(w * w)
        gradient = tape.gradient(loss, w)
        if gradient is None:
            break
        w = w - 0.1 * gradient  # <-
    return tape, loss, w


@broken("OVERWRITTEN", "from the tensor itself")
def assigned_in_between(Tape):
    w, v = tf.Variable(2.0), tf.Variable(0.0)
    with Tape() as tape:
        v.assign(w * 3.0)  # <-
        y = v * v
    return tape, y, w


@broken("OVERWRITTEN", "from the tensor itself")
def state_that_was_assigned(Tape):
    w, state = tf.Variable(2.0), tf.Variable(1.0)
    with Tape() as tape:
        for _ in range(3):
            state.assign_add(w * 1.0)  # <-
        loss = state * 2.0
    return tape, loss, w


@broken("OVERWRITTEN", "from the tensor itself")
def weights_made_of_other_weights(Tape):
    meta = tf.Variable(2.0)
    kernel = tf.Variable([1.0, 1.0])
    with Tape() as tape:
        kernel.assign(tf.fill([2], 1.0) * meta)  # <-
        loss = tf.reduce_sum(kernel * kernel)
    return tape, loss, meta


# Not trainable


@broken("NOT_TRAINABLE", "trainable=True")
def a_frozen_variable(Tape):
    v = tf.Variable(3.0, trainable=False)
    with Tape() as tape:
        y = v * v  # <-
    return tape, y, v


@broken("NOT_TRAINABLE", "tape.watch(")
def a_statistic(Tape):
    mean = tf.Variable([1.0, 2.0], trainable=False)
    x = tf.Variable([3.0, 4.0])
    with Tape() as tape:
        y = tf.reduce_sum(x - mean)  # <-
    return tape, y, mean


# Another object


@broken("OTHER_OBJECT", "Make it once")
def made_twice(Tape):
    data = [1.0, 2.0, 3.0]
    x = tf.constant(data)
    with Tape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.constant(data) ** 2)  # <-
    return tape, y, x


@broken("OTHER_OBJECT", "Make it once")
def converted_inside_of_the_function(Tape):
    def model(values):
        return tf.reduce_sum(tf.constant(values) * 2.0)  # <-

    x = tf.constant(np.array([1.0, 2.0], np.float32))
    with Tape() as tape:
        tape.watch(x)
        y = model(np.array([1.0, 2.0], np.float32))
    return tape, y, x


@broken("OTHER_OBJECT", "a tensor once")
def a_number_as_the_source(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = v * 2.0
    return tape, y, 3.0


@broken("OTHER_OBJECT", "a tensor once")
def an_array_as_the_source(Tape):
    x = np.array([1.0, 2.0], np.float32)
    with Tape() as tape:
        t = tf.constant(x)
        tape.watch(t)
        y = tf.reduce_sum(t * t)
    return tape, y, x


# Unused


@broken("UNUSED", "leave it out of the sources")
def never_used(Tape):
    v, unused = tf.Variable(3.0), tf.Variable(4.0)
    with Tape() as tape:
        y = v * v
    return tape, y, unused


@broken("UNUSED", "leave it out of the sources")
def a_branch_that_was_not_taken(Tape):
    v, w, deep = tf.Variable(3.0), tf.Variable(4.0), False
    with Tape() as tape:
        y = v * v
        if deep:
            y = y * w
    return tape, y, w


@broken("UNUSED", "from that result")
def a_layer_whose_result_is_dropped(Tape):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with Tape() as tape:
        hidden = w * 2.0  # noqa: F841  # <-
        y = v * v
    return tape, y, w


@broken("UNUSED", "from that result")
def the_wrong_name(Tape):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with Tape() as tape:
        first = v * 2.0
        second = tf.tanh(first * w)  # noqa: F841  # <-
        loss = first + 1.0
    return tape, loss, w


@broken("UNUSED", "leave it out of the sources")
def the_second_of_two_models(Tape):
    generator, critic = tf.Variable(3.0), tf.Variable(4.0)
    with Tape() as tape:
        loss = generator * generator
    return tape, loss, critic


# No rule


@broken("NO_RULE", "grad_pass_through")
def rounded_down(Tape):
    v = tf.Variable([3.2, 1.7])
    with Tape() as tape:
        y = tf.floor(v * 2.0)  # <-
        z = tf.reduce_sum(y)
    return tape, z, v


@broken("NO_RULE", "custom_gradient")
def an_op_without_a_gradient(Tape):
    v = tf.Variable([3.0, 1.0])
    with Tape() as tape:
        y = tf.bitcast(tf.bitcast(v * 1.0, tf.float32), tf.float32)  # <-
        z = tf.reduce_sum(y)
    return tape, z, v


# Zero


@broken("ZERO", "leaky_relu")
def a_dead_relu(Tape):
    v = tf.Variable([-1.0, -2.0])
    with Tape() as tape:
        h = tf.nn.relu(v)  # <-
        y = tf.reduce_sum(h * 3.0)
    return tape, y, v


@broken("ZERO", "leaky_relu")
def a_dead_relu_before_a_layer(Tape):
    b, w = tf.Variable([-1.0, -2.0]), tf.Variable([[1.0], [1.0]])
    with Tape() as tape:
        h = tf.nn.relu(tf.ones([3, 2]) + b * 2.0)  # <-
        y = tf.reduce_sum(h @ w)  # whose gradient by w is zero, too
    return tape, y, b


@broken("ZERO", "logits")
def a_saturated_sigmoid(Tape):
    v = tf.Variable(200.0)
    with Tape() as tape:
        p = tf.sigmoid(v)  # <-
        y = p * 2.0
    return tape, y, v


@broken("ZERO", "Scale")
def a_saturated_tanh(Tape):
    v = tf.Variable([50.0, -50.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.tanh(v))  # <-
    return tape, y, v


@broken("ZERO", "bounds")
def clipped_away(Tape):
    v = tf.Variable([5.0, -7.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.clip_by_value(v, -1.0, 1.0))  # <-
    return tape, y, v


@broken("ZERO", "grad_pass_through")
def rounding(Tape):
    v = tf.Variable([1.2, 2.7])
    with Tape() as tape:
        y = tf.reduce_sum(tf.sign(v) * 2.0)  # <-
    return tape, y, v


@broken("ZERO", "begin as zeros")
def weights_of_zeros(Tape):
    x, w = tf.Variable([[1.0, 2.0]]), tf.Variable([[0.0], [0.0]])
    with Tape() as tape:
        y = tf.reduce_sum(tf.matmul(x, w))  # <-
    return tape, y, x


@broken("ZERO", "begin as zeros")
def a_mask_of_zeros(Tape):
    v = tf.Variable([1.0, 2.0])
    mask = tf.zeros([2])
    with Tape() as tape:
        y = tf.reduce_sum(v * mask)  # <-
    return tape, y, v


@broken("ZERO", "condition")
def the_other_branch_of_where(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.where(v > 100.0, v, tf.zeros([2])))  # <-
    return tape, y, v


# More of what is asked in forums


@broken("OTHER_OBJECT", "by the variable")
def a_variable_made_of_the_source(Tape):
    img = tf.constant([1.0, 2.0])
    with Tape() as tape:
        x = tf.Variable(img)  # <-
        y = tf.reduce_sum(x * x)
    return tape, y, img


@broken("OTHER_OBJECT", "Keep the result")
def gradient_by_a_slice(Tape):
    x = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = x[0] ** 2
    return tape, y, x[0]  # <-


@broken("OTHER_OBJECT", "Keep the result")
def gradient_by_a_cast_again(Tape):
    x = tf.Variable([1.0, 2.0], dtype=tf.float64)
    with Tape() as tape:
        y = tf.reduce_sum(tf.cast(x, tf.float32) ** 2)
    return tape, y, tf.cast(x, tf.float32)  # <-


@broken("OTHER_OBJECT", "Keep the result", alone=False)
def output_of_another_call(Tape):
    w = tf.Variable([[1.0], [2.0]])

    def model(x):
        return x @ w

    x = tf.ones([2, 2])
    pred = model(x)
    with Tape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    return tape, loss, pred


@broken("OVERWRITTEN", "params['w'].assign", alone=False)
def an_entry_replaced(Tape):
    params = {"w": tf.Variable(2.0)}
    for _ in range(2):
        with Tape() as tape:
            loss = params["w"] ** 2
        g = tape.gradient(loss, params["w"])
        if g is None:
            break
        params["w"] = params["w"] - 0.1 * g  # <-
    return tape, loss, params["w"]


@broken("OVERWRITTEN", "assign", alone=False)
def a_list_of_variables_replaced(Tape):
    weights = [tf.Variable(2.0), tf.Variable(3.0)]
    for _ in range(2):
        with Tape() as tape:
            loss = weights[0] * weights[1]
        gs = tape.gradient(loss, weights)
        if gs[0] is None:
            break
        weights = [w - 0.1 * g for w, g in zip(weights, gs, strict=True)]  # <-
    return tape, loss, weights[0]


@broken("OVERWRITTEN", "W.assign", alone=False)
def two_variables_replaced_at_once(Tape):
    W, b = tf.Variable(2.0), tf.Variable(3.0)
    for _ in range(2):
        with Tape() as tape:
            loss = W * 2.0 + b
        dW, db = tape.gradient(loss, [W, b])
        if dW is None:
            break
        W, b = W - 0.1 * dW, b - 0.1 * db  # <-
    return tape, loss, W


@broken("OVERWRITTEN", "self.w.assign", alone=False)
def an_attribute_replaced(Tape):
    class M:
        pass

    self = M()
    self.w = tf.Variable(2.0)
    for _ in range(2):
        with Tape() as tape:
            loss = self.w * self.w
        g = tape.gradient(loss, self.w)
        if g is None:
            break
        self.w = self.w - 0.1 * g  # <-
    return tape, loss, self.w


@broken("OVERWRITTEN", "w.assign", alone=False)
def clipped_to_a_tensor(Tape):
    w = tf.Variable(2.0)
    w = tf.clip_by_value(w, 0.0, 1.0)  # <-
    with Tape() as tape:
        y = w * w
    return tape, y, w


@broken("LEFT_TAPE", "leave .numpy() out")
def list_of_numpy_losses(Tape):
    v = tf.Variable([1.0, 2.0])
    losses = []
    with Tape() as tape:
        for i in range(2):
            losses.append((v[i] ** 2).numpy())  # <-
        loss = tf.reduce_mean(losses)
    return tape, loss, v


@broken("LEFT_TAPE", "tf's functions")
def the_mean_of_numpy(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        loss = np.mean(tf.square(v))  # <-
    return tape, loss, v


@broken("LEFT_TAPE", "tf's function")
def numpy_function(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        h = tf.numpy_function(np.sin, [v], tf.float32)  # <-
        loss = tf.reduce_sum(h)
    return tape, loss, v


@broken("LEFT_TAPE", "leave .numpy() out")
def py_function_with_numpy(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        h = tf.py_function(lambda x: np.sin(x.numpy()), [v], tf.float32)  # <-
        loss = tf.reduce_sum(h)
    return tape, loss, v


@broken("LEFT_TAPE", "tf's function")
def an_int(Tape):
    v = tf.Variable(2.7)
    with Tape() as tape:
        k = int(v)  # <-
        loss = tf.constant(1.5) * k
    return tape, loss, v


@broken("LEFT_TAPE", "tf's function")
def a_function_of_math(Tape):
    v = tf.Variable(2.7)
    with Tape() as tape:
        loss = tf.constant(math.sin(v))  # <-
        loss = loss * 2.0
    return tape, loss, v


@broken("LEFT_TAPE", "tf's function")
def python_sum_of_floats(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        total = 0.0
        for x in v:
            total += float(x)  # <-
        loss = tf.square(total)
    return tape, loss, v


@broken("LEFT_TAPE", "tf's function")
def through_strings(Tape):
    v = tf.Variable([0.1, 0.9])
    with Tape() as tape:
        s = tf.strings.as_string(v)  # <-
        loss = tf.reduce_sum(tf.strings.to_number(s))
    return tape, loss, v


@broken("LEFT_TAPE", "leave .numpy() out", alone=False)
def numpy_before(Tape):
    v = tf.Variable(3.0)
    x = v.numpy()  # <-
    with Tape() as tape:
        y = tf.square(x)
    return tape, y, v


@broken("OVERWRITTEN", "before the tape's block")
def a_variable_of_an_intermediate(Tape):
    v = tf.Variable(2.0)
    with Tape() as tape:
        h = tf.Variable(v * 2.0)  # <-
        loss = h * h
    return tape, loss, v


@broken("OVERWRITTEN", "from the tensor itself")
def scatter_update(Tape):
    v, buf = tf.Variable(2.0), tf.Variable([0.0, 0.0])
    with Tape() as tape:
        buf.scatter_nd_update([[0]], [v * 2.0])  # <-
        loss = tf.reduce_sum(buf)
    return tape, loss, v


@broken("OVERWRITTEN", "from the tensor itself")
def slice_assign(Tape):
    v, buf = tf.Variable(2.0), tf.Variable([0.0, 0.0])
    with Tape() as tape:
        buf[0].assign(v * 2.0)  # <-
        loss = tf.reduce_sum(buf)
    return tape, loss, v


@broken("OVERWRITTEN", "from the tensor itself")
def metric_as_loss(Tape):
    total = tf.Variable(0.0, trainable=False)
    w = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        total.assign_add(tf.reduce_sum(w))  # <-
        loss = total / 2.0
    return tape, loss, w


@broken("INTEGER", "softmax")
def one_hot_of_argmax(Tape):
    v = tf.Variable([[1.0, 2.0]])
    with Tape() as tape:
        hard = tf.one_hot(tf.argmax(v, 1), 2)  # <-
        loss = tf.reduce_sum(hard * [[1.0, 2.0]])
    return tape, loss, v


@broken("INTEGER", ".values")
def top_k_indices(Tape):
    v = tf.Variable([1.0, 2.0, 3.0])
    with Tape() as tape:
        _, idx = tf.math.top_k(v, 2)  # <-
        loss = tf.reduce_sum(tf.cast(idx, tf.float32))
    return tape, loss, v


@broken("INTEGER", "tf.sort")
def ranks(Tape):
    v = tf.Variable([1.0, 2.0, 3.0])
    with Tape() as tape:
        rank = tf.argsort(v)  # <-
        loss = tf.reduce_sum(tf.cast(rank, tf.float32) * [1.0, 2.0, 3.0])
    return tape, loss, v


@broken("INTEGER", "boolean_mask")
def where_indices(Tape):
    v = tf.Variable([1.0, -2.0, 3.0])
    with Tape() as tape:
        idx = tf.where(v > 0)  # <-
        loss = tf.reduce_sum(tf.cast(idx, tf.float32))
    return tape, loss, v


@broken("INTEGER", "REINFORCE")
def a_class_that_was_drawn(Tape):
    logits = tf.Variable([[1.0, -2.0, 3.0]])
    with Tape() as tape:
        a = tf.random.categorical(logits, 1)  # <-
        loss = tf.reduce_sum(tf.cast(a, tf.float32))
    return tape, loss, logits


@broken("INTEGER", "tf.cast")
def a_uint8_image(Tape):
    img = tf.constant(np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3))
    k = tf.Variable(np.ones((1, 1, 3, 1), np.float32))
    with Tape() as tape:
        tape.watch(img)
        x = tf.cast(img, tf.float32) / 255.0  # <-
        loss = tf.reduce_sum(tf.nn.conv2d(x, k, 1, "SAME"))
    return tape, loss, img


@broken("INTEGER", "float")
def token_ids(Tape):
    table = tf.Variable(np.ones((5, 2), np.float32))
    ids = tf.constant([1, 2])
    with Tape() as tape:
        tape.watch(ids)
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids))  # <-
    return tape, loss, ids


@broken("INTEGER", "cast to integers")
def convert_image_dtype(Tape):
    v = tf.Variable([0.1, 0.9])
    with Tape() as tape:
        q = tf.image.convert_image_dtype(v, tf.uint8)  # <-
        loss = tf.reduce_sum(tf.cast(q, tf.float32))
    return tape, loss, v


@broken("INTEGER", "Stay with floats")
def a_histogram(Tape):
    v = tf.Variable([0.1, 0.9])
    with Tape() as tape:
        h = tf.histogram_fixed_width(v, [0.0, 1.0], 4)  # <-
        loss = tf.reduce_sum(tf.cast(h, tf.float32))
    return tape, loss, v


@broken("INTEGER", "sigmoid")
def threshold_where(Tape):
    v = tf.Variable([0.1, 0.9])
    with Tape() as tape:
        hard = tf.where(v > 0.5, 1.0, 0.0)  # <-
        loss = tf.reduce_mean((hard - [1.0, 1.0]) ** 2)
    return tape, loss, v


@broken("NO_RULE", "grad_pass_through(tf.round)")
def rounded(Tape):
    v = tf.Variable([0.1, 0.9])
    with Tape() as tape:
        q = tf.round(v * 255.0)  # <-
        loss = tf.reduce_sum(q)
    return tape, loss, v


@broken("NO_RULE", "grad_pass_through")
def divided_to_whole_numbers(Tape):
    v = tf.Variable([5.1, 0.9])
    with Tape() as tape:
        q = v // 2.0  # <-
        loss = tf.reduce_sum(q)
    return tape, loss, v


@broken("NO_RULE", "return a tensor for it")
def custom_gradient_none(Tape):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda g: (g, None)

    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with Tape() as tape:
        y = f(v, w) * 2.0  # <-
    return tape, y, w


@broken("AFTER_TAPE", "into the block")
def second_derivative_outside(Tape):
    x = tf.Variable(3.0)
    with Tape() as outer, tf.GradientTape() as inner:
        y = x**3
    dy = inner.gradient(y, x)  # <-
    return outer, dy, x


@broken("NOT_WATCHED", ".watch(")
def second_derivative_not_watched(Tape):
    x = tf.constant(3.0)
    with Tape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        dy = inner.gradient(y, x)  # <-
    return outer, dy, x


@broken("UNUSED", "zero")
def second_derivative_of_linear(Tape):
    x = tf.Variable(3.0)
    with Tape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        dy = inner.gradient(y, x)
    return outer, dy, x


@broken("AFTER_TAPE", "into the block")
def the_tape_before(Tape):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with Tape() as first:
        v * v
    with tf.GradientTape():
        loss = w * v  # <-
    return first, loss, w


@broken("BEFORE_TAPE", "into the block", alone=False)
def the_tape_after(Tape):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape():
        loss = v * v  # <-
    with Tape() as second:
        w * v
    return second, loss, v


@broken("UNUSED", "another model")
def model_rebuilt(Tape):
    def build():
        return [tf.Variable(tf.random.normal([2, 1])), tf.Variable([0.0])]

    old = build()
    new = build()
    with Tape() as tape:
        loss = tf.reduce_sum(tf.ones([3, 2]) @ new[0] + new[1])
    return tape, loss, old[0]


@broken("BEFORE_TAPE", "into the block", alone=False)
def value_read_before(Tape):
    v = tf.Variable(3.0)
    x = v.value()  # <-
    with Tape() as tape:
        y = x * x
    return tape, y, v


@broken("BEFORE_TAPE", "into the block", alone=False)
def model_function_before(Tape):
    w = tf.Variable([[1.0], [2.0]])

    def model(x):
        return tf.matmul(x, w)

    p = model(tf.ones([2, 2]))  # <-
    with Tape() as tape:
        loss = tf.reduce_mean(p)
    return tape, loss, w


@broken("NOT_RECORDED", "stop_recording")
def stop_recording_first(Tape):
    w = tf.Variable([[1.0], [2.0]])
    with Tape() as tape:
        with tape.stop_recording():
            p = tf.matmul(tf.ones([2, 2]), w)  # <-
        loss = tf.reduce_mean(p)
    return tape, loss, w


@broken("NOT_RECORDED", "thread")
def in_a_thread(Tape):
    v = tf.Variable(3.0)
    out = []
    with Tape() as tape:
        t = threading.Thread(target=lambda: out.append(v * v))  # <-
        t.start()
        t.join()
        y = out[0] * 2.0
    return tape, y, v


@broken("NOT_WATCHED", "tape.watch(")
def fgsm_loop(Tape):
    x = tf.constant([1.0, 2.0])
    adv = x
    for _ in range(2):
        with Tape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(adv**2)  # <-
        g = tape.gradient(loss, adv)
        if g is None:
            break
        adv = adv + 0.1 * tf.sign(g)
    return tape, loss, adv


@broken("NOT_WATCHED", "tape.watch(")
def data_loop(Tape):
    data = tf.data.Dataset.from_tensor_slices(np.ones((4, 2), np.float32)).batch(2)
    w = tf.Variable([[1.0], [2.0]])
    for x in data:
        with Tape() as tape:
            y = x @ w  # <-
            loss = tf.reduce_mean(y)
    return tape, loss, x


@broken("NOT_WATCHED", "tape.watch(")
def watched_another_after_reassign(Tape):
    x = tf.constant([1, 2])
    with Tape() as tape:
        tape.watch(x)
        x = tf.cast(x, tf.float32)
        y = tf.reduce_sum(x * x)  # <-
    return tape, y, x


@broken("UNUSED", "tf.where(condition, a, b)")
def a_python_if_sets_a_constant(Tape):
    v = tf.Variable(2.0)
    with Tape() as tape:
        if v > 1.0:  # <-
            loss = tf.constant(3.0)
        else:
            loss = tf.constant(1.0)
        loss = loss * 2.0
    return tape, loss, v


@broken("UNUSED", "Compute the target from it")
def shape_only(Tape):
    v = tf.Variable([0.1, 0.9])
    with Tape() as tape:
        n = tf.cast(tf.shape(v)[0], tf.float32)
        loss = n * 2.0
    return tape, loss, v


@broken("LEFT_TAPE", "tf's functions")
def loss_stays_zero(Tape):
    w = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        loss = 0.0
        for x in []:
            loss += tf.reduce_sum(w * x)
    return tape, loss, w


@broken("ZERO", "leaky_relu")
def relu6_above(Tape):
    v = tf.Variable([7.0, 9.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.nn.relu6(v))  # <-
    return tape, y, v


@broken("ZERO", "logsumexp")
def exp_underflow(Tape):
    v = tf.Variable([-1000.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.exp(v))  # <-
    return tape, y, v


@broken("ZERO", "x - x")
def minus_itself(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(v - v)  # <-
    return tape, y, v


@broken("ZERO", "x - x")
def minus_its_mean(Tape):
    v = tf.Variable([1.0, 3.0])
    with Tape() as tape:
        y = tf.reduce_sum(v - tf.reduce_mean(v))  # <-
    return tape, y, v


@broken("ZERO", "cross entropy")
def softmax_summed(Tape):
    v = tf.Variable([1.0, 1.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.nn.softmax(v))  # <-
    return tape, y, v


@broken("ZERO", "logits")
def saturated_softmax_ce(Tape):
    v = tf.Variable([[1000.0, 0.0]])
    with Tape() as tape:
        p = tf.nn.softmax(v)  # <-
        y = -tf.math.log(p[0, 0])
    return tape, y, v


@broken("ZERO", "hinge")
def hinge_met(Tape):
    v = tf.Variable([10.0, 12.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.maximum(0.0, 1.0 - v))  # <-
    return tape, y, v


@broken("ZERO", "minimum")
def perfect_fit(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_mean(tf.square(v - [1.0, 2.0]))  # <-
    return tape, y, v


@broken("ZERO", "indices")
def empty_slice(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(v[2:])  # <-
    return tape, y, v


@broken("ZERO", "rate")
def dropped_out(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.nn.dropout(v, 0.999999, seed=1))  # <-
    return tape, y, v


@broken("ZERO", "leaky_relu")
def dead_behind_two_layers(Tape):
    w1 = tf.Variable(np.ones((2, 3), np.float32))
    b = tf.Variable([-100.0] * 3)
    w2 = tf.Variable(np.ones((3, 1), np.float32))
    with Tape() as tape:
        h = tf.nn.relu(tf.ones([4, 2]) @ w1 + b)  # <-
        y = tf.reduce_mean((h @ w2 - 1.0) ** 2)
    return tape, y, w1
