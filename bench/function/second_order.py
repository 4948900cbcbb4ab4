"""What do a Hessian-vector product and a Jacobian cost inside of a compiled function?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.function._models import CASES, Model, losses_of_jax, make, mlp_logits
from bench.function._training import loss_of_jax
from bench.question import Question, Step, Target, quickest_step

SIZES = ("MLP (32, 10, 32, 3)", "MLP (128, 784, 256, 10)")

question = Question(
    title="inside",
    suite="function",
    measure=quickest_step,
    note=(
        "in one compiled function: the Hessian of the loss times a vector (ForwardAccumulator "
        "over a tape; JAX: jvp of grad), and the Jacobian of 32 losses by all parameters "
        "(tape.jacobian; JAX: jacrev)."
    ),
    cases={f"HVP, {size}": {"what": "hvp", **CASES[size]} for size in SIZES}
    | {f"Jacobian, {SIZES[0]}": {"what": "jacobian", **CASES[SIZES[0]]}},
    targets=(
        *(Target(f"HVP, {size}", "jax", 1.3 if size == SIZES[0] else 1.1) for size in SIZES),
        Target(f"Jacobian, {SIZES[0]}", "jax", 1.3),
    ),
)


def directions(model: Model) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(0, 0.1, p.shape).astype(np.float32) for p in model.parameters.values()]


@question.program("gradtape", "tensorflow")
def inside_tape(tf: Any, what: str, **case: Any) -> Step:
    model = make(**case)
    parameters = {name: tf.Variable(array) for name, array in model.parameters.items()}
    trained = list(parameters.values())
    vectors = [tf.constant(v) for v in directions(model)]
    x, labels = tf.constant(model.inputs), tf.constant(model.labels)

    @tf.function(jit_compile=True)
    def product(x: Any, labels: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(trained, vectors) as accumulator:
            with tf.GradientTape() as tape:
                loss = model.of_tape(tf, parameters, x, labels)
            gradients = tape.gradient(loss, trained)
        return accumulator.jvp(gradients)

    @tf.function(jit_compile=True)
    def jacobian(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = mlp_logits(tf.matmul, tf.nn.relu, parameters, x)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tape.jacobian(losses, trained)

    compiled = product if what == "hvp" else jacobian
    return lambda: [part.numpy() for part in compiled(x, labels)]


@question.program("jax")
def inside_jax(jax: Any, what: str, **case: Any) -> Step:
    jax.config.update("jax_enable_x64", False)
    model = make(**case)
    loss = loss_of_jax(jax, model)
    given = jax.device_put((list(model.parameters.values()), model.inputs, model.labels))
    vectors = jax.device_put(directions(model))

    def product(parameters: Any, x: Any, labels: Any) -> Any:
        gradient = jax.grad(lambda p: loss(p, x, labels))
        return jax.jvp(gradient, (parameters,), (vectors,))[1]

    def jacobian(parameters: Any, x: Any, labels: Any) -> Any:
        def losses(p: Any) -> Any:
            named = dict(zip(model.parameters, p, strict=True))
            logits = mlp_logits(jax.numpy.matmul, jax.nn.relu, named, x)
            return losses_of_jax(jax, logits, labels)

        return jax.jacrev(losses)(parameters)

    compiled = jax.jit(product if what == "hvp" else jacobian)
    return lambda: [np.asarray(part) for part in compiled(*given)]
