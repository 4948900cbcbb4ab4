"""Every Python block of the README and the docs runs and prints what its comments say."""

import contextlib
import io
import linecache
import re
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/derivatives.md",
    "docs/function.md",
    "docs/memory.md",
    "docs/profiling.md",
    "docs/semantics.md",
    "docs/training.md",
    "docs/viewer.md",
    "docs/why-none.md",
]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_and_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what they write is nobody's
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


def test_the_picture_of_the_layers_has_them_all():
    text = (ROOT / "docs/images/layers.svg").read_text(encoding="utf-8")
    source = ROOT / "src/gradtape/_src"
    rooms = [path.name for part in ["", "engines", "ops"] for path in (source / part).iterdir()
             if (path / "__init__.py").is_file()]  # fmt: skip
    assert len(rooms) > 20
    assert [name for name in rooms if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.gradtape_only
def test_the_readme_counts_what_is_there():
    from gradtape._src.testing import all_ops

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    programs = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"common"}
    assert re.findall(r"(\d+) primitives", text) == [str(len(all_ops()))]
    with_keras = {path.stem for path in (ROOT / "examples/keras").glob("*.py")} - {"helpers"}
    assert f"{len(programs)} programs, and {len(with_keras)} with Keras" in " ".join(text.split())


@pytest.mark.gradtape_only
def test_the_wheel_is_as_large_as_the_readme_says():
    size = io.BytesIO()
    with zipfile.ZipFile(size, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in sorted((ROOT / "src/gradtape").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path, path.relative_to(ROOT))
    (said,) = re.findall(r"One wheel of ([\d.]+) MB", (ROOT / "README.md").read_text())
    assert size.tell() / 1e6 == pytest.approx(float(said), abs=0.1)


def test_the_first_screen_of_the_readme():
    """What it is, five lines of code, three reasons with a number each, the two commands."""
    screen = (ROOT / "README.md").read_text().partition("\n## ")[0]
    assert len(screen.splitlines()) <= 36
    before, code, after = re.split(r"```python\n|(?<=\n)```\n", screen, maxsplit=2)
    assert before.strip().count(".") == 3  # of tf.GradientTape, @tf.function, and the end
    assert len([line for line in code.splitlines() if line]) == 5
    reasons = re.findall(r"^- \*\*.*?(?=\n-|\n\n)", after, re.M | re.S)
    assert [len(re.findall(r"[\d.]*\d", reason)) for reason in reasons] == [1, 1, 1]
    assert re.findall(r"^\./scripts/\w+", after, re.M) == ["./scripts/demo", "./scripts/test"]
