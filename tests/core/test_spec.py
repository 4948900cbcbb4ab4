"""Spec, and the rules by which shapes and dtypes combine."""

import numpy as np
import pytest

from gradtape._src.core.errors import DTypeError, ShapeError
from gradtape._src.core.spec import Spec, broadcast_shapes, check_axis, same_dtype, spec_of

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def test_spec_of_an_array():
    spec = spec_of(np.zeros((2, 3), np.float32))
    assert spec == Spec((2, 3), F32) and type(spec) is Spec
    assert spec.ndim == 2 and str(spec) == "float32[2, 3]"
    assert str(spec_of(np.float64(1))) == "float64[]"


@pytest.mark.parametrize(
    "x, y, result",
    [((2, 1), (3,), (2, 3)), ((), (2,), (2,)), ((0,), (1,), (0,)), ((2, 3), (2, 3), (2, 3))],
)
def test_shapes_that_broadcast(x, y, result):
    assert broadcast_shapes("f", x=x, y=y) == result


@pytest.mark.parametrize("x, y", [((2,), (3,)), ((0,), (2,)), ((2, 3), (2,))])
def test_shapes_that_do_not(x, y):
    with pytest.raises(
        ShapeError, match=r"^f: shapes do not broadcast together: x.shape="
    ) as caught:
        broadcast_shapes("f", x=x, y=y)
    assert f"x.shape={x}, y.shape={y}. Sizes must be equal or 1" in str(caught.value)


def test_one_dtype():
    spec = Spec((), F32)
    assert same_dtype("f", x=spec) == F32
    assert same_dtype("f", x=spec, op=spec) == F32  # an argument may have any name
    with pytest.raises(DTypeError) as caught:
        same_dtype("f", x=spec, y=spec, z=Spec((), F64))
    assert str(caught.value) == (
        "f: `x` is float32 and `z` is float64; tensors of different dtypes do not mix. Cast one of "
        "them, e.g. tf.cast(z, tf.float32)."
    )


def test_a_cast_is_advised_to_what_the_op_takes():
    boolean = np.dtype(np.bool_)
    with pytest.raises(DTypeError, match=r"e\.g\. tf\.cast\(x, tf\.bool\)\.$"):
        same_dtype("f", frozenset({boolean}), x=Spec((), F32), y=Spec((), boolean))


@pytest.mark.parametrize(
    "x, y, advice",
    [
        ("int32", "float32", "tf.cast(x, tf.float32)"),
        ("float32", "int64", "tf.cast(y, tf.float32)"),
        ("bool", "int32", "tf.cast(x, tf.int32)"),
        ("float64", "complex128", "tf.cast(x, tf.complex128)"),
        ("int32", "int64", "tf.cast(y, tf.int32)"),
        ("float64", "float32", "tf.cast(y, tf.float64)"),
    ],
)
def test_the_cast_that_loses_nothing_is_advised(x, y, advice):
    with pytest.raises(DTypeError) as caught:
        same_dtype("f", x=Spec((), np.dtype(x)), y=Spec((), np.dtype(y)))
    assert str(caught.value).endswith(f"Cast one of them, e.g. {advice}.")


def test_strings_are_named_as_tensorflow_does():
    with pytest.raises(DTypeError, match="`y` is string"):
        same_dtype("f", x=Spec((), F32), y=Spec((), np.dtype(object)))


def test_axes_are_counted_from_the_front():
    assert [check_axis("f", axis, 3) for axis in (0, 2, -1, -3, np.int64(1))] == [0, 2, 2, 0, 1]
    with pytest.raises(ShapeError, match=r"f: `axis`=3 is out of range .* rank 3; .* \[-3, 3\)"):
        check_axis("f", 3, 3)
    with pytest.raises(ShapeError, match=r"f: `dims`=0 is out of range for a tensor of rank 0"):
        check_axis("f", 0, 0, "dims")
