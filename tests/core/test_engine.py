"""Which engine runs an op."""

import jax.numpy as jnp
import numpy as np
import pytest

from gradtape._src.core.engine import Engine, common_engine, engine_of


class Foreign:
    """An array of a library that no engine knows."""


@pytest.mark.parametrize("value", [np.zeros(1), np.float32(1), np.bool_(True)])
def test_numpy_owns_its_arrays_and_scalars(value):
    assert engine_of(type(value)).name == "numpy"
    assert engine_of(type(value)) is engine_of(np.ndarray)


def test_an_array_of_no_engine_is_refused_by_name():
    with pytest.raises(TypeError, match="No engine of gradtape holds arrays of type Foreign"):
        engine_of(Foreign)


def test_the_first_array_that_is_not_numpys_decides():
    assert common_engine([np.zeros(1), np.zeros(1)]).name == "numpy"
    assert common_engine([np.zeros(1), jnp.zeros(1)]).name == "xla"
    assert common_engine([jnp.zeros(1), np.zeros(1)]).name == "xla"


def test_of_no_arrays_it_is_the_default():
    assert common_engine([]).name == "numpy"


def test_what_an_engine_does_not_define_is_its_librarys_own():
    engine = engine_of(np.ndarray)
    assert engine.cbrt is np.cbrt
    with pytest.raises(AttributeError):
        _ = engine.no_such_function
    assert isinstance(engine, Engine) and repr(engine) == "<engine numpy>"
