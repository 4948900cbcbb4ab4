"""Actor-critic: learn to balance a pole on a cart.

The actor chooses to push left or right, the critic estimates the reward that is still to come. One
tape gives the gradients of both: actions that led to more than the critic expected become more
likely, and the critic learns from its error. The carts and poles are a few lines of NumPy.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

CARTS = 16
MOVES = 64  # of every cart, between two updates
DISCOUNT = 0.99
REWARD = 1 - DISCOUNT  # for a move without a fall: never to fall is worth 1
LONGEST = 500  # moves of an episode


class CartPoles:
    """Many carts, each with a pole on a hinge; a state is place, speed, angle, angular speed.

    The equations are those of Barto, Sutton and Anderson (1983). An episode ends when the pole
    leans by more than 12 degrees, the cart leaves the track or the time is over.
    """

    FORCE, GRAVITY, SECONDS = 10.0, 9.8, 0.02
    CART, POLE, HALF_LENGTH = 1.0, 0.1, 0.5  # kg, kg, m

    def __init__(self, count, random):
        self.random = random
        self.states = self.starts(count)
        self.ages = np.zeros(count, int)

    def starts(self, count):
        return self.random.uniform(-0.05, 0.05, size=(count, 4)).astype(np.float32)

    def move(self, to_the_right):
        """Push every cart; which ones fell, and the lengths of the episodes that ended.

        Those start anew.
        """
        _, speed, angle, turning = self.states.T
        mass = self.CART + self.POLE
        sine, cosine = np.sin(angle), np.cos(angle)
        swing = self.POLE * self.HALF_LENGTH / mass
        push = np.where(to_the_right, self.FORCE, -self.FORCE) / mass + swing * turning**2 * sine
        inertia = self.HALF_LENGTH * (4 / 3 - self.POLE / mass * cosine**2)
        turn = (self.GRAVITY * sine - cosine * push) / inertia
        rates = np.stack([speed, push - swing * turn * cosine, turning, turn], axis=1)
        self.states = (self.states + self.SECONDS * rates).astype(np.float32)
        self.ages += 1

        place, _, angle, _ = np.abs(self.states.T)
        fell = (place > 2.4) | (angle > np.radians(12))
        ended = fell | (self.ages == LONGEST)
        lengths = self.ages[ended]
        self.states[ended], self.ages[ended] = self.starts(len(lengths)), 0
        return fell, lengths


def play(poles, policy, random):
    """MOVES moves of all carts: the states, the actions, which fell, the lengths of episodes."""
    states, actions, falls, lengths = [], [], [], []
    for _ in range(MOVES):
        probability = policy(poles.states).numpy()[:, 1]
        states.append(poles.states)
        actions.append(np.int32(random.uniform(size=CARTS) < probability))
        fell, ended = poles.move(actions[-1])
        falls.append(fell)
        lengths.extend(ended)
    return np.stack(states), np.stack(actions), np.stack(falls), lengths


def returns_of(falls, value):
    """The discounted reward from each move on; after the last one, what the critic expects.

    Where only the time was over, it goes on with the new start, which is worth as much.
    """
    returns = []
    for fell in falls[::-1]:
        value = np.where(fell, 0.0, REWARD + DISCOUNT * value)
        returns.append(value)
    return np.stack(returns[::-1]).astype(np.float32)


def main():
    options = arguments(__doc__, steps=300)
    random = np.random.default_rng(options.seed)
    poles = CartPoles(CARTS, random)

    actor = MLP([4, 64, 2], activation=tf.tanh)
    critic = MLP([4, 64, 1], activation=tf.tanh)
    variables = [*actor.trainable_variables, *critic.trainable_variables]
    rate = tf.optimizers.schedules.CosineDecay(5e-3, options.steps)
    optimizer = tf.optimizers.Adam(rate)

    @tf.function
    def policy(states):
        return tf.nn.softmax(actor(states))

    @tf.function
    def train_step(states, actions, returns):
        with tf.GradientTape() as tape:
            advantages = returns - tf.squeeze(critic(states), axis=1)
            chances = tf.nn.log_softmax(actor(states))
            taken = tf.gather(chances, actions, batch_dims=1)
            weights = tf.stop_gradient(advantages / tf.math.reduce_std(advantages))
            actor_loss = -tf.reduce_mean(taken * weights)
            critic_loss = tf.reduce_mean(advantages**2)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(chances) * chances, axis=1))
            loss = actor_loss + critic_loss - 0.01 * entropy
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    episodes = []
    bar = tf.keras.utils.Progbar(options.steps, stateful_metrics=["length of episodes"])
    for step in range(options.steps):
        states, actions, falls, lengths = play(poles, policy, random)
        returns = returns_of(falls, tf.squeeze(critic(poles.states), axis=1).numpy())
        train_step(states.reshape(-1, 4), actions.reshape(-1), returns.reshape(-1))
        episodes.extend(lengths)
        bar.update(step + 1, [("length of episodes", np.mean(episodes[-50:] or [0]))])

    reward, track = evaluate(policy, random)
    if options.figure:
        draw(options.figure, np.array(episodes), track)
    print(f"result: reward={reward:.1f} episodes={len(episodes)}")


def evaluate(policy, random):
    """The mean length of 16 new episodes without chance, and the states of the first cart."""
    poles = CartPoles(CARTS, random)
    standing, lengths, track = np.ones(CARTS, bool), np.zeros(CARTS), []
    for _ in range(LONGEST):
        track.append(poles.states[0])
        fell, _ = poles.move(np.argmax(policy(poles.states), axis=1))
        lengths += standing
        standing &= ~fell
    return lengths.mean(), np.array(track[: int(lengths[0])])


def draw(where, episodes, track):
    """How long the episodes became, and how the cart moves after training."""
    figure = new_figure(9, 3.8)
    learning, motion = figure.subplots(1, 2)

    learning.plot(episodes, ".", color="tab:blue", alpha=0.3, markersize=4, label="one episode")
    window = min(50, len(episodes))
    means = np.convolve(episodes, np.ones(window) / window, mode="valid")
    learning.plot(np.arange(window - 1, len(episodes)), means, color="tab:red", label="mean of 50")
    learning.set(title="Learning to balance", xlabel="episode", ylabel="moves until the fall")
    learning.legend(loc="upper left")

    seconds = CartPoles.SECONDS * np.arange(len(track))
    motion.plot(seconds, np.degrees(track[:, 2]), color="tab:red", label="angle of the pole (°)")
    motion.plot(seconds, 10 * track[:, 0], color="tab:blue", label="place of the cart (0.1 m)")
    motion.axhline(12, color="gray", linestyle=":", linewidth=1)
    motion.axhline(-12, color="gray", linestyle=":", linewidth=1, label="a fall")
    motion.set(title="One episode after training", xlabel="time (s)", ylim=(-14, 24))
    motion.legend(loc="upper left")
    figure.savefig(where)


if __name__ == "__main__":
    main()
