"""What imports what: the layers inside gradtape, and the libraries that `import gradtape` loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape

SOURCE = Path(gradtape.__file__).parent

# Each layer imports only itself and the layers before it. A module or package that is not named
# here is a public namespace (math, nn ...).
NAMESPACES = "public namespaces"
LAYERS = [
    ["_version", "_missing", "_later", "alias"],
    ["core"],
    ["engines"],
    ["ops"],
    ["tape"],
    ["function"],
    ["train"],
    ["distribute"],
    ["keras"],
    ["inspect"],
    ["testing"],
    [NAMESPACES],
    ["__init__"],
    ["_info", "_run", "cli", "__main__"],
]
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}


def height(part):
    return HEIGHT.get(part, HEIGHT[NAMESPACES])


def upward_imports(source):
    """The imports of a layer by a lower one, as texts; `source` is the folder of the package."""
    found = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for part in parts_imported(node, place, source):
                if height(part) > height(place[0]):
                    line = f"{path.relative_to(source)}:{node.lineno}"
                    found.append(f"{line}: {place[0]} imports {part}")
    return found


def parts_imported(node, place, source):
    """The modules and packages right below gradtape that the statement `node` imports."""
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
    return [part_of(module, source) for module in modules if module.split(".")[0] == "gradtape"]


def part_of(module, source):
    """`gradtape.ops.x` -> ops; a name that is no module comes from gradtape/__init__.py."""
    part = module.split(".")[1] if "." in module else "__init__"
    exists = (source / part).is_dir() or (source / f"{part}.py").is_file()
    return part if exists else "__init__"


def test_imports_point_one_way():
    assert upward_imports(SOURCE) == []


@pytest.mark.parametrize(
    "path, statement, upward",
    [
        ("core/a.py", "import gradtape.ops.b", "core imports ops"),
        ("core/a.py", "from gradtape.ops import b", "core imports ops"),
        ("core/a.py", "from gradtape.engines import numpy", "core imports engines"),
        ("core/a.py", "from gradtape import ops", "core imports ops"),
        ("core/a.py", "from gradtape import constant", "core imports __init__"),
        ("core/a.py", "import gradtape", "core imports __init__"),
        ("core/a.py", "from .. import ops", "core imports ops"),
        ("core/a.py", "from ..ops.b import c", "core imports ops"),
        ("core/__init__.py", "from ..ops.b import c", "core imports ops"),
        ("core/sub/a.py", "from ...ops import b", "core imports ops"),
        ("core/a.py", "def f():\n    from ..ops import b", "core imports ops"),
        ("ops/b.py", "from gradtape.math import log", "ops imports math"),
        ("math.py", "from . import log", "math imports __init__"),
        ("__init__.py", "from .cli import main", "__init__ imports cli"),
        ("core/a.py", "from . import b", None),
        ("core/a.py", "import math", None),
        ("ops/b.py", "from ..core import a", None),
        ("ops/b.py", "from gradtape.engines import numpy", None),
        ("math.py", "from .ops import b", None),
        ("__init__.py", "from . import math", None),
        ("cli.py", "import gradtape", None),
    ],
)
def test_the_test_finds_an_upward_import(tmp_path, path, statement, upward):
    names = ["core/a.py", "core/b.py", "engines/numpy.py", "ops/b.py", "math.py", "cli.py"]
    for name in [*names, "__init__.py", path]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / path).write_text(statement)
    found = [line.partition(": ")[2] for line in upward_imports(tmp_path)]
    assert found == ([upward] if upward else [])


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


def test_import_works_without_the_optional_libraries():
    absent = ["scipy", "jax", "jaxlib", "cupy", "keras", "optree", "matplotlib", "rich"]
    block = f"import sys\nsys.modules.update(dict.fromkeys({absent}))\n"  # None: cannot be imported
    in_fresh_interpreter(block + "import gradtape")


def test_import_loads_no_slow_part_of_the_standard_library():
    code = "import sys, numpy, ml_dtypes\nbefore = set(sys.modules)\nimport gradtape\n"
    loaded = in_fresh_interpreter(code + "print(*(set(sys.modules) - before))")
    assert not {"argparse", "asyncio", "difflib", "runpy", "unittest"} & set(loaded)
