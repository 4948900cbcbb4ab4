"""docs/semantics.md, section Y, Y1 to Y4: tf.Module."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from .helpers import same

Pair = namedtuple("Pair", "y x")


def names(variables):
    return [v.name for v in variables]


def make_nested(tf):
    class Inner(tf.Module):
        def __init__(self, name=None):
            super().__init__(name)
            self.w = tf.Variable(1.0, name=f"{self.name}_w")

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            self.z = tf.Variable(0.0, name="z")
            self.b = Inner("b")
            self.a = [tf.Variable(2.0, name="a0"), Inner("in_list")]
            self.d = {"k": tf.Variable(3.0, name="dk"), "c": (Inner("in_dict"),)}
            self.n = tf.Variable(1, trainable=False, name="n")
            self._p = tf.Variable(5.0, name="p")
            self.again = self.z

    return Outer()


def test_Y1_variables_are_found_in_order(tf):
    module = make_nested(tf)
    found = ["p:0", "a0:0", "z:0", "dk:0", "n:0", "in_list_w:0", "b_w:0", "in_dict_w:0"]
    assert type(module.variables) is tuple
    assert names(module.variables) == found
    assert type(module.trainable_variables) is tuple
    assert names(module.trainable_variables) == [name for name in found if name != "n:0"]
    assert names(module.non_trainable_variables) == ["n:0"]


def test_Y1_submodules(tf):
    module = make_nested(tf)
    assert type(module.submodules) is tuple
    assert [m.name for m in module.submodules] == ["in_list", "b", "in_dict"]
    module.b.deeper = tf.Module("deeper")
    module.itself = module
    assert [m.name for m in module.submodules] == ["in_list", "b", "in_dict", "deeper"]
    assert len(module.variables) == 8


def test_Y1_containers(tf):
    module = tf.Module()
    module.ordered = OrderedDict(b=tf.Variable(1.0, name="b"), a=tf.Variable(1.0, name="a"))
    module.named = Pair(tf.Variable(1.0, name="y"), tf.Variable(1.0, name="x"))
    module.numbers = {1, 2}
    module.nothing = None
    assert names(module.variables) == ["y:0", "x:0", "a:0", "b:0"]


def test_Y1_what_is_taken_away_is_not_found(tf):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    del module.v
    assert module.variables == ()


def test_Y1_flatten_with_paths(tf):
    module = make_nested(tf)
    found = module._flatten(predicate=lambda x: isinstance(x, tf.Variable), with_path=True)
    paths = [path for path, _ in found]
    assert paths[:4] == [("_p",), ("a", 0), ("again",), ("d", "k")]
    assert paths[-1] == ("d", "c", 0, "w")


def test_Y2_a_linear_model_converges(tf):
    class Linear(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(0.0)
            self.b = tf.Variable(0.0)

        def __call__(self, x):
            return self.w * x + self.b

    model = Linear()
    x = tf.constant(np.linspace(-1, 1, 20), tf.float32)
    for _ in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - (3.0 * x + 2.0)) ** 2)
        variables = model.trainable_variables
        for variable, g in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.3 * g)
    same(model.w, 3.0, 1e-3)
    same(model.b, 2.0, 1e-3)


@pytest.mark.parametrize(
    "title, name",
    [
        ("Linear", "linear"),
        ("MyDenseLayer", "my_dense_layer"),
        ("HTTPServerX2", "http_server_x2"),
        ("RNN2D", "rnn2_d"),
        ("A1b", "a1b"),
    ],
)
def test_Y3_the_default_name_is_in_snake_case(tf, title, name):
    assert type(title, (tf.Module,), {})().name == name


def test_Y3_a_name_is_fixed_when_the_module_is_made(tf):
    module = tf.Module(name="given")
    assert module.name == "given"
    with pytest.raises(AttributeError):
        module.name = "other"


@pytest.mark.parametrize("name", ["1a", "a b", "a-b", "", "é", "a/b"])
def test_Y3_a_name_must_be_an_identifier(tf, name):
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name)


def make_lazy(tf):
    class Lazy(tf.Module):
        @tf.Module.with_name_scope
        def make(self, factor, *, shift):
            """Makes its variables."""
            self.w = tf.Variable(1.0, name="w")
            with tf.name_scope("deep"):
                self.v = tf.Variable(1.0, name="v")
            self.inner = tf.Module("inner")
            return factor + shift

    return Lazy()


def test_Y4_with_name_scope_prefixes_names(tf):
    lazy = make_lazy(tf)
    assert lazy.make(1, shift=2) == 3
    assert lazy.make.__doc__ == "Makes its variables."
    assert lazy.w.name == "lazy/w:0"
    assert lazy.v.name == "lazy/deep/v:0"
    assert lazy.inner.name_scope.name == "lazy/inner/"
    assert tf.Variable(1.0, name="outside").name == "outside:0"


def test_Y4_the_scope_is_where_the_module_was_made(tf):
    with tf.name_scope("here"):
        lazy = make_lazy(tf)
    with tf.name_scope("there"):
        lazy.make(1, shift=2)
        assert tf.Variable(1.0, name="after").name == "there/after:0"
    assert lazy.w.name == "here/lazy/w:0"
    assert lazy.name_scope.name == "here/lazy/"
    with lazy.name_scope as scope:
        assert scope == "here/lazy/"


@pytest.mark.gradtape_only
def test_keys_that_cannot_be_sorted_are_taken_as_they_come(tf):
    module = tf.Module()
    module.mixed = {"b": tf.Variable(1.0, name="b"), 1: tf.Variable(1.0, name="one")}
    assert names(module.variables) == ["b:0", "one:0"]


@pytest.mark.gradtape_only
def test_trainable_weights_are_the_trainable_variables(tf):
    module = make_nested(tf)
    assert names(module.trainable_weights) == names(module.trainable_variables)


@pytest.mark.gradtape_only
def test_a_module_prints_as_a_tree(tf):
    class Dense(tf.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.w = tf.Variable(tf.zeros([inputs, outputs]))
            self.b = tf.Variable(tf.zeros([outputs]))

    class Network(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Dense(784, 256), Dense(256, 10)]
            self.tied = {"w": self.layers[0].w}
            self.step = tf.Variable(0, trainable=False)

    assert (
        str(Network())
        == """\
network: Network                                           203,531
├── layers[0]: Dense                                       200,960
│   ├── b             (256,)         float32                   256
│   └── w             (784, 256)     float32               200,704
├── layers[1]: Dense                                         2,570
│   ├── b             (10,)          float32                    10
│   └── w             (256, 10)      float32                 2,560
├── step              ()             int32, not trainable        1
└── tied['w']         (shown above)
total                                814.1 kB              203,531"""
    )
    assert repr(tf.Module("a")) == "a: Module             0\ntotal        0 bytes  0"


@pytest.mark.gradtape_only
def test_a_module_that_holds_itself_prints(tf):
    module = tf.Module("loop")
    module.itself = [module]
    assert "itself[0]  (shown above)" in str(module)
