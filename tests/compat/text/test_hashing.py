"""Hashes of texts, number for number."""

import numpy as np
import pytest

TEXTS = [bytes(range(n % 256)) * (n // 255 + 1) for n in (0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 32)] + [
    b"x" * n for n in (33, 40, 63, 64, 65, 100, 127, 128, 129, 200, 1000)
]


def test_fast(tf):
    assert tf.strings.to_hash_bucket_fast(["a", "", "hello world this is long"], 2**40).numpy(
    ).tolist() == [436859794915, 254201053263, 887135497900]  # fmt: skip


def test_strong(tf):
    buckets = tf.strings.to_hash_bucket_strong(["a", "", "hello world this is long"], 2**40, [1, 2])
    assert buckets.numpy().tolist() == [201166748918, 231421486971, 513853014319]


def test_the_first_one(tf):
    buckets = tf.strings.to_hash_bucket(["a", "", "hello world this is long"], 1000)
    assert buckets.numpy().tolist() == [868, 899, 75]


def test_all_lengths(tf):
    most = 2**62 + 1
    fast = tf.strings.to_hash_bucket_fast(TEXTS, most).numpy()
    strong = tf.strings.to_hash_bucket_strong(TEXTS, most, [123456789012, -5]).numpy()
    first = tf.strings.to_hash_bucket(TEXTS, most).numpy()
    assert [sum(each.tolist()) for each in (fast, strong, first)] == [
        46416848812191390555, 54763057556440024116, 49950342788397532530,
    ]  # fmt: skip


def test_shapes(tf):
    assert tf.strings.to_hash_bucket_fast([["a"], ["b"]], 10).shape == [2, 1]
    assert tf.strings.to_hash_bucket_fast("a", 10).shape == []
    assert tf.strings.to_hash_bucket_strong(tf.zeros([0, 2], tf.string), 10, [1, 2]).shape == [0, 2]


def test_fingerprint(tf):
    assert tf.fingerprint(["a", "b"]).numpy().tolist() == [
        [227, 117, 223, 182, 101, 66, 69, 179],
        [22, 241, 200, 94, 33, 96, 178, 163],
    ]
    assert tf.fingerprint(tf.constant([[1, 2], [3, 4]])).numpy()[0].tolist() == [
        76, 18, 253, 133, 168, 204, 240, 10,
    ]  # fmt: skip
    rows = tf.fingerprint(tf.constant([["a", "bc"], ["d", "e"]])).numpy()
    assert rows.dtype == np.uint8 and rows[1].tolist() == [234, 62, 180, 96, 191, 13, 17, 56]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.fingerprint(["a"], method="md5")
