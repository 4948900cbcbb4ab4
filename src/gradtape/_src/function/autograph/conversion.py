"""AutoGraph: a Python function with its control flow converted, so that tensors can decide.

`converted(f)` is `f` with `if`, `while`, `for`, `break`, `continue`, `return`, `and`, `or`, `not`,
`assert`, `print` and `list.append` as calls of operators, which do what Python does wherever the
values are known. So are the user's functions that it calls, when it calls them.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import os
import sysconfig
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from types import CodeType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ...core import nest
from ...core.errors import InvalidArgumentError, SymbolicTensorError
from ...core.tensor import Tensor
from ...core.tracebacks import PACKAGE
from ...core.tracing import current_graph
from ...ops.array.cast import cast
from ...ops.array.joining import stack
from ...ops.math.reduction import reduce_all, reduce_any, reduce_max, reduce_min
from ...tape.scopes import get_logger
from ..lines import user_line
from . import containers, iterated, loops, operators
from .source import NotConvertible

_MARK = "_autograph_done"
"""The attribute of functions that are not to be converted: they are, or must not be."""


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with its control flow converted; as it is, if that cannot be."""
    _requested.add(_package_of(function))
    return _converted(function)


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """A decorator: the function stays as it is when a compiled function calls it."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return _marked(unconverted)


def source_of(function: Callable[..., Any]) -> str:
    """The source code of a function after its conversion."""
    import ast

    from .rewriting import rewritten

    return ast.unparse(ast.fix_missing_locations(rewritten(_python_function(function))))


def _marked(function: Any) -> Any:
    """The function, not to be converted (again)."""
    target = function.__func__ if inspect.ismethod(function) else function
    setattr(target, _MARK, True)
    return function


# Converting


class _Conversion(NamedTuple):
    code: CodeType | None
    reason: str  # why there is none


_conversions: WeakKeyDictionary[CodeType, _Conversion] = WeakKeyDictionary()
_lock = RLock()


def _converted(function: Any) -> Callable[..., Any]:
    if getattr(function, _MARK, False):
        return function  # type: ignore[no-any-return]
    if isinstance(function, functools.partial):
        return functools.partial(_converted(function.func), *function.args, **function.keywords)
    if inspect.ismethod(function):
        return types.MethodType(_converted(function.__func__), function.__self__)
    if inspect.isfunction(function):
        return _converted_function(function)
    call = _call_of(function)
    if inspect.isfunction(call) and _is_users(call.__code__.co_filename):
        return types.MethodType(_converted_function(call), function)
    return function  # type: ignore[no-any-return]


def _call_of(instance: Any) -> Any:
    """The function behind `instance(...)`."""
    return getattr(type(instance), "__call__", None)  # noqa: B004


def _converted_function(function: Any) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function):
        return _explaining(function, "it is a generator, which gives its values one at a time")
    if inspect.iscoroutinefunction(function):
        return function  # type: ignore[no-any-return]
    conversion = _conversion_of(function)
    if conversion.code is None:
        return _explaining(function, conversion.reason)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells["ag__"] = types.CellType(_NAMESPACE)
    closure = tuple(cells[name] for name in conversion.code.co_freevars)
    result = types.FunctionType(
        conversion.code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__ = function.__qualname__
    result.__module__ = function.__module__
    result.__doc__ = function.__doc__
    return _marked(result)  # type: ignore[no-any-return]


def _conversion_of(function: Any) -> _Conversion:
    code = function.__code__
    with _lock:
        conversion = _conversions.get(code)
        if conversion is None:
            conversion = _conversions[code] = _convert(function)
            if conversion.code is None:
                get_logger().debug(
                    "AutoGraph leaves %s as it is: %s.", function.__qualname__, conversion.reason
                )
    return conversion


def _convert(function: Any) -> _Conversion:
    try:
        from .rewriting import compiled, rewritten
    except ImportError:
        return _Conversion(
            None, "the package diastatic-malt is not installed (pip install diastatic-malt)"
        )
    try:
        return _Conversion(compiled(rewritten(function), function.__code__), "")
    except NotConvertible as error:
        return _Conversion(None, str(error))


_OF_STATEMENTS = ("if, while", "An index needs", "range: ")
"""How errors begin of `if`, `while` and `for i in range(...)` that are not converted."""


def _explaining(function: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """A function that was not converted. If a tensor has to decide in it, its error says so."""

    @contextmanager
    def explained() -> Iterator[None]:
        try:
            yield
        except SymbolicTensorError as error:
            if str(error).startswith(_OF_STATEMENTS) and "AutoGraph" not in str(error):
                name = getattr(function, "__qualname__", function)
                error.args = (f"{error} AutoGraph left {name} as it is: {reason}.",)
            raise

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        with explained():
            return function(*args, **kwargs)

    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Any:
        with explained():
            return (yield from function(*args, **kwargs))

    return _marked(generator if inspect.isgeneratorfunction(function) else plain)  # type: ignore[no-any-return]


def _python_function(function: Any) -> Any:
    function = getattr(function, "python_function", function)
    return function.__func__ if inspect.ismethod(function) else function


# Whose code is converted


_STANDARD = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib"))
_requested: set[str] = set()
"""Installed packages that compile functions of their own."""


@functools.lru_cache(maxsize=4096)
def _installed_package(filename: str) -> str:
    """The package in site-packages that a file belongs to; "" if it is not installed."""
    for folder in ("site-packages", "dist-packages"):
        before, found, after = filename.partition(f"{os.sep}{folder}{os.sep}")
        if found:
            return before + found + after.split(os.sep)[0]
    return ""


def _package_of(function: Any) -> str:
    code = getattr(_python_function(function), "__code__", None)
    return "" if code is None else _installed_package(code.co_filename)


def _is_users(filename: str) -> bool:
    """Whether the functions of a file are converted: not those of gradtape and other libraries."""
    if filename.startswith((PACKAGE, "<frozen")):
        return False
    package = _installed_package(filename)
    if package:
        return package in _requested
    return not filename.startswith(_STANDARD)


# Calls


def converted_call(f: Any, args: tuple[Any, ...], kwargs: Any, scope: Any = None) -> Any:
    """`f(*args, **kwargs)`, with `f` converted if it is a function of the user's."""
    kwargs = kwargs or {}
    special = _SPECIAL.get(id(f))
    if special is not None:
        return special(*args, **kwargs)
    if isinstance(f, type) or getattr(f, _MARK, False):
        return f(*args, **kwargs)
    if isinstance(f, functools.partial):
        return converted_call(f.func, (*f.args, *args), {**f.keywords, **kwargs})
    if hasattr(type(f), "remade"):
        return _handed_over(f)(*args, **kwargs)
    code = _code_called(f)
    if code is None:
        containers.calling(f)
        return f(*args, **kwargs)
    if _is_users(code.co_filename):
        return _converted(f)(*args, **kwargs)
    if code.co_filename.startswith(PACKAGE):
        f = _handed_over(f)
        args = tuple(map(_handed_over, args))
        kwargs = {name: _handed_over(value) for name, value in kwargs.items()}
    return f(*args, **kwargs)


def _code_called(f: Any) -> CodeType | None:
    """The code that a call of `f` runs, if it is Python's."""
    function = f.__func__ if inspect.ismethod(f) else f
    if not inspect.isfunction(function):
        function = _call_of(f)
    return function.__code__ if inspect.isfunction(function) else None


def _handed_over(value: Any, within: tuple[Any, ...] = ()) -> Any:
    """What gradtape is handed to call, converted: it calls it from here.

    So is what something of gradtape's was handed when it was made and wraps, as `grad(f)` does `f`;
    `within` is what is looked into on the way to it.
    """
    change = functools.partial(_handed_over, within=(*within, value))
    if isinstance(value, functools.partial):
        return functools.partial(change(value.func), *value.args, **value.keywords)
    if hasattr(type(value), "remade"):  # a function of the user's inside one of ours
        return value.remade(change)
    function = value.__func__ if inspect.ismethod(value) else value
    if not inspect.isfunction(function) or getattr(function, _MARK, False):
        return value
    filename = function.__code__.co_filename
    if _is_users(filename):
        return _converted(value)
    wraps = function is value and hasattr(function, "__wrapped__")
    if not wraps or not filename.startswith(PACKAGE):
        return value
    before = function.__closure__ or ()
    cells = tuple([_converted_cell(cell, change, within) for cell in before])
    if all([new is old for new, old in zip(cells, before, strict=True)]):
        return function
    result = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return functools.wraps(function)(result)


def _converted_cell(
    cell: types.CellType, change: Callable[[Any], Any], within: tuple[Any, ...]
) -> types.CellType:
    """The cell itself, which others may share, unless what is in it has to be converted."""
    try:
        held = cell.cell_contents
    except ValueError:  # it is empty
        return cell
    if any([held is each for each in within]):  # a function that calls itself holds itself
        return cell
    new = change(held)
    return cell if new is held else types.CellType(new)


# Built-in functions of tensors


def _holds_symbolic(values: Any) -> bool:
    return any(operators.symbolic(leaf) is not None for leaf in nest.flatten(values))


def print_(*values: Any, **options: Any) -> None:
    """`print`; of tensors whose values only the program knows, each time that it runs."""
    leaves = nest.flatten(list(values))
    symbols = [operators.symbolic(leaf) for leaf in leaves]
    tensors = [x for x in symbols if x is not None]
    if not tensors:
        print(*values, **options)
        return

    def show(*arrays: Any) -> None:
        given = iter(arrays)
        shown = [
            leaf if x is None else Tensor(next(given))
            for leaf, x in zip(leaves, symbols, strict=True)
        ]
        print(*nest.pack_sequence_as(list(values), shown), **options)

    current_graph().at_run_time(show, *[x._array for x in tensors])


def assert_stmt(condition: Any, message: Callable[[], Any]) -> None:
    """`assert condition, message()`; of a tensor, each time that the program runs."""
    tensor = operators.symbolic(condition)
    if tensor is None:
        if not condition:
            raise AssertionError(*filter(None, [message()]))
        return
    where, text = user_line(), str(message())

    def check(value: Any) -> None:
        if not value:
            raise InvalidArgumentError(f"{where}: assertion failed. {text}".rstrip())

    current_graph().at_run_time(check, operators.truth(tensor)._array)


def list_append(target: Any, value: Any) -> Any:
    """`target.append(value)`; the target."""
    converted_call(target.append, (value,), None)
    return target


def _number(kind: Callable[..., Any], dtype: str) -> Callable[..., Any]:
    def convert(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and operators.symbolic(args[0]) is not None:
            return cast(args[0], dtype)
        return kind(*args, **options)

    return convert


def _reduction(function: Callable[..., Any], reduce: Callable[..., Any]) -> Callable[..., Any]:
    """`any`, `all`, `max` or `min`, of one tensor or of several scalars."""

    def reduced(*args: Any, **options: Any) -> Any:
        if options or not _holds_symbolic(args):
            return function(*args, **options)
        values = args[0] if len(args) == 1 else stack(args)
        return reduce(values)

    return reduced


_SPECIAL: dict[int, Callable[..., Any]] = {
    id(function): operator
    for function, operator in (
        (builtins.print, print_),
        (builtins.enumerate, iterated.enumerate_),
        (builtins.zip, iterated.zip_),
        (builtins.next, iterated.next_),
        (builtins.sorted, iterated.sorted_),
        (builtins.int, _number(int, "int32")),
        (builtins.float, _number(float, "float32")),
        (builtins.bool, _number(bool, "bool")),
        (builtins.max, _reduction(max, reduce_max)),
        (builtins.min, _reduction(min, reduce_min)),
        (builtins.any, _reduction(any, reduce_any)),
        (builtins.all, _reduction(all, reduce_all)),
        (stack, iterated.stack_),
    )
}

_OPERATORS = (
    operators.FunctionScope, operators.with_function_scope, operators.Undefined,
    operators.UndefinedReturnValue, operators.ld, operators.ldu, operators.and_, operators.or_,
    operators.not_, operators.if_stmt, operators.if_exp, loops.for_stmt, loops.while_stmt,
    iterated.range_, converted_call, list_append, assert_stmt, containers.changing,
)  # fmt: skip

_NAMESPACE = types.SimpleNamespace(
    STD=None, autograph_artifact=_marked, **{each.__name__: each for each in _OPERATORS}
)
"""What converted code knows as `ag__`."""
