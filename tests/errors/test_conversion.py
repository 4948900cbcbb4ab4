"""Values and dtypes that are none: the error says so, and NumPy's own does not come through."""

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


@pytest.mark.parametrize("dtype", [None, [1], {}, np.ones(2), "float31", 0, 1.0, True])
def test_what_is_no_dtype(tf, dtype):
    with pytest.raises(TypeError, match="is not a dtype of gradtape"):
        tf.cast(1.0, dtype)


def test_a_tensor_with_slices_is_no_dtype(tf):
    slices = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0]))
    with pytest.raises(TypeError, match="is not a dtype of gradtape"):
        tf.as_dtype(slices)


@pytest.mark.parametrize("text", [np.array("x"), np.array(["1", "2"]), np.str_("x")])
def test_numpy_strings_do_not_meet_numbers(tf, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"add: .*string"):
        tf.constant([1.0, 2.0]) + text


@pytest.mark.parametrize("draw", ["normal", "uniform", "truncated_normal"])
def test_draws_of_a_negative_size(tf, draw):
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative dimension"):
        getattr(tf.random, draw)([2, -1])
