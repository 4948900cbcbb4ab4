"""Hashes of texts: FarmHash's Fingerprint64, SipHash-2-4 and TensorFlow's own, number for number.

Each works on all texts at once. Their bytes lie in one array, and a step of the algorithm is a few
NumPy operations on numbers of 64 bits, one for each text that is long enough to take it: 10,000
short words in 1 ms, where a loop in Python would take 100.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import string
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import static_int, static_ints
from .text import as_text, elementwise, scalar_text, values_of

U = np.uint64
_K0, _K1, _K2 = U(0xC3A5C85C97CB3127), U(0xB492B66FBE98F273), U(0x9AE16A3B2F90404F)


@elementwise
def to_hash_bucket_fast(input: Any, num_buckets: Any, name: str | None = None) -> Tensor:
    """A number from 0 to `num_buckets` - 1 for each text: its FarmHash Fingerprint64, modulo."""
    op = "to_hash_bucket_fast"
    return _buckets(fingerprint64, as_text(input, op), num_buckets, op)


@elementwise
def to_hash_bucket_strong(
    input: Any, num_buckets: Any, key: Any, name: str | None = None
) -> Tensor:
    """A number from 0 to `num_buckets` - 1 for each text: its SipHash-2-4 by `key`, modulo.

    `key` is two numbers. Who does not know them cannot choose texts that fall into one bucket.
    """
    op = "to_hash_bucket_strong"
    numbers = static_ints(key, op, "key")
    if len(numbers) != 2:
        raise InvalidArgumentError(f"{op}: `key` must be two numbers, not {len(numbers)}.")
    return _buckets(lambda texts: siphash(texts, numbers), as_text(input, op), num_buckets, op)


@elementwise
def to_hash_bucket(input: Any, num_buckets: Any, name: str | None = None) -> Tensor:
    """A number from 0 to `num_buckets` - 1 for each text, by the hash that TensorFlow had first."""
    op = "to_hash_bucket"
    return _buckets(hash64, as_text(input, op), num_buckets, op)


def _buckets(hashes: Any, array: Any, num_buckets: Any, op: str) -> Tensor:
    count = static_int(num_buckets, op, "num_buckets")
    if count < 1:
        raise InvalidArgumentError(f"{op}: `num_buckets` must be at least 1, not {count}.")
    numbers = hashes(array.reshape(-1).tolist()) % U(count)
    return Tensor(numbers.astype(np.int64).reshape(array.shape))


def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """The Fingerprint64 of each row of `data` (of its bytes), as eight bytes."""
    op = "fingerprint"
    if scalar_text(method, op, "method") != b"farmhash64":
        raise InvalidArgumentError(f"{op}: `method` must be 'farmhash64', not {method!r}.")
    tensor = as_tensor(data, op=op)
    array = values_of(tensor, op, "data")
    if not array.ndim:
        raise ShapeError(f"{op}: `data` must have rows, and is a scalar. Give it an axis: x[None].")
    if tensor.dtype is string:
        numbers = fingerprint64(array.reshape(-1).tolist())
        if array.ndim > 1:  # of the fingerprints of a row, one after the other
            per_row = array.size // max(len(array), 1)
            rows = numbers.astype("<u8").reshape(len(array), per_row)
            numbers = fingerprint64([row.tobytes() for row in rows])
    else:
        numbers = fingerprint64([np.ascontiguousarray(row).tobytes() for row in array])
    return Tensor(numbers.astype("<u8").view(np.uint8).reshape(len(array), 8))


class _Bytes:
    """The bytes of many texts, one after the other, to be read as numbers from any place."""

    def __init__(self, texts: list[bytes]) -> None:
        self.bytes = np.frombuffer(b"".join(texts) + bytes(8), np.uint8)
        self.sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        self.starts = np.cumsum(self.sizes) - self.sizes

    def words(self, places: Any) -> Any:
        """The eight bytes at each place, as a number."""
        return self._read(places, 8, "<u8")

    def halves(self, places: Any) -> Any:
        """The four bytes at each place, as a number of 64 bits."""
        return self._read(places, 4, "<u4").astype(U)

    def _read(self, places: Any, size: int, dtype: str) -> Any:
        return self.bytes[places[:, None] + np.arange(size)].view(dtype)[:, 0]

    def last(self, places: Any, count: Any) -> Any:
        """The `count` < 8 bytes at each place, as a number."""
        words = self.words(places)
        return words & ((U(1) << (count.astype(U) * U(8))) - U(1))


def fingerprint64(texts: list[bytes]) -> Any:
    """FarmHash's Fingerprint64 (`farmhashna::Hash64`) of each text, as uint64."""
    data = _Bytes(texts)
    result = np.empty(len(texts), U)
    sizes = data.sizes
    for low, high, function in (
        (0, 0, _farm_none), (1, 3, _farm_1_to_3), (4, 7, _farm_4_to_7), (8, 16, _farm_8_to_16),
        (17, 32, _farm_17_to_32), (33, 64, _farm_33_to_64), (65, np.inf, _farm_long),
    ):  # fmt: skip
        chosen = np.flatnonzero((sizes >= low) & (sizes <= high))
        if len(chosen):
            with np.errstate(over="ignore"):
                result[chosen] = function(data, data.starts[chosen], sizes[chosen])
    return result


def _rotate(value: Any, shift: int) -> Any:
    """The bits turned to the right."""
    return value >> U(shift) | value << U(64 - shift)


def _mixed(value: Any) -> Any:
    return value ^ value >> U(47)


def _hash_16(u: Any, v: Any, multiplier: Any) -> Any:
    a = _mixed((u ^ v) * multiplier)
    return _mixed((v ^ a) * multiplier) * multiplier


def _farm_none(data: _Bytes, at: Any, size: Any) -> Any:
    return _K2


def _farm_1_to_3(data: _Bytes, at: Any, size: Any) -> Any:
    first, middle = data.bytes[at].astype(U), data.bytes[at + (size >> 1)].astype(U)
    last = data.bytes[at + size - 1].astype(U)
    y, z = first + (middle << U(8)), size.astype(U) + (last << U(2))
    return _mixed(y * _K2 ^ z * _K0) * _K2


def _farm_4_to_7(data: _Bytes, at: Any, size: Any) -> Any:
    n = size.astype(U)
    a, b = data.halves(at), data.halves(at + size - 4)
    return _hash_16(n + (a << U(3)), b, _K2 + n * U(2))


def _farm_8_to_16(data: _Bytes, at: Any, size: Any) -> Any:
    multiplier = _K2 + size.astype(U) * U(2)
    a, b = data.words(at) + _K2, data.words(at + size - 8)
    c = _rotate(b, 37) * multiplier + a
    d = (_rotate(a, 25) + b) * multiplier
    return _hash_16(c, d, multiplier)


def _farm_17_to_32(data: _Bytes, at: Any, size: Any) -> Any:
    multiplier = _K2 + size.astype(U) * U(2)
    a, b = data.words(at) * _K1, data.words(at + 8)
    c, d = data.words(at + size - 8) * multiplier, data.words(at + size - 16) * _K2
    return _hash_16(
        _rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, multiplier
    )


def _farm_33_to_64(data: _Bytes, at: Any, size: Any) -> Any:
    multiplier = _K2 + size.astype(U) * U(2)
    a, b = data.words(at) * _K2, data.words(at + 8)
    c, d = data.words(at + size - 8) * multiplier, data.words(at + size - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _hash_16(y, a + _rotate(b + _K2, 18) + c, multiplier)
    e, f = data.words(at + 16) * multiplier, data.words(at + 24)
    g = (y + data.words(at + size - 32)) * multiplier
    h = (z + data.words(at + size - 24)) * multiplier
    return _hash_16(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, multiplier)


def _weak_hash_32(data: _Bytes, at: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Of 32 bytes and two seeds."""
    w, x, y, z = [data.words(at + 8 * i) for i in range(4)]
    a = a + w
    b = _rotate(b + a + z, 21)
    c = a
    a = a + x + y
    return a + z, b + _rotate(a, 44) + c


def _farm_long(data: _Bytes, at: Any, size: Any) -> Any:
    seed = U(81)
    count = len(at)
    x = np.full(count, seed)
    y = np.full(count, seed * _K1 + U(113))
    z = _mixed(y * _K2 + U(113)) * _K2
    v, w = (np.zeros(count, U), np.zeros(count, U)), (np.zeros(count, U), np.zeros(count, U))
    x = x * _K2 + data.words(at)
    blocks = (size - 1) // 64
    for block in range(int(blocks.max())):
        on = np.flatnonzero(blocks > block)
        new = _farm_block(
            data, at[on] + 64 * block, x[on], y[on], z[on], (v[0][on], v[1][on]),
            (w[0][on], w[1][on]), None,
        )  # fmt: skip
        for old, values in zip((x, y, z, *v, *w), new, strict=True):
            old[on] = values
    multiplier = _K1 + ((z & U(0xFF)) << U(1))
    left = (size - 1) & 63
    w = (w[0] + left.astype(U), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v0, v1, w0, w1 = _farm_block(data, at + size - 64, x, y, z, v, w, multiplier)
    return _hash_16(
        _hash_16(v0, w0, multiplier) + _mixed(y) * _K0 + z,
        _hash_16(v1, w1, multiplier) + x,
        multiplier,
    )


def _farm_block(
    data: _Bytes, at: Any, x: Any, y: Any, z: Any, v: Any, w: Any, multiplier: Any
) -> tuple[Any, ...]:
    """64 bytes; those at the end have a multiplier of their own."""
    is_last = multiplier is not None
    m = multiplier if is_last else _K1
    x = _rotate(x + y + v[0] + data.words(at + 8), 37) * m
    y = _rotate(y + v[1] + data.words(at + 48), 42) * m
    x = x ^ (w[1] * U(9) if is_last else w[1])
    y = y + (v[0] * U(9) if is_last else v[0]) + data.words(at + 40)
    z = _rotate(z + w[0], 33) * m
    v = _weak_hash_32(data, at, v[1] * m, x + w[0])
    w = _weak_hash_32(data, at + 32, z + w[1], y + data.words(at + 16))
    return (z, y, x, *v, *w)  # x and z change places


def siphash(texts: list[bytes], key: tuple[int, int]) -> Any:
    """SipHash-2-4 of each text by a key of two numbers, as uint64."""
    data = _Bytes(texts)
    k0, k1 = [U(k & 0xFFFF_FFFF_FFFF_FFFF) for k in key]
    state = [
        np.full(len(texts), U(start) ^ k)
        for start, k in (
            (0x736F6D6570736575, k0), (0x646F72616E646F6D, k1),
            (0x6C7967656E657261, k0), (0x7465646279746573, k1),
        )
    ]  # fmt: skip
    words = data.sizes // 8
    with np.errstate(over="ignore"):
        for word in range(max(words.tolist(), default=0)):
            on = np.flatnonzero(words > word)
            taken = _sip_word([v[on] for v in state], data.words(data.starts[on] + 8 * word))
            for v, values in zip(state, taken, strict=True):
                v[on] = values
        last = data.last(data.starts + 8 * words, data.sizes % 8)
        state = _sip_word(state, last | data.sizes.astype(U) << U(56))
        state[2] = state[2] ^ U(0xFF)
        for _ in range(4):
            state = _sip_round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_word(state: list[Any], word: Any) -> list[Any]:
    a, b, c, d = state
    a, b, c, d = _sip_round(*_sip_round(a, b, c, d ^ word))
    return [a ^ word, b, c, d]


def _sip_round(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
    a = a + b
    b = _rotate(b, 64 - 13) ^ a
    a = _rotate(a, 32)
    c = c + d
    d = _rotate(d, 64 - 16) ^ c
    a = a + d
    d = _rotate(d, 64 - 21) ^ a
    c = c + b
    b = _rotate(b, 64 - 17) ^ c
    c = _rotate(c, 32)
    return [a, b, c, d]


def hash64(texts: list[bytes]) -> Any:
    """TensorFlow's Hash64 of each text, a MurmurHash, as uint64."""
    m, seed = U(0xC6A4A7935BD1E995), U(0xDECAFCAFFE)
    data = _Bytes(texts)
    words = data.sizes // 8
    with np.errstate(over="ignore"):
        h = seed ^ data.sizes.astype(U) * m
        for word in range(max(words.tolist(), default=0)):
            on = np.flatnonzero(words > word)
            k = data.words(data.starts[on] + 8 * word) * m
            h[on] = (h[on] ^ (k ^ k >> U(47)) * m) * m
        rest = data.sizes % 8
        on = np.flatnonzero(rest)
        h[on] = (h[on] ^ data.last(data.starts[on] + 8 * words[on], rest[on])) * m
        h = (h ^ h >> U(47)) * m
    return h ^ h >> U(47)
