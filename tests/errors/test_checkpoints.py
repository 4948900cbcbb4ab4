"""The messages of checkpoints, by their text."""

import gc
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.gradtape_only


def written(tf, folder, **objects):
    return tf.train.Checkpoint(**objects).write(f"{folder}/ckpt")


def restored(tf, folder, **objects):
    """The checkpoint of other objects, with what was saved of a float32 variable `w`."""
    path = written(tf, folder, w=tf.Variable([1.0, 2.0]))
    return tf.train.Checkpoint(**objects).restore(path)


def holder(**attributes):
    return SimpleNamespace(**attributes)


def state(tf, folder, text):
    """The latest checkpoint of a folder whose file "checkpoint" holds `text`."""
    Path(folder, "checkpoint").write_text(text)
    return tf.train.latest_checkpoint(folder)


def with_state(tf, folder, **entries):
    known = {
        "model_checkpoint_path": "ckpt-1",
        "all_model_checkpoint_paths": ["ckpt-1"],
        "all_model_checkpoint_timestamps": [1.0],
        "last_preserved_timestamp": 1.0,
    }
    return state(tf, folder, json.dumps(known | entries))


def manager(tf, folder, max_to_keep=3, **options):
    return tf.train.CheckpointManager(tf.train.Checkpoint(), folder, max_to_keep, **options)


def damaged(tf, folder, place):
    """Restore a file with one byte changed."""
    path = written(tf, folder, w=tf.Variable([1.0, 2.0]))
    file = Path(f"{path}.safetensors")
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    return tf.train.Checkpoint(w=tf.Variable([0.0, 0.0])).restore(path)


CONVERT = (
    "gradtape reads safetensors only. Convert it where TensorFlow is installed: reader = "
    "tf.train.load_checkpoint(path); with safetensors.numpy.save_file write "
    "{name.removesuffix('/.ATTRIBUTES/VARIABLE_VALUE'): reader.get_tensor(name)} for each name of "
    "reader.get_variable_to_shape_map() that does not begin with '_' to path + '.safetensors'. The "
    "model's variables are restored from that; the optimizer's have other names here."
)


def of_tensorflow(folder):
    """The path of a checkpoint as TensorFlow writes it: an index, and its data in shards."""
    for end in ("index", "data-00000-of-00001"):
        Path(folder, f"ckpt-1.{end}").write_bytes(b"\0")
    return f"{folder}/ckpt-1"


CALLS = {
    # Checkpoints of TensorFlow
    f"Checkpoint.restore: 'FOLDER/ckpt-1.index' is a checkpoint in TensorFlow's own format. "
    f"{CONVERT}": (
        NotImplementedError,
        lambda tf, folder: tf.train.Checkpoint(v=tf.Variable(1.0)).restore(of_tensorflow(folder)),
    ),
    f"load_checkpoint: 'FOLDER/ckpt-1.index' is a checkpoint in TensorFlow's own format. "
    f"{CONVERT}": (
        NotImplementedError,
        lambda tf, folder: tf.train.load_checkpoint(f"{of_tensorflow(folder)}.index"),
    ),
    f"FOLDER/checkpoint: this folder holds checkpoints in TensorFlow's own format. {CONVERT} Save "
    "new checkpoints to another folder.": (
        NotImplementedError,
        lambda tf, folder: state(tf, folder, 'model_checkpoint_path: "ckpt-1"\n'),
    ),
    # What can be saved
    "Checkpoint: `step` must be a variable or an object that leads to variables, and is 3. Make "
    "a number a tf.Variable to have it saved.": (
        ValueError,
        lambda tf, folder: tf.train.Checkpoint(step=3),
    ),
    "Checkpoint: `root` must be an object that holds variables; a variable itself needs a name: "
    "Checkpoint(v=variable).": (
        ValueError,
        lambda tf, folder: tf.train.Checkpoint(tf.Variable(1.0)),
    ),
    "Checkpoint: 'w' is an attribute of `root` already. Use another name.": (
        ValueError,
        lambda tf, folder: tf.train.Checkpoint(holder(w=tf.Variable(1.0)), w=tf.Variable(1.0)),
    ),
    "Checkpoint.write: the key in brackets in 'w/[(1, 2)]' leads to a variable, and is no "
    "string. Use strings or integers as the keys of dicts that hold variables.": (
        ValueError,
        lambda tf, folder: written(tf, folder, w={(1, 2): tf.Variable(1.0)}),
    ),
    "Checkpoint.write: two variables have the path 'w/1'. Keys and names must differ as text.": (
        ValueError,
        lambda tf, folder: written(tf, folder, w={1: tf.Variable(1.0), "1": tf.Variable(1.0)}),
    ),
    # What can be restored
    "Checkpoint.restore: there is no checkpoint 'FOLDER/ckpt': no file "
    "'FOLDER/ckpt.safetensors'. A path that save() returned ends with a number, such as "
    "'ckpt-1'; latest_checkpoint(folder) gives the last one.": (
        LookupError,
        lambda tf, folder: tf.train.Checkpoint().restore(f"{folder}/ckpt"),
    ),
    "Checkpoint.restore: FOLDER/ckpt.safetensors: 'w' is int32 here and float32 in the file. "
    "Nothing was restored. Make the variable as it was, or restore without it.": (
        TypeError,
        lambda tf, folder: restored(tf, folder, w=tf.Variable([1, 2])),
    ),
    "Checkpoint.restore: FOLDER/ckpt.safetensors: 'w' has shape (1,) here and (2,) in the file. "
    "Nothing was restored. Make the variable as it was, or restore without it.": (
        ValueError,
        lambda tf, folder: restored(tf, folder, w=tf.Variable([1.0])),
    ),
    "FOLDER/ckpt.safetensors: no variable was there for 'w'. (A variable that came to be after "
    "the restore may need another restore.)": (
        AssertionError,
        lambda tf, folder: restored(tf, folder).assert_consumed(),
    ),
    "FOLDER/ckpt.safetensors: nothing of it was restored. It holds 'w'. Give the checkpoint's "
    "objects the names that they had.": (
        AssertionError,
        lambda tf, folder: restored(tf, folder).assert_nontrivial_match(),
    ),
    "FOLDER/ckpt.safetensors: not restored from it: 'v', 'save_counter'. Either the file has no "
    "value under this path, or the variable came to be after the restore; then restore again.": (
        AssertionError,
        lambda tf, folder: restored(
            tf, folder, v=tf.Variable(1.0)
        ).assert_existing_objects_matched(),
    ),
    "Checkpoint.restore: `save_path` was None; nothing was restored.": (
        AssertionError,
        lambda tf, folder: tf.train.Checkpoint().restore(None).assert_consumed(),
    ),
    "FOLDER/ckpt.safetensors: the bytes of the array 'w' do not have their checksum. The file "
    "is damaged, or no safetensors file; nothing was taken from it.": (
        ValueError,
        lambda tf, folder: damaged(tf, folder, -1),
    ),
    "FOLDER/ckpt.safetensors: the header is not JSON as it should be: Expecting property name "
    "enclosed in double quotes: line 1 column 33 (char 32). The file is damaged, or no "
    "safetensors file; nothing was taken from it.": (
        ValueError,
        lambda tf, folder: damaged(tf, folder, 40),
    ),
    "FOLDER/ckpt.safetensors: a header of 72057594037928112 bytes does not fit into its 192 "
    "bytes. The file is damaged, or no safetensors file; nothing was taken from it.": (
        ValueError,
        lambda tf, folder: damaged(tf, folder, 7),
    ),
    # Reading
    "load_checkpoint: the folder 'FOLDER' has no latest checkpoint. Give the path of one, as "
    "save() returned it.": (
        LookupError,
        lambda tf, folder: tf.train.load_checkpoint(folder),
    ),
    "get_tensor: FOLDER/ckpt.safetensors has no value 'v'. It holds 'w'.": (
        LookupError,
        lambda tf, folder: tf.train.load_variable(written(tf, folder, w=tf.Variable(1.0)), "v"),
    ),
    # Folders
    "CheckpointManager: `max_to_keep` must be a positive integer, or None to keep all, not 0.": (
        ValueError,
        lambda tf, folder: manager(tf, folder, 0),
    ),
    "CheckpointManager: `checkpoint_interval` needs `step_counter`, the variable that counts "
    "the steps.": (
        ValueError,
        lambda tf, folder: manager(tf, folder, checkpoint_interval=10),
    ),
    "FOLDER/checkpoint: it is not JSON: Expecting property name enclosed in double quotes: line "
    "1 column 2 (char 1). Delete this file, and restore a checkpoint by its own name.": (
        ValueError,
        lambda tf, folder: state(tf, folder, "{"),
    ),
    "FOLDER/checkpoint: it must have the keys model_checkpoint_path, "
    "all_model_checkpoint_paths, all_model_checkpoint_timestamps, last_preserved_timestamp. "
    "Delete this file, and restore a checkpoint by its own name.": (
        ValueError,
        lambda tf, folder: state(tf, folder, "{}"),
    ),
    "FOLDER/checkpoint: it must list as many timestamps as checkpoints, or none. Delete this "
    "file, and restore a checkpoint by its own name.": (
        ValueError,
        lambda tf, folder: with_state(tf, folder, all_model_checkpoint_timestamps=[1.0, 2.0]),
    ),
    "FOLDER/checkpoint: '../ckpt-1' is not the name of a checkpoint in this folder. Delete this "
    "file, and restore a checkpoint by its own name.": (
        ValueError,
        lambda tf, folder: with_state(tf, folder, model_checkpoint_path="../ckpt-1"),
    ),
    "FOLDER/checkpoint: 'now' is not a time. Delete this file, and restore a checkpoint by its "
    "own name.": (
        ValueError,
        lambda tf, folder: with_state(tf, folder, last_preserved_timestamp="now"),
    ),
}


@pytest.mark.parametrize("message", CALLS)
def test_message(tf, tmp_path, message):
    kind, call = CALLS[message]
    with pytest.raises(kind) as error:
        call(tf, str(tmp_path))
    assert str(error.value).replace(str(tmp_path), "FOLDER") == message


def test_values_that_found_no_variable_are_reported(tf, tmp_path, caplog):
    gc.collect()  # what the tests before this one left reports now
    caplog.clear()
    restored(tf, tmp_path)
    gc.collect()
    assert caplog.messages == [
        f"{tmp_path}/ckpt.safetensors: restored in part. No variable was there for 'w'. If that is "
        "as it should be, say so: status.expect_partial()."
    ]


def test_a_latest_checkpoint_that_is_gone_is_reported(tf, tmp_path, caplog):
    assert with_state(tf, tmp_path) is None
    assert caplog.messages == [
        f"latest_checkpoint: the file of {tmp_path}/ckpt-1 is not there any more."
    ]
