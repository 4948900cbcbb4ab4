"""A program of mistakes, run by test_tracebacks.py: each is printed as if it had ended the program.

`python mistakes.py MODULE`, where MODULE is gradtape or tensorflow. Lines that raise bear a comment
with the name of their mistake; the frames of its traceback are these lines, in this order.
"""

import importlib
import sys

tf = importlib.import_module(sys.argv[1])
MATRIX = tf.ones([2, 3])


def matmul():
    return tf.matmul(MATRIX, MATRIX)  # matmul


def add():
    return MATRIX + tf.ones([4, 3])  # add


def dtypes():
    return tf.constant([1, 2]) * tf.constant([1.0, 2.0])  # dtypes


def reshape():
    return tf.reshape(MATRIX, [4, 2])  # reshape


def axis():
    return tf.reduce_sum(MATRIX, axis=2)  # axis


def constant():
    return tf.constant([[1, 2], [3]])  # constant


def assign():
    return tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0])  # assign


def used_tape():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    tape.gradient(y, x)  # used_tape


def gradient():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, tf.ones([3]))  # gradient


@tf.custom_gradient
def wrong_rule(x):
    def rule(g):
        return tf.matmul(MATRIX, MATRIX)  # custom_gradient

    return x * x, rule


def custom_gradient():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = wrong_rule(x)
    return tape.gradient(y, x)  # custom_gradient


def helper(x):
    return tf.matmul(x, x)  # function, jit, branch


@tf.function
def traced(x):
    return helper(x) + 1.0  # function


def function():
    return traced(MATRIX)  # function


@tf.function(jit_compile=True)
def traced_jit(x):
    return helper(x)  # jit


@tf.function
def product(x):
    return tf.einsum("ij,jk->ik", x, x)  # einsum


def einsum():
    return product(MATRIX)  # einsum


def jit():
    return traced_jit(MATRIX)  # jit


@tf.function
def branching(x):
    if tf.reduce_sum(x) > 0:  # branch
        x = helper(x)  # branch
    return x


def branch():
    return branching(MATRIX)  # branch


@tf.function
def asserting(x):
    tf.debugging.assert_positive(x)
    return x


def at_run_time():
    return asserting(tf.constant(-1.0))  # at_run_time


def optimizer():
    v = tf.Variable([1.0, 2.0])
    tf.optimizers.SGD().apply_gradients([(tf.ones([3]), v)])  # optimizer


def dataset():
    def double(x):
        return tf.matmul(x, x)  # dataset

    for _ in tf.data.Dataset.from_tensors(MATRIX).map(double):  # dataset
        pass


def checkpoint():
    tf.train.Checkpoint(v=tf.Variable(1.0)).restore("nowhere/ckpt-1")  # checkpoint


def chained():
    try:
        {}["mine"]  # chained
    except KeyError:
        tf.matmul(MATRIX, MATRIX)  # chained


def caused():
    try:
        tf.matmul(MATRIX, MATRIX)  # caused
    except ValueError as error:
        raise RuntimeError("mine") from error  # caused


MISTAKES = [
    matmul, add, dtypes, reshape, axis, constant, assign, used_tape, gradient, custom_gradient,
    function, einsum, jit, branch, at_run_time, optimizer, dataset, checkpoint, chained, caused,
]  # fmt: skip

if __name__ == "__main__":
    if "all" in sys.argv[2:]:
        tf.debugging.disable_traceback_filtering()
    for mistake in MISTAKES:
        try:
            mistake()
        except Exception:
            print(f"== {mistake.__name__}", file=sys.stderr)
            sys.excepthook(*sys.exc_info())
