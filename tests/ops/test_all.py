"""Every op of the registry, against every contract of its declaration."""

import re
from pathlib import Path

import pytest

from gradtape._src.testing import all_ops, check_op

OPS = all_ops()


@pytest.mark.parametrize("name", OPS)
def test_op(name):
    check_op(OPS[name])


def test_texts_say_how_many_ops_there_are():
    root = Path(__file__).parents[2]
    texts = [
        path.read_text(encoding="utf-8") for path in [root / "README.md", root / "docs/ops.md"]
    ]
    figures = [n for text in texts for n in re.findall(r"(\d+) primitive(?:s| ops)", text)]
    assert set(figures) == {str(len(OPS))}
