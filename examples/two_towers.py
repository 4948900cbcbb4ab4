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
    (images, _), (test_images, _) = digits(options.seed)
    batches = (
        tf.data.Dataset.from_tensor_slices((images[:, :32], images[:, 32:]))
        .shuffle(len(images))
        .batch(BATCH, drop_remainder=True)
    )

    upper_tower, lower_tower = Tower(), Tower()
    upper_optimizer = tf.keras.optimizers.Adam(2e-3)
    lower_optimizer = tf.keras.optimizers.Adam(2e-3)

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
        draw(options.figure, test_images, similarity.numpy(), ranks)
    print(f"result: loss={loss:.4f} first={first:.3f} among_ten={among_ten:.3f}")


def draw(where, images, similarity, ranks):
    """Upper halves with the lower halves that fit best, and how often the true one is found."""
    figure = new_figure(10, 4.2)
    left, right = figure.subfigures(1, 2, width_ratios=[3, 2])
    left.suptitle(
        "An upper half with the lower halves that fit best (true one in red)", fontsize="medium"
    )
    for row, cells in enumerate(left.subplots(4, 7)):
        best = np.argsort(-similarity[row])[:6]
        for cell, lower in zip(cells, [None, *best], strict=True):
            halves = [images[row, :32], images[row if lower is None else lower, 32:]]
            cell.imshow(np.concatenate(halves).reshape(8, 8), cmap="gray_r")
            cell.set(xticks=[], yticks=[])
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
