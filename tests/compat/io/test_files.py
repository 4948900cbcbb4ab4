"""Files: tf.io.gfile, files as ops, and the datasets that read them."""

import gzip
import os
import zlib
from pathlib import Path

import pytest


@pytest.fixture
def gfile(tf):
    return tf.io.gfile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.txt").write_bytes("héllo\nworld\nmore".encode())
    (tmp_path / "a" / "y.txt").write_bytes(b"y")
    (tmp_path / "a" / "b" / "z.bin").write_bytes(b"\0\1")
    return str(tmp_path)


def test_what_is_there(gfile, folder):
    assert gfile.exists(f"{folder}/a/x.txt") and gfile.exists(f"{folder}/a")
    assert gfile.exists(Path(folder)) and gfile.exists(f"file://{folder}/a")
    assert not gfile.exists(f"{folder}/none")
    assert gfile.isdir(f"{folder}/a") and not gfile.isdir(f"{folder}/a/x.txt")
    assert sorted(gfile.listdir(f"{folder}/a")) == ["b", "x.txt", "y.txt"]
    found = gfile.stat(f"{folder}/a/x.txt")
    assert found.length == 17 and found.mtime_nsec > 0 and not found.is_directory
    assert gfile.stat(f"{folder}/a").is_directory
    assert gfile.glob(f"{folder}/a/*.txt") == [f"{folder}/a/x.txt", f"{folder}/a/y.txt"]
    assert gfile.glob(f"{folder}/**/?.txt") == [f"{folder}/a/x.txt", f"{folder}/a/y.txt"]
    assert gfile.glob([f"{folder}/a/b/*", f"{folder}/none*"]) == [f"{folder}/a/b/z.bin"]
    walked = {top: (sorted(folders), sorted(files)) for top, folders, files in gfile.walk(folder)}
    assert walked[f"{folder}/a"] == (["b"], ["x.txt", "y.txt"]) and len(walked) == 3
    first, *_ = gfile.walk(folder, topdown=False)
    assert first[0] == f"{folder}/a/b"
    assert list(gfile.walk(f"{folder}/none")) == []
    assert {"", "file"} <= set(gfile.get_registered_schemes())


def test_paths(gfile):
    assert gfile.join("a", "b") == "a/b" and gfile.join("a/", "b/") == "a/b/"
    assert gfile.join("a", "/b") == "/b"
    assert (
        gfile.join("gs://x", "y") == "gs://x/y" and gfile.join("gs://x/", "y", "z") == "gs://x/y/z"
    )


def test_changes(tf, gfile, folder):
    gfile.makedirs(f"{folder}/new/deep")
    gfile.makedirs(f"{folder}/new/deep")
    gfile.mkdir(f"{folder}/new/other")
    gfile.mkdir(f"{folder}/new/other")
    gfile.copy(f"{folder}/a/x.txt", f"{folder}/new/x.txt")
    gfile.copy(f"{folder}/a/y.txt", f"{folder}/new/x.txt", overwrite=True)
    assert Path(folder, "new/x.txt").read_bytes() == b"y"
    gfile.rename(f"{folder}/new/x.txt", f"{folder}/new/z.txt")
    assert not gfile.exists(f"{folder}/new/x.txt")
    gfile.remove(f"{folder}/new/z.txt")
    gfile.rmtree(f"{folder}/new")
    assert not gfile.exists(f"{folder}/new")


def test_errors_of_files(tf, gfile, folder):
    errors = tf.errors
    for kind, wrong in (
        (errors.NotFoundError, lambda: gfile.mkdir(f"{folder}/none/deep")),
        (errors.NotFoundError, lambda: gfile.listdir(f"{folder}/none")),
        (errors.NotFoundError, lambda: gfile.stat(f"{folder}/none")),
        (errors.NotFoundError, lambda: gfile.copy(f"{folder}/none", f"{folder}/q")),
        (errors.NotFoundError, lambda: gfile.rename(f"{folder}/none", f"{folder}/q")),
        (errors.NotFoundError, lambda: gfile.remove(f"{folder}/none")),
        (errors.NotFoundError, lambda: gfile.rmtree(f"{folder}/none")),
        (errors.NotFoundError, lambda: gfile.GFile(f"{folder}/none").read()),
        (errors.NotFoundError, lambda: tf.io.read_file(f"{folder}/none")),
        (errors.AlreadyExistsError, lambda: gfile.copy(f"{folder}/a/x.txt", f"{folder}/a/y.txt")),
        (errors.AlreadyExistsError, lambda: gfile.rename(f"{folder}/a/x.txt", f"{folder}/a/y.txt")),
        (errors.FailedPreconditionError, lambda: gfile.remove(f"{folder}/a")),
        (errors.UnimplementedError, lambda: gfile.exists("foo://bucket/x")),
        (errors.PermissionDeniedError, lambda: gfile.GFile(f"{folder}/a/x.txt").write("x")),
        (errors.PermissionDeniedError, lambda: gfile.GFile(f"{folder}/a/q", "w").read()),
    ):
        with pytest.raises(kind):
            wrong()
    with pytest.raises(ValueError if tf.__name__ == "gradtape" else errors.InvalidArgumentError):
        gfile.GFile(f"{folder}/a/x.txt", "z").read()


def test_reading(gfile, folder):
    file = gfile.GFile(f"{folder}/a/x.txt")
    assert file.read(3) == "hé" and file.tell() == 3  # bytes
    assert [file.readline() for _ in range(4)] == ["llo\n", "world\n", "more", ""]
    assert file.size() == 17 and file.mode == "r" and file.name == f"{folder}/a/x.txt"
    file.seek(7)
    assert file.readlines() == ["world\n", "more"] and file.seekable()
    file.close()
    assert list(gfile.GFile(f"{folder}/a/x.txt")) == ["héllo\n", "world\n", "more"]
    with gfile.GFile(f"{folder}/a/x.txt", "rb") as file:
        assert file.read() == "héllo\nworld\nmore".encode()


def test_writing(gfile, folder):
    path = f"{folder}/new.txt"
    with gfile.GFile(path, "w") as file:
        file.write("héllo")
    with gfile.GFile(path, "ab") as file:
        file.write(b"!\n")
        file.flush()
        assert os.path.getsize(path) == 8
    assert Path(path).read_text(encoding="utf-8") == "héllo!\n"


def test_whole_files(tf, folder):
    assert tf.io.read_file(f"{folder}/a/y.txt").numpy() == b"y"
    tf.io.write_file(f"{folder}/made/for/it", tf.constant("text"))
    assert tf.io.read_file(tf.constant(f"{folder}/made/for/it")).numpy() == b"text"
    found = tf.io.matching_files([f"{folder}/a/*.txt", f"{folder}/made/*"]).numpy().tolist()
    assert found == [f"{folder}/{name}".encode() for name in ("a/x.txt", "a/y.txt", "made/for")]
    assert tf.io.matching_files(f"{folder}/none*").shape == [0]
    assert tf.io.match_filenames_once(f"{folder}/a/*.txt").shape == [2]


def test_files_in_a_function(tf, folder):
    read = tf.function(lambda path: tf.strings.length(tf.io.read_file(path)))
    assert read(tf.constant(f"{folder}/a/y.txt")).numpy() == 1
    Path(folder, "a/y.txt").write_bytes(b"abc")
    assert read(tf.constant(f"{folder}/a/y.txt")).numpy() == 3


# Datasets


def elements(dataset):
    return list(dataset.as_numpy_iterator())


def test_lines(tf, folder):
    dataset = tf.data.TextLineDataset([f"{folder}/a/x.txt", f"{folder}/a/y.txt"])
    assert elements(dataset) == ["héllo".encode(), b"world", b"more", b"y"]
    assert isinstance(dataset, tf.data.Dataset)
    assert dataset.element_spec == tf.TensorSpec([], tf.string)
    assert dataset.cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY
    Path(folder, "ends.txt").write_bytes(b"a\r\nb\n\nc\r")
    assert elements(tf.data.TextLineDataset(f"{folder}/ends.txt")) == [b"a", b"b", b"", b"c"]
    Path(folder, "lines.gz").write_bytes(gzip.compress(b"one\ntwo"))
    assert elements(tf.data.TextLineDataset(f"{folder}/lines.gz", "GZIP")) == [b"one", b"two"]
    Path(folder, "lines.z").write_bytes(zlib.compress(b"one\n" * 50000))
    assert len(elements(tf.data.TextLineDataset(f"{folder}/lines.z", "ZLIB"))) == 50000
    both = dataset.map(tf.strings.length).batch(4)
    assert elements(both)[0].tolist() == [6, 5, 4, 1]
    assert len(elements(dataset.repeat(2).shuffle(3))) == 8


def test_pieces(tf, folder):
    path = f"{folder}/pieces"
    Path(path).write_bytes(b"HHaabbccF")
    dataset = tf.data.FixedLengthRecordDataset(path, 2, header_bytes=2, footer_bytes=1)
    assert elements(dataset) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(tf.data.FixedLengthRecordDataset(path, 2))


def test_list_files(tf, folder):
    pattern = f"{folder}/a/*.txt"
    listed = elements(tf.data.Dataset.list_files(pattern, shuffle=False))
    assert listed == [f"{folder}/a/x.txt".encode(), f"{folder}/a/y.txt".encode()]
    shuffled = tf.data.Dataset.list_files([pattern], seed=1)
    assert sorted(elements(shuffled)) == listed and len(shuffled) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.data.Dataset.list_files(f"{folder}/none*")
    read = tf.data.Dataset.list_files(pattern, shuffle=False).flat_map(tf.data.TextLineDataset)
    assert len(elements(read)) == 4


# Records


def test_records(tf, tmp_path):
    path = str(tmp_path / "r.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.write("two")
        writer.flush()
        writer.write(b"x" * 5000)
    records = [b"one", b"two", b"x" * 5000]
    assert elements(tf.data.TFRecordDataset(path)) == records
    assert elements(tf.data.TFRecordDataset([path, path])) == records * 2
    names = tf.data.Dataset.from_tensor_slices([path, path])
    in_turns = elements(tf.data.TFRecordDataset(names, num_parallel_reads=2))
    assert in_turns == [each for each in records for _ in range(2)]
    with pytest.raises(tf.errors.FailedPreconditionError):
        writer.write(b"late")


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_compressed_records(tf, tmp_path, kind):
    path = str(tmp_path / "r.tfrecord")
    for options in (kind, tf.io.TFRecordOptions(compression_type=kind, compression_level=9)):
        with tf.io.TFRecordWriter(path, options) as writer:
            for i in range(1000):
                writer.write(str(i).encode())
        assert elements(tf.data.TFRecordDataset(path, kind)) == [b"%d" % i for i in range(1000)]
    assert tf.io.TFRecordOptions.get_compression_type_string(kind) == kind


def test_damaged_records(tf, tmp_path):
    path = tmp_path / "r.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"one")
        writer.write(b"two")
    whole = path.read_bytes()
    turned = bytearray(whole)
    turned[13] ^= 1
    for damaged in (whole[:-3], bytes(turned), b"no records at all"):
        path.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            elements(tf.data.TFRecordDataset(str(path)))
    with pytest.raises(tf.errors.NotFoundError):
        elements(tf.data.TFRecordDataset(str(tmp_path / "none")))
    with pytest.raises(TypeError):
        tf.data.TFRecordDataset([1])


def test_bytes_of_a_record(tf, tmp_path):
    path = tmp_path / "r.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"one")
    assert path.read_bytes().hex() == "0300000000000000b099490e6f6e6501405508"
