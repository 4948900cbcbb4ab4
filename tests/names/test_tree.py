"""The public tree: each namespace is what its stub says, and nothing else."""

import ast
import importlib
import os
import pickle
import subprocess
import sys
import types
from pathlib import Path

import pytest

import gradtape

ROOT = Path(gradtape.__file__).parent
STUBS = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.pyi"))
}
OTHERS = {  # modules that are another one, by the one they are
    "gradtape.compat.v2": "gradtape",
    "gradtape.keras.optimizers": "gradtape.optimizers",
    "gradtape.keras.optimizers.schedules": "gradtape.optimizers.schedules",
    "gradtape.keras.utils": "gradtape.utils",
}
NAMESPACES = [name for name in STUBS if name not in OTHERS]
KERAS = "keras._tf_keras.keras"  # its names, for checkers, where Keras is installed
OF_KERAS = "_src.names.keras"  # there where it is installed, and not shown
NO_KERAS = "import sys; sys.modules['keras'] = None\n"  # as in the processes of the tests


def statements(module):
    return ast.parse(STUBS[module].read_text(encoding="utf-8")).body


def names(module):
    """The public names in a stub, read by Python's own parser."""
    found = []
    for node in statements(module):
        if isinstance(node, ast.ImportFrom) and node.module not in (KERAS, OF_KERAS):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.AnnAssign):
            found.append(node.target.id)
    return sorted(name for name in found if not name.startswith("_"))


INTERNAL = "gradtape.__internal__"  # there, but not shown: it is for libraries


@pytest.mark.parametrize("module", NAMESPACES)
def test_a_stub_has_imports_and_constants_only(module):
    for node in statements(module):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == (None if alias.name == "*" else alias.name)
        else:
            assert isinstance(node, ast.AnnAssign) and node.value is None
    assert len(names(module)) == len(set(names(module)))


@pytest.mark.parametrize("module, other", OTHERS.items())
def test_a_module_that_is_another_one(module, other):
    assert importlib.import_module(module) is importlib.import_module(other)
    (node,) = statements(module)
    assert isinstance(node, ast.ImportFrom) and node.module == other
    assert [alias.name for alias in node.names] == ["*"]


def test_a_module_below_another_one_is_no_copy():
    code = """
import importlib, sys, gradtape
for name in sys.argv[1:]:
    own = importlib.import_module(f"gradtape{name}")
    assert importlib.import_module(f"gradtape.compat.v2{name}") is own, name
    assert importlib.import_module(f"gradtape{name}") is own, name
    assert eval(f"gradtape{name}") is own, name
"""
    below = [name.removeprefix("gradtape") for name in STUBS]
    subprocess.run([sys.executable, "-c", NO_KERAS + code, *below], check=True)


def test_a_folder_called_keras_is_not_keras(tmp_path):
    (tmp_path / "keras").mkdir()
    code = """
import sys
from importlib.machinery import PathFinder

class OnlyTheFolder:
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, sys.argv[1:]) if name == "keras" else None

sys.meta_path.insert(0, OnlyTheFolder)
import gradtape as tf
assert tf.keras.utils.Progbar is tf.utils.Progbar
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


@pytest.mark.parametrize("module", NAMESPACES)
def test_a_namespace_has_the_names_of_its_stub_and_no_others(module):
    space = importlib.import_module(module)
    assert dir(space) == space.__all__ == names(module)
    for name in names(module):
        getattr(space, name)
    assert {name for name in vars(space) if not name.startswith("_")} == set(names(module))
    everything = {}
    exec(f"from {module} import *", everything)
    assert everything.keys() - {"__builtins__"} == set(names(module))


def test_each_module_has_a_stub_and_each_stub_a_module():
    files = {path for path in ROOT.rglob("*.py") if "_src" not in path.relative_to(ROOT).parts}
    modules = {path.with_suffix(".pyi") for path in files if path.name != "__main__.py"}
    schedules = STUBS["gradtape.keras.optimizers.schedules"]  # found by its parent, without a file
    assert modules | {schedules} == set(STUBS.values())


@pytest.mark.parametrize("module", [name for name in STUBS if name not in ("gradtape", INTERNAL)])
def test_each_module_is_listed_by_its_parent(module):
    parent, _, name = module.rpartition(".")
    parent = OTHERS.get(parent, parent)
    assert name in names(parent)
    assert getattr(importlib.import_module(parent), name) is importlib.import_module(module)


def test_the_namespaces_listed_are_all_there_are():
    listed = {
        f"{module}.{name}"
        for module in NAMESPACES
        for name in names(module)
        if isinstance(getattr(importlib.import_module(module), name), types.ModuleType)
    }
    assert listed == STUBS.keys() - {"gradtape", INTERNAL, "gradtape.keras.optimizers.schedules"}


def public_classes():
    spaces = [importlib.import_module(module) for module in NAMESPACES]
    values = [(space, name, getattr(space, name)) for space in spaces for name in dir(space)]
    return [(space.__name__, name, kind) for space, name, kind in values if isinstance(kind, type)]


def test_a_class_says_a_public_place_where_it_is():
    found = public_classes()
    assert len({kind for _, _, kind in found}) > 85
    for space, name, kind in found:
        assert kind.__module__ in STUBS, (space, name)
        assert getattr(importlib.import_module(kind.__module__), kind.__name__) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind


GIVEN = {  # values of classes that nobody has asked for, and the public places of these
    "tf.strings.split(['a b'])": "gradtape.RaggedTensor",
    "tf.io.parse_example([], {0: tf.io.VarLenFeature(tf.int64)})[0]": "gradtape.SparseTensor",
    "tf.sparse.eye(3)": "gradtape.SparseTensor",
    "tf.sparse.eye(3)._type_spec": "gradtape.SparseTensorSpec",
    "tf.ragged.range([1])._type_spec": "gradtape.RaggedTensorSpec",
    "iter(tf.data.Dataset.range(1)).get_next_as_optional()": "gradtape.experimental.Optional",
}


@pytest.mark.parametrize("value, place", GIVEN.items())
def test_a_value_says_its_public_place_before_anyone_asks_for_its_class(value, place):
    code = f"import gradtape as tf; kind = type({value}); print(kind.__module__, kind.__name__)"
    shown = subprocess.check_output([sys.executable, "-c", NO_KERAS + code], text=True)
    assert ".".join(shown.split()) == place


def test_the_place_does_not_depend_on_what_is_asked_for_first():
    program = f"""
import importlib, sys
for module in {NAMESPACES}[:: int(sys.argv[1])]:
    space = importlib.import_module(module)
    for name in dir(space)[:: int(sys.argv[1])]:
        getattr(space, name)
from tests.names.test_tree import public_classes
print(sorted((f"{{s}}.{{n}}", kind.__module__) for s, n, kind in public_classes()))
"""
    first, last = [
        subprocess.check_output(
            [sys.executable, "-c", NO_KERAS + program, step], text=True, cwd=ROOT.parent.parent
        )
        for step in ["1", "-1"]
    ]
    assert first == last


# Type checkers

GOOD = """
import gradtape as tf
import gradtape.keras.optimizers.schedules
from gradtape.linalg.experimental import conjugate_gradient

x = tf.constant(1.0)
y: tf.Tensor = tf.math.special.bessel_j0(x)
f = tf.keras.optimizers.Adam(1e-3), tf.compat.v2.nn.relu, tf.data.experimental.AUTOTUNE
d: tf.DType = tf.bool
s = gradtape.keras.optimizers.schedules.CosineDecay(1.0, 10)
"""
BAD = """
import gradtape as tf
from gradtape.linalg.experimental import conjugate_gradientt

tf.math.special.bessel_j00
tf.keras.optimizers.Adamm
tf.mlir
tf.compat.v2.nn.reluu
tf.constant
"""


def test_type_checkers_know_the_names(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    # What is checked is found as source, not as the installed package.
    env = {**os.environ, "MYPYPATH": str(ROOT.parent)}
    options = ["--follow-imports=silent", "--no-error-summary", "--cache-dir", tmp_path / "cache"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "good.py", "bad.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=env,
    )
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    wanted = {
        "3": "conjugate_gradientt",
        "5": "bessel_j00",
        "6": "Adamm",
        "7": "mlir",
        "8": "reluu",
    }
    assert [line.split(":")[:2] for line in lines] == [["bad.py", number] for number in wanted]
    assert all(f'"{name}"' in line for line, name in zip(lines, wanted.values(), strict=True))


# What an import costs


def test_an_import_loads_few_modules():
    code = """
import ast, sys, gradtape
loaded = [module for name, module in sys.modules.items() if name.split(".")[0] == "gradtape"]
print(*(m.__name__ for m in loaded if len(ast.parse(open(m.__file__).read()).body) > 1))
"""
    with_code = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert len(with_code) <= 58
    layers = {name.split(".")[2] for name in with_code if name.count(".") > 1}
    assert layers == {"core", "engines", "ops", "tape", "function", "names", "heart", "version"}
    assert [name for name in with_code if not name.startswith("gradtape._src")] == ["gradtape"]


def test_an_error_says_its_public_place_before_the_namespace_is_asked_for():
    code = """
import gradtape, sys
try:
    gradtape.reshape(gradtape.zeros(2), [3])
except Exception as error:
    print(type(error), "gradtape.errors" in sys.modules)
"""
    shown = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shown == "<class 'gradtape.errors.ShapeError'> False\n"


# Under the alias


def test_each_module_imports_in_every_form_under_the_alias():
    program = f"""
import importlib
import gradtape
with gradtape.install_as_tensorflow():
    for own in {sorted(STUBS)}[1:]:
        alias = own.replace("gradtape", "tensorflow", 1)
        # tensorflow and its compat, in which v2 is tensorflow, are modules of their own.
        others = {{"gradtape.compat": "tensorflow.compat", "gradtape.compat.v2": "tensorflow"}}
        module = importlib.import_module(others.get(own, own))
        parent, _, name = alias.rpartition(".")
        first = module.__all__[0]
        for statement, expression in [
            (f"import {{alias}}", alias),
            (f"import {{alias}} as x", "x"),
            (f"from {{parent}} import {{name}}", name),
            (f"from {{parent}} import {{name}} as x", "x"),
            (f"import importlib; x = importlib.import_module('{{alias}}')", "x"),
            (f"import tensorflow as tf", alias.replace("tensorflow", "tf", 1)),
        ]:
            scope = {{}}
            exec(statement, scope)
            assert eval(expression, scope) is module, (statement, expression)
        scope = {{}}
        exec(f"from {{alias}} import {{first}} as x", scope)
        assert scope["x"] is getattr(module, first), alias
"""
    subprocess.run([sys.executable, "-c", NO_KERAS + program], check=True)


def test_a_class_says_a_place_in_tensorflow_under_the_alias():
    program = """
import importlib, pickle
import gradtape
early = gradtape.data.Dataset, gradtape.errors.ShapeError  # asked for before
with gradtape.install_as_tensorflow():
    from tests.names.test_tree import public_classes
    for space, name, kind in public_classes():
        root, _, rest = kind.__module__.partition(".")
        assert root == "tensorflow", kind
        assert getattr(importlib.import_module(kind.__module__), kind.__name__) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind
assert all(kind.__module__.startswith("gradtape") for _, _, kind in public_classes())
assert early[0].__module__ == "gradtape.data"
"""
    subprocess.run([sys.executable, "-c", NO_KERAS + program], check=True, cwd=ROOT.parent.parent)
