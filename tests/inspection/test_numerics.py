"""`enable_check_numerics`: on programs that make Inf or NaN, and on others that do not."""

import inspect
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.tracing import tracing

from .faulty import PROGRAMS, ZERO
from .finite import FINITE

pytestmark = pytest.mark.gradtape_only

Invalid = tf.errors.InvalidArgumentError


DROPPED = {
    "the_slope_of_what_where_drops": "XLA drops it before it computes it",
}


@pytest.fixture(autouse=True)
def checking():
    tf.debugging.enable_check_numerics(path_length_limit=None)
    yield
    tf.debugging.disable_check_numerics()
    assert not tracing.witnesses


def fault_of(action, *args):
    with pytest.raises(Invalid, match="Detected Infinity or NaN") as caught:
        action(*args)
    return caught.value.fault, str(caught.value)


def check(program, fault, text, op, of, advice):
    lines, first = inspect.getsourcelines(program)
    [marked] = [first + i for i, line in enumerate(lines) if line.rstrip().endswith("# <-")]
    assert (fault.op, fault.of) == (op, of), text
    assert advice in (fault.suggestion or ""), text
    place = (fault.file, fault.line) if of is None else (fault.forward_file, fault.forward_line)
    assert place == (inspect.getsourcefile(program), marked), text
    assert fault.phase == ("forward" if of is None else "gradient")
    assert fault.nan + fault.positive_infinite + fault.negative_infinite
    assert (
        f'op "{op}"' in text and fault.suggestion in text and lines[marked - first].strip() in text
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_faulty_program(name):
    program, *expected = PROGRAMS[name]
    check(program, *fault_of(program, tf.constant(ZERO)), *expected)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in DROPPED])
def test_a_faulty_program_compiled(name):
    program, *expected = PROGRAMS[name]
    fault, text = fault_of(tf.function(program), tf.constant(ZERO))
    check(program, fault, text, *expected)


@pytest.mark.parametrize("name", DROPPED)
def test_what_a_compiled_program_drops_is_not_reported(name):
    """It reaches no result: see DROPPED for the reasons."""
    program, *_ = PROGRAMS[name]
    tf.function(program)(tf.constant(ZERO))


NOT_COMPILED = {
    "a_variable_that_begins_at_infinity": "it makes a variable at each call",
    "texts": "a program of XLA has no texts",
}


@pytest.mark.parametrize("name", FINITE)
def test_a_finite_program(name):
    for _ in range(2):
        FINITE[name](tf.constant(ZERO))


@pytest.mark.parametrize("name", [name for name in FINITE if name not in NOT_COMPILED])
def test_a_finite_program_compiled(name):
    run = tf.function(FINITE[name])
    for _ in range(2):
        run(tf.constant(ZERO))


# What is said


def test_the_error_is_tensorflows_and_says_more():
    fault, text = fault_of(lambda: tf.math.log(tf.constant([[0.0, 1.0], [-1.0, 2.0]])))
    assert text.startswith(
        '\n\n!!! Detected Infinity or NaN in output 0 of eagerly-executing op "log" '
        "(# of outputs: 1) !!!\n"
    )
    for line in [
        "  shape: (2, 2)",
        "  # of -Inf elements: 1",
        "  # of +NaN elements: 1",
        "         0: x: float32 (2, 2), -1.0 to 2.0",
        "  [0, 0]: -inf of x = 0.0",
        "  [1, 0]: nan of x = -1.0",
        " : Tensor had -Inf and NaN values",
    ]:
        assert line in text.splitlines()
    counts = fault.nan, fault.positive_infinite, fault.negative_infinite
    assert (*counts, fault.dtype, fault.shape) == (1, 0, 1, "float32", (2, 2))


def test_the_limits_of_lines_and_paths():
    tf.debugging.enable_check_numerics(1, 10)
    _, text = fault_of(tf.function(lambda x: tf.math.log(x)), tf.constant(0.0))
    assert "(Omitted " in text and text.count(" -> |") == 1
    assert "    + ...umerics.py (L" in text


def test_the_first_op_is_named_and_not_what_comes_after():
    def f(x):
        y = tf.exp(x)
        z = y - y
        return tf.reduce_sum(z)

    for run in (f, tf.function(f)):
        fault, _ = fault_of(run, tf.constant([1.0, 100.0]))
        assert fault.op == "exp"


@pytest.mark.parametrize("shape", [(), (1000,), (70000,), (300, 300)], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_one_element_in_any_dtype(dtype, shape):
    """In eager code and by the flag of a program, wherever the element is."""
    place = tuple([n // 2 for n in shape])
    compiled = tf.function(lambda x, y: x / y)
    for value, counts in [(1.0, (0, 1, 0)), (-1.0, (0, 0, 1)), (0.0, (1, 0, 0))]:
        x, y = np.ones(shape), np.ones(shape)
        x[place], y[place] = value, 0.0
        for run in (tf.divide, compiled):
            fault, _ = fault_of(run, *[tf.cast(tf.constant(each), dtype) for each in (x, y)])
            found = fault.nan, fault.positive_infinite, fault.negative_infinite
            assert found == counts or (dtype == "complex64" and sum(found) == 1)


@pytest.mark.parametrize("shape", [(300, 300), (3, 200, 200), (70000,), (70000, 3)])
@pytest.mark.parametrize("value", [1.0, 3e38, -3e38])
def test_large_numbers_are_no_fault_of_a_program(shape, value):
    f = tf.function(lambda x: x * 1.0)
    x = np.full(shape, value, np.float32)
    f(tf.constant(x))
    x[(-1,) * len(shape)] = 3e38
    fault, _ = fault_of(tf.function(lambda x: x * 2.0), tf.constant(x))
    assert fault.op == "multiply"


# Where a gradient is computed


def test_forward_mode():
    x = tf.constant(ZERO)

    def f(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)):
            tf.sqrt(x)

    fault, text = fault_of(f, x)
    assert (fault.phase, fault.of) == ("tangent", "sqrt")
    assert "In the forward-mode derivative of sqrt" in text


def test_a_jacobian():
    x = tf.constant(ZERO)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    fault, _ = fault_of(tape.jacobian, y, x)
    assert (fault.phase, fault.of) == ("gradient", "sqrt")


def test_the_gradient_of_a_function_by_a_tape_outside():
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.sqrt(x))  # inside

    x = tf.Variable(ZERO)

    def run():
        with tf.GradientTape() as tape:
            y = f(x)
        return tape.gradient(y, x)

    fault, text = fault_of(run)
    assert (fault.phase, fault.of) == ("gradient", "sqrt")
    assert "# inside" in text
    x.assign([1.0, 4.0])
    np.testing.assert_allclose(run(), [0.5, 0.25])


def test_a_custom_gradient():
    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda g: g / tf.zeros_like(x)

    x = tf.Variable(ZERO)
    with tf.GradientTape() as tape:
        y = f(x)
    fault, _ = fault_of(tape.gradient, y, x)
    assert (fault.op, fault.phase) == ("divide", "gradient")


# Compiled


def test_a_step_that_fails_changes_nothing():
    v, w = tf.Variable([1.0, 4.0]), tf.Variable(3.0)

    @tf.function
    def step(x):
        v.assign_sub(x)
        w.assign(tf.reduce_sum(tf.math.log(v)))
        return tf.reduce_sum(v)

    step(tf.constant([0.5, 0.5]))
    before = v.numpy(), w.numpy()
    fault, _ = fault_of(step, tf.constant([0.5, 0.5]))
    assert fault.op == "log"
    np.testing.assert_array_equal(v.numpy(), before[0])
    assert w.numpy() == before[1]
    step(tf.constant([0.25, 0.5]))
    np.testing.assert_allclose(v.numpy(), [0.25, 3.0])


def test_the_second_run_draws_the_same_numbers():
    @tf.function
    def f():
        return 1.0 / tf.math.floor(tf.random.uniform([4]) * 4.0)

    tf.random.set_seed(1)
    seen = []
    for _ in range(20):
        try:
            f()
        except Invalid as error:
            seen.append(error.fault.positive_infinite)
        else:
            seen.append(0)
    tf.debugging.disable_check_numerics()
    tf.random.set_seed(1)
    f()
    g = tf.function(f.python_function)
    tf.random.set_seed(1)
    assert seen == [int(np.isinf(g().numpy()).sum()) for _ in range(20)]
    assert any(seen)


def test_control_flow_and_functions_inside():
    @tf.function
    def inner(x):
        return tf.math.log(x)  # inner

    @tf.function
    def f(x):
        total = tf.constant(0.0)
        for i in tf.range(3):
            if i > 1:
                total += inner(x - tf.cast(i, tf.float32))
        return total

    assert np.isfinite(f(tf.constant(3.0)).numpy())
    fault, text = fault_of(f, tf.constant(2.0))
    assert fault.op == "log" and "# inner" in text


def test_open_sizes():
    f = tf.function(lambda x: tf.math.log(x), input_signature=[tf.TensorSpec([None], tf.float32)])
    f(tf.constant([1.0]))
    fault, text = fault_of(f, tf.constant([1.0, 0.0]))
    assert fault.op == "log" and "[1]: -inf of x = 0.0" in text
    f(tf.constant([1.0, 2.0, 3.0]))


def test_a_function_that_was_traced_before_is_traced_anew():
    tf.debugging.disable_check_numerics()
    f = tf.function(lambda x: tf.math.log(x))
    f(tf.constant(0.0))
    tf.debugging.enable_check_numerics()
    fault_of(f, tf.constant(0.0))
    tf.debugging.disable_check_numerics()
    f(tf.constant(0.0))
    assert f.experimental_get_tracing_count() == 2


def test_a_branch_that_does_not_run():
    @tf.function
    def f(x):
        if x > 0:
            return x
        return tf.math.log(tf.constant(0.0))

    f(tf.constant(1.0))
    fault, _ = fault_of(f, tf.constant(-1.0))
    assert fault.op == "log"


# Asking for it


def test_a_block():
    tf.debugging.disable_check_numerics()
    with tf.debugging.enable_check_numerics():
        fault_of(tf.math.log, tf.constant(0.0))
        with tf.debugging.enable_check_numerics():
            pass
        fault_of(tf.math.log, tf.constant(0.0))
    assert not tracing.witnesses
    tf.math.log(tf.constant(0.0))
    tf.debugging.enable_check_numerics()


def test_an_interrupt_leaves_the_checks_as_the_block_found_them():
    tf.debugging.disable_check_numerics()
    with pytest.raises(KeyboardInterrupt), tf.debugging.enable_check_numerics():
        raise KeyboardInterrupt
    assert not tracing.witnesses


def test_all_threads():
    found = []

    def run():
        try:
            tf.math.log(tf.constant(0.0))
        except Invalid as error:
            found.append(error.fault.op)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == ["log"]


def test_beside_explanations():
    tf.debugging.explain_gradients()
    try:
        x = tf.Variable(ZERO)
        with tf.GradientTape() as tape:
            y = tf.sqrt(x)
        fault, _ = fault_of(tape.gradient, y, x)
        assert fault.of == "sqrt"
    finally:
        tf.debugging.explain_gradients(False)


def test_a_tape_after_the_error_is_as_before():
    x = tf.Variable([0.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        root = tf.sqrt(x)
        y = tf.reduce_sum(x * x)
    fault_of(tape.gradient, root, x)
    np.testing.assert_array_equal(tape.gradient(y, x), [0.0, 8.0])


SCRIPT = """
import tensorflow as tf

x = tf.Variable([0.0, 1.0])
with tf.GradientTape() as tape:
    y = tf.sqrt(x)
print(tape.gradient(y, x))
"""


@pytest.mark.parametrize("also", [[], ["--explain"]])
def test_a_script(tmp_path, also):
    (tmp_path / "train.py").write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "-m", "gradtape", "run", "--check-numerics", *also, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1 and not run.stdout
    assert "In the gradient of sqrt, at" in run.stderr
    assert "train.py, line 6: y = tf.sqrt(x)" in run.stderr


def test_the_arrays_of_calls_of_functions_are_not_held():
    import gc
    import weakref

    w = tf.Variable(np.ones(10))
    f = tf.function(lambda x: tf.reduce_sum(x * x * w))
    tf.debugging.enable_check_numerics()
    x = tf.constant(np.ones(10))
    with tf.GradientTape() as tape:
        y = f(x)
    tape.gradient(y, w)
    gone = [weakref.ref(x._array), weakref.ref(y)]
    del x, y, tape
    gc.collect()
    assert [each() for each in gone] == [None, None]
