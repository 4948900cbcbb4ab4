"""tf.experimental.ExtensionType: classes of one's own that are made of tensors."""

from collections.abc import Mapping
from typing import Optional, Union

import numpy as np
import pytest


@pytest.fixture(scope="module")
def Masked(tf):
    class MaskedTensor(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

        def filled(self, default):
            return tf.where(self.mask, self.values, default)

    return MaskedTensor


@pytest.fixture
def masked(Masked):
    return Masked([1.0, 2.0, 3.0], mask=[True, False, True])


def test_fields_are_tensors(tf, masked):
    assert isinstance(masked.values, tf.Tensor)
    assert masked.mask.dtype == tf.bool
    np.testing.assert_array_equal(masked.filled(0.0), [1.0, 0.0, 3.0])
    assert tf.experimental.extension_type.as_dict(masked).keys() == {"values", "mask"}


def test_fields_do_not_change(masked):
    with pytest.raises(AttributeError):
        masked.values = 1.0
    with pytest.raises(AttributeError):
        del masked.mask


def test_a_spec(tf, Masked, masked):
    spec = tf.type_spec_from_value(masked)
    assert isinstance(spec, Masked.Spec)
    assert spec == Masked.Spec(tf.TensorSpec([3]), mask=tf.TensorSpec([3], tf.bool))
    assert spec != Masked.Spec(tf.TensorSpec([4]), tf.TensorSpec([3], tf.bool))
    assert hash(spec) == hash(tf.type_spec_from_value(masked))
    assert spec.value_type is Masked
    open_size = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))
    assert open_size.is_compatible_with(masked)


def test_equality(Masked, masked):
    assert bool(masked == Masked([1.0, 2.0, 3.0], [True, False, True]))
    assert bool(masked != Masked([1.0, 2.0, 4.0], [True, False, True]))
    assert masked != Masked([1.0, 2.0], [True, False])
    assert masked != 3


def test_the_parts_are_in_the_order_of_the_fields(tf, masked):
    values, mask = tf.nest.flatten(masked, expand_composites=True)
    assert (values.dtype, mask.dtype) == (tf.float32, tf.bool)
    assert tf.nest.flatten(masked) == [masked] or tf.nest.flatten(masked)[0] is masked
    doubled = tf.nest.map_structure(tf.identity, masked, expand_composites=True)
    np.testing.assert_array_equal(doubled.filled(7.0), [1.0, 7.0, 3.0])


def test_in_a_function(tf, Masked, masked):
    traced = []

    @tf.function
    def f(x):
        traced.append(0)
        return Masked(x.values * 2.0, x.mask), x.filled(5.0)

    for _ in range(2):
        doubled, filled = f(masked)
    np.testing.assert_array_equal(doubled.values, [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(filled, [1.0, 5.0, 3.0])
    f(Masked([1.0], [True]))
    assert len(traced) == 2


def test_gradients(tf, Masked):
    x = tf.Variable([1.0, 2.0])
    f = tf.function(lambda m: tf.reduce_sum(m.filled(0.0) ** 2.0))
    with tf.GradientTape() as tape:
        y = f(Masked(x, [True, False]))
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 0.0])


def test_in_control_flow(tf, Masked, masked):
    @tf.function
    def f(flag, x):
        x = tf.cond(flag, lambda: x, lambda: Masked(-x.values, x.mask))
        for _ in tf.range(2):
            x = Masked(x.values + 1.0, x.mask)
        return x

    np.testing.assert_array_equal(f(tf.constant(True), masked).values, [3.0, 4.0, 5.0])
    np.testing.assert_array_equal(f(tf.constant(False), masked).values, [1.0, 0.0, -1.0])


def test_fields_of_other_types(tf, Masked):
    class Image(tf.experimental.ExtensionType):
        pixels: tf.Tensor
        name: str
        size: tf.TensorShape
        kind: str = "grey"
        scale: Union[float, tf.Tensor, None] = None  # noqa: UP007
        boxes: tuple[tf.Tensor, ...] = ()
        more: Mapping[str, tf.Tensor] = {}
        masked: Optional[Masked] = None  # noqa: UP045

    part = Masked([1.0], [True])
    image = Image([[1.0]], "a", [1, None], boxes=[[1], [2, 3]], more={"x": 1.0}, masked=part)
    assert image.size == tf.TensorShape([1, None])
    assert (image.name, image.kind, image.scale) == ("a", "grey", None)
    assert isinstance(image.boxes, tuple) and len(image.boxes) == 2
    assert len(tf.nest.flatten(image, expand_composites=True)) == 6
    assert Image([[1.0]], "a", [], scale=2.0).scale == 2.0
    f = tf.function(lambda i: i)
    assert bool(f(image) == image)

    wrong = (None, "a", []), ([[1.0]], 3, []), ([[1.0]], "a", [], 5)
    for arguments in (*wrong, ([[1.0]],)):
        with pytest.raises((TypeError, ValueError)):
            Image(*arguments)


def test_a_constructor_and_a_validation_of_its_own(tf):
    class Interval(tf.experimental.ExtensionType):
        low: tf.Tensor
        high: tf.Tensor

        def __init__(self, middle, radius):
            self.low = middle - radius
            self.high = middle + radius

        def __validate__(self):
            self.low.shape.assert_is_compatible_with(self.high.shape)

    interval = Interval(2.0, 0.5)
    assert (float(interval.low), float(interval.high)) == (1.5, 2.5)
    with pytest.raises(ValueError):
        Interval(np.ones(2), np.ones([2, 1])).high.shape.assert_has_rank(1)
    with pytest.raises(AttributeError):
        interval.low = 3.0


def test_a_subclass_has_more_fields(tf, Masked):
    class Named(Masked):
        name: str = "x"

    named = Named([1.0], [True])
    assert named.name == "x"
    assert float(named.filled(0.0)[0]) == 1.0
    assert tf.type_spec_from_value(named).name == "x"


def test_what_is_no_type_of_a_field(tf):
    with pytest.raises((TypeError, ValueError)):

        class Wrong(tf.experimental.ExtensionType):
            when: object


@pytest.mark.gradtape_only
def test_messages(tf, Masked, masked):
    assert repr(masked).startswith("MaskedTensor(") or "MaskedTensor(values=" in repr(masked)
    with pytest.raises(AttributeError, match="`values` cannot be changed"):
        masked.values = 1.0
    with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
        Masked([1.0])
    with pytest.raises(TypeError, match="takes no MaskedTensor"):
        tf.reduce_sum(masked)
