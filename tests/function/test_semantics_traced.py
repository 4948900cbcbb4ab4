"""The statements of docs/semantics.md on tapes, inside `@function`: tests/semantics, traced.

What they say about eager mode only is listed in `eager_only.py`, and left out.
"""

import importlib
from pathlib import Path

import pytest
from semantics.test_garbage_and_long_chains import no_collector as no_collector

from .eager_only import EAGER_ONLY
from .traced import traced

pytestmark = pytest.mark.gradtape_only

NOT_TRACED = {
    "checkpoint",  # files
    "control_flow_in_functions",  # these make functions, and trace them, themselves
    "custom_and_forward_in_functions",
    "gradients_and_hessians",
    "tapes_around_functions",
    "tapes_in_functions",
    "tracing",
    "variables_in_functions",
    "gradients_of_single_ops",  # check_op runs every op under XLA
}
FOLDER = Path(__file__).parent.parent / "semantics"
FILES = {path.stem.removeprefix("test_") for path in FOLDER.glob("test_*.py")} - NOT_TRACED


@pytest.fixture(autouse=True)
def inside_a_function(monkeypatch):
    with traced(monkeypatch):
        yield


for _file in sorted(FILES):
    _module = importlib.import_module(f"semantics.test_{_file}")
    globals().update({name: t for name, t in vars(_module).items() if name.startswith("test_")})


def test_what_is_left_out_exists():
    assert {name.partition("[")[0] for name in EAGER_ONLY} <= globals().keys()
