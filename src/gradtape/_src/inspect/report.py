"""Report: what was found in a run, and what it took; as text and as a page."""

from __future__ import annotations

import html
import linecache
from dataclasses import dataclass, field

from ..core.tables import Table, short
from ..version import __version__

_STYLE = """
:root { color-scheme: light dark; --back: #f6f7f9; --panel: #ffffff; --text: #16202c;
  --muted: #566577; --rule: #d8dee6; --code: #eef2f7; --bad: #b3261e;
  --good: #1a7340; }
@media (prefers-color-scheme: dark) {
  :root { --back: #11161d; --panel: #181f28; --text: #e6ebf2; --muted: #9aa8ba; --rule: #2c3745;
    --code: #222c38; --bad: #ff8a80; --good: #7ddba0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans",
  sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
h2 { font-size: 1.05rem; margin: 0 0 .4rem; }
.bad { color: var(--bad); } .good { color: var(--good); }
section { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px;
  padding: .8rem 1rem; margin: 1rem 0; overflow-x: auto; }
section.finding { border-left: 4px solid var(--bad); }
p { margin: .3rem 0; }
pre { background: var(--code); border-radius: 6px; padding: .4rem .7rem; margin: .4rem 0;
  overflow-x: auto; font: 13px/1.5 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
table { border-collapse: collapse; font-size: .9rem; margin: .4rem 0; }
th { color: var(--muted); font-weight: normal; text-align: left; }
td { padding: .15rem .9rem .15rem 0; white-space: nowrap; font-variant-numeric: tabular-nums; }
footer, .note { color: var(--muted); }
"""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong."""

    title: str
    message: str
    """What happened."""
    suggestion: str = ""
    """What to write instead."""
    file: str = ""
    line: int = 0
    others: list[tuple[str, int]] = field(default_factory=list)
    """Other lines that belong to it."""

    @property
    def places(self) -> list[str]:
        """Its lines of the user's code, each with its text."""
        lines = [(self.file, self.line), *self.others]
        return [
            f"{short(file)}:{line}: {linecache.getline(file, line).strip()}".removesuffix(": ")
            for file, line in dict.fromkeys(lines)
            if file
        ]

    def __str__(self) -> str:
        places = [f"  {place}" for place in self.places]
        parts = [*self.message.split("\n"), *places, self.suggestion]
        return "\n".join([self.title, *[f"   {part}" for part in parts if part]])


@dataclass(frozen=True)
class Section:
    """Something to know, with nothing wrong about it."""

    title: str
    text: list[str]
    table: Table | None = None
    suggestion: str = ""

    def __str__(self) -> str:
        table = [] if self.table is None else str(self.table).split("\n")
        rows = [*self.text, *table, self.suggestion]
        return "\n".join([self.title, *[f"   {row}".rstrip() for row in rows if row.strip()]])


@dataclass(frozen=True)
class Report:
    """What `gradtape doctor` says of a run."""

    program: str
    findings: list[Finding]
    sections: list[Section]
    ending: str = ""
    """How the program ended, if it failed."""

    @property
    def summary(self) -> str:
        """How many findings there are."""
        count = len(self.findings)
        what = {0: "nothing found", 1: "1 finding"}.get(count, f"{count} findings")
        return f"{what} in {self.program}"

    def __str__(self) -> str:
        head = [f"gradtape doctor: {self.summary}", *filter(None, [self.ending])]
        numbered = [f"{i}. {each}" for i, each in enumerate(self.findings, start=1)]
        return "\n\n".join(["\n".join(head), *numbered, *map(str, self.sections)])

    def page(self) -> str:
        """The same as one HTML file, which needs no other."""
        look = "bad" if self.findings else "good"
        parts = [
            f"<h1>gradtape doctor: <span class='{look}'>{html.escape(self.summary)}</span></h1>"
        ]
        if self.ending:
            parts.append(f"<p class='note'>{html.escape(self.ending)}</p>")
        parts += [_finding_html(i, each) for i, each in enumerate(self.findings, start=1)]
        parts += map(_section_html, self.sections)
        parts.append(f"<footer>gradtape {html.escape(__version__)}</footer>")
        body = "\n".join(parts)
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'\">\n"
            f"<title>{html.escape(self.program)}: gradtape doctor</title>\n"
            f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
        )


def _paragraphs(lines: list[str], kind: str = "") -> list[str]:
    opening = f"<p class='{kind}'>" if kind else "<p>"
    return [f"{opening}{html.escape(line)}</p>" for line in lines if line.strip()]


def _finding_html(number: int, finding: Finding) -> str:
    parts = [f"<h2>{number}. {html.escape(finding.title)}</h2>"]
    parts += _paragraphs(finding.message.split("\n"))
    if finding.places:
        parts.append(f"<pre>{html.escape(chr(10).join(finding.places))}</pre>")
    parts += _paragraphs([finding.suggestion])
    return f"<section class='finding'>{''.join(parts)}</section>"


def _section_html(section: Section) -> str:
    parts = [f"<h2>{html.escape(section.title)}</h2>", *_paragraphs(section.text)]
    if section.table is not None:
        parts.append(section.table.html())
    parts += _paragraphs([section.suggestion])
    return f"<section>{''.join(parts)}</section>"
