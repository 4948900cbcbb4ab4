"""Rules: the same numbers in place, in blocks and compiled, in every dtype."""

import numpy as np
import pytest

from .examples import RULES, example, gradtape_only, updated


@gradtape_only
@pytest.mark.parametrize("name", RULES)
def test_a_rule_gives_the_same_in_place_in_blocks_and_compiled(tf, name, monkeypatch):
    import jax

    from gradtape._src.train.optimizers import in_place

    optimizer, _, grads = example(tf, *RULES[name])
    for i, g in enumerate(grads):
        rule = optimizer._rules[i]
        arrays = [v.numpy() for v in optimizer._with_slots[i]]
        arrays = [np.asarray(array) for array in arrays]
        scalars = optimizer._scalars(optimizer.learning_rate.numpy(), g.numpy().dtype)
        expected = rule(np, arrays, g.numpy(), scalars)
        sizes = (
            (2**20, 2**20, 2**20),
            (0, 2**20, 2**20),
            (0, 4 * 256, 2**20),
            (0, 4 * 256, 4 * 2048),
        )
        for small, block, large in sizes:
            monkeypatch.setattr(in_place, "SMALL", small)
            monkeypatch.setattr(in_place, "BLOCK", block)
            monkeypatch.setattr(in_place, "LARGE", large)
            for one, two in zip(updated(rule, arrays, g.numpy(), scalars), expected, strict=True):
                np.testing.assert_array_equal(one, two)
        compiled = jax.jit(lambda a, g, s, rule=rule: rule(jax.numpy, a, g, s))
        for one, two in zip(compiled(arrays, g.numpy(), scalars), expected, strict=True):
            np.testing.assert_allclose(one, two, rtol=2e-5, atol=1e-6)


@gradtape_only
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", [*RULES, "Adam, compiled", "Nadam, compiled"])
def test_dtypes(tf, name, dtype):
    """A step of any dtype is that of float32, as exact as the dtype is.

    In Keras, where bfloat16 has 1 for 0.999, Adam stays where it is and Nadam gives NaN.
    """
    kind, options = RULES[name.removesuffix(", compiled")]
    results = []
    for each in dtype, "float32":
        v = tf.Variable(tf.cast(tf.constant([1.0, -2.0]), each))
        optimizer = getattr(tf.optimizers, kind)(**({"learning_rate": 0.05} | options))

        def step(v=v, optimizer=optimizer, each=each):
            optimizer.apply_gradients([(tf.cast(tf.constant([0.5, 0.25]), each), v)])

        if name.endswith("compiled"):
            step = tf.function(step)
        step()
        step()
        assert {s.dtype for s in optimizer._with_slots[0]} == {getattr(tf, each)}
        results.append(tf.cast(v, tf.float64).numpy())
    moved = np.abs(results[1] - [1.0, -2.0])
    epsilon = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 1e-6}[dtype]
    np.testing.assert_array_less(np.abs(results[0] - results[1]), 3 * epsilon + 0.1 * moved)


@gradtape_only
def test_an_optimizer_by_a_rule(tf):
    class Signed(tf.optimizers.Optimizer):
        def slot_groups(self):
            return [{"seen": 1.0}]

        def scalars(self, learning_rate, step):
            return {"rate": learning_rate * step}

        @staticmethod
        def rule(xp, w, g, seen, *, rate):
            return w - xp.sign(g) * rate, {"seen": seen + xp.abs(g)}

    v = tf.Variable([1.0, 2.0])
    optimizer = Signed(0.5)

    @tf.function
    def compiled():
        optimizer.apply_gradients([(tf.constant([3.0, -4.0]), v)])

    optimizer.apply_gradients([(tf.constant([3.0, -4.0]), v)])
    np.testing.assert_array_equal(v.numpy(), [0.5, 2.5])
    compiled()
    np.testing.assert_array_equal(v.numpy(), [-0.5, 3.5])
    np.testing.assert_array_equal(optimizer.variables[-1].numpy(), [7.0, 9.0])


@gradtape_only
@pytest.mark.parametrize("half", [lambda xp, g: 0.5 * g, lambda xp, g: xp.maximum(g, 0.5)])
def test_a_rule_with_a_number_in_it_is_explained(tf, half):
    class Half(tf.optimizers.Optimizer):
        @staticmethod
        def rule(xp, w, g):
            return w - half(xp, g), {}

    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"the number 0\.5 .* `scalars`"):
        Half(0.1).apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == 1.0
