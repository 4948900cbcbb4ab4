"""A program that finds no memory: the error says so, and nothing has changed."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = [
    pytest.mark.gradtape_only,
    pytest.mark.skipif(sys.platform != "linux", reason="a limit of the address space"),
]

STEP = """
    import resource
    import gradtape as tf

    v = tf.Variable(tf.ones([1000]))

    @tf.function(input_signature=[tf.TensorSpec([None, 1000])])
    def step(x):
        v.assign_add(tf.ones([1000]))
        return {result}

    def size():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()

    step(tf.ones([2, 1000]))
    x = tf.ones([20_000, 1000])
    resource.setrlimit(resource.RLIMIT_AS, (size() + 2**25, resource.RLIM_INFINITY))
    try:
        step(x)
    except tf.errors.ResourceExhaustedError as error:
        found = error
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert v.numpy().tolist() == [2.0] * 1000
    step(tf.ones([2, 1000]))
    assert v.numpy().tolist() == [3.0] * 1000
    print(found)
"""


@pytest.mark.parametrize(
    "result", ["tf.sort(x) * v", "tf.reduce_sum(tf.sort(x) @ tf.ones([1000, 1000]))"]
)
def test_what_is_raised(result):
    command = [sys.executable, "-c", textwrap.dedent(STEP.format(result=result))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert "Out of memory allocating" in done.stdout, done.stderr
