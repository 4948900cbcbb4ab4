"""Whole files as ops: read, written and found each time that the line runs."""

from __future__ import annotations

import os
from typing import Any

from ...core.errors import TextError
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...tape.variable import Variable
from ..strings.text import as_text, scalar_text, text_tensor
from .gfile import glob, path_of, tensorflow_errors


def refuse_in_trace(op: str) -> None:
    """What a file holds is known when the function runs, not while it is traced."""
    if current_graph() is not None:
        raise TextError(f"{op}: files are read and written by Python, not by a program.")


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The content of a file, as one text."""
    op = "read_file"
    refuse_in_trace(op)
    path = path_of(scalar_text(filename, op, "filename"), op)
    with tensorflow_errors(op), open(path, "rb") as file:
        return text_tensor([file.read()], ())


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a text to a file, which is replaced; its folder is made if needed."""
    op = "write_file"
    refuse_in_trace(op)
    path = path_of(scalar_text(filename, op, "filename"), op)
    data = scalar_text(contents, op, "contents")
    with tensorflow_errors(op):
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The paths that match a pattern, or one of several, sorted."""
    op = "matching_files"
    refuse_in_trace(op)
    patterns = as_text(pattern, op, "pattern").reshape(-1)
    found = sorted([path.encode() for each in patterns for path in glob(each)])
    return text_tensor(found, (len(found),))


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """The paths that match a pattern now, as a variable."""
    return Variable(matching_files(pattern), trainable=False)
