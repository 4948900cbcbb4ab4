"""A user's program, fully annotated: mypy and pyright, both strict, have nothing to say about it.

It also runs, so what it says of types is true.
"""

import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import gradtape as tf


class Batch(NamedTuple):
    x: tf.Tensor
    y: tf.Tensor


class Dense(tf.Module):
    def __init__(self, inputs: int, outputs: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([inputs, outputs], stddev=0.5), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x @ self.w + self.b)


class Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = Dense(2, 8, name="hidden")
        self.out = Dense(8, 1)
        self.calls = tf.Variable(0, trainable=False, dtype=tf.int32)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        self.calls.assign_add(1)
        return tf.squeeze(self.out(self.hidden(x)), axis=-1)


def mean_square(error: tf.Tensor, weight: float = 1.0) -> tf.Tensor:
    return weight * tf.reduce_mean(tf.square(error))


@tf.custom_gradient
def clipped(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    def grad(upstream: tf.Tensor) -> tf.Tensor:
        return tf.clip_by_value(upstream, -1.0, 1.0)

    return tf.identity(x), grad


@tf.function(jit_compile=True, reduce_retracing=True)
def norm_of(values: list[tf.Tensor]) -> tf.Tensor:
    return tf.sqrt(tf.add_n([tf.reduce_sum(v**2) for v in values]))


def batches() -> Iterator[Batch]:
    random = np.random.default_rng(0)
    x = random.normal(size=(64, 2)).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, np.sin(x[:, 0]))).shuffle(64, seed=1)
    for features, labels in dataset.batch(16).repeat(2).prefetch(tf.data.AUTOTUNE):
        yield Batch(features, labels)


def train(model: Model) -> list[float]:
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.05, 10, 0.9)
    optimizer = tf.keras.optimizers.Adam(schedule, clipnorm=1.0)
    losses: list[float] = []
    for batch in batches():
        with tf.GradientTape() as tape:
            loss = mean_square(clipped(model(batch.x)) - batch.y)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        losses.append(float(loss.numpy()))
    return losses


def derivatives() -> tuple[float, tf.Tensor, dict[str, tf.Tensor]]:
    x = tf.constant([1.0, 2.0])
    v = tf.Variable([[1.0, 0.5], [0.0, 2.0]])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.matvec(v + 1, x) * 2 - tf.exp(-x) / 3
            loss = tf.reduce_sum(y, axis=0)
        first = tape.gradient(loss, x)
    second = outer.jacobian(first, x)
    by_name: dict[str, tf.Tensor] = outer.gradient(loss, {"x": x, "v": v})
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        z = tf.math.log1p(x) if x.shape[0] > 1 else x
    tangent = accumulator.jvp(z)
    doubled = tf.nest.map_structure(lambda t: t * 2, {"a": [first, tangent]})
    return float(tf.norm(second) + doubled["a"][0][0]), tangent, by_name


def save_and_restore(model: Model) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(model=model)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
        path = manager.save()
        before = model.hidden.w.numpy()
        model.hidden.w.assign(tf.zeros_like(model.hidden.w))
        checkpoint.restore(path)
        return np.array_equal(before, model.hidden.w.numpy())


def main() -> None:
    model = Model()
    losses = train(model)
    assert losses[-1] < losses[0], losses
    value, tangent, by_name = derivatives()
    assert value > 0 and tangent.shape == (2,) and by_name["v"].shape.rank == 2
    steps = tf.TensorArray(tf.float32, size=3)
    for i in range(3):
        steps = steps.write(i, norm_of([tf.fill([2], float(i)), 2 * tangent]))
    assert steps.stack().dtype == tf.float32 and bool(tf.reduce_all(steps.stack() > 0))
    try:
        tf.matmul([[1.0]], [[1.0], [2.0]])
    except tf.errors.InvalidArgumentError as error:
        assert error.error_code == tf.errors.INVALID_ARGUMENT and error.message
    assert save_and_restore(model)
    assert 1 - model.out.b[0] > -9 and model.out.w.trainable


if __name__ == "__main__":
    main()
