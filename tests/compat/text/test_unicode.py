"""Characters: decoded, encoded, split, and their scripts."""

import pytest

from .test_strings import listed

BROKEN = b"h\xc3\xa9l\xff\xe2\x82x"  # two places that are no UTF-8
MUSIC = "aé𝄞b"

CASES = {
    "decode": (lambda s: s.unicode_decode("Gö", "UTF-8"), [71, 246]),
    "decode several": (lambda s: s.unicode_decode(["Gö", ""], "UTF-8"), [[71, 246], []]),
    "decode what is broken": (
        lambda s: s.unicode_decode([BROKEN], "UTF-8"),
        [[104, 233, 108, 65533, 65533, 120]],
    ),
    "decode, replaced": (
        lambda s: s.unicode_decode([BROKEN], "UTF-8", replacement_char=63),
        [[104, 233, 108, 63, 63, 120]],
    ),
    "decode, ignored": (
        lambda s: s.unicode_decode(BROKEN, "UTF-8", errors="ignore"),
        [104, 233, 108, 120],
    ),
    "decode without control characters": (
        lambda s: s.unicode_decode(
            b"h\x01\x7f\n\xc2\x85", "UTF-8", replace_control_characters=True
        ),
        [104, 65533, 127, 65533, 133],
    ),
    "decode UTF-16": (
        lambda s: s.unicode_decode_with_offsets([MUSIC.encode("utf-16-be")], "UTF-16-BE"),
        ([[97, 233, 119070, 98]], [[0, 2, 4, 8]]),
    ),
    "decode a broken UTF-16": (
        lambda s: s.unicode_decode([b"\x00a\xd8\x00\x00b", b"\x00a\x00"], "UTF-16-BE"),
        [[97, 65533, 98], [97, 65533]],
    ),
    "decode another encoding": (lambda s: s.unicode_decode(b"\xe9a", "latin1"), [233, 97]),
    "decode a third": (lambda s: s.unicode_decode(b"\x93\xfa", "Shift_JIS"), [26085]),
    "decode with the mark at the start": (
        lambda s: s.unicode_decode(b"\xef\xbb\xbfa", "UTF-8"),
        [65279, 97],
    ),
    "offsets": (
        lambda s: s.unicode_decode_with_offsets([["ab", "é"], ["", "d"]], "UTF-8"),
        ([[[97, 98], [233]], [[], [100]]], [[[0, 1], [0]], [[], [0]]]),
    ),
    "offsets of what is ignored": (
        lambda s: s.unicode_split_with_offsets(BROKEN, "UTF-8", errors="ignore"),
        ([b"h", b"\xc3\xa9", b"l", b"x"], [0, 1, 3, 7]),
    ),
    "offsets of what is broken": (
        lambda s: s.unicode_split_with_offsets(BROKEN, "UTF-8"),
        ([b"h", b"\xc3\xa9", b"l", b"\xef\xbf\xbd", b"\xef\xbf\xbd", b"x"], [0, 1, 3, 4, 5, 7]),
    ),
    "split": (lambda s: s.unicode_split("aé", "UTF-8"), [b"a", b"\xc3\xa9"]),
    "split UTF-16": (
        lambda s: s.unicode_split([MUSIC.encode("utf-16-be")], "UTF-16-BE"),
        [[b"\x00a", b"\x00\xe9", b"\xd84\xdd\x1e", b"\x00b"]],
    ),
    "encode": (
        lambda s: s.unicode_encode([[104, 233], [0x1D11E, 65]], "UTF-8"),
        [b"h\xc3\xa9", b"\xf0\x9d\x84\x9eA"],
    ),
    "encode one": (lambda s: s.unicode_encode([104, 233], "UTF-16-BE"), b"\x00h\x00\xe9"),
    "encode what is none": (
        lambda s: s.unicode_encode([104, 0xD800, 0x110000, -1], "UTF-8"),
        "h\ufffd\ufffd\ufffd".encode(),
    ),
    "encode, ignored": (
        lambda s: s.unicode_encode([104, 0xD800, 0x110000], "UTF-8", errors="ignore"),
        b"h",
    ),
    "encode a block": (
        lambda s: s.unicode_encode([[[97, 98]], [[99, 100]]], "UTF-8"),
        [[b"ab"], [b"cd"]],
    ),
    "transcode": (
        lambda s: s.unicode_transcode([BROKEN + b"\x01"], "UTF-8", "UTF-16-BE"),
        [b"\x00h\x00\xe9\x00l\xff\xfd\xff\xfd\x00x\x00\x01"],
    ),
    "transcode, ignored": (
        lambda s: s.unicode_transcode(
            BROKEN + b"\x01", "UTF-8", "UTF-8", errors="ignore", replace_control_characters=True
        ),
        b"h\xc3\xa9lx",
    ),
    "transcode from another": (
        lambda s: s.unicode_transcode(b"h\xe9", "ISO-8859-1", "UTF-8"),
        b"h\xc3\xa9",
    ),
    "script": (
        lambda s: s.unicode_script([65, 0x3B1, -1, 0x110000, 0x30, 0xD800, 0x378, 0x4E00]),
        [25, 14, -1, -1, 0, 103, 103, 17],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(tf, name):
    function, expected = CASES[name]
    assert listed(function(tf.strings)) == expected


def test_ragged(tf):
    s = tf.strings
    assert listed(s.unicode_encode(tf.ragged.constant([[[97, 98], []], [[99]]]), "UTF-8")) == [
        [b"ab", b""],
        [b"c"],
    ]
    assert listed(s.unicode_script(tf.ragged.constant([[97, 98], [0x3B1]]))) == [[25, 25], [14]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: s.unicode_decode([BROKEN], "UTF-8", errors="strict"),
        lambda s: s.unicode_split(BROKEN, "UTF-8", errors="strict"),
        lambda s: s.unicode_decode("a", "nonsense"),
        lambda s: s.unicode_decode("a", "UTF-8", errors="foo"),
        lambda s: s.unicode_encode([104, 0xD800], "UTF-8", errors="strict"),
        lambda s: s.unicode_encode([104], "latin1"),
        lambda s: s.unicode_transcode("a", "UTF-8", "latin1"),
        lambda s: s.unicode_transcode("a", "foo", "UTF-8"),
        lambda s: s.unicode_split("a", "latin1"),
    ],
)
def test_refused(tf, wrong):
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong(tf.strings)


def test_every_script(tf):
    """One number for all code points: of each, its script and the code point itself."""
    scripts = tf.strings.unicode_script(tf.range(0x110000)).numpy()
    assert int((scripts.astype("int64") * range(0x110000)).sum()) == 62819330492450
