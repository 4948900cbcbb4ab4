"""Programs whose gradient is None, or zero: what people ask about, in a few lines each.

A program gets the class of tapes, and returns (tape, target, source). Beside it stand the cause
that must be found and words of the suggestion; `# <-` marks the line that must be named, where one
can be.
"""

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
