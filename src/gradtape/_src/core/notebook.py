"""What notebooks show of an object: a short piece of HTML, in which nothing runs."""

from __future__ import annotations

from html import escape
from typing import Any

_MOST = 4000
"""Characters of a text that are shown."""


def card(title: str, rows: dict[str, Any], text: str = "") -> str:
    """A title, a table, and a text below it. All of it is escaped."""
    cells = "".join(
        f"<tr><td style='text-align:left;opacity:.7'>{_shown(name)}</td>"
        f"<td style='text-align:left'>{_shown(value)}</td></tr>"
        for name, value in rows.items()
    )
    table = f"<table>{cells}</table>" if rows else ""
    below = f"<pre style='margin:4px 0'>{_shown(text)}</pre>" if text else ""
    return f"<div><b>{_shown(title)}</b>{table}{below}</div>"


def _shown(value: Any) -> str:
    text = str(value)
    return escape(text if len(text) <= _MOST else f"{text[:_MOST]} …")
