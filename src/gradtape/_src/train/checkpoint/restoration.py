"""Restoration: a file on its way into the variables of a checkpoint, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import finalize, ref

from ...tape.scopes import get_logger
from .reader import list_some
from .safetensors import SafetensorsFile
from .tracking import check_fit, store_all, tracked


class Restoration:
    """A file on its way into the variables of a checkpoint: what has arrived, and what waits."""

    def __init__(self, file: SafetensorsFile) -> None:
        self.file = file
        self._left = set(file.entries)
        self._restored: dict[int, ref[Any]] = {}
        self._owners: set[int] = set()

    def run(self, checkpoint: Any) -> None:
        """Give the variables that exist by now the values that wait for them."""
        found = tracked(checkpoint, self.file.links)
        ready = [(path, leaf) for path, leaf in found.leaves if path in self._left]
        for path, leaf in ready:
            entry = self.file.entries[path]
            check_fit(leaf, path, entry.shape, entry.dtype, f"Checkpoint.restore: {self.file.path}")
        arrays = [self.file.read(path) for path, _ in ready]
        leaves = [leaf for _, leaf in ready]
        store_all(leaves, arrays)
        for path, leaf in ready:
            self._restored[id(leaf)] = ref(leaf)
            self._left.discard(path)
        if not self._left:
            self.file.close()
        places = _places(self._left, self.file.links)
        self._owners = {key for key, (path, _) in found.objects.items() if path in places}

    def waits_for(self, owner: Any) -> bool:
        """Whether `owner` is where something that waits may arrive."""
        return id(owner) in self._owners

    def unused(self) -> list[str]:
        """The names of the values that have found no variable."""
        return sorted(self._left)

    def unrestored(self, checkpoint: Any) -> list[str]:
        """The paths of the variables that have had no value from the file."""
        leaves = tracked(checkpoint, self.file.links).leaves
        return [path for path, leaf in leaves if not self._has_restored(leaf)]

    def _has_restored(self, leaf: Any) -> bool:
        known = self._restored.get(id(leaf))
        return known is not None and known() is leaf

    def report_at_end(self) -> None:
        """Report values that found no variable when this object goes, and none can come."""
        self._report = finalize(self, _report, self.file.path, self._left)

    def expect_partial(self) -> None:
        self._report.detach()


def _places(names: set[str], links: Mapping[str, str]) -> set[str]:
    """The paths of the objects in which variables with these names may come to be."""
    places = {place for name in names for place in _above(name)}
    linked = [path for path, target in links.items() if target in places or target in names]
    return places | {place for path in linked for place in _above(path)}


def _above(path: str) -> Iterator[str]:
    yield ""
    for i, sign in enumerate(path):
        if sign == "/":
            yield path[:i]


def _report(path: str, unused: set[str]) -> None:
    if unused:
        get_logger().warning(
            "%s: restored in part. No variable was there for %s. If that is as it should be, say "
            "so: status.expect_partial().",
            path,
            list_some(sorted(unused)),
        )


class CheckpointLoadStatus:
    """What became of a restoration."""

    def __init__(self, checkpoint: Any, restoration: Restoration) -> None:
        self._checkpoint = checkpoint
        self._restoration = restoration

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise unless each value has found a variable, and each variable a value."""
        unused = self._restoration.unused()
        if unused:
            raise AssertionError(
                f"{self._restoration.file.path}: no variable was there for {list_some(unused)}."
                " (A variable that came to be after the restore may need another restore.)"
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise unless each variable that there is now has had its value from the file."""
        unrestored = self._restoration.unrestored(self._checkpoint)
        if unrestored:
            raise AssertionError(
                f"{self._restoration.file.path}: not restored from it: {list_some(unrestored)}. "
                "Either the file has no value under this path, or the variable came to be after "
                "the restore; then restore again."
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise if nothing at all was restored."""
        if len(self._restoration.unused()) == len(self._restoration.file.entries):
            raise AssertionError(
                f"{self._restoration.file.path}: nothing of it was restored. It holds "
                f"{list_some(self._restoration.unused())}. Give the checkpoint's objects the names "
                "that they had."
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Say that values may be left over, so that no warning tells of them."""
        self._restoration.expect_partial()
        return self


class InitializationOnlyStatus:
    """What came of restoring None: nothing was restored."""

    def assert_consumed(self) -> InitializationOnlyStatus:
        raise AssertionError("Checkpoint.restore: `save_path` was None; nothing was restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        return self


Status = CheckpointLoadStatus | InitializationOnlyStatus
