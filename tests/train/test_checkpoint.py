"""What gradtape promises of checkpoints beyond TensorFlow."""

import json
import logging
import os
import subprocess
import sys
import time
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import gradtape as tf
from gradtape import train
from gradtape.core.errors import DTypeError, ShapeError
from gradtape.errors import DataLossError
from gradtape.train import _safetensors
from gradtape.train._waiting import attached
from gradtape.train.module import Module
from gradtape.train.optimizers.adam import Adam

Pair = namedtuple("Pair", "p q")


class Thing:
    """A plain object of a user."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


@dataclass(slots=True)
class Slotted:
    a: object
    b: object = None


class OnlyVariables:
    """Offers its variables, and nothing else that could be followed."""

    __slots__ = ()
    held = (tf.Variable(1.0), tf.Variable(2.0))

    @property
    def variables(self):
        return list(self.held)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "ck")


def names(path, **objects):
    return [name for name, _ in train.list_variables(train.Checkpoint(**objects).write(path))]


# What is followed, and what it is called


def test_any_object_is_followed(path):
    v = [tf.Variable(float(i)) for i in range(12)]
    model = Thing(
        layers=[Thing(kernel=v[0]), Thing(kernel=v[1])],
        pair=Pair(v[2], {"deep": (v[3],)}),
        ordered=OrderedDict(b=v[4]),
        numbers={1: v[5]},
        queue=deque([v[6]]),
        slotted=Slotted(v[7]),
        space=SimpleNamespace(x=v[8]),
        offered=OnlyVariables(),
        number=3,
        array=np.ones(3),
        tensor=tf.constant(1.0),
        function=len,
        module=os,
        kind=Thing,
        logger=logging.getLogger(),
        nothing=None,
        names=["a", "b"],
    )
    assert names(path, model=model) == [
        "model/layers/0/kernel",
        "model/layers/1/kernel",
        "model/numbers/1",
        "model/offered/variables/0",
        "model/offered/variables/1",
        "model/ordered/b",
        "model/pair/0",
        "model/pair/1/deep/0",
        "model/queue/0",
        "model/slotted/a",
        "model/space/x",
    ]


def test_the_public_path_is_the_name_and_then_the_shortest(path):
    kernel = tf.Variable([1.0])
    model = Thing(_all=[kernel], layers=[Thing(dense=Thing(kernel=kernel))])
    optimizer = Thing(_trainable_variables=[kernel], iterations=tf.Variable(0))
    model.parent = model
    expected = ["model/layers/0/dense/kernel", "optimizer/iterations"]
    assert names(path, model=model, optimizer=optimizer) == expected
    assert names(path, optimizer=optimizer, model=model) == expected
    assert names(path, far=[[kernel]], near=[kernel]) == ["near/0"]


def test_a_part_is_restored_by_its_own_path(path):
    """The name in the file is another: the file knows both."""
    kernel, step = tf.Variable([1.0]), tf.Variable(4)
    train.Checkpoint(model=Thing(kernel=kernel), optimizer=Thing(_v=[kernel, step])).write(path)
    fresh = Thing(_v=[tf.Variable([0.0]), tf.Variable(0)])
    train.Checkpoint(optimizer=fresh).read(path).assert_consumed()
    assert (float(fresh._v[0][0]), int(fresh._v[1])) == (1.0, 4)


def test_names_with_slashes_and_other_signs(path):
    keys = ["a/b", "a%2Fb", "", "%", "a.b", "é", "0", "__metadata__"]
    saved = {key: tf.Variable(float(i)) for i, key in enumerate(keys)}
    assert len(names(path, d=saved)) == len(keys)
    fresh = {key: tf.Variable(-1.0) for key in keys}
    train.Checkpoint(d=fresh).read(path).assert_consumed()
    assert [float(fresh[key]) for key in keys] == list(range(len(keys)))


def test_keys_that_are_the_same_text(path):
    with pytest.raises(ValueError, match="'d/1'"):
        names(path, d={1: tf.Variable(1), "1": tf.Variable(2)})


def test_a_cache_with_odd_keys_does_not_matter(path):
    v = tf.Variable(1.0)
    assert names(path, v=v, cache={v.ref(): v, (1, 2): {"v": [v]}}) == ["v"]


def test_a_tape_does_not_count(path):
    v = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        v * v
    assert names(path, trainer=Thing(tape=tape, step=tf.Variable(1))) == ["trainer/step"]


def test_a_name_that_root_has(path):
    with pytest.raises(ValueError, match="'w' is an attribute of `root` already"):
        train.Checkpoint(Thing(w=tf.Variable(1.0)), w=tf.Variable(1.0))
    with pytest.raises(ValueError, match="needs a name"):
        train.Checkpoint(tf.Variable(1.0))


def test_a_file_of_another_program(path):
    safetensors.numpy.save_file(
        {"layer.weight": np.ones((2, 3), np.float32)}, path + ".safetensors"
    )
    v = tf.Variable(tf.zeros([2, 3]))
    train.Checkpoint(**{"layer.weight": v}).read(path).assert_consumed()
    assert float(tf.reduce_sum(v)) == 6.0
    train.Checkpoint(**{"layer.weight": v}).read(path + ".safetensors").assert_consumed()


def test_float8_of_another_program(path):
    array = np.array([0.5, 448.0], ml_dtypes.float8_e4m3fn)
    with open(path + ".safetensors", "wb") as file:
        _safetensors.write(file, {"x": array}, {})
    reader = train.load_checkpoint(path)
    assert reader.get_tensor("x").tolist() == [0.5, 448.0]
    assert reader.get_variable_to_dtype_map() == {"x": array.dtype}
    assert reader.debug_string() == b"x (float8_e4m3fn) [2]"


# All or nothing


def model(value, size=3):
    return {
        "a": tf.Variable(tf.fill([size], float(value))),
        "b": tf.Variable(tf.fill([size], float(value))),
        "c": [tf.Variable(value), tf.Variable(f"{value}"), tf.random.Generator.from_seed(value)],
    }


def state(objects):
    *variables, generator = objects["c"]
    values = [np.array(v).tolist() for v in (objects["a"], objects["b"], *variables)]
    return values, generator.state.numpy().tolist()


@pytest.mark.parametrize(
    "objects, error, message",
    [
        ({"c": [tf.Variable(1.0)]}, DTypeError, "'c/0' is float32 here and int32 in the file"),
        ({"c": [tf.Variable(1), tf.Variable(2)]}, DTypeError, "'c/1' is int32 here and string"),
        ({"b": tf.Variable([1.0])}, ShapeError, r"'b' has shape \(1,\) here and \(3,\) in"),
    ],
)
def test_what_does_not_fit_changes_nothing(path, objects, error, message):
    train.Checkpoint(**model(1)).write(path)
    mine = model(2)
    before = state(mine)
    with pytest.raises(error, match=message):
        train.Checkpoint(**(mine | {"z": objects} | objects)).read(path)
    assert state(mine) == before


def test_a_generator_of_another_kind(path):
    train.Checkpoint(g=tf.random.Generator.from_seed(1, alg="threefry")).write(path)
    with pytest.raises(ShapeError, match="'g'"):
        train.Checkpoint(g=tf.random.Generator.from_seed(1)).read(path)


def test_damage_anywhere_changes_nothing(path):
    checkpoint = train.Checkpoint(**model(1))
    checkpoint.save(path)
    file = path + "-1.safetensors"
    with open(file, "rb") as f:
        whole = f.read()
    mine = model(2)
    before = state(mine)
    other = train.Checkpoint(**mine)
    for i in range(0, len(whole), 3):
        with open(file, "wb") as f:
            f.write(whole[:i] + bytes([whole[i] ^ 0x10]) + whole[i + 1 :])
        with pytest.raises(DataLossError):
            other.restore(path + "-1")
        assert state(mine) == before
    assert int(other.save_counter) == 0
    with open(file, "wb") as f:
        f.write(whole)
    other.restore(path + "-1").assert_consumed()
    assert state(mine) == state(model(1))


def test_an_array_is_not_shared_between_variables_and_file(path):
    v = tf.Variable([1.0, 2.0])
    train.Checkpoint(v=v).write(path)
    w = tf.Variable([0.0, 0.0])
    checkpoint = train.Checkpoint(v=w)
    checkpoint.read(path)
    w.scatter_nd_update([[0]], [9.0])
    checkpoint.read(path)
    assert w.numpy().tolist() == [1.0, 2.0]


# Values that wait


def test_an_object_that_says_so_is_restored_late(path):
    train.Checkpoint(o=Thing(slots=[tf.Variable(5.0)])).write(path)
    optimizer = Thing()
    checkpoint = train.Checkpoint(o=optimizer)
    status = checkpoint.read(path)
    optimizer.slots = [tf.Variable(0.0)]
    with pytest.raises(AssertionError, match=r"'o/slots/0'.*another restore"):
        status.assert_consumed()
    attached(Thing())  # an object that no checkpoint knows
    assert float(optimizer.slots[0]) == 0.0
    attached(optimizer)
    assert float(optimizer.slots[0]) == 5.0
    status.assert_consumed()
    optimizer.slots[0].assign(6.0)
    attached(optimizer)
    assert float(optimizer.slots[0]) == 6.0


def test_an_object_for_which_nothing_waits_costs_nothing(path):
    """A module that sets an attribute at each step must not pay for the optimizer left out."""
    train.Checkpoint(m=Thing(a=tf.Variable(1)), o=Thing(s=tf.Variable(2))).write(path)
    model, optimizer = Watched(a=tf.Variable(0)), Watched()
    checkpoint = train.Checkpoint(m=model, o=optimizer)
    checkpoint.read(path).expect_partial()
    Watched.walks = 0
    attached(model)
    assert Watched.walks == 0
    attached(optimizer)
    assert Watched.walks > 0


class Watched(Thing):
    """Counts how often it is looked into."""

    walks = 0

    def _tracked_items(self):
        Watched.walks += 1
        return vars(self).items()


def test_a_value_arrives_by_a_path_that_is_not_its_name(path):
    v = tf.Variable(5.0)
    train.Checkpoint(model=Thing(v=v), optimizer=Thing(_seen=[v])).write(path)
    optimizer = Thing()
    checkpoint = train.Checkpoint(optimizer=optimizer)
    checkpoint.read(path)
    optimizer._seen = [tf.Variable(0.0)]
    attached(optimizer)
    assert float(optimizer._seen[0]) == 5.0


class Dense(Module):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.kernel = None

    def __call__(self, x):
        if self.kernel is None:
            self.kernel = tf.Variable(tf.ones([x.shape[-1], self.units]))
            self.bias = tf.Variable(tf.zeros([self.units]))
        return x @ self.kernel + self.bias


class Net(Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(4), Dense(1)]

    def __call__(self, x):
        return self.layers[1](tf.tanh(self.layers[0](x)))


def losses(net, optimizer, steps):
    x, found = tf.constant([[0.1, 0.2], [0.3, -0.4]]), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - 1.0) ** 2)
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        found.append(float(loss))
    return found


def test_training_goes_on_to_the_bit(path):
    """Layers and slots do not exist at the restore: they are made by the first step."""
    net, optimizer = Net(), Adam(0.01)
    losses(net, optimizer, 5)
    saved = train.Checkpoint(net=net, optimizer=optimizer).save(path)
    expected = losses(net, optimizer, 5)
    net, optimizer = Net(), Adam(0.01)
    checkpoint = train.Checkpoint(net=net, optimizer=optimizer)
    status = checkpoint.restore(saved)
    assert losses(net, optimizer, 5) == expected
    status.assert_consumed()


def test_what_waits_is_read_even_if_its_file_was_deleted(tmp_path):
    train.Checkpoint(v=tf.Variable(5.0)).write(tmp_path / "ck")
    checkpoint = train.Checkpoint()
    checkpoint.read(tmp_path / "ck")
    os.remove(tmp_path / "ck.safetensors")
    checkpoint.v = tf.Variable(0.0)
    assert float(checkpoint.v) == 5.0


def test_what_waits_must_fit(path):
    train.Checkpoint(v=tf.Variable(5.0)).write(path)
    checkpoint = train.Checkpoint()
    checkpoint.read(path).expect_partial()
    with pytest.raises(ShapeError, match="'v'"):
        checkpoint.v = tf.Variable([0.0])


def test_values_that_found_no_variable_are_reported(path, caplog):
    train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(path)
    train.Checkpoint(a=tf.Variable(0.0)).read(path).expect_partial()
    assert caplog.messages == []
    train.Checkpoint(a=tf.Variable(0.0)).read(path)
    assert len(caplog.messages) == 1
    assert "'b'" in caplog.messages[0] and "expect_partial" in caplog.messages[0]


def test_the_report_comes_at_the_end_of_the_program_too(path):
    train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(path)
    code = f"""
import gradtape as tf
from gradtape import train
checkpoint = train.Checkpoint(a=tf.Variable(0.0))
checkpoint.read({path!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1 and "No variable was there for 'b'" in done.stderr


# The file that says what is there


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
        b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000, b'model_checkpoint_path: "ckpt-1"',
        b'{"model_checkpoint_path": "ckpt-1"}',
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


def test_import_is_light():
    code = "import sys, gradtape.train; print(sorted(n for n in sys.modules if '.train' in n))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "['gradtape.train']", done.stderr
