"""Under `gradtape run` there is a TensorFlow: for libraries that probe, in child processes too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape as package

SITE = Path(package.__file__).parent / "_src/names/site"


def test_libraries_that_probe_find_tensorflow(gradtape, script):
    source = """
import importlib.metadata, importlib.util, sys
assert importlib.util.find_spec("tensorflow").name == "tensorflow"
assert "tensorflow" not in sys.modules
assert importlib.metadata.version("tensorflow") == "2.21.0"
assert importlib.metadata.packages_distributions()["tensorflow"] == ["tensorflow"]
import tensorflow as tf
assert importlib.util.find_spec("tensorflow") is tf.__spec__
assert importlib.util.find_spec("tensorflow.nn") is not None
assert importlib.util.find_spec("tensorflow.lite") is None
assert tf.__version__ == tf.version.VERSION == "2.21.0"
assert tf.compat.v1.__version__ == tf.compat.v2.__version__ == "2.21.0"
import gradtape
assert gradtape.__version__ != tf.__version__
assert dir(tf) == dir(gradtape) and tf.__all__ == gradtape.__all__
assert tf.__file__ and tf.__path__
"""
    done = gradtape("run", script(source))
    assert done.returncode == 0, done.stderr


def test_no_internals_under_the_name_tensorflow(gradtape, script):
    source = """
import tensorflow as tf, tensorflow.compat
for module in [tf, tf.compat]:
    assert {n for n in vars(module) if not n.startswith("_")} <= set(dir(module))
assert not hasattr(tf, "_src")
for name in ["tensorflow._src", "tensorflow.__main__"]:
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(name)
"""
    done = gradtape("run", script(source))
    assert done.returncode == 0, done.stderr


THINGS = """
import tensorflow as tf
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.gather(v, [0])
dataset = tf.data.Dataset.range(3)
matrix = tf.linalg.LinearOperatorIdentity(2)

class Double:
    @tf.function
    def __call__(self, x):
        return 2 * x

double = Double().__call__
things = [
    y, v, v[0], v.shape, v.dtype, tape, tape.gradient(y, v), tf.TensorSpec([2]), dataset,
    iter(dataset), dataset.element_spec, dataset.options(), tf.optimizers.SGD(),
    tf.optimizers.schedules.ExponentialDecay(1.0, 1, 1.0), tf.random.Generator.from_seed(1),
    tf.random.get_global_generator(), tf.Module(), tf.TensorArray(tf.float32, 1), matrix,
    matrix.adjoint(), tf.zeros_initializer(), tf.train.Checkpoint(v=v),
    double, tf.function(double), double.get_concrete_function(v),
]
tf.vectorized_map(lambda x: things.append(x) or x, tf.zeros([2, 3]))
try:
    tf.reshape(y, [7])
except tf.errors.InvalidArgumentError as error:
    things.append(error)
"""


def test_types_say_that_they_are_of_tensorflow(gradtape, script):
    source = THINGS + "print({type(x) for x in things if type(x).__module__.split('.')[0] != ROOT})"
    done = gradtape("run", script(source.replace("ROOT", "'tensorflow'")))
    assert done.stdout == "set()\n", done.stderr


def test_types_say_their_public_place_in_gradtape(python, script):
    source = THINGS.replace("import tensorflow as tf", "import gradtape as tf")
    source += "print({type(x) for x in things if '_src' in type(x).__module__})"
    done = python(script(source))
    assert done.stdout == "set()\n", done.stderr


def test_objects_of_gradtape_are_not_looked_into_for_variables(gradtape, script):
    # They are told from the user's own by their module.
    source = """
import tensorflow as tf
of_another_model = tf.Variable(5.0)
with tf.GradientTape() as tape:
    y = of_another_model * 2.0

class Model:
    def __init__(self):
        self.parts = [tf.Variable(2.0)]
        self.tape = tape

print([name for name, _ in tf.train.list_variables(tf.train.Checkpoint(m=Model()).write("file"))])
"""
    done = gradtape("run", script(source))
    assert done.stdout == "['m/parts/0']\n", done.stderr


# Pickles


@pytest.mark.parametrize("writer, reader", [("gradtape", "tensorflow"), ("tensorflow", "gradtape")])
def test_pickles_go_both_ways(python, gradtape, script, writer, reader):
    write = """
import pickle, WRITER as tf
things = tf.constant([1.0, 2.0]), tf.Variable(3.0, name="v"), tf.TensorShape([2, None])
things += tf.TensorShape(None), tf.bfloat16, tf.zeros([2], tf.bfloat16), tf.constant([1.0])[0]
with open("things", "wb") as file:
    pickle.dump(things, file)
"""
    read = """
import pickle, sys
with open("things", "rb") as file:
    x, v, shape, unknown, dtype, zeros, one = pickle.load(file)
assert READER != "gradtape" or "tensorflow" not in sys.modules
import READER as tf
assert [type(t) for t in (x, v, shape, dtype)] == [tf.Tensor, tf.Variable, tf.TensorShape, tf.DType]
assert x.numpy().tolist() == [1.0, 2.0] and v.numpy() == 3.0 and v.name == "v:0"
assert shape.as_list() == [2, None] and unknown.rank is None
assert dtype is tf.bfloat16 and zeros.dtype is dtype and one.numpy() == 1.0
"""
    read = read.replace("READER !=", repr(reader) + " !=").replace("READER", reader)
    run = {"gradtape": python, "tensorflow": lambda path: gradtape("run", path)}
    done = run[writer](script(write.replace("WRITER", writer), "write.py"))
    assert done.returncode == 0, done.stderr
    done = run[reader](script(read, "read.py"))
    assert done.returncode == 0, done.stderr


# Child processes

WORKERS = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import tensorflow as tf

def work(x):
    return tf.__version__, type(x).__module__, float(tf.reduce_sum(x))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(1) as pool:
        print(pool.map(work, [tf.ones(2), tf.ones(3)], chunksize=1))
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        print(pool.submit(work, tf.ones(4)).result())
"""
PLACE = "tensorflow.python.framework.tensor"
WORKED = f"""[('2.21.0', '{PLACE}', 2.0), ('2.21.0', '{PLACE}', 3.0)]
('2.21.0', '{PLACE}', 4.0)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_worker_processes_have_the_alias(gradtape, script, method):
    done = gradtape("run", script(WORKERS), method)
    assert done.stdout == WORKED, done.stderr


def test_worker_processes_of_a_module_have_the_alias(gradtape, script):
    script(WORKERS, "work.py")
    done = gradtape("run", "-m", "work", "spawn")
    assert done.stdout == WORKED, done.stderr


def test_worker_processes_of_a_program_that_installs_the_alias_itself(python, script):
    source = f"import gradtape\nalias = gradtape.install_as_tensorflow()\n{WORKERS}"
    done = python(script(source), "spawn")
    assert done.stdout == WORKED, done.stderr


def test_a_python_that_is_started_has_the_alias(gradtape, script):
    source = """
import subprocess, sys
code = "import tensorflow as tf, os; print(tf.Tensor, tf.compat.v2 is tf, os.environ['PYTHONPATH'])"
nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
for program in [code, nested]:
    subprocess.run([sys.executable, "-c", program], check=True)
"""
    done = gradtape("run", script(source))
    once, nested = done.stdout.splitlines()
    assert once == nested  # PYTHONPATH does not grow
    assert once.startswith("<class 'tensorflow.python.framework.tensor.Tensor'> True ")


def run_without_gradtape(tmp_path, *args):
    """A Python that has the folder of the alias on its path, and no gradtape."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SITE), str(tmp_path)])}
    command = [sys.executable, "-S", *args]  # without the installed packages
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_a_python_without_gradtape_gets_the_tensorflow_it_has(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/__init__.py").write_text("__version__ = 'real'\n")
    (tmp_path / "tensorflow/nn.py").write_text("relu = 'real relu'\n")
    code = "import tensorflow as tf, tensorflow.nn; print(tf.__version__, tf.nn.relu)"
    done = run_without_gradtape(tmp_path, "-c", code)
    assert done.stdout == "real real relu\n", done.stderr


def test_a_python_with_neither_says_so(tmp_path):
    done = run_without_gradtape(tmp_path, "-c", "import tensorflow")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: tensorflow: {sys.executable} has neither gradtape nor TensorFlow. "
        "It was started by a program that runs on gradtape: install gradtape for it too."
    )


def test_a_library_that_the_real_tensorflow_lacks_is_named(tmp_path):
    (tmp_path / "tensorflow.py").write_text("import no_such_library")
    done = run_without_gradtape(tmp_path, "-c", "import tensorflow")
    assert done.stderr.splitlines()[-1].endswith("No module named 'no_such_library'")


# gradtape run -c, and -

SHOW = """
import sys
print(sys.argv, repr(sys.path[0]), __name__, __spec__, __package__, globals().get("__file__"))
print(sys.modules["__main__"].__dict__ is globals(), __loader__)
"""
FAILURES = [
    "def f():\n    return 1 / 0\n\nf()\n",
    "try:\n    1 / 0\nexcept ZeroDivisionError:\n    [][0]\n",
    "x = = 1\n",
    "import sys\nsys.exit(7)\n",
    "import sys\nsys.exit('a last word')\n",
    "import atexit\natexit.register(print, 'at exit')\nraise ValueError('x')\n",
    "raise KeyboardInterrupt\n",
    "-1\n",
]


@pytest.mark.parametrize("args", [[], ["--help", "-m", "--", "-c", "x y"]])
@pytest.mark.parametrize("source", [SHOW, *FAILURES])
def test_a_program_on_the_command_line_runs_as_under_python(python, gradtape, source, args):
    expected, done = python("-c", source, *args), gradtape("run", "-c", source, *args)
    assert done.returncode == expected.returncode
    assert (done.stdout, done.stderr) == (expected.stdout, expected.stderr)


@pytest.mark.parametrize("source", [SHOW, *FAILURES])
def test_a_program_on_standard_input_runs_as_under_python(python, gradtape, source):
    expected = python("-", "-c", "x", stdin=source)
    done = gradtape("run", "-", "-c", "x", stdin=source)
    assert done.returncode == expected.returncode
    assert (done.stdout, done.stderr) == (expected.stdout, expected.stderr)


@pytest.mark.parametrize("by_stdin", [False, True])
def test_the_alias_is_there_in_both(gradtape, by_stdin):
    source = "import tensorflow as tf; print(tf.__version__, tf.constant(1.0))"
    done = gradtape("run", "-", stdin=source) if by_stdin else gradtape("run", "-c", source)
    assert done.stdout == "2.21.0 tf.Tensor(1.0, shape=(), dtype=float32)\n", done.stderr
