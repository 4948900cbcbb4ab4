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
    "docs/semantics.md",
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


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/glossary.md"])
def test_the_files_that_the_map_names_are_there(page):
    folders = [ROOT, ROOT / "src/gradtape", ROOT / "src/gradtape/_src"]
    paths = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", (ROOT / page).read_text())
    assert len(paths) > 20
    assert [path for path in paths if not any((f / path).exists() for f in folders)] == []


@pytest.mark.gradtape_only
def test_the_readme_counts_what_is_there():
    from gradtape._src.testing import all_ops

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    programs = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"common"}
    assert re.findall(r"(\d+) primitives", text) == [str(len(all_ops()))]
    assert re.findall(r"(\d+) programs in \[examples\]", text) == [str(len(programs))]
