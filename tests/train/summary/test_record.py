"""tf.summary: event files that the real tensorboard package reads, equal to TensorFlow's."""

import io

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.histogram import metadata as histogram_plugin
from tensorboard.plugins.scalar import metadata as scalar_plugin
from tensorboard.util import tensor_util

from .events import events, only_file, read, values
from .program import RECORDED, write_summaries

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
