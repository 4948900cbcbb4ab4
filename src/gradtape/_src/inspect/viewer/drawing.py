"""What `show`, `save_html` and their like call: a picture is made, and written in one form."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from ...core.files import replacing
from ...tape.gradient_tape import GradientTape
from .grouping import group
from .layered import arrange
from .page import page
from .picture import Picture
from .svg import svg
from .texts import dot, mermaid


def draw(
    thing: Any,
    form: str,
    path: Any = None,
    *,
    target: Any = None,
    source: Any = None,
    unfolded: bool = False,
) -> Any:
    """A tape or a trace in this form: a text, written to `path` if there is one."""
    pictures = pictures_of(thing, target, source)
    if form == "operations":
        return pictures[0]
    if form == "mermaid":
        return mermaid(pictures[0], unfolded)
    if form == "dot":
        return dot(pictures[0], unfolded)
    if form == "svg":
        return _write(path, svg(pictures[0], unfolded))
    text = page(_title(thing), pictures)
    return _show(text) if form == "shown" else _write(path, text)


def pictures_of(thing: Any, target: Any = None, source: Any = None) -> list[Picture]:
    """The pictures of a tape (one), or of a trace: as it was traced, and as XLA runs it."""
    if isinstance(thing, GradientTape):
        from .of_tape import picture_of_tape

        found = [picture_of_tape(thing, target, source)]
    elif target is not None or source is not None:
        raise ValueError(
            "show: `target` and `source` choose a gradient of a tape; the trace of a function has "
            "none. Leave them out, and choose the path on the page."
        )
    else:
        from .of_function import pictures_of_function

        found = pictures_of_function(thing)
    for picture in found:
        group(picture)
        arrange(picture)
    return found


def _title(thing: Any) -> str:
    name = getattr(thing, "name", None)
    return f"function {name}" if isinstance(name, str) else "GradientTape"


def _write(path: Any, text: str) -> None:
    with replacing(os.fspath(path)) as file:
        file.write(text.encode())


def _show(text: str) -> None:
    kernel = getattr(sys.modules.get("ipykernel"), "__name__", None)
    if kernel is not None:
        from IPython.display import HTML, display

        style = "width:100%;height:640px;border:1px solid #8884;border-radius:8px"
        display(HTML(f'<iframe srcdoc="{html.escape(text)}" style="{style}"></iframe>'))
        return
    with tempfile.NamedTemporaryFile("wb", prefix="tape-", suffix=".html", delete=False) as file:
        file.write(text.encode())
    if not webbrowser.open(Path(file.name).as_uri()):
        print(f"No browser was found. The page is {file.name}")
