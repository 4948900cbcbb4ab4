"""Every layer, activation and loss in Keras' public API, as cases: what is called, and with what.

The classes and functions are found by walking `keras.layers`, `keras.activations` and
`keras.losses`. How to call one is found by rules, from its signature and its base classes; the
tables below say what no rule can guess, and what is worth more than one case. A class that a new
release of Keras brings is guessed at as well, and then lacks its recorded numbers: the tests list
it. Plain Keras code: the file runs on gradtape and on TensorFlow.
"""

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
from keras import layers

NOT_RUN = {
    "layers.Layer": "abstract",
    "layers.Wrapper": "abstract",
    "layers.InputLayer": "a place in a functional model; it is not called",
    "layers.FlaxLayer": "needs jax2tf, with JAX and Flax beside TensorFlow",
    "layers.JaxLayer": "needs jax2tf, with JAX beside TensorFlow",
    "layers.TorchModuleWrapper": "needs Keras' backend of PyTorch",
    "layers.TFSMLayer": "reads a SavedModel, which has tests of its own",
    "layers.Input": "makes a place in a functional model",
    "losses.Loss": "abstract",
}
"""No case, and why."""

NO_GRADIENT = {
    "layers.CategoryEncoding": "counts tokens",
    "layers.ContrastLimitedAdaptiveHistogramEqualization": "looks up colours in histograms",
    "layers.Discretization": "gives the number of a bin",
    "layers.HashedCrossing": "hashes",
    "layers.Hashing": "hashes",
    "layers.IntegerLookup": "looks up numbers",
    "layers.StringLookup": "strings",
    "layers.TextVectorization": "strings",
}
"""Run, and its values are compared, but its gradients are all None; and why."""

NO_XLA = {
    "layers.HashedCrossing": "strings",
    "layers.Hashing": "strings",
    "layers.StringLookup": "strings",
    "layers.TextVectorization": "strings",
}
"""What no system compiles with jit_compile=True, and why."""

HELPERS = {"get", "serialize", "deserialize"}


@dataclass(frozen=True)
class Case:
    """`make()` gives what is called with `inputs` and `call`.

    In both, functions of a random generator stand for arrays: the floating ones are differentiated.
    """

    name: str
    make: Callable[[], Callable]
    inputs: tuple
    call: dict[str, Any]
    dtype: str = "float32"

    @property
    def subject(self):
        """The name in Keras: "layers.Dense"."""
        return self.name.split(" ")[0]


# Arrays, as functions of a np.random.RandomState, whose numbers are the same in every NumPy.


def normal(*shape):
    return lambda r: r.normal(size=shape)


def uniform(low, high, *shape):
    return lambda r: r.uniform(low, high, size=shape)


def integers(below, *shape):
    return lambda r: r.randint(0, below, size=shape).astype("int32")


def mask(*shape):
    """Booleans; the first element of each row is True, so that something is left of it."""

    def draw(r):
        found = r.uniform(size=shape) < 0.6
        found[..., 0] = True
        return found

    return draw


def signs(*shape):
    return lambda r: r.choice([-1.0, 1.0], size=shape)


def bits(*shape):
    return lambda r: r.choice([0.0, 1.0], size=shape)


def distributions(*shape):
    def draw(r):
        found = r.uniform(0.1, 1.0, size=shape)
        return found / found.sum(-1, keepdims=True)

    return draw


def one_hot(*shape):
    return lambda r: np.eye(shape[-1])[r.randint(0, shape[-1], size=shape[:-1])]


def unit_vectors(*shape):
    def draw(r):
        found = r.normal(size=shape)
        return found / np.linalg.norm(found, axis=-1, keepdims=True)

    return draw


def given(values):
    return lambda r: np.array(values)


IMAGES = uniform(0, 255, 2, 8, 6, 3)


@dataclass(frozen=True)
class Variant:
    """One way to call a class or a function: what departs from the rules."""

    label: str
    inputs: tuple | None
    call: dict[str, Any]
    args: dict[str, Any]


def variant(label="", *, inputs=None, call=None, **args):
    return Variant(label, inputs, call or {}, args)


# Layers

ARGUMENTS = {
    "activation": "tanh",
    "cell": lambda: layers.GRUCell(4),
    "cells": lambda: [layers.LSTMCell(4), layers.GRUCell(3)],
    "equation": "abc,cd->abd",
    "factor": 0.3,
    "filters": 4,
    "function": lambda: lambda x: keras.ops.sin(x) * x,
    "head_dim": 3,
    "height": 5,
    "height_factor": 0.2,
    "input_dim": 7,
    "kernel_size": 2,
    "key_dim": 3,
    "layer": lambda: layers.Dense(3, activation="tanh"),
    "layers": lambda: [layers.Rescaling(0.5), layers.Dense(3)],
    "n": 3,
    "num_bins": 5,
    "num_heads": 2,
    "num_key_value_heads": 2,
    "num_query_heads": 4,
    "output_dim": 3,
    "output_size": 2,
    "pool_size": 2,
    "rate": 0.4,
    "scale": 0.7,
    "stddev": 0.5,
    "units": 4,
    "width": 4,
    "width_factor": 0.2,
}
"""Values for the parameters without a default, in whatever layer; a function makes a new one."""

SPATIAL = {1: (7,), 2: (6, 5), 3: (5, 4, 4)}
CELL = (normal(3, 3), [normal(3, 4)])
ATTENTION = (normal(2, 4, 3), normal(2, 5, 3), normal(2, 5, 3))

VARIANTS: dict[str, list[Variant]] = {
    # By the name of the class or of a base class, the nearest first. Without a label: as it comes.
    "Layer": [variant()],
    "Activation": [variant(), variant("softmax", activation="softmax")],
    "ActivityRegularization": [variant(l1=0.1, l2=0.2)],
    "AdditiveAttention": [
        variant(inputs=([*ATTENTION[:2]],)),
        variant("masked", inputs=([*ATTENTION],), call={"mask": [mask(2, 4), mask(2, 5)]}),
        variant("without scale", use_scale=False, inputs=([*ATTENTION],)),
    ],
    "Attention": [
        variant(inputs=([*ATTENTION[:2]],)),
        variant("masked", inputs=([*ATTENTION],), call={"mask": [mask(2, 4), mask(2, 5)]}),
        variant("scaled", use_scale=True, inputs=([*ATTENTION],)),
        variant(
            "concat",
            score_mode="concat",
            inputs=([*ATTENTION],),
            call={"return_attention_scores": True, "use_causal_mask": True},
        ),
        variant("dropout", dropout=0.3, inputs=([*ATTENTION],), call={"training": False}),
    ],
    "BaseAdaptivePooling": [
        variant(),
        variant("channels_first", data_format="channels_first", output_size=2),
    ],
    "BaseConv": [
        variant(),
        variant("same, strides", padding="same", strides=2, activation="relu"),
        variant("dilated", padding="same", dilation_rate=2, use_bias=False),
        variant("groups", groups=2, filters=6),
    ],
    "Conv1D": [
        variant(),
        variant("same, strides", padding="same", strides=2, activation="relu"),
        variant("causal", padding="causal", dilation_rate=2),
        variant("groups", groups=2, filters=6),
    ],
    "BaseConvTranspose": [
        variant(),
        variant("same, strides", padding="same", strides=2),
        variant("output_padding", strides=2, kernel_size=3, output_padding=1),
    ],
    "BaseDepthwiseConv": [
        variant(),
        variant("same, multiplier", padding="same", depth_multiplier=2),
        variant("strides", strides=2, use_bias=False),
    ],
    "BaseSeparableConv": [
        variant(),
        variant("same, multiplier", padding="same", depth_multiplier=2),
    ],
    "BaseGlobalPooling": [variant(), variant("keepdims", keepdims=True)],
    "GlobalAveragePooling1D": [
        variant(),
        variant("keepdims", keepdims=True),
        variant("masked", call={"mask": mask(2, 7)}),
    ],
    "BasePooling": [
        variant(),
        variant("same, strides", padding="same", strides=1, pool_size=3),
        variant("channels_first", data_format="channels_first"),
    ],
    "BatchNormalization": [
        variant("training", call={"training": True}),
        variant("inference", call={"training": False}),
        variant("axis 1", axis=1, center=False, call={"training": True}),
        variant("masked", call={"training": True, "mask": mask(2, 4)}),
        variant("not scaled", scale=False, call={"training": True}),
        variant("renorm", renorm=True, call={"training": True}),
        variant("images", inputs=(normal(3, 4, 4, 2),), call={"training": True}),
    ],
    "Bidirectional": [
        variant(layer=lambda: layers.LSTM(3), inputs=(normal(2, 5, 3),)),
        variant(
            "sequences, sum, masked",
            layer=lambda: layers.GRU(3, return_sequences=True),
            merge_mode="sum",
            inputs=(normal(2, 5, 3),),
            call={"mask": mask(2, 5)},
        ),
        variant(
            "states",
            layer=lambda: layers.SimpleRNN(3, return_state=True),
            merge_mode=None,
            inputs=(normal(2, 5, 3),),
            call={"initial_state": [normal(2, 3), normal(2, 3)]},
        ),
    ],
    "CategoryEncoding": [
        variant(mode, num_tokens=5, output_mode=mode, inputs=(integers(5, 3, 4),))
        for mode in ("multi_hot", "count")
    ],
    "ConvLSTM": [
        variant(),
        variant("sequences, same", padding="same", return_sequences=True, return_state=True),
    ],
    "ContrastLimitedAdaptiveHistogramEqualization": [variant(tile_grid_size=(2, 2))],
    "Cropping1D": [variant(), variant("one side", cropping=(0, 2))],
    "Cropping2D": [variant(cropping=((1, 2), (0, 1)))],
    "CutMix": [variant(inputs=({"images": IMAGES, "labels": distributions(2, 3)},))],
    "Dense": [
        variant(),
        variant("relu", activation="relu", use_bias=False),
        variant("lora", lora_rank=2),
        variant(
            "regularized", kernel_regularizer="l1", bias_regularizer="l2", activity_regularizer="l2"
        ),
    ],
    "Discretization": [
        variant(bin_boundaries=[-0.5, 0.2, 0.9]),
        variant(
            "one_hot", bin_boundaries=[-0.5, 0.2], output_mode="one_hot", inputs=(normal(4, 1),)
        ),
    ],
    "Dot": [
        variant(axes=2),
        variant("normalized", axes=1, normalize=True),
    ],
    "EinsumDense": [
        variant(output_shape=(None, 5)),
        variant("bias, relu", output_shape=(None, 5), bias_axes="d", activation="relu"),
        variant("lora", output_shape=(None, 5), lora_rank=2),
        variant("two axes", equation="abc,bcde->ade", output_shape=(2, 5), bias_axes="e"),
    ],
    "Embedding": [
        variant(inputs=(integers(7, 3, 4),)),
        variant("mask_zero", mask_zero=True, inputs=(integers(7, 3, 4),)),
        variant("lora", lora_rank=2, inputs=(integers(7, 3, 4),)),
    ],
    "Flatten": [
        variant(),
        variant("channels_first", data_format="channels_first"),
    ],
    "GroupNormalization": [
        variant(groups=2, inputs=(normal(2, 3, 4),)),
        variant("instance", groups=-1, inputs=(normal(2, 3, 3, 2),)),
    ],
    "GroupedQueryAttention": [
        variant(inputs=ATTENTION[:2]),
        variant(
            "causal, masked",
            num_key_value_heads=4,
            inputs=ATTENTION,
            call={"query_mask": mask(2, 4), "value_mask": mask(2, 5), "use_causal_mask": True},
        ),
    ],
    "GRU": [
        variant(),
        variant("not reset_after", reset_after=False, return_sequences=True),
        variant("masked", return_sequences=True, call={"mask": mask(2, 5)}),
        variant("unrolled", unroll=True),
        variant("initial state", call={"initial_state": normal(2, 4)}),
    ],
    "GRUCell": [variant(inputs=CELL), variant("not reset_after", reset_after=False, inputs=CELL)],
    "HashedCrossing": [variant(inputs=((integers(9, 5), integers(9, 5)),))],
    "Hashing": [variant(inputs=(integers(9, 5),))],
    "IntegerLookup": [
        variant(vocabulary=[3, 5, 7], inputs=(integers(9, 3, 4),)),
        variant(
            "multi_hot", vocabulary=[3, 5, 7], output_mode="multi_hot", inputs=(integers(9, 3, 4),)
        ),
    ],
    "LayerNormalization": [
        variant(),
        variant("two axes", axis=(1, 2)),
        variant("axis 1", axis=1, center=False),
        variant("plain", center=False, scale=False),
    ],
    "LSTM": [
        variant(),
        variant("sequences", return_sequences=True, return_state=True),
        variant("masked", return_sequences=True, call={"mask": mask(2, 5)}),
        variant("backwards", go_backwards=True),
        variant("unrolled", unroll=True, use_bias=False),
        variant("relu", activation="relu", recurrent_activation="hard_sigmoid"),
        variant("initial state", call={"initial_state": [normal(2, 4), normal(2, 4)]}),
        variant("dropout", dropout=0.3, recurrent_dropout=0.2),
        variant(
            "zero_output_for_mask",
            return_sequences=True,
            zero_output_for_mask=True,
            call={"mask": mask(2, 5)},
        ),
    ],
    "LSTMCell": [variant(inputs=(normal(3, 3), [normal(3, 4), normal(3, 4)]))],
    "Masking": [variant(inputs=(given([[[0.0, 0.0], [1.0, 2.0], [0.0, 3.0]]]),))],
    "MaxNumBoundingBoxes": [variant(max_number=4)],
    "MelSpectrogram": [
        variant(
            fft_length=16,
            sequence_stride=8,
            num_mel_bins=4,
            sampling_rate=400,
            inputs=(normal(2, 48),),
        ),
    ],
    "Merge": [variant()],
    "MixUp": [variant(inputs=({"images": IMAGES, "labels": distributions(2, 3)},))],
    "MultiHeadAttention": [
        variant(inputs=ATTENTION[:2]),
        variant(
            "masked",
            inputs=ATTENTION,
            call={"query_mask": mask(2, 4), "value_mask": mask(2, 5), "key_mask": mask(2, 5)},
        ),
        variant(
            "causal, scores",
            value_dim=2,
            output_shape=5,
            use_bias=False,
            inputs=ATTENTION,
            call={"use_causal_mask": True, "return_attention_scores": True},
        ),
        variant("attention_mask", inputs=ATTENTION, call={"attention_mask": mask(2, 4, 5)}),
        variant("two axes", attention_axes=(1, 2), inputs=(normal(2, 2, 3, 3), normal(2, 2, 3, 3))),
        variant("dropout", dropout=0.3, inputs=ATTENTION, call={"training": False}),
    ],
    "Normalization": [
        variant(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5]),
        variant("inverted", mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5], invert=True),
    ],
    "PReLU": [variant(), variant("shared", shared_axes=[1])],
    "Permute": [variant(dims=(2, 1))],
    "RNN": [
        variant(),
        variant("sequences", return_sequences=True, return_state=True),
        variant("masked", return_sequences=True, call={"mask": mask(2, 5)}),
    ],
    "RandomCrop": [
        variant(call={"training": False}),
        variant("none", height=8, width=6),
    ],
    "RandomPosterization": [variant(factor=4)],
    "ReLU": [
        variant(),
        variant("bounded", max_value=1.0, negative_slope=0.1, threshold=0.2),
    ],
    "RepeatVector": [variant(inputs=(normal(3, 4),))],
    "Rescaling": [variant(offset=0.1)],
    "Reshape": [variant(target_shape=(3, -1))],
    "Resizing": [
        variant(),
        *(
            variant(method, interpolation=method, height=11, width=3)
            for method in ("nearest", "bicubic", "lanczos3", "lanczos5")
        ),
        variant("antialias", antialias=True),
        variant("crop", crop_to_aspect_ratio=True),
        variant("pad", pad_to_aspect_ratio=True),
    ],
    "ReversibleEmbedding": [
        variant(inputs=(integers(7, 3, 4),)),
        variant("reverse", call={"reverse": True}),
        variant("reverse, untied", tie_weights=False, logit_soft_cap=2.0, call={"reverse": True}),
    ],
    "STFTSpectrogram": [
        variant(
            mode, mode=mode, frame_length=8, frame_step=4, fft_length=16, inputs=(normal(2, 24, 1),)
        )
        for mode in ("log", "magnitude", "psd", "real", "imag", "angle", "stft")
    ],
    "SimpleRNNCell": [variant(inputs=CELL)],
    "Softmax": [
        variant(),
        variant("axis 1", axis=1),
        variant("two axes", axis=(1, 2)),
        variant("masked", call={"mask": mask(2, 4, 3)}),
    ],
    "SpectralNormalization": [
        variant("training", call={"training": True}),
        variant("inference", call={"training": False}),
        variant(
            "convolution",
            layer=lambda: layers.Conv2D(3, 2),
            power_iterations=2,
            inputs=(normal(2, 4, 4, 2),),
            call={"training": True},
        ),
    ],
    "StackedRNNCells": [
        variant(inputs=(normal(3, 3), [[normal(3, 4), normal(3, 4)], [normal(3, 3)]]))
    ],
    "StringLookup": [
        variant(vocabulary=["a", "b"], inputs=(given([["b", "c"], ["a", "b"]]),)),
    ],
    "TextVectorization": [
        variant(
            vocabulary=["a", "tape"],
            output_sequence_length=3,
            inputs=(given([["A tape!"], ["what a long tape"]]),),
        ),
    ],
    "TimeDistributed": [
        variant(),
        variant("convolution", layer=lambda: layers.Conv2D(2, 2), inputs=(normal(2, 3, 4, 4, 2),)),
        variant("masked", call={"mask": mask(2, 4)}),
    ],
    "UpSampling2D": [
        variant(method, size=(2, 3), interpolation=method)
        for method in ("nearest", "bilinear", "bicubic")
    ],
    "UnitNormalization": [variant(), variant("two axes", axis=(1, 2))],
}


def layer_inputs(cls):
    """The arguments of a call, by the family of a layer."""
    bases = {base.__name__ for base in cls.__mro__}
    dimensions = re.search(r"([123])D", cls.__name__)
    if "Merge" in bases:
        return ([normal(2, 3, 4), normal(2, 3, 4)],)
    if "BaseImagePreprocessingLayer" in bases:
        return (IMAGES,)
    if dimensions:
        time = (3,) if "ConvLSTM" in bases else ()
        return (normal(2, *time, *SPATIAL[int(dimensions[1])], 4),)
    if "RNN" in bases:
        return (normal(2, 5, 3),)
    return (normal(2, 4, 3),)


def layer_cases(name, cls):
    parameters = inspect.signature(cls).parameters
    needed = [
        n for n, p in parameters.items() if p.default is p.empty and p.kind < p.VAR_POSITIONAL
    ]
    variants = next(VARIANTS[b.__name__] for b in cls.__mro__ if b.__name__ in VARIANTS)
    for v in variants:
        args = {n: ARGUMENTS[n] for n in needed if n in ARGUMENTS} | v.args
        call = dict(v.call)
        if "training" in inspect.signature(cls.call).parameters:
            call.setdefault("training", False)
        yield Case(
            case_name("layers", name, v.label),
            lambda args=args: cls(**made(args)),
            v.inputs or layer_inputs(cls),
            call,
        )


def case_name(module, name, label, arguments=()):
    """ "losses.Huber delta=0.4", by the label or by the arguments that make a variant."""
    labels = [f"{n}={arguments[n]}" for n in arguments]
    return " ".join(filter(None, [f"{module}.{name}", *labels, label]))


def made(arguments):
    return {name: a() if inspect.isfunction(a) else a for name, a in arguments.items()}


# Activations

POINTS = given([-7.0, -3.0, -1.0, -0.5, -0.1, 0.0, 0.2, 0.5, 1.0, 3.0, 6.0, 8.0])
"""With the points where the pieces of an activation meet: TensorFlow chooses a derivative there."""

ACTIVATIONS: dict[str, list[dict]] = {
    "celu": [{"alpha": 0.7}],
    "elu": [{"alpha": 0.7}],
    "gelu": [{"approximate": True}],
    "leaky_relu": [{"negative_slope": 0.1}],
    "log_softmax": [{"axis": 0}],
    "relu": [{"negative_slope": 0.1, "max_value": 1.0, "threshold": 0.2}],
    "softmax": [{"axis": 0}, {"axis": (0, 1)}],
    "sparsemax": [{"axis": 0}],
    "squareplus": [{"b": 2}],
}
NEEDED = {"threshold": 0.5, "default_value": 0.3}


def activation_cases(name, function):
    parameters = inspect.signature(function).parameters
    needed = {n: NEEDED[n] for n in parameters if n in NEEDED and n != "x"}
    for arguments in [{}, *ACTIVATIONS.get(name, [])]:
        for label, inputs in (("", normal(4, 6)), ("points", POINTS)):
            if label and "axis" in arguments:
                continue
            full = case_name("activations", name, label, arguments)
            yield Case(full, lambda: function, (inputs,), needed | arguments)


# Losses

REGRESSION = (normal(3, 4), normal(3, 4))
POSITIVE = (uniform(0.2, 2.0, 3, 4), uniform(0.2, 2.0, 3, 4))
BINARY = (bits(3, 4), uniform(0.05, 0.95, 3, 4))
CATEGORICAL = (one_hot(3, 4), distributions(3, 4))
LOGITS = {"from_logits": True}

LOSSES: dict[str, list[Variant]] = {
    # By the name without underscores and capitals.
    "binarycrossentropy": [
        variant(inputs=BINARY),
        variant(**LOGITS, inputs=(bits(3, 4), normal(3, 4))),
        variant(label_smoothing=0.1, inputs=BINARY),
    ],
    "binaryfocalcrossentropy": [
        variant(inputs=BINARY),
        variant(**LOGITS, inputs=(bits(3, 4), normal(3, 4))),
        variant(apply_class_balancing=True, inputs=BINARY),
    ],
    "categoricalcrossentropy": [
        variant(inputs=CATEGORICAL),
        variant(**LOGITS, inputs=(distributions(3, 4), normal(3, 4))),
        variant(label_smoothing=0.1, inputs=CATEGORICAL),
    ],
    "categoricalfocalcrossentropy": [
        variant(inputs=CATEGORICAL),
        variant(**LOGITS, inputs=(one_hot(3, 4), normal(3, 4))),
    ],
    "categoricalgeneralizedcrossentropy": [
        variant(q=0.4, inputs=(integers(4, 3), distributions(3, 4)))
    ],
    "categoricalhinge": [variant(inputs=(one_hot(3, 4), normal(3, 4)))],
    "circle": [variant(gamma=8.0, inputs=(integers(3, 6), unit_vectors(6, 4)))],
    "ctc": [variant(inputs=(lambda r: r.randint(1, 5, size=(2, 3)), normal(2, 7, 5)))],
    "dice": [variant(inputs=BINARY), variant(axis=-1, inputs=BINARY)],
    "hinge": [
        variant(inputs=(signs(3, 4), normal(3, 4))),
        variant("bits", inputs=(bits(3, 4), normal(3, 4))),
    ],
    "huber": [variant(inputs=REGRESSION), variant(delta=0.4, inputs=REGRESSION)],
    "kldivergence": [variant(inputs=(distributions(3, 4), distributions(3, 4)))],
    "meansquaredlogarithmicerror": [variant(inputs=POSITIVE)],
    "poisson": [variant(inputs=POSITIVE)],
    "sparsecategoricalcrossentropy": [
        variant(inputs=(integers(4, 3), distributions(3, 4))),
        variant(**LOGITS, inputs=(integers(4, 3), normal(3, 4))),
        variant(from_logits=True, ignore_class=1, inputs=(integers(4, 6), normal(6, 4))),
    ],
    "squaredhinge": [variant(inputs=(signs(3, 4), normal(3, 4)))],
    "tversky": [variant(inputs=BINARY), variant(alpha=0.3, axis=-1, inputs=BINARY)],
}
REDUCTIONS = ("sum", "none", "mean_with_sample_weight")


def loss_cases(name, loss):
    for v in LOSSES.get(name.replace("_", "").lower(), [variant(inputs=REGRESSION)]):
        inputs, args = v.inputs, v.args
        label = case_name("losses", name, v.label, args)
        if inspect.isfunction(loss):
            yield Case(label, lambda: loss, inputs, args)
            continue
        yield Case(label, lambda args=args: loss(**args), inputs, {})
        rows = len(inputs[0](np.random.RandomState(0)))
        for reduction in REDUCTIONS:
            options = args | {"reduction": reduction}
            yield Case(
                f"{label} {reduction}",
                lambda options=options: loss(**options),
                inputs,
                {"sample_weight": uniform(0.1, 1.0, rows)},
            )


# The walk


def public(module):
    """(name, object) of what a module of Keras exports, each object once."""
    seen = set()
    for name in sorted(
        dir(module), key=lambda n: (n != getattr(getattr(module, n), "__name__", ""), n)
    ):
        found = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(found) or id(found) in seen:
            continue
        seen.add(id(found))
        yield name, found


def subjects():
    """{"layers.Dense": its cases}, for every layer, activation and loss that Keras has."""
    found = {}
    for name, value in public(keras.layers):
        if inspect.isclass(value) and issubclass(value, layers.Layer):
            found[f"layers.{name}"] = value, layer_cases
        elif inspect.isfunction(value) and name not in HELPERS:
            found[f"layers.{name}"] = value, merging_cases
    for name, value in public(keras.activations):
        if callable(value) and name not in HELPERS:
            found[f"activations.{name}"] = value, activation_cases
    for name, value in public(keras.losses):
        if callable(value) and name not in HELPERS:
            found[f"losses.{name}"] = value, loss_cases
    return {
        name: [] if name in NOT_RUN else list(cases(name.split(".")[1], value))
        for name, (value, cases) in found.items()
    }


def merging_cases(name, function):
    arguments = {"axes": 2} if name == "dot" else {}
    yield Case(f"layers.{name}", lambda: function, ([normal(2, 3, 4), normal(2, 3, 4)],), arguments)


@functools.cache
def table():
    """{name: case}."""
    return {case.name: case for cases in subjects().values() for case in cases}
