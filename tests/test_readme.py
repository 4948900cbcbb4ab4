"""Every Python block of the README and the docs runs and prints what its comments say."""

import contextlib
import io
import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/derivatives.md",
    "docs/function.md",
    "docs/training.md",
    "docs/why-none.md",
]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_and_print_what_they_say(page):
    names = {"__name__": "__main__"}
    for number, block in enumerate(blocks(page)):
        printed = io.StringIO()
        name = f"<{page}, block {number}>"
        linecache.cache[name] = (len(block), None, block.splitlines(True), name)  # for AutoGraph
        with contextlib.redirect_stdout(printed):
            exec(compile(block, name, "exec"), names)
        words = " ".join(printed.getvalue().split())
        position = 0
        for comment in re.findall(r"^.*print\(.*\)\s+# (.*)$", block, re.M):
            value = " ".join(re.split(r":|  +(?=\w)", comment)[0].split())
            position = words.find(value, position)
            assert position >= 0, f"{value!r} is not in {words!r}"


@pytest.mark.parametrize("page", PAGES)
def test_there_are_blocks_with_results(page):
    assert len(blocks(page)) >= 2
    assert sum("# " in block for block in blocks(page)) >= 2


def test_links_lead_somewhere():
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
    ]:
        folder = (ROOT / page).parent
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
            if "://" not in target:
                assert (folder / target).exists(), f"{page}: {target}"
