"""How many threads LAPACK takes: one, but for NumPy's with large matrices; and never for longer."""

import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.engines.numpy import blas

POOLS = {"numpy": blas._pool_of_numpy, "scipy": blas._pool_of_scipy}
RUNS = {"numpy": blas.by_numpy, "scipy": blas.by_scipy}


@pytest.fixture(params=POOLS)
def library(request):
    """A library whose OpenBLAS has been given three threads."""
    pool = POOLS[request.param]()
    assert pool is not None, "the wheels of NumPy and SciPy have an OpenBLAS"
    before = pool._get()
    pool._set(3)
    yield request.param, pool
    pool._set(before)


def threads_for(library, size):
    name, pool = library
    return RUNS[name](lambda a: pool._get(), np.zeros((size, size)))


def test_one_thread_for_a_call(library):
    assert threads_for(library, 100) == 1
    assert library[1]._get() == 3


def test_matrices_of_which_openblas_makes_one_thread_anyway(library):
    assert threads_for(library, 16) == 3


def test_large_matrices_have_the_threads_of_numpy(library):
    assert threads_for(library, 257) == (3 if library[0] == "numpy" else 1)


def test_what_the_user_set_stays(library):
    pool = library[1]
    for count in (1, 2):
        pool._set(count)
        assert threads_for(library, 100) == 1
        assert pool._get() == count


def test_an_error_puts_the_threads_back(library):
    name, pool = library
    with pytest.raises(np.linalg.LinAlgError):
        RUNS[name](np.linalg.inv, np.zeros((100, 100)))
    assert pool._get() == 3


def test_calls_of_several_threads_that_overlap(library):
    name, pool = library
    both = threading.Barrier(2, timeout=60)
    seen = []

    def call(number):
        def wait(a):
            both.wait()
            if number:
                first_is_done.wait()
            seen.append(pool._get())

        RUNS[name](wait, np.zeros((100, 100)))
        first_is_done.set()

    first_is_done = threading.Event()
    threads = [threading.Thread(target=call, args=[i]) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1, 1]
    assert pool._get() == 3


def test_a_library_without_an_openblas_runs_as_it_is():
    import _socket

    assert blas._find_pool(_socket.__file__) is None
    assert blas._find_pool("there is no such file") is None


FUNCTIONS = {
    "inv": tf.linalg.inv,
    "solve": lambda a: tf.linalg.solve(a, a),
    "det": tf.linalg.det,
    "slogdet": lambda a: tf.linalg.slogdet(a)[1],
    "cholesky": tf.linalg.cholesky,
    "triangular_solve": lambda a: tf.linalg.triangular_solve(a, a),
    "svd": lambda a: tf.linalg.svd(a)[0],
    "svdvals": lambda a: tf.linalg.svd(a, compute_uv=False),
    "qr": lambda a: tf.linalg.qr(a)[1],
    "eigh": lambda a: tf.linalg.eigh(a)[0],
    "eigvalsh": tf.linalg.eigvalsh,
    "eig": lambda a: tf.linalg.eig(a)[0],
    "eigvals": tf.linalg.eigvals,
    "lu": lambda a: tf.linalg.lu(a)[0],
    "expm": tf.linalg.expm,
    "sqrtm": tf.linalg.sqrtm,
    "logm": lambda a: tf.linalg.logm(tf.cast(a, tf.complex128)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_matrices_goes_that_way(name, monkeypatch):
    calls = []
    for pool in (POOLS["numpy"](), POOLS["scipy"]()):
        alone = pool.alone
        monkeypatch.setattr(
            pool, "alone", lambda *args, alone=alone, **kw: calls.append(1) or alone(*args, **kw)
        )
    a = np.eye(20) + np.ones((20, 20)) / 20
    FUNCTIONS[name](tf.constant(a))
    assert calls


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("columns", [1, 3])
def test_large_triangular_systems_by_halves(dtype, lower, adjoint, columns):
    r = np.random.default_rng(0)
    a, b = r.normal(size=(2, 600, 600)), r.normal(size=(2, 600, columns))
    if dtype == "complex128":
        a, b = a + 1j * a[::-1], b - 1j * b[::-1]
    a = a / 600 + np.eye(600) * 2
    x = tf.linalg.triangular_solve(a, b, lower=lower, adjoint=adjoint).numpy()
    triangle = np.tril(a) if lower else np.triu(a)
    if adjoint:
        triangle = triangle.swapaxes(-1, -2).conj()
    np.testing.assert_allclose(triangle @ x, b, rtol=0, atol=1e-12)
