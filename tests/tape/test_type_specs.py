"""TensorSpec and its like."""

import pytest

import gradtape as tf

S = tf.TensorSpec


def test_equal_if_they_say_the_same():
    assert S([2, None]) == S([2, None], tf.float32) and hash(S([2])) == hash(S([2]))
    assert S([2]) != S([2], tf.int32) and S([2]) != S([2], name="x") and S(None) != S([])
    assert S(None) == S(None) and S([2]) != "spec"
    assert repr(S([2], name="x")) == "TensorSpec(shape=(2,), dtype=tf.float32, name='x')"


@pytest.mark.parametrize(
    "spec, value, fits",
    [
        (S([2, None]), tf.zeros([2, 5]), True),
        (S([2, None]), tf.zeros([3, 5]), False),
        (S(None), tf.zeros([3, 5]), True),
        (S([2]), tf.zeros([2], tf.int32), False),
        (S([2]), tf.Variable([1.0, 2.0]), True),
        (S([None]), S([3]), True),
        (S([2]), [1.0, 2.0], False),
    ],
)
def test_compatible(spec, value, fits):
    assert spec.is_compatible_with(value) is fits


@pytest.mark.parametrize(
    "one, other, is_below",
    [
        (S([2]), S([None]), True),
        (S([None]), S([2]), False),
        (S([2]), S(None), True),
        (S(None), S([2]), False),
        (S(None), S(None), True),
        (S([2]), S([2, 2]), False),
        (S([2]), S([2], tf.int32), False),
        (S([2]), 3, False),
    ],
)
def test_subtypes(one, other, is_below):
    assert one.is_subtype_of(other) is is_below


def test_the_narrowest_common_type():
    assert S([2, 3]).most_specific_compatible_type(S([2, 4])) == S([2, None])
    assert S([2]).most_specific_compatible_type(S([2, 3])) == S(None)
    with pytest.raises(ValueError, match="No type is common to"):
        S([2]).most_specific_compatible_type(S([2], tf.int32))
    slices = tf.IndexedSlicesSpec([3])
    assert slices.most_specific_compatible_type(tf.IndexedSlicesSpec([3])) == slices


def test_from_values():
    x = tf.zeros([2])
    assert S.from_tensor(x, "x") == S([2], name="x")
    assert S.from_spec(S([2], name="x")) == S([2], name="x")
    assert tf.type_spec_from_value(x) == tf.type_spec_from_value([0.0, 0.0]) == S([2])
    assert S([2]).value_type is tf.Tensor
    with pytest.raises(TypeError, match="type_spec_from_value: no type describes"):
        tf.type_spec_from_value(object())


def test_of_rows():
    rows = tf.IndexedSlices([[1.0]], [0], [3, 1])
    spec = tf.type_spec_from_value(rows)
    assert spec.value_type is tf.IndexedSlices and spec.is_compatible_with(rows)
    assert spec == tf.type_spec_from_value(
        rows
    ) and "IndexedSlicesSpec(TensorShape([3, 1])" in repr(spec)
    assert not spec.is_compatible_with(tf.zeros([3, 1]))
    assert not tf.IndexedSlicesSpec([3, 1], tf.float64).is_compatible_with(rows)


def test_of_arrays():
    array = tf.TensorArray(tf.float32, 2, element_shape=[3])
    spec = tf.type_spec_from_value(array)
    assert spec == tf.TensorArraySpec([3]) and spec.value_type is tf.TensorArray
    assert spec.is_compatible_with(array) and tf.TensorArraySpec(None).is_compatible_with(array)
    assert not tf.TensorArraySpec([3], dynamic_size=True).is_compatible_with(array)
    assert "element_shape=(3,)" in repr(spec)
