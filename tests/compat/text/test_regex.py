"""Regular expressions: RE2's, not Python's."""

import pytest

REPLACED = [  # text, pattern, rewrite, result
    ("abxd", "x*", "-", "-a-b-d-"),
    ("aab", "a*?", "-", "-a-a-b-"),
    ("ab", "", "x", "xaxbx"),
    ("foo bar", r"(\w)(\w+)", r"\2\1\\\0", "oof\\foo arb\\bar"),
    ("a.b!c", "[[:punct:]]", "", "abc"),
    ("a.b!c", "[[:^punct:]]", "", ".!"),
    ("aéb", ".", "x", "xxx"),
    ("a\n", "a$", "x", "a\n"),
    ("a\na", "(?m)a$", "x", "x\nx"),
    ("a\na", ".", "x", "x\nx"),
    ("a\na", "(?s).", "x", "xxx"),
    ("a\va", r"\s", "x", "a\va"),
    ("a\va", r"[\S]", "x", "xxx"),
    ("\u06633", r"\d", "x", "\u0663x"),
    ("\u06633", r"\D", "x", "x3"),
    ("é é", r"\w", "x", "é é"),
    ("ÀàK", "(?i)à|k", "x", "xxx"),
    ("aaaaa", "a{2,3}", "x", "xx"),
    ("a{,3}", "a{,3}", "x", "x"),
    ("a{b}", "{b}", "x", "ax"),
    ("a.b", r"\Q.\E", "x", "axb"),
    ("]ab", "[]a]", "x", "xxb"),
    ("a-b", "[a-]", "x", "xxb"),
    ("a[b&&c--d", r"[[&&--]", "x", "axbxxcxxd"),
    ("a^b", "[^^]", "x", "x^x"),
    ("aaa", "(?U)a+", "x", "xxx"),
    ("aaa", "(?U)a+?", "x", "x"),
    ("aaa", "(?P<n>a)", r"x\1", "xaxaxa"),
    ("ab", r"\z", "x", "abx"),
    ("aé", r"\x{e9}|\x61", "x", "xx"),
    ("a\0", r"\0|\141", "x", "xx"),
    ("aé1β", r"\p{Greek}|\pN", "x", "aéxx"),
    ("aé1β", r"\P{L}", "x", "aéxβ"),
    ("aé1β", r"[^\p{Latin}]", "x", "aéxx"),
    ("tab\there", r"\t", " ", "tab here"),
    ("one two", r"\b", "|", "|one| |two|"),
    ("ab12", r"(?:a|b)+(\d*)", r"<\1>", "<12>"),
    ("Hello, World!", r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']", "", "Hello World"),
    ("a(?:b", r"\(\?", "", "a:b"),
    ("aAbB", "(?i:a)b", "x", "axB"),
    ("aAbB", "(?i:A)", "x", "xxbB"),
    ("ab", "(a)|(b)", r"[\1\2]", "[a][b]"),
]


@pytest.mark.parametrize("text, pattern, rewrite, result", REPLACED)
def test_replaced(tf, text, pattern, rewrite, result):
    assert tf.strings.regex_replace(text, pattern, rewrite).numpy().decode() == result


def test_the_first_alone(tf):
    replaced = tf.strings.regex_replace(["aaa", "b"], "a", "x", replace_global=False)
    assert replaced.numpy().tolist() == [b"xaa", b"b"]


def test_bytes_that_are_no_text_match_nothing(tf):
    assert tf.strings.regex_replace(b"a\xffb", ".", "x").numpy() == b"x\xffx"
    assert tf.strings.regex_replace(b"a\xffb", "[^a]", "x").numpy() == b"a\xffx"
    assert tf.strings.regex_replace(b"a\xffb", r"\W", "x").numpy() == b"a\xffb"


def test_full_match(tf):
    matches = tf.strings.regex_full_match
    assert matches(["ab", "abc", "a"], "a|ab").numpy().tolist() == [True, False, True]
    assert matches([["TF lib"], ["lib TF"]], ".*lib$").numpy().tolist() == [[True], [False]]
    assert not matches("a\n", "a$").numpy()


@pytest.mark.parametrize(
    "pattern",
    [
        "(a", "a)", "a(?=a)", r"(a)\1", "a++", r"[a-\d]", r"\Z", r"\h", "[b-a]", "*a", "[a",
        r"\p{Klingon}", "[[:word:", "(?<=a)b", "a{2}{3}", "a{1001}", "\\",
    ],
)  # fmt: skip
def test_what_re2_has_not(tf, pattern):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.regex_replace("aaa", pattern, "")


def test_the_pattern_is_one_text(tf):
    assert tf.strings.regex_replace("ab", tf.constant("a"), tf.constant("x")).numpy() == b"xb"
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.regex_replace("ab", ["a"], "x")


@pytest.mark.gradtape_only
def test_what_differs(tf):
    # TensorFlow writes to the log, and replaces nothing or everything by nothing.
    for rewrite in (r"\2", r"\q"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="`rewrite`"):
            tf.strings.regex_replace("aaa", "(a)", rewrite)
    with pytest.raises(tf.errors.UnimplementedError, match="one byte of a character"):
        tf.strings.regex_replace("é", r"\C", "")
