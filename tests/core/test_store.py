"""Contents by key in a folder, for later processes."""

import os
import sys
import threading
import time

import pytest

from gradtape._src.core.store import Store, cache_folder

pytestmark = pytest.mark.gradtape_only

CONTENT = bytes(range(256)) * 4
unix = pytest.mark.skipif(os.name == "nt", reason="modes and owners of files are those of Unix")


def noise(size):
    return os.urandom(size)  # does not become smaller when it is packed


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def store(folder):
    return Store(str(folder), 10**6)


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def test_another_store_finds_what_was_put(store, folder):
    store.put("key", CONTENT)
    assert Store(str(folder), 10**6).get("key") == CONTENT
    assert store.get("another key") is None


@unix
def test_only_the_user_sees_the_folder(store, folder):
    store.put("key", CONTENT)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: b"another format" + content,
    ],
    ids=["empty", "no digest", "cut off", "one bit", "another format"],
)
def test_a_damaged_file_is_not_there_and_is_replaced(store, folder, damage):
    store.put("key", CONTENT)
    path = only_file(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert store.get("key") is None
    store.put("key", CONTENT)
    assert store.get("key") == CONTENT
    assert only_file(folder) == path


def test_a_file_under_another_name_is_not_what_the_name_says(store, folder):
    store.put("key", CONTENT)
    path = only_file(folder)
    store.put("another key", CONTENT)
    (other,) = set(folder.iterdir()) - {path}
    path.replace(other)
    assert store.get("another key") is None


def test_what_was_used_least_recently_goes(folder):
    store = Store(str(folder), 10**5)
    known = set()
    paths = {}
    for number in range(4):
        store.put(f"key {number}", noise(20_000))
        (paths[number],) = set(folder.iterdir()) - known
        known.add(paths[number])
        os.utime(paths[number], (number, number))
    assert store.get("key 0") is not None  # used now, and key 1 the longest time ago
    store.put("key 4", noise(20_000))
    store.put("key 5", noise(20_000))
    assert [n for n in range(6) if store.get(f"key {n}") is not None] == [0, 3, 4, 5]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 10**5


def test_what_would_take_most_of_the_room_is_not_kept(folder):
    store = Store(str(folder), 10**5)
    store.put("small", noise(20_000))
    store.put("large", noise(30_000))
    assert store.get("large") is None
    assert store.get("small") is not None


def test_what_killed_processes_left_is_removed(store, folder):
    folder.mkdir(mode=0o700)
    old, new = folder / f"a.{'0' * 16}.tmp", folder / f"b.{'0' * 16}.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    store.put("key", CONTENT)
    assert not old.exists()
    assert new.exists()  # its process may be about to rename it


def test_several_threads_write_and_read_at_once(folder):
    contents = [noise(10_000), noise(10_000)]
    store = Store(str(folder), 10**5)
    found = []

    def use():
        for number in range(50):
            store.put(f"key {number % 5}", contents[number % 2])
            found.append(store.get(f"key {number % 5}"))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert set(found) <= {None, *contents}
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]


def test_a_folder_that_cannot_be_made_is_no_store(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    store = Store(str(tmp_path / "file" / "cache"), 10**6)
    store.put("key", CONTENT)
    assert store.get("key") is None


@unix
def test_what_others_may_have_written_is_not_read(store, folder):
    store.put("key", CONTENT)
    folder.chmod(0o777)
    assert store.get("key") is None
    store.put("another key", CONTENT)
    assert len(list(folder.iterdir())) == 1
    folder.chmod(0o700)
    assert store.get("key") == CONTENT


@unix
def test_what_another_user_has_written_is_not_read(store, folder, monkeypatch):
    store.put("key", CONTENT)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert store.get("key") is None


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"HOME": "/home/ada"}, "/home/ada/.cache"),
        ("linux", {"HOME": "/home/ada", "XDG_CACHE_HOME": "/fast"}, "/fast"),
        ("linux", {"HOME": "/home/ada", "XDG_CACHE_HOME": "relative"}, "/home/ada/.cache"),
        ("darwin", {"HOME": "/Users/ada", "XDG_CACHE_HOME": "/x"}, "/Users/ada/Library/Caches"),
    ],
)
@unix
def test_where_a_user_keeps_what_can_be_computed_again(platform, variables, expected, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == expected
