"""After an element that could not be made, the pass goes on with the next one."""

import logging

import numpy as np
import pytest

END = "end"
ERROR = "error"


def drain(tf, iterator, most=20):
    """What `next` gives, and what it raises, until the end has come twice."""
    found = []
    while found[-2:] != [END, END] and len(found) < most:
        try:
            found.append(tf.nest.map_structure(lambda x: np.asarray(x).tolist(), next(iterator)))
        except StopIteration:
            found.append(END)
        except Exception:
            found.append(ERROR)
    return found[:-1] if found[-2:] == [END, END] else found


def tenfold_but(tf, wrong):
    """A function of an element that fails for one number."""

    def tenfold(x):
        tf.debugging.assert_none_equal(x, tf.constant(wrong, x.dtype))
        return x * 10

    return tenfold


def batches(windows):
    return windows.flat_map(lambda window: window.batch(3))


CASES = {
    "map": (lambda d: d, [0, 10, ERROR, 30, 40, END]),
    "map, prefetch": (lambda d: d.prefetch(2), [0, 10, ERROR, 30, 40, END]),
    "map, prefetch as needed": (lambda d: d.prefetch(-1), [0, 10, ERROR, 30, 40, END]),
    "map, map": (lambda d: d.map(lambda x: x + 1), [1, 11, ERROR, 31, 41, END]),
    "a batch is lost as a whole": (lambda d: d.batch(2), [[0, 10], ERROR, [40], END]),
    "a padded batch up to there": (lambda d: d.padded_batch(2), [[0, 10], ERROR, [30, 40], END]),
    "filter": (lambda d: d.filter(lambda x: x > 0), [10, ERROR, 30, 40, END]),
    "unbatch": (lambda d: d.batch(1).unbatch(), [0, 10, ERROR, 30, 40, END]),
    "unique": (lambda d: d.unique(), [0, 10, ERROR, 30, 40, END]),
    "an error is not counted by take": (lambda d: d.take(3), [0, 10, ERROR, 30, END]),
    "nor by shard": (lambda d: d.shard(2, 0), [0, ERROR, 30, END]),
    "after what skip passes over": (lambda d: d.skip(2), [ERROR, 30, 40, END]),
    "among what skip passes over": (lambda d: d.skip(3), [ERROR, END]),
    "repeat": (lambda d: d.repeat(2), 2 * [0, 10, ERROR, 30, 40] + [END]),
    "a cache holds the others": (
        lambda d: d.cache().repeat(2),
        [0, 10, ERROR, 30, 40, 0, 10, 30, 40, END],
    ),
    "enumerate": (lambda d: d.enumerate(), [(0, 0), (1, 10), ERROR, (3, 30), (4, 40), END]),
    "scan": (
        lambda d: d.scan(np.int64(0), lambda s, x: (s + x, s + x)),
        [0, 10, ERROR, 40, 80, END],
    ),
    "windows that hold it": (
        lambda d: batches(d.window(2, shift=1)),
        [[0, 10], ERROR, ERROR, [30, 40], [40], END],
    ),
    "concatenate": (lambda d: d.take(2).concatenate(d), [0, 10, 0, 10, ERROR, 30, 40, END]),
    "group_by_window": (
        lambda d: d.group_by_window(lambda x: x % 20, lambda key, window: window.batch(2), 2),
        [ERROR, [10, 30], [0, 40], END],
    ),
    "flat_map": (
        lambda d: d.batch(1).flat_map(lambda x: d.from_tensor_slices(x).repeat(2)),
        [0, 0, 10, 10, ERROR, 30, 30, 40, 40, END],
    ),
    "interleave": (
        lambda d: d.batch(1).interleave(lambda x: d.from_tensor_slices(x).repeat(2), 2),
        [0, 10, 0, 10, ERROR, 30, 40, 30, 40, END],
    ),
    "ignore_errors": (lambda d: d.ignore_errors(), [0, 10, 30, 40, END]),
    "ignore_errors, batch": (lambda d: d.ignore_errors().batch(2), [[0, 10], [30, 40], END]),
    "batch, ignore_errors": (lambda d: d.batch(2).ignore_errors(), [[0, 10], [40], END]),
}


@pytest.mark.parametrize("name", CASES)
def test_after_an_error_in_map(tf, name):
    stage, expected = CASES[name]
    dataset = tf.data.Dataset.range(5).map(tenfold_but(tf, 2))
    assert drain(tf, iter(stage(dataset))) == expected


def test_a_shuffle_hands_an_error_on(tf):
    dataset = tf.data.Dataset.range(8).map(tenfold_but(tf, 2)).shuffle(3, seed=1)
    found = drain(tf, iter(dataset))
    assert found.count(ERROR) == 1
    assert sorted(x for x in found if isinstance(x, int)) == [0, 10, 30, 40, 50, 60, 70]


def test_errors_of_stages_that_have_functions(tf):
    Dataset, fail = tf.data.Dataset, tenfold_but(tf, 2)
    numbers = Dataset.range(5)
    assert drain(tf, iter(numbers.filter(lambda x: fail(x) > 0))) == [1, ERROR, 3, 4, END]
    assert drain(tf, iter(numbers.take_while(lambda x: fail(x) < 40))) == [0, 1, ERROR, 3, END]
    zero = tf.constant(0, tf.int64)
    scanned = numbers.scan(zero, lambda s, x: (s + fail(x), s + x))
    assert drain(tf, iter(scanned)) == [0, 1, ERROR, 13, 44, END]
    grouped = numbers.group_by_window(lambda x: fail(x) % 20, lambda k, w: w.batch(2), 2)
    assert drain(tf, iter(grouped)) == [ERROR, [1, 3], [0, 4], END]
    inner = Dataset.range(2).interleave(lambda _: Dataset.range(4).map(fail), 2)
    expected = [0, 0, 10, 10, ERROR, 30, ERROR, 30, END]
    assert drain(tf, iter(inner)) == expected


def test_datasets_side_by_side_stay_so(tf):
    Dataset = tf.data.Dataset
    failing = Dataset.range(4).map(tenfold_but(tf, 2))
    pairs = drain(tf, iter(Dataset.zip((failing, Dataset.range(4)))))
    assert pairs == [(0, 0), (10, 1), ERROR, (30, 3), END]
    assert drain(tf, iter(Dataset.zip((failing, Dataset.range(2)))))[2:] == [ERROR, END]
    assert drain(tf, iter(Dataset.zip((Dataset.range(2), failing))))[2:] == [END]


def test_a_choice_of_datasets(tf):
    Dataset = tf.data.Dataset
    failing = Dataset.range(4).map(tenfold_but(tf, 2))
    chosen = Dataset.choose_from_datasets([failing, Dataset.range(9)], Dataset.range(2).repeat(4))
    assert drain(tf, iter(chosen)) == [0, 0, 10, 1, ERROR, 2, 30, 3, END]
    choices = Dataset.from_tensor_slices(tf.constant([0, 5, 1], tf.int64))
    wrong = Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(7, 9)], choices)
    assert drain(tf, iter(wrong)) == [0, ERROR, 7, END]


def test_batches_that_cannot_be_made(tf):
    growing = tf.data.Dataset.range(1, 7).map(lambda n: tf.zeros([n // 2], tf.int32))
    assert drain(tf, iter(growing.batch(2))) == [ERROR, ERROR, ERROR, END]
    assert drain(tf, iter(growing.skip(1).batch(2))) == [
        [[0], [0]],
        [[0, 0], [0, 0]],
        [[0] * 3],
        END,
    ]


class Counting:
    """An iterator that goes on after it has raised."""

    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count == 2:
            raise ValueError("two")
        if self.count > 4:
            raise StopIteration
        return self.count


def fails_at_last():
    yield 1
    raise ValueError("the last")


def yields_a_text():
    yield from (1, "a", 3)


@pytest.mark.parametrize(
    "make, expected",
    [
        (Counting, [1, ERROR, 3, 4, END]),
        (fails_at_last, [1, ERROR, END]),
        (yields_a_text, [1, ERROR, 3, END]),
    ],
)
def test_after_an_error_of_a_generator(tf, make, expected):
    signature = tf.TensorSpec([], tf.int64)
    dataset = tf.data.Dataset.from_generator(make, output_signature=signature)
    assert drain(tf, iter(dataset)) == expected
    assert drain(tf, iter(dataset.prefetch(2))) == expected
    assert drain(tf, iter(dataset.ignore_errors())) == [x for x in expected if x != ERROR]


def test_stop_iteration_in_a_function_is_not_the_end(tf):
    def stop_at_two(x):
        if x == 2:
            raise StopIteration
        return x

    dataset = tf.data.Dataset.range(4).map(lambda x: tf.py_function(stop_at_two, [x], tf.int64))
    assert drain(tf, iter(dataset)) == [0, 1, ERROR, 3, END]
    with pytest.raises(tf.errors.InvalidArgumentError, match="StopIteration"):
        list(dataset)


def test_a_loop_goes_on_after_an_error(tf):
    iterator = iter(tf.data.Dataset.range(5).map(tenfold_but(tf, 2)))
    found = []
    with pytest.raises(tf.errors.InvalidArgumentError):
        found.extend(int(x) for x in iterator)
    assert [int(x) for x in iterator] == [30, 40]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_get_next_as_optional_after_an_error(tf):
    iterator = iter(tf.data.Dataset.range(4).map(tenfold_but(tf, 2)))
    assert [int(iterator.get_next_as_optional().get_value()) for _ in range(2)] == [0, 10]
    with pytest.raises(tf.errors.InvalidArgumentError):
        iterator.get_next_as_optional()
    assert int(iterator.get_next_as_optional().get_value()) == 30
    assert not iterator.get_next_as_optional().has_value()


def test_an_iterator_inside_a_function_goes_on_after_an_error(tf):
    iterator = iter(tf.data.Dataset.range(6).map(tenfold_but(tf, 2)))

    @tf.function
    def following(iterator):
        return next(iterator)

    @tf.function
    def total(iterator):
        result = tf.constant(0, tf.int64)
        for x in iterator:
            result += x
        return result

    assert [int(following(iterator)) for _ in range(2)] == [0, 10]
    with pytest.raises(tf.errors.InvalidArgumentError):
        following(iterator)
    assert int(following(iterator)) == 30
    assert int(total(iterator)) == 90
    again = iter(tf.data.Dataset.range(6).map(tenfold_but(tf, 2)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        total(again)
    assert int(total(again)) == 120


def test_errors_ignored_inside_a_function(tf):
    dataset = tf.data.Dataset.range(6).map(tenfold_but(tf, 2)).ignore_errors()

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for x in dataset:
            result += x
        return result

    assert int(total()) == 130


@pytest.mark.gradtape_only
def test_a_call_that_meets_an_error_gives_back_what_it_took(tf):
    iterator = iter(tf.data.Dataset.range(1, 5).map(tenfold_but(tf, 2)))
    total = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def two(iterator):
        total.assign_add(next(iterator))
        return next(iterator)

    with pytest.raises(tf.errors.InvalidArgumentError):
        two(iterator)
    assert int(total) == 0
    assert int(two(iterator)) == 30
    assert int(total) == 10


def test_the_place_after_an_error_in_a_checkpoint(tf, tmp_path):
    def begun():
        return iter(tf.data.Dataset.range(6).map(tenfold_but(tf, 2)))

    iterator = begun()
    assert drain(tf, iterator, most=4) == [0, 10, ERROR, 30]
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "place"))
    again = begun()
    tf.train.Checkpoint(iterator=again).restore(path)
    assert drain(tf, again) == [40, 50, END]


def test_an_error_is_raised_where_there_is_no_next_element(tf):
    failing = tf.data.Dataset.range(2, 3).map(tenfold_but(tf, 2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        failing.get_single_element()
    with pytest.raises(tf.errors.InvalidArgumentError):
        failing.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(failing.as_numpy_iterator())


@pytest.mark.parametrize("count", [3, 7])
def test_a_wrong_number_of_elements_has_no_end(tf, count):
    checked = tf.data.Dataset.range(5).apply(tf.data.experimental.assert_cardinality(count))
    assert drain(tf, iter(checked), most=8) == ([*range(5)][:count] + [ERROR] * 5)[:8]
    with pytest.raises(tf.errors.FailedPreconditionError):
        list(checked)


@pytest.mark.gradtape_only
def test_the_users_exception_comes_as_it_is(tf):
    mine = ValueError("mine")

    def fail(x):
        if x == 1:
            raise mine
        return x

    iterator = iter(tf.data.Dataset.range(3).map(fail).batch(1).prefetch(1))
    assert next(iterator).numpy().tolist() == [0]
    with pytest.raises(ValueError, match="mine") as caught:
        next(iterator)
    assert caught.value is mine
    assert next(iterator).numpy().tolist() == [2]


@pytest.mark.gradtape_only
def test_ignored_errors_are_logged_if_wanted(tf, caplog):
    dataset = tf.data.Dataset.range(3).map(tenfold_but(tf, 2))
    with caplog.at_level(logging.WARNING, "gradtape"):
        assert drain(tf, iter(dataset.ignore_errors())) == [0, 10, END]
        assert not caplog.messages
        ignoring = tf.data.experimental.ignore_errors(log_warning=True)
        assert drain(tf, iter(dataset.apply(ignoring))) == [0, 10, END]
    assert "assert_none_equal" in caplog.text


def test_a_damaged_file_ends_and_the_next_one_comes(tf, tmp_path):
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            for record in b"one", b"two":
                writer.write(record)
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole[:-3])
    found = drain(tf, iter(tf.data.TFRecordDataset(paths)))
    assert found == [b"one", ERROR, b"one", b"two", END]
