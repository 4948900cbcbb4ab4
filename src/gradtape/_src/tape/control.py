"""Control flow as functions: cond, case, switch_case, while_loop, map_fn, scan, foldl, foldr.

Called eagerly they are what Python does, and differentiable as such. Each comes down to one of
the four methods of `EagerForms`, with its arguments checked: `@function` puts other forms in
their place while it traces, by `forms.set(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core import nest
from ..core.composite import CompositeTensor, TypeSpec
from ..core.convert import as_tensor, operand
from ..core.cotangent import IndexedSlices
from ..core.dtypes import INTEGER, DType, as_dtype
from ..core.errors import (
    DTypeError,
    DynamicSizeError,
    InvalidArgumentError,
    OutOfRangeError,
    ShapeError,
)
from ..core.interrupts import keep_variable
from ..core.shape import TensorShape
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from ..ops.array.cast import stop_gradient
from ..ops.array.joining import concat, stack, unstack
from ..ops.array.shape import broadcast_to
from ..ops.effects.run_time import at_run_time, waits_for_run_time
from .type_specs import TensorSpec, zeros_of_spec

if TYPE_CHECKING:
    from ..core.annotations import AnyFunction

R = TypeVar("R")
S = TypeVar("S")
Structure = Any
"""A tensor, or a nest of tensors."""


class EagerForms:
    """Control flow by Python's own."""

    def cond(
        self,
        pred: Any,
        true_fn: Callable[[], Any],
        false_fn: Callable[[], Any],
        both: bool = False,
    ) -> Any:
        """What one of the functions returns. With `both` they do more than that, when traced."""
        return true_fn() if pred else false_fn()

    def switch(self, index: Tensor, branches: list[Callable[[], Any]]) -> Any:
        """The branch at `index`, or the last one for an index that there is none for."""
        i = int(index)
        return branches[i if 0 <= i < len(branches) else -1]()

    def loop(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        maximum_iterations: int | None,
    ) -> Any:
        """`loop_vars = body(*loop_vars)` while `cond(*loop_vars)`, at most so many times."""
        done = 0
        while (maximum_iterations is None or done < maximum_iterations) and cond(*loop_vars):
            loop_vars = pack_like(body(*loop_vars), loop_vars)
            done += 1
        return loop_vars

    def walk(
        self,
        step: Callable[[Any, Any], tuple[Any, Any]],
        state: Any,
        elems: Structure,
        reverse: bool,
    ) -> tuple[Any, list[Any] | Stacked]:
        """`state, result = step(state, element)` along axis 0; the last state, all results."""
        # One op gives all rows, and its gradient is one stack; that of each x[i] has the size of x.
        columns = [_rows(x) for x in nest.flatten(elems)]
        rows = [nest.pack_sequence_as(elems, row) for row in zip(*columns, strict=True)]
        results = []
        for element in reversed(rows) if reverse else rows:
            state, result = step(state, element)
            results.append(result)
        return state, results[::-1] if reverse else results


def _rows(x: Any) -> list[Any]:
    return x._type_spec._unstack(x) if isinstance(x, CompositeTensor) else unstack(x)


class Stacked:
    """The results of a walk that are stacked already."""

    def __init__(self, tensors: Structure) -> None:
        self.tensors = tensors


EAGER = EagerForms()
forms: ContextVar[EagerForms] = ContextVar("control flow", default=EAGER)
keep_variable(forms)
"""The forms in which control flow runs."""


# Choosing


def cond(
    pred: Any,
    true_fn: Callable[[], R] | None = None,
    false_fn: Callable[[], S] | None = None,
    name: str | None = None,
) -> R | S:
    """`true_fn()` if `pred` is true, else `false_fn()`. Only the function that is chosen runs.

    >>> cond(tf.constant(2.0) > 1.0, lambda: tf.constant("yes"), lambda: tf.constant("no")).numpy()
    b'yes'
    """
    chosen: R | S = forms.get().cond(
        pred, _callable(true_fn, "cond", "true_fn"), _callable(false_fn, "cond", "false_fn")
    )
    return chosen


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Tensor | Any:
    """What the function of the first true condition gives; that of `default` if none is true.

    `pred_fn_pairs` is a list of pairs (scalar bool tensor, function). With `exclusive` it is an
    error if more than one condition is true; without `default`, if none is.
    """
    if isinstance(pred_fn_pairs, Mapping):
        raise DTypeError(
            "case: `pred_fn_pairs` must be a list of pairs (condition, function): a dict has no "
            "order, and tensors cannot be its keys."
        )
    pairs = [
        _pair(each, "case", "pred_fn_pairs")
        for each in _items(pred_fn_pairs, "case", "pred_fn_pairs")
    ]
    preds = []
    for pred, fn in pairs:
        tensor = as_tensor(pred) if hasattr(pred, "_as_tensor") else pred
        if not isinstance(tensor, Tensor) or not tensor.dtype.is_bool:
            raise DTypeError(f"case: a condition must be a tensor of bool, not {pred!r}.")
        _callable(fn, "case", "pred_fn_pairs")
        preds.append(pred)
    if default is not None:
        _callable(default, "case", "default")
    _check_conditions([as_tensor(pred) for pred in preds], exclusive, default is not None)
    otherwise = default
    if otherwise is None:
        *pairs, (_, otherwise) = pairs
    for pred, fn in reversed(pairs):
        otherwise = partial(forms.get().cond, pred, fn, otherwise)
    return otherwise()


def _check_conditions(preds: list[Tensor], exclusive: bool, has_default: bool) -> None:
    """Raise if more conditions of a `case` are true than may be, or fewer; where it runs."""

    def check(*conditions: Any) -> None:
        values = [bool(condition) for condition in conditions]
        if exclusive and sum(values) > 1:
            raise InvalidArgumentError(
                f"case: exclusive=True, and more than one condition is true: {values}."
            )
        if not has_default and not any(values):
            raise InvalidArgumentError("case: no condition is true, and there is no `default`.")

    if has_default and not exclusive:
        return
    if waits_for_run_time(*preds):
        at_run_time(check, *[pred._array for pred in preds])
    else:
        check(*preds)


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Tensor | Any:
    """What `branch_fns[branch_index]()` gives; `default()` or the last for any other index.

    `branch_fns` is a list of functions, or a dict or list of pairs from 0, 1, 2 ... to functions.
    """
    if not isinstance(branch_index, Tensor) and not hasattr(branch_index, "_as_tensor"):
        raise DTypeError(
            f"switch_case: `branch_index` must be an integer tensor, not {branch_index!r}."
        )
    index = as_tensor(branch_index, op="switch_case")
    if index._array.dtype not in INTEGER:
        raise DTypeError(
            f"switch_case: `branch_index` must be an integer tensor, not {index.dtype.name}."
        )
    if index.ndim:
        raise ShapeError(
            f"switch_case: `branch_index` must be a scalar, and has shape {index.shape}."
        )
    entries = _items(
        list(branch_fns.items()) if isinstance(branch_fns, Mapping) else branch_fns,
        "switch_case",
        "branch_fns",
    )
    if not all(callable(entry) for entry in entries):
        numbered = dict(_pair(entry, "switch_case", "branch_fns") for entry in entries)
        if sorted(numbered) != list(range(len(entries))):
            raise InvalidArgumentError(
                f"switch_case: the numbers in `branch_fns` must be 0 to {len(entries) - 1}, each "
                f"once, and are {sorted(numbered)}."
            )
        entries = [numbered[i] for i in range(len(entries))]
    branches = [_callable(fn, "switch_case", "branch_fns") for fn in entries]
    if default is not None:
        branches.append(_callable(default, "switch_case", "default"))
    return forms.get().switch(index, branches)


# Repeating


def while_loop(
    cond: AnyFunction,
    body: AnyFunction,
    loop_vars: list[Any] | tuple[Any, ...],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Sequence[Tensor | Any]:
    """`loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` is true; the last `loop_vars`.

    They are a list or tuple of tensors or nests of tensors, and `body` returns as many, nested
    alike. `maximum_iterations` bounds the number of rounds. `shape_invariants` are checked
    against the values to begin with; the other arguments are TensorFlow's hints to itself. With
    back_prop=False the result is a constant to tapes.

    >>> while_loop(lambda y: y < 10.0, lambda y: (2.0 * y,), (tf.constant(1.0),))[0]
    <tf.Tensor: shape=(), dtype=float32, numpy=16.0>
    """
    _callable(cond, "while_loop", "cond")
    _callable(body, "while_loop", "body")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise InvalidArgumentError(
            "while_loop: `loop_vars` must be a list or tuple of at least one tensor, not "
            f"{loop_vars!r:.200}."
        )
    if shape_invariants is not None:
        _check_invariants(loop_vars, shape_invariants)
    rounds = None if maximum_iterations is None else int(maximum_iterations)
    with shapes_may_change(shape_invariants is not None):
        result = forms.get().loop(cond, body, loop_vars, rounds)
    last: Sequence[Any] = nest.map_structure(_as_loop_var, result)
    return _constant_if(not back_prop, last)  # type: ignore[no-any-return]


@contextmanager
def shapes_may_change(allowed: bool) -> Iterator[None]:
    """A block with a loop whose user has (or has not) said that shapes change from round to round.

    Such a loop is Python's, not one of a compiled program.
    """
    try:
        yield
    except ShapeError as error:
        if not allowed or forms.get() is EAGER:
            raise
        raise DynamicSizeError(f"the shapes of the loop variables change: {error}") from error


def _as_loop_var(value: Any) -> Any:
    """`value` as a tensor; a TensorArray and a composite stay what they are."""
    if hasattr(value, "stack") or isinstance(value, CompositeTensor):
        return value
    return as_tensor(value, op="while_loop")


def pack_like(result: Any, loop_vars: Any) -> Any:
    """What a body returned, as the next loop variables, nested as the present ones."""
    several = isinstance(result, (list, tuple))
    if len(loop_vars) == 1 and (not several or len(result) != 1):
        result = [result] if type(loop_vars) is list else (result,)
    elif not several:
        raise InvalidArgumentError(
            f"while_loop: `body` must return its {len(loop_vars)} loop variables as a list or "
            f"tuple, and returned {result!r:.200}."
        )
    try:
        nest.assert_same_structure(list(loop_vars), list(result))
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"while_loop: `body` must return its loop variables nested as they came. {error}"
        ) from None
    return result


def _check_invariants(loop_vars: Any, shape_invariants: Any) -> None:
    shapes = nest.flatten(shape_invariants)
    values = nest.flatten(loop_vars)
    if len(shapes) != len(values):
        raise InvalidArgumentError(
            f"while_loop: there are {len(values)} tensors in `loop_vars` and {len(shapes)} "
            "`shape_invariants`."
        )
    for value, shape in zip(values, shapes, strict=True):
        if isinstance(value, CompositeTensor):
            _check_composite_invariant(value, shape)
            continue
        wanted = TensorShape(getattr(shape, "shape", shape))
        if not hasattr(value, "stack") and not wanted.is_compatible_with(as_tensor(value).shape):
            raise ShapeError(
                f"while_loop: a loop variable begins with shape {as_tensor(value).shape}, which "
                f"its invariant {wanted} does not allow."
            )


def _check_composite_invariant(value: Any, invariant: Any) -> None:
    spec = value._type_spec
    if isinstance(invariant, TypeSpec):
        fits, begins = invariant.is_compatible_with(spec), spec
    else:
        fits, begins = TensorShape(invariant).is_compatible_with(value.shape), value.shape
    if not fits:
        raise ShapeError(
            f"while_loop: a loop variable begins as {begins}, which its invariant {invariant} does "
            "not allow."
        )


# Along the elements of tensors


def map_fn(
    fn: Callable[[Any], Any],
    elems: Structure,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Tensor | Any:
    """`fn` of each element along axis 0 of `elems`, the results stacked along axis 0.

    `fn_output_signature` (or `dtype`, its older name) says the dtypes that `fn` returns, nested
    as it returns them, where they differ from those of `elems`; an entry may be a TensorSpec. The
    function runs once for each element; `vectorized_map` runs it once for all.

    >>> map_fn(lambda x: tf.reduce_sum(x), tf.constant([[1, 2], [3, 4]]))
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 7], dtype=int32)>
    """
    _callable(fn, "map_fn", "fn")
    elems = _elements(elems, "map_fn")
    signature = dtype if fn_output_signature is None else fn_output_signature
    if signature is None:
        signature = nest.map_structure(_signature_of_element, elems)
    wanted = nest.map_structure(_signature, signature)
    if forms.get() is not EAGER and nest.composites((elems, wanted)):
        if current_graph().learns_shapes:
            return _map_one(fn, elems, wanted)
        raise DynamicSizeError("map_fn: the sizes of composite elements depend on values.")

    def step(unused: None, element: Any) -> tuple[None, Any]:
        return None, _results(fn(element), wanted, "map_fn", "or give `fn_output_signature`")

    _, results = forms.get().walk(step, None, elems, False)
    return _constant_if(not back_prop, _stacked(results, wanted, "map_fn"))


def _map_one(fn: Callable[[Any], Any], elems: Any, wanted: Any) -> Any:
    """What `map_fn` gives where only shapes are learned: the result for one element, repeated."""

    def first(x: Any) -> Any:
        return zeros_of_spec(x._type_spec._unbatch(), 1) if isinstance(x, CompositeTensor) else x[0]

    tensors = [x for x in nest.flatten(elems) if isinstance(x, Tensor)]
    if not tensors or nest.composites(wanted):
        raise DynamicSizeError("map_fn: the number of composite elements depends on values.")
    results = _results(fn(nest.map_structure(first, elems)), wanted, "map_fn", "")
    count = tensors[0]._array.shape[0]
    return nest.map_structure(lambda y: broadcast_to(y, (count, *y._array.shape)), results)


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Structure,
    initializer: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor | Any:
    """All states of `state = fn(state, element)` along axis 0 of `elems`, stacked along axis 0.

    It begins with `initializer`, or with the first element, which then is the first state. With
    `reverse` it goes from the last element to the first.

    >>> scan(lambda total, x: total + x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 6], dtype=int32)>
    """
    _callable(fn, "scan", "fn")
    elems = _elements(elems, "scan")
    state, elems = _start(elems, initializer, reverse, "scan")
    wanted = nest.map_structure(TensorSpec.from_tensor, state)

    def step(state: Any, element: Any) -> tuple[Any, Any]:
        new = _results(
            fn(state, element), wanted, "scan", "to the dtype of the state that it begins with"
        )
        return new, new

    _, results = forms.get().walk(step, state, elems, reverse)
    if initializer is None:
        results = _with_first(state, results, reverse)
    return _constant_if(not back_prop, _stacked(results, wanted, "scan"))


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Structure,
    initializer: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Tensor | Any:
    """The last state of `state = fn(state, element)` along axis 0 of `elems`, first to last.

    It begins with `initializer`, or with the first element.
    """
    return _fold(fn, elems, initializer, back_prop, False, "foldl")


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Structure,
    initializer: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Tensor | Any:
    """The last state of `state = fn(state, element)` along axis 0 of `elems`, last to first.

    It begins with `initializer`, or with the last element.
    """
    return _fold(fn, elems, initializer, back_prop, True, "foldr")


def _fold(fn: Any, elems: Any, initializer: Any, back_prop: bool, reverse: bool, op: str) -> Any:
    _callable(fn, op, "fn")
    state, elems = _start(_elements(elems, op), initializer, reverse, op)

    def step(state: Any, element: Any) -> tuple[Any, None]:
        new = fn(state, element)
        _same_nesting(state, new, op)
        return nest.map_structure(lambda x: as_tensor(x, op=op), new), None

    state, _ = forms.get().walk(step, state, elems, reverse)
    return _constant_if(not back_prop, state)


def _elements(elems: Any, op: str) -> Tensor | Any:
    """`elems` as tensors (and composites) of one length along axis 0."""
    elems = nest.map_structure(lambda x: x if _has_rows(x) else as_tensor(x, op=op), elems)
    tensors = nest.flatten(elems)
    if not tensors:
        raise InvalidArgumentError(f"{op}: `elems` holds no tensor.")
    for x in tensors:
        if x.shape.rank == 0:
            raise ShapeError(
                f"{op}: a tensor in `elems` is a scalar, and has no elements along axis 0."
            )
    if len({_length(x) for x in tensors} - {None}) > 1:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(
            f"{op}: the tensors in `elems` must have one length along axis 0. Received: {shapes}."
        )
    return elems


def _has_rows(x: Any) -> bool:
    """Whether `x` is a composite whose elements are composites. (Indexed slices become dense.)"""
    return isinstance(x, CompositeTensor) and not isinstance(x, IndexedSlices)


def _length(x: Any) -> Any:
    return x._array.shape[0] if isinstance(x, Tensor) else x.shape[0]


def _start(elems: Structure, initializer: Any, reverse: bool, op: str) -> tuple[Any, Structure]:
    """The state to begin with, and the elements that are still to come."""
    if initializer is not None:
        return nest.map_structure(lambda x: as_tensor(x, op=op), initializer), elems
    if not _length(nest.flatten(elems)[0]):
        raise OutOfRangeError(
            f"{op}: `elems` is empty and there is no `initializer` to begin with."
        )
    first, others = (-1, slice(None, -1)) if reverse else (0, slice(1, None))
    return nest.map_structure(lambda x: x[first], elems), nest.map_structure(
        lambda x: x[others], elems
    )


def _signature_of_element(elems: Any) -> Any:
    if isinstance(elems, Tensor):
        return elems.dtype
    return elems._type_spec._of_any_size()._unbatch()


def _signature(entry: Any) -> Any:
    """What an entry of a signature says of a result."""
    if isinstance(entry, TypeSpec):
        return entry
    if isinstance(entry, (DType, str, type, np.dtype)):
        return TensorSpec(None, as_dtype(entry))
    raise DTypeError(
        f"map_fn: `fn_output_signature` must consist of dtypes and TypeSpecs, and holds {entry!r}."
    )


def _results(result: Any, wanted: Any, op: str, remedy: str) -> Tensor | Any:
    """What a function returned as tensors, if they fit `wanted`, a nest of specs."""
    _same_nesting(wanted, result, op)
    return nest.map_structure(lambda spec, y: _result(spec, y, op, remedy), wanted, result)


def _result(spec: Any, value: Any, op: str, remedy: str) -> Any:
    if not isinstance(spec, TensorSpec):
        if not spec.is_compatible_with(value):
            raise DTypeError(f"{op}: `fn` must return a {spec}, and returned {value!r:.200}.")
        return value
    known = isinstance(value, (Tensor, np.ndarray)) or hasattr(value, "_as_tensor")
    y = as_tensor(value, op=op) if known else operand(value, spec.dtype.numpy_dtype, op)
    if y.dtype is not spec.dtype:
        raise DTypeError(
            f"{op}: `fn` returned {y.dtype.name} where {spec.dtype.name} is expected. Cast what it "
            f"returns {remedy}."
        )
    if not spec.shape.is_compatible_with(y.shape):
        raise ShapeError(f"{op}: `fn` returned shape {y.shape} where {spec.shape} is expected.")
    return y


def _same_nesting(wanted: Any, found: Any, op: str) -> None:
    try:
        nest.assert_same_structure(wanted, found)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{op}: `fn` must return what is nested as expected. {error}") from None


def _with_first(state: Any, results: Any, reverse: bool) -> Any:
    """The results with the state that the walk began with, where it was the first element."""
    if not isinstance(results, Stacked):
        return [*results, state] if reverse else [state, *results]

    def joined(first: Tensor, rest: Tensor) -> Tensor:
        return concat([rest, first[None]] if reverse else [first[None], rest], 0)

    return Stacked(nest.map_structure(joined, state, results.tensors))


def _stacked(results: Any, wanted: Any, op: str) -> Tensor | Any:
    """The results, nested as `wanted`, each stacked along axis 0."""
    if isinstance(results, Stacked):
        return results.tensors
    if not results:
        return nest.map_structure(_no_results, wanted)
    columns = zip(nest.flatten(wanted), *map(nest.flatten, results), strict=True)
    return nest.pack_sequence_as(wanted, [_stack(spec, column, op) for spec, *column in columns])


def _stack(spec: Any, column: list[Any], op: str) -> Any:
    if not isinstance(spec, TensorSpec):
        return spec._stack(column)
    shapes = {y._array.shape for y in column}
    if len(shapes) > 1:
        raise ShapeError(
            f"{op}: `fn` returned different shapes, which cannot be stacked: {sorted(shapes)}."
        )
    return stack(column)


def _no_results(spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return spec._stack([])
    shape = tuple(spec.shape) if spec.shape.is_fully_defined() else ()
    return Tensor(np.zeros((0, *shape), spec.dtype.numpy_dtype))


def _constant_if(cut: bool, results: Structure) -> Structure:
    if not cut:
        return results
    return nest.map_structure(lambda y: stop_gradient(y) if isinstance(y, Tensor) else y, results)


def _callable(fn: Any, op: str, name: str) -> Callable[..., Any]:
    if not callable(fn):
        raise DTypeError(f"{op}: `{name}` must be a function, not {fn!r:.200}.")
    return fn  # type: ignore[no-any-return]


def _items(items: Any, op: str, name: str) -> list[Any]:
    if not isinstance(items, (list, tuple)):
        raise DTypeError(f"{op}: `{name}` must be a list, not {items!r:.200}.")
    if not items:
        raise InvalidArgumentError(f"{op}: `{name}` is empty: there is nothing to choose from.")
    return list(items)


def _pair(entry: Any, op: str, name: str) -> tuple[Any, Any]:
    if not isinstance(entry, (list, tuple)) or len(entry) != 2:
        raise DTypeError(f"{op}: `{name}` must consist of pairs, and holds {entry!r:.200}.")
    return entry[0], entry[1]
