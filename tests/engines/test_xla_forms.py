"""The forms that XLA's engine takes on a processor compute what XLA's own ops do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradtape as tf
from gradtape._src.engines.windows import Window
from gradtape._src.engines.xla import convolution, processor
from gradtape._src.engines.xla.convolution import _by_xla
from gradtape._src.engines.xla.windows import XlaWindows

GEOMETRIES = [
    {"strides": (1, 1), "dilations": (1, 1), "padding": ((0, 0), (0, 0))},
    {"strides": (1, 1), "dilations": (2, 1), "padding": ((1, 0), (0, 2))},
    {"strides": (1, 1), "dilations": (1, 1), "padding": ((2, 1), (1, 1))},
]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def operations(function, *arrays):
    """The names of the ops of XLA in a function."""
    return {str(equation.primitive) for equation in jax.make_jaxpr(function)(*arrays).eqns}


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize(("batch", "depth"), [(2, 1), (3, 1), (4, 3), (6, 5)])
def test_convolutions(geometry, batch, depth):
    r = np.random.default_rng(0)
    x, filters = r.normal(size=(batch, 7, 6, depth)), r.normal(size=(3, 3, depth, 4))
    geometry = geometry | {"groups": 1}

    def forward(x, filters):
        return _by_xla(x, filters, **geometry)

    out, pull = jax.vjp(forward, x, filters)
    y = r.normal(size=out.shape)
    by_input, by_filters = pull(y)
    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(convolution.convolution(x, filters, **geometry), out, **near)
    found = convolution.input_gradient(jnp.asarray(y), filters, x.shape[1:3], **geometry)
    np.testing.assert_allclose(found, by_input, **near)
    found = convolution.filter_gradient(x, y, (3, 3), **geometry)
    np.testing.assert_allclose(found, by_filters, **near)


def test_which_form_is_taken():
    given = GEOMETRIES[0] | {"groups": 1}
    few, many = np.ones((3, 3, 1, 4)), np.ones((3, 3, 8, 4))
    image = lambda depth: np.ones((2, 7, 6, depth))  # noqa: E731

    def forward(x, filters):
        return convolution.convolution(x, filters, **given)

    assert "conv_general_dilated" not in operations(forward, image(1), few)
    assert "conv_general_dilated" in operations(forward, image(8), many)
    assert "conv_general_dilated" in operations(forward, image(1)[:1], few)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("length", [6, 7])
def test_the_gradient_of_pairs_is_that_of_all_windows(axis, length):
    r = np.random.default_rng(0)
    shape = [4, 4, 16]
    shape[axis] = length
    x = r.integers(0, 3, shape).astype(np.float32)  # with equal neighbours
    window = Window(2, 2, 0, 3)
    y = r.normal(size=np.where(np.arange(3) == axis, 3, shape)).astype(np.float32)
    engine = XlaWindows(jnp)
    narrow = [engine.window_max_adjoint(y[..., i:i + 1], x[..., i:i + 1], axis, window)
              for i in range(16)]  # fmt: skip
    whole = engine.window_max_adjoint(y, x, axis, window)
    np.testing.assert_array_equal(whole, np.concatenate(narrow, -1))


def test_programs_run_in_the_thread_that_calls():
    assert processor.processor().client is not jax.devices()[0].client


def test_programs_that_call_python_and_others_share_variables(capfd):
    v = tf.Variable(1.0)

    @tf.function
    def speaking():
        tf.print("v is", v)
        v.assign_add(1.0)

    @tf.function
    def silent():
        v.assign_add(2.0)

    for _ in range(2):
        speaking()
        silent()
        silent()
        speaking()
    assert v.numpy() == 13.0


def test_free_memory_stays_if_the_user_has_not_chosen(monkeypatch):
    asked = []
    monkeypatch.setattr(processor.sys, "platform", "linux")
    library = type("Library", (), {"mallopt": lambda self, *pair: asked.append(pair)})()
    monkeypatch.setattr(processor.ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(processor, "_kept", 2**25)
    for name in ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        monkeypatch.delenv(name, raising=False)
    processor.keep_free_memory(2**25)
    assert asked == []
    processor.keep_free_memory(2**26)
    processor.keep_free_memory(2**26)  # it is kept already
    assert asked == [(-3, 2**26 + 2**23), (-1, 2 * (2**26 + 2**23))]
    processor.keep_free_memory(2**40)
    assert asked[-1] == (-1, 2**31 - 2)
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "1000")
    monkeypatch.setattr(processor, "_kept", 2**25)
    processor.keep_free_memory(2**26)
    assert len(asked) == 4
