"""tf.debugging and the small functions of the root. These tests also run on TensorFlow."""

import numpy as np
import pytest

on_gradtape = pytest.mark.gradtape_only

HOLDS = {
    "assert_equal": ([1, 2], [1, 2]),
    "assert_none_equal": ([1, 2], [2, 1]),
    "assert_greater": ([1, 2], 0),
    "assert_greater_equal": ([1, 2], [1, 0]),
    "assert_less": ([1, 2], 3),
    "assert_less_equal": ([1, 2], [1, 3]),
    "assert_near": ([1.0, 2.0], [1.0, 2.0 + 1e-7]),
    "assert_positive": ([1, 2],),
    "assert_negative": ([-1.0],),
    "assert_non_negative": ([0, 1],),
    "assert_non_positive": ([0, -1],),
}
FAILS = {
    "assert_equal": ([1, 2], [1, 3]),
    "assert_none_equal": ([1, 2], [1, 0]),
    "assert_greater": ([1, 2], [1, 0]),
    "assert_greater_equal": ([1, 2], [2, 0]),
    "assert_less": ([1, 2], 2),
    "assert_less_equal": ([1, 2], [1, 1]),
    "assert_near": ([1.0, 2.0], [1.0, 2.1]),
    "assert_positive": ([1, 0],),
    "assert_negative": ([-1.0, float("nan")],),
    "assert_non_negative": ([0, -1],),
    "assert_non_positive": ([0, 1],),
}


@pytest.mark.parametrize("name", HOLDS)
def test_asserts_on_values(tf, name):
    check = getattr(tf.debugging, name)
    assert check(*map(tf.constant, HOLDS[name])) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="my words"):
        check(*map(tf.constant, FAILS[name]), message="my words")
    empty = [tf.zeros([0])] * len(HOLDS[name])
    assert check(*empty) is None


@on_gradtape
@pytest.mark.parametrize("name", FAILS)
def test_their_messages_name_place_and_value(tf, name):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        getattr(tf.debugging, name)(*map(tf.constant, FAILS[name]))
    text = str(caught.value)
    assert text.startswith(f"{name}: ") and "does not hold at" in text
    place = (
        "[0]" if name in ("assert_none_equal", "assert_greater", "assert_greater_equal") else "[1]"
    )
    assert f"x{place} = " in text


@on_gradtape
def test_a_message_shows_the_first_places(tf):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.debugging.assert_equal(tf.range(100), 0, summarize=2)
    assert "does not hold at 99 of 100 places" in str(caught.value)
    assert "x[1] = 1, x[2] = 2, ..." in str(caught.value)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x\[1\]\[0\]|x\[1, 0\] = 3"):
        tf.debugging.assert_less(tf.constant([[1], [3]]), 2)


def test_shapes_and_dtypes_that_do_not_fit(tf):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_equal(tf.constant([1, 1]), tf.constant([1, 1, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_equal(tf.constant([1.0]), tf.constant([1]))


def test_asserts_on_rank_and_shape(tf):
    d, x = tf.debugging, tf.zeros([2, 3])
    for check in (
        lambda: d.assert_rank(x, 2),
        lambda: d.assert_rank_at_least(x, 1),
        lambda: d.assert_rank_in(x, (0, 2)),
        lambda: d.assert_scalar(tf.constant(1)),
        lambda: d.assert_shapes([(x, ("N", "D")), (tf.zeros([3, 5]), ("D", 5))]),
        lambda: d.assert_shapes([(x, "ND"), (tf.zeros([4, 3]), "MD")]),
        lambda: d.assert_shapes([(x, (..., "D")), (x, ("*", 2, None)), (x, (..., 3))]),
        lambda: d.assert_shapes([(tf.constant(1.0), ()), (tf.constant(1.0), ("Q",))]),
    ):
        assert check() is None
    for check in (
        lambda: d.assert_rank(x, 1),
        lambda: d.assert_rank_at_least(x, 3),
        lambda: d.assert_rank_in(x, (0, 1)),
        lambda: d.assert_scalar(x),
        lambda: d.assert_shapes([(x, ("N", "D")), (x, ("D", "N"))]),
        lambda: d.assert_shapes([(x, ("N", 4))]),
        lambda: d.assert_shapes([(x, ("N",))]),
        lambda: d.assert_shapes([(x, ("N", ...))]),
        lambda: d.assert_shapes([(x, (..., "A", "B", "C"))]),
        lambda: d.assert_shapes([(x, 3)]),
    ):
        with pytest.raises(ValueError):
            check()


def test_asserts_on_types(tf):
    d = tf.debugging
    assert d.assert_type(tf.constant(1), tf.int32) is None
    assert d.assert_integer(tf.constant(1)) is None
    assert d.assert_proper_iterable([1, 2]) is None
    assert d.assert_same_float_dtype([tf.constant(1.0)]) == tf.float32
    assert d.assert_same_float_dtype() == tf.float32
    for check in (
        lambda: d.assert_type(tf.constant(1.0), tf.int32),
        lambda: d.assert_integer(tf.constant(1.0)),
        lambda: d.assert_proper_iterable(tf.constant([1.0])),
        lambda: d.assert_proper_iterable("ab"),
        lambda: d.assert_proper_iterable(3),
    ):
        with pytest.raises(TypeError):
            check()
    with pytest.raises(ValueError):
        d.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)])
    assert d.is_numeric_tensor(tf.constant(1))
    assert not any(map(d.is_numeric_tensor, [tf.constant(True), tf.constant("a"), 1.0]))


def test_assert(tf):
    assert tf.Assert(tf.constant(True), [1]) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"1, 2, 3, \.\.\.\s+.*words"):
        tf.Assert(tf.constant(False), [tf.constant([1, 2, 3, 4]), "words"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"1, 2, \.\.\."):
        tf.debugging.Assert(False, [tf.constant([1, 2, 3, 4])], summarize=2)


def test_check_numerics(tf):
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(tf.sqrt(x), "root")
    np.testing.assert_array_equal(y, [0.0, 2.0])
    assert np.isinf(tape.gradient(y, x)[0])
    for values, found in (
        ([1.0, np.nan], "NaN"),
        ([np.inf], "Inf"),
        ([np.nan, -np.inf], "Inf and NaN"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"root.*{found}"):
            tf.debugging.check_numerics(tf.constant(values, tf.float32), "root")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.check_numerics(tf.constant([1]), "integers")


def test_check_numerics_checks_the_gradient(tf):
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(tf.debugging.check_numerics(x, "under the root"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"gradient.*under the root"):
        tape.gradient(y, x)


def test_asserts_are_nothing_to_a_tape(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.debugging.assert_positive(x)
        tf.debugging.assert_less(x, 3.0)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


@pytest.mark.parametrize(
    "values, options, expected",
    [
        ([3.14159, 1e10, -0.5], {}, ["3.141590", "10000000000.000000", "-0.500000"]),
        ([np.nan, np.inf, -np.inf], {}, ["nan", "inf", "-inf"]),
        ([3.14159], {"precision": 2}, ["3.14"]),
        ([3.14159], {"scientific": True}, ["3.141590e+00"]),
        ([3.14159], {"shortest": True}, ["3.14159"]),
        ([3.14159], {"width": 12}, ["    3.141590"]),
        ([3.14159], {"width": 12, "fill": "0"}, ["00003.141590"]),
        ([3, -4], {"width": 5, "fill": "-"}, ["3    ", "-4   "]),
        ([3], {"width": 5, "fill": "+"}, ["   +3"]),
        ([True, False], {}, ["true", "false"]),
        ([1 + 2j], {"precision": 1}, ["(1.0,2.0)"]),
        (["text"], {}, ["text"]),
    ],
    ids=str,
)
def test_as_string(tf, values, options, expected):
    found = tf.as_string(tf.constant(values), **options)
    assert found.dtype == tf.string
    assert [text.decode() for text in found.numpy()] == expected


def test_bitcast(tf):
    x = tf.constant([1.0, -2.0])
    assert tf.bitcast(x, tf.int32).numpy().tolist() == [1065353216, -1073741824]
    assert tuple(tf.bitcast(x, tf.uint8).shape) == (2, 4)
    assert tf.bitcast(x, tf.complex64).numpy() == 1.0 - 2.0j
    np.testing.assert_array_equal(tf.bitcast(tf.bitcast(x, tf.uint16), tf.float32), x)


@pytest.mark.parametrize(
    "source, target, highest",
    [
        ("float32", "int32", 2147483520),  # 2147483647 is no float32, and 2147483648 no int32
        ("float32", "uint32", 4294967040),
        ("float32", "float16", 65504.0),
        ("float64", "int32", 2147483647),
        ("float16", "int16", 32752),
        ("bfloat16", "int16", 32640),
        ("bfloat16", "uint16", 65280),
        ("int32", "uint8", 255),
    ],
)
def test_saturate_cast(tf, source, target, highest):
    floats = "float" in source
    large = [float("inf"), 1e300] if floats else [2**31 - 1, 300]
    small = [5, 0 if target.startswith("u") else -5]
    x = tf.cast(tf.constant([*large, *small], "float64" if floats else "int32"), source)
    for cast in (tf.saturate_cast, tf.function(tf.saturate_cast)):
        y = cast(x, getattr(tf, target))
        assert y.dtype == target
        assert y.numpy().tolist() == [highest, highest, *small]


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    "source, target, highest",
    [
        ("float32", "int64", 2**63 - 2**39),  # TensorFlow: the lowest number
        ("float64", "int64", 2**63 - 2**10),
        ("float32", "uint64", 2**64 - 2**40),
        ("bfloat16", "uint64", 2**64 - 2**56),
        ("int64", "int64", 2**63 - 1),
        ("int64", "uint64", 2**63 - 1),
        ("int64", "float32", 2.0**63),
    ],
)
def test_saturate_cast_to_64_bits(tf, source, target, highest):
    x = tf.cast(float("inf"), source) if "float" in source else tf.constant(2**63 - 1)
    for cast in (tf.saturate_cast, tf.function(tf.saturate_cast)):
        assert cast(x, getattr(tf, target)).numpy() == highest


def test_what_eager_code_does_not_need(tf):
    x = tf.constant([1.0, 2.0])
    assert tf.no_op() is None and tf.group(x, x) is None
    pair = tf.tuple([x, None, x * 2.0])
    assert isinstance(pair, list) and pair[1] is None
    np.testing.assert_array_equal(pair[2], [2.0, 4.0])
    assert tf.timestamp().dtype == tf.float64 and tf.timestamp() > 1.5e9
    assert not tf.is_symbolic_tensor(x) and not tf.inside_function()
    np.testing.assert_array_equal(tf.get_static_value(x), [1.0, 2.0])
    assert tf.get_static_value(tf.Variable(1.0)) is None


def test_tensor_spec(tf):
    spec = tf.TensorSpec([None, 2], tf.int32, name="n")
    assert (spec.shape, spec.dtype, spec.name) == ([None, 2], tf.int32, "n")
    assert repr(spec) == "TensorSpec(shape=(None, 2), dtype=tf.int32, name='n')"
    assert spec == tf.TensorSpec([None, 2], tf.int32, "n") and hash(spec) == hash(
        tf.TensorSpec([None, 2], tf.int32, "n")
    )
    assert spec != tf.TensorSpec([3, 2], tf.int32, "n")
    assert spec.is_compatible_with(tf.ones([5, 2], tf.int32))
    assert not spec.is_compatible_with(tf.ones([5, 3], tf.int32))
    assert not spec.is_compatible_with(tf.ones([5, 2]))
    assert tf.TensorSpec([3, 2]).is_subtype_of(tf.TensorSpec([None, 2]))
    assert not tf.TensorSpec([None, 2]).is_subtype_of(tf.TensorSpec([3, 2]))
    common = tf.TensorSpec([3, 2]).most_specific_compatible_type(tf.TensorSpec([4, 2]))
    assert common == tf.TensorSpec([None, 2])
    assert tf.TensorSpec.from_tensor(tf.ones([2])) == tf.TensorSpec([2])
    assert tf.type_spec_from_value(tf.ones([2])) == tf.TensorSpec([2])
    assert tf.type_spec_from_value(np.ones(2)) == tf.TensorSpec([2], tf.float64)
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([5, 3]))
    assert tf.type_spec_from_value(slices).is_compatible_with(slices)
    assert tf.type_spec_from_value(tf.TensorArray(tf.float32, 2)) == tf.TensorArraySpec(
        None, tf.float32
    )


def test_a_range_of_floats_is_counted_in_their_dtype(tf):
    for dtype in (None, tf.float32, tf.float64):
        assert tf.range(0.1, 1.1, 0.1, dtype=dtype).shape == (10,)
    steps = np.arange(10, dtype=np.float32)
    np.testing.assert_array_equal(
        tf.range(0.1, 1.1, 0.1), np.float32(0.1) + np.float32(0.1) * steps
    )
    np.testing.assert_array_equal(tf.range(0.1, 0.35, 0.1, dtype=tf.float64)[1:], [0.2, 0.1 + 0.2])
    np.testing.assert_array_equal(tf.range(tf.constant(0.5), 3, dtype=tf.int32), [0, 1, 2])
    with pytest.raises(TypeError):
        tf.range(0.5, 3, dtype=tf.int32)


@pytest.mark.parametrize(
    "name, held",
    [
        ("float8_e4m3fn", [0.1015625, np.nan, 3.25, 448.0, np.nan, 2.0**-9]),
        ("float8_e5m2", [0.09375, -np.inf, 3.5, 448.0, 512.0, 2.0**-9]),
    ],
)
def test_floats_of_8_bits_are_stored_and_cast(tf, name, held):
    dtype = getattr(tf.dtypes.experimental, name)
    assert dtype is getattr(tf.experimental, name) is tf.as_dtype(name)
    assert dtype.is_floating and dtype.size == 1
    x = tf.constant([0.1, -1e6, 3.3, 464.0, 480.0, 0.0019])

    def stored(x):
        moved = tf.concat([tf.cast(x, dtype)[1:], tf.cast(x, dtype)[:1]], 0)
        return tf.cast(tf.reshape(moved, [6]), tf.float32)

    expected = [*held[1:], held[0]]
    np.testing.assert_array_equal(stored(x), expected)
    np.testing.assert_array_equal(tf.function(stored)(x), expected)
    np.testing.assert_array_equal(tf.cast(tf.Variable(tf.cast(x, dtype))[2:4], tf.int32), [3, 448])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = stored(x)
    assert tape.gradient(y, x) is None
    for compute in (tf.exp, tf.reduce_sum, lambda x: x + x):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            compute(tf.cast(x, dtype))


def test_initializers(tf):
    np.testing.assert_array_equal(tf.zeros_initializer()([2]), np.zeros(2))
    np.testing.assert_array_equal(tf.ones_initializer()([2], tf.int32), np.ones(2))
    np.testing.assert_array_equal(tf.constant_initializer(3.0)([2]), [3.0, 3.0])
    np.testing.assert_array_equal(
        tf.constant_initializer([1, 2, 3, 4])([2, 2], tf.float32), [[1, 2], [3, 4]]
    )
    normal = tf.random_normal_initializer(mean=1.0, stddev=0.5, seed=3)
    assert normal([500]).dtype == tf.float32 and abs(float(np.mean(normal([500]))) - 1.0) < 0.2
    assert normal.get_config() == {"mean": 1.0, "stddev": 0.5, "seed": 3}
    uniform = tf.random_uniform_initializer.from_config({"minval": 2.0, "maxval": 3.0})
    assert np.min(uniform([50])) >= 2.0 and np.max(uniform([50])) < 3.0
    assert tf.Variable(tf.zeros_initializer()([2, 3])).shape == (2, 3)


def test_conversion_functions(tf):
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    tf.register_tensor_conversion_function(
        Celsius,
        lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.degrees + 273.15),
    )
    np.testing.assert_allclose(tf.convert_to_tensor(Celsius(10.0)), 283.15, rtol=1e-6)
    np.testing.assert_allclose(tf.constant(1.0) + Celsius(10.0), 284.15, rtol=1e-6)
