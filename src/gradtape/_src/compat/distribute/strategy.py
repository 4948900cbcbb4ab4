"""Strategies of one replica, and the contexts in which code of a strategy runs.

Code runs in a replica context, that of the default strategy at first; inside `strategy.scope()` and
a `merge_call` it runs across the replicas, and inside `strategy.run` in a replica of the strategy.
TensorFlow's rules on what may be called where hold here too, so that a program that runs on one
device runs on several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import UnimplementedError
from ...core.tensor import Tensor
from ...ops.math.reduction import reduce_mean, reduce_sum
from ...tape.variable import Variable
from .values import DistributedDataset, ReduceOp


class _Place(NamedTuple):
    """Where code runs: with which strategy, and in which replica, if in one."""

    strategy: Strategy
    replica: ReplicaContext | None


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


@contextmanager
def _placed(strategy: Strategy, replica: ReplicaContext | None) -> Iterator[None]:
    token = _place.set(_Place(strategy, replica))
    try:
        yield
    finally:
        _place.reset(token)


class InputContext(NamedTuple):
    """What a function that makes a dataset is told of the pipelines: there is one."""

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The part of a batch that each replica gets."""
        return global_batch_size


class ReplicaContext:
    """What code that runs in a replica can do with the others."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: Any = 0) -> None:
        self._strategy = strategy
        self._id = replica_id_in_sync_group

    @property
    def strategy(self) -> Strategy:
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        return 1

    @property
    def replica_id_in_sync_group(self) -> Tensor:
        """The number of this replica."""
        return as_tensor(self._id)

    @property
    def devices(self) -> tuple[str, ...]:
        return self._strategy.extended.worker_devices

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """`merge_fn(strategy, *args, **kwargs)`, once for all replicas."""
        with _placed(self._strategy, None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean of a nest of tensors over the replicas: of one, the tensors."""
        _reduce_op(reduce_op, "all_reduce")
        return nest.map_structure(_read, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The tensors of the replicas, joined along an axis: of one, the tensors."""
        return nest.map_structure(_read, value)

    def __enter__(self) -> ReplicaContext:
        self._token = _place.set(_Place(self._strategy, self))
        return self

    def __exit__(self, *error: object) -> None:
        _place.reset(self._token)


class StrategyExtended:
    """What libraries use of a strategy beyond what its users do."""

    def __init__(self, container_strategy: Strategy) -> None:
        self._strategy = container_strategy

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return (as_tensor(0).device,)

    parameter_devices = worker_devices

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """A block whose variables are where another one is: all are on one device."""
        yield

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable may be used with this strategy: on one device, any."""
        return True

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """`fn` in each replica."""
        self._check_across("call_for_each_replica")
        replica = ReplicaContext(self._strategy)
        with _placed(self._strategy, replica):
            return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas: of one, the value."""
        self._check_across("reduce_to")
        _reduce_op(reduce_op, "reduce_to")
        return value

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """The same of several values, each with the variable that it is for."""
        return [self.reduce_to(reduce_op, value, to) for value, to in value_destination_pairs]

    def update(
        self,
        var: Variable,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(var, *args, **kwargs)` on each copy of a variable; a tuple if not to be a `group`."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else (result,)

    def value_container(self, value: Any) -> Any:
        """What holds the copies of a variable: of one, the variable."""
        return value

    def read_var(self, v: Variable) -> Tensor:
        return v.read_value()

    def non_slot_devices(self, var_list: Any) -> Any:
        return self.worker_devices[0]

    @property
    def experimental_require_static_shapes(self) -> bool:
        return False

    @property
    def experimental_between_graph(self) -> bool:
        return False

    @property
    def experimental_should_init(self) -> bool:
        return True

    should_checkpoint = should_save_summary = experimental_should_init

    def _use_merge_call(self) -> bool:
        """Whether replicas meet by `merge_call`."""
        return True

    def _check_across(self, method: str) -> None:
        if _here().replica is not None and _place.get() is not None:
            raise RuntimeError(
                f"{method}: must be called across the replicas, and this is in one. Use "
                "tf.distribute.get_replica_context().merge_call(...)."
            )


class Strategy:
    """How a program runs on several devices: here on one."""

    def __init__(self, extended: StrategyExtended | None = None) -> None:
        self._extended = extended or StrategyExtended(self)

    @property
    def extended(self) -> StrategyExtended:
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        return 1

    @property
    def cluster_resolver(self) -> None:
        """There is no cluster."""
        return None

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A block in which this is the strategy, across its replicas."""
        around = _place.get()
        if around is not None and around.strategy is not self:
            raise RuntimeError(
                f"scope: inside the scope of another strategy: {around.strategy!r} is not {self!r}."
            )
        if around is not None and around.replica is not None:
            yield self
            return
        with _placed(self, None):
            yield self

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """`fn(*args, **kwargs)` in each replica. With one, its result."""
        with self.scope():
            return self.extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The sum or mean over the replicas, and over an axis of each value if one is given."""
        self.extended._check_across("reduce")
        kind = _reduce_op(reduce_op, "reduce")

        def reduced(x: Any) -> Any:
            if axis is None:
                return x
            return (reduce_sum if kind is ReduceOp.SUM else reduce_mean)(x, axis=axis)

        return nest.map_structure(reduced, value)

    def gather(self, value: Any, axis: int) -> Any:
        """The values of the replicas, joined along an axis."""
        self.extended._check_across("gather")
        return nest.map_structure(as_tensor, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        return (value,)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """A dataset whose elements are shared out among the replicas."""
        return DistributedDataset(dataset)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """The dataset that a function makes for each pipeline, of batches for one replica."""
        return self.experimental_distribute_dataset(dataset_fn(InputContext()))

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """What a function gives for each replica."""
        return value_fn(ValueContext())


class ValueContext(NamedTuple):
    """What a function that makes a value for each replica is told."""

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1


class _DefaultStrategy(Strategy):
    """What runs a program in which nobody has chosen a strategy."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        around = _place.get()
        if around is not None and around.strategy is not self:
            raise RuntimeError(
                "scope: the default strategy has no place inside the scope of another one."
            )
        yield self

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        return dataset


class _DefaultExtended(StrategyExtended):
    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        with _placed(self._strategy, _DEFAULT.replica):
            return fn(*args, **(kwargs or {}))

    def _use_merge_call(self) -> bool:
        return False


class OneDeviceStrategy(Strategy):
    """Runs a program on one device, by the rules that hold on several."""

    def __init__(self, device: str) -> None:
        _check_device("OneDeviceStrategy", device)
        super().__init__()


class MirroredStrategy(Strategy):
    """Runs a program on several devices of a machine: here on its one CPU."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        given = [] if devices is None else list(devices)
        if len(given) > 1:
            raise UnimplementedError(
                f"MirroredStrategy: {len(given)} devices were given, and gradtape computes on one. "
                "Leave `devices` out: the same program then runs on one replica."
            )
        for device in given:
            _check_device("MirroredStrategy", device)
        super().__init__()


class TPUStrategy(Strategy):
    """Several TPUs, which gradtape does not have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError(
            "TPUStrategy: gradtape does not compute on TPUs. tf.distribute.get_strategy() is the "
            "strategy of one device."
        )


class MultiWorkerMirroredStrategy(Strategy):
    """Several machines, which gradtape does not have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError(
            "MultiWorkerMirroredStrategy: gradtape does not compute on several machines. "
            "tf.distribute.MirroredStrategy() is there, on one device."
        )


class ParameterServerStrategy(Strategy):
    """Workers and servers, which gradtape does not have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError(
            "ParameterServerStrategy: gradtape does not compute on several machines. "
            "tf.distribute.MirroredStrategy() is there, on one device."
        )


_default = _DefaultStrategy()
_DEFAULT = _Place(_default, ReplicaContext(_default))


def _here() -> _Place:
    return _place.get() or _DEFAULT


def get_strategy() -> Strategy:
    """The strategy of this line: that of the scope around, or the default one of one replica."""
    return _here().strategy


def has_strategy() -> bool:
    """Whether this line is in the scope of a strategy that somebody chose."""
    return get_strategy() is not _DEFAULT.strategy


def get_replica_context() -> ReplicaContext | None:
    """The replica that this line runs in; None across the replicas."""
    return _here().replica


def in_cross_replica_context() -> bool:
    """Whether this line runs across the replicas."""
    return _here().replica is None


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Make this the strategy from here on, as if all that follows were in its scope."""
    if _place.get() is not None and _place.get().replica is not None:  # type: ignore[union-attr]
        raise RuntimeError("experimental_set_strategy: must not be called inside strategy.run.")
    _place.set(None if strategy is None else _Place(strategy, None))


def strategy_supports_no_merge_call() -> bool:
    """Whether an optimizer may update variables in a replica, without `merge_call`."""
    if not has_strategy():
        return True
    return not get_strategy().extended._use_merge_call()


def maybe_merge_call(fn: Callable[..., Any], strategy: Strategy, *args: Any, **kwargs: Any) -> Any:
    """`fn(strategy, *args, **kwargs)`, by `merge_call` if the strategy needs one."""
    if strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    replica = get_replica_context()
    if replica is None:
        raise RuntimeError(
            "maybe_merge_call: must be called in a replica, and this is across them. Put it into a "
            "function that strategy.run(...) runs."
        )
    return replica.merge_call(fn, args=args, kwargs=kwargs)


def _reduce_op(given: Any, op: str) -> ReduceOp:
    try:
        return given if isinstance(given, ReduceOp) else ReduceOp(str(given).upper())
    except ValueError:
        raise ValueError(
            f"{op}: `reduce_op` must be tf.distribute.ReduceOp.SUM or MEAN, and is {given!r}."
        ) from None


def _read(value: Any) -> Any:
    return value.read_value() if isinstance(value, Variable) else value


def _check_device(op: str, device: Any) -> None:
    kind = str(device).upper().lstrip("/").removeprefix("DEVICE:")
    if "CPU" not in kind or kind.partition("CPU:")[2] not in ("", "0"):
        raise ValueError(
            f"{op}: there is no device {device!r}. tf.config.list_logical_devices() lists them."
        )
