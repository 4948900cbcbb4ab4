"""Drawn: what a tape and the trace of a function have in common: pictures of what was computed."""

from __future__ import annotations

from typing import Any

from ..core.late import late
from ..core.tracebacks import border


class Drawn:
    """Something that can be looked at as a picture.

    In each picture lines of the user stand in the functions, modules and name scopes that they ran
    in, and a line that ran many times is one box. `target` and `source` (tensors or variables of a
    tape) choose the gradient that is shown, and the path; without a target it is the last result.
    """

    @border
    def show(self, *, target: Any = None, source: Any = None) -> None:
        """Open the page of `save_html`: in the notebook, or in the browser of this machine."""
        late.draw(self, "shown", target=target, source=source)

    @border
    def save_html(self, path: Any, *, target: Any = None, source: Any = None) -> None:
        """Write one page that shows what was computed; it needs no network, and no other file.

        Groups unfold, and what is selected tells its shape, bytes, time, values and gradient; the
        user's files stand beside it. Of the trace of a function there are two pictures, as it was
        traced and as XLA runs it.
        """
        late.draw(self, "html", path, target=target, source=source)

    @border
    def save_svg(
        self, path: Any, *, target: Any = None, source: Any = None, unfolded: bool = False
    ) -> None:
        """Write the picture by itself, as SVG; `unfolded`, with every op."""
        late.draw(self, "svg", path, target=target, source=source, unfolded=unfolded)

    @border
    def to_mermaid(self, *, unfolded: bool = False) -> str:
        """The picture as a flowchart of Mermaid, for Markdown."""
        return late.draw(self, "mermaid", unfolded=unfolded)  # type: ignore[no-any-return]

    @border
    def to_dot(self, *, unfolded: bool = False) -> str:
        """The picture in the language of Graphviz."""
        return late.draw(self, "dot", unfolded=unfolded)  # type: ignore[no-any-return]
