"""One loss over two models: which lower half of a digit belongs to which upper half?

One tower reads the upper halves, the other the lower ones, and each makes a unit vector. The two
vectors of one image should be more alike than those of different images, so every half is
classified among the halves of its batch (the loss of CLIP). One tape gives the gradients for both
towers, in the structure in which they are asked for.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, digits, new_figure

BATCH = 128
TEMPERATURE = 0.1


class Tower(tf.Module):
    """Half images as rows of 32 to unit vectors."""

    def __init__(self):
        super().__init__()
        self.network = MLP([32, 128, 32])

    def __call__(self, halves):
        return tf.math.l2_normalize(self.network(halves), axis=1)


def contrastive_loss(upper, lower):
    """How well the vectors of each side tell their partner from the others, in both directions."""
    similarity = upper @ tf.transpose(lower) / TEMPERATURE
    partner = tf.range(BATCH)
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits
    return tf.reduce_mean(
        cross_entropy(labels=partner, logits=similarity)
        + cross_entropy(labels=partner, logits=tf.transpose(similarity))
    )


def main():
    options = arguments(__doc__, epochs=40)
    (images, _), (test_images, test_labels) = digits(options.seed)
    batches = (
        tf.data.Dataset.from_tensor_slices((images[:, :32], images[:, 32:]))
        .shuffle(len(images))
        .batch(BATCH, drop_remainder=True)
    )

    upper_tower, lower_tower = Tower(), Tower()
    upper_optimizer = tf.optimizers.Adam(2e-3)
    lower_optimizer = tf.optimizers.Adam(2e-3)

    @tf.function
    def train_step(upper, lower):
        with tf.GradientTape() as tape:
            loss = contrastive_loss(upper_tower(upper), lower_tower(lower))
        variables = [upper_tower.trainable_variables, lower_tower.trainable_variables]
        gradients = tape.gradient(loss, variables)
        upper_optimizer.apply_gradients(zip(gradients[0], variables[0], strict=True))
        lower_optimizer.apply_gradients(zip(gradients[1], variables[1], strict=True))
        return loss

    metrics = ["loss", "found first", "found among ten"]
    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=metrics, unit_name="epoch")
    for epoch in range(options.epochs):
        loss = np.mean([train_step(upper, lower).numpy() for upper, lower in batches])
        similarity = upper_tower(test_images[:, :32]) @ tf.transpose(
            lower_tower(test_images[:, 32:])
        )
        better = similarity > tf.linalg.diag_part(similarity)[:, tf.newaxis]
        ranks = np.sum(better, axis=1)  # how many other lower halves seem to fit better
        first, among_ten = np.mean(ranks < 1), np.mean(ranks < 10)
        bar.update(epoch + 1, zip(metrics, [loss, first, among_ten], strict=True))

    if options.figure:
        draw(options.figure, test_images, test_labels, similarity.numpy(), ranks)
    print(f"result: loss={loss:.4f} first={first:.3f} among_ten={among_ten:.3f}")


def picture(upper, lower):
    return np.concatenate([upper, lower]).reshape(8, 8)


def draw(where, images, labels, similarity, ranks):
    """Upper halves with the lower halves that fit best, and how often the true one is found."""
    figure = new_figure(10, 4.2)
    left, right = figure.subfigures(1, 2, width_ratios=[3, 2])
    left.suptitle("Upper halves, and the lower halves that fit best (true: red)", fontsize="medium")
    chosen = [np.flatnonzero(labels == digit)[0] for digit in (0, 2, 5, 6)]
    for cells, upper in zip(left.subplots(4, 7), chosen, strict=True):
        blank = np.zeros(32)
        cells[0].imshow(picture(images[upper, :32], blank), cmap="gray_r")
        for cell, lower in zip(cells[1:], np.argsort(-similarity[upper]), strict=False):
            color = "Reds" if lower == upper else "gray_r"
            cell.imshow(picture(images[upper, :32], images[lower, 32:]), cmap=color)
        for cell in cells:
            cell.axis("off")

    curve = right.subplots()
    counts = np.arange(1, 31)
    curve.plot(counts, [np.mean(ranks < n) for n in counts], label="two towers")
    curve.plot(counts, counts / len(ranks), color="gray", linestyle=":", label="by chance")
    curve.set(
        title=f"Is the true one among the best n of {len(ranks)}?", xlabel="n", ylabel="how often"
    )
    curve.legend()
    figure.savefig(where)


if __name__ == "__main__":
    main()
