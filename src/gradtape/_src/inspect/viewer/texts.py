"""A picture in the languages of Mermaid and of Graphviz."""

from __future__ import annotations

from collections.abc import Callable

from .layered import subtitle_of, title_of
from .picture import Picture


def mermaid(picture: Picture, unfolded: bool = False) -> str:
    """A flowchart, as Markdown of GitHub and of many others shows it."""
    brackets = {"variable": "([{}])", "input": "[/{}/]", "constant": "[{}]", "exit": ">{}]"}
    shown, edges = picture.shown(unfolded)
    first = len(picture.boxes)

    def item(number: int) -> str:
        if number >= first:
            group = picture.groups[number - first]
            return f"n{number}[[{_for_mermaid(group.label, group.about)}]]"
        box = picture.boxes[number]
        text = _for_mermaid(title_of(box), subtitle_of(box))
        return f"n{number}{brackets.get(box.kind, '({})').format(text)}"

    def opened(number: int, indent: str) -> str:
        group = picture.groups[number - first]
        return f"{indent}subgraph n{number}[{_for_mermaid(group.label, group.about)}]"

    lines = ["flowchart TB"]
    lines += _nested(picture, shown, unfolded, item, opened, "end")
    for start, end, flows, count in edges:
        arrow = "-->" if flows else "-.->"
        lines.append(f"  n{start} {arrow}{f'|{count}|' if count > 1 else ''} n{end}")
    return "\n".join([*lines, ""])


def dot(picture: Picture, unfolded: bool = False) -> str:
    """A directed graph with clusters."""
    shapes = {"variable": "ellipse", "input": "parallelogram", "constant": "plain", "exit": "cds"}
    shown, edges = picture.shown(unfolded)
    first = len(picture.boxes)

    def item(number: int) -> str:
        if number >= first:
            group = picture.groups[number - first]
            return f"n{number} [shape=box3d, label={_for_dot(group.label, group.about)}]"
        box = picture.boxes[number]
        style = ", style=dashed" if box.cut or not box.recorded else ""
        text = _for_dot(title_of(box), subtitle_of(box))
        return f"n{number} [shape={shapes.get(box.kind, 'box')}, label={text}{style}]"

    def opened(number: int, indent: str) -> str:
        group = picture.groups[number - first]
        text = _for_dot(group.label, group.about)
        return f"{indent}subgraph cluster_{number} {{\n{indent}  label={text}"

    lines = ["digraph {", '  node [fontname="sans-serif", fontsize=10]']
    lines += _nested(picture, shown, unfolded, item, opened, "}")
    for start, end, flows, count in edges:
        options = ["" if flows else "style=dashed", f'label="×{count}"' if count > 1 else ""]
        text = ", ".join(filter(None, options))
        lines.append(f"  n{start} -> n{end}{f' [{text}]' if text else ''}")
    return "\n".join([*lines, "}", ""])


def _nested(
    picture: Picture,
    shown: list[int],
    unfolded: bool,
    item: Callable[[int], str],
    opened: Callable[[int, str], str],
    closed: str,
) -> list[str]:
    """The lines of all that is visible, each group around what is in it."""
    first, visible = len(picture.boxes), set(shown)
    lines: list[str] = []

    def write(number: int, indent: str) -> None:
        group = picture.groups[number - first] if number >= first else None
        if group is None or not (unfolded or group.opened):
            lines.append(indent + item(number))
            return
        lines.append(opened(number, indent))
        for child in group.children:
            write(child, indent + "  ")
        lines.append(indent + closed)

    for child in picture.groups[0].children:
        if child in visible:
            write(child, "  ")
    return lines


def _for_dot(*texts: str) -> str:
    lines = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts if text]
    return '"{}"'.format("\\n".join(" ".join(line.split()) for line in lines))


def _for_mermaid(*texts: str) -> str:
    """In quotes; what would end them, or mean something in Markdown, by its number."""
    plain = [
        "".join([c if c.isalnum() or c in " _.,=+:×·" else f"#{ord(c)};" for c in text])
        for text in texts
        if text
    ]
    return '"{}"'.format("<br/>".join(plain))
