"""Where programs run: one client of XLA for all threads."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("jax")

FIRST_CALLS = """
    import threading, time
    import gradtape as tf
    from gradtape._src.engines.xla import processor

    def slowly(make=processor.make_cpu_client, **options):
        time.sleep(0.3)  # in which the other threads come
        return make(**options)

    processor.make_cpu_client = slowly
    v = tf.Variable(tf.zeros([100, 100]))
    functions = [tf.function(lambda i=i: v * float(i)) for i in range(4)]
    threads = [threading.Thread(target=f) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assign = tf.function(lambda: v.assign_add(tf.ones_like(v)))
    for i in range(3):
        assign()
        for f in functions:
            f()
    print(v.numpy().min(), v.numpy().max())
"""


def test_threads_that_compile_their_first_functions_share_a_client():
    """Arrays of one client are nothing to the programs of another."""
    command = [sys.executable, "-c", textwrap.dedent(FIRST_CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "3.0 3.0\n", done.stderr
    assert not done.stderr
