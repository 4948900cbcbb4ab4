"""from_generator: what is yielded is as the signature promises."""

import numpy as np
import pytest

from .examples import shapes, values


def test_generator_with_signature(tf, Dataset):
    def generate(n):
        for i in range(n):
            yield i, {"row": [float(i)] * i}

    signature = (
        tf.TensorSpec([], tf.int64),
        {"row": tf.TensorSpec([None], tf.float32)},
    )
    dataset = Dataset.from_generator(generate, output_signature=signature, args=(3,))
    wanted = [(0, {"row": []}), (1, {"row": [1.0]}), (2, {"row": [2.0, 2.0]})]
    assert values(dataset) == wanted == values(dataset)
    assert dataset.element_spec == signature
    with pytest.raises(TypeError, match="unknown"):
        len(dataset)


def test_generator_with_types_and_shapes(tf, Dataset):
    dataset = Dataset.from_generator(lambda: iter([(1, [2.0])]), (tf.int32, tf.float32), ([], [1]))
    assert values(dataset) == [(1, [2.0])]
    assert shapes(dataset.element_spec) == [(), (1,)]
    assert Dataset.from_generator(lambda: iter([1]), tf.int32).element_spec.shape.rank is None


def test_generator_converts_arrays(tf, Dataset):
    signature = tf.TensorSpec([], tf.float32)
    dataset = Dataset.from_generator(lambda: iter([np.float64(0.5)]), output_signature=signature)
    assert next(iter(dataset)).dtype == tf.float32


@pytest.mark.parametrize(
    "element, signature",
    [
        ([1, 2], [3]),
        ("a", []),
        ((1, 2), []),
    ],
)
def test_generator_that_breaks_its_promise(tf, Dataset, element, signature):
    spec = tf.TensorSpec(signature, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(Dataset.from_generator(lambda: iter([element]), output_signature=spec))


@pytest.mark.parametrize("element", [(1, 2, 3), [1, 2], {"a": 1, "b": 2}])
def test_generator_of_another_structure(tf, Dataset, element):
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(Dataset.from_generator(lambda: iter([element]), (tf.int32, tf.int32)))


def test_generator_arguments(tf, Dataset):
    for arguments in (
        {},
        {"output_types": tf.int32, "output_signature": tf.TensorSpec([], tf.int32)},
        {"output_signature": tf.int32},
    ):
        with pytest.raises(TypeError):
            Dataset.from_generator(lambda: iter([1]), **arguments)
    with pytest.raises(TypeError):
        Dataset.from_generator([1], tf.int32)
