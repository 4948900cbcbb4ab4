"""AutoGraph where it goes beyond TensorFlow's, and what it says where it does not go."""

import functools
import linecache
import os
import re
import threading
import traceback

import numpy as np
import pytest

from .test_autograph import gradient

pytestmark = pytest.mark.gradtape_only


def test_return_in_a_loop(tf):
    @tf.function
    def first_above(x, limit):
        for value in x:
            if value > limit:
                return value * value
        return -1.0

    x = tf.constant([1.0, 3.0, 2.0, 5.0])
    assert first_above(x, tf.constant(2.5)).numpy() == 9.0
    assert first_above(x, tf.constant(4.0)).numpy() == 25.0
    assert first_above(x, tf.constant(9.0)).numpy() == -1.0
    assert first_above.experimental_get_tracing_count() == 1


def test_return_in_a_loop_whose_first_round_is_known_not_to(tf):
    @tf.function
    def by_range(x, n):
        for i in tf.range(n):
            if i > 1:
                return x * tf.cast(i, tf.float32)
        return x

    @tf.function
    def by_while(x, n):
        i = tf.constant(0)
        while i < n:
            if i == 2:
                return x * 5.0
            i += 1
        return x

    x = tf.constant(3.0)
    assert [float(by_range(x, tf.constant(n))) for n in (4, 1)] == [6.0, 3.0]
    assert [float(by_while(x, tf.constant(n))) for n in (4, 1)] == [15.0, 3.0]


def test_return_of_text_in_a_loop_of_the_program(tf):
    @tf.function
    def name_of(n):
        for i in tf.range(n):
            if i > 1:
                return "large"
        return "small"

    with pytest.raises(TypeError, match="returns 'large' from a loop of which only the program"):
        name_of(tf.constant(4))


def test_return_in_a_nested_loop(tf):
    @tf.function
    def find(table, wanted):
        for i in tf.range(3):
            for j in tf.range(2):
                if table[i, j] == wanted:
                    return i * 10 + j
        return -1

    table = tf.constant([[1, 2], [3, 4], [5, 6]])
    assert [find(table, tf.constant(k)).numpy() for k in (1, 4, 5, 7)] == [0, 11, 20, -1]


def test_gradient_of_a_return_in_a_loop(tf):
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(5):
            y = y * x
            if y > 30.0:
                return y
        return y * 100.0

    assert gradient(tf, f, 3.0) == (81.0, 108.0)
    y, slope = gradient(tf, f, 1.0)
    assert (y, slope) == (100.0, 600.0)


def test_break_in_a_python_loop(tf):
    @tf.function
    def f(x):
        for i in range(5):
            if x > 10.0:
                break
            x = x * (i + 2.0)
        return x

    assert f(tf.constant(1.0)).numpy() == 24.0
    assert f(tf.constant(20.0)).numpy() == 20.0


def test_assert(tf):
    @tf.function
    def f(x):
        assert x > 0.0, "must be positive"
        return x * 2.0

    assert f(tf.constant(1.0)).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        f(tf.constant(-1.0))


def test_error_of_the_user_comes_with_its_type_and_line(tf):
    class Refused(Exception):
        def __init__(self, code, reason):
            super().__init__(code, reason)
            self.code = code

    def check(x):
        if x.shape == ():
            raise Refused(7, "a scalar")  # this line
        return x

    @tf.function
    def f(x):
        if x > 0.0:
            x = check(x)
        return x

    with pytest.raises(Refused) as caught:
        f(tf.constant(1.0))
    assert caught.value.code == 7


def test_traceback_names_the_users_lines(tf):
    def check(x):
        if x > 0.0:
            raise KeyError("here")
        return x

    @tf.function
    def f(x):
        for _ in tf.range(2):
            x = check(x)
        return x

    with pytest.raises(KeyError) as caught:
        f(tf.constant(1.0))
    frames = traceback.extract_tb(caught.value.__traceback__)
    lines = [frame.line for frame in frames if frame.filename == __file__]
    assert lines[1:] == [
        "for _ in tf.range(2):",
        "x = check(x)",
        "if x > 0.0:",
        'raise KeyError("here")',
    ]
    assert [frame.name for frame in frames if frame.filename == __file__][1:] == [
        "f", "f", "check", "check"
    ]  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_list_in_a_loop_over_a_tensor(tf, axis):
    @tf.function
    def f(x):
        out = []
        state = tf.zeros([2])
        for row in x:
            state = 0.5 * state + row
            out.append(state)
        return tf.stack(out, axis=axis), out[1], len(out)

    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    states = np.array([[1.0, 2.0], [3.5, 5.0], [6.75, 8.5]])
    stacked, second, count = f(tf.constant(x))
    np.testing.assert_allclose(stacked, np.stack(list(states), axis))
    np.testing.assert_allclose(second, states[1])
    assert count.numpy() == 3
    y, slope = gradient(tf, lambda x: tf.reduce_sum(f(x)[0]), x)
    assert y == 26.75
    np.testing.assert_allclose(slope, [[1.75, 1.75], [1.5, 1.5], [1.0, 1.0]])


def test_several_appended_to_a_list(tf):
    @tf.function
    def f(x):
        out = [x[0]]
        other = out
        for value in x:
            out.append(value * 2.0)
            out.append(value * 3.0)
        return tf.stack(other), out[-1]

    stacked, last = f(tf.constant([1.0, 2.0]))
    assert stacked.numpy().tolist() == [1.0, 2.0, 3.0, 4.0, 6.0]
    assert last.numpy() == 6.0


def test_list_of_pairs(tf):
    @tf.function
    def f(x):
        pairs = []
        for value in x:
            pairs.append((value, -value))
        return pairs[1][1], len(pairs)

    y, count = f(tf.constant([1.0, 2.0]))
    assert (y.numpy(), count.numpy()) == (-2.0, 2)


def test_list_in_both_branches(tf):
    @tf.function
    def f(x):
        out = [x]
        if x > 0.0:
            out.append(x + 1.0)
        else:
            out.append(x - 1.0)
        return tf.stack(out)

    assert f(tf.constant(2.0)).numpy().tolist() == [2.0, 3.0]
    assert f(tf.constant(-2.0)).numpy().tolist() == [-2.0, -3.0]


def test_list_in_one_branch(tf):
    @tf.function
    def f(x):
        out = []
        if x > 0.0:
            out.append(x)
        return x

    f(tf.constant(1.0))  # the list is not used afterwards

    @tf.function
    def g(x):
        out = []
        if x > 0.0:
            out.append(x)
        return tf.stack(out)

    with pytest.raises(TypeError, match=r"`out`.*TensorArray"):
        g(tf.constant(1.0))


def test_list_in_a_loop_with_a_break(tf):
    @tf.function
    def f(x):
        out = []
        for value in x:
            if value > 2.0:
                break
            out.append(value)
        return tf.stack(out)

    with pytest.raises(TypeError, match=r"test_autograph_beyond.py, line \d+: `out`.*TensorArray"):
        f(tf.constant([1.0, 2.0, 3.0]))


def test_zip_and_enumerate(tf):
    rounds = []

    @tf.function
    def f(x, y):
        total = 0.0
        for i, (a, b) in enumerate(zip(x, y, strict=False)):
            rounds.append(i)
            total += a * b * tf.cast(i, tf.float32)
        for i, a in enumerate(x, 10):
            total += a * tf.cast(i, tf.float32)
        return total

    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([4.0, 5.0])
    assert f(x, y).numpy() == 10.0 + 10.0 + 22.0 + 36.0
    assert len(rounds) == 1


def test_print(tf, capfd):
    @tf.function
    def f(x):
        print("traced", 1)
        print("value", x, sep=": ")
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    first = "value: tf.Tensor(1.0, shape=(), dtype=float32)\n"
    assert capfd.readouterr().out == "traced 1\n" + first + first.replace("1.0", "2.0")


def test_built_in_functions_of_tensors(tf):
    @tf.function
    def f(x):
        largest = max(x[0], x[1], 2.5)
        return (int(x[0]), float(int(x[1])), largest, min(x), any(x > 2.0), all(x > 2.0),
                bool(x[0]), abs(-x[0]), len(x))  # fmt: skip

    values = [y.numpy() for y in f(tf.constant([1.5, 3.5]))]
    assert values == [1, 3.0, 3.5, 1.5, True, False, True, 1.5, 2]


def test_while_that_begins_as_pythons(tf):
    @tf.function
    def f(x):
        while True:
            x = x * 2.0
            if x > 10.0:
                break
        return x

    assert f(tf.constant(1.0)).numpy() == 16.0
    assert f(tf.constant(8.0)).numpy() == 16.0


def test_loop_that_gives_no_value(tf):
    @tf.function
    def f(n):
        i = 0
        while i < n:
            last = i
            i += 1
        return last

    assert f(tf.constant(3)).numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"at least once.*last"):
        f(tf.constant(0))


def test_shape_that_changes_in_a_loop(tf):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.concat([x, x], 0)
        return x

    with pytest.raises(
        ValueError, match=r"test_autograph_beyond.py, line \d+: `x` has shape \(2,\)"
    ):
        f(tf.constant([1.0, 2.0]))


def test_shape_that_differs_between_branches(tf):
    def f(x):
        if x[0] > 0.0:
            x = x[:1]
        return x

    compiled = tf.function(f, jit_compile=True)
    words = r"line \d+: `x` has shape \(1,\) in the main branch"
    with pytest.raises(tf.errors.DynamicSizeError, match=words):
        compiled(tf.constant([1.0, 2.0]))
    assert gradient(tf, lambda x: tf.reduce_sum(tf.function(f)(x)), [1.0, 2.0])[0] == 1.0
    assert gradient(tf, lambda x: tf.reduce_sum(tf.function(f)(x)), [-1.0, 2.0])[0] == 1.0


def test_string_that_differs_between_branches(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            name = "a"
        else:
            name = "b"
        return x, name

    assert f(tf.constant(1.0))[1].numpy() == b"a"
    assert f(tf.constant(-1.0))[1].numpy() == b"b"
    with pytest.raises(tf.errors.TextError, match="`name` is text that depends on a condition"):
        tf.function(f.python_function, jit_compile=True)(tf.constant(1.0))


def test_vector_as_a_condition(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            x = -x
        return x

    with pytest.raises(ValueError, match=r"line \d+: the truth value .* is ambiguous"):
        f(tf.constant([1.0, 2.0]))


def test_gradient_of_an_unbounded_while(tf):
    @tf.function
    def f(x):
        while x < 10.0:
            x = x * x
        return x

    assert gradient(tf, f, 2.0) == (16.0, 32.0)  # of x to the power of 4


def test_python_state_is_restored_after_an_error(tf):
    class Holder:
        value = 1.0

    holder = Holder()

    @tf.function
    def f(x):
        if x > 0.0:
            holder.value = x
        else:
            raise KeyError("no")

    with pytest.raises(KeyError):
        f(tf.constant(1.0))
    assert holder.value == 1.0


def test_source_that_is_not_there(tf):
    namespace = {}
    exec("def f(x):\n    if x > 0.0:\n        return x\n    return -x\n", namespace)
    f = tf.function(namespace["f"])
    with pytest.raises(TypeError, match="AutoGraph left f as it is: its source code is not"):
        f(tf.constant(1.0))


def test_source_of_another_exec(tf, monkeypatch):
    """As in Python 3.13, where `python -c` registers its program as the source of "<string>"."""
    other = ["def f(x):\n", "    if x > 0.0:\n", "        return x * 2.0\n", "    return x\n"]
    monkeypatch.setitem(linecache.cache, "<string>", (90, None, other, "<string>"))
    namespace = {}
    exec("def f(x):\n    return x + 1.0 if x > 0.0 else x\n", namespace)
    with pytest.raises(TypeError, match="AutoGraph left f as it is: its source code is not"):
        tf.function(namespace["f"])(tf.constant(1.0))


def test_statement_that_is_not_converted(tf):
    @tf.function
    def f(x, kind):
        match kind:
            case "double":
                x = x * 2.0
        if x > 0.0:
            x = -x
        return x

    with pytest.raises(TypeError, match="f as it is: it has a `match` statement"):
        f(tf.constant(1.0), "double")

    @tf.function
    def g(x, kind):
        match kind:
            case "double":
                return x * 2.0

    assert g(tf.constant(1.0), "double").numpy() == 2.0


def test_lambdas_on_one_line(tf):
    f, g = tf.function(lambda x: x if x > 0 else -x), tf.function(lambda x: 1 if x > 0 else 2)
    assert (f(tf.constant(-3)).numpy(), g(tf.constant(-3)).numpy()) == (3, 2)


def test_to_code_and_to_graph(tf):
    def f(x):
        if x > 0:
            x = -x
        return x

    assert "if_stmt" in tf.autograph.to_code(f)
    assert tf.autograph.to_graph(f)(tf.constant(2)).numpy() == -2
    assert tf.autograph.to_graph(f)(2) == -2
    assert tf.autograph.to_graph(f).__name__ == "f"


def test_libraries_are_not_converted(tf):
    from gradtape._src.function.autograph import conversion as autograph

    assert not autograph._is_users(np.__file__)
    assert not autograph._is_users(functools.__file__)
    assert not autograph._is_users(tf.__file__)
    assert autograph._is_users(__file__)


def test_none_in_structures_of_branches(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            state = {"a": x, "b": [x + 1.0, None]}
        else:
            state = {"a": -x, "b": [x - 1.0, None]}
        return state["a"], state["b"][0], state["b"][1]

    a, b, nothing = f(tf.constant(-2.0))
    assert (a.numpy(), b.numpy(), nothing) == (2.0, -3.0, None)


def test_first_round_sees_none(tf):
    @tf.function
    def f(x):
        state = None
        for value in x:
            if state is None:
                state = value
            else:
                state = state * value + 1.0
        return state

    x = np.array([2.0, 3.0, 4.0], np.float32)
    y, slope = gradient(tf, f, x)
    assert y == 29.0
    assert slope.tolist() == [12.0, 8.0, 7.0]


def test_none_before_a_while(tf):
    @tf.function
    def f(x):
        y = None
        while x > 1.0:
            x = x / 2.0
            y = x
        return y

    with pytest.raises(TypeError, match="`y` is None before the loop"):
        f(tf.constant(8.0))


def test_private_names(tf):
    class Layer:
        def __init__(self):
            self.__scale = 3.0

        def __call__(self, x):
            return x * self.__scale if x > 0.0 else x

    layer = Layer()

    @tf.function
    def f(x):
        return layer(x)

    assert f(tf.constant(2.0)).numpy() == 6.0


def test_threads(tf):
    def magnitude(x):
        if x > 0.0:
            return x
        return -x

    results = []

    def work(value):
        function = tf.function(lambda x: magnitude(x) * 2.0)
        results.append(function(tf.constant(value)).numpy())

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(-4, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 8.0]


def test_variable_of_a_branch_that_does_not_return(tf):
    @tf.function
    def f(x):
        try:
            if x > 0.0:
                return x * 2.0
            y = x * 3.0
        finally:
            pass
        return y

    assert gradient(tf, f, 1.0) == (2.0, 2.0)
    assert gradient(tf, f, -1.0) == (-3.0, 3.0)


def test_number_that_a_loop_makes_a_tensor_of_is_named(tf):
    @tf.function
    def f(x):
        total = 0
        for value in x:
            total = total + value
        return total

    with pytest.raises(TypeError) as caught:
        f(tf.constant([1.0, 2.0]))
    assert (
        "`total` is a tensor of int32, because it begins as the number 0"
        in caught.value.__notes__[0]
    )


@pytest.mark.parametrize("result", ["tf.where(x > 0.0)", "1.0 if x > 0.0 else x"])
def test_line_of_code_beside_the_package(tf, monkeypatch, result):
    """The name of its file begins with that of gradtape's folder, and yet it is the user's."""
    filename = os.path.dirname(tf.__file__) + "_user.py"
    lines = ["def f(x):\n", f"    return {result}\n"]
    monkeypatch.setitem(linecache.cache, filename, (0, None, lines, filename))
    namespace = {"tf": tf}
    exec(compile("".join(lines), filename, "exec"), namespace)
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(filename)}, line 2: "):
        tf.function(namespace["f"], jit_compile=True)(tf.constant([1.0, 2.0]))


def down(x):
    if x <= 0:
        return x
    return down(x - 1)


def down_for_ever(x):
    return down_for_ever(x - 1)


def test_a_recursion_that_a_tensor_decides_is_explained(tf):
    with pytest.raises(RecursionError, match=r"test_autograph_beyond.py, line \d+: the recursion"):
        tf.function(down)(tf.constant(3))
    with pytest.raises(RecursionError, match=r"test_autograph_beyond.py, line \d+: the recursion"):
        tf.function(down_for_ever)(tf.constant(3))


converted = 3.0


def test_a_global_name_is_the_users_whatever_it_is(tf):
    f = tf.function(lambda x: x * converted if x > 0.0 else x)
    assert f(tf.constant(2.0)).numpy() == 6.0


def _one_by_one(x):
    if x > 0.0:
        yield x
    yield 2.0 * x


def _with_match(x, mode):
    match mode:
        case "absolute":
            y = x if x > 0.0 else -x
            if x > 1.0:
                y = y * y
        case _:
            y = x
    return y


def _with_else(x):
    while x < 3.0:
        x = x + 1.0
    else:
        x = 10.0 * x
    return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            lambda x: sum(_one_by_one(x)),
            "_one_by_one as it is: it is a generator",
        ),
        (lambda x: _with_match(x, "absolute"), "_with_match as it is: it has a `match` statement"),
        (_with_else, "_with_else as it is"),
    ],
)
def test_what_is_left_as_python_says_so_where_a_tensor_decides(tf, function, reason):
    with pytest.raises(tf.errors.SymbolicTensorError, match=reason):
        tf.function(function)(tf.constant(1.0))


def test_match_and_else_are_pythons_where_no_tensor_decides(tf):
    @tf.function
    def f(x, mode):
        match mode:
            case "double":
                y = 2.0 * x
            case ("times", n):
                y = n * x
            case _:
                y = x
        for i in range(3):
            if i == mode:
                break
        else:
            y = y + 100.0
        return y

    x = tf.constant(1.0)
    assert [float(f(x, mode)) for mode in ("double", ("times", 5.0), 1, 7)] == [102, 105, 1, 101]


def test_a_choice_inside_of_a_choice(tf):
    @tf.function
    def f(x):
        y = x if x > 5.0 else x * 2.0 if x > 1.0 else x * 3.0
        return y * (1.0 if (x if x > 0.0 else -x) > 2.0 else 10.0)

    assert [float(f(tf.constant(x))) for x in (6.0, 3.0, 1.5, -3.0)] == [6.0, 6.0, 30.0, -9.0]


def test_a_loop_that_only_return_ends(tf):
    @tf.function
    def f(x):
        while True:
            x = x * 2.0
            if x > 9.0:
                return x
            if x < -9.0:
                return -2.0 * x

    assert gradient(tf, f, 2.0) == (16.0, 8.0)
    assert gradient(tf, f, -3.0) == (24.0, -8.0)


def test_a_list_of_the_caller_grows_in_a_branch(tf):
    def penalise(x, losses):
        if x > 0.0:
            losses.append(x * 2.0)
        else:
            losses.append(-x)

    def penalise_and_return(x, losses):
        if x > 0.0:
            losses.append(x * 2.0)
            return x
        losses.append(-x)
        return -x

    def penalise_some(x, losses):
        if x > 0.0:
            losses.append(x)

    @tf.function
    def f(x, penalty):
        losses = [x]
        penalty(x, losses)
        return tf.add_n(losses)

    for penalty in (penalise, penalise_and_return):
        assert gradient(tf, lambda x, p=penalty: f(x, p), 3.0) == (9.0, 3.0)
        assert gradient(tf, lambda x, p=penalty: f(x, p), -3.0) == (0.0, 0.0)
    with pytest.raises((TypeError, ValueError), match="A list cannot grow as the program decides"):
        f(tf.constant(3.0), penalise_some)


def test_a_list_of_its_own_grows_in_a_branch(tf):
    @tf.function
    def f(x):
        parts = [x]
        if x > 0.0:
            parts.append(2.0 * x)
            y = tf.add_n(parts)
        else:
            y = x
        return y

    assert [float(f(tf.constant(x))) for x in (1.0, -1.0)] == [3.0, -1.0]


def halved(w):
    x = w
    while x > 0.5:
        x = x * x * 0.5
    return x * w


class Halver:
    def loss(self, w):
        return halved(w)


# Made outside of the functions that call them.
MADE = {
    "grad": lambda tf: tf.autodiff.grad(halved),
    "grad of grad": lambda tf: tf.autodiff.grad(tf.autodiff.grad(halved)),
    "jacfwd": lambda tf: tf.autodiff.jacfwd(halved),
    "jacrev": lambda tf: tf.autodiff.jacrev(halved),
    "hessian": lambda tf: tf.autodiff.hessian(halved),
    "of a method": lambda tf: tf.autodiff.grad(Halver().loss),
    "of a partial": lambda tf: functools.partial(tf.autodiff.grad(functools.partial(halved))),
    "of a lambda": lambda tf: tf.autodiff.grad(lambda w: halved(w) * 2.0),
    "recompute_grad": lambda tf: tf.recompute_grad(halved),
    "grad of recompute_grad": lambda tf: tf.autodiff.grad(tf.recompute_grad(halved)),
}


@pytest.mark.parametrize("made", MADE)
def test_what_is_differentiated_outside_is_converted_inside(tf, made):
    f = MADE[made](tf)
    w = tf.constant(1.7)
    compiled = tf.function(lambda w: f(w), jit_compile=True)
    np.testing.assert_allclose(compiled(w), f(w), rtol=1e-5)


def test_a_wrapper_of_a_recomputed_function_runs(tf):
    inner = tf.recompute_grad(halved)

    @functools.wraps(inner)
    def tripled(w):
        return 3.0 * inner(w)

    w = tf.constant(1.7)
    np.testing.assert_allclose(tf.function(tripled)(w), 3.0 * halved(w), rtol=1e-6)
    np.testing.assert_allclose(tf.function(lambda w: tripled(w))(w), 3.0 * halved(w), rtol=1e-6)


def counted(tf, count):
    total = 0
    for i in tf.range(count):
        total += i
    else:
        total += 100
    return total


def test_a_loop_that_is_not_converted_says_why(tf, caplog):
    assert tf.function(lambda n: counted(tf, n))(tf.constant(3)) == 103
    (message,) = caplog.messages
    assert "runs as plain Python" in message
    assert "AutoGraph left counted as it is: malt cannot convert it: for/else" in message


def test_pythons_range_in_a_function_that_is_not_converted(tf):
    @tf.function
    def f(n):
        class Total:
            value = 0

        for i in range(n):
            Total.value += i
        return Total.value

    with pytest.raises(tf.errors.SymbolicTensorError, match=r"left .*f as it is: it defines"):
        f(tf.constant(3))
