"""Gradients by the input: which pixels matter, and how to deceive a classifier.

The tape watches the images instead of the weights. The gradient of a digit's own score says which
pixels the network looks at (saliency). A step of every pixel along the sign of the gradient of the
loss gives images that look the same and are taken for something else (Goodfellow et al., 2015).
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, digits, new_figure

SIZE = 0.1  # of the change of each pixel, from white 0 to black 1


def losses_of(network, images, labels):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=network(images))


def train(network, images, labels, epochs):
    batches = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(labels)).batch(32)
    optimizer = tf.optimizers.Adam(2e-3)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(losses_of(network, x, y))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    bar = tf.keras.utils.Progbar(epochs, stateful_metrics=["loss"], unit_name="epoch")
    for epoch in range(epochs):
        loss = np.mean([train_step(x, y).numpy() for x, y in batches])
        bar.update(epoch + 1, [("loss", loss)])


def saliency(network, images, labels):
    """How much each pixel moves the score of the image's own digit."""
    images = tf.constant(images)
    with tf.GradientTape() as tape:
        tape.watch(images)
        scores = tf.gather(network(images), labels, batch_dims=1)
    return tf.abs(tape.gradient(scores, images))


def worst_direction(network, images, labels):
    """+1 or -1 for each pixel: the change that makes the loss grow fastest."""
    images = tf.constant(images)
    with tf.GradientTape() as tape:
        tape.watch(images)
        losses = losses_of(network, images, labels)
    return tf.sign(tape.gradient(losses, images)).numpy()


def change(images, direction, size):
    return np.clip(images + size * direction, 0.0, 1.0)


def accuracy(network, images, labels):
    return np.mean(np.argmax(network(images), axis=1) == labels)


def main():
    options = arguments(__doc__, epochs=20)
    (images, labels), (test_images, test_labels) = digits(options.seed)
    network = MLP([64, 128, 64, 10])
    train(network, images, labels, options.epochs)

    worst = worst_direction(network, test_images, test_labels)
    chance = np.sign(np.random.default_rng(options.seed).normal(size=worst.shape)).astype(
        np.float32
    )
    sizes = np.linspace(0, 0.2, 11, dtype=np.float32)
    accuracies = {
        name: [accuracy(network, change(test_images, direction, s), test_labels) for s in sizes]
        for name, direction in [("by chance", chance), ("along the gradient", worst)]
    }

    clean = accuracy(network, test_images, test_labels)
    noisy = accuracy(network, change(test_images, chance, SIZE), test_labels)
    deceived = accuracy(network, change(test_images, worst, SIZE), test_labels)
    if options.figure:
        draw(options.figure, network, test_images, test_labels, worst, sizes, accuracies)
    print(f"result: clean={clean:.3f} noisy={noisy:.3f} adversarial={deceived:.3f}")


def draw(where, network, images, labels, worst, sizes, accuracies):
    """Digits, what the network looks at, their deceiving twins; and the accuracy by their size."""
    figure = new_figure(11, 4.2)
    left, right = figure.subfigures(1, 2, width_ratios=[3, 2])

    chosen = [np.flatnonzero(labels == digit)[0] for digit in range(6)]
    images, labels, worst = images[chosen], labels[chosen], worst[chosen]
    twins = change(images, worst, SIZE)
    rows = [
        ("digit", images, "gray_r"),
        ("saliency", saliency(network, images, labels).numpy(), "magma"),
        ("deceiving", twins, "gray_r"),
    ]
    for cells, (name, pictures, colors) in zip(left.subplots(3, 6), rows, strict=True):
        cells[0].set_ylabel(name)
        shown = tf.nn.softmax(network(pictures)).numpy() if colors == "gray_r" else None
        for place, cell in enumerate(cells):
            cell.imshow(pictures[place].reshape(8, 8), cmap=colors)
            cell.set(xticks=[], yticks=[], frame_on=False)
            if shown is not None:
                found = shown[place].argmax()
                color = "black" if found == labels[place] else "tab:red"
                title = f"{found} ({shown[place, found]:.0%})"
                cell.set_title(title, fontsize="small", color=color)

    curve = right.subplots()
    for name, values in accuracies.items():
        curve.plot(sizes, values, ".-", label=name)
    curve.axvline(SIZE, color="gray", linestyle=":", linewidth=1)
    curve.set(
        title="When all pixels are changed a little",
        xlabel="change of each pixel",
        ylabel="accuracy",
        ylim=(0, 1.02),
    )
    curve.legend(loc="lower left")
    figure.savefig(where)


if __name__ == "__main__":
    main()
