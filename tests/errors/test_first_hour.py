"""Mistakes of the first hour, and of people who come from NumPy or PyTorch: what they are told."""

import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.errors import DTypeError, ShapeError
from gradtape._src.ops.foreign import _OF_ONE_NAME

pytestmark = pytest.mark.gradtape_only

X = tf.constant([1.0, 2.0])
NONE = (
    "None is not a value that can become a tensor. A function without `return` gives None, and so "
    "does the gradient by something that the target does not depend on."
)


class Model:
    @tf.function
    def without_self(x):
        return x * 2.0

    @tf.function
    def call(self, x):
        return x * 2.0


@tf.function
def of_two(x, y=1.0, *, z):
    return x + y + z


def squared():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    return tape, y, v


def summed():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v)
    return tape, y, v


def weighted(weights):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        targets = [v * v, v * v * v]
    return tape.gradient(targets, v, weights)


def slices():
    return tf.data.Dataset.from_tensor_slices((np.ones([3, 2], np.float32), np.ones(3)))


def first(x):
    return x


def built(variables):
    optimizer = tf.optimizers.SGD()
    optimizer.build(variables)
    return optimizer


def unknown(**options):
    return tf.optimizers.Adam(**options)


ARGUMENTS = (
    "There are: learning_rate, beta_1, beta_2, epsilon, amsgrad, clipnorm, clipvalue, "
    "global_clipnorm, use_ema, ema_momentum, ema_overwrite_frequency, loss_scale_factor, "
    "gradient_accumulation_steps, name, weight_decay."
)

MESSAGES = {
    # Dtypes
    "integers by floats": (
        DTypeError,
        "multiply: `x` is int32 and `y` is float32; tensors of different dtypes do not mix. Cast "
        "one of them, e.g. tf.cast(x, tf.float32).",
        lambda: tf.constant([1, 2]) * X,
    ),
    "floats by integers": (
        DTypeError,
        "matmul: `a` is float32 and `b` is int32; tensors of different dtypes do not mix. Cast one "
        "of them, e.g. tf.cast(b, tf.float32).",
        lambda: tf.matmul(tf.ones([1, 2]), tf.constant([[1], [2]])),
    ),
    "floats where booleans are needed": (
        DTypeError,
        "logical_and: `x` is float32 and `y` is bool; tensors of different dtypes do not mix. Cast "
        "one of them, e.g. tf.cast(x, tf.bool).",
        lambda: tf.logical_and(X, X > 1.0),
    ),
    "integers where floats are needed": (
        DTypeError,
        "sqrt: `x` is int32, and the op takes float16, float32, float64, bfloat16, complex64, "
        "complex128. Convert it: tf.cast(x, tf.float32).",
        lambda: tf.sqrt(tf.constant(4)),
    ),
    "text where numbers are needed": (
        DTypeError,
        "exp: `x` is string, and the op takes float16, float32, float64, bfloat16, complex64, "
        "complex128. Text is no number.",
        lambda: tf.exp(tf.constant("1.0")),
    ),
    "text to numbers": (
        DTypeError,
        "cast: no conversion from string to float32. Read numbers from text, and write them as "
        "text, in Python: float(text), tf.strings.as_string(x).",
        lambda: tf.cast(tf.constant("1.0"), tf.float32),
    ),
    # Values
    "None": (ValueError, f"add: {NONE}", lambda: X + None),
    "a constant of None": (ValueError, f"constant: {NONE}", lambda: tf.constant(None)),
    "an object": (
        ValueError,
        "constant: cannot make a tensor of Ellipsis, of type ellipsis. Expected a number, nested "
        "lists of numbers, a NumPy array or a tensor.",
        lambda: tf.constant(...),
    ),
    "an axis too far": (
        ShapeError,
        "expand_dims: `axis`=3 is out of range for a tensor of rank 1; it must lie in [-2, 1], as "
        "the result has one axis more.",
        lambda: tf.expand_dims(X, 3),
    ),
    "a matrix and a vector": (
        ShapeError,
        "matvec: each row of `a` must be as long as `b`. Received: a.shape=(2, 3), b.shape=(2,).",
        lambda: tf.linalg.matvec(tf.ones([2, 3]), X),
    ),
    "a matrix, turned, and a vector": (
        ShapeError,
        "matvec: each column of `a` must be as long as `b`. Received: a.shape=(3, 2), "
        "b.shape=(2,).",
        lambda: tf.linalg.matvec(tf.ones([3, 2]), X, transpose_a=True),
    ),
    "einsum without its equation": (
        TypeError,
        "einsum: the first argument is the equation, a text such as 'ij,jk->ik', not a Tensor.",
        lambda: tf.einsum(X, X),
    ),
    "one tensor to be clipped": (
        TypeError,
        "clip_by_global_norm: `t_list` must be a list of tensors, not a Tensor.",
        lambda: tf.clip_by_global_norm(X, 1.0),
    ),
    "x[0] = 1": (
        TypeError,
        "'Tensor' object does not support item assignment: a tensor is immutable. Write x = "
        "x.at[i].set(value), which gives a new tensor (tf.tensor_scatter_nd_update is the same for "
        "many places); or let x be a tf.Variable, and write x[i].assign(value).",
        lambda: X.__setitem__(0, 1.0),
    ),
    # Gradients
    "several weights for a scalar": (
        ShapeError,
        "gradient: `output_gradients` must have the shapes of the targets, or broadcast to them, "
        "and number 0 has shape (2,) where the target has ().",
        lambda: (lambda tape, y, v: tape.gradient(y, v, tf.ones([2])))(*summed()),
    ),
    "weights of another shape": (
        ShapeError,
        "gradient: `output_gradients` must have the shapes of the targets, or broadcast to them, "
        "and number 1 has shape (3,) where the target has (2,).",
        lambda: weighted([tf.ones([2]), tf.ones([3])]),
    ),
    # Functions
    "a missing argument": (
        TypeError,
        "of_two: missing a required argument: 'x'. It is of_two(x, y=1.0, *, z).",
        lambda: of_two(),
    ),
    "an unknown argument": (
        TypeError,
        "of_two: got an unexpected keyword argument 'w'. It is of_two(x, y=1.0, *, z).",
        lambda: of_two(X, z=X, w=X),
    ),
    "a method without self": (
        TypeError,
        "without_self: too many positional arguments. It is without_self(). As a method it gets "
        "the instance as `x`: is `self` missing?",
        lambda: Model().without_self(X),
    ),
    "a method with too much": (
        TypeError,
        "call: too many positional arguments. It is call(x).",
        lambda: Model().call(X, X),
    ),
    # Datasets
    "a function of too few": (
        TypeError,
        "first() takes 1 positional argument but 2 were given. The function is called with 2 "
        "arguments: float32[2], float64[]. (An element that is a tuple comes in its parts.)",
        lambda: list(slices().map(first)),
    ),
    "a reduction of too few": (
        TypeError,
        "first() takes 1 positional argument but 2 were given. The function is called with 2 "
        "arguments: float32[], a tuple. (An element that is a tuple comes in its parts.)",
        lambda: slices().reduce(0.0, first),
    ),
    # Optimizers
    "lr": (
        TypeError,
        f"Adam: there is no argument `lr`. Did you mean `learning_rate`? {ARGUMENTS}",
        lambda: unknown(lr=0.1),
    ),
    "a slip": (
        TypeError,
        f"Adam: there is no argument `clip_norm`. Did you mean `clipnorm`? {ARGUMENTS}",
        lambda: unknown(clip_norm=0.1),
    ),
    "what no optimizer has": (
        TypeError,
        f"Adam: there is no argument `zzz`. {ARGUMENTS}",
        lambda: unknown(zzz=0.1),
    ),
    "no learning rate": (
        ValueError,
        "Adam: `learning_rate` must be a number, a LearningRateSchedule or a function without "
        "arguments. Received: None.",
        lambda: tf.optimizers.Adam(None),
    ),
    "pairs the wrong way round": (
        TypeError,
        "SGD: only variables can be updated, and number 0 is a Tensor: <tf.Tensor: shape=(), "
        "dtype=float32, numpy=1.0>. Make it a tf.Variable. In a pair the gradient comes first: "
        "(gradient, variable).",
        lambda: tf.optimizers.SGD().apply_gradients([(tf.Variable(1.0), tf.constant(1.0))]),
    ),
    "pairs the wrong way round, in a later step": (
        TypeError,
        "SGD: only variables can be updated, and number 0 is a Tensor: <tf.Tensor: shape=(), "
        "dtype=float32, numpy=1.0>. Make it a tf.Variable. In a pair the gradient comes first: "
        "(gradient, variable).",
        lambda: built([tf.Variable(1.0)]).apply_gradients([(tf.Variable(1.0), tf.constant(1.0))]),
    ),
    # TensorFlow 1
    "eager execution": (
        AttributeError,
        f"tf.enable_eager_execution: gradtape {tf.__version__} does not have it. That is "
        "TensorFlow 1. Eager execution is how gradtape works; a tf.function compiles.",
        lambda: tf.enable_eager_execution(),
    ),
}


@pytest.mark.parametrize("mistake", MESSAGES)
def test_message(mistake):
    kind, message, call = MESSAGES[mistake]
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message


def test_an_error_of_the_function_itself_is_not_explained_away():
    def mine(x):
        return len(5)

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        list(tf.data.Dataset.range(2).map(mine))


def test_output_gradients_that_broadcast_are_taken():
    tape, y, v = squared()
    assert tape.gradient(y, v, tf.constant(2.0)).numpy().tolist() == [4.0, 8.0]


def shown(capsys, call):
    """The last line of what is printed if a call ends the program."""
    with pytest.raises(AttributeError) as caught:
        call()
    sys.excepthook(caught.type, caught.value, caught.tb)
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: X.sum(), "'Tensor' object has no attribute 'sum'. Write tf.reduce_sum(x)."),
        (
            lambda: tf.Variable(X).reshape([2, 1]),
            "'Variable' object has no attribute 'reshape'. Write tf.reshape(x, shape).",
        ),
        (
            lambda: X.backward(),
            "'Tensor' object has no attribute 'backward'. Write tape.gradient(y, x), y computed "
            "inside `with tf.GradientTape() as tape:`.",
        ),
        (
            lambda: tf.function(lambda x: x.assign(1.0))(X),
            "'Tensor' object has no attribute 'assign'. Write x.at[i].set(value) for a new tensor; "
            "or let x be a tf.Variable, which has `assign`.",
        ),
        (lambda: X.log(), "'Tensor' object has no attribute 'log'. Write tf.math.log(x)."),
        (lambda: X.relu(), "'Tensor' object has no attribute 'relu'. Write tf.nn.relu(x)."),
        (
            lambda: X.masked_fill(X > 1.0, 0.0),
            "'Tensor' object has no attribute 'masked_fill'. Write tf.where(mask, value, x).",
        ),
        (lambda: X.gt(1.0), "'Tensor' object has no attribute 'gt'. Write x > y."),
        (
            lambda: X.eval(),
            "'Tensor' object has no attribute 'eval'. Write x.numpy(): there are no sessions.",
        ),
        (lambda: X.shap, "'Tensor' object has no attribute 'shap'. Did you mean: 'shape'?"),
        (lambda: {}.sum, "'dict' object has no attribute 'sum'"),
    ],
)
def test_what_numpy_and_pytorch_call_otherwise(capsys, call, message):
    assert shown(capsys, call) == f"AttributeError: {message}"


def test_functions_that_are_named_in_place_of_methods_are_there():
    for home, names in _OF_ONE_NAME.items():
        for name in names.split():
            namespace = tf if home == "tf" else getattr(tf, home.removeprefix("tf."))
            assert callable(getattr(namespace, name))
            assert not hasattr(X, name), name
