"""Checkpoints, asserted alike on gradtape and on TensorFlow."""

import os

import numpy as np
import pytest

from .helpers import same


@pytest.fixture
def train(tf):
    return tf.train


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "run")


def values_in(train, path):
    """Name and value, without what TensorFlow adds to names."""
    reader = train.load_checkpoint(path)
    suffix = "/.ATTRIBUTES/VARIABLE_VALUE"
    return {
        name.removesuffix(suffix): reader.get_tensor(name)
        for name, _ in train.list_variables(path)
        if name != "_CHECKPOINTABLE_OBJECT_GRAPH"
    }


# Saving and restoring


def test_save_numbers_and_restore_brings_back(tf, train, folder):
    v = tf.Variable([1.0, 2.0])
    checkpoint = train.Checkpoint(v=v)
    first = checkpoint.save(f"{folder}/ck")
    v.assign([3.0, 4.0])
    second = checkpoint.save(f"{folder}/ck")
    assert (first, second) == (f"{folder}/ck-1", f"{folder}/ck-2")
    assert int(checkpoint.save_counter) == 2
    checkpoint.restore(first).assert_consumed()
    same(v, [1.0, 2.0])
    assert int(checkpoint.save_counter) == 1
    assert checkpoint.save(f"{folder}/ck") == second


def test_restore_gives_a_new_checkpoint_the_counter(tf, train, folder):
    train.Checkpoint(v=tf.Variable(1.0)).save(f"{folder}/ck")
    checkpoint = train.Checkpoint(v=tf.Variable(0.0))
    checkpoint.restore(f"{folder}/ck-1").assert_consumed()
    assert int(checkpoint.save_counter) == 1


def test_write_and_read_do_not_number(tf, train, folder):
    v = tf.Variable(1.0)
    checkpoint = train.Checkpoint(v=v)
    assert checkpoint.write(f"{folder}/plain") == f"{folder}/plain"
    assert set(values_in(train, f"{folder}/plain")) == {"v"}
    assert train.latest_checkpoint(folder) is None
    v.assign(5.0)
    checkpoint.read(f"{folder}/plain").assert_consumed()
    same(v, 1.0)
    assert int(checkpoint.save_counter) == 0


def test_restore_of_what_write_wrote_lacks_the_counter(tf, train, folder):
    checkpoint = train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.write(f"{folder}/plain")
    with pytest.raises(AssertionError):
        checkpoint.restore(f"{folder}/plain").assert_consumed()


def test_names_are_paths(tf, train, folder):
    inner = train.Checkpoint(w=tf.Variable(1.0), pair=(tf.Variable(2), [tf.Variable(3)]))
    checkpoint = train.Checkpoint(a=inner, d={"x": tf.Variable(4), "n": 5}, l=[tf.Variable(6)])
    values = values_in(train, checkpoint.write(f"{folder}/ck"))
    assert {name: float(value) for name, value in values.items()} == {
        "a/w": 1, "a/pair/0": 2, "a/pair/1/0": 3, "d/x": 4, "l/0": 6,
    }  # fmt: skip


def test_root_has_no_name_of_its_own(tf, train, folder):
    root = train.Checkpoint(w=tf.Variable(1.0))
    path = train.Checkpoint(root, step=tf.Variable(3)).write(f"{folder}/ck")
    assert set(values_in(train, path)) == {"w", "step"}
    w = tf.Variable(0.0)
    train.Checkpoint(w=w).read(path).assert_existing_objects_matched()
    same(w, 1.0)


def test_attributes_may_be_added(tf, train, folder):
    checkpoint = train.Checkpoint(a=tf.Variable(1))
    checkpoint.b = tf.Variable(2)
    checkpoint.number = 7
    assert set(values_in(train, checkpoint.write(f"{folder}/ck"))) == {"a", "b"}


def test_a_shared_variable_is_saved_once(tf, train, folder):
    v = tf.Variable(1.0)
    path = train.Checkpoint(a=v, b=[v]).write(f"{folder}/ck")
    assert set(values_in(train, path)) == {"a"}
    w = tf.Variable(0.0)
    train.Checkpoint(b=[w]).read(path)  # the name by which the file does not have it
    same(w, 1.0)


@pytest.mark.gradtape_only
def test_what_was_shared_is_restored_where_it_is_no_longer(tf, train, folder):
    """TensorFlow restores the first only."""
    v = tf.Variable(1.0)
    path = train.Checkpoint(a=v, b=v).write(f"{folder}/ck")
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    train.Checkpoint(a=a, b=b).read(path).assert_consumed()
    same(a, 1.0)
    same(b, 1.0)
    a.assign(2.0)
    same(b, 1.0)


@pytest.mark.parametrize(
    "dtype",
    [
        "float16", "bfloat16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool",
        "complex64", "complex128",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 2), (2, 3)])
def test_dtypes_and_shapes(tf, train, folder, dtype, shape):
    count = int(np.prod(shape))
    v = tf.Variable(tf.cast(tf.reshape(tf.range(count), shape), dtype))
    path = train.Checkpoint(v=v).write(f"{folder}/ck")
    w = tf.Variable(tf.cast(tf.ones(shape), dtype))
    train.Checkpoint(v=w).read(path).assert_consumed()
    assert w.dtype == dtype
    assert np.array_equal(w.numpy(), v.numpy())
    assert train.list_variables(path)[-1][1] == list(shape)


def test_strings(tf, train, folder):
    v = tf.Variable([["a", ""], ["é\n", "\x00\xff"]])
    path = train.Checkpoint(v=v, s=tf.Variable("one")).write(f"{folder}/ck")
    w, s = tf.Variable([["", ""], ["", ""]]), tf.Variable("")
    train.Checkpoint(v=w, s=s).read(path).assert_consumed()
    assert w.numpy().tolist() == v.numpy().tolist()
    assert s.numpy() == b"one"


def test_a_generator_goes_back(tf, train, folder):
    generator = tf.random.Generator.from_seed(3)
    generator.normal([5])
    path = train.Checkpoint(g=generator).write(f"{folder}/ck")
    after = generator.normal([4]).numpy()
    other = tf.random.Generator.from_seed(8)
    train.Checkpoint(g=other).read(path).assert_consumed()
    assert np.array_equal(other.normal([4]).numpy(), after)


def test_a_shape_that_is_open_takes_what_comes(tf, train, folder):
    path = train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).write(f"{folder}/ck")
    v = tf.Variable([0.0], shape=tf.TensorShape([None]))
    train.Checkpoint(v=v).read(path).assert_consumed()
    same(v, [1.0, 2.0, 3.0])


def test_a_tensor_read_before_keeps_its_value(tf, train, folder):
    v = tf.Variable([1.0, 2.0])
    path = train.Checkpoint(v=v).write(f"{folder}/ck")
    v.assign([3.0, 4.0])
    before = v.value()
    train.Checkpoint(v=v).read(path)
    same(before, [3.0, 4.0])


def test_path_objects(tf, train, tmp_path):
    v = tf.Variable(1.0)
    checkpoint = train.Checkpoint(v=v)
    path = checkpoint.save(tmp_path / "ck")
    assert path == str(tmp_path / "ck-1")
    v.assign(2.0)
    checkpoint.restore(tmp_path / "ck-1")
    same(v, 1.0)
    assert train.latest_checkpoint(tmp_path) == path


# What does not match


def test_status(tf, train, folder):
    path = train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(f"{folder}/ck")
    a = tf.Variable(0.0)
    status = train.Checkpoint(a=a).read(path)
    same(a, 1.0)
    assert status.expect_partial() is status
    assert status.assert_existing_objects_matched() is status
    assert status.assert_nontrivial_match() is status
    with pytest.raises(AssertionError):
        status.assert_consumed()


def test_a_variable_without_a_value(tf, train, folder):
    path = train.Checkpoint(a=tf.Variable(1.0)).write(f"{folder}/ck")
    extra = tf.Variable(7.0)
    status = train.Checkpoint(a=tf.Variable(0.0), extra=extra).read(path)
    same(extra, 7.0)
    with pytest.raises(AssertionError):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError):
        status.assert_consumed()


def test_restoring_none(tf, train):
    v = tf.Variable(1.0)
    status = train.Checkpoint(v=v).restore(None)
    same(v, 1.0)
    assert status.expect_partial() is status
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match="None"):
            check()


def test_a_missing_checkpoint(tf, train, folder):
    checkpoint = train.Checkpoint(v=tf.Variable(1.0))
    for read in (checkpoint.restore, checkpoint.read, train.list_variables):
        with pytest.raises(tf.errors.NotFoundError):
            read(f"{folder}/ck-1")


def test_another_shape(tf, train, folder):
    path = train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0, 2.0])).write(f"{folder}/ck")
    with pytest.raises(ValueError, match=r"\(3,\)"):
        train.Checkpoint(a=tf.Variable(0.0), b=tf.Variable([0.0, 0.0, 0.0])).read(path)


def test_another_dtype(tf, train, folder):
    path = train.Checkpoint(b=tf.Variable(1)).write(f"{folder}/ck")
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        train.Checkpoint(b=tf.Variable(0.0)).read(path)


def test_what_cannot_be_tracked(tf, train):
    for value in (5, "x", None, np.ones(3), object(), len, tf.constant(1.0)):
        with pytest.raises(ValueError, match="name"):
            train.Checkpoint(name=value)
    for value in (5, "x", object(), len):
        with pytest.raises(ValueError, match="root"):
            train.Checkpoint(value)


def test_a_key_that_is_no_name(tf, train, folder):
    with pytest.raises(ValueError, match="key"):
        train.Checkpoint(d={("a", 1): tf.Variable(1.0)}).write(f"{folder}/ck")


# Variables that come to be after the restore


def test_a_value_waits_for_its_variable(tf, train, folder):
    saved = train.Checkpoint(inner=train.Checkpoint(v=tf.Variable(5.0)))
    path = saved.write(f"{folder}/ck")
    inner = train.Checkpoint()
    checkpoint = train.Checkpoint(inner=inner)
    status = checkpoint.read(path)
    with pytest.raises(AssertionError):
        status.assert_consumed()
    inner.v = tf.Variable(0.0)
    same(inner.v, 5.0)
    status.assert_consumed()


def test_an_object_that_is_attached_brings_its_variables(tf, train, folder):
    saved = train.Checkpoint(a=train.Checkpoint(b=[tf.Variable(5.0)]))
    path = saved.write(f"{folder}/ck")
    checkpoint = train.Checkpoint()
    status = checkpoint.read(path)
    checkpoint.a = train.Checkpoint(b=[tf.Variable(0.0)])
    same(checkpoint.a.b[0], 5.0)
    status.assert_consumed()


def test_a_variable_that_takes_the_place_of_a_restored_one_is_left_alone(tf, train, folder):
    path = train.Checkpoint(v=tf.Variable(5.0)).write(f"{folder}/ck")
    checkpoint = train.Checkpoint(v=tf.Variable(0.0))
    status = checkpoint.read(path)
    checkpoint.v = tf.Variable(7.0)
    same(checkpoint.v, 7.0)
    with pytest.raises(AssertionError):
        status.assert_existing_objects_matched()


# Reading without objects


def test_reader(tf, train, folder):
    values = tf.Variable([[1, 2]]), tf.Variable(3.0)
    train.Checkpoint(a=values[0], b=values[1]).save(f"{folder}/ck")
    reader = train.load_checkpoint(folder)
    name = "a/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.has_tensor(name) and not reader.has_tensor("c")
    assert reader.get_tensor(name).tolist() == [[1, 2]]
    assert train.load_variable(folder, "b/.ATTRIBUTES/VARIABLE_VALUE") == 3.0
    assert [1, 2] in reader.get_variable_to_shape_map().values()
    assert tf.int32 in reader.get_variable_to_dtype_map().values()
    with pytest.raises(tf.errors.NotFoundError, match="c"):
        reader.get_tensor("c")


# The manager


@pytest.fixture
def checkpoint(tf, train):
    return train.Checkpoint(v=tf.Variable(0))


def saved_in(folder):
    """The names of the checkpoints in a folder, whatever files they consist of."""
    return sorted({name.partition(".")[0] for name in os.listdir(folder)} - {"checkpoint"})


def test_manager_keeps_the_last(train, checkpoint, folder):
    manager = train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    assert (manager.latest_checkpoint, manager.checkpoints) == (None, [])
    assert not os.path.exists(folder)
    paths = [manager.save() for _ in range(4)]
    assert paths == [f"{folder}/ckpt-{i}" for i in (1, 2, 3, 4)]
    assert manager.checkpoints == paths[2:]
    assert manager.latest_checkpoint == train.latest_checkpoint(folder) == paths[3]
    assert saved_in(folder) == ["ckpt-3", "ckpt-4"]
    state = train.get_checkpoint_state(folder)
    assert state.model_checkpoint_path == paths[3]
    assert list(state.all_model_checkpoint_paths) == paths[2:]


def test_another_manager_goes_on(train, checkpoint, folder):
    first = train.CheckpointManager(checkpoint, folder, 3)
    for number in range(3):
        checkpoint.v.assign(number)
        first.save()
    checkpoint.v.assign(9)
    second = train.CheckpointManager(checkpoint, folder, 2)
    assert second.checkpoints == first.checkpoints
    assert second.restore_or_initialize() == f"{folder}/ckpt-3"
    assert int(checkpoint.v) == 2
    assert second.save() == f"{folder}/ckpt-4"
    assert saved_in(folder) == ["ckpt-3", "ckpt-4"]


def test_what_save_alone_wrote_is_not_the_managers_to_delete(train, checkpoint, folder):
    checkpoint.save(f"{folder}/mine")
    manager = train.CheckpointManager(checkpoint, folder, 1)
    assert (manager.checkpoints, manager.latest_checkpoint) == ([], f"{folder}/mine-1")
    manager.save()
    manager.save()
    assert saved_in(folder) == ["ckpt-3", "mine-1"]


def test_numbers_may_be_given(tf, train, checkpoint, folder):
    manager = train.CheckpointManager(checkpoint, folder, 2, checkpoint_name="model")
    for number in (30, 10, tf.constant(20, tf.int64), 10):
        manager.save(checkpoint_number=number)
    assert manager.checkpoints == [f"{folder}/model-20", f"{folder}/model-10"]
    assert saved_in(folder) == ["model-10", "model-20"]
    assert int(checkpoint.save_counter) == 4


def test_interval(tf, train, checkpoint, folder):
    step = tf.Variable(0)
    manager = train.CheckpointManager(
        checkpoint, folder, None, step_counter=step, checkpoint_interval=3
    )
    saved = []
    for number in range(8):
        step.assign(number)
        if manager.save():
            saved.append(number)
    assert saved == [0, 3, 6]
    assert manager.save(check_interval=False) == f"{folder}/ckpt-4"
    assert manager.checkpoint_interval == 3


def test_interval_since_a_step_that_is_given(tf, train, checkpoint, folder):
    step = tf.Variable(4)
    manager = train.CheckpointManager(
        checkpoint, folder, None, step_counter=step, checkpoint_interval=3, last_checkpoint_step=2
    )
    assert manager.save() is None
    step.assign(5)
    assert manager.save() == f"{folder}/ckpt-1"


def test_init_fn(train, checkpoint, folder):
    calls = []
    manager = train.CheckpointManager(checkpoint, folder, 1, init_fn=lambda: calls.append(1))
    assert manager.restore_or_initialize() is None
    assert calls == [1]
    path = manager.save()
    assert manager.restore_or_initialize() == path
    assert calls == [1]


def test_every_n_hours_one_stays(train, checkpoint, folder):
    manager = train.CheckpointManager(checkpoint, folder, 1, keep_checkpoint_every_n_hours=1e-9)
    for _ in range(3):
        manager.save()
    assert manager.checkpoints == [f"{folder}/ckpt-3"]
    assert saved_in(folder) == ["ckpt-1", "ckpt-2", "ckpt-3"]


def test_bad_arguments(train, checkpoint, folder):
    for number in (0, -1):
        with pytest.raises(ValueError, match="max_to_keep"):
            train.CheckpointManager(checkpoint, folder, number)
    with pytest.raises(ValueError, match="step_counter"):
        train.CheckpointManager(checkpoint, folder, 1, checkpoint_interval=2)


def test_latest_is_none_where_its_files_are_gone(train, checkpoint, folder):
    assert train.latest_checkpoint(folder) is None
    checkpoint.save(f"{folder}/ck")
    for name in os.listdir(folder):
        if name.startswith("ck-"):
            os.remove(os.path.join(folder, name))
    assert train.latest_checkpoint(folder) is None
