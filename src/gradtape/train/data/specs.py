"""Element specs: what is known of the elements of a dataset before there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np

from ...core import nest
from ...core.errors import ShapeError
from ...core.shape import TensorShape
from ...core.tensor import Tensor
from ...tape.type_specs import TensorSpec, TypeSpec
from .elements import is_dataset


class DatasetSpec(TypeSpec):
    """What is known of a dataset that is an element of another, or a part of one."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    @property
    def value_type(self) -> type:
        from .dataset import Dataset

        return Dataset

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        try:
            other = spec_or_value.element_spec
            fits = nest.map_structure(
                lambda a, b: a.is_compatible_with(b), self.element_spec, other
            )
        except (AttributeError, TypeError, ValueError):
            return False
        return all(nest.flatten(fits))

    def most_specific_compatible_type(self, other: Any) -> DatasetSpec:
        return DatasetSpec(common_spec([self.element_spec, other.element_spec]))

    def _parts(self) -> tuple[Any, ...]:
        return tuple(nest.flatten(self._element_spec)), self._dataset_shape

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


def spec_of(element: Any) -> Any:
    """The spec of an element that is there."""
    return nest.map_structure(_spec_of_part, element)


def _spec_of_part(part: Any) -> TypeSpec:
    if is_dataset(part):
        return DatasetSpec(part.element_spec)
    return TensorSpec(part.shape, part.dtype)


def common_spec(specs: Iterable[Any]) -> Any:
    """The narrowest spec that all of `specs` fit."""

    def narrowest(a: Any, b: Any) -> Any:
        try:
            return nest.map_structure(lambda x, y: x.most_specific_compatible_type(y), a, b)
        except (TypeError, ValueError):
            raise TypeError(
                f"The elements of the datasets have no type in common: {a!r} and {b!r}. Map one of "
                "them to the structure and the dtypes of the other."
            ) from None

    return reduce(narrowest, specs)


def batch_spec(spec: Any, size: int | None) -> Any:
    """The spec of batches of such elements; None where the last batch may be shorter."""
    return nest.map_structure(
        lambda s: TensorSpec(TensorShape([size]).concatenate(s.shape), s.dtype), spec
    )


def unbatch_spec(spec: Any) -> Any:
    """The spec of the rows of such elements."""
    return nest.map_structure(lambda s: TensorSpec(_of_a_row(s.shape), s.dtype), spec)


def _of_a_row(shape: TensorShape) -> TensorShape:
    if shape.rank == 0:
        raise ShapeError("Dataset.unbatch: the elements hold a scalar, which has no rows.")
    return shape if shape.rank is None else shape[1:]


def spec_of_results(fn: Callable[[Any], Any], spec: Any) -> Any:
    """The spec of what `fn` makes of elements of `spec`: `fn` is run on zeros to see.

    A dimension of the result is not known if it differs between inputs whose unknown dimensions
    are 2 and inputs where they are 3.
    """
    return common_spec(spec_of(fn(zeros(spec, size))) for size in (2, 3))


def zeros(spec: Any, size: int) -> Any:
    """An element of `spec`, with `size` for every unknown dimension."""
    return nest.map_structure(lambda part: _zeros(part, size), spec)


def _zeros(spec: Any, size: int) -> Any:
    if isinstance(spec, DatasetSpec):
        from .dataset import Dataset

        return Dataset.from_tensors(zeros(spec.element_spec, size))
    shape = [size if dim is None else dim for dim in spec.shape.as_list()]
    if spec.dtype.name == "string":
        return Tensor(np.full(shape, b"", object))
    return Tensor(np.zeros(shape, spec.dtype.numpy_dtype))
