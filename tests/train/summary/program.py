"""Summaries of every kind, by a program that runs on gradtape and on TensorFlow.

To remake recorded/summaries.tfevents, with TensorFlow and the `tensorboard` package:

    TENSORFLOW_PYTHON tests/train/summary/program.py
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np

DTYPES = ["bfloat16", "float16", "float64", "int8", "uint8", "int16", "uint16", "int64", "uint32"]
RECORDED = Path(__file__).parent / "recorded" / "summaries.tfevents"


def write_summaries(tf, summary, folder):
    """Write an event file into `folder`. Returns what each call said: whether it recorded."""
    random = np.random.default_rng(0)
    normal = random.normal(size=(7, 11)).astype(np.float32)
    said = [summary.scalar("no writer", 1.0, step=0)]
    writer = summary.create_file_writer(str(folder))
    with writer.as_default(step=3):
        said += [
            summary.scalar("scalar/float", 1.5),
            summary.scalar("scalar/int", 7, step=0),
            summary.scalar("scalar/bool", True, step=-3),
            summary.scalar("scalar/double", np.float64(0.1), step=np.int32(2**30)),
            summary.scalar(
                "scalar/variable", tf.Variable(2.5), step=tf.Variable(8, dtype=tf.int64)
            ),
            summary.scalar("scalar/described", float("nan"), description="a *number*"),
            summary.scalar(None, 1.0),
            summary.scalar("", float("inf")),
            summary.scalar("/odd//näme !", 1.0),
            summary.histogram("histogram/normal", normal, description="values"),
            summary.histogram("histogram/ints", [1, 2, 3, 4], buckets=2),
            summary.histogram("histogram/one value", [2.0, 2.0], buckets=4),
            summary.histogram("histogram/empty", np.zeros(0, np.float32), buckets=3),
            summary.histogram("histogram/no buckets", normal, buckets=0),
            summary.text("text/one", "# Title\n*text* é"),
            summary.text("text/empty", ""),
            summary.text("text/table", [["a", "b"], ["c", ""]], description="letters"),
        ]
        for channels in (1, 2, 3, 4):
            images = random.uniform(-0.2, 1.2, (5, 6, 4, channels)).astype(np.float32)
            said.append(summary.image(f"image/{channels}", images, description="noise"))
        for dtype in (np.uint8, np.uint16, np.int32):
            images = random.integers(0, np.iinfo(dtype).max, (2, 3, 4, 1)).astype(dtype)
            said.append(summary.image(f"image/{np.dtype(dtype).name}", images, max_outputs=1))
        said.append(summary.image("image/none", np.zeros((0, 2, 2, 1), np.float32)))
        sounds = tf.constant(random.normal(size=(4, 50, 2)).astype(np.float32))
        said.append(summary.audio("audio", sounds, 8000, max_outputs=2, description="noise"))
        said += [
            summary.write(f"write/{name}", tf.cast([[0, 1, 2]], getattr(tf, name)))
            for name in DTYPES
        ]
        said += [
            summary.write("write/bools", [True, False]),
            summary.write("write/strings", [["a", "b"]]),
            summary.write("write/complex", tf.constant([1 + 2j])),
            summary.write("write/function", lambda: 4.0, metadata=b"\n\x09\n\x07scalars"),
        ]
        with tf.name_scope("outer"), tf.name_scope("inner"):
            said += [
                summary.scalar("scalar", 1.0),
                summary.histogram("histogram", normal, buckets=1),
                summary.text("text", "t"),
                summary.write("not scoped", 1.0),
            ]
        with summary.record_if(False):
            said.append(summary.scalar("not recorded", 1.0))
        with summary.record_if(lambda: tf.constant(True)):
            said.append(summary.scalar("recorded", 1.0))
    writer.close()
    return [bool(each) for each in said]


def main():
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        write_summaries(tf, tf.summary, folder)
        (path,) = Path(folder).iterdir()
        RECORDED.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, RECORDED)


if __name__ == "__main__":
    main()
