"""tf.config on a CPU: the same on TensorFlow."""

import pytest


def test_there_is_one_cpu(tf):
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert (cpu.name, cpu.device_type) == ("/physical_device:CPU:0", "CPU")
    assert tf.config.list_physical_devices() == tf.config.get_visible_devices() == [cpu]
    (logical,) = tf.config.list_logical_devices("CPU")
    assert (logical.name, logical.device_type) == ("/device:CPU:0", "CPU")
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.experimental.list_physical_devices("TPU") == []


def test_what_devices_can_be_used(tf):
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.list_logical_devices()  # TensorFlow begins, and from here on refuses to change
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(cpu)
    with pytest.raises(ValueError, match="nrecognized device"):
        tf.config.set_visible_devices(["x"])
    with pytest.raises(ValueError, match="nrecognized device"):
        tf.config.set_visible_devices(cpu, "GPU")
    with pytest.raises(RuntimeError):
        tf.config.set_visible_devices([], "CPU")


def test_a_cpu_is_one_device(tf):
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.list_logical_devices()
    assert tf.config.get_logical_device_configuration(cpu) is None
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    with pytest.raises((RuntimeError, NotImplementedError)):
        tf.config.set_logical_device_configuration(cpu, two)


def test_memory_of_a_cpu(tf):
    (cpu,) = tf.config.list_physical_devices("CPU")
    experimental = tf.config.experimental
    assert experimental.get_device_details(cpu) == {}
    info = experimental.get_memory_info("CPU:0")
    assert info.keys() == {"current", "peak"} and info["current"] == 0
    with pytest.raises(ValueError):
        experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError):
        experimental.get_memory_info("GPU:0")


def test_switches_say_what_was_set(tf):
    config = tf.config
    for get, set, values in [
        (config.get_soft_device_placement, config.set_soft_device_placement, [False, True]),
        (config.experimental.get_device_policy, config.experimental.set_device_policy,
         ["warn", "silent"]),
        (config.experimental.tensor_float_32_execution_enabled,
         config.experimental.enable_tensor_float_32_execution, [False, True]),
        (config.experimental.get_synchronous_execution,
         config.experimental.set_synchronous_execution, [False, True]),
    ]:  # fmt: skip
        before = get()
        for value in values:
            set(value)
            assert get() == value
        set(before)


def test_the_optimizer_of_graphs(tf):
    optimizer = tf.config.optimizer
    optimizer.set_jit(True)
    assert optimizer.get_jit() == "autoclustering"
    optimizer.set_jit(False)
    optimizer.set_experimental_options({"layout_optimizer": True})
    options = optimizer.get_experimental_options()
    assert options["layout_optimizer"] is True and options["disable_meta_optimizer"] is False


@pytest.mark.gradtape_only  # TensorFlow takes it before it begins only
def test_threads_of_eager_ops(tf):
    from gradtape._src.engines.numpy.blas import _pool_of_numpy

    pool = _pool_of_numpy()
    before = pool._get() if pool else 0
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        assert tf.config.threading.get_intra_op_parallelism_threads() == 1
        assert pool is None or pool._get() == 1
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
        if pool:
            pool.set(before)
    with pytest.raises(ValueError, match="num_threads"):
        tf.config.threading.set_inter_op_parallelism_threads(-1)


def test_build_info(tf):
    info = tf.sysconfig.get_build_info()
    assert info["is_cuda_build"] is False and info["is_rocm_build"] is False


def test_variables_know_how_copies_would_be_kept(tf):
    v = tf.Variable(1.0)
    assert v.synchronization is tf.VariableSynchronization.AUTO
    assert v.aggregation == tf.VariableAggregation.NONE
    on_read = tf.Variable(
        0, synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )  # fmt: skip
    assert on_read.aggregation == tf.VariableAggregation.SUM and not on_read.trainable
    assert v._unique_id != on_read._unique_id and not v._in_graph_mode
    with pytest.raises(ValueError):
        tf.Variable(1.0, synchronization="x")


def test_a_profile_is_written(tf, tmp_path):
    experimental = tf.profiler.experimental
    double = tf.function(lambda x: x * 2)
    with experimental.Profile(str(tmp_path)), experimental.Trace("step", step_num=1):
        double(tf.ones([4]))
    assert list(tmp_path.rglob("*.xplane.pb"))
    experimental.start(str(tmp_path / "other"))
    with pytest.raises(tf.errors.AlreadyExistsError):
        experimental.start(str(tmp_path / "more"))
    experimental.stop(save=False)
    assert not (tmp_path / "other").exists()
    with pytest.raises(tf.errors.UnavailableError):
        experimental.stop()
