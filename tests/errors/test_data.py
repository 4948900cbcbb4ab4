"""The messages of datasets, by their text."""

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


def rows(tf, n=3):
    return tf.data.Dataset.from_tensor_slices(np.arange(n))


def generated(tf, element, **promise):
    return list(tf.data.Dataset.from_generator(lambda: [element], **promise))


def ragged(tf):
    return tf.data.Dataset.range(1, 3).map(lambda n: tf.ones([n]))


CALLS = {
    # Sources
    "Dataset.from_tensor_slices: all tensors must have the same number of rows. Received "
    "shapes: [(2,), (1,)].": (
        ValueError,
        lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [3])),
    ),
    "Dataset.from_tensor_slices: a scalar has no rows. Received shapes: [()]. Leave it out, or "
    "give it an axis with x[None].": (
        ValueError,
        lambda tf: tf.data.Dataset.from_tensor_slices(1),
    ),
    "Dataset.from_tensor_slices: there is no tensor to take rows from. Received: ().": (
        ValueError,
        lambda tf: tf.data.Dataset.from_tensor_slices(()),
    ),
    "Dataset.from_generator: `generator` must be a function that returns an iterable, not [1]. "
    "Wrap it in a lambda.": (
        TypeError,
        lambda tf: tf.data.Dataset.from_generator([1], tf.int32),
    ),
    "Dataset.from_generator: say what the generator yields: "
    "output_signature=tf.TensorSpec(shape, dtype), or a tuple or dict of them.": (
        TypeError,
        lambda tf: tf.data.Dataset.from_generator(lambda: [1]),
    ),
    "Dataset.from_generator: give either `output_signature`, or `output_types` and "
    "`output_shapes`. Received: TensorSpec(shape=(), dtype=tf.int32, name=None), tf.int32, None.": (
        TypeError,
        lambda tf: tf.data.Dataset.from_generator(
            lambda: [1], tf.int32, output_signature=tf.TensorSpec([], tf.int32)
        ),
    ),
    "Dataset.from_generator: `output_signature` must consist of TypeSpecs, and holds tf.int32.": (
        TypeError,
        lambda tf: tf.data.Dataset.from_generator(lambda: [1], output_signature=tf.int32),
    ),
    "Dataset.from_generator: the generator yielded an element of shape (2,), where the "
    "signature promises (3,). Correct the signature: None is a dimension of any size.": (
        ValueError,
        lambda tf: generated(tf, [1, 2], output_signature=tf.TensorSpec([3], tf.int32)),
    ),
    "Dataset.from_generator: what the generator yields must be nested as "
    "(TensorSpec(shape=<unknown>, dtype=tf.int32, name=None), TensorSpec(shape=<unknown>, "
    "dtype=tf.int32, name=None)) is. Received: 1.": (
        ValueError,
        lambda tf: generated(tf, 1, output_types=(tf.int32, tf.int32)),
    ),
    "Dataset.from_generator: what the generator yields: expected values of int32, but received "
    "a string: 'a'.": (
        TypeError,
        lambda tf: generated(tf, "a", output_types=tf.int32),
    ),
    "Dataset.range: takes 1 to 3 integers, and received ().": (
        ValueError,
        lambda tf: tf.data.Dataset.range(),
    ),
    "Dataset.range: the step must not be zero. Received: (1, 5, 0).": (
        ValueError,
        lambda tf: tf.data.Dataset.range(1, 5, 0),
    ),
    "Dataset.zip: expected datasets, one or in tuples and dicts (a list is not a structure "
    "here). Received: [<Dataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>].": (
        TypeError,
        lambda tf: tf.data.Dataset.zip([rows(tf)]),
    ),
    "Dataset.choose_from_datasets: the elements of `choice_dataset` must be int64 scalars, and "
    "are TensorSpec(shape=(), dtype=tf.int32, name=None). Cast them with map.": (
        TypeError,
        lambda tf: tf.data.Dataset.choose_from_datasets(
            [rows(tf)], tf.data.Dataset.range(3, output_type=tf.int32)
        ),
    ),
    "Dataset.choose_from_datasets: `choice_dataset` gave 1, and there are 1 datasets. Choose "
    "from 0 to 0.": (
        ValueError,
        lambda tf: list(
            tf.data.Dataset.choose_from_datasets([rows(tf)], tf.data.Dataset.range(1, 3))
        ),
    ),
    "Dataset.choose_from_datasets: expected datasets. Received: []. Dataset.from_tensors makes "
    "one of a value.": (
        TypeError,
        lambda tf: tf.data.Dataset.choose_from_datasets([], tf.data.Dataset.range(3)),
    ),
    "Dataset.sample_from_datasets: expected datasets. Received: [1, 2]. Dataset.from_tensors "
    "makes one of a value.": (
        TypeError,
        lambda tf: tf.data.Dataset.sample_from_datasets([1, 2]),
    ),
    "Dataset.sample_from_datasets: `weights` must be 2 numbers, one for each dataset, not "
    "negative and not all zero. Received: [1.0, -1.0].": (
        ValueError,
        lambda tf: tf.data.Dataset.sample_from_datasets([rows(tf), rows(tf)], [1.0, -1.0]),
    ),
    # Choosing and ordering
    "Dataset.shuffle: `buffer_size` must be positive, or tf.data.UNKNOWN_CARDINALITY to hold "
    "all elements. Received: 0.": (
        ValueError,
        lambda tf: rows(tf).shuffle(0),
    ),
    "Dataset.shard: `index` must be from 0 to 1. Received: 2.": (
        ValueError,
        lambda tf: rows(tf).shard(2, 2),
    ),
    "Dataset.shard: `num_shards` must be greater than zero. Received: 0.": (
        ValueError,
        lambda tf: rows(tf).shard(0, 0),
    ),
    "Dataset.cache: elements are kept in memory only; leave `filename` out. Received: 'file'.": (
        NotImplementedError,
        lambda tf: rows(tf).cache("file"),
    ),
    "Dataset.concatenate: expected datasets. Received: [[1]]. Dataset.from_tensors makes one of "
    "a value.": (
        TypeError,
        lambda tf: rows(tf).concatenate([1]),
    ),
    "The elements of the datasets have no type in common: TensorSpec(shape=(), dtype=tf.int64, "
    "name=None) and TensorSpec(shape=(), dtype=tf.float32, name=None). Map one of them to the "
    "structure and the dtypes of the other.": (
        TypeError,
        lambda tf: rows(tf).concatenate(tf.data.Dataset.from_tensors(1.5)),
    ),
    "Dataset.filter: `predicate` must be a function, not True.": (
        TypeError,
        lambda tf: rows(tf).filter(True),
    ),
    "Dataset.filter: `predicate` must return one bool, and returned int64 of shape (). Compare, "
    "or reduce with tf.reduce_all or tf.reduce_any.": (
        ValueError,
        lambda tf: list(rows(tf).filter(lambda n: n)),
    ),
    "Dataset.take_while: `predicate` must return one bool, and returned bool of shape (2,). "
    "Compare, or reduce with tf.reduce_all or tf.reduce_any.": (
        ValueError,
        lambda tf: list(rows(tf).take_while(lambda n: tf.stack([True, False]))),
    ),
    "Dataset.unique: elements must be tensors of int32, int64 or string, and are "
    "TensorSpec(shape=(), dtype=tf.float32, name=None). Turn them into such with map.": (
        TypeError,
        lambda tf: tf.data.Dataset.from_tensors(1.5).unique(),
    ),
    # Batches and windows
    "Dataset.batch: `batch_size` must be greater than zero. Received: 0.": (
        ValueError,
        lambda tf: rows(tf).batch(0),
    ),
    "Dataset.batch: `batch_size` must be an integer, not 1.5.": (
        TypeError,
        lambda tf: rows(tf).batch(1.5),
    ),
    "Dataset.batch: component 0 of the elements has different shapes: (1,) at first and (2,) in "
    "element 1 of this batch. Give them one shape, or use padded_batch, which fills up the "
    "shorter ones.": (
        ValueError,
        lambda tf: list(ragged(tf).batch(2)),
    ),
    "Dataset.batch: the elements have different dtypes: int32 and float32. Cast them to one "
    "with map.": (
        TypeError,
        lambda tf: list(tf.data.Dataset.range(2).map(lambda n: 1.5 if n == 1 else 1).batch(2)),
    ),
    "Dataset.batch: the elements hold datasets, which cannot be stacked. Turn each into "
    "elements with flat_map first, e.g. flat_map(lambda window: window.batch(size)).": (
        TypeError,
        lambda tf: list(rows(tf).window(2).batch(2)),
    ),
    "Dataset.padded_batch: the padded shape (None, None) is not compatible with elements of "
    "shape (1,); all must have one rank.": (
        ValueError,
        lambda tf: list(ragged(tf).padded_batch(2, [None, None])),
    ),
    "Dataset.padded_batch: an element of this batch has size (2,), which is more than "
    "padded_shapes=(1,) allows. Use None for a dimension to fit the longest element.": (
        ValueError,
        lambda tf: list(ragged(tf).padded_batch(2, [1])),
    ),
    "Dataset.padded_batch: `padded_shapes` must have a shape for each component of the "
    "elements, and has ([1], [1]).": (
        TypeError,
        lambda tf: list(ragged(tf).padded_batch(2, ([1], [1]))),
    ),
    "Dataset.padded_batch: `padded_shapes` must be nested as (<tf.Tensor: shape=(1,), "
    "dtype=float32, numpy=array([1.], dtype=float32)>, <tf.Tensor: shape=(1,), dtype=float32, "
    "numpy=array([1.], dtype=float32)>) is. Received: [3].": (
        ValueError,
        lambda tf: list(ragged(tf).map(lambda x: (x, x)).padded_batch(2, [3])),
    ),
    "Dataset.unbatch: a scalar has no rows. Received shapes: [()]. Leave it out, or give it an "
    "axis with x[None].": (
        ValueError,
        lambda tf: list(rows(tf).unbatch()),
    ),
    "Dataset.unbatch: the elements hold a scalar, which has no rows. Leave it out with map, or "
    "give it an axis with x[None].": (
        ValueError,
        lambda tf: rows(tf).unbatch().element_spec,
    ),
    "Dataset.window: `size` must be greater than zero. Received: 0.": (
        ValueError,
        lambda tf: rows(tf).window(0),
    ),
    # Functions
    "Dataset.map: `map_func` must be a function, not 3.": (
        TypeError,
        lambda tf: rows(tf).map(3),
    ),
    "Dataset.flat_map: `map_func` must return a dataset, and returned <tf.Tensor: shape=(), "
    "dtype=int64, numpy=0>. Dataset.from_tensors makes one of a value.": (
        TypeError,
        lambda tf: list(rows(tf).flat_map(lambda n: n)),
    ),
    "Dataset.interleave: `cycle_length` must be greater than zero. Received: 0.": (
        ValueError,
        lambda tf: rows(tf).interleave(lambda n: rows(tf), cycle_length=0),
    ),
    "Dataset.scan: `scan_func` must return a pair (new state, output), and returned <tf.Tensor: "
    "shape=(), dtype=int32, numpy=0>.": (
        TypeError,
        lambda tf: list(rows(tf).scan(0, lambda state, n: state)),
    ),
    "Dataset.reduce: the new state is float32 where the present one is int32. Cast one of them "
    "with tf.cast.": (
        TypeError,
        lambda tf: rows(tf).reduce(0, lambda state, n: 1.5),
    ),
    "Dataset.reduce: the new state must be nested as the present one. The two structures are "
    "not nested alike: <tf.Tensor: shape=(), dtype=int32, numpy=0> and (<tf.Tensor: shape=(), "
    "dtype=int32, numpy=0>, <tf.Tensor: shape=(), dtype=int32, numpy=0>). One is a leaf where "
    "the other is a container.": (
        ValueError,
        lambda tf: rows(tf).reduce(0, lambda state, n: (state, state)),
    ),
    "Dataset.apply: `transformation_func` must return a dataset, and returned 3. "
    "Dataset.from_tensors makes one of a value.": (
        TypeError,
        lambda tf: rows(tf).apply(lambda dataset: 3),
    ),
    # Iterating
    "Dataset.prefetch: `buffer_size` must be >= 0 or tf.data.AUTOTUNE, not -2.": (
        ValueError,
        lambda tf: rows(tf).prefetch(-2),
    ),
    "Dataset.get_single_element: there must be one element, and there are more: use take(1).": (
        ValueError,
        lambda tf: rows(tf).get_single_element(),
    ),
    "Dataset.get_single_element: there must be one element, and there is none.": (
        ValueError,
        lambda tf: rows(tf, 0).get_single_element(),
    ),
    "The dataset is infinite, and has no len(). take(n) ends it.": (
        TypeError,
        lambda tf: len(rows(tf).repeat()),
    ),
    "The dataset length is unknown before it is iterated over. If you know it, say so: "
    "dataset.apply(tf.data.experimental.assert_cardinality(n)).": (
        TypeError,
        lambda tf: len(rows(tf).filter(lambda n: n > 1)),
    ),
    "get_next: there are no more elements. iter(dataset) begins anew; repeat() goes on.": (
        IndexError,
        lambda tf: iter(rows(tf, 0)).get_next(),
    ),
    "assert_cardinality: expected 4 elements, and there are only 3. Give their true number.": (
        RuntimeError,
        lambda tf: list(rows(tf).apply(tf.data.experimental.assert_cardinality(4))),
    ),
    "assert_cardinality: expected 2 elements, and there are more. Give their true number.": (
        RuntimeError,
        lambda tf: list(rows(tf).apply(tf.data.experimental.assert_cardinality(2))),
    ),
}


@pytest.mark.parametrize("message", CALLS)
def test_message(tf, message):
    kind, call = CALLS[message]
    with pytest.raises(kind) as error:
        call(tf)
    assert str(error.value) == message
