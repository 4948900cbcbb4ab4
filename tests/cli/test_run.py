"""gradtape run: a program that imports tensorflow runs on gradtape, otherwise as under python."""

import pytest

import gradtape as package


@pytest.mark.parametrize(
    "statement, alias, own",
    [
        ("import tensorflow", "tensorflow", "TF"),
        ("import tensorflow as tf", "tf", "TF"),
        ("from tensorflow import math", "math", "gradtape.math"),
        ("from tensorflow import math as m", "m", "gradtape.math"),
        ("import tensorflow.math", "tensorflow.math", "gradtape.math"),
        ("import tensorflow.math as m", "m", "gradtape.math"),
        ("from tensorflow.nn import relu", "relu", "gradtape.nn.relu"),
        ("import tensorflow as tf", "tf.nn.relu", "gradtape.nn.relu"),
        ("import tensorflow as tf", "tf.Tensor", "gradtape.Tensor"),
        ("import tensorflow.compat", "tensorflow.compat.v2", "TF"),
        ("import tensorflow as tf", "tf.compat.v2", "TF"),
        ("import tensorflow.compat.v2 as tf", "tf", "TF"),
        ("from tensorflow.compat import v2 as tf", "tf", "TF"),
        ("from tensorflow.compat.v2 import nn", "nn", "gradtape.nn"),
        ("import tensorflow.compat.v2.nn as nn", "nn", "gradtape.nn"),
        ("import tensorflow.compat.v1 as tf", "tf.matmul", "gradtape.matmul"),
        ("from tensorflow import *", "nn", "gradtape.nn"),
        ("import importlib; m = importlib.import_module('tensorflow.nn')", "m", "gradtape.nn"),
    ],
)
def test_every_form_of_import_gives_the_module_itself(gradtape, script, statement, alias, own):
    source = f"""
{statement}
import gradtape, sys
TF = sys.modules["tensorflow"]
assert {alias} is {own}, {alias}
assert TF is not gradtape and TF.__name__ == TF.__spec__.name == "tensorflow"
assert gradtape.__name__ == gradtape.__spec__.name == "gradtape"
assert gradtape.nn.__name__ == gradtape.nn.__spec__.name == "gradtape.nn"
"""
    done = gradtape("run", script(source))
    assert done.returncode == 0, done.stderr


def test_a_module_imported_by_the_script_gets_gradtape_too(gradtape, script):
    script("import tensorflow as tf\n", "helper.py")
    done = gradtape("run", script("from helper import tf\nprint(tf.__name__, tf.__version__)\n"))
    assert done.stdout == "tensorflow 2.21.0\n", done.stderr


SHOW = """
import sys
print(sys.argv[1:], __name__, __spec__ and __spec__.name, __package__, sys.path[0])
print(sys.argv[0], __file__, sys.modules["__main__"].__dict__ is globals())
"""


@pytest.mark.parametrize("args", [[], ["--help", "-m", "--", "--version", "x y"], ["--", "-h"]])
def test_a_script_sees_what_python_shows_it(python, gradtape, script, args):
    path = script(SHOW, "folder/show.py")
    expected = python(path, *args)
    assert expected.returncode == 0
    assert gradtape("run", path, *args).stdout == expected.stdout


@pytest.mark.parametrize("args", [[], ["--help", "-m", "--", "--version"]])
def test_a_module_sees_what_python_m_shows_it(python, gradtape, script, args):
    script("", "folder/__init__.py")
    script(SHOW, "folder/show.py")
    expected = python("-m", "folder.show", *args)
    assert expected.returncode == 0
    assert gradtape("run", "-m", "folder.show", *args).stdout == expected.stdout


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    return 1 / 0\n\nf()\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    [][0]\n",
        "import does_not_exist\n",
        "x = = 1\n",
        "import sys\nsys.exit(7)\n",
        "import sys\nsys.exit('a last word')\n",
        "raise SystemExit\n",
        "import os\nos._exit(3)\n",
        "import atexit\natexit.register(print, 'at exit')\nraise ValueError('x')\n",
        "raise KeyboardInterrupt\n",
    ],
)
def test_tracebacks_and_exit_codes_are_those_of_python(python, gradtape, script, source):
    path = script(source)
    expected, done = python(path), gradtape("run", path)
    assert done.returncode == expected.returncode
    assert done.stdout == expected.stdout
    assert done.stderr == expected.stderr


def test_the_traceback_of_a_module_begins_in_it(gradtape, script):
    script("def f():\n    return 1 / 0\n\nf()\n", "broken.py")
    done = gradtape("run", "-m", "broken")
    assert done.returncode == 1
    first = done.stderr.splitlines()[1]
    assert "broken.py" in first and done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_script_that_is_not_there(gradtape, tmp_path):
    done = gradtape("run", "nowhere.py")
    assert done.returncode == 2
    assert done.stderr == (
        f"gradtape: can't open file {str(tmp_path / 'nowhere.py')!r}: "
        "[Errno 2] No such file or directory\n"
    )


def test_a_module_that_is_not_there(gradtape):
    done = gradtape("run", "-m", "nowhere")
    assert done.returncode == 1
    assert done.stderr == "ImportError: No module named nowhere\n"


def test_main_is_still_there_at_exit(gradtape, script):
    source = """
import atexit, pickle, tensorflow

class Result:
    pass

atexit.register(lambda: print(type(pickle.loads(pickle.dumps(Result()))).__name__))
"""
    done = gradtape("run", script(source))
    assert (done.stdout, done.stderr) == ("Result\n", "")


# What is missing.


SLIPS = [
    ("tf.reduce_summ", "AttributeError", "tf.reduce_summ", "tf.reduce_sum", "gradtape"),
    ("tf.qqqqqq", "AttributeError", "tf.qqqqqq", None, "gradtape"),
    ("tf.relu", "AttributeError", "tf.relu", "tf.nn.relu", "gradtape"),
    (
        "tf.math.reduce_summ",
        "AttributeError",
        "tf.math.reduce_summ",
        "tf.math.reduce_sum",
        "gradtape.math",
    ),
    (
        "from tensorflow import reduce_summ",
        "ImportError",
        "tensorflow.reduce_summ",
        "tensorflow.reduce_sum",
        "gradtape",
    ),
    (
        "from tensorflow.math import reduce_summ",
        "ImportError",
        "tensorflow.math.reduce_summ",
        "tensorflow.math.reduce_sum",
        "gradtape.math",
    ),
    (
        "from tensorflow.image import resise",
        "ImportError",
        "tensorflow.image.resise",
        "tensorflow.image.resize",
        "gradtape.image",
    ),
    (
        "import tensorflow.maths",
        "ModuleNotFoundError",
        "tensorflow.maths",
        "tensorflow.math",
        "gradtape",
    ),
    (
        "from tensorflow.maths import log",
        "ModuleNotFoundError",
        "tensorflow.maths",
        "tensorflow.math",
        "gradtape",
    ),
    (
        "import tensorflow.math.qqq",
        "ModuleNotFoundError",
        "tensorflow.math.qqq",
        None,
        "gradtape.math",
    ),
]


@pytest.mark.parametrize("statement, error, written, close, where", SLIPS)
def test_a_slip_is_named_with_what_is_close(
    gradtape, script, statement, error, written, close, where
):
    done = gradtape("run", script(f"import tensorflow as tf\n{statement}\n"))
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"{error}: {written}: gradtape ")
    assert " does not have it. " in message
    assert message.endswith(f"dir({where}) lists what is there.")
    if close:
        matches = message.partition("Close to it: ")[2].partition(". ")[0].split(", ")
        assert close in matches and len(matches) <= 3
    else:
        assert "Close to it" not in message


@pytest.mark.parametrize(
    "statement, error, written",
    [
        ("tf.compat.v1.Session", "AttributeError", "tf.compat.v1.Session"),
        (
            "import tensorflow.compat.v1.layers",
            "ModuleNotFoundError",
            "tensorflow.compat.v1.layers",
        ),
        (
            "from tensorflow.compat.v1 import get_variable",
            "ImportError",
            "tensorflow.compat.v1.get_variable",
        ),
    ],
)
def test_what_tensorflow_has_and_gradtape_has_not_is_explained(
    gradtape, script, statement, error, written
):
    done = gradtape("run", script(f"import tensorflow as tf\n{statement}\n"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"{error}: {written}: gradtape {package.__version__} does not have it. What "
        "TensorFlow 1 does in its own way, with graphs and sessions, will not come. The names that "
        "mean the same in both versions are there; tf.function takes the place of a session."
    )


def test_a_probe_for_what_is_missing_works_as_usual(gradtape, script):
    source = """
import tensorflow as tf
assert not hasattr(tf, "nothing_of_the_kind")
assert getattr(tf, "nothing_of_the_kind", 5) == 5
assert not hasattr(tf, "__wrapped__")
try:
    from tensorflow import nothing_of_the_kind
except ModuleNotFoundError:
    raise AssertionError("a name is not a module")
except ImportError as error:
    assert error.name == "tensorflow.nothing_of_the_kind"
try:
    import tensorflow.nothing_of_the_kind
except ModuleNotFoundError as error:
    assert error.name == "tensorflow.nothing_of_the_kind"
"""
    done = gradtape("run", script(source))
    assert done.returncode == 0, done.stderr


def test_an_import_that_fails_inside_a_submodule_says_so(python, script):
    script("import no_such_library\n", "extension/broken.py")
    source = """
import gradtape
from gradtape import install_as_tensorflow
gradtape.__path__.append("extension")
with install_as_tensorflow():
    try:
        import tensorflow.broken
    except ModuleNotFoundError as error:
        assert error.name == "no_such_library", error
    else:
        raise AssertionError
"""
    done = python(script(source))
    assert done.returncode == 0, done.stderr


# install_as_tensorflow, in a process of one's own.


def test_the_context_manager_gives_the_name_back(python, script):
    source = """
import os, sys
import gradtape
from gradtape import install_as_tensorflow

def state():
    return list(sys.meta_path), list(sys.path), dict(os.environ), gradtape.Tensor.__module__

for python_path in [None, "", "elsewhere", os.pathsep.join(["one", "two"])]:
    if python_path is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = python_path
    before = state()
    with install_as_tensorflow():
        import tensorflow as tf
        import tensorflow.nn, tensorflow.image
        with install_as_tensorflow():
            import tensorflow.math
        import tensorflow.math
        assert tensorflow is tf and tensorflow.math is gradtape.math
        assert state() != before
    assert state() == before
    assert not [name for name in sys.modules if name.startswith("tensorflow")]
    assert tf.nn is gradtape.nn

first, second = install_as_tensorflow(), install_as_tensorflow()
import tensorflow
first.uninstall()
first.uninstall()
import tensorflow.nn
assert tensorflow.Tensor.__module__ == "tensorflow.python.framework.tensor"
second.uninstall()
assert state() == before
"""
    done = python(script(source))
    assert done.returncode == 0, done.stderr


def test_an_exception_in_the_context_gives_the_name_back(python, script):
    source = """
import sys
from gradtape import install_as_tensorflow
try:
    with install_as_tensorflow():
        import tensorflow
        1 / 0
except ZeroDivisionError:
    assert "tensorflow" not in sys.modules
"""
    done = python(script(source))
    assert done.returncode == 0, done.stderr


def test_it_refuses_to_replace_a_tensorflow_that_is_in_use(python, script):
    script("", "tensorflow.py")
    source = "import tensorflow\nimport gradtape\ngradtape.install_as_tensorflow()\n"
    done = python(script(source))
    assert done.returncode == 1
    assert "RuntimeError: gradtape cannot take the name `tensorflow`" in done.stderr


def test_a_real_tensorflow_on_the_path_is_passed_over(gradtape, script):
    script("raise AssertionError('the other one')\n", "tensorflow.py")
    done = gradtape("run", script("import tensorflow as tf\nprint(tf.__name__, tf.__version__)\n"))
    assert done.stdout == "tensorflow 2.21.0\n", done.stderr
