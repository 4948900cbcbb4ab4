"""`@function`: Python is traced once for each signature, and runs as one program of XLA."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from threading import RLock
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    overload,
)

import numpy as np

from ..core import nest
from ..core.errors import DynamicSizeError, SymbolicTensorError
from ..core.interrupts import put_back_after_error
from ..core.placement import placement
from ..core.sizes import BranchNeeded, SizesNeeded
from ..core.spec import Spec
from ..core.tensor import Tensor
from ..core.tracebacks import border, shorten
from ..core.tracing import OtherElements, Stream, current_graph, functions, may_create, tracing
from ..tape.scopes import get_logger, outside_name_scopes
from .method import Method
from .signature import (
    FunctionSpec,
    Open,
    Parameters,
    Recent,
    apart,
    closed,
    describe,
    given_specs,
    has_open_composites,
    may_be_symbols,
    shown,
    specs_of,
    tensor_of_array,
    with_leaves,
    without_sizes,
)

if TYPE_CHECKING:
    from .concrete import BoundTrace
    from .export import ExportedFunction
    from .memory import ProgramMemory
    from .signature import Options


P = ParamSpec("P")
R = TypeVar("R")
Q = ParamSpec("Q")
S = TypeVar("S")

_RETRACES = 5
"""After so many traces in a row for one function, its user is told what causes them."""


class _Decorator:
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

    __name__ = "function"

    @overload  # a decorator
    def __call__(
        self, func: Callable[P, R], input_signature: Any = None, **options: Unpack[Options]
    ) -> Function[P, R]: ...
    @overload  # with options, what makes a decorator
    def __call__(
        self, func: None = None, input_signature: Any = None, **options: Unpack[Options]
    ) -> Callable[[Callable[P, R]], Function[P, R]]: ...
    def __call__(
        self,
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
        relax = reduce_retracing or bool(experimental_relax_shapes)
        jit_compile = experimental_compile if jit_compile is None else jit_compile  # its old name
        if func is None:
            return lambda f: self(
                f,
                input_signature,
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

    @staticmethod
    def verify(
        fn: Callable[..., Any],
        *args: Any,
        rtol: float | None = None,
        atol: float | None = None,
        **kwargs: Any,
    ) -> Any:
        """Run `fn` eagerly and compiled, and compare results, gradients and what it assigns.

        >>> print(tf.function.verify(lambda x: tf.exp(x) * x, tf.constant([1.0, 2.0])))
        <lambda>: compiled and eager agree in 2 tensors.

        Where they differ, the result names the first op that gives another value, and its line in
        your code. The tolerances are those of the dtype, unless given. The variables are left as
        they were. Random draws differ by nature: pass them in.
        """
        from .verify import verify

        compiled = fn if isinstance(fn, (Function, Method)) else function(fn)
        return verify(compiled, args, kwargs, rtol, atol)

    @staticmethod
    def load(path: Any) -> Any:
        """A function that `fn.export(...).save(path)` wrote. The file holds no code of Python."""
        from .export import load

        return load(path)


function = _Decorator()


class Function(Generic[P, R]):
    """What `@function` makes of a Python function."""

    def __init__(
        self,
        python_function: Callable[P, R],
        name: str | None = None,
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
    ) -> None:
        default = getattr(python_function, "__name__", type(python_function).__name__)
        self.name: str = name or default
        self.input_signature = given_specs(input_signature)
        self.autograph = autograph
        self.jit_compile = jit_compile
        functools.update_wrapper(self, python_function)
        self._take(python_function)
        self._traces = Recent()
        self._trace_of = self._traces.young.get
        self._lock = RLock()
        self._count = 0
        self._created = False  # whether a first call created variables
        self._recent: list[Any] = []  # the signatures of the traces since one was used again
        self._of_instance: dict[int, Any] = {}
        self.reduce_retracing = reduce_retracing
        self._told: list[str] = []  # why a signature is not compiled; told once
        self._relaxed = Recent()  # by signature without sizes: the sizes, the trace
        self._relaxes_composites = True  # as long as what it does allows it

    def _take(self, python_function: Callable[..., Any]) -> None:
        self.python_function = python_function
        self._parameters = Parameters.of(python_function, self.name, self.input_signature)
        self._plain = self._parameters.plain
        self._converted: Callable[..., Any] | None = None

    # Calling

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return self._call((), args, kwargs)  # type: ignore[no-any-return]
        except Exception as error:
            shorten(error)
            raise

    def _call(self, instance: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
        """A call; `instance` is () or holds the `self` of a method."""
        if not functions.compile:
            from .settings import may_compile

            if not may_compile():
                if not functions.jax:  # as compiled: a function takes arrays for tensors
                    args, kwargs = nest.map_structure(tensor_of_array, (args, kwargs))
                return self.python_function(*instance, *args, **kwargs)
            if functions.looks_on is not None and current_graph() is None:
                functions.looks_on(self._traced(instance, self._parameters.bind(args, kwargs))[0])
        if current_graph() is not None:
            return self._call_inside(instance, args, kwargs)
        if kwargs or len(args) != self._plain:
            args = self._parameters.bind(args, kwargs)
        concrete, leaves = self._traced(instance, args)
        if self.input_signature is not None:
            leaves = [closed(leaf) for leaf in leaves]
        try:
            return concrete.call(leaves)
        except (OtherElements, SizesNeeded) as error:  # before anything ran
            return self._call_again(instance, args, error, concrete, leaves)

    def _call_inside(self, instance: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
        """A call in a function that is being traced: it shares the trace of other such calls.

        Where it cannot, the Python function runs as part of the one around.
        """
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        current_graph().note_uses(tensors)
        leave_sizes_open = self._parameters.leave_sizes_open or self.reduce_retracing
        if not leave_sizes_open and may_be_symbols(tensors):
            plain = not kwargs and len(args) == self._plain
            bound = args if plain else self._parameters.bind(args, kwargs)
            try:
                concrete, leaves = self._traced(instance, bound)
            except SymbolicTensorError:
                pass  # it needs values, which may be known outside of it
            else:
                if concrete.can_be_inside:
                    return concrete.call_inside(leaves)
        with outside_name_scopes():
            return self._python()(*instance, *args, **kwargs)

    def _call_again(
        self, instance: Any, args: Any, reason: Any, concrete: Any, leaves: list[Any]
    ) -> Any:
        """A call by a trace for what it takes from iterators or its own sizes, or by Python."""
        shapes: tuple[Any, ...] = ()
        while True:
            if isinstance(reason, BranchNeeded):
                from .uncompiled import given_up

                why = given_up(self, reason.why)
                self._traces.replace(concrete, why)
                return self._plain_call(why, instance, args).call(leaves)
            if isinstance(reason, OtherElements):
                shapes = reason.shapes
            else:
                if self.reduce_retracing or not reason.only_now:
                    self._close(reason)
                args = tuple([nest.map_structure(closed, a) for a in args])
            concrete, leaves = self._traced(instance, args, shapes)
            leaves = [closed(leaf) for leaf in leaves]
            try:
                return concrete.call(leaves)
            except (OtherElements, SizesNeeded) as error:
                reason = error

    def _close(self, reason: Exception) -> None:
        """Leave no sizes open any more."""
        from .concrete import OpenFunction

        get_logger().debug("%s is traced for each shape: %s", self.name, reason)
        with self._lock:
            self._parameters.leave_sizes_open = self.reduce_retracing = False
            self._relaxes_composites = False
            self._traces.forget(lambda trace: isinstance(trace, OpenFunction))

    def _traced(
        self, instance: tuple[Any, ...], args: Any, shapes: tuple[Any, ...] = ()
    ) -> tuple[Any, list[Any]]:
        """The trace for these arguments, and the leaves of them.

        `shapes` are those of the elements that it takes from iterators, if these differ.
        """
        leaves: list[Any] = []
        try:
            key = tuple([describe(a, leaves) for a in args])
        except RecursionError:
            raise nest.too_deep(f"{self.name}: an argument") from None
        if shapes or not placement.tf32 or tracing.looking:  # (a text: no size of it is left open)
            key += (repr(shapes), placement.tf32, tracing.looking)
        concrete = self._trace_of(key)
        if concrete is None or (concrete.resizable and concrete.is_outdated):
            concrete = self._trace(key, instance, args, leaves)
        elif self._recent:
            self._recent.clear()  # a trace is used again
        return concrete, leaves

    def _python(self) -> Callable[..., Any]:
        """The Python function, with its control flow converted."""
        if self._converted is None:
            if self.autograph:
                from .autograph.conversion import converted

                self._converted = converted(self.python_function)
            else:
                self._converted = self.python_function
        return self._converted

    # Tracing

    def _trace(self, key: Any, instance: Any, args: Any, leaves: list[Any]) -> Any:
        from .by_value import ByValue
        from .uncompiled import Uncompiled, given_up, text_among

        with self._lock:
            known = self._traces.recall(key)
            if type(known) is Uncompiled:
                return self._plain_call(known, instance, args)
            if type(known) is ByValue:
                return self._trace_by_value(known, key, instance, args, leaves)
            if known is not None and not known.is_outdated:  # or another thread came first
                return known
            relaxes = self.reduce_retracing or (
                self._relaxes_composites and has_open_composites(args)
            )
            one_for_all = relaxes or self.input_signature is not None
            if one_for_all:
                known = self._relaxed.recall(without_sizes(key))
                if type(known) is Uncompiled:  # found so for other sizes
                    return self._plain_call(known, instance, args)
            error: DynamicSizeError | None = text_among(leaves)
            try:
                if error is not None:
                    raise error
                if relaxes:
                    return self._trace_relaxed(key, instance, args, leaves)
                return self._trace_sized(key, instance, args, leaves)
            except DynamicSizeError as caught:
                is_open = any(type(leaf) is Open and leaf.is_spec for leaf in leaves)
                if is_open and caught is not error:
                    raise  # there is still a trace for each shape to be tried
                if self.jit_compile and caught.arguments:
                    by_value = ByValue(caught.arguments)
                    return self._trace_by_value(by_value, key, instance, args, leaves)
                why = given_up(self, caught)
            self._traces.keep(key, why)
            if one_for_all:
                self._relaxed.keep(without_sizes(key), why)
            return self._plain_call(why, instance, args)

    def _trace_sized(self, key: Any, instance: Any, args: Any, leaves: list[Any]) -> Any:
        if current_graph() is None:  # else once for what is around: a recursion, say
            self._warn_of_retracing(key)
        concrete = self._trace_apart(instance, args, leaves)
        try:
            concrete = concrete or self._trace_and_create(instance, args, leaves)
        except Exception as error:
            still_open = [leaf for leaf in leaves if type(leaf) is Open]
            if not still_open or any(leaf.is_spec for leaf in still_open):
                raise
            # Something in it needs the sizes: then there is a trace for each.
            self._close(error)
            args = tuple([nest.map_structure(closed, a) for a in args])
            leaves = [closed(leaf) for leaf in leaves]
            key = (*[describe(a, []) for a in args], *key[len(args) :])
            return self._trace(key, instance, args, leaves)
        if concrete.is_closed:
            self._traces.keep(key, concrete)
        return concrete

    def _trace_apart(self, instance: Any, args: Any, leaves: list[Any]) -> Any:
        """A trace that takes no two open sizes for equal, but batches; None if they have to be."""
        separate = apart(leaves)
        try:
            return None if separate is leaves else self._trace_and_create(instance, args, separate)
        except Exception:
            return None

    def _trace_by_value(
        self, by_value: Any, key: Any, instance: Any, args: Any, leaves: list[Any]
    ) -> Any:
        """The trace for the values of the arguments that decide on sizes in it."""
        from .by_value import ByValue
        from .uncompiled import refusal

        while True:
            self._traces.keep(key, by_value)
            valued = (*key, by_value.values(leaves))
            known = self._traces.recall(valued)
            if known is not None and not known.is_outdated:
                return known
            try:
                concrete = self._trace_and_create(instance, args, leaves, by_value.places)
            except DynamicSizeError as error:
                if error.arguments <= by_value.places:
                    error.args = (refusal(self.name, error),)
                    raise
                by_value = ByValue(by_value.places | error.arguments)
                continue
            if concrete.is_closed:
                self._traces.keep(valued, concrete)
            return concrete

    def _plain_call(self, why: Any, instance: Any, args: Any) -> Any:
        """In place of a trace: this signature runs as plain Python, and its user is told so.

        (Where it is called inside another function, that one tells.)
        """
        from .uncompiled import PlainCall, warn

        if not self._told and current_graph() is None:
            self._told.append(why.reason)
            warn(self.name, self.python_function, why)
        run = functools.partial(self._parameters.call, self.python_function, instance, args)
        return PlainCall(self.name, run, why)

    def _trace_relaxed(self, key: Any, instance: Any, args: Any, leaves: list[Any]) -> Any:
        """A trace that leaves open the sizes in which this call differs from earlier ones."""
        kind = without_sizes(key)
        shapes: Any = [x._array.shape if isinstance(x, Tensor) else None for x in leaves]
        before, concrete = self._relaxed.recall(kind) or (shapes, None)
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
                if all(a is b for a, b in zip(opened, leaves, strict=True)):
                    raise
                concrete = self._trace_and_create(instance, args, leaves)
                sizes = shapes
            self._relaxed.keep(kind, (sizes, concrete))
        self._traces.keep(key, concrete)
        return concrete

    def _trace_and_create(
        self, instance: Any, args: Any, leaves: list[Any], by_value: frozenset[int] = frozenset()
    ) -> Any:
        """A trace; the leaves at the places `by_value` have their values in it."""
        if not self._count and any([isinstance(leaf, Stream) for leaf in leaves]):
            from .sketch import create_from_sketch

            python = functools.partial(self._parameters.call, self._python(), instance, args)
            self._created = create_from_sketch(self.name, python, leaves)
        trace = functools.partial(self._trace_into, by_value=by_value)
        graph = self._new_graph(creates=not self._created)
        try:
            concrete = put_back_after_error(trace, graph, instance, args, leaves)
        except DynamicSizeError:
            if not graph.created:
                raise
        if graph.created:
            # As in TensorFlow: what the first call creates, no later one may create again.
            self._created = True
            graph = self._new_graph(creates=False)
            concrete = put_back_after_error(trace, graph, instance, args, leaves)
        return concrete

    def _new_graph(self, creates: bool) -> Any:
        from .control import COMPILED
        from .graph import Graph

        graph = Graph(self.name, COMPILED)
        graph.creates = creates and may_create()
        return graph

    def _trace_into(
        self, graph: Any, instance: Any, args: Any, leaves: list[Any], by_value: frozenset[int]
    ) -> Any:
        from .by_value import check_left_out, deciding
        from .concrete import ConcreteFunction, OpenFunction, flattened, specs_of_arguments
        from .cut import Mark
        from .explain import values_explained

        specs, places = specs_of(leaves)
        with graph.running():
            symbols = [
                leaf if spec is None else graph.tensor(spec)
                for leaf, spec in zip(leaves, specs, strict=True)
            ]
            if places:
                sizes = graph.tensor(Spec((*places, 0), np.dtype(np.bool_)))
                graph.sizes = sizes._array
            self._count += 1
            graph.takes.arguments(leaves)
            given = [
                Tensor(leaves[i]._values("A size")) if i in by_value else symbol
                for i, symbol in enumerate(symbols)
            ]
            try:
                with values_explained():
                    returned = self._parameters.call(self._python(), instance, args, iter(given))
                    result = flattened(returned, graph)
                    graph.settle(Mark(0, 0))
                check_left_out(graph, symbols, self.jit_compile)
            except DynamicSizeError as error:
                if self.jit_compile:
                    error.arguments = deciding(error, graph, symbols)
                raise
            finally:
                try:
                    graph.let_go()
                except BaseException:  # an interrupt: the rest of it
                    graph.let_go()
                    raise
        concrete = (
            OpenFunction(graph, [*leaves, sizes], [*symbols, sizes], result, places)
            if places
            else ConcreteFunction(graph, leaves, symbols, result)
        )
        concrete.arguments = specs_of_arguments(args)
        return concrete

    def _warn_of_retracing(self, key: Any) -> None:
        """Tell the user of a function that is traced again and again, and by which argument."""
        self._recent.append(key)
        if len(self._recent) != _RETRACES:
            return
        names = self._parameters.names
        changing = [
            (names[i] if i < len(names) else f"argument {i}", parts)
            for i, parts in enumerate(zip(*self._recent, strict=False))
            if len(set(parts)) > 1
        ]
        self._recent.clear()
        if changing:
            name, parts = changing[0]
            values = list(map(shown, parts))
            for witness in tracing.witnesses:
                witness.retraced(self, name, values)
            get_logger().warning(
                "%s was traced %d times, which is slow, because `%s` differs from call to call: "
                "%s. Pass numbers as tensors, and tensors of one shape; or create the function "
                "once, outside of the loop.",
                self.name, _RETRACES, name, ", ".join(values),
            )  # fmt: skip

    # What is known about it

    @border
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> BoundTrace:
        """The trace for these arguments (tensors, or TensorSpecs in their place), as a callable."""
        return self._concrete((), args, kwargs)

    def _concrete(self, instance: Any, args: Any, kwargs: Any) -> BoundTrace:
        from .concrete import BoundTrace

        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        args = self._parameters.bind(args, kwargs)
        python = functools.partial(self._parameters.call, self._python(), instance, args)
        return BoundTrace(
            self._trace_of_specs(instance, args), self._parameters.named(args), python
        )

    def _trace_of_specs(self, instance: Any, args: Any) -> Any:
        """The trace for arguments among which there may be TensorSpecs with open sizes."""
        leaves: list[Any] = []
        for argument in args:
            describe(argument, leaves)
        if not any(type(leaf) is Open for leaf in leaves):
            return self._traced(instance, args)[0]
        from .by_need import ByNeed

        def for_sizes(tensors: list[Any], example: bool = False) -> Any:
            if example:  # no call, that might be traced again and again
                self._recent.clear()
            given = iter(tensors)
            return self._traced(instance, tuple([with_leaves(a, given) for a in args]))[0]

        try:
            return ByNeed(self._traced(instance, args)[0], for_sizes, leaves)
        except Exception:
            by_need = ByNeed(None, for_sizes, leaves)
            if not any(leaf.sizes is None for leaf in leaves if type(leaf) is Open):
                by_need.examples()  # what can be traced for no sizes at all is wrong
            return by_need

    def _list_all_concrete_functions(self) -> list[Any]:
        """All traces made so far; with an `input_signature`, the one trace for that."""
        return self._known_traces(())

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The same by name, as what saves a function asks for them."""
        return {f"trace_{i}": trace for i, trace in enumerate(self._list_all_concrete_functions())}

    def _known_traces(self, instance: Any) -> list[Any]:
        from .concrete import BoundTrace

        if self.input_signature is not None:
            return [self._concrete(instance, (), {})]
        found = []
        for trace in self._traces:
            args = getattr(trace, "arguments", None)
            if args is not None:
                python = functools.partial(self._parameters.call, self._python(), instance, args)
                found.append(BoundTrace(trace, self._parameters.named(args), python))
        return found

    def export(self, *args: Any, **kwargs: Any) -> ExportedFunction:
        """The trace for these arguments without its Python: StableHLO, to save and serve.

        >>> square = tf.function(lambda x: x * x)
        >>> square.export(tf.TensorSpec([2])).save("square.npz")  # doctest: +SKIP
        >>> tf.function.load("square.npz")([1.0, 2.0])  # doctest: +SKIP
        """
        return self._concrete((), args, kwargs).export()

    @border
    def memory(self, *args: Any, **kwargs: Any) -> ProgramMemory:
        """What the program for these arguments takes of memory, and which lines hold its peak."""
        return self._concrete((), args, kwargs).memory()

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function has been traced."""
        return self._count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures that have been traced, as a text."""
        return "\n\n".join(repr(concrete) for concrete in self._traces)

    @property
    def function_spec(self) -> FunctionSpec:
        """Its parameters: `arg_names`, `default_values`, `fullargspec`, `input_signature`."""
        spec = inspect.getfullargspec(self.python_function)
        return FunctionSpec(spec, self.input_signature, self.jit_compile)

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """A function of `stage` that gives the program for these arguments as a text.

        Stages are "stablehlo" and "hlo", as it goes to XLA, and "optimized_hlo", as it runs.
        """
        concrete, _ = self._traced((), self._parameters.bind(args, kwargs))
        return concrete.compiler_ir  # type: ignore[no-any-return]

    def _decorate(self, decorator: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Put `decorator` around the Python function, before it is traced."""
        if self._count:
            raise ValueError(
                f"{self.name}: a function cannot be decorated after it has been traced. Decorate "
                "it where it is made."
            )
        self._take(decorator(self.python_function))

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: Function[Concatenate[S, Q], R], instance: S, owner: Any = None
    ) -> Method[Q, R]: ...
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
        options = (self.name, self.input_signature, self.autograph, self.jit_compile)
        method = Function(self.python_function, *options, self.reduce_retracing)
        method._parameters = method._parameters.of_method()
        method._plain = method._parameters.plain
        method._told = self._told
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
        count = len(self._traces)
        return f"<function {self.name}, traced for {count} signature{'s' * (count != 1)}>"
