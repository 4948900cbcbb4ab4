"""tf.strings: each text by itself, joined, split and counted."""

import numpy as np
import pytest


def listed(value):
    """Tensors and ragged tensors as nested lists."""
    if isinstance(value, tuple):
        return tuple(map(listed, value))
    if hasattr(value, "to_list"):
        return value.to_list()
    value = value.numpy()
    return value if isinstance(value, bytes) else value.tolist()


CASES = {
    "lower": (lambda s, tf: s.lower(["ABC", "ÀB"]), [b"abc", b"\xc3\x80b"]),
    "lower by Unicode": (lambda s, tf: s.lower("ÀB", encoding="utf-8"), "àb".encode()),
    "lower, not UTF-8": (
        lambda s, tf: s.lower(b"\xffAB\xc3", encoding="utf-8"),
        "\ufffdab\ufffd".encode(),
    ),
    "upper": (lambda s, tf: s.upper([["abc"], ["é"]]), [[b"ABC"], ["é".encode()]]),
    "upper by Unicode": (lambda s, tf: s.upper("straße", encoding="utf-8"), b"STRASSE"),
    "strip": (lambda s, tf: s.strip(b" \t\n\v\f\r\x00a \x1c"), b"\x00a \x1c"),
    "length": (lambda s, tf: s.length(["é", "", "abc"]), [2, 0, 3]),
    "length in characters": (
        lambda s, tf: s.length(["é", b"\xff\x80a"], unit="UTF8_CHAR"),
        [1, 2],
    ),
    "substr": (lambda s, tf: s.substr(["hello", "abc"], 1, 3), [b"ell", b"bc"]),
    "substr from the end": (lambda s, tf: s.substr("hello", -2, 5), b"lo"),
    "substr at the end": (lambda s, tf: s.substr("hello", 5, 2), b""),
    "substr to the end": (lambda s, tf: s.substr("hello", 1, -1), b"ello"),
    "substr, broadcast": (
        lambda s, tf: s.substr([["hello", "abc"], ["aaaa", "bbbb"]], [0, 1], [2, 2]),
        [[b"he", b"bc"], [b"aa", b"bb"]],
    ),
    "substr of a scalar at several places": (
        lambda s, tf: s.substr("hello", [[0], [1]], [[2], [2]]),
        [[b"he"], [b"el"]],
    ),
    "substr in characters": (
        lambda s, tf: s.substr("héllo", [1, -2], [2, 5], unit="UTF8_CHAR"),
        ["él".encode(), b"lo"],
    ),
    "join": (lambda s, tf: s.join([["a", "b"], "c"], separator="-"), [b"a-c", b"b-c"]),
    "join scalars": (lambda s, tf: s.join(["abc", "d"]), b"abcd"),
    "join nothing": (lambda s, tf: s.join([]), b""),
    "reduce_join": (
        lambda s, tf: s.reduce_join([["a", "b"], ["c", "d"]], separator="-"),
        b"a-b-c-d",
    ),
    "reduce_join along an axis": (
        lambda s, tf: s.reduce_join([["a", "b"], ["c", "d"]], axis=0),
        [b"ac", b"bd"],
    ),
    "reduce_join along two": (
        lambda s, tf: s.reduce_join([["a", "b"], ["c", "d"]], axis=[0, 1], separator="-"),
        b"a-c-b-d",
    ),
    "reduce_join along two, the other way": (
        lambda s, tf: s.reduce_join([["a", "b"], ["c", "d"]], axis=[1, 0], separator="-"),
        b"a-b-c-d",
    ),
    "reduce_join, kept": (
        lambda s, tf: s.reduce_join([["a", "b"], ["c", "d"]], axis=-1, keepdims=True),
        [[b"ab"], [b"cd"]],
    ),
    "reduce_join of nothing": (
        lambda s, tf: s.reduce_join(tf.zeros([0, 2], tf.string), axis=0),
        [b"", b""],
    ),
    "unsorted_segment_join": (
        lambda s, tf: s.unsorted_segment_join(
            ["this", "a", "test", "is"], [1, 0, 0, 1], 2, separator=":"
        ),
        [b"a:test", b"this:is"],
    ),
    "unsorted_segment_join of rows": (
        lambda s, tf: s.unsorted_segment_join([["a", "b"], ["c", "d"]], [1, 1], 3),
        [[b"", b""], [b"ac", b"bd"], [b"", b""]],
    ),
    "to_number": (
        lambda s, tf: s.to_number([" 1.5 ", "-2e3", "inf", "0x10", "1e400"]),
        [1.5, -2000.0, np.inf, 16.0, np.inf],
    ),
    "to_number of integers": (
        lambda s, tf: s.to_number([" 12 ", "+3", "-4"], tf.int64),
        [12, 3, -4],
    ),
    "split": (lambda s, tf: s.split(" a b  c "), [b"a", b"b", b"c"]),
    "split at most": (lambda s, tf: s.split(" a b  c ", maxsplit=1), [b"a", b"b  c "]),
    "split by": (lambda s, tf: s.split("a,,b,", ","), [b"a", b"", b"b", b""]),
    "split by two": (lambda s, tf: s.split("a--b-c", "--"), [b"a", b"b-c"]),
    "split of several": (lambda s, tf: s.split(["a b", "", "c"]), [[b"a", b"b"], [], [b"c"]]),
    "split of a matrix": (
        lambda s, tf: s.split([["a b", ""], ["c", "d e f"]]),
        [[[b"a", b"b"], []], [[b"c"], [b"d", b"e", b"f"]]],
    ),
    "split of none": (lambda s, tf: s.split(tf.zeros([0], tf.string)), []),
    "bytes_split": (lambda s, tf: s.bytes_split("hé"), [b"h", b"\xc3", b"\xa9"]),
    "bytes_split of several": (lambda s, tf: s.bytes_split(["ab", ""]), [[b"a", b"b"], []]),
    "ngrams": (lambda s, tf: s.ngrams(["a", "b", "c"], 2), [b"a b", b"b c"]),
    "ngrams of two widths": (
        lambda s, tf: s.ngrams([["a", "b", "c"], ["d", "e", "f"]], [1, 2], separator=""),
        [[b"a", b"b", b"c", b"ab", b"bc"], [b"d", b"e", b"f", b"de", b"ef"]],
    ),
    "ngrams, padded": (
        lambda s, tf: s.ngrams(
            tf.ragged.constant([["a", "b", "c"], [], ["d"]]), 2, pad_values=("L", "R")
        ),
        [[b"L a", b"a b", b"b c", b"c R"], [b"L R"], [b"L d", b"d R"]],
    ),
    "ngrams of the short": (
        lambda s, tf: s.ngrams(
            tf.ragged.constant([["a", "b", "c"], [], ["d"]]),
            [3, 4],
            pad_values="P",
            padding_width=1,
            preserve_short_sequences=True,
        ),
        [[b"P a b", b"a b c", b"b c P", b"P a b c", b"a b c P"], [], [b"P d P"]],
    ),
    "format": (
        lambda s, tf: s.format("a {} b {}", (tf.range(10), tf.constant([[1.5, 2], [3, 1 / 3]]))),
        b"a [0 1 2 ... 7 8 9] b [[1.5 2]\n [3 0.333333343]]",
    ),
    "format of text": (
        lambda s, tf: s.format("{}", tf.constant([b"a'b\\c\x01\xff\xc3\xa9\t\"x"])),
        b'["a\\\'b\\\\c\\001\xff\xc3\xa9\\t\\"x"]',
    ),
    "format of numbers": (
        lambda s, tf: s.format(
            "{} {} {}",
            (
                tf.constant([True, False]),
                tf.constant([1e10, 1e-7, 0.1, 1234567.0, 1e6]),
                tf.constant([1e10, 1 / 3], tf.float64),
            ),
            summarize=-1,
        ),
        b"[1 0] [1e+10 1e-07 0.1 1234567 1e+06] [10000000000 0.33333333333333331]",
    ),
    "format of blocks": (
        lambda s, tf: s.format("{}", tf.zeros([2, 2, 2], tf.int32)),
        b"[[[0 0]\n  [0 0]]\n\n [[0 0]\n  [0 0]]]",
    ),
    "as_string": (
        lambda s, tf: s.as_string([1.5, float("nan"), 1e20], width=12, fill="0"),
        [b"00001.500000", b"         nan", b"100000002004087734272.000000"],
    ),
    "as_string of text": (lambda s, tf: s.as_string(tf.constant("a"), width=3), b"  a"),
}


@pytest.mark.parametrize("name", CASES)
def test_values(tf, name):
    function, expected = CASES[name]
    assert listed(function(tf.strings, tf)) == expected


RAGGED = {
    "lower": (lambda s, rt: s.lower(rt), [[[b"a"], [b"b", b"cd"]], [[]]]),
    "substr": (lambda s, rt: s.substr(rt, 0, 1), [[[b"A"], [b"B", b"C"]], [[]]]),
    "length": (lambda s, rt: s.length(rt), [[[1], [1, 2]], [[]]]),
    "join": (lambda s, rt: s.join([rt, "x", rt]), [[[b"AxA"], [b"BxB", b"CDxCD"]], [[]]]),
    "regex_replace": (lambda s, rt: s.regex_replace(rt, "B", "z"), [[[b"A"], [b"z", b"CD"]], [[]]]),
    "to_hash_bucket_fast": (
        lambda s, rt: s.to_hash_bucket_fast(s.lower(rt), 10),
        [[[9], [2, 2]], [[]]],
    ),
    "split": (lambda s, rt: s.split(rt, "D"), [[[[b"A"]], [[b"B"], [b"C", b""]]], [[]]]),
    "unicode_split": (
        lambda s, rt: s.unicode_split(rt, "UTF-8"),
        [[[[b"A"]], [[b"B"], [b"C", b"D"]]], [[]]],
    ),
    "unicode_transcode": (
        lambda s, rt: s.unicode_transcode(rt, "UTF-8", "UTF-16-BE"),
        [[[b"\0A"], [b"\0B", b"\0C\0D"]], [[]]],
    ),
    "reduce_join": (lambda s, rt: s.reduce_join(rt, separator="-"), b"A-B-CD"),
    "reduce_join, axis -1": (
        lambda s, rt: s.reduce_join(rt, axis=-1, separator="-"),
        [[b"A", b"B-CD"], [b""]],
    ),
    "reduce_join, axis 1": (
        lambda s, rt: s.reduce_join(rt, axis=1, separator="-"),
        [[b"A-B", b"CD"], []],
    ),
    "reduce_join, axis 0": (
        lambda s, rt: s.reduce_join(rt, axis=0, separator="-"),
        [[b"A"], [b"B", b"CD"]],
    ),
    "reduce_join, two axes": (
        lambda s, rt: s.reduce_join(rt, axis=[1, 2], separator="-"),
        [b"A-B-CD", b""],
    ),
    "format": (lambda s, rt: s.format("{}", rt), b"[[['A'], ['B', 'CD']], [[]]]"),
    "as_string": (lambda s, rt: s.as_string(s.length(rt)), [[[b"1"], [b"1", b"2"]], [[]]]),
}


@pytest.mark.parametrize("name", RAGGED)
def test_ragged(tf, name):
    function, expected = RAGGED[name]
    rt = tf.ragged.constant([[["A"], ["B", "CD"]], [[]]])
    assert listed(function(tf.strings, rt)) == expected


ERRORS = {
    "another encoding": lambda s, tf: s.lower("a", encoding="utf-16"),
    "another unit": lambda s, tf: s.length("a", unit="WORD"),
    "substr behind the end": lambda s, tf: s.substr("hello", 6, 1),
    "substr before the start": lambda s, tf: s.substr("hello", -6, 1),
    "substr behind the last character": lambda s, tf: s.substr("é", 2, 1, unit="UTF8_CHAR"),
    "substr, shapes of pos and len": lambda s, tf: s.substr(["a", "b"], [0, 0], 1),
    "join, shapes": lambda s, tf: s.join([["a", "b"], [["c"]]]),
    "to_number of a word": lambda s, tf: s.to_number("one"),
    "to_number of nothing": lambda s, tf: s.to_number(""),
    "to_number of Python's": lambda s, tf: s.to_number("1_0"),
    "to_number, too large": lambda s, tf: s.to_number("3000000000", tf.int32),
    "to_number, not an integer": lambda s, tf: s.to_number("1.0", tf.int32),
    "to_number, dtype": lambda s, tf: s.to_number("1", tf.uint8),
    "segment ids": lambda s, tf: s.unsorted_segment_join(["a"], [3], 3),
    "buckets": lambda s, tf: s.to_hash_bucket_fast("a", 0),
    "key": lambda s, tf: s.to_hash_bucket_strong("a", 10, [1]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_refused(tf, name):
    with pytest.raises(tf.errors.InvalidArgumentError):
        ERRORS[name](tf.strings, tf)


def test_refused_by_python(tf):
    for wrong in (
        lambda: tf.strings.lower([1]),
        lambda: tf.strings.join("abc"),
        lambda: tf.strings.ngrams(["a"], 2, pad_values=1),
    ):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (
        lambda: tf.strings.format("{} {}", tf.constant(1)),
        lambda: tf.strings.ngrams(["a"], 0),
        lambda: tf.strings.ngrams(["a"], 2, padding_width=1),
        lambda: tf.strings.ngrams("a", 2),
        lambda: tf.strings.unicode_encode(tf.constant(65), "UTF-8"),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.strings.reduce_join([["a"]], axis=2)


def test_dtypes(tf):
    assert tf.strings.length("a").dtype == tf.int32
    assert tf.strings.to_hash_bucket("a", 5).dtype == tf.int64
    assert tf.strings.to_number("1").dtype == tf.float32
    assert tf.strings.unicode_decode("a", "UTF-8").dtype == tf.int32
    assert tf.strings.regex_full_match("a", "a").dtype == tf.bool
    assert tf.strings.split(["a b"]).dtype == tf.string
    assert tf.strings.split(["a b"]).row_splits.dtype == tf.int64


def test_print_writes_as_format(tf, tmp_path):
    path = tmp_path / "printed"
    stream = f"file://{path}"
    tf.print(tf.constant([True, False]), tf.constant([1.0, 2.5]), "a", output_stream=stream)
    tf.print(tf.constant([[1, 10], [100, 1]]), tf.constant("x"), output_stream=stream)
    tf.print(tf.constant("alone"), output_stream=stream)
    assert path.read_text() == '[1 0] [1 2.5] a\n[[1 10]\n [100 1]] "x"\nalone\n'


def test_equality_and_choice(tf):
    a, b = tf.constant(["a", "b", "b"]), tf.constant(["a", "c", "b"])
    assert (a == b).numpy().tolist() == [True, False, True]
    assert tf.not_equal(a, "b").numpy().tolist() == [True, False, False]
    assert tf.where(a == b, a, "?").numpy().tolist() == [b"a", b"?", b"b"]
    assert tf.concat([a, b], 0).shape == [6]
    assert tf.gather(b, [2, 0]).numpy().tolist() == [b"b", b"a"]
    assert tf.reshape(a, [3, 1])[1, 0].numpy() == b"b"
    assert tf.tile(a[:1], [2]).numpy().tolist() == [b"a", b"a"]
    values, places, counts = tf.unique_with_counts(a)
    assert values.numpy().tolist() == [b"a", b"b"] and counts.numpy().tolist() == [1, 2]
    assert places.numpy().tolist() == [0, 1, 1]
    assert tf.boolean_mask(a, [True, False, True]).numpy().tolist() == [b"a", b"b"]
    assert tf.zeros_like(a).numpy().tolist() == [b"", b"", b""]
    assert tf.zeros([2], tf.string).numpy().tolist() == [b"", b""]
    assert tf.pad(a, [[0, 1]]).numpy().tolist() == [b"a", b"b", b"b", b""]
    assert tf.stack([a, b]).shape == [2, 3] and tf.expand_dims(a, 0).shape == [1, 3]
    assert tf.transpose([["a", "b"]]).numpy().tolist() == [[b"a"], [b"b"]]
    assert tf.one_hot([0, 1], 2, "yes", "no", dtype=tf.string).numpy()[0].tolist() == [
        b"yes",
        b"no",
    ]
    assert tf.fill([2], "a").numpy().tolist() == [b"a", b"a"]
    assert tf.identity(a).dtype == tf.string
    assert tf.squeeze([["a"]]).numpy() == b"a"
    assert tf.repeat(a, 2).shape == [6] and tf.reverse(a, [0]).numpy().tolist() == [
        b"b",
        b"b",
        b"a",
    ]
    assert tf.scatter_nd([[1]], ["a"], [2]).numpy().tolist() == [b"", b"a"]
    assert (tf.constant("a") + tf.constant(["b"])).numpy().tolist() == [b"ab"]
