"""Every public name of TensorFlow is there, or gives one error that says what is."""

import importlib
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradtape
from gradtape._src.names import missing
from gradtape._src.ops.foreign import FUNCTIONS
from tests.names.test_tree import NO_KERAS

ROOT = Path(__file__).parent.parent.parent
NAMES = sorted(missing._tensorflow_names())
MODULES = re.findall(r"^tf\.(.*?):", missing._text("tensorflow_names.txt"), re.MULTILINE)
SENTENCES = missing._sentences()

# Families that are not in the list of TensorFlow 2.21's public names, and are asked for all the
# same: TensorFlow 1, TensorFlow's inside, what Keras gives the name tf.
UNLISTED = {
    "compat.v1.Session",
    "Session", "placeholder", "placeholder_with_default", "get_variable", "variable_scope",
    "global_variables_initializer", "set_random_seed", "app", "flags", "logging", "contrib",
    "estimator", "python", "core", "to_float", "to_double", "to_bfloat16", "to_complex64",
    "to_complex128", "InteractiveSession", "enable_eager_execution", "disable_eager_execution",
    "enable_v2_behavior", "raw_ops.Abs",
}  # fmt: skip


def resolve(path):
    value = gradtape
    for part in path.split("."):
        value = getattr(value, part)
    return value


def first_missing(path):
    """The part of a dotted name up to what gradtape does not have; None if it has it."""
    parts = path.split(".")
    for i in range(1, len(parts) + 1):
        try:
            resolve(".".join(parts[:i]))
        except AttributeError:
            return ".".join(parts[:i])
    return None


def test_the_list_is_that_of_tensorflow():
    assert len(NAMES) > 1700
    assert {"GradientTape", "ragged.constant", "raw_ops", "keras.layers", "io.gfile.GFile"} <= set(
        NAMES
    )


def test_what_is_there_and_what_is_not():
    there = [path for path in NAMES if first_missing(path) is None]
    assert len(there) > 760


@pytest.mark.parametrize("home", sorted({path.rpartition(".")[0] for path in NAMES}))
def test_each_name_is_there_or_explained(home):
    for path in [path for path in NAMES if path.rpartition(".")[0] == home]:
        absent = first_missing(path)
        if absent is not None:
            with pytest.raises(AttributeError) as caught:
                resolve(path)
            assert str(caught.value) == (
                f"tf.{absent}: gradtape {gradtape.__version__} does not have it. "
                f"{missing.advice(absent)}"
            )
            assert missing.advice(absent), absent


def test_each_name_imports_or_is_explained():
    program = """
import gradtape
from gradtape._src.names import missing
from tests.names.test_tree import NO_KERAS
from tests.names.test_missing import MODULES, NAMES, first_missing

def error_of(statement):
    try:
        exec(statement, {})
    except ImportError as error:
        return type(error).__name__, str(error), error.name
    return None

def expected(kind, absent):
    text = f"tensorflow.{absent}: gradtape {gradtape.__version__} does not have it. "
    return kind, text + missing.advice(absent), f"tensorflow.{absent}"

with gradtape.install_as_tensorflow():
    import tensorflow
    for path in MODULES:
        absent = first_missing(path)
        found = error_of(f"import tensorflow.{path}")
        assert found == (absent and expected("ModuleNotFoundError", absent)), (path, found)
    for path in NAMES:
        absent = first_missing(path)
        home, _, name = path.rpartition(".")
        home = f"tensorflow.{home}".rstrip(".")
        found = error_of(f"from {home} import {name}")
        kind = "ImportError" if absent == path else "ModuleNotFoundError"
        assert found == (absent and expected(kind, absent)), (path, found)
print(len(MODULES), len(NAMES))
"""
    command = [sys.executable, "-c", NO_KERAS + program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["86", "1881"]


@pytest.mark.parametrize("sentence", sorted(set(SENTENCES.values())))
def test_what_is_recommended_exists(sentence):
    for path in re.findall(r"\btf\.([\w.]*\w)", sentence):
        resolve(path)
    assert sentence.endswith(".") and "  " not in sentence
    assert not re.search(r"bitcast|saturate_cast|tf\.u?int\d+\)", sentence)  # they end a gradient


def test_no_sentence_denies_what_is_there():
    """Threads, memory growth, virtual devices and profiles came after their sentences."""
    virtual = missing.advice("config.experimental.set_virtual_device_configuration")
    assert "tf.config.set_logical_device_configuration" in virtual
    # `import tensorflow.losses` fails in TensorFlow as well, with Keras or without.
    assert "not installed" not in missing.advice("losses")
    said = " ".join(SENTENCES.values())
    assert not re.search("no memory growth|no thread pools|cProfile", said)


def test_no_sentence_is_idle():
    missing_names = {first_missing(path) for path in NAMES} - {None} | UNLISTED
    used = {missing.advice(path) for path in missing_names}
    assert set(SENTENCES.values()) <= used
    assert all(missing.advice(path) for path in UNLISTED)
    for pattern in SENTENCES:
        assert any(missing.fits(pattern, path) for path in missing_names), pattern


def test_the_number_of_sentences_is_one_that_can_be_kept_true():
    assert 40 <= len(set(SENTENCES.values())) <= 100


@pytest.mark.parametrize(
    "slip, meant",
    [
        ("casts", ["cast"]),
        ("bitcas", ["bitcast"]),
        ("stop_gradients", ["stop_gradient"]),
        ("ranges", ["range"]),
        ("relu", ["nn.relu"]),
        ("nn.reduce_sum", ["reduce_sum", "math.reduce_sum", "sparse.reduce_sum"]),
        ("optimizers.Adams", ["optimizers.Adam"]),
        ("optimizers.schedules.CosineDecays", ["optimizers.schedules.CosineDecay"]),
        ("raggedy", ["ragged"]),
        ("as_strin", ["as_string"]),
        ("float", ["float16", "float32", "float64"]),
        ("conj", ["math.conj"]),  # and not tf.cond
        ("reduce_summ", ["reduce_sum"]),  # and not tf.reduce_min
        ("gradient", ["gradients"]),  # and not tf.no_gradient
        ("amax", []),  # nor tf.argmax, which has no gradient
        ("assign", []),  # nor tf.sign
        ("int", ["int16", "int32", "int64", "int8"]),  # and not tf.print
        ("cat", []),  # nor tf.cast, which may have no gradient
        ("sinc", []),  # nor tf.sin
        ("unsqueeze", []),  # nor tf.squeeze
        ("compile", []),  # nor tf.complex
        ("flatten", []),  # nor tf.nest.flatten
        ("extract_image_patches", []),  # nor tf.extract_volume_patches
        ("linalg.cond", []),  # nor tf.cond
        ("math.gamma", []),  # nor tf.random.gamma
        ("math.erfcx", []),  # nor tf.math.erfc
        ("nn.conv4d", []),  # nor tf.nn.conv2d
        ("signal.istft", []),  # nor tf.signal.stft
        ("isnan", ["math.is_nan"]),
        ("distribute.OneDeviceStratgey", ["distribute.OneDeviceStrategy"]),  # which is there
        ("saved_model.SaveOption", ["saved_model.SaveOptions"]),
        ("test.is_built_with_cudas", ["test.is_built_with_cuda"]),
        ("optimizers.Adamm", ["optimizers.Adam", "optimizers.AdamW"]),
        ("reshape(", ["reshape"]),  # what is no name at all is asked for by getattr
    ],
)
def test_a_slip_gets_what_may_be_meant(slip, meant):
    with pytest.raises(AttributeError) as caught:
        resolve(slip)
    close = str(caught.value).partition("Close to it: ")[2].partition(". ")[0]
    found = [name.removeprefix("tf.") for name in close.split(", ") if name]
    assert found == meant
    for name in found:
        resolve(name)


@pytest.mark.parametrize("name, instead", FUNCTIONS.items())
def test_a_function_of_another_library(name, instead):
    with pytest.raises(AttributeError) as caught:
        resolve("linalg.cond" if name == "cond" else name)  # tf.cond is another
    assert f"does not have it. Write {instead}." in str(caught.value)
    for path in re.findall(r"\btf\.([\w.]*\w)", instead):
        resolve(path)


@pytest.mark.parametrize(
    "name, count",
    [
        *[(name, 1) for name in [
            "absolute", "amax", "amin", "arccos", "arcsin", "arcsinh", "arctan", "arctanh",
            "argwhere", "around", "average", "cbrt", "deg2rad", "diagonal", "empty_like", "exp2",
            "fix", "fliplr", "flipud", "log10", "log2", "nan_to_num", "nansum", "prod", "rad2deg",
            "ravel", "std", "tril", "triu", "trunc", "var",
        ]],
        *[(name, 2) for name in [
            "dot", "floor_divide", "fmod", "hypot", "inner", "logaddexp", "power",
            "remainder", "true_divide", "vdot",
        ]],
    ],
)  # fmt: skip
def test_what_to_write_for_a_function_of_numpy_gives_its_numbers(name, count):
    x, y = [np.array([[0.25, -0.5], [-0.75, 0.6]]), np.array([[1.5, 0.4], [2.0, 0.7]])]
    if name in ("exp2", "log10", "log2", "power"):
        x = abs(x)
    instead = FUNCTIONS[name].partition(", or ")[0]
    names = {"tf": gradtape, "math": math, "x": gradtape.constant(x), "y": gradtape.constant(y)}
    # NumPy 2.5 deprecates fix; what is in an empty array is not said.
    function = {"fix": np.trunc, "empty_like": np.zeros_like}.get(name) or getattr(np, name)
    wanted = function(*[x, y][:count])
    np.testing.assert_allclose(eval(instead, names), wanted, rtol=1e-12)


@pytest.mark.parametrize("name", ["mlir", "tpu", "experimental.numpy.sum"])
def test_a_name_of_tensorflow_is_never_taken_for_a_slip(name):
    with pytest.raises(AttributeError) as caught:
        resolve(name)
    assert "Close to it" not in str(caught.value)


def test_close_names_are_given_once():
    message = str(missing.missing_module("tensorflow.math.sin"))
    assert "Close to it: tensorflow.sin, tensorflow.math.sin. " in message


def test_without_the_alias_too():
    for statement, error in [
        ("from gradtape import mlir", ImportError),
        ("from gradtape.experimental import RowPartition, StructuredTensor", ImportError),
    ]:
        with pytest.raises(error, match=r"gradtape\.[\w.]+: gradtape [\d.]+ does not have it\. "):
            exec(statement)
    importlib.import_module("gradtape._src")  # what is private is no public name, and is found
