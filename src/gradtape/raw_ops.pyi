from ._src.compat.raw.ops import (
    Bucketize as Bucketize,
    CudnnRNNV3 as CudnnRNNV3,
    ImageProjectiveTransformV3 as ImageProjectiveTransformV3,
    UniqueV2 as UniqueV2,
    UniqueWithCountsV2 as UniqueWithCountsV2,
)
