"""A recursion that does not end while a function is traced is explained, whatever its form."""

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

    def in_loop(n):
        while n > 0:
            n = in_loop(n - 1)
        return n

    def without_end(n):
        return without_end(n - 1)

    @tf.function
    def traced_without_end(n):
        return traced_without_end(n - 1)

    helpers = [tf.function(helper), tf.function(in_loop), tf.function(without_end)]
    return [*helpers, itself, by_cond, even, traced_without_end]


@pytest.mark.parametrize("which", range(7))
def test_a_recursion_that_does_not_end(tf, which):
    tf.debugging.enable_traceback_filtering()
    try:
        with pytest.raises(RecursionError) as caught:
            endless(tf)[which](tf.constant(5))
    finally:
        tf.debugging.disable_traceback_filtering()
    assert re.fullmatch(
        r".*test_recursion\.py, line \d+: the recursion does not end while the function is "
        r"traced, "
        r"or is deeper than Python can follow \(its recursion limit is \d+\)\. "
        r"Where a tensor decides, both branches of an `if` are traced, and the body of a `while`, "
        r"so a function that calls itself until a tensor says stop calls itself for ever\. "
        r"Write it as a loop \(`while`, tf\.while_loop\), or let a Python value decide\.",
        str(caught.value),
    )
    assert len(caught.traceback) < 10
