"""One module of `function` knows JAX's internals."""

import ast
from pathlib import Path

import pytest

import gradtape

pytestmark = pytest.mark.gradtape_only

FOLDER = Path(gradtape.__file__).parent / "_src" / "function"
MODULES = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.py")}
INTERNAL = ("jax._src", "jax.core", "jax.extend", "jax.interpreters")


def test_one_module_knows_the_internals_of_jax():
    knowing = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(INTERNAL)
    }
    assert knowing == {"trace"}
