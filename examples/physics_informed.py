"""A physics-informed network: a swinging spring, of which only the beginning was measured.

The network gives the place u at time t. Its loss has two parts: the measurements, and how far u is
from the law u″ + 2 d u′ + k u = 0 at times where nothing was measured. Two tapes, one inside the
other, give u′ and u″; a third one trains the network on a loss that contains them. The damping d is
not known: it is a variable, and is found on the way. A network without the law shows the difference.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

DAMPING, STIFFNESS = 0.3, 9.0
END, MEASURED = 5.0, 1.6  # seconds
FREQUENCY = (STIFFNESS - DAMPING**2) ** 0.5


def truth(t):
    """The solution of the law that starts at u = 1, at rest."""
    return np.exp(-DAMPING * t) * (
        np.cos(FREQUENCY * t) + DAMPING / FREQUENCY * np.sin(FREQUENCY * t)
    )


def residual(network, damping, t):
    """How far the network is from the law, at the times t."""
    with tf.GradientTape() as outer:
        outer.watch(t)
        with tf.GradientTape() as inner:
            inner.watch(t)
            u = network(t)
        velocity = inner.gradient(u, t)
    acceleration = outer.gradient(velocity, t)
    return acceleration + 2.0 * damping * velocity + STIFFNESS * u


def trained(steps, measured_t, measured_u, law_t=None):
    """A network and a damping that fit the measurements and, at the times law_t, the law."""
    network = MLP([1, 32, 32, 32, 1], activation=tf.tanh)
    damping = tf.Variable(1.0)
    variables = [*network.trainable_variables, damping] if law_t is not None else network.trainable_variables
    optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(5e-3, steps))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((network(measured_t) - measured_u) ** 2)
            if law_t is not None:
                loss += 1e-2 * tf.reduce_mean(residual(network, damping, law_t) ** 2)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    bar = tf.keras.utils.Progbar(steps, stateful_metrics=["damping"])
    for step in range(steps):
        loss = train_step()
        bar.update(step + 1, [("loss", float(loss)), ("damping", float(damping))])
    return network, float(damping)


def main():
    options = arguments(__doc__, steps=6000)
    random = np.random.default_rng(options.seed)
    t = random.uniform(0, MEASURED, size=(25, 1))
    measured_t = tf.constant(t, tf.float32)
    measured_u = tf.constant(truth(t) + random.normal(0, 0.03, size=t.shape), tf.float32)
    law_t = tf.constant(np.linspace(0, END, 100)[:, None], tf.float32)

    network, damping = trained(options.steps, measured_t, measured_u, law_t)
    t = np.linspace(0, END, 200, dtype=np.float32)[:, None]
    print(np.max(np.abs(network(t).numpy()-truth(t))),damping)

if __name__ == "__main__":
    main()
