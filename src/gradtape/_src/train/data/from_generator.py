"""Elements from Python generators, as a signature promises them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor, to_array
from ...core.dtypes import as_dtype
from ...core.errors import ShapeError
from ...core.placement import on_host
from ...core.tensor import Tensor
from ...tape.type_specs import TensorSpec, TypeSpec
from .elements import as_element, as_row, flatten_up_to
from .failures import Failure, attempt

_OP = "Dataset.from_generator"


def signature_of(output_signature: Any, output_types: Any, output_shapes: Any) -> Any:
    """The spec of the elements that a generator promises, from either way of saying it."""
    if output_signature is None:
        if output_types is None:
            raise TypeError(
                f"{_OP}: say what the generator yields: output_signature=tf.TensorSpec(shape, "
                "dtype), or a tuple or dict of them."
            )
        leaves = nest.flatten(output_types)
        shapes = [None] * len(leaves)
        if output_shapes is not None:
            shapes = flatten_up_to(output_types, output_shapes, _OP, "`output_shapes`")
        specs = [TensorSpec(shape, as_dtype(t)) for shape, t in zip(shapes, leaves, strict=True)]
        return nest.pack_sequence_as(output_types, specs)
    if output_types is not None or output_shapes is not None:
        raise TypeError(
            f"{_OP}: give either `output_signature`, or `output_types` and `output_shapes`. "
            f"Received: {output_signature!r:.100}, {output_types!r:.100}, {output_shapes!r:.100}."
        )
    for leaf in nest.flatten(output_signature):
        if not isinstance(leaf, TypeSpec):
            raise TypeError(
                f"{_OP}: `output_signature` must consist of TypeSpecs, and holds {leaf!r:.100}."
            )
    return output_signature


def generate(generator: Callable[..., Any], args: Any, spec: Any) -> Iterator[Any]:
    """The elements of a new call of `generator`, as `spec` promises them."""
    leaves = nest.flatten(spec)

    def promised(value: Any) -> Any:
        parts = flatten_up_to(spec, value, _OP, "what the generator yields")
        return nest.pack(spec, map(_as_promised, parts, leaves))

    def begun() -> Iterator[Any]:
        return iter(generator(*[as_tensor(arg, op=_OP).numpy() for arg in args or ()]))

    values = attempt(begun)
    if isinstance(values, Failure):
        yield values
        return
    while True:
        try:
            value = next(values)
        except StopIteration:
            return
        except Exception as error:  # of a generator it is the last, not of an iterator
            yield Failure(error)
        else:
            yield attempt(promised, value)


def _as_promised(value: Any, spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(
                f"{_OP}: the generator yielded {value!r:.100}, where the signature promises {spec}."
            )
        return None if value is None else as_row(as_element(value, _OP), spec)
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        value = np.asarray(on_host(as_tensor(value)._array))
    array = to_array(value, spec.dtype, f"{_OP}: what the generator yields")
    if not spec.shape.is_compatible_with(array.shape):
        raise ShapeError(
            f"{_OP}: the generator yielded an element of shape {array.shape}, where the signature "
            f"promises {spec.shape}. Correct the signature: None is a dimension of any size."
        )
    return Tensor(array)
