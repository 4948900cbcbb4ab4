"""CTC decoders."""

import numpy as np
import pytest


@pytest.fixture
def logits(tf):
    probabilities = np.array(
        [[[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]],
         [[0.5, 0.1, 0.4], [0.3, 0.6, 0.1]],
         [[0.1, 0.2, 0.7], [0.3, 0.6, 0.1]],
         [[0.8, 0.1, 0.1], [0.9, 0.05, 0.05]]]
    )  # fmt: skip
    return tf.constant(np.log(probabilities), tf.float32)


def test_the_best_label_of_each_step(tf, logits, parts, same):
    (labels,), score = tf.nn.ctc_greedy_decoder(logits, [4, 3])
    assert parts(labels) == ([[0, 0], [0, 1], [1, 0]], [0, 0, 1], [2, 2])
    assert labels.dtype == tf.int64
    same(score, [[-np.log(0.6 * 0.5 * 0.7 * 0.8)], [-np.log(0.6 * 0.6 * 0.6)]])
    (labels,), _ = tf.nn.ctc_greedy_decoder(logits, [4, 3], merge_repeated=False)
    assert labels.values.numpy().tolist() == [0, 0, 0, 1, 1]
    (labels,), _ = tf.nn.ctc_greedy_decoder(logits, [4, 3], blank_index=0)
    assert labels.values.numpy().tolist() == [2, 2, 1]
    with pytest.raises(tf.errors.OpError):
        tf.nn.ctc_greedy_decoder(logits, [4, 9])


def probability(steps, labels, blank):
    """The probability of labels: the sum over all ways to write them, one by one."""
    total = 0.0
    for path in np.ndindex(*[steps.shape[1]] * len(steps)):
        merged = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
        if [c for c in merged if c != blank] == labels:
            total += np.prod([step[c] for step, c in zip(steps, path, strict=True)])
    return total


def test_the_best_sequences_are_those_of_all(tf, logits):
    paths, scores = tf.nn.ctc_beam_search_decoder(logits, [4, 3], beam_width=50, top_paths=3)
    assert len(paths) == 3 and scores.shape == (2, 3)
    assert (np.diff(scores.numpy()) <= 0).all()
    for row, length in enumerate([4, 3]):
        steps = np.exp(logits.numpy()[:length, row])
        for path, score in zip(paths, scores.numpy()[row], strict=True):
            labels = [v for (r, _), v in zip(path.indices.numpy().tolist(),
                      path.values.numpy().tolist(), strict=True) if r == row]  # fmt: skip
            np.testing.assert_allclose(np.exp(score), probability(steps, labels, 2), rtol=1e-5)


def test_a_narrow_beam(tf, parts, same):
    logits = tf.constant(np.random.default_rng(0).normal(size=[6, 2, 4]) * 2, tf.float32)
    (labels,), score = tf.nn.ctc_beam_search_decoder(logits, [6, 4], beam_width=2)
    assert parts(labels) == ([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], [2, 0, 1, 2, 1], [2, 3])
    same(score, [[-2.1583266], [-0.8190671]])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.nn.ctc_beam_search_decoder(logits, [6, 4], beam_width=1, top_paths=2)


def test_what_falls_out_of_the_beam_is_not_grown_from(tf, parts, same):
    """TensorFlow's beam search knows of this sequence what wider beams do not lead to."""
    logits = tf.constant(
        [[[0.366, -1.739, -2.339, 0.689]], [[0.861, 3.808, -1.222, 0.821]],
         [[0.347, -0.435, -2.569, -2.949]], [[3.905, -0.97, 4.057, 1.428]],
         [[-1.233, 0.923, -2.998, -0.917]], [[0.065, 0.677, -0.978, -1.995]]]
    )  # fmt: skip
    (labels,), score = tf.nn.ctc_beam_search_decoder(logits, [6], beam_width=4)
    assert labels.values.numpy().tolist() == [1, 0, 1]
    same(score, [[-1.9747806]])


def test_repeated_labels_are_one_in_version_1(tf, parts):
    steps = np.full([3, 1, 3], 0.01)
    steps[[0, 2], 0, 0] = steps[1, 0, 2] = 0.98
    logits = tf.constant(np.log(steps), tf.float32)
    (labels,), _ = tf.nn.ctc_beam_search_decoder(logits, [3])
    assert labels.values.numpy().tolist() == [0, 0]
    (labels,), _ = tf.compat.v1.nn.ctc_beam_search_decoder(logits, [3])
    assert labels.values.numpy().tolist() == [0]


def test_a_function_decodes(tf, logits):
    decode = tf.function(lambda x: tf.nn.ctc_greedy_decoder(x, [4, 3])[0][0])
    assert decode(logits).values.numpy().tolist() == [0, 0, 1]
