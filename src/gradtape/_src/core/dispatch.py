"""From an op call to a result and a record: the one door for every op.

A call runs the kernel of the op on the arrays of its inputs. If an input has a key, a recorder may
track it: each of this thread that does is given a record of the call, or the tensors themselves
(recorder.py). `unary`, `binary`, `single` and `nary` make the callable of an op: the first two are
`nary` written out for the ops that eager code calls most (on 16 numbers, `binary` adds 0.5 µs to
NumPy's own 0.45 µs, `nary` 1.2 µs); `single` is `nary` for one tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .convert import as_tensor, operand, promotion
from .engine import LARGE, common_engine, engine_of
from .errors import DTypeError, NotATensorError
from .late import late
from .op import JointOp, Op, spec_like
from .placement import beside_cards, card_of, cards
from .recorder import recorders
from .sizes import any_open
from .spec import same_dtype, spec_of
from .take_over import take_over
from .tensor import Tensor, new_key, tensors_of
from .tracebacks import shorten
from .tracing import begin, current_graph, note, switches, tracing

_FLOAT32 = np.dtype(np.float32)
_ndarray = np.ndarray
_MANY = 16
"""Inputs: for two, tuples that grow take 0.1 µs less than lists; for 10,000, 150 ms more."""
_new = Tensor.__new__
_NO_PARAMS: dict[str, Any] = {}

_noting = False
"""Whether someone may want to know of each op call: a function that is traced, in any thread, or a
witness.

A plain bool of this module, because to look at it takes 3 ns; at a list or at an attribute of an
object elsewhere, 10 to 16 of the 660 that a small op takes.
"""


def _set_noting(on: bool) -> None:
    global _noting
    _noting = on


switches.append(_set_noting)


def _large_from(op: Op) -> int:
    """The size from which arrays are worked on in blocks; none has it for an op that must not."""
    return LARGE if op.in_blocks else sys.maxsize


def unary(op: Op) -> Callable[..., Tensor]:
    """The callable of an op of one tensor and no static parameters."""
    kernels = op.kernels
    allowed = op.dtypes
    usual = _FLOAT32 if _FLOAT32 in allowed else None  # spares a look into the set: 40 ns
    differentiable = op.differentiable
    large = _large_from(op)
    keep: Any = op.keep_for((0,))

    def call(x: Any, name: Any = None) -> Tensor:
        try:
            if type(x) is not Tensor:
                x = as_tensor(x, op=op.name)
                if x._intercept is not None:
                    return x._intercept(op, (x,), _NO_PARAMS)  # type: ignore[no-any-return]
            a = x._array
            dtype = a.dtype
            if dtype is not usual and dtype not in allowed:
                _refuse_dtype(op, x)
            if _noting:
                begin(op)
            out = _new(Tensor)
            out._key = None
            kind = type(a)
            try:
                if kind is _ndarray and a.size >= large:
                    out._array = op.run_large(a)
                else:
                    out._array = kernels[kind](a)
            except Exception as error:
                out._array = _rerun(op, (x,), _NO_PARAMS, error)
            if _noting:
                note(op, (x,), out, _NO_PARAMS)
            key = x._key
            if key is not None and differentiable:
                for recorder in recorders():
                    tracked = recorder.tracked
                    if key in tracked:
                        if out._key is None:
                            out._key = new_key()
                        tracked.add(out._key)
                        records = recorder.records
                        if records is None:
                            recorder.observe(op, (x,), out, _NO_PARAMS)
                        else:
                            records.append((op, ((0, key),), out._key, keep(x, out), _NO_PARAMS))
            return out
        except NotATensorError as error:
            return take_over(error, call, x)  # type: ignore[no-any-return]
        except Exception as error:
            shorten(error)
            raise

    return call


def binary(op: Op) -> Callable[..., Tensor]:
    """The callable of an elementwise, broadcasting op of two tensors and no static parameters."""
    run = op.builtin or op.run
    kernels = op.kernels

    def ask_engines() -> None:
        """With a GPU in the process, its engine is asked for the kernel, and the builtin is not."""
        nonlocal run
        for kind, engine in cards.items():
            kernels[kind] = op.on(engine)
        run = by_engine

    def by_engine(a: Any, b: Any) -> Any:
        return kernels[type(b) if type(b) in cards else type(a)](a, b)

    if op.builtin is not None:
        beside_cards.append(ask_engines)
        if cards:
            ask_engines()
    allowed = op.dtypes
    usual = _FLOAT32 if _FLOAT32 in allowed else None  # spares a look into the set: 40 ns
    differentiable = op.differentiable
    large = _large_from(op)
    keep_for_x: Any = op.keep_for((0,))
    keep_for_y: Any = op.keep_for((1,))
    keep_for_both: Any = op.keep_for((0, 1))

    def call(x: Any, y: Any, name: Any = None) -> Tensor:
        try:
            if type(x) is not Tensor or type(y) is not Tensor:
                x, y = _operands(op, x, y)
                intercept = x._intercept or y._intercept
                if intercept is not None:
                    return intercept(op, (x, y), _NO_PARAMS)  # type: ignore[no-any-return]
            a = x._array
            b = y._array
            dtype = a.dtype
            if dtype is not b.dtype or (dtype is not usual and dtype not in allowed):
                if dtype.kind == "O" == b.dtype.kind and op.of_strings is not None:
                    return op.of_strings(x, y)  # type: ignore[no-any-return]
                x, y = _agree(op, [x, y], op.arguments)
                a = x._array
                b = y._array
            if _noting:
                begin(op)
            out = _new(Tensor)
            out._key = None
            try:
                if type(a) is _ndarray and a.size >= large and type(b) is _ndarray:
                    out._array = op.run_large(a, b)
                else:
                    out._array = run(a, b)
            except Exception as error:
                out._array = _rerun(op, (x, y), _NO_PARAMS, error)
            if _noting:
                note(op, (x, y), out, _NO_PARAMS)
            kx = x._key
            ky = y._key
            if (kx is not None or ky is not None) and differentiable:
                for recorder in recorders():
                    tracked = recorder.tracked
                    if kx in tracked:
                        if ky in tracked:
                            inputs: Any = ((0, kx), (1, ky))
                            saved = keep_for_both(x, y, out)
                        else:
                            inputs = ((0, kx),)
                            saved = keep_for_x(x, y, out)
                    elif ky in tracked:
                        inputs = ((1, ky),)
                        saved = keep_for_y(x, y, out)
                    else:
                        continue
                    if out._key is None:
                        out._key = new_key()
                    tracked.add(out._key)
                    records = recorder.records
                    if records is None:
                        recorder.observe(op, (x, y), out, _NO_PARAMS)
                    else:
                        records.append((op, inputs, out._key, saved, _NO_PARAMS))
            return out
        except NotATensorError as error:
            return take_over(error, call, x, y)  # type: ignore[no-any-return]
        except Exception as error:
            shorten(error)
            raise

    return call


def single(op: Op) -> Callable[..., Any]:
    """The callable of an op of one tensor, with static parameters by keyword."""
    kernels = op.kernels
    allowed = op.dtypes
    in_blocks = op.in_blocks

    def call(x: Any, **params: Any) -> Any:
        try:
            if type(x) is not Tensor:
                x = as_tensor(x, op=op.name)
                if x._intercept is not None:
                    return x._intercept(op, (x,), params)
            a = x._array
            if a.dtype not in allowed:
                _refuse_dtype(op, x)
            if _noting:
                begin(op)
            try:
                if in_blocks and type(a) is _ndarray and a.size >= LARGE:
                    result = op.run_large(a, **params)
                else:
                    result = kernels[type(a)](a, **params)
            except Exception as error:
                result = _rerun(op, (x,), params, error)
            if type(result) is tuple:
                out: Any = tuple(tensors_of(result))
            else:
                out = _new(Tensor)
                out._array = result
                out._key = None
            if _noting:
                note(op, (x,), out, params)
            if x._key is not None and op.differentiable and recorders():
                record(op, (x,), out, params)
            return out
        except NotATensorError as error:
            return take_over(error, call, x, **params)
        except Exception as error:
            shorten(error)
            raise

    return call


def nary(op: Op) -> Callable[..., Any]:
    """The callable of any op: tensors by position, static parameters by keyword."""
    if len(op.arguments) == 1 and not op.variadic:
        return single(op)
    kernels = op.kernels
    in_blocks = op.in_blocks

    def call(*tensors: Any, **params: Any) -> Any:
        try:
            inputs = _prepare(op, tensors)
            if inputs is not tensors:
                for x in inputs:
                    if x._intercept is not None:
                        return x._intercept(op, inputs, params)
            arrays = [x._array for x in inputs]
            if _noting:
                begin(op)
            try:
                if in_blocks and _are_large(arrays):
                    result = op.run_large(*arrays, **params)
                else:
                    result = kernels[type(arrays[0])](*arrays, **params)
            except Exception as error:
                result = _rerun(op, inputs, params, error)
            outputs = tuple(tensors_of(result)) if type(result) is tuple else Tensor(result)
            if _noting:
                note(op, inputs, outputs, params)
            if op.differentiable and recorders():
                for x in inputs:
                    if x._key is not None:
                        record(op, inputs, outputs, params)
                        break
            return outputs
        except NotATensorError as error:
            return take_over(error, call, *tensors, **params)
        except Exception as error:
            shorten(error)
            raise

    return call


def _are_large(arrays: list[Any]) -> bool:
    """Whether they are of the host, and one of them is large."""
    large = False
    for array in arrays:
        if type(array) is not _ndarray:
            return False
        large = large or array.size >= LARGE
    return large


def record(
    op: Op | JointOp, inputs: Any, outputs: Any, params: dict[str, Any], to: Any = None
) -> None:
    """Offer an executed op to the recorders of this thread, or only to those in `to`."""
    if tracing.witnesses and type(op) is not Op:  # (the calls of an Op are noted above)
        for witness in tracing.witnesses:
            witness.ran(op, inputs, outputs, params)
    for recorder in recorders() if to is None else to:
        made = make_record(op, inputs, outputs, params, recorder.tracked)
        if made is None:
            continue
        records = recorder.records
        if records is None:
            recorder.observe(op, inputs, outputs, params)
        else:
            records.append(made)


def make_record(
    op: Op | JointOp, inputs: Any, outputs: Any, params: dict[str, Any], tracked: set[int | None]
) -> Any:
    """The record of an executed op for a recorder that follows the keys in `tracked`.

    The keys of the outputs are added to `tracked`. None, and nothing is added, if no gradient can
    flow back from the outputs. The record is a bare tuple: see Record.
    """
    positions: Any = ()
    keys: Any = ()
    if len(inputs) > _MANY:
        keys = tuple([(i, x._key) for i, x in enumerate(inputs) if x._key in tracked])
        positions = tuple([i for i, _ in keys])
    else:
        for i, x in enumerate(inputs):
            if x._key in tracked:
                positions += (i,)
                keys += ((i, x._key),)
    keep = op.keep_for(positions) if positions else None
    if keep is None:
        return None
    saved = keep(*(op.slots_of(inputs) if op.variadic else inputs), outputs)
    out_keys: Any
    if type(outputs) is tuple:
        out_keys = tuple([_track(out, tracked) for out in outputs])
        if saved[-1] is None:
            saved = (*saved[:-1], spec_like(outputs))  # zeros for the outputs that nothing used
    else:
        out_keys = _track(outputs, tracked)
    return op, keys, op.outputs or out_keys, saved, params


def _track(out: Tensor, tracked: set[int | None]) -> int:
    """The key of an output, tracked if a gradient can flow through it."""
    key = out._key
    if key is None:
        key = out._key = new_key()
    if out._array.dtype in dtypes.INEXACT:
        tracked.add(key)
    return key


def _prepare(op: Op, tensors: Any) -> Any:
    """The arguments as tensors; those that must have one dtype have it, or this raises."""
    positions = op.alike_of(tensors) if op.variadic else op.alike
    dtype = None
    for i in positions:
        x = tensors[i]
        if type(x) is not Tensor or (dtype is not None and x._array.dtype is not dtype):
            break
        dtype = x._array.dtype
    else:
        if dtype is None or dtype in op.dtypes:
            for x in tensors:
                if type(x) is not Tensor:
                    break
            else:
                return tensors
    names = op.names_of(tensors)
    inputs = list(tensors)
    matched = _agree(op, [tensors[i] for i in positions], [names[i] for i in positions])
    for i, x in zip(positions, matched, strict=True):
        inputs[i] = x
    return [x if type(x) is Tensor else as_tensor(x, op=op.name) for x in inputs]


def _operands(op: Op, x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both as tensors; a plain value takes the dtype of the tensor it meets."""
    # hasattr first: what is no tensor here is most often a variable
    if type(x) is not Tensor and hasattr(x, "_as_tensor"):
        x = x._as_tensor()
    if type(y) is not Tensor and hasattr(y, "_as_tensor"):
        y = y._as_tensor()
    if isinstance(x, Tensor):
        if not isinstance(y, Tensor):
            y = operand(y, x._array.dtype, op.name)
            if type(x._array) is not _ndarray:
                _simplify(y, x)
        return x, y
    if isinstance(y, Tensor):
        x = operand(x, y._array.dtype, op.name)
        if type(y._array) is not _ndarray:
            _simplify(x, y)
        return x, y
    x = as_tensor(x, op=op.name)
    return x, operand(y, x._array.dtype, op.name)


def _simplify(number: Tensor, partner: Tensor) -> None:
    """A number beside an array of a GPU, as the launch of a kernel takes it along."""
    array = number._array
    if type(array) is _ndarray and not array.ndim and card_of(partner._array) is not None:
        number._array = array[()]


def _agree(op: Op, values: list[Any], names: Any) -> list[Tensor]:
    """`values` as tensors of one dtype that the op takes, or a DTypeError."""
    if not values:
        return []
    values = [v._as_tensor() if hasattr(v, "_as_tensor") else v for v in values]
    first = next((v for v in values if isinstance(v, Tensor)), None)
    if first is None:
        first = values[0] = as_tensor(values[0], op=op.name)
    dtype = first._array.dtype
    tensors = [v if isinstance(v, Tensor) else operand(v, dtype, op.name) for v in values]
    if any(t._array.dtype != dtype for t in tensors):
        if not promotion.numpy:
            specs = [spec_of(t._array) for t in tensors]
            same_dtype(op.name, op.dtypes, **dict(zip(names, specs, strict=True)))
        common = np.result_type(*(t._array.dtype for t in tensors))
        tensors = [t if t._array.dtype == common else late.cast(t, common) for t in tensors]
    for name, t in zip(names, tensors, strict=True):
        if t._array.dtype not in op.dtypes:
            _refuse_dtype(op, t, name)
    return tensors


def _refuse_dtype(op: Op, x: Tensor, name: str | None = None) -> None:
    names = ", ".join(d.name for d in dtypes.ALL if d.numpy_dtype in op.dtypes)
    name = name or op.arguments[0]
    advice = "Convert it with tf.cast."
    if x.dtype is dtypes.string:
        advice = "Text is no number."
    elif _FLOAT32 in op.dtypes:
        advice = f"Convert it: tf.cast({name}, tf.float32)."
    raise DTypeError(f"{op.name}: `{name}` is {x.dtype.name}, and the op takes {names}. {advice}")


def _rerun(op: Op, inputs: Any, params: dict[str, Any], error: Exception) -> Any:
    """The kernel raised, or is not bound yet: run it on its engine, or say what is wrong.

    (A dict of kernels that binds them in `__missing__` would say the second more plainly, and make
    every call slower: a look into a subclass of dict takes 11 ns more, 1.6 % of a small op.)

    Overflow and division by zero give Inf and NaN without a word. NumPy's RuntimeWarning about them
    arrives here as an exception where the user has turned warnings into errors.
    """
    arrays = [x._array for x in inputs]
    kind, engine = type(arrays[0]), common_engine(arrays)
    if engine.is_host:
        size = any_open([*params.values()])
        if size is not None:  # then even constants are part of a program
            engine = engine_of(type(size))
    adopted = engine.adopt_all(op, arrays)
    mixed = any([a is not b for a, b in zip(adopted, arrays, strict=True)])
    ran_there = kind in op.kernels and engine is engine_of(kind) and not mixed
    if kind not in op.kernels:
        op.kernels[kind] = op.on(engine_of(kind))
    try:
        if ran_there and not isinstance(error, RuntimeWarning):
            raise error
        if not engine.is_host:
            return op.on(engine)(*adopted, **params)
        with np.errstate(all="ignore"):
            return op.on(engine)(*adopted, **params)
    except Exception as reason:
        graph = current_graph()
        if graph is not None and engine.is_host and not graph.always_runs:
            return graph.left_to_the_run(op, inputs, params, reason)
        op.explain(inputs, params, reason)
        raise
