"""Where the bytes of a variable are, and who may write into them: every transition of a cell."""

import threading
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from semantics.helpers import in_threads

import gradtape
from gradtape._src.core.tensor import Tensor
from gradtape._src.tape import pack
from gradtape._src.tape.cell import Cell, Loan, changing

pytestmark = pytest.mark.gradtape_only

VALUES = np.array([1.0, 2.0, 3.0], np.float32)


@pytest.fixture
def no_packs(monkeypatch):
    """Small arrays are handed over like large ones."""
    monkeypatch.setattr(pack, "_SMALL", -1)


def computed(values):
    """An array in memory of XLA's own."""
    return jax.jit(lambda x: x * 1)(np.asarray(values))


def in_state(state):
    """A cell of VALUES; "lent": on both sides because programs read it twice."""
    cell = Cell(VALUES.copy(), key=7)
    if state in ("device", "both"):
        assigning(cell).take_back([computed(VALUES)])
    if state == "both":
        cell.read()
    if state == "lent":
        reading(cell).lend()
        reading(cell).lend()
    if state == "private":
        writable(cell)
    return cell


def writable(cell):
    with changing():
        return cell.writable()


def state_of(cell):
    return {
        (True, False): "host",
        (False, True): "device",
        (True, True): "both",
        (False, False): "private",
    }[cell.host is not None, cell.device is not None]


def reading(*cells):
    return Loan(list(cells), [], spares=True, calls_python=False)


def assigning(*cells, spares=True, calls_python=False):
    return Loan(list(cells), range(len(cells)), spares=spares, calls_python=calls_python)


def doubling(count):
    """A program that gives the doubles of so many arrays, written into spare ones."""
    double = jax.jit(
        lambda *xs: [2 * x for x in xs[:count]],
        donate_argnums=tuple(range(count, 2 * count)),
        keep_unused=True,
    )
    return lambda arrays, spares: (double(*arrays, *spares), None)


every_state = pytest.mark.parametrize("state", ["host", "device", "both", "lent", "private"])


# Reading


def test_a_new_cell_is_on_the_host():
    cell = Cell(VALUES, key=7)
    assert state_of(cell) == "host"
    assert cell.read()._array is VALUES and cell.read()._key == 7


@pytest.mark.parametrize(
    ("state", "after"),
    [
        ("host", "host"),
        ("device", "both"),
        ("both", "both"),
        ("lent", "both"),
        ("private", "host"),
    ],
)
def test_reading(state, after):
    cell = in_state(state)
    tensor = cell.read()
    assert state_of(cell) == after
    assert isinstance(tensor, Tensor) and tensor._key == 7
    np.testing.assert_array_equal(tensor._array, VALUES)
    assert cell.read() is tensor


@every_state
def test_shape_and_dtype_are_known_where_the_array_is(state):
    cell = in_state(state)
    before = state_of(cell)
    assert cell.array().shape == (3,) and cell.array().dtype == np.float32
    assert state_of(cell) == before


# Assigning


@every_state
def test_assigning(state):
    cell = in_state(state)
    cell.assign(VALUES * 5)
    assert state_of(cell) == "host"
    np.testing.assert_array_equal(cell.read()._array, VALUES * 5)
    assert cell.read()._key == 7


@every_state
def test_updating(state):
    cell = in_state(state)
    before = cell.read()
    cell.update(np.subtract, np.float32(1))
    assert state_of(cell) == "host"
    np.testing.assert_array_equal(cell.read()._array, VALUES - 1)
    np.testing.assert_array_equal(before._array, VALUES)


def test_an_update_that_fails_changes_nothing():
    cell = in_state("host")
    with pytest.raises(ValueError, match="broadcast"):
        cell.update(np.add, np.ones(7))
    np.testing.assert_array_equal(cell.read()._array, VALUES)
    in_threads([lambda: cell.assign(VALUES)])  # the lock is free


def test_updates_by_many_threads_add_up():
    cell = Cell(np.array(0), key=7)

    def count():
        for _ in range(500):
            cell.update(np.add, 1)

    in_threads([count] * 4)
    assert int(cell.read()._array) == 2000


# In place


@every_state
def test_what_is_written_in_place_is_the_value(state):
    cell = in_state(state)
    array = writable(cell)
    assert state_of(cell) == "private"
    array += 1
    np.testing.assert_array_equal(cell.read()._array, VALUES + 1)


def in_a_buffer():
    """A part of a buffer that nothing else holds, as memory with an alignment is made."""
    array = np.zeros(8, np.float32)[2:5]
    array[:] = VALUES
    return array


@pytest.mark.parametrize("make", [VALUES.copy, in_a_buffer])
def test_an_array_that_nothing_shares_is_not_copied(make):
    cell = Cell(make(), key=7)
    place = cell.read()._array.ctypes.data
    assert writable(cell).ctypes.data == place
    assert writable(cell).ctypes.data == place


HOLDERS = {
    "the tensor": lambda cell: cell.read(),
    "its array": lambda cell: cell.read()._array,
    "a view": lambda cell: cell.read()._array[1:],
    "a view of a view": lambda cell: cell.read()._array[1:][::-1],
    "a buffer": lambda cell: memoryview(cell.read()._array),
}


@pytest.mark.parametrize("make", [VALUES.copy, in_a_buffer])
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_who_shares_the_array_keeps_its_values(make, hold):
    cell = Cell(make(), key=7)
    holder = hold(cell)
    before = np.array(holder._array if isinstance(holder, Tensor) else holder)
    writable(cell)[:] = 9
    np.testing.assert_array_equal(
        holder._array if isinstance(holder, Tensor) else np.asarray(holder), before
    )
    np.testing.assert_array_equal(cell.read()._array, [9, 9, 9])


def test_the_buffer_around_the_array_may_be_shared():
    buffer = np.zeros(8, np.float32)
    cell = Cell(buffer[2:5], key=7)
    writable(cell)[:] = 9
    np.testing.assert_array_equal(buffer, np.zeros(8))


def frozen():
    array = np.full(3, 2, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.float32(2),
        lambda: np.broadcast_to(np.float32(2), [3]),
        frozen,
        lambda: computed([2.0, 2.0]),
    ],
    ids=["scalar", "broadcast", "frozen", "of XLA"],
)
def test_what_cannot_be_written_is_copied(make):
    cell = Cell(make(), key=7)
    shape = cell.array().shape
    array = writable(cell)
    array += 1
    np.testing.assert_array_equal(cell.read()._array, np.full(shape, 3))


# Lending what a program only reads


def test_the_second_loan_without_a_change_stays_with_the_device():
    cell = in_state("host")
    (first,) = reading(cell).lend()
    assert first is cell.read()._array and state_of(cell) == "host"
    (second,) = reading(cell).lend()
    assert isinstance(second, jax.Array) and state_of(cell) == "both"
    (third,) = reading(cell).lend()
    assert third is second


@pytest.mark.parametrize("change", [lambda c: c.assign(VALUES * 2), writable])
def test_a_change_between_loans_keeps_it_on_the_host(change):
    cell = in_state("host")
    for _ in range(3):
        reading(cell).lend()
        assert state_of(cell) == "host"
        change(cell)


@pytest.mark.parametrize("state", ["device", "both", "lent"])
def test_what_is_only_read_is_lent_as_it_is(state):
    cell = in_state(state)
    before = state_of(cell)
    (lent,) = reading(cell).lend()
    assert lent is cell.device and state_of(cell) == before


@pytest.mark.parametrize("size", [3, 100_000])
def test_what_is_lent_is_not_written_in_place(size):
    cell = Cell(np.ones(size, np.float32), key=7)
    (first,), (second,) = reading(cell).lend(), reading(cell).lend()
    writable(cell)[:] = 9
    np.testing.assert_array_equal(second, np.ones(size))
    np.testing.assert_array_equal(first, np.ones(size))


@pytest.mark.parametrize("make", [VALUES.copy, in_a_buffer])
def test_a_program_sees_what_was_written_in_place(make):
    cell = Cell(make(), key=7)
    for factor in (1, 2, 4):
        for _ in range(3):
            (lent,) = reading(cell).lend()
            np.testing.assert_array_equal(lent, VALUES * factor)
        del lent
        array = writable(cell)
        array *= 2


def test_numbers_of_64_bits_stay_so():
    cell = Cell(np.array([1e300, 2.0]), key=7)
    reading(cell).lend()
    (lent,) = reading(cell).lend()
    assert lent.dtype == np.float64 and float(lent[0]) == 1e300


# Spares


def test_a_program_writes_into_the_value_of_the_step_before():
    cell = in_state("device")
    loan, places = assigning(cell), []
    for _ in range(6):
        loan.run(doubling(1), [])
        places.append(cell.device.unsafe_buffer_pointer())
    assert state_of(cell) == "device"
    np.testing.assert_array_equal(cell.read()._array, VALUES * 64)
    assert places[1:3] == places[3:5] and places[1] != places[2]


def test_two_programs_share_the_spare_of_a_cell():
    cell = in_state("device")
    places = set()
    for _ in range(6):
        for loan in (assigning(cell), assigning(cell)):
            loan.run(doubling(1), [])
            places.add(cell.device.unsafe_buffer_pointer())
    assert len(places) <= 3  # and that of its first value


@every_state
def test_a_tensor_that_was_read_keeps_its_value(state):
    cell = in_state(state)
    tensors = [cell.read()]
    for _ in range(5):
        assigning(cell).run(doubling(1), [])
        tensors.append(cell.read())
    for i, tensor in enumerate(tensors):
        np.testing.assert_array_equal(tensor._array, VALUES * 2**i)


def test_a_value_that_was_only_looked_at_becomes_a_spare():
    cell = in_state("device")
    loan, places = assigning(cell), set()
    for _ in range(8):
        loan.run(doubling(1), [])
        places.add(cell.device.unsafe_buffer_pointer())
        assert cell.read()._array[0] > 0
    assert len(places) <= 3


@pytest.mark.parametrize("size", [3, 100_000])
def test_memory_of_the_host_is_never_written_by_a_program(size):
    array = np.ones(size, np.float32)
    cell = Cell(array, key=7)
    reading(cell).lend()
    reading(cell).lend()  # from now on the device may see the memory of `array`
    for _ in range(4):
        assigning(cell).run(doubling(1), [])
    np.testing.assert_array_equal(array, np.ones(size))
    np.testing.assert_array_equal(cell.read()._array, np.full(size, 16))


def test_one_array_that_is_shared_leaves_the_other_spares(no_packs):
    cells = [in_state("device") for _ in range(3)]
    loan = assigning(*cells)
    loan.run(doubling(3), [])
    spares = [cell.spare.unsafe_buffer_pointer() for cell in cells]
    held = np.asarray(cells[1].spare)
    loan.run(doubling(3), [])
    after = [cell.device.unsafe_buffer_pointer() for cell in cells]
    assert [a == b for a, b in zip(spares, after, strict=True)] == [True, False, True]
    np.testing.assert_array_equal(held, VALUES)
    for cell in cells:
        np.testing.assert_array_equal(cell.read()._array, VALUES * 4)


def test_a_loan_without_spares_keeps_none():
    cell = in_state("device")
    loan = assigning(cell, spares=False)

    def program(arrays, spares):
        assert arrays == [cell.device] and spares == []
        return [computed(VALUES)], None

    loan.run(program, [])
    assert cell.spare is None


def test_an_update_in_place_needs_no_spare():
    cell = in_state("device")
    assigning(cell).run(doubling(1), [])
    with changing():
        cell.writable()
    assert cell.spare is None


# Taking back


@every_state
def test_what_a_program_gives_back_is_on_the_device(state):
    cell = in_state(state)
    new = computed(VALUES * 3)
    assigning(cell).take_back([new])
    assert state_of(cell) == "device" and cell.device is new
    np.testing.assert_array_equal(cell.read()._array, VALUES * 3)


def test_only_what_is_assigned_is_taken_back(no_packs):
    a, b, c = (in_state("host") for _ in range(3))
    loan = Loan([a, b, c], [0, 2], spares=True, calls_python=False)

    def program(arrays, spares):
        argument, *lent = arrays
        assert argument == "argument"
        return [computed(10 * lent[0]), computed(20 * lent[2])], "a result"

    assert loan.run(program, ["argument"]) == "a result"
    assert [state_of(cell) for cell in (a, b, c)] == ["device", "host", "device"]
    np.testing.assert_array_equal([x.read()._array[0] for x in (a, b, c)], [10, 1, 20])


@every_state
def test_a_program_whose_results_are_on_the_host(state):
    cell = in_state(state)
    loan = assigning(cell)
    with loan.exclusive():
        loan.assign([cell.read()._array + 1])
    assert state_of(cell) == "host"
    np.testing.assert_array_equal(cell.read()._array, VALUES + 1)


# A call that fails


class Stop(BaseException):
    """Not an Exception, as KeyboardInterrupt is none."""


def fails_at_once(arrays, spares):
    raise Stop("no")


def fails_late(arrays, spares):
    """A program that has written into the arrays it was given when it fails."""
    for array in spares:
        if isinstance(array, jax.Array):
            array.delete()
    raise Stop("too late")


@every_state
@pytest.mark.parametrize("steps_before", [0, 2])
@pytest.mark.parametrize("program", [fails_at_once, fails_late])
def test_a_call_that_fails_changes_nothing(state, steps_before, program):
    cell = in_state(state)
    for _ in range(steps_before):
        assigning(cell).run(doubling(1), [])
    before = state_of(cell)
    factor = 2**steps_before
    with pytest.raises(Stop):
        assigning(cell).run(program, [])
    assert state_of(cell) == ("host" if before == "private" else before)
    np.testing.assert_array_equal(cell.read()._array, VALUES * factor)
    in_threads([lambda: assigning(cell).run(doubling(1), [])])  # the lock is free
    np.testing.assert_array_equal(cell.read()._array, VALUES * factor * 2)


# While a program runs


def during(program, task):
    """The program, but that another thread begins the task while it runs; and that thread."""
    begun = threading.Event()
    thread = threading.Thread(target=lambda: (begun.set(), task()), daemon=True)

    def whole(arrays, spares):
        thread.start()
        assert begun.wait(60)
        time.sleep(0.02)  # so that it comes too early, if nothing holds it back
        return program(arrays, spares)

    return whole, thread


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (lambda cell: cell.update(np.add, np.float32(1)), VALUES * 2 + 1),
        (lambda cell: cell.assign(VALUES), VALUES),
        (lambda cell: assigning(cell).run(doubling(1), []), VALUES * 4),
    ],
    ids=["update", "assign", "another program"],
)
def test_who_changes_the_value_waits_for_a_program_that_does(then, expected):
    cell = in_state("device")
    program, thread = during(doubling(1), lambda: then(cell))
    assigning(cell).run(program, [])
    thread.join(60)
    assert not thread.is_alive()
    np.testing.assert_array_equal(cell.read()._array, expected)


def test_python_that_a_program_calls_reads_and_assigns():
    state, log = in_state("device"), Cell(np.array(0), key=8)

    def program(arrays, spares):
        def callback():
            log.update(np.add, 1)
            return state.read()._array.copy()

        (seen,) = in_threads([callback])  # as XLA's threads do, while this one waits
        return [computed(seen * 2)], None

    assigning(state, spares=False, calls_python=True).run(program, [])
    assert int(log.read()._array) == 1
    np.testing.assert_array_equal(state.read()._array, VALUES * 2)


@pytest.mark.parametrize("calls_python", [False, True])
def test_programs_in_many_threads_follow_one_another(calls_python):
    cell = Cell(np.array(0, np.int32), key=7)
    add = jax.jit(lambda x: [x + 1])
    loan = assigning(cell, spares=False, calls_python=calls_python)

    def task():
        for _ in range(100):
            loan.run(lambda arrays, spares: (add(*arrays), None), [])

    def recorded():
        for _ in range(100):
            with loan.exclusive():
                loan.assign([cell.read()._array + np.int32(1)])

    in_threads([task, recorded, task])
    assert int(cell.read()._array) == 300


def test_a_reader_meets_no_moment_without_a_value():
    cell, done = in_state("host"), threading.Event()

    def change():
        for _ in range(2000):
            assigning(cell).take_back([computed_once])
            cell.assign(VALUES)
        done.set()

    def look():
        while not done.is_set():
            assert cell.array().shape == (3,)
            assert cell.read()._array.shape == (3,)

    computed_once = computed(VALUES)
    in_threads([change, look, look])


def test_shape_and_dtype_while_the_array_changes_sides():
    class Assigned(Cell):
        """On the device; assigned between the look at the host and that at the device."""

        __slots__ = ()

        @property
        def device(self):
            self.host = Tensor(VALUES, self.key)

        @device.setter
        def device(self, array):
            pass

    cell = Assigned(VALUES, key=7)
    cell.host = None
    assert cell.array() is VALUES


# In one place


def test_no_other_module_counts_references_to_arrays_or_takes_these_locks():
    source = Path(gradtape.__file__).parent
    files = [path for path in source.rglob("*.py") if path.name != "cell.py"]
    assert len(files) > 100
    for path in files:
        text = path.read_text(encoding="utf-8")
        # They count references to others; inspect/memory.py only to tell what a tape alone holds.
        if path.name not in ("recorder.py", "scopes.py", "memory.py"):
            assert "getrefcount" not in text, path
        assert "callback_lock" not in text, path
        assert "cell import _" not in text, path
