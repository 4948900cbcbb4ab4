"""The exception tree is the one that its docstring draws."""

import inspect
import pickle
import re

import pytest

from gradtape._src.core import errors

CLASSES = {
    n: c for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, BaseException)
}
CODES = {n: c for n, c in vars(errors).items() if n.isupper()}


def drawn():
    """The lines of the drawing: depth, name and the built-in bases in parentheses."""
    for line in errors.__doc__.splitlines():
        match = re.match(r"^    ([│├└─ ]*)(\w+)(?:\((.*?)\))?(?: |$)", line)
        if match:
            bases = [b.strip() for b in (match[3] or "").split(",")]
            yield len(match[1]) // 4, match[2], [b for b in bases if b.isidentifier()]


def test_every_class_is_drawn_once():
    assert sorted(name for _, name, _ in drawn()) == sorted(CLASSES)


def test_each_stands_below_its_base_and_is_the_built_in_it_says():
    path = []
    for depth, name, bases in drawn():
        del path[depth:]
        kind = CLASSES[name]
        if path:
            assert CLASSES[path[-1]] in kind.__bases__, name
        for base in bases:
            assert issubclass(kind, vars(__import__("builtins"))[base]), (name, base)
        path.append(name)


@pytest.mark.parametrize("kind", CLASSES.values())
def test_each_is_documented_and_keeps_its_text(kind):
    assert kind.__doc__
    assert str(kind("op: what is wrong.")) == "op: what is wrong."
    if issubclass(kind, errors.OpError):
        assert kind("text").message == "text"


def test_a_wrong_shape_is_a_value_error_and_a_wrong_dtype_a_type_error_too():
    assert issubclass(errors.ShapeError, ValueError)
    assert issubclass(errors.DTypeError, (ValueError, TypeError))
    assert issubclass(errors.SymbolicTensorError, AttributeError)


def test_the_codes_are_those_of_tensorflow():
    assert sorted(CODES.values()) == list(range(17))
    assert (errors.OK, errors.INVALID_ARGUMENT, errors.UNAUTHENTICATED) == (0, 3, 16)


def code_name(kind):
    """INVALID_ARGUMENT for InvalidArgumentError."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__.removesuffix("Error")).upper()


@pytest.mark.parametrize("name", [n for n in CODES if n != "OK"])
def test_each_code_has_its_class(name):
    (kind,) = [c for c in CLASSES.values() if code_name(c) == name]
    assert kind.error_code == CODES[name]
    assert kind("text").error_code == CODES[name]


@pytest.mark.parametrize(
    "kind", [c for c in CLASSES.values() if issubclass(c, errors.OpError)], ids=lambda c: c.__name__
)
def test_tensorflows_constructor(kind):
    error = kind("node", "op", "what is wrong")
    assert (error.node_def, error.op, error.message) == ("node", "op", "what is wrong")
    assert str(error) == "what is wrong"
    by_name = kind(node_def=None, op=None, message="text")
    assert (by_name.node_def, by_name.op, by_name.message) == (None, None, "text")
    for each in (error, by_name, kind("alone")):
        again = pickle.loads(pickle.dumps(each))
        assert type(again) is kind and vars(again) == vars(each)
        assert (again.message, again.error_code) == (each.message, each.error_code)


def test_an_op_error_takes_its_code():
    error = errors.OpError(None, None, "text", errors.ABORTED)
    assert error.error_code == errors.ABORTED
    assert pickle.loads(pickle.dumps(error)).error_code == errors.ABORTED
    fixed = errors.InvalidArgumentError(None, None, "text", "more", "and more")
    assert fixed.error_code == errors.INVALID_ARGUMENT


def test_the_truth_of_a_symbolic_tensor_is_tensorflows_error():
    assert issubclass(errors.SymbolicTensorError, errors.OperatorNotAllowedInGraphError)
