"""Op: a kernel and its rules, declared whole in one place; the declarator `op`; the registry.

The signature of a kernel is the op's schema: after `xp`, the engine of the arrays, positional
parameters are tensors and keyword-only parameters are static. A rule is a function whose parameters
are named after what it needs: `g` (the cotangent of the output) first, then `out`, tensor
arguments and static parameters. The rule of a variadic argument (`*values`, the last) begins with
`g, index`: it serves each of the tensors, and `index` says which; `values` is the tuple of all.
What no rule names is not kept on a tape; a tensor annotated `Spec` in a rule is kept as its shape
and dtype only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from . import dtypes as dt
from .engine import Engine, common_engine, engine_of
from .errors import Error, InvalidArgumentError, NoGradientError
from .pattern import Pattern
from .spec import spec_of

registry: dict[str, Op] = {}


class Keep(Enum):
    """What a rule needs of an argument or output."""

    VALUE = "value"
    SPEC = "spec"
    SPEC_IF_BROADCAST = "spec if broadcast"  # only when its shape is not that of the output


class Rule(NamedTuple):
    """A gradient rule: `pull(g, saved, params)`, and what it needs of each slot of `saved`."""

    pull: Callable[[Any, Any, Any], Any]
    keeps: dict[int, Keep]


@cache
def keeper(plan: tuple[Keep | None, ...]) -> Callable[..., tuple[Any, ...]]:
    """The function that keeps, of the inputs and the output of an op, what `plan` says.

    It is written as text and compiled once for each plan, as those of a named tuple are: deciding
    anew at each call took half of the time that a record takes.
    """
    names = [*(f"x{i}" for i in range(len(plan) - 1)), "out"]
    terms = {
        None: "None",
        Keep.VALUE: "{0}",
        Keep.SPEC: "spec({0})",
        Keep.SPEC_IF_BROADCAST: "None if {0}._array.shape == out._array.shape else spec({0})",
    }
    source = f"({', '.join(terms[k].format(n) for n, k in zip(names, plan, strict=True))},)"
    if set(plan) == {None, Keep.SPEC_IF_BROADCAST}:  # most often nothing: a tuple less to make
        whole = [f"{n}._array.shape" for n, k in zip(names, plan, strict=True) if k is not None]
        same = " == ".join([*whole, "out._array.shape"])
        source = f"{(None,) * len(plan)} if {same} else {source}"
    function = eval(f"lambda {', '.join(names)}: {source}", {"spec": spec_like})
    return function  # type: ignore[no-any-return]


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """The outputs of an op, or their cotangents, as a tuple, also if there is only one."""
    return outputs if type(outputs) is tuple else (outputs,)


def spec_like(value: Any) -> Any:
    """The Spec of a tensor; of a tuple of tensors, the tuple of their Specs."""
    return tuple(map(spec_like, value)) if type(value) is tuple else spec_of(value._array)


class Op:
    """One operation. Made by the declarators of `gradtape._src.ops.declare`, once, at import.

    What may be declared. Arguments are given by their names, as a list or in one string; "all" is
    all of them.

    =============== =========================== ====================================================
    property        if not given                meaning
    =============== =========================== ====================================================
    `kernel`                                    the decorated function: see the head of this module
    `name`          that of the kernel          how records and errors call it; unique
    `nondiff`       none                        arguments whose gradient has no meaning: None
    `zero`          none                        arguments whose gradient is defined, and zero
    `linear`        none                        arguments in which it is linear, the others fixed:
                                                forward mode runs the op on the tangent
    `additive`      no                          linear in all its arguments together, as concat is
    `dtypes`        any                         the dtypes that the `alike` arguments may have
    `alike`         those with a gradient       arguments that must have one dtype, of `dtypes`
    `result`        the same                    function from the dtype of the last argument to that
                                                of the result; for the families, which know shapes
    `samples`       by the family               function of a random generator that gives the pairs
                                                (tensors, params) that `check_op` runs it on
    `domain`        (-2, 2) each                for arguments of an elementwise op without samples,
                                                the interval that its test inputs come from
    `reference`     none                        function of NumPy arrays that must give the same
    `of_strings`    none                        function of two tensors of strings that a binary op
                                                is for them
    `builtin`       none                        built-in function that does what the kernel does, on
                                                every engine: it saves a Python call, 0.1 µs
    `pattern`       all on all                  which outputs depend on which inputs, for sparse
                                                Jacobians: see `core/pattern.py`
    `in_order`      no                          its elements are those of its argument, in the same
                                                order
    `in_blocks`     no                          its elements are made of elements of the arguments,
                                                which broadcast: an engine may run the kernel on
                                                parts of large arrays
    `work`          elements of all tensors     function of the tensors, the output and the static
                                                parameters: what a call costs, in multiplications,
                                                each with its addition; or in elements looked at
    `batch_axes`    no rule, until `batch`      for an op of one tensor that takes leading axes as a
                                                batch: its static parameters that count axes, which
                                                are one larger with a batch axis; `()` for none
    `passes_slices` no                          its rules take IndexedSlices as `g`
    `fills_missing` yes                         the cotangents of unused outputs come as zeros, else
                                                as None
    =============== =========================== ====================================================

    Declared afterwards: `vjp` (the gradient by one argument; also `set_rule`), `rows` (the Jacobian
    by one argument, where that takes less than a pull for each row), `batch` and `spec`. An
    elementwise op also has `diagonal`: for each argument the rule before its cotangent is summed
    back to the shape of the argument, which is its Jacobian's diagonal times `g`.
    """

    def __init__(
        self,
        kernel: Callable[..., Any],
        *,
        name: str | None = None,
        nondiff: Iterable[str] | str = (),
        zero: Iterable[str] | str = (),
        linear: Iterable[str] | str = (),
        additive: bool = False,
        dtypes: frozenset[np.dtype[Any]] = dt.ANY,
        alike: Iterable[str] | str | None = None,
        result: Callable[[np.dtype[Any]], Any] | None = None,
        samples: Callable[[Any], list[Any]] | None = None,
        domain: dict[str, Any] | None = None,
        reference: Callable[..., Any] | None = None,
        of_strings: Callable[[Any, Any], Any] | None = None,
        builtin: Callable[..., Any] | None = None,
        pattern: Pattern = None,
        in_order: bool = False,
        in_blocks: bool = False,
        work: Callable[..., float] | None = None,
        batch_axes: Iterable[str] | str | None = None,
        passes_slices: bool = False,
        fills_missing: bool = True,
        **unknown: Any,
    ) -> None:
        self.name = name or kernel.__name__.strip("_")
        self.kernel = kernel
        self.builtin = builtin
        self.of_strings = of_strings
        parameters = parameters_of(kernel)
        self.takes_engine = parameters.positional[:1] == ("xp",)
        self.arguments = parameters.positional[self.takes_engine :]
        self.variadic = parameters.variadic is not None
        if parameters.variadic is not None:
            self.arguments += (parameters.variadic,)
        self.static = parameters.keyword
        self.slots = (*self.arguments, "out")
        self.nondiff = self._arguments(nondiff)
        self.zero = self._arguments(zero)
        self.linear = self._arguments(linear)
        self.additive = additive
        self.diagonal: dict[str, Callable[[Any, Any, Any], Any]] = {}
        self.all_rows: dict[str, Callable[[Any, Any, Any], Any]] = {}
        self.push = None  # as a JointOp may have it
        self.dtypes = dtypes
        same = frozenset(self.arguments) - self.nondiff if alike is None else self._arguments(alike)
        self.alike = tuple(i for i, a in enumerate(self.arguments) if a in same)
        self.samples = samples
        self.reference = reference
        self.passes_slices = passes_slices
        self.fills_missing = fills_missing
        self.domain = domain or {}
        self.result = result or (lambda dtype: dtype)
        self.work = work or _touched
        self.multiplies = work is not None
        self.pattern = pattern
        self.in_order = in_order
        self.in_blocks = in_blocks
        self.differentiable = self.nondiff != frozenset(self.arguments)
        self.call: Callable[..., Any]
        self.rules: dict[str, Rule] = {}
        self.kernels: dict[type, Callable[..., Any]] = {}  # bound to the engine of an array type
        self.batch_rule: Callable[..., Any] | None = None
        if batch_axes is not None:
            self.batch_rule = partial(self._move_axes, self._names(batch_axes, self.static))
        self.spec_rule: Callable[..., Any] | None = None
        self._keepers: dict[tuple[int, ...], Callable[..., tuple[Any, ...]] | None] = {}
        self.pulls = self._collect_pulls()
        self._check(unknown)
        registry[self.name] = self

    def _arguments(self, names: Iterable[str] | str) -> frozenset[str]:
        known = self.arguments
        return frozenset(known if names == "all" else self._names(names, known))

    def _names(self, names: Iterable[str] | str, known: Iterable[str]) -> list[str]:
        listed = names.replace(",", " ").split() if isinstance(names, str) else list(names)
        self._check_names(listed, known)
        return listed

    def _move_axes(self, names: list[str], batched: set[str], x: Any, **params: Any) -> Any:
        """The op where `x` has a batch axis, axis 0: the axes in the parameters `names` follow."""
        for name in names:
            axes = params[name]
            params[name] = tuple([a + 1 for a in axes]) if type(axes) is tuple else axes + 1
        return self.call(x, **params)

    def _check(self, unknown: dict[str, Any]) -> None:
        """Refuse a declaration that cannot be meant."""
        both = self.nondiff & (self.zero | self.linear) or self.zero & self.linear
        faults = {
            f"there is neither a property nor an argument {', '.join(map(repr, unknown))}": unknown,
            f"`{', '.join(both)}` can be one of nondiff, zero and linear only": both,
            "it is additive, so each of its arguments has a gradient": self.additive
            and (self.nondiff or self.zero or self.linear),
            "it takes no dtype": not self.dtypes,
            "batch_axes is for ops of one tensor": self.batch_rule
            and (self.variadic or len(self.arguments) > 1),
            "a built-in function takes no static parameters": self.builtin and self.static,
            "its samples are given, so no domain is needed": self.samples and self.domain,
            "there is an op of this name already": self.name in registry,
        }
        self._check_names(self.domain, self.arguments)
        for fault, found in faults.items():
            if found:
                raise TypeError(f"The declaration of {self.name}: {fault}.")

    outputs: list[int] | None = None
    """None: the record takes the keys of this call's outputs."""

    # Declaring the rules

    def vjp(self, argument: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare the gradient with respect to `argument`: a function of `g` and what it names."""
        self._check_names([argument], self.arguments)

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            rule = self.make_rule(function, self.is_variadic(argument))
            for known, what in (
                (self.nondiff, "it is nondiff"),
                (self.rules, "it has one already"),
            ):
                if argument in known:
                    raise TypeError(f"{self.name}: a gradient rule for `{argument}`, but {what}.")
            self.set_rule(argument, rule)
            return function

        return declare

    def batch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the op where the arguments named in `batched` have a batch axis, axis 0."""
        self.batch_rule = function
        return function

    def rows(self, argument: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare the Jacobian by `argument`: its rows, one for each element of the output.

        A function of `g`, which holds a factor for each row, and of what the gradient rule of the
        argument names: it gives the rows along axis 0, or None where they are not at hand.
        """
        self._check_names([argument], self.rules)

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            pull, keeps = self.make_rule(function)
            if not keeps.keys() <= self.rules[argument].keeps.keys():
                raise TypeError(f"{self.name}: the rows need what the rule does not keep.")
            self.all_rows[argument] = pull
            return function

        return declare

    def spec(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Declare shape and dtype of the outputs, and the errors of arguments that do not fit."""
        self.spec_rule = function
        return function

    def make_rule(self, function: Callable[..., Any], variadic: bool = False) -> Rule:
        """The Rule made of `function`, whose parameters name what it needs."""
        parameters = parameters_of(function)
        given = ("g", "index") if variadic else ("g",)
        self._check_names(parameters.names, (*given, *self.slots, *self.static))
        if parameters.positional[: len(given)] != given:
            raise TypeError(f"{self.name}: a rule begins with the parameters {', '.join(given)}.")
        tensors = [name for name in parameters.positional[len(given) :] if name in self.slots]
        keeps = {
            self.slots.index(name): Keep.SPEC if name in parameters.specs else Keep.VALUE
            for name in tensors
        }
        static = tuple(name for name in parameters.names if name in self.static)
        return Rule(_pull(function, tuple(keeps), static, variadic), keeps)

    def set_rule(self, argument: str, rule: Rule) -> None:
        self.rules[argument] = rule
        self.pulls = self._collect_pulls()
        self._keepers.clear()

    def is_variadic(self, argument: str) -> bool:
        return self.variadic and argument == self.arguments[-1]

    def _check_names(self, names: Iterable[str], known: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                raise TypeError(f"{self.name} has no argument {name!r}; it has {', '.join(known)}.")

    # Running

    def on(self, engine: Engine) -> Callable[..., Any]:
        """The kernel on this engine."""
        if self.builtin is not None:
            return engine.builtin(self.builtin)
        kernel = partial(self.kernel, engine) if self.takes_engine else self.kernel
        return engine.bound(self, kernel)

    def run(self, *arrays: Any, **params: Any) -> Any:
        """The kernel on the engine of the first array."""
        return self.kernels[type(arrays[0])](*arrays, **params)

    def run_large(self, *arrays: Any, **params: Any) -> Any:
        """The kernel on arrays of the host, of which one at least has LARGE elements."""
        return engine_of(np.ndarray).on_large(self, arrays, params)

    def keep_for(self, positions: tuple[int, ...]) -> Callable[..., tuple[Any, ...]] | None:
        """The function that keeps what a tape needs that tracks the inputs at `positions`.

        None if no gradient reaches them.
        """
        if positions not in self._keepers:
            last = len(self.arguments) - 1  # the inputs of a variadic argument are the last ones
            reached = {self.arguments[min(i, last)] for i in positions} - self.nondiff
            wanted = tuple([a in reached for a in self.arguments])
            self._keepers[positions] = keeper(self.plan(wanted)) if reached else None
        return self._keepers[positions]

    def plan(self, wanted: tuple[bool, ...]) -> tuple[Keep | None, ...]:
        """What to keep for each slot when gradients flow to the `wanted` arguments."""
        keeps: dict[int, Keep] = {}
        for argument, needed in zip(self.arguments, wanted, strict=True):
            if needed and argument in self.rules:
                for slot, keep in self.rules[argument].keeps.items():
                    if keeps.get(slot) is not Keep.VALUE:
                        keeps[slot] = keep
        return tuple(keeps.get(i) for i in range(len(self.slots)))

    def _collect_pulls(self) -> _VariadicPulls | tuple[Callable[..., Any], ...]:
        """The gradient rule of each input; one without a rule raises when it is asked for."""
        pulls = [
            self.rules[a].pull if a in self.rules else partial(self._no_rule, a)
            for a in self.arguments
        ]
        return _VariadicPulls(pulls) if self.variadic else tuple(pulls)

    def _no_rule(self, argument: str, *unused: Any) -> Any:
        if argument in self.nondiff:
            return None
        known = ", ".join(f"`{name}`" for name in self.rules) or "no argument"
        raise NoGradientError(
            f"{self.name}: no gradient rule with respect to `{argument}` (rules exist for: "
            f"{known}). Pass stop_gradient({argument}) if its gradient is not wanted, or give the "
            f'op a rule with @{self.name}.vjp("{argument}").'
        )

    def explain(self, inputs: Any, params: Any, error: Exception) -> None:
        """Raise what `error`, raised by the kernel, means in the words of the op."""
        if isinstance(error, Error):
            raise error
        common_engine([x._array for x in inputs]).explain(self.name, inputs, error)
        if self.spec_rule is not None:
            self.spec_rule(*(spec_of(x._array) for x in inputs), **params)
        if not isinstance(error, (ValueError, TypeError, LookupError, ArithmeticError)):
            raise error
        came = [
            f"{n}: {spec_of(x._array)}" for n, x in zip(self.names_of(inputs), inputs, strict=True)
        ]
        came += [f"{name}={value!r}" for name, value in params.items()]
        what = str(error).rstrip(".")
        raise InvalidArgumentError(f"{self.name}: {what}. Received: {', '.join(came)}.") from error

    def names_of(self, inputs: Any) -> list[str]:
        """A name for each input; those of a variadic argument are numbered."""
        if not self.variadic:
            return list(self.arguments)
        *fixed, last = self.arguments
        return [*fixed, *(f"{last}[{i}]" for i in range(len(inputs) - len(fixed)))]

    def slots_of(self, inputs: Any) -> tuple[Any, ...]:
        """The inputs by argument: those of a variadic argument together, as a tuple."""
        if not self.variadic:
            return tuple(inputs)
        fixed = len(self.arguments) - 1
        return (*inputs[:fixed], tuple(inputs[fixed:]))

    def argument_at(self, position: int) -> str:
        """The name of the argument to which the input at `position` belongs."""
        return self.arguments[min(position, len(self.arguments) - 1)]

    def alike_of(self, inputs: Any) -> Iterable[int]:
        """The positions of the inputs that must agree in dtype."""
        if not self.variadic:
            return self.alike
        fixed = len(self.arguments) - 1
        many = range(fixed, len(inputs)) if fixed in self.alike else ()
        return (*(i for i in self.alike if i < fixed), *many)

    def __repr__(self) -> str:
        return f"<op {self.name}({', '.join((*self.arguments, *self.static))})>"


class JointOp:
    """An op made for one call, with one rule for all its inputs: a custom gradient, say.

    `rule(g)` gives the cotangents of the inputs, in order. It takes a record on a tape as any op
    does.
    """

    arguments = ("inputs",)
    variadic = True
    differentiable = True
    passes_slices = False
    fills_missing = True
    nondiff: frozenset[str] = frozenset()
    linear: frozenset[str] = frozenset()
    additive = False
    diagonal: Mapping[str, Any] = {}
    all_rows: Mapping[str, Any] = {}
    pattern: Pattern = None
    in_order = False
    outputs: list[int] | None = None
    """The keys of its outputs, where their number may grow after the call was recorded."""
    is_looked_at = False
    """Whether a witness that looks into programs has looked at what it gives."""
    push: Callable[[dict[int, Any]], Any] | None = None
    """Gives the tangents of the outputs from those of inputs by position; None: the rule does."""

    def __init__(self, name: str, rule: Callable[[Any], Sequence[Any]]) -> None:
        self.name = name
        self._rule = rule

    def keep_for(self, positions: tuple[int, ...]) -> Callable[..., tuple[Any, ...]]:
        return lambda inputs, outputs: (None, None)  # the rule keeps what it needs

    def slots_of(self, inputs: Any) -> tuple[Any, ...]:
        return (tuple(inputs),)

    def argument_at(self, position: int) -> str:
        return self.arguments[0]

    @property
    def pulls(self) -> _JointPulls:
        return _JointPulls(self._rule)

    def __repr__(self) -> str:
        return f"<op {self.name}, of one call>"


class _JointPulls:
    """One visit of the backward pass: the rule runs when the first input asks, once for all."""

    def __init__(self, rule: Callable[[Any], Sequence[Any]]) -> None:
        self._rule = rule
        self._cotangents: Sequence[Any] | None = None

    def __getitem__(self, position: int) -> Callable[[Any, Any, Any], Any]:
        return partial(self._pull, position)

    def _pull(self, position: int, g: Any, saved: Any, params: Any) -> Any:
        if self._cotangents is None:
            self._cotangents = self._rule(g)
        return self._cotangents[position]


class _VariadicPulls:
    """The rules of an op with a variadic argument: one for each input, however many there are."""

    def __init__(self, pulls: list[Callable[..., Any]]) -> None:
        *self._fixed, self._variadic = pulls

    def __getitem__(self, position: int) -> Callable[[Any, Any, Any], Any]:
        index = position - len(self._fixed)
        return self._fixed[position] if index < 0 else partial(self._variadic, index)


def _touched(*tensors: Any, **params: Any) -> float:
    """The number of elements of all tensors: the work of an op that looks at each once."""
    return sum([_touched(*t) if type(t) is tuple else t._array.size for t in tensors])


class Parameters(NamedTuple):
    """The names in a function's signature."""

    positional: tuple[str, ...]
    variadic: str | None
    keyword: tuple[str, ...]
    specs: frozenset[str]  # those annotated `Spec`

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.positional, *self.keyword)


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The names in its signature. (inspect.signature takes 30 µs, 600 times at import.)"""
    declared = getattr(function, "parameters", None)  # a wrapper says what it stands for
    if declared is not None:
        return declared  # type: ignore[no-any-return]
    function = getattr(function, "__wrapped__", function)
    code = function.__code__
    names = code.co_varnames
    last = code.co_argcount + code.co_kwonlyargcount
    variadic = names[last] if code.co_flags & 0x04 else None  # CO_VARARGS
    annotations = function.__annotations__.items()
    specs = frozenset(n for n, a in annotations if getattr(a, "__name__", a) == "Spec")
    return Parameters(names[: code.co_argcount], variadic, names[code.co_argcount : last], specs)


def _pull(
    function: Callable[..., Any], slots: tuple[int, ...], static: tuple[str, ...], variadic: bool
) -> Callable[..., Any]:
    """`function(g, <slots of saved>, <static parameters>)` as a function of (g, saved, params)."""
    if variadic:
        return lambda index, g, saved, params: function(
            g, index, *[saved[i] for i in slots], **{name: params[name] for name in static}
        )
    if static:
        return lambda g, saved, params: function(
            g, *[saved[i] for i in slots], **{name: params[name] for name in static}
        )
    match slots:
        case ():
            return lambda g, saved, params: function(g)
        case (i,):
            return lambda g, saved, params: function(g, saved[i])
        case (i, j):
            return lambda g, saved, params: function(g, saved[i], saved[j])
        case _:
            return lambda g, saved, params: function(g, *[saved[i] for i in slots])
