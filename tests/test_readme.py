"""Every Python block of the README runs, in order, and prints what its comments say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.gradtape_only
def test_the_blocks_run_and_print_what_they_say():
    names = {}
    for block in BLOCKS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "README.md", "exec"), names)
        words = " ".join(printed.getvalue().split())
        said = re.findall(r"^(?:print.*|.*print\(.*\))\s+# (.*)$", block, re.M)
        position = 0
        for comment in said:
            value = " ".join(re.split(r"  +(?=\w)", comment)[0].split())
            position = words.find(value, position)
            assert position >= 0, f"{value!r} is not in {words!r}"


def test_there_are_blocks():
    assert len(BLOCKS) >= 2
