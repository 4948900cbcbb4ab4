"""Tests of compiled functions."""

from .eager_only import EAGER_ONLY


def pytest_collection_modifyitems(items):
    """Of the statements that run in traced mode, leave out those about eager mode."""
    items[:] = [
        item
        for item in items
        if item.path.name != "test_semantics_traced.py"
        or EAGER_ONLY.keys().isdisjoint({item.name, item.originalname})
    ]
