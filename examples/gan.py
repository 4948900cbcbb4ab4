"""A generative adversarial network: two networks, two losses, two tapes.

The generator makes points of the plane from noise; the discriminator tells them from true points,
which lie on a ring of eight Gaussians. Both tapes record the same forward pass, and each gives the
gradient of one loss with respect to one network. A third tape inside measures how steep the
discriminator is at the true points; keeping it flat there (Mescheder et al., 2018) is what makes
the game settle.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

BATCH = 256
NOISE = 2  # numbers from which the generator makes a point
ANGLES = np.linspace(0, 2 * np.pi, 8, endpoint=False)
CENTRES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
SPREAD = 0.05


def true_points(random, count):
    near = CENTRES[random.integers(8, size=count)]
    return (near + random.normal(0, SPREAD, size=(count, 2))).astype(np.float32)


def should_be(answer, logits):
    """The mean cross-entropy of logits whose right answer is 1 (true) or 0 (made up)."""
    labels = answer * tf.ones_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def steepness(discriminator, points):
    """The mean square of the discriminator's gradient at the points."""
    with tf.GradientTape() as tape:
        tape.watch(points)
        logits = discriminator(points)
    slopes = tape.gradient(logits, points)
    return tf.reduce_mean(tf.reduce_sum(slopes**2, axis=1))


def quality(points):
    """How many of the eight centres have their share of points, and how many points have one."""
    distances = np.linalg.norm(points[:, None] - CENTRES, axis=2)
    near = distances.min(axis=1) < 4 * SPREAD
    counts = np.bincount(distances.argmin(axis=1)[near], minlength=8)
    return int(np.sum(counts > len(points) / 32)), float(np.mean(near))


def main():
    options = arguments(__doc__, steps=3000)
    random = np.random.default_rng(options.seed)

    generator = MLP([NOISE, 64, 64, 2])
    discriminator = MLP([2, 64, 64, 1])
    falling = tf.optimizers.schedules.CosineDecay
    generator_optimizer = tf.optimizers.Adam(falling(3e-3, options.steps), beta_1=0.5)
    discriminator_optimizer = tf.optimizers.Adam(falling(6e-3, options.steps), beta_1=0.5)

    @tf.function
    def train_step(real):
        noise = tf.random.normal([BATCH, NOISE])
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            made = generator(noise)
            verdict = discriminator(made)
            generator_loss = should_be(1.0, verdict)
            discriminator_loss = should_be(1.0, discriminator(real)) + should_be(0.0, verdict)
            discriminator_loss += 0.005 * steepness(discriminator, real)

        variables = generator.trainable_variables
        gradients = generator_tape.gradient(generator_loss, variables)
        generator_optimizer.apply_gradients(zip(gradients, variables, strict=True))

        variables = discriminator.trainable_variables
        gradients = discriminator_tape.gradient(discriminator_loss, variables)
        discriminator_optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return generator_loss, discriminator_loss

    examples = tf.random.normal([1000, NOISE])
    snapshots = {}
    bar = tf.keras.utils.Progbar(options.steps)
    for step in range(options.steps):
        if step in (options.steps // 30, options.steps // 6):
            snapshots[step] = generator(examples).numpy()
        losses = train_step(tf.constant(true_points(random, BATCH)))
        names = ["generator loss", "discriminator loss"]
        bar.update(step + 1, [(name, float(x)) for name, x in zip(names, losses, strict=True)])
    snapshots[options.steps] = generator(examples).numpy()

    modes, near = quality(snapshots[options.steps])
    if options.figure:
        draw(options.figure, true_points(random, 1000), snapshots, discriminator)
    print(f"result: modes={modes} near={near:.3f}")


def draw(where, real, snapshots, discriminator):
    """True points and made up ones, at three moments."""
    figure = new_figure(12, 3.4)
    first, *others = figure.subplots(1, 1 + len(snapshots), sharex=True, sharey=True)
    first.plot(*real.T, ".", color="tab:blue", markersize=3)
    first.set(title="True points", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6))
    for axes, (step, points) in zip(others, snapshots.items(), strict=True):
        axes.plot(*points.T, ".", color="tab:red", markersize=3)
        axes.set(title=f"Made up, after {step} steps")
    for axes in (first, *others):
        axes.set_aspect("equal")
        axes.axis("off")

    side = np.linspace(-1.6, 1.6, 100, dtype=np.float32)
    x, y = np.meshgrid(side, side)
    verdict = tf.sigmoid(discriminator(np.stack([x.ravel(), y.ravel()], axis=1)))
    levels = np.linspace(0, 1, 11)
    shades = others[-1].contourf(
        x, y, verdict.numpy().reshape(x.shape), levels, cmap="Greys", alpha=0.6, zorder=0
    )
    figure.colorbar(shades, ax=others[-1], shrink=0.85, label="“true”, says the discriminator")
    figure.savefig(where)


if __name__ == "__main__":
    main()
