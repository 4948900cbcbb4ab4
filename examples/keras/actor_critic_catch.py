"""Actor-critic with a Keras model of two heads, and a compiled step of one's own.

The game: a ball falls down a board of 8 × 6 fields, and a paddle at the bottom moves left, stays or
moves right. Catching the ball is worth 1, missing it -1. Many boards are played at once.
"""

import numpy as np
import tensorflow as tf
from helpers import arguments, new_figure
from tensorflow import keras
from tensorflow.keras import layers

ROWS, COLUMNS = 8, 6
BOARDS = 64


class Catch:
    """Boards on each of which a ball falls; after ROWS - 1 moves it is caught or missed."""

    def __init__(self, random, boards=BOARDS):
        self.ball = random.integers(COLUMNS, size=boards)
        self.paddle = random.integers(COLUMNS, size=boards)
        self.row = 0

    def observed(self):
        """The boards as images: 1 where the ball is, and where the paddle is."""
        images = np.zeros((len(self.ball), ROWS, COLUMNS, 1), np.float32)
        every = np.arange(len(self.ball))
        images[every, self.row, self.ball] = 1
        images[every, ROWS - 1, self.paddle] = 1
        return images

    def move(self, actions):
        """Move the paddles by -1, 0 or 1 and let the balls fall by one row; the rewards."""
        self.paddle = np.clip(self.paddle + actions - 1, 0, COLUMNS - 1)
        self.row += 1
        if self.row < ROWS - 1:
            return np.zeros(len(self.ball), np.float32)
        return np.where(self.paddle == self.ball, 1, -1).astype(np.float32)


def make_model():
    board = keras.Input((ROWS, COLUMNS, 1))
    x = layers.Conv2D(8, 3, activation="relu", padding="same")(board)
    x = layers.Dense(64, activation="relu")(layers.Flatten()(x))
    actor = layers.Dense(3, name="actor")(x)
    critic = layers.Dense(1, name="critic")(x)
    return keras.Model(board, [actor, critic])


def main():
    options = arguments(__doc__, steps=400)
    random = np.random.default_rng(options.seed)
    model = make_model()
    optimizer = keras.optimizers.Adam(3e-3)

    @tf.function
    def chances(boards):
        return tf.nn.softmax(model(boards)[0])

    @tf.function
    def train_step(boards, actions, rewards):
        with tf.GradientTape() as tape:
            logits, values = model(boards, training=True)
            advantages = rewards - tf.squeeze(values, axis=1)
            logs = tf.nn.log_softmax(logits)
            taken = tf.gather(logs, actions, batch_dims=1)
            actor_loss = -tf.reduce_mean(taken * tf.stop_gradient(advantages))
            critic_loss = tf.reduce_mean(advantages**2)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logs) * logs, axis=1))
            loss = actor_loss + 0.5 * critic_loss - 0.02 * entropy
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    caught = []
    bar = keras.utils.Progbar(options.steps, stateful_metrics=["caught"])
    for step in range(options.steps):
        game = Catch(random)
        boards, actions = [], []
        for _ in range(ROWS - 1):
            boards.append(game.observed())
            limits = np.cumsum(chances(boards[-1]).numpy(), axis=1)
            drawn = (random.uniform(size=(BOARDS, 1)) > limits[:, :2]).sum(axis=1)
            actions.append(drawn.astype(np.int32))
            rewards = game.move(drawn)
        everywhere = np.tile(rewards, ROWS - 1)  # a move earns what its game earns
        train_step(np.concatenate(boards), np.concatenate(actions), everywhere)
        caught.append(np.mean(rewards > 0))
        bar.update(step + 1, [("caught", np.mean(caught[-20:]))])

    final = evaluate(chances, random)
    if options.figure:
        draw(options.figure, caught, model)
    print(f"result: caught={final:.3f}")


def evaluate(chances, random):
    """The share of 500 balls that are caught without chance in the moves."""
    game = Catch(random, 500)
    for _ in range(ROWS - 1):
        rewards = game.move(np.argmax(chances(game.observed()), axis=1))
    return np.mean(rewards > 0)


def draw(where, caught, model):
    """How many are caught while learning, and how good the critic finds each place of the ball."""
    figure = new_figure(9, 3.4)
    learning, places = figure.subplots(1, 2, width_ratios=(1.4, 1))
    window = min(20, len(caught))
    means = np.convolve(caught, np.ones(window) / window, mode="valid")
    learning.plot(caught, ".", color="tab:blue", alpha=0.3, markersize=4, label="one step")
    learning.plot(np.arange(window - 1, len(caught)), means, color="tab:red", label="mean of 20")
    learning.axhline(1 / COLUMNS, color="gray", linestyle=":", label="without moving")
    learning.set(title="Balls caught", xlabel="step", ylim=(0, 1.05))
    learning.legend(loc="lower right")

    game = Catch(np.random.default_rng(0), COLUMNS)
    values = []
    for game.row in range(ROWS - 1):
        game.ball, game.paddle = np.arange(COLUMNS), np.zeros(COLUMNS, int)
        values.append(model(game.observed())[1].numpy()[:, 0])
    image = places.imshow(np.array(values), cmap="RdYlGn", vmin=-1, vmax=1)
    places.set(
        title="What the critic expects,\nthe paddle being on the left",
        xlabel="column of the ball",
        ylabel="row of the ball",
    )
    figure.colorbar(image, ax=places)
    figure.savefig(where)


if __name__ == "__main__":
    main()
