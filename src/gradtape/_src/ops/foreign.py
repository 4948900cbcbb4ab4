"""What other libraries have, as methods of arrays and as functions, and what does the same here."""

from __future__ import annotations

from ..core.tensor import Tensor

_ASSIGN = "x.at[i].set(value) for a new tensor; or let x be a tf.Variable, which has `assign`"

_INSTEAD = {
    "sum": "tf.reduce_sum(x)",
    "mean": "tf.reduce_mean(x)",
    "max": "tf.reduce_max(x)",
    "min": "tf.reduce_min(x)",
    "prod": "tf.reduce_prod(x)",
    "std": "tf.math.reduce_std(x)",
    "var": "tf.math.reduce_variance(x)",
    "any": "tf.reduce_any(x)",
    "all": "tf.reduce_all(x)",
    "argmax": "tf.argmax(x, axis)",
    "argmin": "tf.argmin(x, axis)",
    "argsort": "tf.argsort(x)",
    "cumsum": "tf.cumsum(x)",
    "clip": "tf.clip_by_value(x, low, high)",
    "clamp": "tf.clip_by_value(x, low, high)",
    "round": "tf.round(x)",
    "abs": "tf.abs(x)",
    "exp": "tf.exp(x)",
    "sqrt": "tf.sqrt(x)",
    "dot": "tf.tensordot(x, y, 1), or x @ y",
    "mm": "x @ y",
    "matmul": "x @ y",
    "norm": "tf.norm(x)",
    "reshape": "tf.reshape(x, shape)",
    "view": "tf.reshape(x, shape)",
    "ravel": "tf.reshape(x, [-1])",
    "flatten": "tf.reshape(x, [-1])",
    "squeeze": "tf.squeeze(x)",
    "unsqueeze": "tf.expand_dims(x, axis)",
    "transpose": "tf.transpose(x)",
    "permute": "tf.transpose(x, perm)",
    "T": "tf.transpose(x)",
    "astype": "tf.cast(x, dtype)",
    "to": "tf.cast(x, dtype)",
    "float": "tf.cast(x, tf.float32)",
    "double": "tf.cast(x, tf.float64)",
    "int": "tf.cast(x, tf.int32)",
    "long": "tf.cast(x, tf.int64)",
    "copy": "tf.identity(x)",
    "clone": "tf.identity(x)",
    "size": "tf.size(x), or x.shape",
    "numel": "tf.size(x)",
    "dim": "x.ndim",
    "item": "x.numpy().item(), or float(x)",
    "tolist": "x.numpy().tolist()",
    "detach": "tf.stop_gradient(x)",
    "data": "x.numpy()",
    "grad": "tape.gradient(y, x)",
    "backward": "tape.gradient(y, x), y computed inside `with tf.GradientTape() as tape:`",
    "requires_grad": "tape.watch(x); a tf.Variable is watched by itself",
    "requires_grad_": "tape.watch(x); a tf.Variable is watched by itself",
    "assign": _ASSIGN,
    "assign_add": _ASSIGN,
    "assign_sub": _ASSIGN,
}

# What these methods are, functions of the same name are as well.
_ALSO_FUNCTIONS = ["sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "clip", "clamp",
    "dot", "mm", "view", "ravel", "flatten", "unsqueeze", "permute", "astype", "copy", "clone",
    "numel", "item", "tolist", "detach", "backward"]  # fmt: skip

FUNCTIONS = {name: _INSTEAD[name] for name in _ALSO_FUNCTIONS} | {
    "absolute": "tf.abs(x)",
    "amax": "tf.reduce_max(x)",
    "amin": "tf.reduce_min(x)",
    "arange": "tf.range(start, limit)",
    "around": "tf.round(x)",
    "array": "tf.constant(x)",
    "asarray": "tf.convert_to_tensor(x)",
    "average": "tf.reduce_mean(x)",
    "bmm": "x @ y",
    "cat": "tf.concat(values, axis)",
    "chunk": "tf.split(x, number)",
    "column_stack": "tf.stack(values, axis=1)",
    "compile": "tf.function(f)",
    "concatenate": "tf.concat(values, axis)",
    "cond": "s[0] / s[-1], s being tf.linalg.svd(x, compute_uv=False)",
    "deg2rad": "x * (math.pi / 180)",
    "diff": "x[1:] - x[:-1]",
    "div": "tf.divide(x, y), or x / y",
    "dstack": "tf.concat(values, axis=2)",
    "empty": "tf.zeros(shape)",
    "flip": "tf.reverse(x, [axis])",
    "fori_loop": "tf.while_loop(cond, body, loop_vars), or a `for` inside a tf.function",
    "from_numpy": "tf.convert_to_tensor(x)",
    "full": "tf.fill(shape, value)",
    "gamma": "tf.exp(tf.math.lgamma(x))",
    "histogram": "tf.histogram_fixed_width(x, value_range)",
    "hstack": "tf.concat(values, axis=1)",
    "index_select": "tf.gather(x, indices, axis)",
    "jacobian": "tape.jacobian(y, x), or tf.autodiff.jacrev(f)",
    "jit": "tf.function(f)",
    "masked_fill": "tf.where(mask, value, x)",
    "moveaxis": "tf.transpose(x, perm)",
    "mul": "tf.multiply(x, y), or x * y",
    "multinomial": "tf.random.categorical(logits, number)",
    "neg": "tf.negative(x), or -x",
    "no_grad": "tape.stop_recording(), or tf.stop_gradient(x)",
    "outer": "x[:, None] * y[None, :]",
    "power": "tf.pow(x, y), or x ** y",
    "rad2deg": "x * (180 / math.pi)",
    "rand": "tf.random.uniform(shape)",
    "randn": "tf.random.normal(shape)",
    "random.multinomial": "tf.random.categorical(logits, number)",
    "random.rand": "tf.random.uniform(shape)",
    "random.randn": "tf.random.normal(shape)",
    "reduce_and": "tf.reduce_all(x)",
    "reduce_or": "tf.reduce_any(x)",
    "remainder": "tf.math.floormod(x, y), or x % y",
    "scatter_add": "tf.tensor_scatter_nd_add(x, indices, updates)",
    "short": "tf.int16",
    "signal.istft": "tf.signal.inverse_stft(stfts, frame_length, frame_step)",
    "sub": "tf.subtract(x, y), or x - y",
    "swapaxes": "tf.transpose(x, perm)",
    "take": "tf.gather(x, indices, axis)",
    "tril": "tf.linalg.band_part(x, -1, 0)",
    "triu": "tf.linalg.band_part(x, 0, -1)",
    "true_divide": "tf.truediv(x, y), or x / y",
    "vmap": "tf.vectorized_map(f, x)",
    "vstack": "tf.concat(values, axis=0)",
    "zero_grad": "nothing: each tape begins empty",
}


def advise(error: AttributeError) -> None:
    """Let the error of an attribute that a tensor or a variable does not have say what to write.

    It is called when the error is printed: a `__getattr__` of Tensor would say it sooner, and keep
    Python from finding all other attributes the quick way, which makes an op 14 % slower.
    """
    if isinstance(error.obj, Tensor) or hasattr(error.obj, "_as_tensor"):
        instead = _INSTEAD.get(error.name)
        if instead is not None:
            error.args = (f"{error}. Write {instead}.",)
            error.name = None  # or Python would add a "Did you mean" of its own
