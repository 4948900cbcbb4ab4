"""Files found by a pattern."""

from __future__ import annotations

import fnmatch
import os
import re
from glob import has_magic
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError


def paths_of(patterns: Any) -> list[bytes]:
    """The paths that match one of the patterns of a tensor, for `Dataset.list_files`."""
    texts = np.asarray(patterns).reshape(-1)
    found = [path.encode() for text in texts for path in matching(text.decode())]
    if not found:
        names = ", ".join(map(repr, texts))
        raise InvalidArgumentError(f"Dataset.list_files: no files match {names:.200}.")
    return found


def matching(pattern: str) -> list[str]:
    """The paths that match, sorted. Unlike Python's `glob`: hidden ones too, and `**` is `*`."""
    return sorted(_matching(pattern))


def _matching(pattern: str) -> list[str]:
    if not has_magic(pattern):
        return [pattern] if os.path.lexists(pattern) else []
    folder, name = os.path.split(pattern)
    folders = _matching(folder) if has_magic(folder) else [folder]
    if not name:
        return [os.path.join(found, "") for found in folders if os.path.isdir(found)]
    matches = re.compile(fnmatch.translate(name)).match
    return [
        os.path.join(found, entry)
        for found in folders
        if os.path.isdir(found or os.curdir)
        for entry in os.listdir(found or os.curdir)
        if matches(entry)
    ]
