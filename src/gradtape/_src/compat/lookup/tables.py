"""Tables whose entries do not change once they are filled, and those that do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...core.composite import CompositeTensor
from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype, int64, string
from ...core.errors import (
    DTypeError,
    DynamicSizeError,
    FailedPreconditionError,
    InvalidArgumentError,
    ShapeError,
    TextError,
)
from ...core.tensor import Tensor, is_symbolic
from ...core.tracing import current_graph
from ...ops.array.conversion import as_string
from ...train.checkpoint.tracking import Saved
from ..internals.resource import TrackableResource
from ..strings.hashing import to_hash_bucket_fast
from .initializers import TableInitializerBase


class LookupInterface(TrackableResource):
    """Base of tables: what they are called, and how they are asked."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    @property
    def name(self) -> str | None:
        return None

    @property
    def resource_handle(self) -> Any:
        """The table itself: there is no other thing that stands for it."""
        return self

    def size(self, name: str | None = None) -> Tensor:
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        raise NotImplementedError

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)


class Entries:
    """The keys and values of a table, in order of their coming.

    A key is a Python number or bytes, or a tuple of them; a value a row of an array.
    """

    def __init__(self, key_shape: tuple[int, ...], default: Any) -> None:
        self.key_shape = key_shape
        self.default = default  # an array, of the shape and dtype of a value
        self.values: dict[Any, Any] = {}

    def keys_in(self, array: Any, op: str) -> list[Any]:
        """The keys of an array."""
        depth = len(self.key_shape)
        if array.shape[array.ndim - depth :] != self.key_shape:
            raise ShapeError(
                f"{op}: keys have the shape {self.key_shape}, and `keys` has {array.shape}."
            )
        if not depth:
            return array.reshape(-1).tolist()  # type: ignore[no-any-return]
        rows = array.reshape(-1, int(np.prod(self.key_shape)))
        return [tuple(row) for row in rows.tolist()]

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the values of keys of this shape."""
        outer = len(shape) - len(self.key_shape)
        return (*shape[:outer], *self.default.shape)

    def find(self, array: Any, op: str, defaults: Any = None) -> Any:
        """The values of the keys of an array; of those that are not there, a default."""
        keys, get, default = self.keys_in(array, op), self.values.get, self.default
        shape = self.shape_of(array.shape)
        if defaults is not None:
            rows = np.broadcast_to(defaults, shape).reshape(len(keys), *default.shape)
            found = [get(key, row) for key, row in zip(keys, rows, strict=True)]
        elif default.ndim:
            found = [get(key, default) for key in keys]
        else:
            plain = default[()]
            found = [get(key, plain) for key in keys]
        return self._array(found).reshape(shape)

    def _array(self, rows: Any) -> Any:
        rows = list(rows)
        result = np.empty((len(rows), *self.default.shape), self.default.dtype)
        if rows:
            result[:] = rows
        return result

    def insert(self, keys: Any, values: Any, op: str) -> None:
        """Put these in; a key that is there gets the new value."""
        wanted = self.shape_of(keys.shape)
        if values.shape != wanted:
            raise InvalidArgumentError(
                f"{op}: for keys of shape {keys.shape} values must have shape {wanted}, and have "
                f"{values.shape}."
            )
        names = self.keys_in(keys, op)
        rows = values.reshape(len(names), *self.default.shape)
        self.values.update(zip(names, rows, strict=True))

    def remove(self, keys: Any, op: str) -> None:
        for key in self.keys_in(keys, op):
            self.values.pop(key, None)

    def export(self, key_dtype: DType) -> tuple[Any, Any]:
        keys = np.empty((len(self.values), *self.key_shape), key_dtype.numpy_dtype)
        if self.values:
            keys[:] = list(self.values)
        return keys, self._array(self.values.values())


def _ask(op: str, function: Callable[..., Any], like: Any, arrays: Iterable[Any]) -> Tensor:
    """What `function` makes of NumPy arrays: now, or whenever the function being traced runs.

    `like` has the shape and dtype of the result.
    """
    arrays = list(arrays)
    if current_graph() is None:
        return Tensor(function(*arrays))
    if like.dtype == object:
        raise TextError(
            f"{op}: the result is text, which is not known while the function is traced."
        )
    from ...engines.xla.engine import engine

    symbolic = [array for array in arrays if is_symbolic(array)]

    def call(*values: Any) -> list[Any]:
        given = iter(values)
        return [function(*[next(given) if is_symbolic(a) else a for a in arrays])]

    return Tensor(engine.call_python(call, [like], symbolic)[0])


def _like(shape: tuple[int, ...], dtype: DType) -> Any:
    return np.broadcast_to(np.zeros((), dtype.numpy_dtype), shape)


def _on_values(keys: Any, lookup: Callable[[Any], Any]) -> Any:
    """The look-up of keys that are sparse or ragged: of their values."""
    if hasattr(keys, "with_flat_values"):
        return keys.with_flat_values(lookup(keys.flat_values))
    return type(keys)(keys.indices, lookup(keys.values), keys.dense_shape)


class StaticHashTable(LookupInterface):
    """A table that an initializer fills when it is made, and that does not change.

    >>> table = tf.lookup.StaticHashTable(
    ...     tf.lookup.KeyValueTensorInitializer(["a", "b"], [7, 8]), default_value=-1)
    >>> table.lookup(tf.constant(["b", "z"])).numpy()
    array([ 8, -1], dtype=int32)
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._initializer = initializer
        self._default_value = as_tensor(default_value, self._value_dtype, "StaticHashTable")
        if self._default_value.ndim:
            raise ShapeError(
                "StaticHashTable: `default_value` must be a scalar, and has shape "
                f"{self._default_value.shape}."
            )
        self._entries = Entries((), np.asarray(self._default_value))
        self._is_filled = False
        initializer.initialize(self)

    def _fill(self, keys: Tensor, values: Tensor) -> None:
        """For the initializer."""
        op = "StaticHashTable"
        array, rows = np.asarray(keys), np.asarray(values)
        if array.ndim != 1 or rows.shape != array.shape:
            raise InvalidArgumentError(
                f"{op}: keys and values must be vectors of one length, and have shapes "
                f"{array.shape} and {rows.shape}."
            )
        self._entries.insert(array, rows, op)
        if len(self._entries.values) < len(array):  # a key came twice
            kept = self._entries.find(array, op)
            for key, value, other in zip(array, rows, kept, strict=True):
                if value != other:
                    raise FailedPreconditionError(
                        f"{op}: the key {key!r} has the values {value!r} and {other!r}."
                    )
        self._is_filled = True

    @property
    def default_value(self) -> Tensor:
        """What a key gets that is not in the table."""
        return self._default_value

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries."""
        return Tensor(np.asarray(len(self._entries.values), np.int64))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, a tensor, or a sparse or ragged one of which it gives another."""
        op = "lookup"
        if isinstance(keys, CompositeTensor):
            return _on_values(keys, self.lookup)
        keys = as_tensor(keys, op=op)
        if keys.dtype is not self._key_dtype:
            raise DTypeError(
                f"{op}: the keys of the table are {self._key_dtype.name}, and `keys` is "
                f"{keys.dtype.name}."
            )
        if not self._is_filled:
            raise FailedPreconditionError(f"{op}: the table is not initialized.")
        array = keys._array
        if not is_symbolic(array):
            return Tensor(self._entries.find(np.asarray(array), op))
        like = _like(array.shape, self._value_dtype)
        return _ask(op, lambda array: self._entries.find(array, op), like, [array])

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and all values, in one order."""
        keys, values = self._entries.export(self._key_dtype)
        return Tensor(keys), Tensor(values)


class StaticVocabularyTable(LookupInterface):
    """A table of numbers for words, in which unknown words have numbers too.

    They are hashed into `num_oov_buckets` numbers after those of the table.

    >>> table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(
    ...     ["a", "b"], tf.constant([0, 1], tf.int64)), num_oov_buckets=3)
    >>> table.lookup(tf.constant(["b", "x", "y", "zz"])).numpy()
    array([1, 4, 4, 3])
    """

    def __init__(
        self,
        initializer: TableInitializerBase | None,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        op = "StaticVocabularyTable"
        if num_oov_buckets <= 0:
            raise ValueError(
                f"{op}: `num_oov_buckets` must be > 0, not {num_oov_buckets}. Use StaticHashTable "
                "for none."
            )
        self._table = None
        wanted = as_dtype(lookup_key_dtype or (initializer.key_dtype if initializer else string))
        if initializer is not None:
            for which, dtype, allowed in (
                ("key", initializer.key_dtype, (int64, string)),
                ("value", initializer.value_dtype, (int64,)),
            ):
                if dtype not in allowed:
                    raise TypeError(
                        f"{op}: the {which}s must be {' or '.join(d.name for d in allowed)}, and "
                        f"are {dtype.name}."
                    )
            if wanted.is_integer != initializer.key_dtype.is_integer:
                raise TypeError(
                    f"{op}: the keys of the table are {initializer.key_dtype.name}, and "
                    f"`lookup_key_dtype` is {wanted.name}."
                )
            self._table = StaticHashTable(initializer, -1)
        self._buckets = num_oov_buckets
        super().__init__(wanted, int64)

    def size(self, name: str | None = None) -> Tensor:
        """The number of numbers: those of the table, and the buckets."""
        return Tensor(np.asarray(self._known() + self._buckets, np.int64))

    def _known(self) -> int:
        return int(self._table.size()) if self._table is not None else 0

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of `keys`, a tensor, or a sparse or ragged one of which it gives another."""
        if isinstance(keys, CompositeTensor):
            return _on_values(keys, self.lookup)
        keys = as_tensor(keys, op="lookup")
        if keys.dtype is not self._key_dtype:
            raise DTypeError(
                f"lookup: the keys of the table are {self._key_dtype.name}, and `keys` is "
                f"{keys.dtype.name}."
            )
        array = keys._array
        return _ask("lookup", self._find, _like(array.shape, int64), [array])

    def _find(self, array: Any) -> Any:
        keys = Tensor(np.asarray(array))
        texts = keys if keys.dtype is string else as_string(keys)
        hashed = np.asarray(to_hash_bucket_fast(texts, self._buckets)) + self._known()
        if self._table is None:
            return hashed
        table_keys = keys
        if keys.dtype is not self._table.key_dtype:
            table_keys = Tensor(np.asarray(keys).astype(self._table.key_dtype.numpy_dtype))
        found = np.asarray(self._table.lookup(table_keys))
        return np.where(found == -1, hashed, found)


class MutableHashTable(LookupInterface):
    """A table whose entries are inserted, changed and removed.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(["a", "b"], [7, 8])
    >>> table.lookup(["b", "z"]).numpy()
    array([ 8, -1])
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        default = as_tensor(default_value, self._value_dtype, name)
        self._entries = Entries((), np.asarray(default))
        self._saved = {"keys": _Saved(self, 0), "values": _Saved(self, 1)} if checkpoint else {}

    def _tracked_items(self) -> Iterator[tuple[str, Any]]:
        """What checkpoints save: the keys and the values."""
        return iter(self._saved.items())

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries."""
        return _ask(
            "size", lambda: np.asarray(len(self._entries.values), np.int64), _like((), int64), ()
        )

    def lookup(  # type: ignore[override]
        self, keys: Any, dynamic_default_values: Any = None, name: str | None = None
    ) -> Tensor:
        """The values of `keys`; of those that are not there, the default value of the table.

        Or of `dynamic_default_values`, which has one for each key, or one for all.
        """
        op = "lookup"
        arrays = [self._key_tensor(keys, op)._array]
        if dynamic_default_values is not None:
            arrays.append(as_tensor(dynamic_default_values, self._value_dtype, op)._array)
        like = _like(self._entries.shape_of(arrays[0].shape), self._value_dtype)
        return _ask(op, self._find, like, arrays)

    def _find(self, keys: Any, defaults: Any = None) -> Any:
        return self._entries.find(keys, "lookup", defaults)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Put entries in; a key that is there gets the new value."""
        op = "insert"
        tensors = self._key_tensor(keys, op), as_tensor(values, self._value_dtype, op)
        self._do(lambda keys, values: self._entries.insert(keys, values, op), tensors)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Take entries out; keys that are not there are ignored."""
        op = "remove"
        self._do(lambda array: self._entries.remove(array, op), [self._key_tensor(keys, op)])

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and all values, in one order."""
        if current_graph() is not None:
            raise DynamicSizeError(
                "export: how many entries the table has is not known while the function is traced."
            )
        keys, values = self._entries.export(self._key_dtype)
        return Tensor(keys), Tensor(values)

    def _key_tensor(self, keys: Any, op: str) -> Tensor:
        return as_tensor(keys, self._key_dtype, op)

    def _do(self, action: Callable[..., None], tensors: Iterable[Tensor]) -> None:
        """A change of the table, made whenever the function being traced comes to this line.

        As a question, so that it stays in one order with look-ups.
        """
        done = np.True_

        def change(*arrays: Any) -> Any:
            action(*map(np.asarray, arrays))
            return done

        _ask("insert", change, np.asarray(done), [tensor._array for tensor in tensors])


class _Saved(Saved):
    """The keys or the values of a table, as a checkpoint saves them."""

    def __init__(self, table: MutableHashTable, which: int) -> None:
        self._table = table
        self._which = which
        self._restored: Any = None  # as long as the other half has not come

    @property
    def state(self) -> Tensor:
        table = self._table
        return Tensor(table._entries.export(table.key_dtype)[self._which])

    def reset(self, state: Any) -> None:
        self._restored = np.asarray(state)
        keys, values = [half._restored for half in self._table._saved.values()]
        if keys is not None and values is not None:
            entries = self._table._entries
            entries.values.clear()
            entries.insert(keys, values, "restore")
            for half in self._table._saved.values():
                half._restored = None


class DenseHashTable(MutableHashTable):
    """A table as MutableHashTable, with two keys that may not be used.

    In TensorFlow they mark places that are empty or were deleted; here they only say what a key
    looks like, which may be a vector.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        empty, deleted = [
            np.asarray(as_tensor(key, self._key_dtype, "DenseHashTable"))
            for key in (empty_key, deleted_key)
        ]
        if empty.shape != deleted.shape or (empty == deleted).all():
            raise InvalidArgumentError(
                "DenseHashTable: `empty_key` and `deleted_key` must have one shape and differ. "
                f"Received: {empty_key!r} and {deleted_key!r}."
            )
        self._entries = _Guarded(empty, deleted, self._entries.default)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> None:
        """As `insert`."""
        self.insert(keys, values)

    def erase(self, keys: Any, name: str | None = None) -> None:
        """As `remove`."""
        self.remove(keys)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:  # type: ignore[override]
        """The values of `keys`; of those that are not there, the default value of the table."""
        return super().lookup(keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and all values, in one order; scalars on an axis of size 1, as in TensorFlow.

        (There the empty places come with them.)
        """
        return tuple([Tensor(a.numpy()[:, None]) if a.ndim == 1 else a for a in super().export()])  # type: ignore[return-value]


class _Guarded(Entries):
    """Entries with keys that may not be used."""

    def __init__(self, empty: Any, deleted: Any, default: Any) -> None:
        super().__init__(empty.shape, default)
        (self._empty,), (self._deleted,) = self.keys_of(empty), self.keys_of(deleted)

    def keys_of(self, key: Any) -> list[Any]:
        return super().keys_in(key[None], "DenseHashTable")

    def keys_in(self, array: Any, op: str) -> list[Any]:
        keys = super().keys_in(array, op)
        for which, key in (("empty_key", self._empty), ("deleted_key", self._deleted)):
            if key in keys:
                raise InvalidArgumentError(f"{op}: {key!r} is the `{which}` of the table.")
        return keys
