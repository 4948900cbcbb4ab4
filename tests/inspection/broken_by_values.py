"""Programs whose gradient is None because a function of tf looks at values, or draws by them.

As those of `broken.py`. No op of these functions is on the way: what they give begins anew.
"""

import numpy as np

import gradtape as tf

from .broken import broken


@broken("INTEGER", "softmax")
def a_count_of_classes(Tape):
    w = tf.Variable(np.eye(3, dtype=np.float32))
    with Tape() as tape:
        classes = tf.argmax(tf.nn.softmax(w), -1)  # <-
        counts = tf.math.bincount(tf.cast(classes, tf.int32), minlength=3)
        loss = tf.reduce_sum(tf.cast(counts, tf.float32) ** 2)
    return tape, loss, w


@broken("INTEGER", "softmax")
def an_entry_at_the_place_of_the_largest(Tape):
    v = tf.Variable([1.0, 3.0])
    with Tape() as tape:
        place = int(tf.argmax(v))  # <-
        y = tf.constant([5.0, 6.0])[place] * 2.0
    return tape, y, v


@broken("INTEGER", "cast to integers")
def an_image_that_was_encoded(Tape):
    image = tf.Variable(np.full((4, 4, 3), 100.0, np.float32))
    with Tape() as tape:
        pixels = tf.cast(image, tf.uint8)  # <-
        decoded = tf.image.decode_png(tf.image.encode_png(pixels))
        y = tf.reduce_mean(tf.cast(decoded, tf.float32))
    return tape, y, image


@broken("LEFT_TAPE", "tf's functions")
def the_best_boxes(Tape):
    boxes = tf.Variable([[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]])
    scores = tf.Variable([0.9, 0.8])
    with Tape() as tape:
        kept = tf.image.non_max_suppression(boxes, scores, 2)  # <-
        y = tf.reduce_sum(tf.cast(kept, tf.float32))
    return tape, y, scores


@broken("LEFT_TAPE", "tf's functions")
def the_boxes_themselves(Tape):
    boxes = tf.Variable([[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]])
    with Tape() as tape:
        kept = tf.image.non_max_suppression(boxes, [0.9, 0.8], 2)  # <-
        y = tf.reduce_sum(tf.cast(kept, tf.float32))
    return tape, y, boxes


@broken("LEFT_TAPE", "tf's functions")
def a_dataset_of_the_variable(Tape):
    v = tf.Variable([[1.0], [2.0]])
    with Tape() as tape:
        rows = tf.data.Dataset.from_tensor_slices(v * 2.0)  # <-
        y = tf.add_n([tf.reduce_sum(row * row) for row in rows])
    return tape, y, v


@broken("NO_RULE", "custom_gradient")
def the_different_ones(Tape):
    v = tf.Variable([1.0, 2.0, 1.0])
    with Tape() as tape:
        values = tf.unique(v * 1.0)[0]  # <-
        y = tf.reduce_sum(values)
    return tape, y, v


@broken("NO_RULE", "custom_gradient")
def a_draw_of_poisson(Tape):
    rate = tf.Variable([0.1, 0.2])
    with Tape() as tape:
        drawn = tf.random.poisson([], tf.exp(rate))  # <-
        y = tf.reduce_sum(drawn)
    return tape, y, rate


@broken("INTEGER", "3.0")
def integers_that_were_looked_up_before(Tape):
    ids = tf.constant([1, 2])
    table = tf.Variable([[1.0], [2.0], [3.0]])
    tf.gather(table, ids)
    with Tape() as tape:
        tape.watch(ids)
        y = tf.reduce_sum(tf.gather(table, ids))  # <-
    return tape, y, ids


@broken("UNUSED", "from that result")
def a_value_that_was_only_printed(Tape):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with Tape() as tape:
        y = w * tf.constant([1.0])
        z = v * 2.0  # <-
        f"{float(z):.3f}"
    return tape, y, v
