"""Random numbers on the card: those that NumPy's Philox has for the same key and counter.

A block of four words of 64 bits is a function of its number, so each thread makes blocks of its
own. Uniform numbers take a word each. Normal ones are NumPy's too, by its ziggurat: a draw takes
one word in 99 of 100 cases, and else some of those that follow, so where the next begins depends on
the draws before it. Here each word is taken for the beginning of a draw (`begin`); what lies in the
midst of another is found by walking from the last word that no draw can reach over (`count`, and
`gather`, which leaves it out). Bit for bit the same, but for the tails beyond 3.65, one in 4000:
their last digit is as good as the logarithm of the mathematical library, as it is on the host.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import cupy
import numpy as np

_THREADS = 128
_OF_HOST = {"uniform": 2**8, "normal": 2**13, "truncated_normal": 2**12}
"""Numbers that the host draws as quickly, copy included: they are the same."""


def worth_it(what: str, count: int) -> bool:
    return count > _OF_HOST[what]


def uniforms(key: Any, counter: Any, count: int, dtype: Any) -> Any:
    """Numbers from [0, 1); of 16 bits with as many digits as these hold."""
    wide = np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)
    bits = {np.float64: 53, np.float32: 24, np.float16: 11}.get(dtype.type, 8)
    out = cupy.empty(count, wide)
    _launch("uniform", wide, -(-count // _per(wide)), *_state(key, counter), np.int32(bits), out,
            np.int64(count))  # fmt: skip
    return out.astype(dtype, copy=False)


def normals(key: Any, counter: Any, count: int, dtype: Any) -> Any:
    """Standard normal numbers of float32 or float64."""
    per = _per(dtype)
    groups = -(-(count + count // 40 + 8 * math.isqrt(count) + 64) // per)  # 1.2 in 100 are others
    values = cupy.empty(groups * per, dtype)
    length = cupy.empty(groups * per, np.uint8)
    covered = cupy.zeros(groups * per, np.uint8)
    tables = _tables(dtype.char)
    total = np.int64(groups * per)
    _launch("begin", dtype, groups, *_state(key, counter), *tables, values, length, covered, total)
    counts = cupy.empty(groups, np.int32 if total < 2**31 else np.int64)
    _launch("count", dtype, groups, length, covered, counts, np.int64(groups))
    ends = cupy.cumsum(counts, dtype=counts.dtype)
    out = cupy.empty(count, dtype)
    _launch("gather", dtype, groups, values, length, covered, ends, counts, out, np.int64(groups),
            np.int64(count))  # fmt: skip
    return out


def truncated_normals(key: Any, counter: Any, count: int, dtype: Any, narrow: Any) -> Any:
    """Those beyond 2, as numbers of `narrow`, drawn again, in order, after all others.

    The draw number t >= count replaces the one that was the (t - count)th of those beyond 2.
    """
    more = count // 20 + 8 * math.isqrt(count) + 64  # 1 in 22 lies beyond
    drawn = normals(key, counter, count + more, dtype).astype(narrow, copy=False)
    drawn = drawn.astype(dtype, copy=False)
    beyond = (cupy.abs(drawn) > 2).astype(np.int8)
    before = cupy.cumsum(beyond, dtype=np.int32 if drawn.size < 2**31 else np.int64)
    queue = cupy.empty(drawn.size // 2, before.dtype)
    total = np.int64(drawn.size)
    _launch("queue", dtype, drawn.size, beyond, before, queue, total)
    out = cupy.empty(count, dtype)
    _launch("replace", dtype, drawn.size, drawn, beyond, before, queue, out, np.int64(count), total)
    return out


def _launch(name: str, dtype: Any, threads: int, *arguments: Any) -> None:
    index = "long long" if name in _INDEXED and arguments[_INDEXED[name]].itemsize == 8 else "int"
    blocks = -(-threads // _THREADS)
    _kernel(name, dtype.char, index)((blocks,), (_THREADS,), arguments)


_INDEXED = {"count": 2, "gather": 3, "queue": 1, "replace": 2}
"""The number of an argument that is int32, or int64 for very many numbers."""


@cache
def _kernel(name: str, char: str, index: str) -> Any:
    return cupy.RawKernel(source(char, index), f"gradtape_{name}", ("--fmad=false",))


def _per(dtype: Any) -> int:
    """Numbers of a block of Philox."""
    return 32 // dtype.itemsize


def _state(key: Any, counter: Any) -> list[Any]:
    return [np.uint64(int(word) % 2**64) for word in (*counter, *key)]


@cache
def _tables(char: str) -> Any:
    return tuple(map(cupy.asarray, tables(char)))


def tables(char: str) -> Any:
    """The 256 layers of the ziggurat: `k` (within which a draw is done at once), `w` and `f`."""
    edges = _edges()
    one = 2.0**52 if char == "d" else 2.0**23
    inner = np.concatenate([edges[-1:], [0.0], edges[1:-1]])  # the edge of the layer above
    k = np.rint(inner / edges * one).astype(np.uint64 if char == "d" else np.uint32)
    f = np.exp(-0.5 * np.concatenate([[0.0], edges[1:]]) ** 2)
    return k, (edges / one).astype(char), f.astype(char)


def _edges() -> Any:
    """The edges of the layers as NumPy has them, to the last bit: read off its draws.

    A draw from the word `layer + 2**9` is the edge times 2**-52. (That of layer 1 takes a second
    word.) What the Mersenne Twister gives next is its state, up to a mixing of bits that can be
    undone.
    """
    layers = np.array([0, *range(2, 256), 1], np.uint32)
    words = np.zeros(624, np.uint32)
    words[1 : 2 * 256 : 2] = layers + 2**9
    bits = np.random.MT19937(0)
    bits.state = {"bit_generator": "MT19937", "state": {"key": _unmixed(words), "pos": 0}}
    drawn = np.random.Generator(bits).standard_normal(256) * 2.0**52
    edges = np.empty(256)
    edges[layers] = drawn
    return edges


def _unmixed(words: Any) -> Any:
    y = words ^ (words >> 18)
    y = y ^ ((y << 15) & 0xEFC60000)
    x = y
    for _ in range(4):
        x = y ^ ((x << 7) & 0x9D2C5680)
    y = x
    for _ in range(2):
        x = y ^ (x >> 11)
    return x


def source(char: str, index: str = "int") -> str:
    """The kernels for float32 or float64 in CUDA C++; C++ without CUDA takes them too."""
    return f"typedef {index} Index;\n" + _TYPES[char] + _KERNELS


_TYPES = {
    "f": """
typedef float T;
typedef unsigned int Word;
#define PER 8
#define PART(w, k) ((Word)((w)[(k) >> 1] >> (32 * ((k) & 1))))
#define UNIT(w) ((T)((w) >> 8) * (1.0f / 16777216.0f))
#define NEGATIVE(r) (((r) >> 8) & 1)
#define DIGITS(r) (((r) >> 9) & 0x7fffff)
#define LOG1P(x) ((T)log1p((double)(x)))
#define EDGE 3.6541528853610088f
#define PER_EDGE 0.27366123732975828f
""",
    "d": """
typedef double T;
typedef unsigned long long Word;
#define PER 4
#define PART(w, k) ((w)[k])
#define UNIT(w) ((T)((w) >> 11) * (1.0 / 9007199254740992.0))
#define NEGATIVE(r) (((r) >> 8) & 1)
#define DIGITS(r) (((r) >> 9) & 0x000fffffffffffffULL)
#define LOG1P(x) log1p(x)
#define EDGE 3.6541528853610088
#define PER_EDGE 0.27366123732975828
""",
}
_KERNELS = """
typedef unsigned long long Long;
typedef unsigned char Byte;
struct alignas(16) Group { T v[PER]; };  // the numbers of a block
struct alignas(PER) Marks { Byte v[PER]; };
#define STATE const Long c0, const Long c1, const Long c2, const Long c3, const Long k0, \\
    const Long k1
#define PASSED c0, c1, c2, c3, k0, k1
#define THREAD (blockIdx.x * (long long)blockDim.x + threadIdx.x)

__device__ void philox(STATE, const long long number, Long* w) {
    Long a = c0 + (Long)number + 1, b = c1, c = c2, d = c3, p = k0, q = k1;
    if (a < c0 || ((Long)number + 1) == 0) if (!++b) if (!++c) ++d;
    #pragma unroll
    for (int round = 0; round < 10; ++round) {
        const Long low = 0xD2E7470EE14C6C93ULL * a, high = __umul64hi(0xD2E7470EE14C6C93ULL, a);
        const Long low2 = 0xCA5A826395121157ULL * c, high2 = __umul64hi(0xCA5A826395121157ULL, c);
        a = high2 ^ b ^ p; b = low2; c = high ^ d ^ q; d = low;
        p += 0x9E3779B97F4A7C15ULL; q += 0xBB67AE8584CAA73BULL;
    }
    w[0] = a; w[1] = b; w[2] = c; w[3] = d;
}

// One draw in 100 takes more than its word. The threads of a block put these on a list, and share
// them when all others are made: alone, each would hold up the 31 that run with it.
#ifdef __CUDACC__
#define SHARED(k, w) \
    __shared__ Word near_k[256]; __shared__ T near_w[256]; \
    __shared__ int list[128 * PER], many; \
    for (int n = threadIdx.x; n < 256; n += blockDim.x) { near_k[n] = k[n]; near_w[n] = w[n]; } \
    if (threadIdx.x == 0) many = 0; \
    const long long from = blockIdx.x * (long long)blockDim.x * PER; \
    __syncthreads();
#define LATER(place) list[atomicAdd(&many, 1)] = (int)((place) - from);
#define MADE_LATER __syncthreads(); \
    for (int n = threadIdx.x; n < many; n += blockDim.x) \
        draw_at(PASSED, k, w, f, values, length, covered, total, from + list[n]);
#else
#define SHARED(k, w) const Word* near_k = k; const T* near_w = w; long long list[PER]; int many = 0;
#define LATER(place) list[many++] = place;
#define MADE_LATER for (int n = 0; n < many; ++n) \
    draw_at(PASSED, k, w, f, values, length, covered, total, list[n]);
#endif

__device__ Word word(STATE, const long long i) {
    Long w[4];
    philox(PASSED, i / PER, w);
    return PART(w, i % PER);
}

extern "C" __global__ void gradtape_uniform(STATE, const int bits, T* out, const long long count) {
    const long long i = THREAD;
    if (i * PER >= count) return;
    Long w[4];
    philox(PASSED, i, w);
    Group made;
    #pragma unroll
    for (int k = 0; k < PER; ++k) {
        made.v[k] = UNIT(PART(w, k));
        if (bits < 24) made.v[k] = (T)(PART(w, k) >> (8 * sizeof(Word) - bits)) / (T)(1 << bits);
    }
    if (i * PER + PER <= count) ((Group*)out)[i] = made;
    else for (int k = 0; i * PER + k < count; ++k) out[i * PER + k] = made.v[k];
}

__device__ T draw(STATE, const Word* k, const T* w, const T* f, const long long first,
                  Word r, int* taken) {
    int n = 1;
    for (;;) {
        const int layer = r & 0xff;
        const Word digits = DIGITS(r);
        T x = digits * w[layer];
        if (NEGATIVE(r)) x = -x;
        if (digits < k[layer]) { *taken = n; return x; }
        if (layer == 0) {
            for (;;) {
                const T u = UNIT(word(PASSED, first + n)), v = UNIT(word(PASSED, first + n + 1));
                n += 2;
                const T xx = -PER_EDGE * LOG1P(-u), yy = -LOG1P(-v);
                if (yy + yy > xx * xx) {
                    *taken = n;
                    return ((digits >> 8) & 1) ? -(EDGE + xx) : EDGE + xx;
                }
            }
        }
        const T u = UNIT(word(PASSED, first + n++));
        if ((f[layer - 1] - f[layer]) * u + f[layer] < exp(-0.5 * x * x)) {
            *taken = n;
            return x;
        }
        r = word(PASSED, first + n++);
    }
}

__device__ void draw_at(
    STATE, const Word* k, const T* w, const T* f, T* values, Byte* length, Byte* covered,
    const long long total, const long long place
) {
    int taken = 1;
    values[place] = draw(PASSED, k, w, f, place, word(PASSED, place), &taken);
    length[place] = taken < 255 ? taken : 255;
    for (int n = 1; n < taken; ++n) if (place + n < total) covered[place + n] = 1;
}

extern "C" __global__ void gradtape_begin(
    STATE, const Word* __restrict__ k, const T* __restrict__ w, const T* __restrict__ f,
    T* values, Byte* length, Byte* covered, const long long total
) {
    const long long i = THREAD;
    SHARED(k, w)
    if (i * PER < total) {
        Long words[4];
        philox(PASSED, i, words);
        Group made;
        Marks ones;
        #pragma unroll
        for (int j = 0; j < PER; ++j) {
            const Word r = PART(words, j);
            const int layer = r & 0xff;
            const Word digits = DIGITS(r);
            made.v[j] = digits * near_w[layer];
            if (NEGATIVE(r)) made.v[j] = -made.v[j];
            ones.v[j] = 1;
            if (digits >= near_k[layer]) LATER(i * PER + j)
        }
        ((Group*)values)[i] = made;
        ((Marks*)length)[i] = ones;
    }
    MADE_LATER
}

__device__ bool begins(const Byte* length, const Byte* covered, const long long place) {
    if (!covered[place]) return true;
    long long at = place;
    while (covered[at]) --at;
    while (at < place) at += length[at];
    return at == place;
}

__device__ bool any(const Marks marks) {
    bool found = false;
    #pragma unroll
    for (int j = 0; j < PER; ++j) found |= marks.v[j];
    return found;
}

extern "C" __global__ void gradtape_count(
    const Byte* __restrict__ length, const Byte* __restrict__ covered, Index* counts,
    const long long groups
) {
    const long long i = THREAD;
    if (i >= groups) return;
    Index n = PER;
    if (any(((const Marks*)covered)[i])) {
        for (int j = 0; j < PER; ++j) n -= !begins(length, covered, i * PER + j);
    }
    counts[i] = n;
}

extern "C" __global__ void gradtape_gather(
    const T* __restrict__ values, const Byte* __restrict__ length,
    const Byte* __restrict__ covered, const Index* __restrict__ ends,
    const Index* __restrict__ counts, T* out, const long long groups, const long long count
) {
    const long long i = THREAD;
    if (i >= groups) return;
    long long to = ends[i] - counts[i];
    const Group made = ((const Group*)values)[i];
    const bool all = counts[i] == PER;
    #pragma unroll
    for (int j = 0; j < PER; ++j) {
        if (all || begins(length, covered, i * PER + j)) {
            if (to < count) out[to] = made.v[j];
            ++to;
        }
    }
}

extern "C" __global__ void gradtape_queue(
    const signed char* __restrict__ beyond, const Index* __restrict__ before, Index* queue,
    const long long total
) {
    const long long i = THREAD;
    if (i < total && beyond[i] && before[i] <= total / 2) queue[before[i] - 1] = (Index)i;
}

extern "C" __global__ void gradtape_replace(
    const T* __restrict__ drawn, const signed char* __restrict__ beyond,
    const Index* __restrict__ before, const Index* __restrict__ queue, T* out,
    const long long count, const long long total
) {
    const long long i = THREAD;
    if (i >= total || beyond[i]) return;
    long long to = i;
    while (to >= count) {
        if (to - count >= before[to] - beyond[to]) return;  // nothing is left to be replaced
        to = queue[to - count];
    }
    out[to] = drawn[i];
}
"""
