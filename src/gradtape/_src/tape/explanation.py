"""Explanation: why a gradient is what it is, as fields, as text and as a page."""

from __future__ import annotations

import html
import linecache
from dataclasses import dataclass, field
from enum import Enum

from ..core.tables import short


class Cause(Enum):
    """Why the gradient of a target by a source is what it is."""

    CONNECTED = "connected"
    ZERO = "connected, and zero everywhere"
    NOT_WATCHED = "the source is not watched"
    BEFORE_TAPE = "computed before the tape"
    AFTER_TAPE = "computed after the tape"
    NOT_RECORDED = "computed while the tape was not recording"
    STOPPED = "stopped by stop_gradient"
    INTEGER = "the path goes through integers"
    LEFT_TAPE = "the value left the tape"
    OVERWRITTEN = "a variable was overwritten"
    NOT_TRAINABLE = "the variable is not trainable"
    OTHER_OBJECT = "the source is another object than the one used"
    UNUSED = "the source is not used"
    NO_RULE = "an op on the path has no gradient"


@dataclass(frozen=True)
class Step:
    """An op on the way from the source to the target."""

    op: str
    shape: tuple[int | None, ...]
    dtype: str
    file: str = ""
    line: int = 0
    norm: float | None = None
    """The norm of the cotangent of its result, where the path is connected."""

    def __str__(self) -> str:
        place = f"  {short(self.file)}:{self.line}" if self.file else ""
        size = "" if self.norm is None else f"  |gradient| {self.norm:.3g}"
        return f"{self.op} {list(self.shape)} {self.dtype}{size}{place}"


@dataclass(frozen=True)
class Explanation:
    """Why the gradient of a target by a source is what it is."""

    cause: Cause
    message: str
    """What happened, in a sentence."""
    suggestion: str = ""
    """What to write instead."""
    file: str = ""
    line: int = 0
    """The line of the user's code where the path ends."""
    path: list[Step] = field(default_factory=list)
    """The ops on the way, from the source on: to the target, or to where it ends."""

    def __post_init__(self) -> None:
        if self.message.startswith("the "):  # what has no name of its own
            object.__setattr__(self, "message", f"The {self.message[4:]}")

    @property
    def source_line(self) -> str:
        """The text of the line where the path ends."""
        return linecache.getline(self.file, self.line).strip() if self.file else ""

    def __str__(self) -> str:
        lines = [self.message]
        if self.file:
            lines.append(f"  {short(self.file)}:{self.line}: {self.source_line}".rstrip())
        if self.suggestion:
            lines.append(self.suggestion)
        if self.path:
            lines += ["The path from the source:", *[f"  {step}" for step in self.path]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        parts = [f"<b>{self.cause.name}</b> {html.escape(self.message)}"]
        if self.file:
            place = f"{short(self.file)}:{self.line}: {self.source_line}"
            parts.append(f"<pre style='margin:4px 0'>{html.escape(place)}</pre>")
        if self.suggestion:
            parts.append(html.escape(self.suggestion))
        if self.path:
            rows = "".join(
                f"<tr><td>{html.escape(step.op)}</td><td>{list(step.shape)} {step.dtype}</td>"
                f"<td>{'' if step.norm is None else f'{step.norm:.3g}'}</td>"
                f"<td>{html.escape(f'{short(step.file)}:{step.line}' if step.file else '')}</td>"
                "</tr>"
                for step in self.path
            )
            parts.append(
                "<table><tr><th>op</th><th>result</th><th>norm of its gradient</th><th>line</th>"
                f"</tr>{rows}</table>"
            )
        return "<div>" + "<br>".join(parts) + "</div>"
