"""Strategies of one replica: what may be called where, and what it gives; on TensorFlow too."""

import pytest

STRATEGIES = {
    "default": lambda tf: tf.distribute.get_strategy(),
    "mirrored": lambda tf: tf.distribute.MirroredStrategy(["CPU:0"]),
    "one device": lambda tf: tf.distribute.OneDeviceStrategy("/cpu:0"),
}


@pytest.fixture(params=STRATEGIES)
def strategy(tf, request):
    return STRATEGIES[request.param](tf)


def is_default(tf, strategy):
    return strategy is tf.distribute.get_strategy()


def test_contexts(tf, strategy):
    d, default = tf.distribute, is_default(tf, strategy)
    assert not d.has_strategy() and not d.in_cross_replica_context()
    assert d.get_replica_context().num_replicas_in_sync == 1
    with strategy.scope():
        assert d.has_strategy() is not default and d.get_strategy() is strategy
        assert d.in_cross_replica_context() is not default
        assert (d.get_replica_context() is None) is not default

    def inside(x):
        replica = d.get_replica_context()
        assert not d.in_cross_replica_context() and replica.strategy is strategy
        assert d.get_strategy() is strategy and int(replica.replica_id_in_sync_group) == 0

        def merge(given, y):
            assert d.in_cross_replica_context() and given is strategy
            return strategy.extended.reduce_to("SUM", y, y)

        return replica.merge_call(merge, args=(x,)) * 2.0

    assert strategy.run(inside, args=(tf.constant([1.0]),)).numpy().tolist() == [2.0]
    assert not d.has_strategy()


def test_reductions(tf, strategy):
    x = tf.constant([2.0, 4.0])
    assert strategy.num_replicas_in_sync == 1
    assert strategy.reduce("SUM", x, axis=None).numpy().tolist() == [2.0, 4.0]
    assert float(strategy.reduce(tf.distribute.ReduceOp.MEAN, x, axis=0)) == 3.0
    assert float(strategy.reduce("SUM", x, axis=0)) == 6.0
    assert [r.numpy().tolist() for r in strategy.experimental_local_results(x)] == [[2.0, 4.0]]

    def inside():
        replica = tf.distribute.get_replica_context()
        return replica.all_reduce("MEAN", [x, x]), replica.all_gather(x, axis=0)

    (first, _), gathered = strategy.run(inside)
    assert first.numpy().tolist() == gathered.numpy().tolist() == [2.0, 4.0]
    with pytest.raises(ValueError):
        strategy.reduce("PRODUCT", x, axis=None)


def test_gradients_in_a_replica(tf, strategy):
    with strategy.scope():
        v = tf.Variable(3.0)

    @tf.function
    def step(x):
        def inside(x):
            with tf.GradientTape() as tape:
                loss = v * v * x
            (g,) = tape.gradient(loss, [v])
            return tf.distribute.get_replica_context().all_reduce("SUM", g)

        return strategy.run(inside, args=(x,))

    assert float(step(tf.constant(2.0))) == 12.0


def test_updates(tf, strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
        assert strategy.extended.variable_created_in_scope(v)
        strategy.extended.update(v, lambda v, x: v.assign_add(x), args=(2.0,))
        assert len(strategy.extended.update(v, lambda v: v.assign_add(1.0), group=False)) == 1
        with strategy.extended.colocate_vars_with(v):
            tf.Variable(0.0)
    assert v.numpy() == 4.0


def test_datasets(tf, strategy):
    dataset = tf.data.Dataset.range(4).batch(2)
    distributed = strategy.experimental_distribute_dataset(dataset)
    if is_default(tf, strategy):
        assert distributed is dataset
    else:
        assert isinstance(distributed, tf.distribute.DistributedDataset)
        assert isinstance(iter(distributed), tf.distribute.DistributedIterator)
    assert [x.numpy().tolist() for x in distributed] == [[0, 1], [2, 3]]
    made = strategy.distribute_datasets_from_function(
        lambda context: dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
    )
    assert [x.numpy().tolist() for x in made] == [[0, 1], [2, 3]]


def test_a_compiled_step_takes_from_the_iterator(tf, strategy):
    iterator = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(3)))

    @tf.function
    def step(iterator):
        return strategy.run(lambda x: x * 10, args=(next(iterator),))

    assert [int(step(iterator)) for _ in range(3)] == [0, 10, 20]


def test_what_must_not_be_called_where(tf, strategy):
    def inside():
        return tf.distribute.get_strategy().reduce("SUM", 1.0, axis=None)

    with pytest.raises(RuntimeError):
        strategy.run(inside)
    other = tf.distribute.OneDeviceStrategy("/cpu:0")
    if not is_default(tf, strategy):
        with strategy.scope(), pytest.raises(RuntimeError), other.scope():
            pass


def test_merging_by_need(tf, strategy):
    internal, default = tf.__internal__.distribute, is_default(tf, strategy)
    assert internal.strategy_supports_no_merge_call()
    assert internal.interim.maybe_merge_call(lambda s, x: x + 1, strategy, 1) == 2
    with strategy.scope():
        assert internal.strategy_supports_no_merge_call() is default

    def inside():
        return internal.interim.maybe_merge_call(
            lambda s, x: x + int(tf.distribute.in_cross_replica_context()), strategy, 1
        )

    assert strategy.run(inside) == (1 if default else 2)


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    "make, says",
    [
        (lambda d: d.MirroredStrategy(["CPU:0", "CPU:1"]), "2 devices were given"),
        (lambda d: d.TPUStrategy(), "does not compute on TPUs"),
        (lambda d: d.MultiWorkerMirroredStrategy(), "several machines"),
        (lambda d: d.ParameterServerStrategy(None), "several machines"),
    ],
)
def test_strategies_that_need_more_devices(tf, make, says):
    with pytest.raises(NotImplementedError, match=says):
        make(tf.distribute)


@pytest.mark.gradtape_only  # TensorFlow then takes the CPU
def test_a_device_that_is_not_there(tf):
    with pytest.raises(ValueError, match="there is no device '/gpu:7'"):
        tf.distribute.OneDeviceStrategy("/gpu:7")


def test_meshes_of_one_device(tf):
    dtensor = tf.experimental.dtensor
    mesh = dtensor.create_mesh([("batch", 1), ("model", 1)], devices=["CPU:0"])
    assert mesh.dim_names == ["batch", "model"] and mesh.shape() == [1, 1] and mesh.size == 1
    layout = dtensor.Layout([dtensor.UNSHARDED, "model"], mesh)
    assert layout.rank == 2 and layout.num_shards(1) == 1
    assert layout.sharding_specs == ["unsharded", "model"]
    assert dtensor.Layout.replicated(mesh, 2) == dtensor.Layout([dtensor.UNSHARDED] * 2, mesh)
    with pytest.raises(ValueError):
        dtensor.Layout(["nowhere"], mesh)
