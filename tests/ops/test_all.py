"""Every op of the registry, against every contract of its declaration."""

import pytest

from gradtape.testing import all_ops, check_op

OPS = all_ops()


@pytest.mark.parametrize("name", OPS)
def test_op(name):
    check_op(OPS[name])
