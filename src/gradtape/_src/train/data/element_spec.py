"""Element specs: what is known of the elements of a dataset before there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from ...core import nest
from ...core.placement import on_host
from ...core.recorder import heard_by
from ...core.tensor import Tensor
from ...tape.type_specs import NoneTensorSpec, TensorSpec, TypeSpec, zeros_of_spec
from .failures import Failure, attempt, made


def spec_of(element: Any) -> Any:
    """The spec of an element that is there."""
    return nest.map_structure(_spec_of_part, element)


def _spec_of_part(part: Any) -> TypeSpec:
    if isinstance(part, Tensor):
        return getattr(part, "_row_spec", None) or TensorSpec.from_tensor(part)
    return NoneTensorSpec() if part is None else part._type_spec


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
    return nest.map_structure(lambda part: part._batch(size), spec)


def unbatch_spec(spec: Any) -> Any:
    """The spec of the rows of such elements."""
    return nest.map_structure(lambda part: part._unbatch(), spec)


def spec_of_results(
    fn: Callable[[Any], Any], spec: Any, elements: Callable[[], Iterable[Any]]
) -> Any:
    """The spec of what `fn` makes of elements of `spec`: `fn` is run on zeros to see.

    A dimension of the result is not known if it differs between inputs whose unknown dimensions
    are 2 and inputs where they are 3. Where `fn` cannot take zeros, the first of `elements()`
    tell, and one of them made longer.
    """
    with heard_by([]):
        try:
            return common_spec(spec_of(fn(zeros_of_spec(spec, size))) for size in (2, 3))
        except Exception:
            first = list(islice(elements(), _TRIED))
            if not first:
                raise  # there is no element to try
        results = [attempt(fn, element) for element in first]
        found = [i for i, result in enumerate(results) if not isinstance(result, Failure)]
        if not found:
            made(results[0])
        specs = [spec_of(results[i]) for i in found]
        return common_spec([*specs, *_spec_if_longer(fn, first[found[0]], spec)])


_TRIED = 3
"""So many elements are looked at: the sizes of images, say, may differ."""


def _spec_if_longer(fn: Callable[[Any], Any], element: Any, spec: Any) -> list[Any]:
    """The spec of what `fn` makes of an element with its last rows repeated along unknown axes."""

    def longer(part: Any, spec: Any) -> Any:
        if not isinstance(part, Tensor) or spec.shape.rank is None:
            return part
        array = np.asarray(on_host(part._array))
        for axis, size in enumerate(spec.shape):
            if size is None and array.shape[axis]:
                array = np.concatenate([array, array.take([-1], axis)], axis)
        return Tensor(array)

    try:
        return [spec_of(fn(nest.map_structure(longer, element, spec)))]
    except Exception:  # it needs these sizes
        return []
