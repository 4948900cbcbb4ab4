"""Random keys of compiled programs: the published values of Philox, and keys that differ."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from gradtape._src.engines.xla.keys import fold_in, philox, split, typed


@pytest.mark.parametrize(
    ("key", "low", "high", "words"),
    [
        (0, 0, 0, (0xFF1DAE59, 0x6CD10DF2)),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, (0x2C3F628B, 0xAB4FD7AD)),
        (0x13198A2E, 0x243F6A88, 0x85A308D3, (0xDD7CE038, 0xF62A4C12)),
    ],
)
def test_philox_gives_the_words_that_its_authors_publish(key, low, high, words):
    found = philox(*[jnp.asarray(np.uint32(x)) for x in (key, low, high)])
    assert tuple(map(int, found)) == words


def test_keys_made_of_one_key_differ_from_it_and_from_each_other():
    key = jnp.asarray(np.array([3, 4], np.uint32))
    keys = [key, *[fold_in(key, i) for i in range(100)], *split(key, (100,))]
    assert len({np.asarray(each).tobytes() for each in keys}) == 201


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_of_every_width_are_even(width):
    with jax.enable_x64(True):
        key = typed(jnp.asarray(np.array([3, 4], np.uint32)))
        bits = np.asarray(jax.random.bits(key, (20_000,), np.dtype(f"uint{width}")))
    assert bits.dtype.itemsize * 8 == width
    ones = np.unpackbits(bits.view(np.uint8)).reshape(20_000, width).mean(0)
    assert np.abs(ones - 0.5).max() < 0.02  # five standard deviations of such a mean


def test_one_program_for_many_keys_draws_what_each_draws_alone():
    keys = split(jnp.asarray(np.array([3, 4], np.uint32)), (5,))
    alone = np.stack([np.asarray(jax.random.uniform(typed(key), (7,))) for key in keys])
    together = jax.vmap(lambda key: jax.random.uniform(typed(key), (7,)))(keys)
    np.testing.assert_array_equal(np.asarray(together), alone)
