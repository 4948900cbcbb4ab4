"""The statements of SPEC on tapes, inside `@function`: the tests of tests/semantics, traced.

What they say about eager mode only is listed in `eager_only.py`, and left out.
"""

import importlib

import pytest
from semantics.test_abuse import no_collector as no_collector

from .eager_only import EAGER_ONLY
from .traced import traced

pytestmark = pytest.mark.gradtape_only

FILES = [
    "a_making",
    "b_watch",
    "c_variables",
    "d_persistence",
    "e_inside",
    "f_gradient",
    "g_output_gradients",
    "h_unconnected",
    "i_cuts",
    "j_control_flow",
    "k_sparse",
    "l_complex",
    "m_jacobian",
    "n_batch_jacobian",
    "o_nested",
    "p_threads",
    "r_custom_gradient",
    "s_recompute",
    "t_forward",
    "v_conventions",
    "w_tensors",
    "y_helpers",
    "y_module",
    "abuse",
    "found_by_programs",
]


@pytest.fixture(autouse=True)
def inside_a_function(monkeypatch):
    with traced(monkeypatch):
        yield


for _file in FILES:
    _module = importlib.import_module(f"semantics.test_{_file}")
    globals().update({name: t for name, t in vars(_module).items() if name.startswith("test_")})


def test_what_is_left_out_exists():
    assert {name.partition("[")[0] for name in EAGER_ONLY} <= globals().keys()
