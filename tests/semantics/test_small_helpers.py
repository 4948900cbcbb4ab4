"""docs/semantics.md, section Y: a few helpers used with tapes."""

from collections import namedtuple

import numpy as np
import pytest

from .helpers import grad, same

Pair = namedtuple("Pair", "p q")


def test_Y5_flatten_sorts_dict_keys(tf):
    assert tf.nest.flatten({"b": 1, "a": 2, "c": [3, (4,)]}) == [2, 1, 3, 4]
    assert tf.nest.flatten([1, [], (2, {"x": 3})]) == [1, 2, 3]
    assert tf.nest.flatten(Pair(p=1, q=2)) == [1, 2]
    assert tf.nest.flatten(5) == [5]
    assert tf.nest.flatten(None) == [None]
    assert tf.nest.flatten([]) == []


def test_Y5_map_structure_keeps_the_structure(tf):
    def double(n):
        return 2 * n

    assert tf.nest.map_structure(double, {"a": [1, (2, 3)]}) == {"a": [2, (4, 6)]}
    assert tf.nest.map_structure(double, 4) == 8
    pair = tf.nest.map_structure(lambda a, b: a + b, Pair(1, [2]), Pair(10, [20]))
    assert pair == Pair(11, [22]) and type(pair) is Pair
    x = tf.nest.map_structure(lambda a, b: a * b, [tf.constant(2.0)], [tf.constant(3.0)])
    assert type(x) is list
    same(x[0], 6.0)


@pytest.mark.parametrize("one, two", [([1, 2], [1]), ([1, 2], [1, [2]]), ({"a": 1}, {"b": 1})])
def test_Y5_map_structure_raises_on_mismatch(tf, one, two):
    with pytest.raises((ValueError, TypeError)):
        tf.nest.map_structure(lambda a, b: a, one, two)


def test_Y5_without_check_types_only_the_nesting_counts(tf):
    def add(a, b):
        return a + b

    assert tf.nest.map_structure(add, [1, 2], (10, 20), check_types=False) == [11, 22]
    assert tf.nest.map_structure(add, {"a": 1}, [10], check_types=False) == {"a": 11}
    tf.nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)
    for one, two in [([1, 2], (1, 2)), ({"a": 1}, [1])]:
        with pytest.raises(TypeError):
            tf.nest.assert_same_structure(one, two)
    with pytest.raises(ValueError):
        tf.nest.assert_same_structure([1, 2], (1, [2]), check_types=False)
    with pytest.raises(ValueError):
        tf.nest.map_structure(add, [1], [2], check_type=False)


def test_Y5_named_tuples_of_one_name_and_fields_are_one_type(tf):
    again = namedtuple("Pair", ["p", "q"])
    tf.nest.assert_same_structure(Pair(1, 2), again(1, 2))
    with pytest.raises(TypeError):
        tf.nest.assert_same_structure(Pair(1, 2), namedtuple("Other", ["p", "q"])(1, 2))


def test_Y5_composites_are_expanded_only_where_there_are_some(tf):
    structure = {"a": tf.constant(1.0), "b": [2]}
    flat = tf.nest.flatten(structure, expand_composites=True)
    assert len(flat) == 2
    packed = tf.nest.pack_sequence_as(structure, flat, expand_composites=True)
    assert packed["b"] == [2]
    tf.nest.map_structure(lambda x: x, structure, expand_composites=True)


def test_Y5_pack_sequence_as_keeps_the_structure(tf):
    packed = tf.nest.pack_sequence_as({"b": 0, "a": [0, (0,)]}, [1, 2, 3])
    assert packed == {"a": [1, (2,)], "b": 3}
    assert tf.nest.pack_sequence_as(0, [1]) == 1
    assert type(tf.nest.pack_sequence_as(Pair(0, 0), [1, 2])) is Pair
    for flat in [1], [1, 2, 3]:
        with pytest.raises(ValueError):
            tf.nest.pack_sequence_as([0, 0], flat)


def test_Y6_clip_by_global_norm_scales_down(tf):
    grads = [tf.constant([3.0, 0.0]), None, tf.constant([[4.0]])]
    clipped, norm = tf.clip_by_global_norm(grads, 1.0)
    same(norm, 5.0)
    assert type(clipped) is list and len(clipped) == 3
    same(clipped[0], [0.6, 0.0])
    assert clipped[1] is None
    same(clipped[2], [[0.8]])


def test_Y6_small_gradients_are_kept(tf):
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 10.0)
    same(norm, 5.0)
    same(clipped[0], [3.0, 4.0])


def test_Y7_executing_eagerly(tf):
    assert tf.executing_eagerly() is True
    with tf.GradientTape():
        assert tf.executing_eagerly() is True


def test_Y8_is_tensor(tf):
    x, v = tf.constant(1.0), tf.Variable(1.0)
    for tensor in x, v, grad(tf, lambda x: x * x, x):
        assert tf.is_tensor(tensor) is True
    for other in np.ones(2), np.float32(1.0), 1.0, 1, [1.0], "text", None:
        assert tf.is_tensor(other) is False


def test_Y8_isinstance(tf):
    x, v = tf.constant(1.0), tf.Variable(1.0)
    for tensor in x, v * 1.0, v.value(), grad(tf, lambda x: x * x, x), grad(tf, lambda v: v * v, v):
        assert isinstance(tensor, tf.Tensor)
        assert not isinstance(tensor, tf.Variable)
    assert isinstance(v, tf.Variable)
    assert not isinstance(v, tf.Tensor)


def test_Y10_a_name_scope_is_entered_again(tf):
    def names(scope):
        with scope as name:
            return name, tf.get_current_name_scope(), tf.Variable(1.0, name="v").name

    again = tf.name_scope("a")
    with again:
        assert names(again) == ("a/a/", "a/a", "a/a/v:0")
        assert tf.get_current_name_scope() == "a"
    assert names(again) == ("a/", "a", "a/v:0")
    assert tf.get_current_name_scope() == ""
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_Y10_a_name_with_a_slash_is_the_whole_name(tf):
    with tf.name_scope("a") as whole, tf.name_scope("b"):
        for name, scope in (("c/", "c"), (whole, "a"), ("d/e/", "d/e"), ("", "")):
            with tf.name_scope(name) as entered:
                assert entered == name
                assert tf.get_current_name_scope() == scope
                assert tf.Variable(1.0, name="v").name == f"{name}v:0"
                with tf.name_scope("f") as inner:
                    assert inner == f"{name}f/"
        assert tf.get_current_name_scope() == "a/b"


def test_Y10_name_scopes_around_a_function_do_not_reach_into_it(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.get_current_name_scope())
        with tf.name_scope("inside"):
            seen.append(tf.get_current_name_scope())
        return x

    with tf.name_scope("outside"):
        f(tf.constant(1.0))
        seen.append(tf.get_current_name_scope())
    assert seen == ["", "inside", "outside"]


def test_Y10_device_and_name_scope_do_not_disturb(tf):
    v = tf.Variable(3.0)
    with tf.device("/CPU:0"), tf.GradientTape() as tape:
        with tf.name_scope("outer"):
            y = v * v
            with tf.device("/CPU:0"), tf.name_scope("inner"):
                z = y * v
        z = z * v
    same(tape.gradient(z, v), 108.0)


def test_Y11_set_seed_makes_sequences_reproducible(tf):
    def sequence():
        return [
            tf.random.normal((3,)).numpy(),
            tf.random.uniform((3,)).numpy(),
            tf.random.normal((3,)).numpy(),
        ]

    tf.random.set_seed(7)
    first = sequence()
    tf.random.set_seed(7)
    again = sequence()
    tf.random.set_seed(8)
    other = sequence()
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
    assert not np.array_equal(first[0], first[2])


def test_Y9_jacobians_by_the_rules_and_by_differences(tf):
    def f(x, w):
        return tf.linalg.matvec(w, tf.sin(x)) * x[0]

    x, w = np.array([0.5, -1.0]), np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
    theoretical, numerical = tf.test.compute_gradient(f, [tf.constant(x), tf.constant(w)])
    assert len(theoretical) == len(numerical) == 2
    assert theoretical[0].shape == (3, 2) and theoretical[1].shape == (3, 6)
    expected = w * np.cos(x) * x[0] + np.outer(w @ np.sin(x), [1.0, 0.0])
    same(theoretical[0], expected)
    same(numerical[0], expected)
    same(theoretical[1], numerical[1])


def test_Y9_dtypes_and_numbers(tf):
    theoretical, numerical = tf.test.compute_gradient(lambda x: x * x, [1.0])
    assert theoretical[0].dtype == numerical[0].dtype == np.float32
    same(theoretical[0], [[2.0]])
    same(numerical[0], [[2.0]], tol=1e-3)
    unconnected, _ = tf.test.compute_gradient(lambda x: tf.ones([2]), [[1.0, 2.0]])
    same(unconnected[0], np.zeros((2, 2)))
    _, coarse = tf.test.compute_gradient(lambda x: x**3, [2.0], delta=0.5)
    same(coarse[0], [[12.25]])
    with pytest.raises(ValueError, match="list"):
        tf.test.compute_gradient(lambda x: x, tf.constant(1.0))


def test_Y9_a_complex_number_counts_as_two(tf):
    z = tf.constant([1.0 + 2.0j])
    theoretical, numerical = tf.test.compute_gradient(lambda z: z * z, [z])
    same(theoretical[0], [[2.0, -4.0], [4.0, 2.0]])
    same(numerical[0], [[2.0, -4.0], [4.0, 2.0]])


def test_Y9_a_gather(tf):
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    theoretical, numerical = tf.test.compute_gradient(lambda x: tf.gather(x, [1]) ** 2, [rows])
    same(theoretical[0], [[0.0, 0.0, 6.0, 0.0], [0.0, 0.0, 0.0, 8.0]])
    same(numerical[0], theoretical[0], tol=1e-2)
