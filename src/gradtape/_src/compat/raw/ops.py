"""Raw ops, with the names and keyword arguments that TensorFlow's op registry has."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import float32, float64, int32
from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.spec import check_axis
from ...core.tensor import Tensor
from ...ops.array.cast import cast
from ...ops.array.shape import reshape, shape
from ...ops.math.ordering import (
    Unique,
    UniqueWithCounts,
    searchsorted,
    unique_along,
)
from .projective import transform_images


def Bucketize(*, input: Any, boundaries: Any, name: str | None = None) -> Tensor:
    """For each number the bucket it falls into: how many of the sorted `boundaries` it reaches.

    >>> Bucketize(input=[[-5, 10000], [150, 10]], boundaries=[0, 10, 100]).numpy().tolist()
    [[0, 3], [3, 2]]
    """
    x = as_tensor(input, op="Bucketize")
    bounds = np.asarray(boundaries, np.float32)
    if bounds.ndim != 1 or np.any(bounds[1:] < bounds[:-1]):
        raise InvalidArgumentError("Bucketize: `boundaries` must be numbers in ascending order.")
    dtype = float64 if x.dtype is float64 else float32
    edges = Tensor(bounds.astype(dtype.numpy_dtype))
    places = searchsorted(edges, reshape(cast(x, dtype), [-1]), side="right", out_type=int32)
    return reshape(places, shape(x))


def UniqueV2(*, x: Any, axis: Any, out_idx: Any = int32, name: str | None = None) -> Unique:
    """The different parts of `x` along `axis` ([] for a vector), and for each part its place."""
    y, idx, _ = UniqueWithCountsV2(x=x, axis=axis, out_idx=out_idx)
    return Unique(y, idx)


def UniqueWithCountsV2(
    *, x: Any, axis: Any, out_idx: Any = int32, name: str | None = None
) -> UniqueWithCounts:
    """The different parts of `x` along `axis`, for each part its place, and the counts."""
    tensor = as_tensor(x, op="UniqueV2")
    axes = np.asarray(as_tensor(axis, int32)).reshape(-1).tolist() if np.size(axis) else []
    if len(axes) > 1 or (not axes and tensor.ndim != 1):
        raise InvalidArgumentError(
            "UniqueV2: `axis` must be a list of one axis, or [] for a vector. Received: "
            f"axis={axis}, x.shape={tensor.shape}."
        )
    along = check_axis("UniqueV2", axes[0] if axes else 0, tensor.ndim)
    return unique_along(tensor, along, out_idx)


def ImageProjectiveTransformV3(
    *,
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    name: str | None = None,
) -> Tensor:
    """Images seen through projective maps: each output pixel is read where its map leads.

    `transforms` has for each image, or once for all, (a0, a1, a2, b0, b1, b2, c0, c1): the output
    pixel (x, y) is read at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1.
    Beyond the image, `fill_mode` says what is read: "CONSTANT" (`fill_value`), "REFLECT", "WRAP" or
    "NEAREST". As in TensorFlow, the gradient by the images is the cotangent seen through the
    inverse map, which is exact only where the map moves pixels to pixels; the transforms have none.
    """
    return transform_images(images, transforms, output_shape, fill_value, interpolation, fill_mode)


def CudnnRNNV3(**arguments: Any) -> NoReturn:
    """The recurrent networks of cuDNN, which gradtape does not call."""
    raise UnimplementedError(
        "CudnnRNNV3: there is no cuDNN here. The same layer without it is compiled by XLA: with "
        "Keras, use_cudnn=False."
    )
