"""Processes that are killed while they save, disks that are full, readers beside writers."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import gradtape as tf
from gradtape import train
from gradtape._src.core.errors import NotFoundError

from .checkpoint_writer import checkpoint

HERE = Path(__file__).parent
ROUNDS = 15


def start(program, *arguments):
    return subprocess.Popen(
        [sys.executable, str(HERE / program), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )


def latest_number(folder):
    """The number that all values of the latest checkpoint have."""
    mine = checkpoint()
    path = train.latest_checkpoint(folder)
    mine.restore(path).assert_consumed()
    numbers = {float(value) for part in mine.parts for value in part.numpy()}
    assert numbers == {float(mine.save_counter)} == {float(path.rpartition("-")[2])}
    return int(mine.save_counter)


def test_killed_at_random_moments(tmp_path):
    choose = random.Random(int.from_bytes(os.urandom(4)))
    reached = 0
    for _ in range(ROUNDS):
        with start("checkpoint_writer.py", tmp_path, 10**9) as writer:
            reported = int(writer.stdout.readline())
            assert reported == reached + 1  # it went on where the one before it was killed
            time.sleep(choose.uniform(0.0, 0.05))
            os.kill(writer.pid, signal.SIGKILL)
            reported = max([reported, *map(int, writer.stdout.read().split())])
        assert writer.returncode == -signal.SIGKILL
        reached = latest_number(tmp_path)
        assert reached in (reported, reported + 1)
        # At most the two that are kept, one too many, and one that no record names yet.
        assert len(list(tmp_path.glob("ckpt-*.safetensors"))) <= 4


def test_killed_at_each_step(tmp_path):
    mine = checkpoint()
    manager = train.CheckpointManager(mine, tmp_path, max_to_keep=2)
    for number in (1.0, 2.0):
        for part in mine.parts:
            part.assign(tf.fill(part.shape, number))
        manager.save()
    with start("kill_at_each_step.py", tmp_path) as killer:
        lines = [line.split() for line in killer.stdout.read().splitlines()]
    assert killer.returncode == 0
    assert len(lines) > 10
    before = 2.0
    for number, (calls, killed, files, *values) in enumerate(lines):
        assert int(calls) == number
        assert int(killed) == (number < len(lines) - 1)
        assert int(files) <= 4
        assert len(values) == 1 and float(values[0]) in (before, before + 1)
        before = float(values[0])
    assert float(values[0]) > 3.0
    assert int(files) == 2


def test_what_the_killed_left_is_removed_after_an_hour(tmp_path):
    left = [tmp_path / f"{name}.{'0' * 16}.tmp" for name in ("ckpt-1.safetensors", "checkpoint")]
    others = [tmp_path / "ckpt-1.tmp", tmp_path / f"mine.{'0' * 16}.tmp"]
    for path in [*left, *others]:
        path.touch()
    manager = train.CheckpointManager(checkpoint(), tmp_path, 1)
    manager.save()
    assert all(path.exists() for path in [*left, *others])
    for path in [*left, *others]:
        os.utime(path, (time.time() - 4000,) * 2)
    manager.save()
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)


def test_readers_beside_a_writer(tmp_path):
    seen = []
    with start("checkpoint_writer.py", tmp_path, 100) as writer:
        writer.stdout.readline()
        while writer.poll() is None:
            mine, path = checkpoint(), train.latest_checkpoint(tmp_path)
            # A slow reader may find the latest of a moment ago deleted, but never damaged.
            with suppress(NotFoundError):
                if path is not None:
                    mine.restore(path).assert_consumed()
                    assert len({float(value) for part in mine.parts for value in part.numpy()}) == 1
                    seen.append(int(mine.save_counter))
    assert writer.returncode == 0
    assert seen == sorted(seen) and len(set(seen)) > 3


LIMITED = """
import resource, sys
import gradtape as tf
from gradtape import train
from gradtape._src.core.errors import NotFoundError
v, folder = tf.Variable([1.0] * 10_000), sys.argv[1]
checkpoint = train.Checkpoint(v=v)
manager = train.CheckpointManager(checkpoint, folder, 1)
manager.save()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
v.assign([2.0] * 10_000)
try:
    manager.save()
except OSError as error:
    print(error)
assert int(checkpoint.save_counter) == 1
checkpoint.restore(manager.latest_checkpoint).assert_consumed()
assert v.numpy()[0] == 1.0
"""


@pytest.mark.parametrize("limit", [0, 1, 300, 20_000])
def test_no_room_for_the_file(tmp_path, limit):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), str(limit)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "cannot write this file; a former one is as it was" in done.stdout
    assert "ckpt-2.safetensors" in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-1.safetensors"]


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    mine = train.Checkpoint(v=tf.Variable(1.0))
    for place in ("file/ck", "file/deeper/ck"):
        with pytest.raises(NotADirectoryError, match="cannot write this file"):
            mine.save(tmp_path / place)
    assert int(mine.save_counter) == 0
    (tmp_path / "ck-1.safetensors").mkdir()
    with pytest.raises(IsADirectoryError, match="cannot write this file"):
        mine.save(tmp_path / "ck")
    assert sorted(os.listdir(tmp_path)) == ["ck-1.safetensors", "file"]


def test_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    path = train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "new" / "folder" / "ck")
    usual = (tmp_path / "usual").stat().st_mode
    assert Path(path + ".safetensors").stat().st_mode == usual
