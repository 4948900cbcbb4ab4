"""The file "checkpoint" of a folder: what is there, and a damaged one."""

import json
import os
import time

import pytest

import gradtape as tf
from gradtape import train
from gradtape.errors import DataLossError


@pytest.fixture
def run(tmp_path):
    """A folder with one checkpoint, and beside it a file that must survive."""
    folder = tmp_path / "run"
    train.CheckpointManager(train.Checkpoint(v=tf.Variable(1)), folder, 1).save()
    (tmp_path / "victim.safetensors").write_text("mine")
    return folder


@pytest.mark.parametrize(
    "name", ["../victim", "/etc/passwd", "", ".", "..", "a/b", "a\0b", None, 5, ["ckpt-1"]]
)
@pytest.mark.parametrize("key", ["model_checkpoint_path", "all_model_checkpoint_paths"])
def test_names_that_lead_out_of_the_folder(run, name, key):
    stored = json.loads((run / "checkpoint").read_text())
    stored[key] = name if key == "model_checkpoint_path" else [name]
    (run / "checkpoint").write_text(json.dumps(stored))
    with pytest.raises(DataLossError, match="is not the name of a checkpoint in this folder"):
        train.latest_checkpoint(run)
    with pytest.raises(DataLossError):
        train.CheckpointManager(train.Checkpoint(), run, 1)
    assert (run.parent / "victim.safetensors").read_text() == "mine"


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"model_checkpoint_path": "ckpt-1"}',
    ],
)  # fmt: skip
def test_a_damaged_record(run, text):
    (run / "checkpoint").write_bytes(text)
    with pytest.raises(DataLossError, match=r"checkpoint: .*restore a checkpoint by its own name"):
        train.latest_checkpoint(run)
    v = tf.Variable(0)
    train.Checkpoint(v=v).restore(run / "ckpt-1").assert_consumed()
    assert int(v) == 1


@pytest.mark.parametrize("times", [None, [1.0, 2.0], ["now"], [float("nan")], [True]])
def test_damaged_times(run, times):
    stored = json.loads((run / "checkpoint").read_text())
    (run / "checkpoint").write_text(json.dumps(stored | {"all_model_checkpoint_timestamps": times}))
    with pytest.raises(DataLossError, match="time"):
        train.latest_checkpoint(run)


def test_a_clock_that_was_put_back(run):
    stored = json.loads((run / "checkpoint").read_text())
    later = time.time() + 1e6
    stored |= {"all_model_checkpoint_timestamps": [later], "last_preserved_timestamp": later}
    (run / "checkpoint").write_text(json.dumps(stored))
    manager = train.CheckpointManager(train.Checkpoint(v=tf.Variable(1)), run, 1)
    manager.restore_or_initialize()
    manager.save()
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-2"]
    assert not (run / "ckpt-1.safetensors").exists()
