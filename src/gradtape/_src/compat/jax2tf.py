"""`jax.experimental.jax2tf` where `tensorflow` is gradtape: functions of JAX, of tensors.

JAX's module of that name writes a program for TensorFlow's runtime. Here JAX itself computes, so
the function is called as it is: eagerly, and inside `@function`, whose traces are those of JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.tree_util import tree_flatten, tree_leaves, tree_unflatten

from ..core.convert import as_tensor
from ..core.errors import NoGradientError
from ..core.tensor import Tensor, is_inexact, is_symbolic
from ..ops.array.cast import cast
from ..tape.custom import custom_gradient

DEFAULT_NATIVE_SERIALIZATION = True


def convert(
    fun_jax: Callable[..., Any],
    *,
    polymorphic_shapes: Any = None,
    polymorphic_constraints: Sequence[str] = (),
    with_gradient: bool = True,
    enable_xla: bool = True,
    native_serialization: bool | None = None,
    native_serialization_platforms: Sequence[str] | None = None,
    native_serialization_disabled_checks: Sequence[Any] = (),
) -> Callable[..., Any]:
    """`fun_jax` as a function of tensors, with gradients of any order.

    The other parameters are about the program that JAX's own `convert` writes: a function that is
    called with other shapes is traced for them here.
    """
    name = getattr(fun_jax, "__name__", "jax2tf.convert")
    program = jax.jit(lambda args, kwargs: fun_jax(*args, **kwargs))
    pullbacks: dict[Any, Callable[..., Any]] = {}  # by the structure of the arguments

    def converted(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree_flatten((args, kwargs))
        result: list[Any] = []  # its structure

        @custom_gradient
        def call(*tensors: Any) -> tuple[list[Tensor], Any]:
            given = [as_tensor(x) for x in tensors]
            outputs, of = _run(program, *tree_unflatten(structure, given))
            result.append(of)

            def gradient(*upstream: Tensor) -> list[Tensor | None]:
                if not with_gradient:
                    raise NoGradientError(f"{name}: it was converted with with_gradient=False.")
                if structure not in pullbacks:
                    pullbacks[structure] = convert(_pullback(fun_jax, structure))
                cotangents = [g for g, y in zip(upstream, outputs, strict=True) if is_inexact(y)]
                found = iter(pullbacks[structure](given, cotangents))
                return [cast(next(found), x.dtype) if is_inexact(x) else None for x in given]

            return outputs, gradient

        outputs = call(*leaves)
        flat = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return tree_unflatten(result[0], flat)

    return converted


def _run(program: Callable[..., Any], args: Any, kwargs: Any) -> tuple[list[Tensor], Any]:
    """The results of a program as tensors, and their structure."""
    arrays = jax.tree_util.tree_map(lambda x: x._array, (args, kwargs))
    with jax.enable_x64(False):  # what functions of JAX are written for
        results, structure = tree_flatten(program(*arrays))
    return [Tensor(y if is_symbolic(y) else np.asarray(y)) for y in results], structure


def _pullback(fun_jax: Callable[..., Any], structure: Any) -> Callable[..., Any]:
    """The gradients by the leaves of the arguments that have one, from those of the results."""

    def pullback(leaves: list[Any], cotangents: list[Any]) -> list[Any]:
        has_one = [jnp.issubdtype(x.dtype, jnp.inexact) for x in leaves]

        def results(chosen: list[Any]) -> list[Any]:
            given = iter(chosen)
            parts = [next(given) if x else leaf for x, leaf in zip(has_one, leaves, strict=True)]
            args, kwargs = tree_unflatten(structure, parts)
            found = [jnp.asarray(y) for y in tree_leaves(fun_jax(*args, **kwargs))]
            return [y for y in found if jnp.issubdtype(y.dtype, jnp.inexact)]

        chosen = [leaf for x, leaf in zip(has_one, leaves, strict=True) if x]
        (gradients,) = jax.vjp(results, chosen)[1](cotangents)
        return list(gradients)

    return pullback
