"""One loss over two models: which lower half of a digit belongs to which upper half?

One tower reads the upper halves, the other the lower ones; each makes a unit vector. In a batch the
two vectors of the same image should be more alike than those of different images, which is a
classification of each half among the others (the loss of CLIP). One tape gives the gradients of
both towers and of the temperature, in the structure in which it was asked for them.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, digits, new_figure

BATCH = 128
WIDTH = 32


def unit(x):
    return tf.math.l2_normalize(x, axis=1)


def rank_of_true(similarity):
    """For each upper half, how many lower halves are more alike than its own."""
    return np.sum(similarity > np.diag(similarity)[:, None], axis=1)


def main():
    options = arguments(__doc__, epochs=40)
    (images, _), (test_images, _) = digits(options.seed)
    batches = (
        tf.data.Dataset.from_tensor_slices((images[:, :32], images[:, 32:]))
        .shuffle(len(images))
        .batch(BATCH, drop_remainder=True)
    )

    upper_tower, lower_tower = MLP([32, 128, WIDTH]), MLP([32, 128, WIDTH])
    log_scale = tf.Variable(2.0)  # of the similarities, the inverse of a temperature
    optimizer = tf.keras.optimizers.AdamW(3e-3, weight_decay=0.1)

    @tf.function
    def train_step(upper, lower):
        with tf.GradientTape() as tape:
            similarity = unit(upper_tower(upper)) @ tf.transpose(unit(lower_tower(lower)))
            logits = tf.exp(log_scale) * similarity
            same = tf.range(BATCH)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=same, logits=logits)
                + tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=same, logits=tf.transpose(logits)
                )
            )
        parts = [upper_tower.trainable_variables, lower_tower.trainable_variables, [log_scale]]
        for gradients, variables in zip(tape.gradient(loss, parts), parts, strict=True):
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    metrics = ["loss", "found first", "found among five"]
    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=metrics, unit_name="epoch")
    for epoch in range(options.epochs):
        loss = np.mean([train_step(upper, lower).numpy() for upper, lower in batches])
        upper = unit(upper_tower(test_images[:, :32])).numpy()
        lower = unit(lower_tower(test_images[:, 32:])).numpy()
        ranks = rank_of_true(upper @ lower.T)
        first, among_five = np.mean(ranks < 1), np.mean(ranks < 5)
        bar.update(epoch + 1, zip(metrics, [loss, first, among_five], strict=True))

    if options.figure:
        draw(options.figure, test_images, upper @ lower.T)
    print(f"result: loss={loss:.4f} first={first:.3f} among_five={among_five:.3f}")


def draw(where, images, similarity):
    """Some upper halves, and the five lower halves that fit best; the true one is framed."""
    figure = new_figure(9, 4.8)
    grid = figure.subplots(4, 12)
    for row, cells in enumerate(grid[:, :6]):
        pass
    figure.savefig(where)


if __name__ == "__main__":
    main()
