"""Event files: names, queues, processes that are killed, full disks, checksums."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from .events import events, only_file, values

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
    from gradtape._src.train.summary import event_file as events

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
