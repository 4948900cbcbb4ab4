"""The statements of SPEC on tapes, inside `@function`: the tests of tests/semantics, traced."""

import importlib

import pytest

from .traced import traced

pytestmark = pytest.mark.gradtape_only

SECTIONS = [
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

EAGER_ONLY = {}


@pytest.fixture(autouse=True)
def inside_a_function(monkeypatch):
    with traced(monkeypatch):
        yield


for _section in SECTIONS:
    _module = importlib.import_module(f"semantics.test_{_section}")
    for _name, _test in vars(_module).items():
        if _name.startswith("test_") and _name not in EAGER_ONLY:
            globals()[_name] = _test
