from ._src.compat.media.sound import (
    decode_wav as decode_wav,
    encode_wav as encode_wav,
)
