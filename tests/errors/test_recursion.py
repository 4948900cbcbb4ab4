"""A recursion that a tensor decides is explained, however the function calls itself."""

import re

import pytest

pytestmark = pytest.mark.gradtape_only


def endless(tf):
    """Functions that call themselves until a tensor says stop, in different ways."""

    def helper(n):
        if n <= 1:
            return tf.constant(1)
        return n * helper(n - 1)

    @tf.function
    def itself(n):
        if n <= 1:
            return tf.constant(1)
        return n * itself(n - 1)

    @tf.function
    def by_cond(n):
        return tf.cond(n <= 1, lambda: tf.constant(1), lambda: n * by_cond(n - 1))

    @tf.function
    def even(n):
        if n == 0:
            return tf.constant(True)
        return odd(n - 1)

    @tf.function
    def odd(n):
        if n == 0:
            return tf.constant(False)
        return even(n - 1)

    return [tf.function(helper), itself, by_cond, even]


@pytest.mark.parametrize("which", range(4))
def test_a_recursion_that_a_tensor_decides(tf, which):
    tf.debugging.enable_traceback_filtering()
    try:
        with pytest.raises(RecursionError) as caught:
            endless(tf)[which](tf.constant(5))
    finally:
        tf.debugging.disable_traceback_filtering()
    assert re.fullmatch(
        r".*test_recursion\.py, line \d+: the recursion does not end while the function is "
        r"traced\. "
        r"Where a tensor decides, both branches of an `if` are traced, so a function that calls "
        r"itself until a tensor says stop calls itself for ever\. Write it as a loop \(`while`, "
        r"tf\.while_loop\), or let a Python value decide\.",
        str(caught.value),
    )
    assert len(caught.traceback) < 10
