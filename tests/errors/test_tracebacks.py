"""What a program that fails prints: the user's lines, and the message last."""

import pathlib
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.gradtape_only

PROGRAM = pathlib.Path(__file__).with_name("mistakes.py")

# Each mistake of that program: the class and the beginning of the message that its traceback ends
# with, and the lines that TensorFlow 2.21 prints for it.
EXPECTED = {
    "matmul": ("gradtape.errors.ShapeError: matmul: inner", 15),
    "add": ("gradtape.errors.ShapeError: add: shapes", 12),
    "dtypes": ("gradtape.errors.DTypeError: multiply: `x` is int32", 12),
    "reshape": ("gradtape.errors.ShapeError: reshape: cannot", 15),
    "axis": ("gradtape.errors.ShapeError: reduce_sum: `axis`=2", 15),
    "constant": ("ValueError: constant: the nested lists", 22),
    "assign": ("gradtape.errors.ShapeError: assign: the variable", 12),
    "used_tape": ("RuntimeError: A non-persistent GradientTape", 9),
    "gradient": ("gradtape.errors.ShapeError: gradient: `output_gradients` must", 24),
    "custom_gradient": ("gradtape.errors.ShapeError: matmul: inner", 27),
    "function": ("gradtape.errors.ShapeError: matmul: inner", 23),
    "einsum": ("gradtape.errors.ShapeError: einsum: label", 18),
    "jit": ("gradtape.errors.ShapeError: matmul: inner", 23),
    "branch": ("gradtape.errors.ShapeError: matmul: inner", 25),
    "at_run_time": ("gradtape.errors.InvalidArgumentError: assert_positive: x > 0", 22),
    "optimizer": ("gradtape.errors.ShapeError: SGD: the variable", 50),
    "dataset": ("gradtape.errors.ShapeError: matmul: inner", 78),
    "checkpoint": ("gradtape.errors.NotFoundError: Checkpoint.restore: there is no", 36),
    "chained": ("gradtape.errors.ShapeError: matmul: inner", 15),
    "caused": ("RuntimeError: mine", 15),
}


def printed_by(*arguments):
    """What the program prints for each mistake, line by line."""
    command = [sys.executable, str(PROGRAM), "gradtape", *arguments]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    _, *parts = re.split(r"^== (\w+)\n", text, flags=re.MULTILINE)
    return {name: part.splitlines() for name, part in zip(parts[::2], parts[1::2], strict=True)}


@pytest.fixture(scope="module")
def printed():
    return printed_by()


@pytest.fixture(scope="module")
def printed_whole():
    return printed_by("all")


def frames(lines):
    """The places that a traceback names: (file, line)."""
    found = (re.match(r'  File "(.*)", line (\d+), in ', line) for line in lines)
    return [(match[1], int(match[2])) for match in found if match]


def places_of(mistake):
    """The lines of the program that bear the name of a mistake in their comment, from top."""
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    return {i for i, line in lines if mistake in re.split(r"\W+", line.partition("  # ")[2])}


@pytest.mark.parametrize("mistake", EXPECTED)
def test_all_frames_are_the_users(printed, mistake):
    files = {file for file, _ in frames(printed[mistake])}
    assert files == {str(PROGRAM)}


@pytest.mark.parametrize("mistake", EXPECTED)
def test_no_frame_of_the_user_is_missing(printed, mistake):
    found = [line for _, line in frames(printed[mistake])]
    calls = [i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1)
             if line.strip() == "mistake()"]  # fmt: skip
    assert sorted(found) == sorted([*places_of(mistake), *calls])


@pytest.mark.parametrize("mistake", EXPECTED)
def test_the_message_comes_last(printed, mistake):
    begins, _ = EXPECTED[mistake]
    last = [line for line in printed[mistake] if not line.startswith((" ", "x = ", "In "))][-1]
    assert last.startswith(begins)


def test_what_a_program_refuses_names_the_line_inside(printed):
    """No frame does: the function was traced long before."""
    assert re.fullmatch(
        r"In .*mistakes\.py, line \d+, compiled as part of asserting\.", printed["at_run_time"][-1]
    )


@pytest.mark.parametrize("mistake", EXPECTED)
def test_it_is_no_longer_than_what_tensorflow_prints(printed, mistake):
    _, lines_of_tensorflow = EXPECTED[mistake]
    # The lines that mark a part of the one above are Python's: 3.13 has more of them than 3.11, in
    # which those of TensorFlow were counted.
    lines = [line for line in printed[mistake] if line.strip(" ~^") or not line]
    assert len(lines) <= lines_of_tensorflow


def test_errors_that_the_user_did_not_meet_are_not_shown(printed):
    titles = {name: lines.count("Traceback (most recent call last):")
              for name, lines in printed.items()}  # fmt: skip
    assert {name for name, count in titles.items() if count > 1} == {"chained", "caused"}


@pytest.mark.parametrize("mistake", EXPECTED)
def test_all_is_shown_where_filtering_is_disabled(printed, printed_whole, mistake):
    if mistake == "caused":
        assert len(printed_whole[mistake]) > len(printed[mistake])
    files = {file for file, _ in frames(printed_whole[mistake])}
    assert files > {str(PROGRAM)}


def test_a_kernel_and_its_library_are_shown_where_filtering_is_disabled(printed_whole):
    lines = "\n".join(printed_whole["function"])
    assert "/jax/" in lines and "During handling of the above exception" in lines


def run(code, *options):
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True)


def test_an_error_in_a_thread():
    done = run(
        "import threading, gradtape as tf\n"
        "def work():\n"
        "    tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
    )
    files = [file for file, _ in frames(done.stderr.splitlines())]
    assert files[-1] == "<string>" and not any("gradtape" in file for file in files)


def test_a_hook_of_the_user_is_called(tf):
    done = run(
        "import sys\n"
        "sys.excepthook = lambda kind, error, traceback: print('mine', kind.__name__)\n"
        "import gradtape as tf\n"
        "tf.constant(None)\n"
    )
    assert (done.stdout, done.stderr) == ("mine ValueError\n", "")


def test_a_program_under_gradtape_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import tensorflow as tf\ntf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))\n")
    done = subprocess.run(
        [sys.executable, "-m", "gradtape", "run", str(script)], capture_output=True, text=True
    )
    assert frames(done.stderr.splitlines()) == [(str(script), 2)]
    assert done.stderr.splitlines()[-1].startswith("tensorflow.errors.ShapeError: matmul: inner")
