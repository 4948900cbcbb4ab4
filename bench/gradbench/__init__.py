"""The programs of the public GradBench suite, one file each, as its definitions have them.

All are in float64, on small synthetic data, and give the value and the derivative. JAX is compiled,
gradtape has both forms, the others are eager. `objective(xp, ...)` is the definition in the names
of NumPy: JAX and autograd run it, and the tests; gradtape and PyTorch have programs of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.question import Question, Step, Target


def gradbench(title: str, cases: dict[str, Any], note: str, max_rounds: int = 5) -> Question:
    targets = [
        target
        for case in cases
        for target in (
            Target(case, "torch", 1.0),
            Target(case, "autograd", 1.0),
            Target(case, "jax", 1.2, of="function"),
        )
    ]
    return Question(
        title,
        cases,
        tuple(targets),
        suite="gradbench",
        note=note,
        max_rounds=max_rounds,
        ordered=True,
    )


Prepared = tuple[Any, ...]


def tape_program(question: Question) -> Callable[[Callable[..., Prepared]], Any]:
    """Register `prepare(tf, **case)` for gradtape, eager and compiled.

    It gives a function, and the arrays that are its arguments: what a program has as constants, XLA
    would compute once and for all.
    """

    def register(prepare: Callable[..., Prepared]) -> Any:
        def eager(tf: Any, **case: Any) -> Step:
            f, *arrays = prepare(tf, **case)
            arguments = [tf.constant(a) for a in arrays]
            return lambda: f(*arguments)

        def compiled(tf: Any, **case: Any) -> Step:
            f, *arrays = prepare(tf, **case)
            arguments = [tf.constant(a) for a in arrays]
            step = tf.function(f, jit_compile=True)
            return lambda: step(*arguments)

        question.program("gradtape")(eager)
        question.program("function")(compiled)
        return prepare

    return register


def rounds(tf: Any, count: int) -> Any:
    """What a loop goes over: compiled, it stays one."""
    return tf.range(count) if tf.inside_function() else range(count)


def steps_of(tf: Any, sequence: Any) -> Any:
    """The elements by number: eagerly they are taken apart once, and not one in each round."""
    return sequence if tf.inside_function() else tf.unstack(sequence)
