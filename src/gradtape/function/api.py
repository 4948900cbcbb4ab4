"""`@function`: graph mode. Python is traced once for each signature, and runs as one XLA program."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from threading import RLock
from typing import Any

from ..core import nest
from ..core.convert import as_tensor
from ..core.errors import DTypeError
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from ..tape.gradient_tape import key_of
from ..tape.scopes import get_logger
from ..tape.type_specs import TensorSpec
from ..tape.variable import Variable
from .captures import tensors_in_sight
from .signature import Open, describe, replaced, tensor_of_array, without_sizes

_STORM = 5
"""After so many traces in a row for one function, its user is told what causes them."""


class _Settings:
    eagerly = False
    jax: bool | None = None  # whether JAX is there; None until it is looked for
    compiles = False  # once it was found to be there, and nobody wants to run eagerly


_settings = _Settings()


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let functions run as plain Python from here on: for debugging, with values to look at."""
    _settings.eagerly = bool(run_eagerly)
    _settings.compiles = False  # the next call looks again


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python."""
    return _settings.eagerly


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    name: str | None = None,
) -> Any:
    """Compile a Python function: traced once for each signature, run as one program of XLA.

    >>> @tf.function
    ... def f(x):
    ...     return x * x + 1.0
    >>> f(tf.constant(3.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=10.0>

    Tensors count by dtype and shape: another shape is another trace. Python values count by value.
    Python's own effects (print, append, counters) happen while tracing, not at each call. Variables
    are read and assigned at each call; tapes, inside and outside, see what they see eagerly. With
    `autograph`, `if`, `while` and `for` on tensors become part of the program.

    `jit_compile` is accepted: everything is compiled by XLA. Without JAX installed the function
    runs as plain Python, and says so once.
    """
    relax = reduce_retracing or bool(experimental_relax_shapes)
    if func is None:
        return functools.partial(
            function,
            input_signature=input_signature,
            autograph=autograph,
            jit_compile=jit_compile,
            reduce_retracing=relax,
            name=name,
        )
    if not callable(func):
        raise TypeError(f"function: expected a function to compile, not {func!r:.100}.")
    if isinstance(func, Function):
        func = func.python_function
    return Function(func, name, input_signature, autograph, jit_compile, relax)


class Function:
    """What `@function` makes of a Python function."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
    ) -> None:
        self.python_function = python_function
        self.name = name or getattr(python_function, "__name__", type(python_function).__name__)
        self.input_signature = _specs(input_signature)
        self.autograph = autograph
        self.jit_compile = jit_compile
        functools.update_wrapper(self, python_function)
        self._signature = _signature_of(python_function)
        self._plain = _count_of_plain_parameters(self._signature, self.input_signature)
        self._traces: dict[Any, Any] = {}
        self._lock = RLock()
        self._count = 0
        self._created = False  # whether a first call created variables
        self._recent: list[Any] = []  # the signatures of the traces since one was used again
        self._converted: Callable[..., Any] | None = None
        self._of_instance: dict[int, Any] = {}
        self.reduce_retracing = reduce_retracing
        self._relaxed: dict[Any, Any] = {}  # by signature without sizes: the sizes, the trace
        # Whether sizes that `input_signature` leaves open stay open in a trace.
        self._open = any(
            isinstance(spec, TensorSpec) and spec.shape.rank and not spec.shape.is_fully_defined()
            for spec in nest.flatten(self.input_signature)
        )

    # Calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call((), args, kwargs)

    def _call(self, instance: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
        """A call; `instance` is () or holds the `self` of a method."""
        if not _settings.compiles and not _may_compile():
            if not _settings.jax:  # as compiled: a function takes arrays for tensors
                args, kwargs = nest.map_structure(tensor_of_array, (args, kwargs))
            return self.python_function(*instance, *args, **kwargs)
        if current_graph() is not None:
            # It becomes part of the function that is being traced.
            return self._python()(*instance, *args, **kwargs)
        if kwargs or len(args) != self._plain:
            args = self._bound(args, kwargs)
        concrete, leaves = self._traced(instance, args)
        if self.input_signature is not None:
            leaves = [_closed(leaf) for leaf in leaves]
        return concrete.call(leaves)

    def _traced(self, instance: tuple[Any, ...], args: Any) -> tuple[Any, list[Any]]:
        """The trace for these arguments, and the leaves of them."""
        leaves: list[Any] = []
        key = tuple([describe(a, leaves) for a in args])
        concrete = self._traces.get(key)
        if concrete is None or (concrete.resizable and concrete.is_outdated):
            concrete = self._trace(key, instance, args, leaves)
        elif self._recent:
            self._recent.clear()  # no storm: a trace is used again
        return concrete, leaves

    def _bound(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in; the last two are *args and **kwargs."""
        if self._signature is None:
            return (*args, kwargs)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        if self.input_signature is None:
            return values
        return self._by_signature(values)

    def _by_signature(self, values: Any) -> tuple[Any, ...]:
        """The arguments as tensors, if they fit `input_signature`."""
        specs: Any = self.input_signature
        if len(values) < len(specs):
            raise TypeError(
                f"{self.name}: takes {len(specs)} arguments by its `input_signature`, and got "
                f"{len(values)}."
            )
        fitted = [
            self._fit(i, spec, value)
            if isinstance(spec, TensorSpec)
            else nest.map_structure(functools.partial(self._fit, i), spec, value)
            for i, (spec, value) in enumerate(zip(specs, values, strict=False))
        ]
        return (*fitted, *values[len(specs) :])

    def _fit(self, position: int, spec: Any, value: Any) -> Any:
        if isinstance(value, TensorSpec) or not isinstance(spec, TensorSpec):
            return value
        try:
            tensor = as_tensor(
                value, None if isinstance(value, (Tensor, Variable)) else spec.dtype, self.name
            )
        except (DTypeError, ValueError) as error:
            raise TypeError(f"{self.name}: argument {position} must be a {spec}. {error}") from None
        if not spec.is_compatible_with(tensor):
            raise TypeError(
                f"{self.name}: argument {position} must be a {spec} by its `input_signature`, and "
                f"is {tensor.dtype.name} of shape {tensor.shape}."
            )
        if self._open and spec.shape.rank and not spec.shape.is_fully_defined():
            return Open(tensor, tuple(spec.shape))
        return Tensor(tensor._array, tensor._key)

    def _python(self) -> Callable[..., Any]:
        """The Python function, with its control flow converted."""
        if self._converted is None:
            if self.autograph:
                from .autograph import converted

                self._converted = converted(self.python_function)
            else:
                self._converted = self.python_function
        return self._converted

    # Tracing

    def _trace(self, key: Any, instance: Any, args: Any, leaves: list[Any]) -> Any:
        with self._lock:
            known = self._traces.get(key)
            if known is not None and not known.is_outdated:  # another thread was faster
                return known
            if self.reduce_retracing:
                return self._trace_relaxed(key, instance, args, leaves)
            self._warn_of_storm(key)
            try:
                concrete = self._trace_and_create(instance, args, leaves)
            except Exception as error:
                still_open = [leaf for leaf in leaves if type(leaf) is Open]
                if not still_open or any(leaf.is_spec for leaf in still_open):
                    raise
                # Something in it needs the sizes: then there is a trace for each.
                get_logger().debug("%s is traced for each shape: %s", self.name, error)
                self._open = False
                args = tuple([nest.map_structure(_closed, a) for a in args])
                leaves = [_closed(leaf) for leaf in leaves]
                key = tuple([describe(a, []) for a in args])
                concrete = self._trace_and_create(instance, args, leaves)
            self._traces[key] = concrete
            return concrete

    def _trace_relaxed(self, key: Any, instance: Any, args: Any, leaves: list[Any]) -> Any:
        """A trace that leaves open the sizes in which this call differs from earlier ones."""
        kind = without_sizes(key)
        shapes = [leaf._array.shape if isinstance(leaf, Tensor) else None for leaf in leaves]
        before, concrete = self._relaxed.get(kind, (shapes, None))
        sizes = [
            None if a is None else tuple([n if n == m else None for n, m in zip(a, b, strict=True)])
            for a, b in zip(before, shapes, strict=True)
        ]
        if concrete is None or sizes != before or concrete.is_outdated:
            opened = [
                Open(leaf, each) if each is not None and None in each else leaf
                for leaf, each in zip(leaves, sizes, strict=True)
            ]
            try:
                concrete = self._trace_and_create(instance, args, opened)
            except Exception:
                if opened == leaves:
                    raise
                concrete = self._trace_and_create(instance, args, leaves)
                sizes = shapes
            self._relaxed[kind] = (sizes, concrete)
        self._traces[key] = concrete
        return concrete

    def _trace_and_create(self, instance: Any, args: Any, leaves: list[Any]) -> Any:
        concrete, created = self._trace_once(instance, args, leaves, not self._created)
        if created:
            # As in TensorFlow: what the first call creates, no later one may create again.
            self._created = True
            concrete, _ = self._trace_once(instance, args, leaves, False)
        return concrete

    def _trace_once(
        self, instance: Any, args: Any, leaves: list[Any], creates: bool
    ) -> tuple[Any, bool]:
        from .concrete import ConcreteFunction
        from .graph import Graph, likes, values_explained

        graph = Graph(self.name)
        graph.creates = creates
        for tensor in tensors_in_sight(self.python_function, *instance):
            graph.tracked.add(key_of(tensor))
        with graph.running():
            symbols = [
                leaf if isinstance(leaf, Variable) else graph.tensor(like)
                for leaf, like in zip(leaves, likes(leaves), strict=True)
            ]
            self._count += 1
            with values_explained():
                result = self._invoke(instance, args, iter(symbols))
        return ConcreteFunction(graph, leaves, symbols, result), bool(graph.created)

    def _invoke(self, instance: Any, args: Any, leaves: Any) -> Any:
        values = [replaced(a, leaves) for a in args]
        if self._signature is None:
            return self._python()(*instance, *values[:-1], **values[-1])
        bound = inspect.BoundArguments(
            self._signature,
            dict(zip(self._signature.parameters, values, strict=False)),  # type: ignore[arg-type]
        )
        return self._python()(*instance, *bound.args, **bound.kwargs)

    def _warn_of_storm(self, key: Any) -> None:
        """Tell the user of a function that is traced again and again, and by which argument."""
        self._recent.append(key)
        if len(self._recent) != _STORM:
            return
        names = self._names()
        changing = [
            (names[i] if i < len(names) else f"argument {i}", parts)
            for i, parts in enumerate(zip(*self._recent, strict=False))
            if len(set(parts)) > 1
        ]
        self._recent.clear()
        if changing:
            name, parts = changing[0]
            get_logger().warning(
                "%s was traced %d times, which is slow, because `%s` differs from call to call: "
                "%s. Pass numbers as tensors, and tensors of one shape; or create the function "
                "once, outside of the loop.",
                self.name, _STORM, name, ", ".join(map(_shown, parts)),
            )  # fmt: skip

    # What is known about it

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for these arguments (tensors, or TensorSpecs in their place), as a callable."""
        return self._concrete((), args, kwargs)

    def _concrete(self, instance: Any, args: Any, kwargs: Any) -> Any:
        from .concrete import BoundTrace

        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        args = self._bound(args, kwargs)
        concrete, _ = self._traced(instance, args)
        python = functools.partial(self._invoke, instance, args)
        return BoundTrace(concrete, self._named(args), python)

    def _named(self, args: Any) -> list[tuple[str, Any]]:
        """All arguments with their names; those of *args are numbered."""
        if self._signature is None:
            *args, kwargs = args
            return [*[(f"args_{i}", value) for i, value in enumerate(args)], *kwargs.items()]
        named: list[tuple[str, Any]] = []
        for parameter, value in zip(self._signature.parameters.values(), args, strict=True):
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                named += [(f"{parameter.name}_{i}", v) for i, v in enumerate(value)]
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                named += value.items()
            else:
                named.append((parameter.name, value))
        return named

    def _names(self) -> list[str]:
        return [] if self._signature is None else list(self._signature.parameters)

    def export(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for these arguments without its Python: StableHLO, to save and serve.

        >>> square = tf.function(lambda x: x * x)
        >>> square.export(tf.TensorSpec([2])).save("square.npz")  # doctest: +SKIP
        >>> tf.function.load("square.npz")([1.0, 2.0])  # doctest: +SKIP
        """
        return self._concrete((), args, kwargs).export()

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function has been traced."""
        return self._count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures that have been traced, as a text."""
        return "\n\n".join(repr(concrete) for concrete in self._traces.values())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: each instance has its own traces, which live as long as it does."""
        if instance is None:
            return self
        entry = self._of_instance.get(id(instance))
        if entry is None or entry[0]() is not instance:
            with self._lock:  # two threads may ask for the first time at once
                entry = self._of_instance.get(id(instance))
                if entry is None or entry[0]() is not instance:
                    entry = self._new_method(instance)
        return Method(entry[1], instance)

    def _new_method(self, instance: Any) -> Any:
        method = Function(
            self.python_function,
            self.name,
            self.input_signature,
            self.autograph,
            self.jit_compile,
            self.reduce_retracing,
        )
        method._signature = _without_first(method._signature)
        method._plain = _count_of_plain_parameters(method._signature, self.input_signature)
        number = id(instance)
        try:
            gone = weakref.ref(instance, lambda _: self._of_instance.pop(number, None))
        except TypeError:
            raise TypeError(
                f"@function: {self.name} is a method of {type(instance).__name__}, whose instances "
                "cannot be referred to weakly: add '__weakref__' to its __slots__."
            ) from None
        entry = self._of_instance[number] = (gone, method)
        return entry

    def __repr__(self) -> str:
        return f"<function {self.name}, traced for {len(self._traces)} signatures>"


class Method:
    """A function as the method of an instance."""

    def __init__(self, of_function: Function, instance: Any) -> None:
        self._function = of_function
        self._instance = (instance,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function._call(self._instance, args, kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for these arguments (tensors, or TensorSpecs in their place), as a callable."""
        return self._function._concrete(self._instance, args, kwargs)

    def export(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for these arguments without its Python: StableHLO, to save and serve."""
        return self._function._concrete(self._instance, args, kwargs).export()

    @property
    def python_function(self) -> Callable[..., Any]:
        return functools.partial(self._function.python_function, *self._instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return f"{self._function!r} of {self._instance[0]!r:.100}"


def _closed(value: Any) -> Any:
    return value.tensor if type(value) is Open else value


def _may_compile() -> bool:
    if _settings.jax is None:
        from importlib.util import find_spec

        _settings.jax = find_spec("jax") is not None
        if not _settings.jax:
            get_logger().warning(
                "@function runs as plain Python, because JAX is not installed. To compile: "
                "pip install 'gradtape[xla]'."
            )
    _settings.compiles = _settings.jax and not _settings.eagerly
    return _settings.compiles


def _specs(input_signature: Any) -> tuple[Any, ...] | None:
    if input_signature is None:
        return None
    if not isinstance(input_signature, (list, tuple)):
        raise TypeError(
            "function: `input_signature` must be a list or tuple with a TensorSpec, or a nest of "
            f"them, for each argument, not {input_signature!r:.100}."
        )
    return tuple(input_signature)


def _signature_of(python_function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(python_function)
    except (TypeError, ValueError):  # some builtins have none
        return None


def _without_first(signature: inspect.Signature | None) -> inspect.Signature | None:
    if signature is None:
        return None
    parameters = list(signature.parameters.values())
    return signature.replace(parameters=parameters[1:])


def _count_of_plain_parameters(
    signature: inspect.Signature | None, input_signature: Any = None
) -> int:
    """The number of arguments of a call that needs no binding; -1 if every call needs it."""
    if signature is None or input_signature is not None:
        return -1
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature.parameters.values()
    return len(parameters) if all(p.kind in plain for p in parameters) else -1


def _shown(part: Any) -> str:
    """A part of a signature, for people."""
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], tuple):
        return f"{part[0]}{list(part[1])}"
    return repr(part[1]) if isinstance(part, tuple) and len(part) == 2 else f"{part!r:.60}"
