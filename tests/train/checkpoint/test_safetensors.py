"""The files of checkpoints: what the safetensors library says of them, and what damage does."""

import json
import pickle
import random
from contextlib import suppress

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given, settings, strategies as st

from gradtape._src.core.errors import UnimplementedError
from gradtape._src.train.checkpoint import safetensors as _safetensors
from gradtape._src.train.checkpoint.safetensors import SafetensorsFile
from gradtape.errors import DataLossError

PLAIN = {
    "BOOL": np.array([True, False]),
    "U8": np.arange(5, dtype=np.uint8),
    "U16": np.arange(5, dtype=np.uint16),
    "U32": np.arange(5, dtype=np.uint32),
    "U64": np.array([0, 2**64 - 1], np.uint64),
    "I8": np.array([-128, 127], np.int8),
    "I16": np.arange(6, dtype=np.int16).reshape(2, 3),
    "I32": np.array(-7, np.int32),
    "I64": np.zeros((2, 0, 3), np.int64),
    "F8_E4M3": np.array([0.5, -448.0], ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.array([0.5, -57344.0], ml_dtypes.float8_e5m2),
    "F16": np.array([0.5, np.inf], np.float16),
    "BF16": np.array([[0.5], [-2.0]], ml_dtypes.bfloat16),
    "F32": np.array([1.5, np.nan, -0.0], np.float32),
    "F64": np.arange(24.0).reshape(2, 3, 4).T,
}
ENCODED = {
    "complex64": np.array([[1 + 2j, 3 - 4j]], np.complex64),
    "complex128": np.array(1e300 - 1j),
    "strings": np.array([[b"", b"a/b"], [b"\x00\xff", "é".encode()]], object),
    "a string": np.array(b"text", object),
    "no strings": np.zeros((0, 2), object),
}
ALL = PLAIN | ENCODED


def saved(path, arrays, links=None):
    with open(path, "wb") as file:
        _safetensors.write(file, arrays, links or {})
    return path


def opened(path):
    return SafetensorsFile(open(path, "rb"))


def raw(path, header, data=b""):
    """A file with this header, as it stands."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


# Both ways between gradtape and the safetensors library


def test_every_dtype_comes_back(tmp_path):
    file = opened(saved(tmp_path / "x", ALL, {"b": "a"}))
    assert file.links == {"b": "a"}
    assert file.entries.keys() == ALL.keys()
    for name, array in ALL.items():
        back = file.read(name)
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert (file.entries[name].dtype, file.entries[name].shape) == (array.dtype, array.shape)
        if array.dtype == object:
            assert back.tolist() == array.tolist()
        else:
            assert back.tobytes() == array.tobytes()
        assert back.flags.c_contiguous and back.flags.writeable


def test_safetensors_reads_what_gradtape_wrote(tmp_path):
    path = saved(tmp_path / "x", ALL)
    found = dict(safetensors.deserialize(path.read_bytes()))
    assert found.keys() == ALL.keys()
    for dtype, array in PLAIN.items():
        assert found[dtype]["dtype"] == dtype
        assert found[dtype]["shape"] == list(array.shape)
        assert bytes(found[dtype]["data"]) == array.tobytes()
    numbers = {name: ALL[name] for name in ("F32", "I64", "complex64", "BOOL")}
    loaded = safetensors.numpy.load_file(saved(tmp_path / "y", numbers))
    assert np.array_equal(loaded["F32"], PLAIN["F32"], equal_nan=True)
    assert loaded["complex64"].tolist() == [[[1.0, 2.0], [3.0, -4.0]]]
    with safetensors.safe_open(tmp_path / "y", "np") as file:
        assert file.metadata()["gradtape"] == "1"


def test_gradtape_reads_what_safetensors_wrote(tmp_path):
    arrays = {n: a for n, a in PLAIN.items() if n not in ("F8_E4M3", "F8_E5M2", "BF16", "F64")}
    safetensors.numpy.save_file(arrays, tmp_path / "x", metadata={"format": "np"})
    file = opened(tmp_path / "x")
    assert file.entries.keys() == arrays.keys()
    for name, array in arrays.items():
        assert file.read(name).tobytes() == array.tobytes()


def test_arrays_are_aligned(tmp_path):
    path = saved(tmp_path / "x", ALL)
    start = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    for entry in opened(path).entries.values():
        assert (start + entry.begin) % entry.stored_dtype.itemsize == 0


def test_no_arrays(tmp_path):
    path = saved(tmp_path / "x", {})
    assert opened(path).entries == {}
    assert safetensors.deserialize(path.read_bytes()) == []


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="datetime64"):
        saved(tmp_path / "x", {"t": np.array(["2020-01-01"], "datetime64[D]")})
    with pytest.raises(ValueError, match="__metadata__"):
        saved(tmp_path / "x", {"__metadata__": np.zeros(1)})


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.binary(), max_size=5),
    st.lists(st.binary()),
)
def test_any_names_and_bytes(tmp_path_factory, blobs, strings):
    arrays = {name: np.frombuffer(blob, np.uint8) for name, blob in blobs.items()}
    arrays["strings"] = np.array([*strings, None], object)[:-1]
    arrays.pop("__metadata__", None)
    path = saved(tmp_path_factory.mktemp("any") / "x", arrays)
    file = opened(path)
    assert {name: file.read(name).tolist() for name in arrays} == {
        name: array.tolist() for name, array in arrays.items()
    }
    assert {name for name, _ in safetensors.deserialize(path.read_bytes())} == arrays.keys()


# Damage


def small(tmp_path):
    arrays = {
        "w": np.arange(3, dtype=np.float32),
        "z": np.array(1j),
        "s": np.array([b"ab"], object),
        "b": np.array([True]),
    }
    return saved(tmp_path / "x", arrays, {"v": "w"})


def read_all(path):
    file = opened(path)
    return [(name, file.read(name).tolist()) for name in file.entries], file.links


def test_every_flipped_bit_is_found(tmp_path):
    path = small(tmp_path)
    whole = path.read_bytes()
    for i in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[i // 8] ^= 1 << i % 8
        path.write_bytes(damaged)
        with pytest.raises((DataLossError, UnimplementedError)):
            read_all(path)


def test_every_truncation_and_addition_is_found(tmp_path):
    path = small(tmp_path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DataLossError, match="x: "):
            opened(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(DataLossError):
        opened(path)


def test_a_file_that_shrinks_while_it_is_open(tmp_path):
    path = saved(tmp_path / "x", {"a": np.zeros(1_000_000)})
    file = opened(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataLossError, match="ends inside the array 'a'"):
        file.read("a")


@pytest.mark.parametrize(
    "piece, before",
    [
        (b'"__metadata__":{"gradtape', b'"shape":[2]'),  # all of it, into an entry
        (b'":"1","crc32"', b'dtype":"BOOL"'),  # its first keys: one of them is renamed
    ],
)
def test_metadata_in_another_place_is_found(tmp_path, piece, before):
    path = small(tmp_path)
    data = path.read_bytes()
    start, place = data.index(piece), data.index(before)
    end = data.index(b'"z":{' if piece.startswith(b'"__') else b"header_crc32")
    path.write_bytes(data[:start] + data[end:place] + data[start:end] + data[place:])
    with pytest.raises(DataLossError):
        read_all(path)


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_other_damage_is_found(tmp_path_factory, choose):
    path = small(tmp_path_factory.mktemp("damage"))
    before = read_all(path)
    path.write_bytes(mangled(path.read_bytes(), choose))
    with suppress(DataLossError, UnimplementedError):
        assert read_all(path) == before


def mangled(data, choose: random.Random):
    """`data` with a piece overwritten, removed, repeated or moved."""
    i, j, k = sorted(choose.randrange(len(data)) for _ in range(3))
    return choose.choice(
        [
            data[:i] + choose.randbytes(j - i) + data[j:],
            data[:i] + bytes(j - i) + data[j:],
            data[:i] + data[j:],
            data[:j] + data[i:],
            data[:i] + data[j:k] + data[i:j] + data[k:],
        ]
    )


def one(**changes):
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes}


def two(first, second):
    return {
        name: {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
        for name, (begin, end) in {"a": first, "b": second}.items()
    }


def ours(**metadata):
    return {"__metadata__": {"gradtape": "1", **metadata}, **one()}


HOSTILE = {
    "dtype unknown": one(dtype="F33"),
    "dtype of another type": one(dtype=["F32"]),
    "dtype of Python": one(dtype="O"),
    "no dtype": {"a": {"shape": [2], "data_offsets": [0, 8]}},
    "shape negative": one(shape=[-2]),
    "shape twice negative": one(shape=[-1, -2]),
    "shape of floats": one(shape=[2.0]),
    "shape of bools": one(shape=[True, 2]),
    "shape a string": one(shape="2"),
    "shape too small": one(shape=[1]),
    "shape too large": one(shape=[3]),
    "shape huge": one(shape=[2**80, 0], data_offsets=[0, 0]),
    "shape that overflows": one(shape=[2**62, 4, 2]),
    "too many axes": one(shape=[1] * 100 + [2]),
    "no shape": {"a": {"dtype": "F32", "data_offsets": [0, 8]}},
    "offsets out of range": one(data_offsets=[8, 16]),
    "offsets negative": one(data_offsets=[-8, 0]),
    "offsets reversed": one(data_offsets=[8, 0]),
    "offsets three": one(data_offsets=[0, 8, 8]),
    "offsets huge": one(data_offsets=[2**64 - 8, 2**64]),
    "no offsets": {"a": {"dtype": "F32", "shape": [2]}},
    "overlapping": two((0, 6), (4, 8)),
    "a hole": two((0, 2), (4, 8)),
    "not all used": two((0, 2), (2, 6)),
    "entry not a mapping": {"a": [1, 2]},
    "metadata of numbers": {"__metadata__": {"x": 1}, **one()},
    "metadata a list": {"__metadata__": ["x"], **one()},
    "ours without checksum": ours(),
    "ours with a wrong checksum": ours(header_crc32="12345678"),
    "header a list": [1],
    "not JSON": b"{" + b"x" * 30,
    "not UTF-8": b'{"\xff\xfe": 1}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "nested deeply": b"[" * 200_000,
    "a name twice": json.dumps(one())[:-1].encode() + b"," + json.dumps(one())[1:].encode(),
    "a key twice": b'{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
    "NaN": b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}',
    "a long number": b'{"a":{"dtype":"F32","shape":[' + b"9" * 9999 + b'],"data_offsets":[0,8]}}',
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_headers(tmp_path, case):
    path = raw(tmp_path / "x", HOSTILE[case], bytes(8))
    with pytest.raises(DataLossError, match=r"x: .*nothing was taken"):
        opened(path)


def test_the_header_that_the_hostile_ones_differ_from_is_good(tmp_path):
    assert opened(raw(tmp_path / "x", one(), bytes(8))).read("a").tolist() == [0.0, 0.0]
    assert opened(raw(tmp_path / "x", two((0, 6), (6, 8)), bytes(8))).entries.keys() == {"a", "b"}


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 10**12, 100_000_001, 9])
def test_hostile_lengths_of_the_header(tmp_path, length):
    path = tmp_path / "x"
    path.write_bytes(length.to_bytes(8, "little") + b"{}" + b" " * 6)
    with pytest.raises(DataLossError, match="header"):
        opened(path)


def test_a_bool_that_is_neither(tmp_path):
    path = raw(tmp_path / "x", {"a": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}}, b"2")
    with pytest.raises(DataLossError, match="BOOL"):
        opened(path).read("a")


@pytest.mark.parametrize(
    "encoding, stored",
    [
        ({"dtype": "complex64", "shape": [2]}, np.zeros((3, 2), np.float32)),
        ({"dtype": "complex64", "shape": [2]}, np.zeros((2, 2), np.float64)),
        ({"dtype": "complex64", "shape": [-2]}, np.zeros((2, 2), np.float32)),
        ({"dtype": "complex64"}, np.zeros((2, 2), np.float32)),
        ({"dtype": "string", "shape": [2]}, np.zeros(15, np.uint8)),
        ({"dtype": "string", "shape": [2]}, np.zeros(2, np.int64)),
        ({"dtype": "string", "shape": [2**50]}, np.zeros(16, np.uint8)),
        ({"dtype": "object", "shape": [2]}, np.zeros(16, np.uint8)),
        ({}, np.zeros(16, np.uint8)),
    ],
)
def test_hostile_encodings(tmp_path, encoding, stored):
    """Their checksums are right: who writes a file can compute them."""
    with open(tmp_path / "x", "wb") as file:
        crc32 = {"a": _safetensors._hex(_safetensors.zlib.crc32(stored.tobytes()))}
        file.write(_safetensors._header({"a": stored}, crc32, {"a": encoding}, {}))
        file.write(stored.tobytes())
    with pytest.raises(DataLossError, match="a"):
        opened(tmp_path / "x")


def test_lengths_of_strings_that_do_not_add_up(tmp_path):
    for lengths in ([2**64 - 1, 3], [1, 2], [0, 0]):
        data = np.frombuffer(np.array(lengths, "<u8").tobytes() + b"xy", np.uint8)
        with open(tmp_path / "x", "wb") as file:
            crc32 = {"a": _safetensors._hex(_safetensors.zlib.crc32(data.tobytes()))}
            encodings = {"a": {"dtype": "string", "shape": [2]}}
            file.write(_safetensors._header({"a": data}, crc32, encodings, {}) + data.tobytes())
        with pytest.raises(DataLossError, match="add up"):
            opened(tmp_path / "x").read("a")


def test_a_pickle_is_not_read(tmp_path):
    (tmp_path / "x").write_bytes(pickle.dumps({"a": np.zeros(3)}))
    with pytest.raises(DataLossError):
        opened(tmp_path / "x")


def test_a_later_version_is_named(tmp_path):
    text = json.dumps(
        {"__metadata__": {"gradtape": "2", "header_crc32": "00000000"}}, separators=(",", ":")
    ).encode()
    crc = f"{_safetensors.zlib.crc32(text):08x}".encode()
    with pytest.raises(UnimplementedError, match="'2'"):
        opened(raw(tmp_path / "x", text.replace(b"00000000", crc)))
