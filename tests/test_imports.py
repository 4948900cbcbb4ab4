"""What imports what: the layers inside gradtape, and the libraries that `import gradtape` loads."""

import ast
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

import gradtape

SOURCE = Path(gradtape.__file__).parent

# Each layer of `_src` imports only itself and the layers before it. Beside `_src` stand the
# public namespaces, which hold names only.
NAMESPACES = "public namespaces"
LAYERS = [
    "version", "core", "engines", "ops", "tape", "function", "train", "compat",
    "inspect", "testing", "heart", "names", "command", NAMESPACES,
]  # fmt: skip


def upward_imports(source):
    """The imports of a layer by a lower one, as texts; `source` is the folder of the package."""
    found = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).with_suffix("").parts
        layer = layer_of(place)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in modules_imported(node, place):
                imported = layer_of(module.split(".")[1:])
                if LAYERS.index(imported) > LAYERS.index(layer):
                    line = f"{path.relative_to(source)}:{node.lineno}"
                    found.append(f"{line}: {layer} imports {imported}")
    return found


def layer_of(place):
    """The layer of a module, given by the parts of its path below gradtape."""
    return place[1] if len(place) > 1 and place[0] == "_src" else NAMESPACES


def modules_imported(node, place):
    """The modules of gradtape, or names in them, that the statement `node` imports."""
    if isinstance(node, ast.Import):
        modules = [name.name for name in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            # One dot is the package that holds the file, whether or not that is its __init__.
            package = ["gradtape", *place[:-1]]
            package = package[: len(package) - (node.level - 1)]
            base = ".".join([*package, base] if base else package)
        modules = [f"{base}.{name.name}" for name in node.names]
    else:
        return []
    return [module for module in modules if module.split(".")[0] == "gradtape"]


def test_imports_point_one_way():
    assert upward_imports(SOURCE) == []


@pytest.mark.parametrize(
    "path, statement, upward",
    [
        ("_src/core/a.py", "import gradtape._src.ops.b", "core imports ops"),
        ("_src/core/a.py", "from gradtape._src.ops import b", "core imports ops"),
        ("_src/core/a.py", "from gradtape._src import ops", "core imports ops"),
        ("_src/core/a.py", "from gradtape import constant", "core imports public namespaces"),
        ("_src/core/a.py", "import gradtape", "core imports public namespaces"),
        ("_src/core/a.py", "from .. import ops", "core imports ops"),
        ("_src/core/a.py", "from ..ops.b import c", "core imports ops"),
        ("_src/core/__init__.py", "from ..ops.b import c", "core imports ops"),
        ("_src/core/sub/a.py", "from ...ops import b", "core imports ops"),
        ("_src/core/a.py", "def f():\n    from ..ops import b", "core imports ops"),
        ("_src/ops/b.py", "from gradtape.math import log", "ops imports public namespaces"),
        ("_src/heart.py", "from .command import cli", "heart imports command"),
        ("_src/core/a.py", "from . import b", None),
        ("_src/core/a.py", "import math", None),
        ("_src/ops/b.py", "from ..core import a", None),
        ("_src/ops/b.py", "from gradtape._src.engines import numpy", None),
        ("math.py", "from ._src.ops import b", None),
        ("__init__.py", "from . import math", None),
        ("__init__.py", "from ._src import heart", None),
    ],
)
def test_the_test_finds_an_upward_import(tmp_path, path, statement, upward):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(statement)
    found = [line.partition(": ")[2] for line in upward_imports(tmp_path)]
    assert found == ([upward] if upward else [])


# No cycles, imports inside functions included. What only type checkers import does not count.


def cycles(package, folder):
    """The cycles among the modules of `package` (a dotted name), each as a sorted list of names.

    `folder` is where the package lies.
    """
    modules = {}
    for path in folder.rglob("*.py"):
        place = path.relative_to(folder).with_suffix("").parts
        place = place[:-1] if place[-1] == "__init__" else place
        modules[".".join((package, *place))] = path
    imports = {name: imported_by(name, path, modules) for name, path in modules.items()}
    return connected(imports)


def imported_by(name, path, modules):
    """Which of `modules` the module `name` imports, at its top or anywhere inside."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {each if each in modules else base for each in names}
    return (found & set(modules)) - {name}


def statements(node):
    """All that runs: the tree without its `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"):
            yield child
            yield from statements(child)


def connected(graph):
    """The strongly connected parts of more than one node: what can be reached both ways."""
    reached = {node: reachable(graph, node) for node in graph}
    parts = {frozenset(m for m in reached[n] if n in reached[m]) for n in graph}
    return sorted(sorted(part) for part in parts if part)


def reachable(graph, start):
    """The nodes at the end of one or more steps."""
    found, pending = set(), list(graph[start])
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += graph[node]
    return found


def test_no_module_imports_one_that_imports_it():
    assert cycles("gradtape._src", SOURCE / "_src") == []


@pytest.mark.parametrize(
    "files, found",
    [
        ({"a": "from .b import x", "b": "from .a import y"}, [["p.a", "p.b"]]),
        ({"a": "from . import b", "b": "def f():\n    from .a import y"}, [["p.a", "p.b"]]),
        ({"a": "from p.b import x", "b": "import p.c", "c": "from . import a"},
         [["p.a", "p.b", "p.c"]]),
        ({"a": "from .s.b import x", "s/b": "from ..a import y"}, [["p.a", "p.s.b"]]),
        ({"a": "from .b import x", "b": "from .c import x", "c": "import a"}, []),
    ],
)  # fmt: skip
def test_the_test_finds_a_cycle(tmp_path, files, found):
    for name, text in files.items():
        (tmp_path / f"{name}.py").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    assert cycles("p", tmp_path) == found


def in_fresh_interpreter(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def third_party_modules(code):
    """The top-level modules, without the standard library, that are loaded after `code`."""
    code = f"""
import sys
before = set(sys.modules)  # what a .pth file of this environment loads at start
{code}
loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*(loaded - sys.stdlib_module_names))
"""
    # NumPy's extension modules register names of Cython's own, which are not a package.
    return {n for n in in_fresh_interpreter(code) if not n.startswith(("_cython", "cython_"))}


def test_import_loads_numpy_and_little_else():
    loaded = third_party_modules("import gradtape")
    of_numpy = third_party_modules("import numpy, ml_dtypes")
    assert loaded <= of_numpy | {"gradtape"}
    assert of_numpy == {"numpy", "ml_dtypes"}


def test_what_only_type_checkers_read_is_never_loaded():
    code = """
import sys
import gradtape
from gradtape._src.names.missing import _tensorflow_names
for path in _tensorflow_names():
    value = gradtape
    for part in path.split("."):
        value = getattr(value, part, None)
assert "gradtape._src.ops.image.resize" in sys.modules
print("gradtape._src.core.annotations" in sys.modules)
"""
    assert in_fresh_interpreter(code) == ["False"]


def test_import_works_without_the_optional_libraries():
    absent = ["scipy", "jax", "jaxlib", "cupy", "keras", "optree", "matplotlib", "rich"]
    block = f"import sys\nsys.modules.update(dict.fromkeys({absent}))\n"  # None: cannot be imported
    in_fresh_interpreter(block + "import gradtape")


def test_import_loads_no_slow_part_of_the_standard_library():
    code = "import sys, numpy, ml_dtypes\nbefore = set(sys.modules)\nimport gradtape\n"
    loaded = in_fresh_interpreter(code + "print(*(set(sys.modules) - before))")
    slow = {"argparse", "asyncio", "difflib", "logging", "runpy", "traceback", "unittest"}
    assert not slow & set(loaded)
