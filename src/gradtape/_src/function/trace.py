"""How gradtape traces with JAX: the one module of the package that knows JAX's internals.

A new version of JAX is met here. What is used of it beyond its documented API:
`DynamicJaxprTrace` (`new_arg`, `make_eqn`, `var_to_tracer`; of its `frame` `tracing_eqns`,
`add_eqn`, `newvar`, `constvar_to_val`), the fields `_trace`, `val` and `_line_info` of its tracers,
those of its equations, the lines that it writes into a program (`_source_info_context`),
`_evaluate` and `_get_vars` of sizes that are symbols, of a compiled program what runs it
(`Executable`) and what XLA says of it (`Footprint`), the function by which all programs are
compiled, and the state of a thread (`trace_ctx`, `enable_x64`). (Outside of the package only
`engines/xla/products.py` looks behind a tracer, to see how it was computed,
`engines/xla/processor.py` makes a client of XLA, and `engines/xla/kept.py` asks for JAX's key of a
program.)

A trace is a list of equations. Each has results, and says which arrays it needs for those that are
used. Most are ops of JAX. A node stands for control flow: what it does is written when a program is
compiled, so until then it can get more results.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial, wraps
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import ref

import jax
import numpy as np
from jax._src import compiler, source_info_util
from jax._src.array import ArrayImpl
from jax._src.core import Literal, Primitive, set_current_trace, trace_ctx
from jax._src.interpreters.partial_eval import DynamicJaxprTrace
from jax.core import ShapedArray
from jax.errors import UnexpectedTracerError
from jax.export import SymbolicScope, symbolic_shape
from jax.lax import convert_element_type_p
from jaxlib.xla_client import DeviceList, batched_device_put

from ..core.errors import ResourceExhaustedError, TextError
from ..core.interrupts import close_blocks, keep, keep_variable, start
from ..core.placement import card_of, placement
from ..core.sizes import is_open
from ..core.tensor import LateTensor, Tensor, tensors_of, zeros_of
from ..core.tracebacks import PACKAGE
from ..core.tracing import current_graph
from ..engines.xla.kept import compiled_anew, kept_on_disk
from ..engines.xla.processor import keep_free_memory, options, processor
from .lines import Line

Tracer = jax.core.Tracer
eval_context = jax.core.eval_context

Var = Hashable
"""What a tracer stands for: an input of a trace, or a result of an equation."""

Read = Callable[[Any], Any]
"""Gives the value of an array: of a tracer what it stands for, of any other the array."""

_PARTS = {"reshape", "squeeze", "broadcast_in_dim", "transpose", "slice", "rev", "copy",
          "convert_element_type", "concatenate"}  # fmt: skip
"""The ops of JAX whose results hold nothing but elements of their arguments."""
_node_p: Any = Primitive("control_flow")
_node_p.multiple_results = True


def is_tracer(array: Any) -> bool:
    return isinstance(array, Tracer)


def as_symbol(array: Any) -> Any:
    """The array as a tracer of the current trace, of whose values XLA knows nothing beforehand."""
    if is_tracer(array):
        return array
    return jax.lax.optimization_barrier(array)  # type: ignore[no-untyped-call]


def var_of(tracer: Any) -> Var:
    return tracer.val  # type: ignore[no-any-return]


def parts_of(tracer: Any) -> list[Any]:
    """The arrays that all elements of a tracer are elements of, if it is known."""
    equation = tracer.parent
    if equation is None or equation.primitive.name not in _PARTS:
        return []
    arrays = equation.in_tracers
    return arrays if all([np.can_cast(x.dtype, tracer.dtype, "safe") for x in arrays]) else []


def lines_of(tracer: Any) -> list[Line]:
    """The lines that made a tracer, the innermost first."""
    frames = source_info_util.user_frames(tracer._line_info.traceback)
    return [(frame.file_name, frame.start_line) for frame in frames]


class Called(NamedTuple):
    """A line that ran, and the function that it is in."""

    file: str
    line: int
    function: str


def _calls_of(source: Any) -> list[Called]:
    frames = source_info_util.user_frames(source.traceback)
    return [Called(each.file_name, each.start_line, each.function_name) for each in frames]


class Trace:
    """A trace of JAX that stays open: inputs and equations can be added at any time."""

    def __init__(self) -> None:
        self._jax: Any = DynamicJaxprTrace(None)
        self._source = source_info_util.current()
        self._scope: Any = None  # of the sizes that are symbols
        self._products = precision()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A block in which the ops of JAX become equations."""
        products = jax.default_matmul_precision(self._products)
        with jax.enable_x64(True), products, set_current_trace(self._jax):  # type: ignore[no-untyped-call]
            yield

    def owns(self, array: Any) -> bool:
        """Whether an array is a tracer of this trace."""
        return isinstance(array, Tracer) and array._trace is self._jax

    def input(self, like: Any) -> Any:
        """A new input of the shape and dtype of `like`, as a tracer."""
        for size in filter(is_open, like.shape):
            self._scope = size.scope
        return self._jax.new_arg(_aval(like), self._source)

    def content(self, array: Any) -> Any:
        """The array; if it is a tracer that stands for a constant of this trace, that constant."""
        while isinstance(array, Tracer) and array._trace is self._jax:
            if isinstance(array.val, Literal):
                return array.val.val
            constant = self._jax.frame.constvar_to_val.get(array.val)
            if constant is None:
                return array
            array = constant
        return array

    def size(self, name: str) -> Any:
        """A size of this name, a number that is known when a program is compiled.

        It can stand in one shape with the sizes that the inputs leave open.
        """
        self._scope = self._scope or SymbolicScope()
        return symbolic_shape(name, scope=self._scope)[0]

    def assume(self, constraints: Sequence[str]) -> None:
        """Take for granted of sizes, before there are any, what these texts say by their names."""
        self._scope = _scope_with(tuple(constraints))

    @property
    def constants(self) -> Iterable[Any]:
        return self._jax.frame.constvar_to_val.values()  # type: ignore[no-any-return]

    def origin(self, array: Any) -> Any:
        """The input of this trace that all elements of an array are elements of, as a tracer."""
        while self.owns(array) and array.parent is not None:
            taken_from = parts_of(array)
            if len(taken_from) != 1:
                return None
            (array,) = taken_from
        return array if self.owns(array) and array is self.content(array) else None

    # Equations

    def __len__(self) -> int:
        return len(self._jax.frame.tracing_eqns)

    def equations(self, start: int, end: int) -> list[Equation]:
        return [
            equation.params["node"] if equation.primitive is _node_p else Equation(equation)
            for equation in self._jax.frame.tracing_eqns[start:end]
        ]

    def add(self, node: Node) -> None:
        """Put a node, with no results yet, after the equations so far."""
        node._equation, _ = self._jax.make_eqn([], [], _node_p, {"node": node}, frozenset())
        node.results = node._equation.outvars
        self._jax.frame.add_eqn(node._equation)

    def grow(self, node: Node, like: Any) -> Any:
        """One more result of a node, as a tracer."""
        var = self._jax.frame.newvar(_aval(like))
        node.results.append(var)
        return self._jax.var_to_tracer(var, self._source, node._equation)


def precision() -> str | None:
    """How programs multiply float32 from here on: as JAX is told to, or with all 24 bits."""
    return jax.default_matmul_precision.value if placement.tf32 else "float32"


@cache
def _scope_with(constraints: tuple[str, ...]) -> SymbolicScope:
    """One for all traces: to read the texts takes 2 ms, and what JAX caches serves them all."""
    return SymbolicScope(constraints)


# Interrupts


def _state() -> Any:
    local = jax.enable_x64.get_local(), jax.default_matmul_precision.get_local()
    return trace_ctx.trace, trace_ctx.axis_env, _source.context, *local


def _put_back(state: Any) -> None:
    trace, axes, _source.context, x64, products = state
    trace_ctx.set_trace(trace)  # type: ignore[no-untyped-call]
    trace_ctx.set_axis_env(axes)  # type: ignore[no-untyped-call]
    jax.enable_x64.set_local(x64)
    jax.default_matmul_precision.set_local(products)


keep(_state, _put_back)


def leave_jax(error: BaseException) -> None:
    """After an exception out of a call of JAX: let it trace nothing, unless this thread does.

    An interrupt may have come when JAX, which traces what it runs for the first time, was about to
    put back what it traced before. (This costs a call nothing; `put_back_after_error` does.)
    """
    close_blocks(error.__traceback__)
    if current_graph() is None:
        trace_ctx.reset()  # type: ignore[no-untyped-call]


def out_of_memory(error: BaseException) -> BaseException:
    """The error of JAX, or TensorFlow's, if there was not enough memory for a program."""
    reason, found, text = str(error).partition("RESOURCE_EXHAUSTED: ")
    if reason or not found or not isinstance(error, jax.errors.JaxRuntimeError):
        return error
    return ResourceExhaustedError(f"a compiled function: {text}")


class Equation:
    """An op of JAX in a trace."""

    def __init__(self, equation: Any) -> None:
        self._equation = equation
        self.results: list[Var] = equation.outvars

    @property
    def has_effects(self) -> bool:
        """Whether it runs even if nothing uses its results."""
        return bool(self._equation.effects)

    @property
    def kind(self) -> str:
        """What the op is called; a function of JAX is called by its name."""
        named = self._equation.params.get("name")
        return named if isinstance(named, str) else str(self._equation.primitive)

    @property
    def avals(self) -> list[Any]:
        """Shape and dtype of each result."""
        return [var.aval for var in self._equation.outvars]

    @property
    def calls(self) -> list[Called]:
        """The lines that made it, the innermost first; those of JAX are left out."""
        return _calls_of(self._equation.source_info)

    def needs(self, used: list[bool]) -> list[Any]:
        """The arrays that its results need, those that are used."""
        return self._equation.in_tracers  # type: ignore[no-any-return]

    def counted(self, used: list[bool]) -> list[Any]:
        """The capacities of the loops inside whose rounds have to be kept for these results."""
        return []

    def emit(self, read: Read, used: list[bool]) -> list[Any]:
        """The values of the results; anything for those that are not used.

        After them come the numbers of rounds that the loops made that have to be counted.
        """
        equation, primitive = self._equation, self._equation.primitive
        params = primitive.get_bind_params(_numbered(equation.params))
        with equation.ctx.manager, _lines_as_of(equation):
            results = _emitted(primitive, [*map(read, equation.in_tracers)], params)
        return results if primitive.multiple_results else [results]


def _emitted(primitive: Any, values: list[Any], params: dict[str, Any]) -> Any:
    """The results of an op of JAX, as XLA is to compute it.

    Truth values become floats by a choice. A product with those that were converted XLA takes for
    `where(mask, x, 0)`, and hides Inf and NaN that it would give.
    """
    if primitive is convert_element_type_p and values[0].dtype == np.bool_:
        (mask,), dtype = values, params["new_dtype"]
        if jax.numpy.issubdtype(dtype, np.inexact):
            one, zero = [jax.lax.full_like(mask, number, dtype) for number in (1, 0)]
            return jax.lax.select(mask, one, zero)
    return primitive.bind(*values, **params)


class _lines_as_of:
    """A block in which what is emitted is of the user's lines that an equation is of.

    Of JAX's `user_context`, which puts a traceback of its own behind each error, the other half.
    """

    def __init__(self, equation: Any) -> None:
        self._traceback = equation.source_info.traceback

    def __enter__(self) -> None:
        self._around = _source.context
        _source.context = self._around.replace(traceback=self._traceback)

    def __exit__(self, *error: Any) -> None:
        _source.context = self._around


_source: Any = source_info_util._source_info_context


class Node(Equation):
    """Control flow as an equation; it may have got results since `used` was written down."""

    def __init__(self) -> None:
        pass  # what an equation is made of is known when it is added to a trace

    @property
    def kind(self) -> str:
        return type(self).__name__


def _aval(like: Any) -> ShapedArray:
    if like.dtype == object:
        raise TextError("Text that is known only when the function runs is no part of a program.")
    return ShapedArray(tuple(like.shape), like.dtype)


def zeros_like(array: Any) -> Any:
    return zeros_of(array, numbers(array.shape))._array


# Sizes

_NO_SIZES: Mapping[str, int] = MappingProxyType({})
_sizes: ContextVar[Mapping[str, int]] = ContextVar("sizes", default=_NO_SIZES)
keep_variable(_sizes)


@contextmanager
def sized(sizes: Mapping[str, int]) -> Iterator[None]:
    """A block in which a program is compiled for these sizes, given by name."""
    token = _sizes.set(sizes)
    try:
        yield
    finally:
        _sizes.reset(token)


def names_of(size: Any) -> set[str]:
    """The names of the open sizes that a size is computed from."""
    return set(size._get_vars())


def numbers(shape: Sequence[Any]) -> tuple[Any, ...]:
    """A shape with the numbers that sizes stand for, as far as they are known."""
    return tuple(map(_number, shape))


def _number(size: Any) -> Any:
    known = _sizes.get()
    if not known or not is_open(size) or known.keys().isdisjoint(size._get_vars()):
        return size
    names: Any = {v: symbolic_shape(v, scope=size.scope)[0] for v in size._get_vars()}
    value = size._evaluate(names | dict(known))
    return value if is_open(value) else int(value)


def _numbered(params: Any) -> Any:
    """The parameters of an op with the numbers that sizes in them stand for."""
    if not _sizes.get():
        return params
    if isinstance(params, dict):
        return {name: _numbered(value) for name, value in params.items()}
    if isinstance(params, tuple) and any(map(is_open, params)):
        return numbers(params)
    return _number(params)


def typed_like(value: Any, array: Any) -> Any:
    """`value` with exactly the type of `array`, as XLA's control flow wants it."""
    return jax.lax.convert_element_type(jax.numpy.asarray(value), array.dtype)


def larger(a: Any, b: Any) -> Any:
    return jax.numpy.maximum(a, b)


def for_xla(arrays: list[Any]) -> list[Any]:
    """Arrays of eager code as JAX takes them."""
    if placement.card is None:
        return arrays
    cards = map(card_of, arrays)
    return [a if c is None else c.to_xla(a) for a, c in zip(arrays, cards, strict=True)]


def for_eager(arrays: Iterable[Any]) -> list[Any]:
    """Arrays of JAX as eager code takes them: on the GPU, if it is in use, without waiting."""
    card = placement.card
    return list(map(np.asarray if card is None else card.from_xla, arrays))


def results_of(outputs: list[Any], start: int) -> list[Tensor]:
    """Tensors of the outputs of a program from `start` on.

    The program has run without an error by then. On a GPU it has begun to, which is all that can
    fail: what it writes into is the caller's own, and nothing waits for the GPU.
    """
    card = placement.card
    if card is not None and outputs and card.begun(outputs[0]):
        return [LateTensor(partial(card.from_xla, y)) for y in outputs[start:]]
    try:
        results = tensors_of(for_eager(outputs[start:]))  # waits for XLA
        if start and not results:
            outputs[0].block_until_ready()
    except jax.errors.JaxRuntimeError as error:
        raise out_of_memory(error) from None
    return results


def jit(function: Callable[..., Any], *, of_nothing: bool = False) -> Callable[..., Any]:
    """`function` of arrays, or of none if it is `of_nothing`, compiled as programs are."""
    home = processor()
    if home is None:
        return jax.jit(function, compiler_options=options())
    place = jax.sharding.SingleDeviceSharding(home)
    if of_nothing:  # (where the results are to be is asked at each call: 7 µs)
        return jax.jit(function, compiler_options=options(), out_shardings=place)
    return jax.jit(function, compiler_options=options(), in_shardings=place)


_LARGE = 2**16  # bytes


class Executable:
    """A function of arrays like `inputs`, compiled when it is called first.

    It knows the kinds of its arguments beforehand, and `jax.jit` asks each of them at each call:
    with 100 arrays this takes 45 µs, and a call by `jax.jit` 66. The arrays at the places
    `donated` are written over; the list of arguments is, too.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Iterable[Any],
        donated: Iterable[int],
        arguments: int = 0,
    ) -> None:
        self._function = function
        self._donated = donated = tuple(donated)
        self._arguments = arguments  # the first of its inputs: arrays that nobody writes to
        self._kept: dict[int, tuple[Any, Any]] = {}  # on the GPU, large ones that came before
        self._jitted = jax.jit(function, donate_argnums=donated, keep_unused=True)
        self._avals = [_aval(x) for x in inputs]
        self._run: Callable[[list[Any]], Any] | None = None
        self._handlers: Any = None
        self._place: Any = None  # the sharding, and the devices of it

    def __call__(self, arrays: list[Any]) -> list[Any]:
        run = self._run or self._compile()
        for i, x in enumerate(arrays):
            if type(x) is not ArrayImpl:
                arrays[i] = self._on_device(i, x)
        return run(arrays).consume_with_handlers(self._handlers)  # type: ignore[no-any-return]

    def _compile(self) -> Callable[[list[Any]], Any]:
        home = processor()
        place = home and jax.sharding.SingleDeviceSharding(home)
        with jax.enable_x64(True):
            specs = [
                jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=place)  # type: ignore[no-untyped-call]
                for aval in self._avals
            ]
            compiled: Any = self._jitted.lower(*specs).compile(options())
        program = compiled.runtime_executable()
        if home:
            keep_free_memory(program.get_compiled_memory_stats().temp_size_in_bytes)
        devices = program.local_devices()
        self._place = jax.sharding.SingleDeviceSharding(devices[0]), devices
        self._handlers = compiled._executable.unsafe_call.out_handler.handlers
        if self._donated and devices[0].platform == "gpu":
            self._run = InTurn(program)
        else:
            self._run = program.execute_sharded
        return self._run

    @property
    def footprint(self) -> Footprint:
        """How much memory the program takes."""
        return footprint(self._function, self._avals, self._donated)

    def _on_device(self, i: int, array: Any) -> Any:
        if type(array) is not np.ndarray:
            if isinstance(array, Tracer):
                raise UnexpectedTracerError("an argument of a program")
            card = card_of(array)
            if card is not None:
                return card.to_xla(array)
            array = np.asarray(array)
        if i < self._arguments and array.nbytes >= _LARGE and placement.card is not None:
            return self._kept_on_device(i, array)
        return self._put(i, array)

    def _kept_on_device(self, i: int, array: Any) -> Any:
        """A large array that comes a second time is on the GPU already."""
        known, there = self._kept.get(i, (None, None))
        if known is None or known() is not array:
            there = self._put(i, array)
            self._kept[i] = ref(array), there
        return there

    def _put(self, i: int, array: Any) -> Any:
        sharding, devices = self._place
        return batched_device_put(self._avals[i], sharding, [array], devices, True, enable_x64=True)


class Footprint(NamedTuple):
    """What a program takes of memory, in bytes, and XLA's own account of it."""

    arguments: int
    outputs: int
    aliased: int  # outputs that are written over arguments
    temporary: int
    code: int
    assignment: bytes  # BufferAssignmentProto: the buffers, and which there are at the peak
    module: bytes  # HloModuleProto: the ops that make them, with the user's lines

    @classmethod
    def of(cls, program: Any) -> Footprint:
        stats = program.get_compiled_memory_stats()
        return cls(
            stats.argument_size_in_bytes,
            stats.output_size_in_bytes,
            stats.alias_size_in_bytes,
            stats.temp_size_in_bytes,
            stats.generated_code_size_in_bytes,
            stats.serialized_buffer_assignment_proto,
            program.hlo_modules()[0].as_serialized_hlo_module_proto(),
        )


def footprint(
    function: Callable[..., Any], inputs: Iterable[Any], donated: tuple[int, ...] = ()
) -> Footprint:
    """What a function of arrays like `inputs` takes of memory, compiled for this.

    (A program that was found on the disk may be of other lines of the user's.)
    """

    def program(*arrays: Any) -> Any:  # another function than the one that JAX knows
        return function(*arrays)

    home = processor()
    place = home and jax.sharding.SingleDeviceSharding(home)
    with jax.enable_x64(True), compiled_anew():
        specs = [
            jax.ShapeDtypeStruct(numbers(x.shape), x.dtype, sharding=place)  # type: ignore[no-untyped-call]
            for x in inputs
        ]
        jitted: Any = jax.jit(program, donate_argnums=donated, keep_unused=True)
        compiled = jitted.lower(*specs).compile(options())
    return Footprint.of(compiled.runtime_executable())


class InTurn:
    """A program that writes into the arrays that it read the time before, twice, run in turn.

    XLA replays it as a graph of CUDA, with the addresses in it. From one call to the next what is
    read and what is written change places, and to correct the graph takes 25 of the 100 µs of a
    small training step. Each of two copies finds all where it was.
    """

    def __init__(self, program: Any) -> None:
        self._program = program
        self._twin: Callable[[list[Any]], Any] | None = None
        self._calls = 0

    def __call__(self, arrays: list[Any]) -> Any:
        self._calls += 1
        if self._calls % 2 or self._calls < _CALLS_ALONE:
            return self._program.execute_sharded(arrays)
        return (self._twin or self._copy())(arrays)

    def _copy(self) -> Callable[[list[Any]], Any]:
        devices = self._program.local_devices()
        client = devices[0].client
        twin = client.deserialize_executable(
            client.serialize_executable(self._program),
            executable_devices=DeviceList(tuple(devices)),
        )
        self._twin = twin.execute_sharded
        return self._twin


_CALLS_ALONE = 16
"""A program that is called less often is loaded once only."""


def _out_of_reach_of_signals(compile_program: Callable[..., Any]) -> Callable[..., Any]:
    """The same in a thread of its own, where no handler of a signal is run.

    If an interrupt ends JAX's wait for its compiler, that goes on with what the wait has freed, and
    the process crashes (JAX 0.10). Here an interrupt ends our wait for the thread.
    """

    @wraps(compile_program)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        if current_thread() is not main_thread():
            return compile_program(*args, **kwargs)
        ended: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

        def run() -> None:
            try:
                ended.put((compile_program(*args, **kwargs), None))
            except BaseException as error:
                ended.put((None, error))

        start(Thread(target=run, name="gradtape compiler"))
        program, error = ended.get()
        if error is not None:
            raise error
        return program

    return compiled


def _calling_back_in_64_bits(compile_program: Callable[..., Any]) -> Callable[..., Any]:
    """The same; what a program of 64 bits calls in Python runs with 64 bits too.

    XLA may run parts of a program in threads of its own. What JAX does there, before and after the
    function that is called, would cut numbers to 32 bits: `enable_x64` is set for our thread only.
    """

    @wraps(compile_program)
    def compiled(*args: Any) -> Any:
        *others, callbacks = args
        if jax.enable_x64.value:
            callbacks = list(map(_in_64_bits, callbacks))
        return compile_program(*others, callbacks)

    return compiled


def _in_64_bits(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def run(*args: Any) -> Any:
        with jax.enable_x64(True):
            return callback(*args)

    return run


compiler.backend_compile_and_load = _calling_back_in_64_bits(
    _out_of_reach_of_signals(kept_on_disk(compiler.backend_compile_and_load))
)
# JAX's own key of a program is made by MLIR, which makes a RuntimeError of an interrupt.
compiler._resolve_compilation_strategy = _out_of_reach_of_signals(
    compiler._resolve_compilation_strategy
)
source_info_util.register_exclusion(PACKAGE)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    return not record.exc_info or issubclass(record.exc_info[0] or Exception, Exception)


# JAX logs what Python raises in a program. An interrupt comes out of the call: once is enough.
for _logger in ("jax._src.callback", "jax._src.debugging"):
    logging.getLogger(_logger).addFilter(_is_no_interrupt)
