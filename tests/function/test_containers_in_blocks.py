"""Lists, dicts and sets that are changed in a loop or a branch that only the program decides on.

TensorFlow refuses to use the tensors of such a block after it. Here they may have values while the
function is traced: they are refused all the same.
"""

import pytest

pytestmark = pytest.mark.gradtape_only


def update_in_a_loop(tf, x):
    d = {"n": tf.constant(0.0)}
    for _ in tf.range(3):
        d.update(n=d["n"] + 1.0)
        last = x
    return d["n"] + last


def update_in_a_branch(tf, x):
    d = {"n": tf.constant(0.0)}
    if x > 0.0:
        d.update(n=d["n"] + 1.0)
    return d["n"]


def key_of_a_loop(tf, x):
    d = {"n": tf.constant(0.0)}
    for _ in tf.range(3):
        key = "n"
        d[key] = d[key] + 1.0
        last = x
    return last - d["n"]


def key_of_a_branch(tf, x):
    d = {"n": tf.constant(0.0)}
    if x > 0.0:
        key = "n"
        d[key] += 1.0
    return d["n"] * 2.0


def keys_in_a_branch(tf, x):
    d = {"n": tf.constant(0.0), "m": tf.constant(1.0)}
    if x > 0.0:
        for key in ("n", "m"):
            d[key] = d[key] + 1.0
    return d["n"] + d["m"]


def setdefault_in_both_branches(tf, x):
    d = {}
    if x > 0.0:
        d.setdefault("n", tf.constant(1.0))
    else:
        d.setdefault("n", tf.constant(5.0))
    return d["n"]


def pop_in_a_branch(tf, x):
    d = {"n": tf.constant(1.0)}
    if x > 0.0:
        d.pop("n")
    return d.get("n", 5.0) + x


def append_in_a_helper(tf, x):
    found = []

    def helper(value):
        found.append(value)
        return value

    for _ in tf.range(3):
        last = helper(tf.constant(1.0))
    return tf.add_n(found) + last + x


def insert_in_a_branch_of_a_loop(tf, x):
    held = [[tf.constant(1.0)]]
    for i in tf.range(3):
        if i < 2:
            held[0].insert(0, tf.constant(2.0))
        x = x * 2.0
    return tf.add_n(held[0]) + x


def in_one_choice(tf, x):
    d = {"n": tf.constant(0.0)}
    y = d.update(n=d["n"] + 1.0) or x if x > 0.0 else x
    return y + d["n"]


REFUSED = [
    update_in_a_loop, update_in_a_branch, key_of_a_loop, key_of_a_branch, keys_in_a_branch,
    setdefault_in_both_branches, pop_in_a_branch, append_in_a_helper, insert_in_a_branch_of_a_loop,
    in_one_choice,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
@pytest.mark.parametrize("x", [2.0, -2.0])
def test_what_it_holds_after_the_block_is_refused(tf, function, x):
    with pytest.raises(TypeError, match=r"an element of a (list|dict) that is changed by a loop"):
        tf.function(lambda x: function(tf, x))(tf.constant(x))


def dict_of_a_round(tf, x):
    y = x
    for _ in tf.range(3):
        d = {}
        d.update(a=tf.constant(1.0), b=x)
        for key in ("c", "d"):
            d[key] = d["a"] * 2.0
        y = y + d["a"] + d["b"] + d["c"] * d["d"]
    return y


def dict_of_a_branch(tf, x):
    if x > 0.0:
        d = {}
        d.update(a=tf.constant(1.0), b=x)
    else:
        d = {"a": tf.constant(3.0), "b": x * 2.0}
    return d["a"] + d["b"]


def list_of_a_helper(tf, x):
    def helper():
        found = []
        for j in range(3):
            found.append(tf.constant(1.0) * j)
        return found

    values = [tf.constant(0.0)] * 3
    for _ in tf.range(2):
        if x > 0.0:
            values = helper()
    return tf.add_n(values) + x


def elements_by_names_known_before(tf, x):
    d, held, key = {"n": tf.constant(0.0)}, [tf.constant(0.0)], "n"
    for _ in tf.range(3):
        d[key] = d[key] + 1.0
        held[0] += 2.0
        if x > 0.0:
            d[key] = d[key] * 2.0
    return d["n"] + held[0] + x


RIGHT = [dict_of_a_round, dict_of_a_branch, list_of_a_helper, elements_by_names_known_before]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
@pytest.mark.parametrize("x", [2.0, -2.0])
def test_those_of_the_block_itself_are_pythons(tf, function, x):
    wanted = function(tf, tf.constant(x)).numpy()
    assert tf.function(lambda x: function(tf, x))(tf.constant(x)).numpy() == wanted


def test_what_is_tried_changes_nothing(tf):
    notes, names, counts = [], {"first"}, {"rounds": 0}

    @tf.function
    def f(x):
        for _ in tf.range(3):
            notes.append("traced")
            names.add(f"name {len(names)}")
            counts.update(rounds=counts["rounds"] + 1)
            last = x * 2.0  # has no value before the loop: a round is tried
        return last

    assert f(tf.constant(2.0)).numpy() == 4.0
    assert notes == ["traced"]
    assert names == {"first", "name 1"}
    assert counts == {"rounds": 1}
