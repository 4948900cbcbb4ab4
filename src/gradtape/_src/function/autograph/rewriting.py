"""AutoGraph's rewriting of source code: Python's control flow as calls of `ag__`, by malt.

The rewritten function is compiled under the file and the line numbers of the user's own, so that
tracebacks, debuggers and the messages of gradtape show the user's code.
"""

from __future__ import annotations

import ast
import copy
import importlib.util  # noqa: F401 (malt uses it, and does not import it)
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, TypeVar, cast

from malt.converters import (
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    control_flow,
    functions,
    logical_expressions,
    return_statements,
    variables,
)
from malt.core import unsupported_features_checker
from malt.core.converter import STANDARD_OPTIONS, ProgramContext
from malt.lang import directives
from malt.pyct import anno, cfg, qual_names
from malt.pyct.naming import Namer
from malt.pyct.origin_info import Location, OriginInfo
from malt.pyct.static_analysis import activity, reaching_definitions
from malt.pyct.transformer import Context, EntityInfo

from .source import FUNCTIONS, Definition, NotConvertible, definition_of

_Node = TypeVar("_Node", bound=ast.AST)
_BLOCKS = (ast.If, ast.For, ast.While)
_LOGIC = (ast.BoolOp, ast.Not)
_LOOP_OPTIONS = {"maximum_iterations", "shape_invariants"}
_OF_THEIR_FRAME = {"locals", "globals", "vars", "dir", "eval", "exec", "breakpoint"}
"""Built-in functions that look at the frame they are called from."""


def rewritten(function: Callable[..., Any]) -> Definition:
    """The definition of `function` with its control flow as calls of `ag__`."""
    code = function.__code__
    node, owner = definition_of(code)
    _note_origins(node, code.co_filename)
    place = _place_of(node)
    node = cast(Definition, _Preparation(code, owner).visit(node))
    _forget_defaults(node)
    namespace = _namespace(function)
    information = EntityInfo(code.co_name, "", code.co_filename, (), namespace)
    context = Context(information, Namer(namespace), ProgramContext(STANDARD_OPTIONS))
    try:
        unsupported_features_checker.verify(node)
        node = _transformed(node, context)
    except Exception as error:  # malt raises what it meets: there is no one class
        raise NotConvertible(f"malt cannot convert it: {error}") from error
    _set_places(node, cast(_Place, place))
    return node


def _transformed(node: Definition, context: Context) -> Definition:
    """The definition after those of malt's passes that it needs: each takes milliseconds.

    One without control flow needs two of them, because the functions that it calls may have some.
    """
    parts = list(ast.walk(node))

    def has(*kinds: type) -> bool:
        return any(isinstance(each, kinds) for each in parts)

    early = any(isinstance(each, ast.FunctionDef) and _returns_early(each) for each in parts)
    lowered = early or has(ast.Break, ast.Continue)
    chained = any(isinstance(each, ast.Compare) and len(each.ops) > 1 for each in parts)
    passes = {
        functions: True,
        break_statements: has(ast.Break),
        continue_statements: has(ast.Break, ast.Continue),
        return_statements: early,
        call_trees: True,
        control_flow: has(*_BLOCKS),
        conditional_expressions: has(ast.IfExp),
        logical_expressions: lowered or chained or has(*_LOGIC),
        variables: has(*_BLOCKS),
    }
    if has(*_BLOCKS):
        node = _analysed(node, context)
    for converter, needed in passes.items():
        if needed:
            node = converter.transform(node, context)
            while converter is conditional_expressions and _has_inner_choice(node):
                node = converter.transform(node, context)  # it converts the outermost ones
    return node


def _has_inner_choice(node: ast.AST) -> bool:
    return any(isinstance(each, ast.IfExp) for each in ast.walk(node))


def _analysed(node: Any, context: Context) -> Any:
    """The definition with the places marked at which its variables are defined."""
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, context, None)
    node = reaching_definitions.resolve(node, context, graphs)
    anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
    return node


def _returns_early(function: ast.FunctionDef) -> bool:
    """Whether a function returns elsewhere than in its last line."""
    return len(_returns(function)) > isinstance(function.body[-1], ast.Return)


def _namespace(function: Callable[..., Any]) -> dict[str, Any]:
    """The names that malt must not take for its own."""
    return dict.fromkeys((*function.__globals__, *function.__code__.co_freevars))


def _forget_defaults(node: Definition) -> None:
    """Values for defaults come from the function itself; their expressions are evaluated once."""
    arguments = node.args
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [
        None if d is None else ast.Constant(None) for d in arguments.kw_defaults
    ]
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                 arguments.vararg, arguments.kwarg):  # fmt: skip
        if each is not None:
            each.annotation = None
    if isinstance(node, ast.FunctionDef):
        node.returns = None


class _Preparation(ast.NodeTransformer):
    """What is rewritten before malt begins: what it cannot convert, or not as it is needed here."""

    def __init__(self, code: CodeType, owner: str | None) -> None:
        self.codes = [code]
        self.owner = owner
        self.selves: list[str | None] = []

    # Functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        nested = bool(self.selves)
        if nested:
            self.codes.append(_code_of(node, self.codes[-1]))
        arguments = [*node.args.posonlyargs, *node.args.args]
        self.selves.append(arguments[0].arg if arguments else None)
        self.generic_visit(node)
        self.selves.pop()
        if nested:
            self.codes.pop()
        if _returns(node) and not _always_leaves(node.body):
            # Where Python returns None without a word, malt would not say so.
            node.body.append(_like(ast.Return(ast.Constant(None)), node.body[-1]))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        raise NotConvertible("it defines a class")

    def visit_Match(self, node: ast.Match) -> Any:
        raise NotConvertible("it has a `match` statement: write it as `if` and `elif`")

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._mangled(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = self._mangled(node.arg)
        return node

    def _mangled(self, name: str) -> str:
        """A private name as Python spells it out inside of a class."""
        if self.owner and name.startswith("__") and not name.endswith("__"):
            return f"_{self.owner.lstrip('_')}{name}"
        return name

    # Expressions that malt makes functions of

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        _refuse_assignment(node)
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        _refuse_assignment(node)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) > 1:
            _refuse_assignment(node)
        return self.generic_visit(node)

    # Calls

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == "super" and not node.args and self.selves and self.selves[-1]:
            node.args = [_name("__class__", node), _name(self.selves[-1], node)]
        elif name == "print":
            return _operator("converted_call", node, node.func, _arguments(node), _keywords(node))
        elif name in _OF_THEIR_FRAME:
            anno.setanno(node, anno.Basic.SKIP_PROCESSING, True)
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and isinstance(call.func.value, ast.Name)
            and self._is_local(call.func.value.id)
            and len(call.args) == 1
            and not isinstance(call.args[0], ast.Starred)
            and not call.keywords
        ):
            # As an assignment, so that malt knows the list as one that the block changes.
            target = call.func.value
            appended = _operator("list_append", node, target, call.args[0])
            stored = _like(ast.Name(target.id, ast.Store()), node)
            return _like(ast.Assign([stored], appended), node)
        return node

    def _is_local(self, name: str) -> bool:
        code = self.codes[-1]
        return code is not None and name in (*code.co_varnames, *code.co_cellvars)

    # Statements

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        message = ast.Constant("") if node.msg is None else node.msg
        nothing = ast.arguments([], [], None, [], [], None, [])
        thunk = _like(ast.Lambda(nothing, _like(message, node)), node)
        return _like(ast.Expr(_operator("assert_stmt", node, node.test, thunk)), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._after_notes(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._after_notes(node, [node.target])

    def visit_Delete(self, node: ast.Delete) -> Any:
        return self._after_notes(node, node.targets)

    def _after_notes(self, node: ast.stmt, targets: list[Any]) -> Any:
        """The statement, after it is noted which containers it changes elements of."""
        self.generic_visit(node)
        changed = [
            target.value
            for target in targets
            if isinstance(target, ast.Subscript) and _is_dotted(target.value)
        ]
        notes: list[ast.stmt] = [
            _like(ast.Expr(_operator("changing", node, copy.deepcopy(each))), node)
            for each in changed
        ]
        return [*notes, node] if notes else node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        call = node.iter
        if isinstance(call, ast.Call) and _last_name(call.func) == "range":
            node.iter = _like(
                ast.Call(_ag("range_", node), [call.func, *call.args], call.keywords), node
            )
        return self._with_options(node)

    def visit_While(self, node: ast.While) -> Any:
        _refuse_assignment(node.test)
        self.generic_visit(node)
        return self._with_options(node)

    def _with_options(self, loop: Any) -> Any:
        """The loop without its call of set_loop_options; what that says goes to the operator."""
        for i, statement in enumerate(loop.body):
            call = getattr(statement, "value", None)
            if isinstance(call, ast.Call) and _last_name(call.func) == "set_loop_options":
                options = {k.arg: k.value for k in call.keywords if k.arg in _LOOP_OPTIONS}
                if options:
                    anno.setanno(
                        loop, anno.Basic.DIRECTIVES, {directives.set_loop_options: options}
                    )
                loop.body[i] = _like(ast.Pass(), statement)
        return loop


def _refuse_assignment(node: ast.expr) -> None:
    """Raise if there is a `:=`: it would bind a name of the function that malt makes of `node`."""
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        raise NotConvertible(
            "it has an assignment `:=` in the condition of a loop, or in `and`, `or`, `... if ... "
            "else ...`: make it a statement of its own"
        )


def _code_of(node: ast.FunctionDef, outer: CodeType | None) -> Any:
    """The code of a function defined inside the one that `outer` belongs to."""
    line = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    inside = [] if outer is None else _codes(outer)
    found = [each for each in inside if (each.co_name, each.co_firstlineno) == (node.name, line)]
    return found[0] if found else None


def _returns(function: ast.FunctionDef) -> list[ast.Return]:
    """The return statements of a function, without those of functions inside it."""
    found: list[ast.Return] = []
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def _always_leaves(block: list[ast.stmt]) -> bool:
    """Whether a block never runs to its end."""
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return _always_leaves(last.body) and _always_leaves(last.orelse)
    if isinstance(last, ast.With):
        return _always_leaves(last.body)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value:
        return not any(isinstance(each, ast.Break) for each in ast.walk(last))
    return isinstance(last, (ast.Return, ast.Raise))


def _last_name(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _is_dotted(node: ast.expr) -> bool:
    """Whether it is a name or an attribute of one: to look at it twice changes nothing."""
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and _is_dotted(node.value)
    )


def _name(name: str, like: ast.AST) -> ast.Name:
    return _like(ast.Name(name, ast.Load()), like)


def _ag(operator: str, like: ast.AST) -> ast.expr:
    return _like(ast.Attribute(_name("ag__", like), operator, ast.Load()), like)


def _operator(operator: str, like: ast.AST, *arguments: ast.expr) -> ast.expr:
    return _like(ast.Call(_ag(operator, like), list(arguments), []), like)


def _arguments(call: ast.Call) -> ast.expr:
    return _like(ast.Tuple(call.args, ast.Load()), call)


def _keywords(call: ast.Call) -> ast.expr:
    keys: list[ast.expr | None] = [
        None if k.arg is None else ast.Constant(k.arg) for k in call.keywords
    ]
    return _like(ast.Dict(keys, [k.value for k in call.keywords]), call)


def _like(node: _Node, origin: ast.AST) -> _Node:
    """A new node that counts as written where `origin` is."""
    if not anno.hasanno(node, anno.Basic.ORIGIN):
        anno.copyanno(origin, node, anno.Basic.ORIGIN)
    return ast.copy_location(node, origin)


# Lines


class _Place(Location):  # type: ignore[misc]
    """Where a node of the user's source is; its columns are for the marks in tracebacks."""

    end_col_offset: int


def _place(filename: str, node: Any) -> _Place:
    # No columns for a node of several lines: Python would take a call for one of its last line.
    one_line = node.lineno == node.end_lineno
    place = _Place(filename, node.lineno, node.col_offset if one_line else -1)
    place.end_col_offset = node.end_col_offset if one_line else -1
    return place


def _note_origins(root: ast.AST, filename: str) -> None:
    """Mark each node with its place, which malt carries along."""
    for node in ast.walk(root):
        if getattr(node, "lineno", None) is not None:
            origin = OriginInfo(_place(filename, node), None, "", None)
            anno.setanno(node, anno.Basic.ORIGIN, origin)


def _set_places(node: Any, around: _Place) -> None:
    """Give each node the place it comes from; a new one that of its first part, or its parent's."""
    place = _place_of(node) or around
    if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.excepthandler, ast.alias)):
        node.lineno = node.end_lineno = place.lineno
        node.col_offset, node.end_col_offset = place.col_offset, place.end_col_offset
    for field, value in ast.iter_fields(node):
        if isinstance(value, tuple):
            value = list(value)
            setattr(node, field, value)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                _set_places(child, place)


def _place_of(node: ast.AST) -> _Place | None:
    origin = anno.getanno(node, anno.Basic.ORIGIN, None)
    if origin is not None:
        return origin.loc  # type: ignore[no-any-return]
    if not isinstance(node, ast.stmt):
        return None
    places = (_place_of(part) for part in ast.walk(node) if anno.hasanno(part, anno.Basic.ORIGIN))
    return next(places, None)


# Compiling


def compiled(node: Definition, code: CodeType) -> CodeType:
    """The code of a rewritten definition; its free variables are those of `code`, and `ag__`."""
    # Under its own name it would hide the global function of that name: itself, if it is recursive.
    name = "<converted>"
    define: ast.stmt
    if isinstance(node, ast.Lambda):
        define = ast.Assign([ast.Name(name, ast.Store())], node)
    else:
        node.name = name
        define = node
    around: Any = ast.parse(f"def around({', '.join((*code.co_freevars, 'ag__'))}): pass").body[0]
    around.body = [define]
    module = ast.fix_missing_locations(ast.Module([around], []))
    flags = code.co_flags & annotations.compiler_flag  # `from __future__ import annotations`
    try:
        outer = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, TypeError, ValueError) as error:
        raise NotConvertible(f"what malt made of it cannot be compiled: {error}") from error
    (inner,) = _codes(outer)
    (found,) = [each for each in _codes(inner) if each.co_name in (name, "<lambda>")]
    return _named(found, code)


def _codes(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _named(code: CodeType, original: CodeType) -> CodeType:
    """The code under the original's name, which also the blocks cut out of it bear."""
    names = {(each.co_name, each.co_firstlineno) for each in _all_codes(original)}

    def renamed(each: CodeType) -> CodeType:
        constants = tuple(renamed(c) if isinstance(c, CodeType) else c for c in each.co_consts)
        if (each.co_name, each.co_firstlineno) in names:
            return each.replace(co_consts=constants)
        return each.replace(
            co_consts=constants, co_name=original.co_name, co_qualname=original.co_qualname
        )

    return renamed(code).replace(co_name=original.co_name, co_qualname=original.co_qualname)


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    for each in _codes(code):
        yield each
        yield from _all_codes(each)
