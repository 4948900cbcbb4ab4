"""random.Generator: its state, what it draws, and generators made of it."""

import numpy as np

N = 20_000


def generator(tf):
    return tf.random.Generator.from_seed(20)


def test_a_generator_is_determined_by_its_state(tf):
    g = tf.random.Generator.from_seed(3)
    h = tf.random.Generator.from_state(np.array(g.state), alg="philox")
    assert g.normal([4]).numpy().tolist() == h.normal([4]).numpy().tolist()
    assert g.normal([4]).numpy().tolist() == h.normal([4]).numpy().tolist()
    g.reset_from_seed(3)
    first = g.uniform([2]).numpy().tolist()
    copy = tf.random.Generator(copy_from=g)
    assert copy.uniform([2]).numpy().tolist() == g.uniform([2]).numpy().tolist()
    g.reset(np.array([3, 0, 0]))
    assert g.uniform([2]).numpy().tolist() == first


def test_the_state_of_a_generator_is_that_of_tensorflow(tf):
    g = tf.random.Generator.from_seed(7)
    assert np.array(g.state).tolist() == [7, 0, 0]
    g.normal([3])
    assert np.array(g.state).tolist() == [7 + 3 * 256, 0, 0]
    g.skip(3)
    assert np.array(g.state).tolist() == [7 + 6 * 256, 0, 0]
    assert int(g.key) == 0
    assert g.algorithm == 1
    assert tf.random.create_rng_state([1, 2, 3], "philox").numpy().tolist() == [1, 2, 3]
    assert tf.random.create_rng_state(5, "threefry").numpy().tolist() == [5, 0]


def test_skip_is_like_drawing(tf):
    g, h = generator(tf), generator(tf)
    g.normal([2, 3])
    h.skip(6)
    assert g.uniform([3]).numpy().tolist() == h.uniform([3]).numpy().tolist()


def test_generators_that_were_split(tf):
    g = generator(tf)
    parts = g.split(3)
    rows = [p.normal([N]).numpy() for p in (*parts, g)]
    assert np.abs(np.corrcoef(rows)[np.triu_indices(4, 1)]).max() < 0.03
    seeds = g.make_seeds(2)
    assert seeds.shape == [2, 2]
    tf.random.stateless_normal([2], seeds[:, 0])


def test_the_global_generator(tf):
    before = tf.random.get_global_generator()
    try:
        assert tf.random.get_global_generator() is before
        tf.random.set_global_generator(tf.random.Generator.from_seed(1))
        first = tf.random.get_global_generator().normal([2]).numpy().tolist()
        tf.random.set_global_generator(tf.random.Generator.from_seed(1))
        assert tf.random.get_global_generator().normal([2]).numpy().tolist() == first
        unlike = [tf.random.Generator.from_non_deterministic_state() for _ in range(2)]
        assert unlike[0].normal([2])[0] != unlike[1].normal([2])[0]
    finally:
        tf.random.set_global_generator(before)


def test_the_state_goes_on_inside_a_function(tf):
    g, h = generator(tf), generator(tf)
    draw = tf.function(lambda: g.normal([3]))
    rows = [draw().numpy().tolist() for _ in range(3)]
    assert len({tuple(row) for row in rows}) == 3
    for _ in range(3):
        h.normal([3])
    assert np.array(g.state).tolist() == np.array(h.state).tolist()
