"""Programs that one process has compiled and another one reads, with real processes."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gradtape_only

COUNTING = """
import sys
from jax._src import compiler

compiled = []
compile_program = compiler.backend_compile_and_load


def counting(client, module, *others):
    compiled.append(str(module.operation.attributes["sym_name"]))
    return compile_program(client, module, *others)


compiler.backend_compile_and_load = counting  # before gradtape puts its own around it

import gradtape as tf
import numpy as np


def show(*tensors):
    print(*[np.asarray(x).tobytes().hex() for x in tensors])
"""

PROGRAMS = """
w = tf.Variable([[1.0, -1.0], [0.5, 2.0]])


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ w) - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


x, y = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
show(step(x, y), step(x, y), w)


@tf.function
def power(x, n):
    while n > 0:
        x, n = x * tf.sin(x), n - 1
    return x


x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:  # outside: a second program, that loops backwards
    tape.watch(x)
    z = power(x, tf.constant(11))
show(z, tape.gradient(z, x))


@tf.function(input_signature=[tf.TensorSpec([None, 3])])
def norms(x):
    return tf.sqrt(tf.reduce_sum(x * x, axis=1))


show(norms(tf.ones([2, 3])), norms(tf.ones([5, 3])))


@tf.function
def solved(a, b):  # by LAPACK
    return tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b)


a = tf.constant([[4.0, 1.0], [1.0, 3.0]], tf.float64)
show(solved(a, tf.constant([[1.0], [2.0]], tf.float64)))


@tf.function
def drawn():
    return tf.random.stateless_normal([3], seed=[1, 2])


show(drawn())


@tf.function
def row(table, i):
    return table[tf.abs(i) - 1]


table = tf.constant([1.0, 2.0, 3.0])
show(row(table, tf.constant(3)))
try:
    row(table, tf.constant(9))
except tf.errors.InvalidArgumentError as error:
    print(str(error).splitlines()[0])
print(len(compiled))
"""


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "GRADTAPE_CACHE": str(tmp_path / "cache"),
        "SCRIPT": str(tmp_path / "script.py"),
    }


def started(code, environment):
    # (In a file, for AutoGraph reads it.)
    path = Path(environment["SCRIPT"])
    path.write_text(COUNTING + code, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines_of(process):
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    assert not errors
    return out.splitlines()


def run(code, environment):
    """What a new process prints, line by line."""
    return lines_of(started(code, environment))


def kept(environment):
    folder = Path(environment["GRADTAPE_CACHE"]) / "gradtape" / "programs"
    return sorted(folder.iterdir()) if folder.exists() else []


SQUARES = """
@tf.function
def squares(x):
    return tf.reduce_sum(x * x)

show(squares(tf.constant([1.0, 2.0])))
print(len(compiled))
"""
FIVE = "0000a040"


def test_a_second_process_computes_the_same_bits_and_compiles_what_calls_python(environment):
    *first, compiled = run(PROGRAMS, environment)
    *second, compiled_again = run(PROGRAMS, environment)
    assert second == first
    assert int(compiled) > 8
    # That of `row`, which says why it failed.
    assert int(compiled_again) == 1


def test_damaged_files_are_compiled_again_and_replaced(environment):
    run(SQUARES, environment)
    (path,) = kept(environment)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9] + b"different")
    assert run(SQUARES, environment) == [FIVE, "1"]
    assert run(SQUARES, environment) == [FIVE, "0"]


def test_what_xla_refuses_to_read_is_compiled(environment):
    code = """
from gradtape._src.core.store import Store
Store.get = lambda self, key: b"whole, and no program"
"""
    assert run(code + SQUARES, environment) == [FIVE, "1"]


def test_processes_that_compile_the_same_at_once(environment):
    several = [started(SQUARES, environment) for _ in range(3)]
    for process in several:
        assert lines_of(process)[0] == FIVE
    assert len(kept(environment)) == 1  # and nothing half written
    assert run(SQUARES, environment) == [FIVE, "0"]


def test_another_program_is_compiled(environment):
    run(SQUARES, environment)
    assert run(SQUARES.replace("x * x)", "x * x) + 3"), environment) == ["00000041", "1"]
    assert run(SQUARES.replace("[1.0, 2.0]", "[[1.0, 2.0]]"), environment) == [FIVE, "1"]
    assert len(kept(environment)) == 3


def test_the_lines_that_a_program_is_from_do_not_matter(environment):
    run(SQUARES, environment)
    assert run("\n\n" + SQUARES, environment) == [FIVE, "0"]


def test_another_version_of_gradtape_compiles_again(environment):
    run(SQUARES, environment)
    code = """
import gradtape._src.version
gradtape._src.version.__version__ += ".1"
"""
    assert run(code + SQUARES, environment) == [FIVE, "1"]


def test_other_flags_of_xla_compile_again(environment):
    run(SQUARES, environment)
    environment["XLA_FLAGS"] = "--xla_cpu_enable_fast_min_max=false"
    assert run(SQUARES, environment) == [FIVE, "1"]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="AVX is x86's")
def test_the_key_knows_what_instructions_the_processor_has(environment):
    code = """
from jaxlib.xla_client import get_topology_for_devices
from gradtape._src.engines.xla.processor import processor
print(get_topology_for_devices([processor()]).fingerprint())
"""
    known = {tuple(run(code, environment))}
    environment["XLA_FLAGS"] = "--xla_cpu_max_isa=SSE4_2"
    known.add(tuple(run(code, environment)))
    assert len(known) == 2


def test_a_program_that_calls_python_is_not_kept(environment):
    code = """
@tf.function
def doubled(x):
    tf.print("called", output_stream=sys.stdout)
    return x * 2

show(doubled(tf.constant(2.5)))
print(len(compiled))
"""
    for _ in range(2):
        assert run(code, environment) == ["called", FIVE, "1"]
    assert not kept(environment)


def test_off(environment, tmp_path):
    environment |= {"GRADTAPE_CACHE": "off", "HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    environment.pop("XDG_CACHE_HOME", None)
    for _ in range(2):
        assert run(SQUARES, environment) == [FIVE, "1"]
    assert not list(tmp_path.rglob("programs"))


def test_without_a_setting_the_users_cache_is_used(environment, tmp_path):
    environment |= {"HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    environment.pop("XDG_CACHE_HOME", None)
    environment.pop("GRADTAPE_CACHE")
    assert run(SQUARES, environment) == [FIVE, "1"]
    assert run(SQUARES, environment) == [FIVE, "0"]
    (folder,) = tmp_path.rglob("programs")
    assert len(list(folder.iterdir())) == 1


def test_a_folder_that_cannot_be_written_does_no_harm(environment, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    environment["GRADTAPE_CACHE"] = str(tmp_path / "file")
    assert run(SQUARES, environment) == [FIVE, "1"]


def test_what_jax_compiles_for_itself_is_left_alone(environment):
    code = """
import jax
import gradtape._src.function.trace
print(jax.jit(lambda x: x + 1)(1.0))
print(len(compiled))
"""
    assert run(code, environment) == ["2.0", "1"]
    assert not kept(environment)
