"""Functions that are made above the core: all are supplied, in one place, and nowhere else."""

import ast
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import gradtape as tf
from gradtape._src.core.late import Late, late
from gradtape._src.ops.operators import OPERATORS

SOURCE = Path(tf.__file__).parent / "_src"
FILLS = SOURCE / "heart.py"


@pytest.mark.parametrize("name", Late.__annotations__)
def test_every_function_is_supplied(name):
    assert callable(vars(late)[name])


def test_every_declaration_names_its_supplier():
    tree = ast.parse((SOURCE / "core/late.py").read_text(encoding="utf-8"))
    (body,) = [node.body for node in tree.body if getattr(node, "name", "") == "Late"]
    for declared, text in zip(body[1:-2:2], body[2:-2:2], strict=True):
        place = text.value.value.rpartition(" From ")[2].rstrip(".")
        assert (SOURCE / place).is_file(), declared.target.id


def test_a_function_that_is_not_supplied_yet_says_so():
    with pytest.raises(RuntimeError, match=r"cast is called .* before gradtape._src.heart has"):
        Late().cast(1, 2)
    with pytest.raises(AttributeError, match="twist is not declared"):
        Late().twist  # noqa: B018


def test_all_are_supplied_together():
    with pytest.raises(TypeError, match=r"missing, or not declared: .*at, .*pack.*twist"):
        Late().supply(cast=len, twist=len)


@pytest.mark.parametrize("kind", [tf.Tensor, tf.Variable])
def test_both_classes_have_every_operator(kind):
    assert {name for name in OPERATORS if vars(kind)[name] is not OPERATORS[name]} == set()


def assignments_elsewhere(path, package):
    """Where a file gives an attribute to a module, a class or a function that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            imported |= {name.asname or name.name: (home, name.name) for name in node.names}
    found = []
    for node in ast.walk(tree):
        for name in owners(node):
            if name in imported and is_shared(*imported[name]):
                found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    return found


def owners(node):
    """The names whose attributes a statement sets."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr":
        targets = [ast.Attribute(node.args[0], "")]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    else:
        return
    for target in targets:
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            yield target.value.id


def is_shared(home, name):
    if not home.startswith("gradtape"):
        return False
    module = import_module(home)
    value = getattr(module, name, None) or import_module(f"{home}.{name}")
    return isinstance(value, (ModuleType, type, FunctionType))


def package_of(path):
    return ".".join(("gradtape", *path.relative_to(SOURCE.parent).parent.parts))


def test_nothing_else_sets_attributes_of_what_it_imports():
    found = [
        line
        for path in sorted(SOURCE.rglob("*.py"))
        if path != FILLS
        for line in assignments_elsewhere(path, package_of(path))
    ]
    assert found == []


def test_the_one_place_is_seen_by_this_test():
    assert len(assignments_elsewhere(FILLS, package_of(FILLS))) == 1


@pytest.mark.parametrize(
    "statements, count",
    [
        ("from .core import convert\nconvert.pack = 1", 1),
        ("from .core.tensor import Tensor\nTensor.at = 1", 1),
        ("from .core.tensor import Tensor as T\nsetattr(T, 'at', 1)", 1),
        ("def f():\n    from .function.api import Function\n    Function.verify = 1", 1),
        ("from .core.convert import promotion\npromotion.numpy = True", 0),
        ("import sys\nsys.argv = []", 0),
        ("from .core.tensor import Tensor\nx = Tensor(1)\nx._key = 3", 0),
    ],
)
def test_the_test_finds_such_an_assignment(tmp_path, statements, count):
    path = tmp_path / "module.py"
    path.write_text(statements)
    assert len(assignments_elsewhere(path, "gradtape._src")) == count
