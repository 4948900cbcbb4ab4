"""A file that is replaced is the old one or the new one, whatever happens."""

import os
import time

import pytest

from gradtape._src.core.files import remove_leftovers, replacing


def test_the_content_is_there_at_the_end_and_not_before(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(str(path)) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_all_is_as_it_was(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(error), replacing(str(path)) as file:
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    with replacing(str(path)) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"


def test_a_name_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with replacing("file") as file:
        file.write(b"x")
    remove_leftovers("file")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_an_error_of_the_system_names_the_path_asked_for(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    below = str(tmp_path / "file" / "below")
    with (
        pytest.raises(OSError, match="cannot write this file; a former one is as it was") as caught,
        replacing(below),
    ):
        pass
    assert caught.value.filename == below


def test_leftovers_are_removed_when_they_are_old_and_named_so(tmp_path):
    names = {
        "model.0123456789abcdef.tmp": True,
        "model.index.0123456789abcdef.tmp": True,
        "model.fedcba9876543210.tmp": False,  # young
        "other.0123456789abcdef.tmp": False,
        "model.0123456789abcdef.tmp.gz": False,
        "model.short.tmp": False,
        "model": False,
    }
    for name in names:
        (tmp_path / name).write_bytes(b"")
        if name != "model.fedcba9876543210.tmp":
            os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    remove_leftovers(str(tmp_path / "model"))
    assert sorted(os.listdir(tmp_path)) == sorted(n for n, removed in names.items() if not removed)
