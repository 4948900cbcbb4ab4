"""Programs in which nothing is wrong: nothing may be said of them.

A program gets the class of tapes, and returns (tape, target, sources).
"""

import numpy as np

import gradtape as tf

SOUND = []


def sound(program):
    SOUND.append(program)
    return program


@sound
def a_variable(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = v * v
    return tape, y, v


@sound
def a_watched_tensor(Tape):
    x = tf.constant(3.0)
    with Tape() as tape:
        tape.watch(x)
        y = x**3
    return tape, y, x


@sound
def an_intermediate_tensor(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        h = v * 2.0
        y = h * h
    return tape, y, [h, v]


@sound
def a_list_of_sources(Tape):
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with Tape() as tape:
        y = v * w
    return tape, y, [v, w]


@sound
def a_dict_of_sources(Tape):
    weights = {"a": tf.Variable(3.0), "b": [tf.Variable(2.0)]}
    with Tape() as tape:
        y = weights["a"] * weights["b"][0]
    return tape, y, weights


@sound
def several_targets(Tape):
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with Tape() as tape:
        y, z = v * 2.0, w * v
    return tape, [y, z], [v, w]


@sound
def a_linear_model(Tape):
    w, b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
    x, labels = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [0.0]])
    with Tape() as tape:
        loss = tf.reduce_mean((x @ w + b - labels) ** 2)
    return tape, loss, [w, b]


@sound
def a_classifier(Tape):
    w = tf.Variable(np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32))
    x, labels = tf.ones([2, 4]), tf.constant([0, 2])
    with Tape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w)
        loss = tf.reduce_mean(losses)
    return tape, loss, w


@sound
def relu_of_mixed_signs(Tape):
    v = tf.Variable([-1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.nn.relu(v))
    return tape, y, v


@sound
def clipping_that_keeps_some(Tape):
    v = tf.Variable([0.5, 9.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.clip_by_value(v, 0.0, 1.0))
    return tape, y, v


@sound
def stop_gradient_of_one_of_two_ways(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        y = tf.stop_gradient(v) * v
    return tape, y, v


@sound
def integers_beside_the_path(Tape):
    v = tf.Variable([3.0, 1.0])
    with Tape() as tape:
        best = tf.argmax(v)
        y = v[0] * tf.cast(best + 1, tf.float32)
    return tape, y, v


@sound
def numpy_beside_the_path(Tape):
    v = tf.Variable([3.0, 1.0])
    with Tape() as tape:
        scale = float(np.max(v.numpy()))
        y = tf.reduce_sum(v / scale)
    return tape, y, v


@sound
def numpy_as_data(Tape):
    v = tf.Variable([3.0, 1.0])
    with Tape() as tape:
        y = tf.reduce_sum(v * np.array([1.0, 2.0], np.float32))
    return tape, y, v


@sound
def a_variable_changed_before(Tape):
    v = tf.Variable(3.0)
    v.assign_add(1.0)
    with Tape() as tape:
        y = v * v
    return tape, y, v


@sound
def a_variable_changed_inside(Tape):
    v, steps = tf.Variable(3.0), tf.Variable(0)
    with Tape() as tape:
        steps.assign_add(1)
        y = v * v
    return tape, y, v


@sound
def a_frozen_variable_that_is_watched(Tape):
    v = tf.Variable(3.0, trainable=False)
    with Tape() as tape:
        tape.watch(v)
        y = v * v
    return tape, y, v


@sound
def variables_watched_by_hand(Tape):
    v = tf.Variable(3.0)
    with Tape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v
    return tape, y, v


@sound
def a_while_of_python(Tape):
    v = tf.Variable(1.5)
    with Tape() as tape:
        y = v * 1.0
        while y < 10.0:
            y = y * v
    return tape, y, v


@sound
def an_if_of_python(Tape):
    v = tf.Variable(1.5)
    with Tape() as tape:
        y = v * 2.0 if v > 1.0 else -v
    return tape, y, v


@sound
def a_loop_of_tensors(Tape):
    v = tf.Variable([1.0, 2.0, 3.0])
    with Tape() as tape:
        total = tf.constant(0.0)
        for x in v:
            total += x * x
    return tape, total, v


@sound
def a_compiled_function(Tape):
    f = tf.function(lambda x: tf.reduce_sum(tf.sin(x) * x))
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = f(v)
    return tape, y, v


@sound
def a_function_that_reads_a_variable(Tape):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: tf.reduce_sum(v * x))
    with Tape() as tape:
        y = f(tf.constant([3.0, 4.0]))
    return tape, y, v


@sound
def a_custom_gradient(Tape):
    @tf.custom_gradient
    def twice(x):
        return x * 2.0, lambda g: g * 2.0

    v = tf.Variable(3.0)
    with Tape() as tape:
        y = twice(v) + 1.0
    return tape, y, v


@sound
def rounding_straight_through(Tape):
    v = tf.Variable([1.2, 2.7])
    with Tape() as tape:
        y = tf.reduce_sum(tf.grad_pass_through(tf.round)(v))
    return tape, y, v


@sound
def recomputed(Tape):
    v = tf.Variable([1.0, 2.0])
    f = tf.recompute_grad(lambda x: tf.tanh(x * x))
    with Tape() as tape:
        y = tf.reduce_sum(f(v))
    return tape, y, v


@sound
def the_gradient_of_a_gradient(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        with tf.GradientTape() as inner:
            y = v**3
        slope = inner.gradient(y, v)
    return tape, slope, v


@sound
def a_look_up(Tape):
    table = tf.Variable(np.arange(6.0).reshape(3, 2))
    with Tape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [0, 2, 2]))
    return tape, y, table


@sound
def parts_of_a_variable(Tape):
    v = tf.Variable([1.0, 2.0, 3.0])
    with Tape() as tape:
        y = v[0] * v[-1]
    return tape, y, v


@sound
def split_and_joined(Tape):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with Tape() as tape:
        left, right = tf.split(v, 2)
        y = tf.reduce_sum(tf.concat([right * 2.0, left], 0))
    return tape, y, v


@sound
def complex_numbers(Tape):
    v = tf.Variable([1.0 + 2.0j])
    with Tape() as tape:
        y = tf.reduce_sum(tf.abs(v) ** 2)
    return tape, y, v


@sound
def half_precision(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.cast(tf.cast(v, tf.float16) * 2, tf.float32))
    return tape, y, v


@sound
def a_convolution(Tape):
    kernel = tf.Variable(np.ones((3, 3, 1, 2), np.float32))
    with Tape() as tape:
        y = tf.reduce_mean(tf.nn.conv2d(tf.ones([1, 5, 5, 1]), kernel, 1, "SAME") ** 2)
    return tape, y, kernel


@sound
def a_decomposition(Tape):
    v = tf.Variable([[2.0, 0.5], [0.5, 1.0]])
    with Tape() as tape:
        y = tf.linalg.logdet(v @ tf.transpose(v))
    return tape, y, v


@sound
def a_module(Tape):
    class Layer(tf.Module):
        def __init__(self):
            self.w = tf.Variable([[1.0], [2.0]])

        def __call__(self, x):
            return x @ self.w

    layer = Layer()
    with Tape() as tape:
        y = tf.reduce_sum(layer(tf.ones([2, 2])))
    return tape, y, layer.trainable_variables


@sound
def recording_resumed(Tape):
    v = tf.Variable(3.0)
    with Tape() as tape:
        with tape.stop_recording():
            note = v * 100.0  # noqa: F841
        y = v * v
    return tape, y, v


@sound
def a_tape_with_a_budget(Tape):
    v = tf.Variable(np.ones(100, np.float32))
    with Tape(memory_budget="1MB") as tape:
        y = tf.reduce_sum(tf.tanh(v) * v)
    return tape, y, v


@sound
def where_with_both_branches(Tape):
    v = tf.Variable([1.0, -2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.where(v > 0.0, v, v * 0.1))
    return tape, y, v


@sound
def a_scan(Tape):
    v = tf.Variable([1.0, 2.0, 3.0])
    with Tape() as tape:
        y = tf.scan(lambda a, x: a * 0.5 + x, v, tf.constant(0.0))[-1]
    return tape, y, v


@sound
def attention(Tape):
    q = tf.Variable(np.linspace(-1, 1, 8).reshape(1, 4, 2).astype(np.float32))
    with Tape() as tape:
        weights = tf.nn.softmax(tf.matmul(q, q, transpose_b=True))
        y = tf.reduce_sum(tf.matmul(weights, q) ** 2)
    return tape, y, q


@sound
def a_sum_over_an_embedding_and_a_bias(Tape):
    table, bias = tf.Variable(np.ones((4, 2), np.float32)), tf.Variable([0.1, 0.2])
    with Tape() as tape:
        y = tf.reduce_sum((tf.gather(table, [1, 1]) + bias) ** 2)
    return tape, y, [table, bias]


@sound
def values_of_top_k(Tape):
    v = tf.Variable([1.0, 3.0, 2.0])
    with Tape() as tape:
        values, places = tf.math.top_k(v, 2)
        y = tf.reduce_sum(values * tf.cast(places, tf.float32))
    return tape, y, v


@sound
def gathered_where_it_is_positive(Tape):
    v = tf.Variable([1.0, -3.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.gather_nd(v, tf.where(v > 0.0)))
    return tape, y, v


@sound
def the_score_of_a_draw(Tape):
    logits = tf.Variable([[1.0, 0.0, -1.0]])
    with Tape() as tape:
        drawn = tf.random.categorical(logits, 1)[0, 0]
        y = -tf.nn.log_softmax(logits)[0, drawn]
    return tape, y, logits


@sound
def a_function_of_python(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        y = tf.reduce_sum(tf.py_function(lambda x: x * x, [v], tf.float32))
    return tape, y, v


@sound
def a_function_in_a_function(Tape):
    v = tf.Variable([1.0, 2.0])
    inner = tf.function(lambda x: tf.sin(x) * v)
    outer = tf.function(lambda x: tf.reduce_sum(inner(x * 2.0)))
    with Tape() as tape:
        y = outer(v)
    return tape, y, v


@sound
def a_loop_in_a_function(Tape):
    v = tf.Variable(0.5)

    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = x * v + tf.stop_gradient(x)
        return x

    with Tape() as tape:
        y = f(tf.constant(2.0))
    return tape, y, v


@sound
def a_variable_made_of_another(Tape):
    first = tf.Variable([1.0, 2.0])
    second = tf.Variable(first * 2.0)
    with Tape() as tape:
        y = tf.reduce_sum(first * second)
    return tape, y, [first, second]


@sound
def a_statistic_kept_beside(Tape):
    v, mean = tf.Variable([1.0, 2.0]), tf.Variable(0.0, trainable=False)
    with Tape() as tape:
        mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(v))
        y = tf.reduce_sum((v - mean) ** 3)
    return tape, y, v


@sound
def an_activation_printed_on_the_way(Tape):
    v = tf.Variable([1.0, 2.0])
    with Tape() as tape:
        h = tf.tanh(v)
        assert len(str(h.numpy())) > 3
        y = tf.reduce_sum(h)
    return tape, y, [v, h]
