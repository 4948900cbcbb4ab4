"""tf.summary: event files that the real tensorboard package reads, equal to TensorFlow's."""

import importlib
import io
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator, event_file_loader
from tensorboard.compat.proto import event_pb2
from tensorboard.plugins.histogram import metadata as histogram_plugin
from tensorboard.plugins.scalar import metadata as scalar_plugin
from tensorboard.util import tensor_util

from .summary_program import RECORDED, write_summaries


@pytest.fixture(scope="module")
def summary(tf):
    return importlib.import_module(f"{tf.__name__}.summary")


@pytest.fixture
def writer(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path / "logs"))
    yield writer
    writer.close()


def only_file(folder):
    (path,) = Path(folder).iterdir()
    return path


def events(folder):
    """The events after the header, as messages, checksums verified by the loader."""
    header, *rest = read(only_file(folder))
    assert header.file_version == "brain.Event:2"
    return rest


def read(path):
    records = event_file_loader.RawEventFileLoader(str(path)).Load()
    return [event_pb2.Event.FromString(record) for record in records]


def values(folder):
    """(step, tag, value) of each event."""
    return [
        (event.step, value.tag, tensor_util.make_ndarray(value.tensor)[()])
        for event in events(folder)
        for value in event.summary.value
    ]


# The same file as TensorFlow's


@pytest.fixture(scope="module")
def both(tf, summary, tmp_path_factory):
    """The values of `write_summaries` as pairs: what was written now, what TensorFlow wrote."""
    folder = tmp_path_factory.mktemp("logs")
    write_summaries(tf, summary, folder)
    ours, recorded = read(only_file(folder)), read(RECORDED)
    assert ours[0].file_version == recorded[0].file_version
    return list(zip(ours[1:], recorded[1:], strict=True))


def test_same_steps_tags_and_plugins(both):
    for ours, recorded in both:
        (mine,), (wanted,) = ours.summary.value, recorded.summary.value
        assert (ours.step, mine.tag) == (recorded.step, wanted.tag)
        assert mine.metadata == wanted.metadata, mine.tag
        assert mine.HasField("metadata") == wanted.HasField("metadata"), mine.tag


def test_same_dtypes_shapes_and_values(both):
    for ours, recorded in both:
        mine, wanted = ours.summary.value[0], recorded.summary.value[0]
        assert mine.tensor.dtype == wanted.tensor.dtype, mine.tag
        assert mine.tensor.tensor_shape == wanted.tensor.tensor_shape, mine.tag
        if mine.tag.startswith("image/"):
            for file, other in zip(mine.tensor.string_val, wanted.tensor.string_val, strict=True):
                assert pixels(file) == pixels(other), mine.tag
        elif "histogram" in mine.tag:
            np.testing.assert_allclose(*map(array, (mine, wanted)), rtol=1e-14, err_msg=mine.tag)
        else:
            assert mine.tensor == wanted.tensor, mine.tag


def array(value):
    return tensor_util.make_ndarray(value.tensor)


def pixels(file):
    """What a PNG shows, or the bytes of what is none (the sizes)."""
    if not file.startswith(b"\x89PNG"):
        return file
    with Image.open(io.BytesIO(file)) as image:
        return image.mode, image.size, image.tobytes()


def test_calls_say_whether_they_recorded(tf, summary, tmp_path):
    said = write_summaries(tf, summary, tmp_path)
    assert not said[0] and all(said[1:-2]) and said[-2:] == [False, True]


# Read as TensorBoard does


def test_tensorboard_shows_all_kinds(tf, summary, tmp_path):
    write_summaries(tf, summary, tmp_path)
    accumulator = event_accumulator.EventAccumulator(str(tmp_path))
    accumulator.Reload()
    (loss,) = accumulator.Tensors("scalar/float")
    assert (loss.step, tensor_util.make_ndarray(loss.tensor_proto)) == (3, 1.5)
    plugins = accumulator.PluginTagToContent
    assert "scalar/float" in plugins(scalar_plugin.PLUGIN_NAME)
    assert "histogram/normal" in plugins(histogram_plugin.PLUGIN_NAME)
    assert {"image/1", "image/3"} <= set(plugins("images"))
    assert set(plugins("text")) == {"text/one", "text/empty", "text/table", "outer/inner/text"}


# Steps, writers, conditions


def test_the_step_is_the_argument_or_that_of_the_block(summary, writer, tmp_path):
    with writer.as_default(step=5):
        summary.scalar("a", 1.0)
        summary.scalar("b", 1.0, step=6)
        with writer.as_default(step=7):
            summary.scalar("c", 1.0)
        summary.scalar("d", 1.0)
    found = [(step, tag) for step, tag, _ in values(tmp_path / "logs")]
    assert found == [(5, "a"), (6, "b"), (7, "c"), (5, "d")]
    assert summary.experimental.get_step() is None


def test_a_step_that_was_set_stays_set(summary, writer, tmp_path):
    with writer.as_default():
        summary.experimental.set_step(7)
        summary.scalar("a", 1.0)
    assert summary.experimental.get_step() == 7
    summary.experimental.set_step(None)
    assert values(tmp_path / "logs") == [(7, "a", 1.0)]


def test_a_variable_as_step_is_read_when_a_summary_is_written(tf, summary, writer, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    with writer.as_default(step=step):
        for _ in range(3):
            summary.scalar("a", 1.0)
            step.assign_add(1)
    assert [each[0] for each in values(tmp_path / "logs")] == [0, 1, 2]


def test_without_a_step_it_is_an_error(summary, writer):
    with writer.as_default(), pytest.raises(ValueError, match=r"(?i)no step"):
        summary.scalar("a", 1.0)


def test_without_a_writer_nothing_is_looked_at(summary):
    assert not summary.histogram("a", "not numbers")
    assert not summary.should_record_summaries()
    assert not summary.write("a", lambda: pytest.fail("called"))


def test_the_innermost_condition_counts(summary, writer, tmp_path):
    with writer.as_default(step=0), summary.record_if(False):
        assert not summary.should_record_summaries()
        assert not summary.write("a", lambda: pytest.fail("called"))
        with summary.record_if(lambda: True):
            assert summary.scalar("b", 1.0)
        assert not summary.scalar("c", 1.0)
    assert [tag for _, tag, _ in values(tmp_path / "logs")] == ["b"]


def test_set_as_default(tf, summary, writer, tmp_path):
    def main():  # in a thread, whose default ends with it
        writer.set_as_default(step=4)
        summary.scalar("a", 1.0)
        summary.flush()

    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    assert values(tmp_path / "logs") == [(4, "a", 1.0)]
    assert not summary.should_record_summaries()


def test_a_noop_writer_leaves_the_default_in_force(summary, writer):
    noop = summary.create_noop_writer()
    with noop.as_default(step=1):
        assert not summary.should_record_summaries()
        assert summary.experimental.get_step() is None
    with writer.as_default(step=1), noop.as_default(step=5):
        assert summary.should_record_summaries()
        assert summary.experimental.get_step() == 1
    assert isinstance(noop, summary.SummaryWriter) and isinstance(writer, summary.SummaryWriter)
    noop.init()
    noop.flush()
    noop.close()


def test_a_closed_writer_says_so(summary, writer):
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="closed"), writer.as_default(step=0):
        summary.scalar("a", 1.0)


def test_summary_scope_gives_the_tag(tf, summary):
    with (
        tf.name_scope("outer"),
        summary.experimental.summary_scope("name", "default") as (tag, scope),
    ):
        assert (tag, scope) == ("outer/name", "outer/name/")


def test_metadata_of_the_tensorboard_package(summary, writer, tmp_path):
    metadata = scalar_plugin.create_summary_metadata("shown", "described")
    with writer.as_default(step=0):
        summary.write("a", 1.0, metadata=metadata)
    assert events(tmp_path / "logs")[0].summary.value[0].metadata == metadata


def test_inside_a_function_each_run_is_recorded(tf, summary, writer, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        with writer.as_default(step=step), summary.record_if(tf.equal(step % 2, 0)):
            summary.scalar("sum", tf.reduce_sum(x))
            summary.histogram("histogram", x, buckets=2)
            summary.scalar("traced at", 1.0, step=9)
        step.assign_add(1)
        return 2.0 * x

    for i in range(4):
        np.testing.assert_array_equal(train(tf.constant([float(i), 1.0])), [2.0 * i, 2.0])
    writer.flush()
    found = values(tmp_path / "logs")
    expected = [(0, "sum"), (0, "histogram"), (9, "traced at")]
    expected += [(2, "sum"), (2, "histogram"), (9, "traced at")]
    assert [each[:2] for each in found] == expected
    assert [value for _, tag, value in found if tag == "sum"] == [1.0, 3.0]
    np.testing.assert_array_equal(found[4][2], [[1, 1.5, 1], [1.5, 2, 1]])


# Files


def test_file_name_and_folders(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path / "a" / "b"), filename_suffix=".mine")
    name = only_file(tmp_path / "a" / "b").name
    assert name.startswith("events.out.tfevents.") and name.endswith(".mine")
    assert str(os.getpid()) in name.split(".")
    writer.close()


def test_two_writers_in_one_folder_have_a_file_each(summary, tmp_path):
    for _ in range(2):
        summary.create_file_writer(str(tmp_path)).close()
    assert len(list(tmp_path.iterdir())) == 2


def test_what_waits_is_written_when_the_queue_is_full(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path), max_queue=3)
    counts = []
    with writer.as_default(step=0):
        for _ in range(9):
            summary.scalar("a", 1.0)
            counts.append(len(events(tmp_path)))
    assert counts == [0, 0, 0, 4, 4, 4, 4, 8, 8]
    assert len(events(tmp_path)) == 9  # the block flushes at its end
    writer.close()


def test_what_waits_is_written_when_time_has_passed(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path), max_queue=1000, flush_millis=1)
    with writer.as_default(step=0):
        time.sleep(0.01)
        summary.scalar("a", 1.0)
        assert len(events(tmp_path)) == 1
    writer.close()


SCRIPT = """
import importlib, os, signal, sys
summary = importlib.import_module(sys.argv[2])
writer = summary.create_file_writer(sys.argv[1], max_queue=1000)
writer.set_as_default(step=0)
for i in range(3):
    summary.scalar("flushed", float(i))
writer.flush()
summary.scalar("waiting", 1.0)
"""


def run_script(summary, folder, ending=""):
    command = [sys.executable, "-c", SCRIPT + ending, str(folder), summary.__name__]
    return subprocess.run(command, timeout=120)


def test_a_killed_process_leaves_what_was_flushed(summary, tmp_path):
    done = run_script(summary, tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    assert [tag for _, tag, _ in values(tmp_path)] == ["flushed"] * 3


def test_a_process_that_ends_writes_what_waits(summary, tmp_path):
    assert run_script(summary, tmp_path).returncode == 0
    assert [tag for _, tag, _ in values(tmp_path)] == ["flushed"] * 3 + ["waiting"]


def test_threads_share_a_writer(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path))

    def work(name):
        with writer.as_default():
            for step in range(50):
                summary.scalar(name, float(step), step=step)

    threads = [threading.Thread(target=work, args=[name]) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = values(tmp_path)
    for name in "abcd":
        assert [step for step, tag, _ in found if tag == name] == list(range(50))


@pytest.mark.gradtape_only
def test_a_full_disk_leaves_whole_events_and_loses_none(summary, tmp_path):
    writer = summary.create_file_writer(str(tmp_path), max_queue=1000)
    room = only_file(tmp_path).stat().st_size + 100  # bytes: one event, and part of the next
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with writer.as_default(step=0):
        for i in range(3):
            summary.scalar("a", float(i))
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises(OSError, match="large"):
                writer.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        assert events(tmp_path) == []
    assert [value for *_, value in values(tmp_path)] == [0.0, 1.0, 2.0]
    writer.close()


@pytest.mark.gradtape_only
def test_a_large_record_has_the_right_checksum(summary, writer, tmp_path):
    big = np.random.default_rng(0).integers(0, 256, 100_001).astype(np.uint8)
    with writer.as_default(step=0):
        summary.write("big", big)
        summary.scalar("next", 1.0)
    (_, _, found), (_, tag, _) = values(tmp_path / "logs")
    np.testing.assert_array_equal(found, big)
    assert tag == "next"


@pytest.mark.gradtape_only
@pytest.mark.parametrize("size", [4, 5, 63, 64, 65, 1023, 1024, 1025, 4097])
def test_both_ways_to_the_checksum_agree(size):
    from gradtape.train import events

    data = np.random.default_rng(size).bytes(size)
    register = 0xFFFFFFFF
    for byte in data:  # bit by bit, by the definition
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    assert events.crc32c(data) == register ^ 0xFFFFFFFF
    assert events._crc32c_of_many(data) == register ^ 0xFFFFFFFF


@pytest.mark.gradtape_only
def test_nothing_but_numpy_is_needed(tmp_path):
    absent = ["tensorboard", "google", "matplotlib", "PIL", "jax", "scipy", "rich"]
    block = f"import sys\nsys.modules.update(dict.fromkeys({absent}))\n"
    script = textwrap.dedent("""
        import numpy as np
        from gradtape import summary
        with summary.create_file_writer(sys.argv[1]).as_default(step=0):
            summary.image("image", np.ones((1, 2, 2, 3), np.float32))
            summary.histogram("histogram", [1.0, 2.0])
            summary.text("text", "t")
    """)
    subprocess.run([sys.executable, "-c", block + script, str(tmp_path)], check=True, timeout=120)
    assert [tag for _, tag, _ in values_of_any(tmp_path)] == ["image", "histogram", "text"]


def values_of_any(folder):
    return [(e.step, v.tag, v.tensor) for e in events(folder) for v in e.summary.value]


# What is refused


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda s: s.scalar("a", [1.0, 2.0]), ValueError, r"one number.*shape \(2,\)"),
        (lambda s: s.scalar(3, 1.0), TypeError, "`name` must be a string"),
        (lambda s: s.scalar("a", 1.0, step=2.5), TypeError, "int64"),
        (lambda s: s.scalar("a", 1.0, step="x"), TypeError, "int64"),
        (lambda s: s.histogram("a", [1.0], buckets=2.5), TypeError, "buckets"),
        (lambda s: s.image("a", np.zeros((2, 2))), ValueError, r"shape \(2, 2\)"),
        (lambda s: s.image("a", np.zeros((1, 2, 2, 5))), ValueError, "1 to 4"),
        (lambda s: s.text("a", 1.0), TypeError, "must be strings"),
        (lambda s: s.audio("a", np.zeros((1, 2), np.float32), 8), ValueError, "frames"),
        (lambda s: s.audio("a", np.zeros((1, 2, 1)), 8), TypeError, "float32"),
        (lambda s: s.audio("a", np.zeros((1, 2, 1)), 8, encoding="mp3"), ValueError, "wav"),
        (lambda s: s.write(3, 1.0), TypeError, "`tag` must be a string"),
        (lambda s: s.write("a", 1.0, metadata=3), TypeError, "`metadata`"),
        (lambda s: s.flush("writer"), ValueError, "SummaryWriter"),
        (lambda s: s.create_file_writer(None), ValueError, "`logdir`"),
    ],
)
def test_bad_arguments_are_explained_and_write_nothing(
    summary, writer, tmp_path, call, error, text
):
    with writer.as_default(step=0):
        with pytest.raises(error, match=text):
            call(summary)
        summary.scalar("good", 1.0)
    assert values(tmp_path / "logs") == [(0, "good", 1.0)]


@pytest.mark.gradtape_only
def test_a_folder_that_cannot_be_made_is_named(summary, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"create_file_writer.*file"):
        summary.create_file_writer(tmp_path / "file")


@pytest.mark.gradtape_only
def test_a_histogram_leaves_out_what_is_not_finite(summary, writer, tmp_path):
    with writer.as_default(step=0):
        summary.histogram("a", [1.0, np.nan, 3.0, np.inf, -np.inf], buckets=2)
        summary.histogram("b", [np.nan], buckets=2)
    (*_, a), (*_, b) = values(tmp_path / "logs")
    np.testing.assert_array_equal(a, [[1, 2, 1], [2, 3, 1]])
    np.testing.assert_array_equal(b, np.zeros((2, 3)))
