"""The graphs of functions in event files, as TensorBoard reads them."""

import pytest

pytest.importorskip("tensorboard")


def read(folder):
    """The event file of a folder, read by TensorBoard."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(folder))
    reader.Reload()
    return reader


def graphs_of(reader, tag):
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    (event,) = reader.Tensors(tag)
    metadata = RunMetadata.FromString(event.tensor_proto.string_val[0])
    return [each.pre_optimization_graph for each in metadata.function_graphs]


@pytest.fixture
def square(tf):
    return tf.function(lambda x: x * x)


@pytest.mark.gradtape_only  # TensorFlow leaves out those that ran before, and has others of its own
def test_the_graphs_of_the_functions_that_are_called_while_a_trace_is_on(tf, tmp_path, square):
    x = tf.constant([1.0, 2.0])
    square(x)  # traced before: it counts that it is called
    not_called = tf.function(lambda x: x + 1.0)
    not_called(x)
    writer = tf.summary.create_file_writer(str(tmp_path))
    tf.summary.trace_on()
    square(x)
    with writer.as_default():
        tf.summary.trace_export("mine", step=3)
    not_called(x)
    writer.close()
    reader = read(tmp_path)
    (event,) = reader.Tensors("mine")
    assert event.step == 3
    assert reader.SummaryMetadata("mine").plugin_data.plugin_name == "graph_run_metadata_graph"
    (graph,) = graphs_of(reader, "mine")
    assert "mul" in [node.op for node in graph.node]


def test_a_graph_by_itself(tf, tmp_path, square):
    graph = square.get_concrete_function(tf.TensorSpec([2])).graph
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        assert bool(tf.summary.graph(graph)) is True
        with tf.summary.record_if(False):
            assert bool(tf.summary.graph(graph)) is False
    writer.close()
    nodes = {node.op.lower(): node for node in read(tmp_path).Graph().node}
    (multiply,) = [nodes[op] for op in nodes if "mul" in op]
    assert list(multiply.input) == [nodes["placeholder"].name] * 2
    assert bool(tf.summary.graph(graph)) is False  # there is no writer


@pytest.mark.gradtape_only
def test_the_shapes_of_results_are_in_it(tf, tmp_path, square):
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        tf.summary.graph(square.get_concrete_function(tf.TensorSpec([2, None])).graph)
    writer.close()
    shapes = [n.attr["_output_shapes"].list.shape for n in read(tmp_path).Graph().node]
    assert [2, -1] in [[dim.size for dim in each.dim] for each, *_ in shapes]


def test_with_a_profile(tf, tmp_path, square):
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=str(tmp_path / "profile"))
        square(tf.constant([1.0]))
        tf.summary.trace_export("mine", step=0)
    writer.close()
    assert read(tmp_path).SummaryMetadata("mine").plugin_data.plugin_name == "graph_run_metadata"
    assert list((tmp_path / "profile").rglob("*.xplane.pb"))


def test_what_is_not_on_cannot_be_exported(tf, tmp_path):
    tf.summary.trace_on()
    tf.summary.trace_off()
    tf.summary.trace_off()
    with pytest.raises(ValueError, match="trace"):
        tf.summary.trace_export("mine", step=0)


def test_what_is_no_graph(tf, tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), pytest.raises(ValueError, match="graph"):
        tf.summary.graph(1)
    writer.close()
