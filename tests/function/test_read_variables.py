"""Variables that a program only reads: JAX keeps their arrays, until eager code changes them."""

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_change_in_place_is_seen_by_the_next_call(tf, dtype):
    v = tf.Variable(np.arange(3.0).astype(dtype))
    f = tf.function(lambda: v * 1)
    optimizer = tf.optimizers.SGD(1.0)
    for step in range(3):
        for _ in range(3):  # from the second call on, JAX has the array
            assert f().numpy().tolist() == [0.0 - step, 1.0 - step, 2.0 - step]
            assert f().numpy().dtype == dtype
        optimizer.apply_gradients([(tf.ones(3, dtype), v)])


def test_an_assignment_is_seen_by_the_next_call(tf):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda: v * 1)
    for value in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]):
        v.assign(value)
        for _ in range(3):
            assert f().numpy().tolist() == value
        v.assign_add([1.0, 1.0])
        assert f().numpy().tolist() == [value[0] + 1, value[1] + 1]


def test_a_program_is_compiled_once_whether_or_not_xla_keeps_the_arrays(tf):
    from jax import monitoring

    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v * x)
    compiled = []

    def listen(event, seconds, **_):
        if event.endswith("backend_compile_duration"):
            compiled.append(event)

    monitoring.register_event_duration_secs_listener(listen)
    try:
        for step in range(4):  # the first call lends an array of NumPy, the others one of XLA
            assert f(tf.constant([2.0, 3.0])).numpy().tolist() == [2.0, 6.0], step
        v.assign([3.0, 4.0])
        assert f(tf.constant([2.0, 3.0])).numpy().tolist() == [6.0, 12.0]
    finally:
        monitoring.unregister_event_duration_listener(listen)
    assert len(compiled) == 1
