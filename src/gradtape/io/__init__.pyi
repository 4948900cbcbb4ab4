from .._src.compat.io.encodings import (
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    decode_csv as decode_csv,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from .._src.compat.io.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    RaggedFeature as RaggedFeature,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from .._src.compat.io.files import (
    match_filenames_once as match_filenames_once,
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from .._src.compat.io.json_examples import decode_json_example as decode_json_example
from .._src.compat.io.parsing import (
    parse_example as parse_example,
    parse_sequence_example as parse_sequence_example,
    parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from .._src.compat.io.records import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from .._src.compat.io.sparse_texts import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)
from .._src.compat.media.images import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    decode_webp as decode_webp,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    extract_jpeg_shape as extract_jpeg_shape,
    is_jpeg as is_jpeg,
)
from . import gfile as gfile
