"""The engine on `jax.numpy`: the arrays are JAX's, or tracers while XLA compiles a program."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp

from ..core.engine import Engine


class XlaEngine(Engine):
    name = "xla"

    def getitem(self, x: Any, key: Any) -> Any:
        """`x[key]`. JAX would clip an index out of range, so static ones are checked here."""
        taken = sum(entry is not None and entry is not Ellipsis for entry in key)
        axis = 0
        entries = []
        for entry in key:
            if isinstance(entry, slice):
                bounds = (entry.start, entry.stop, entry.step)
                entry = slice(*[None if b is None else operator.index(b) for b in bounds])
            elif type(entry) is int and not -x.shape[axis] <= entry < x.shape[axis]:
                raise IndexError(
                    f"index {entry} is out of bounds for axis {axis} with size {x.shape[axis]}"
                )
            axis += x.ndim - taken if entry is Ellipsis else entry is not None
            entries.append(entry)
        return jnp.asarray(x)[tuple(entries)]

    def index_add(self, shape: Any, key: Any, updates: Any, unique: bool = False) -> Any:
        return jnp.zeros(shape, updates.dtype).at[key].add(updates, unique_indices=unique)

    def index_set(self, array: Any, key: Any, updates: Any) -> Any:
        return jnp.asarray(array).at[key].set(updates)

    def rows_add(self, count: int, indices: Any, rows: Any) -> Any:
        return jnp.zeros((count, *rows.shape[1:]), rows.dtype).at[indices].add(rows)

    def checked(self, indices: Any, size: int, op: str) -> Any:
        """Values are not known while a program is compiled: an index out of range is clipped."""
        return jnp.clip(indices, 0, max(size - 1, 0))

    def pad_constant(self, x: Any, paddings: Any, value: Any) -> Any:
        return jnp.pad(x, paddings, constant_values=value) if len(paddings) else jnp.asarray(x)

    def einsum(self, equation: str, *operands: Any, optimize: Any = "greedy") -> Any:
        return jnp.einsum(equation, *operands, optimize=optimize)

    def top_k(self, x: Any, k: int) -> Any:
        return jax.lax.top_k(x, k)

    def searchsorted_rows(self, rows: Any, values: Any, side: str) -> Any:
        return jax.vmap(lambda row, v: jnp.searchsorted(row, v, side))(rows, values)

    def make_complex(self, real: Any, imag: Any) -> Any:
        return jax.lax.complex(*jnp.broadcast_arrays(real, imag))

    def sigmoid(self, x: Any) -> Any:
        return jax.lax.logistic(x)

    def special(self, name: str, *arrays: Any) -> Any:
        import jax.scipy.special

        return getattr(jax.scipy.special, name)(*arrays)

    def cumlogsumexp(self, x: Any, axis: int) -> Any:
        return jax.lax.cumlogsumexp(x, axis)

    def relu(self, x: Any) -> Any:
        return jnp.maximum(x, 0)

    def masked(self, x: Any, mask: Any) -> Any:
        return jnp.where(mask, x, jnp.zeros((), x.dtype))

    def index_extreme(self, array: Any, indices: Any, rows: Any, largest: bool) -> Any:
        places = jnp.asarray(array).at[indices]
        return places.max(rows) if largest else places.min(rows)

    def log1p_exp(self, x: Any) -> Any:
        return jnp.log1p(jnp.exp(x))

    def sparse_cross_entropy(self, logits: Any, labels: Any) -> Any:
        below = logits - jnp.max(logits, axis=1, keepdims=True)
        exponentials = jnp.exp(below)
        total = jnp.sum(exponentials, axis=1, keepdims=True)
        chosen = below[jnp.arange(labels.size), labels]
        return jnp.log(total[:, 0]) - chosen, exponentials / total

    def sparse_cross_entropy_grad(self, dy: Any, probabilities: Any, labels: Any) -> Any:
        rows = jnp.arange(labels.size)
        return (probabilities * dy[:, None]).at[rows, labels].add(-dy)


engine = XlaEngine(jnp)
