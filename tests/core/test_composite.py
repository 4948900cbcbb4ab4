"""TypeSpec's rules for composites, shown on a composite of the user's own."""

import pytest

import gradtape as tf
from gradtape._src.core import nest
from gradtape._src.core.composite import CompositeTensor, TypeSpec, is_composite
from gradtape._src.tape.type_specs import zeros_of_spec


class Interval(CompositeTensor):
    def __init__(self, low, high):
        self.low, self.high = tf.convert_to_tensor(low), tf.convert_to_tensor(high)

    @property
    def _type_spec(self):
        return IntervalSpec(self.low.shape, {"unit": ["m"]})


class IntervalSpec(TypeSpec):
    value_type = Interval

    def __init__(self, shape, notes):
        self.shape, self.notes = tf.TensorShape(shape), notes

    def _serialize(self):
        return self.shape, self.notes

    def _to_components(self, value):
        return {"low": value.low, "high": value.high}

    def _from_components(self, components):
        return Interval(components["low"], components["high"])

    @property
    def _component_specs(self):
        return dict.fromkeys(["low", "high"], tf.TensorSpec(self.shape))


def spec(*sizes, unit="m"):
    return IntervalSpec(sizes, {"unit": [unit]})


def test_specs_compare_by_what_they_are_made_with():
    assert spec(2, 3) == spec(2, 3) != spec(2, None)
    assert spec(2) != spec(2, unit="s") and spec(2) != tf.TensorSpec([2])
    assert len({spec(2), spec(2), spec(3)}) == 2
    assert repr(spec(2)) == "IntervalSpec(TensorShape([2]), {'unit': ['m']})"


def test_specs_widen_and_narrow_by_their_shapes():
    assert spec(2, None).is_compatible_with(spec(None, 3))
    assert not spec(2, None).is_compatible_with(spec(3, 3))
    assert not spec(2).is_compatible_with(spec(2, unit="s"))
    assert spec(2).is_compatible_with(Interval([1.0, 2.0], [3.0, 4.0]))
    assert not spec(2).is_compatible_with(tf.constant([1.0, 2.0]))
    assert spec(2).is_subtype_of(spec(None)) and not spec(None).is_subtype_of(spec(2))
    assert spec(2, 3).most_specific_compatible_type(spec(2, 4)) == spec(2, None)
    assert spec(2).most_specific_common_supertype([spec(3), spec(4)]) == spec(None)
    assert spec(2).most_specific_common_supertype([spec(2, unit="s")]) is None
    with pytest.raises(ValueError, match="No type is common to IntervalSpec"):
        spec(2).most_specific_compatible_type(spec(2, unit="s"))


def test_zeros_to_try_functions_on():
    value = zeros_of_spec(spec(None, 2), 3)
    assert value.low.shape == value.high.shape == (3, 2)


def test_what_cannot_be_stacked_says_so():
    for ask in (lambda s: s._batch(2), lambda s: s._stack([])):
        with pytest.raises(TypeError, match="A Interval cannot be stacked"):
            ask(spec(2))
    for ask in (lambda s: s._unbatch(), lambda s: s._unstack(None)):
        with pytest.raises(TypeError, match="A Interval has no rows"):
            ask(spec(2))


def test_nest_takes_it_apart_only_when_asked():
    value = Interval([1.0], [2.0])
    assert nest.flatten([value, 3]) == [value, 3]
    high, low, three = nest.flatten([value, 3], expand_composites=True)
    assert (float(high[0]), float(low[0]), three) == (2.0, 1.0, 3)
    doubled = nest.map_structure(lambda x: 2 * x, {"a": value}, expand_composites=True)["a"]
    assert isinstance(doubled, Interval) and float(doubled.high[0]) == 4.0
    packed = nest.pack_sequence_as([spec(1)], [high, low], expand_composites=True)[0]
    assert isinstance(packed, Interval) and packed.low is low
    assert nest.composites([value, 3, spec(2)]) == [spec(1), spec(2)]
    assert is_composite(spec(1)) and not is_composite(tf.TensorSpec([1]))


def test_nest_compares_composites_by_their_specs():
    value = Interval([1.0], [2.0])
    nest.assert_same_structure([value], [Interval([1.0, 2.0], [3.0, 4.0])], expand_composites=True)
    nest.assert_same_structure([value], [spec(7)], expand_composites=True)
    with pytest.raises(ValueError, match="no type in common"):
        nest.assert_same_structure([value], [spec(1, unit="s")], expand_composites=True)
    with pytest.raises(ValueError, match="a composite where the other is not"):
        nest.assert_same_structure([value], [tf.constant(1.0)], expand_composites=True)
    nest.assert_same_structure([value], [tf.constant(1.0)])


def test_functions_take_and_return_it():
    traces = []

    @tf.function
    def widened(x, by):
        traces.append(x)
        return {"x": Interval(x.low - by, x.high + by), "by": by}

    by = tf.constant([0.5])
    with tf.GradientTape() as tape:
        tape.watch(by)
        wide = widened(Interval([1.0], [2.0]), by)["x"]
        length = wide.high - wide.low
    assert float(length[0]) == 2.0 and float(tape.gradient(length, by)[0]) == 2.0
    widened(Interval([3.0], [4.0]), by)
    assert len(traces) == 1
    concrete = widened.get_concrete_function(spec(1), by)
    assert concrete.structured_outputs["x"] == spec(1)
    assert float(concrete(Interval([1.0], [2.0]), by)["x"].low[0]) == 0.5
    with pytest.raises(TypeError, match="this trace is for `x`"):
        concrete(Interval([1.0, 2.0], [2.0, 3.0]), by)


def test_an_input_signature_names_it():
    @tf.function(input_signature=[spec(None)])
    def low(x):
        return x.low

    assert float(low(Interval([1.0], [2.0]))[0]) == 1.0
    assert low(Interval([1.0, 2.0], [2.0, 3.0])).shape == (2,)
    with pytest.raises(TypeError, match="must be a IntervalSpec"):
        low(tf.constant([1.0]))


def test_a_tape_watches_its_tensors_but_has_no_gradient_by_it():
    value = Interval([1.0], [2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(value)
        y = value.low * value.high
    assert float(tape.gradient(y, value.low)[0]) == 2.0
    with pytest.raises(ValueError, match="Interval is not supported as a gradient source"):
        tape.gradient(y, value)
    with pytest.raises(ValueError, match="Interval is not supported as a gradient source"):
        tape.gradient(value, value.low)


class _ByBoth:
    def get_gradient_components(self, value):
        return [value.low, value.high]

    def replace_gradient_components(self, value, component_grads):
        return Interval(*component_grads)


class Differentiable(Interval):
    __composite_gradient__ = _ByBoth()


def test_a_composite_that_says_how_is_source_and_target():
    value = Differentiable([1.0], [2.0])
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = Differentiable(value.low**2, value.high**3)
    gradient, by_low = tape.gradient(y, [value, value.low])
    assert float(gradient.low[0]) == 2.0 and float(gradient.high[0]) == 12.0
    assert float(by_low[0]) == 2.0
