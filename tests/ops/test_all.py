"""Every op of the registry, against every contract of its declaration."""

import pytest

from gradtape.core.op import registry
from gradtape.testing import check_op


@pytest.mark.parametrize("name", sorted(registry))
def test_op(name):
    check_op(registry[name])
