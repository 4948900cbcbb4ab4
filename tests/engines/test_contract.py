"""The engines keep the contract, and nothing asks for more than it says."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import gradtape
from gradtape._src.core.engine import Engine
from gradtape._src.engines import contract, windows as common_windows
from gradtape._src.engines.contract import Contract
from gradtape._src.engines.linalg import LinearAlgebra
from gradtape._src.engines.numpy.engine import NumpyEngine, engine as numpy_engine
from gradtape._src.engines.windows import Windows
from gradtape._src.engines.xla.engine import XlaEngine, engine as xla_engine

SOURCE = Path(gradtape.__file__).parent / "_src"
OUTSIDE = [p for p in sorted(SOURCE.rglob("*.py")) if "engines" not in p.parts]
NAMESPACE, SPECIAL = set(contract.NAMESPACE.split()), set(contract.SPECIAL.split())
ENGINES = [NumpyEngine, XlaEngine]


def public(owner):
    return {n: v for n, v in vars(owner).items() if not n.startswith("_")}


DECLARED = public(Engine) | dict.fromkeys(Engine.__annotations__) | public(Contract)


def parameters(function):
    """Names, kinds and defaults, without `self`; annotations are for readers."""
    given = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in given if p.name != "self"]


@pytest.mark.parametrize("engine", ENGINES)
def test_engine_defines_only_what_is_declared(engine):
    for name, member in public(engine).items():
        assert name in DECLARED or name in NAMESPACE | {"matmul"}, f"{name} is not in the contract"
        if name in DECLARED and inspect.isfunction(member):
            assert parameters(member) == parameters(DECLARED[name]), name


@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_engine_defines_of_the_namespace_takes_what_numpy_takes(engine):
    for name in NAMESPACE & set(public(engine)) - {"where", "einsum"}:  # any number of arrays
        known = list(inspect.signature(getattr(np, name)).parameters)
        own = parameters(public(engine)[name])
        options = [p for p, _, default in own if default is not inspect.Parameter.empty]
        assert set(options) <= set(known), name


PARTS = [
    (LinearAlgebra, numpy_engine.matrices),
    (LinearAlgebra, xla_engine.matrices),
    (Windows, numpy_engine.windows),
    (Windows, xla_engine.windows),
]


@pytest.mark.parametrize("declared, part", PARTS)
def test_part_of_an_engine_defines_only_what_is_declared(declared, part):
    assert isinstance(part, declared)
    for name, method in public(type(part)).items():
        assert parameters(method) == parameters(public(declared)[name]), name


def test_default_of_linear_algebra_on_the_host_is_for_other_eager_engines_only():
    asked = {n for n, f in public(LinearAlgebra).items() if "_on_host" in f.__code__.co_names}
    assert asked >= {"lu", "expm", "triangular_solve"}
    for engine in (numpy_engine, xla_engine):
        assert asked <= set(vars(type(engine.matrices)))


def test_windows_on_xla_are_not_written():
    used = {"convolution", "input_gradient", "filter_gradient"}  # which XLA does itself
    assert set(public(Windows)) - used <= set(vars(type(xla_engine.windows)))


def test_numpy_defines_what_others_ask_of_it():
    asked = {n for n, f in public(Contract).items() if inspect.isfunction(f) and n != "on_host"
             and "host" in f.__code__.co_names}  # fmt: skip
    assert asked == {"special_function", "isotonic", "dct"}
    assert asked <= set(vars(NumpyEngine))


def test_xla_asks_for_no_value():
    """A default that copies to the host, or raises by values, is none for a compiled engine."""
    host = {"special_function", "isotonic", "dct"}
    values = {"valid_indices", "segment_places", "finite_or_error", "call_unless", "call_python"}
    writes = {"write_at", "make_complex", "pad_constant", "overlap_add", "index_add"}
    assert host | values | writes | {"generator", "seeded_generator", "windows", "matrices"} <= set(
        vars(XlaEngine)
    )


def asked_of_xp():
    """The members that the code asks of an engine: name, and where."""
    for path in OUTSIDE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and is_engine(node.value):
                yield node.attr, f"{path.relative_to(SOURCE)}:{node.lineno}"


def is_engine(node):
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("common_engine", "engine_of")
    return isinstance(node, ast.Name) and node.id in ("xp", "engine")


def test_what_is_asked_of_an_engine_is_declared():
    known = NAMESPACE | set(DECLARED)
    assert [f"{place}: {name}" for name, place in asked_of_xp() if name not in known] == []


def test_namespace_lists_what_is_used():
    used = {name for name, _ in asked_of_xp()}
    assert NAMESPACE - used == set()
    assert {n for n in NAMESPACE if not hasattr(np, n)} == set()


def test_parts_have_what_is_asked_of_them():
    for path in OUTSIDE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=ast.Attribute(value=ast.Name(id="xp"), attr="matrices")):
                    assert hasattr(LinearAlgebra, node.attr), f"{path}:{node.lineno}"
                case ast.Attribute(value=ast.Attribute(value=ast.Name(id="xp"), attr="windows")):
                    assert hasattr(Windows, node.attr), f"{path}:{node.lineno}"
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="xp"), attr="special"),
                    args=[ast.Constant(value=name), *_],
                ):
                    assert name in SPECIAL, f"{path}:{node.lineno}"


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_engines_have_the_special_function(name):
    for engine in (numpy_engine, xla_engine):
        assert callable(engine.special_function(name))


def test_nothing_asks_for_the_name_of_an_engine():
    asking = [place for name, place in asked_of_xp() if name == "name"]
    assert asking == []


@pytest.mark.parametrize("owner", [Engine, Contract, LinearAlgebra, Windows])
def test_every_member_says_what_it_must_do(owner):
    shared = {"convolution", "input_gradient", "filter_gradient"} if owner is Windows else set()
    methods = {n: v for n, v in public(owner).items() if callable(v) or hasattr(v, "func")}
    silent = [n for n, v in methods.items() if not v.__doc__ and n not in shared]
    assert silent == []


@pytest.mark.parametrize("groups, share", [(1, 3), (2, 2), (4, 1)])
@pytest.mark.parametrize(
    "stride, dilation, padding", [(1, 1, (0, 0)), (2, 1, (1, 2)), (1, 2, (-1, 1))]
)
def test_common_convolution_is_that_of_numpy(groups, share, stride, dilation, padding):
    r = np.random.default_rng(0)
    x, filters = r.normal(size=(2, 7, 8, 4)), r.normal(size=(2, 3, 4 // groups, groups * share))
    geometry = {"strides": (stride,) * 2, "dilations": (dilation,) * 2, "padding": (padding,) * 2}
    common = common_windows.Windows(numpy_engine)
    y = numpy_engine.convolution(x, filters, groups=groups, **geometry)
    np.testing.assert_allclose(common.convolution(x, filters, groups=groups, **geometry), y)
    dy = r.normal(size=y.shape)
    np.testing.assert_allclose(
        common.input_gradient(dy, filters, (7, 8), groups=groups, **geometry),
        numpy_engine.convolution_input_gradient(
            dy, filters, size=(7, 8), groups=groups, **geometry
        ),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        common.filter_gradient(x, dy, (2, 3), groups=groups, **geometry),
        numpy_engine.convolution_filter_gradient(x, dy, kernel=(2, 3), groups=groups, **geometry),
        atol=1e-12,
    )
