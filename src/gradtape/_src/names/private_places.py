"""Where TensorFlow itself has the classes that its clients know by their place.

Keras, for one, takes an object for a dataset if its class is `DatasetV2` of a module below
`tensorflow.python.`. So under the alias these classes say that they are there; the modules are in
`site/tensorflow/python`.
"""

_FUNCTION = "eager.polymorphic_function"

PRIVATE_PLACES = {
    public: f"tensorflow.python.{private}"
    for public, private in {
        "DType": "framework.dtypes.DType",
        "IndexedSlices": "framework.indexed_slices.IndexedSlices",
        "IndexedSlicesSpec": "framework.indexed_slices.IndexedSlicesSpec",
        "Module": "module.module.Module",
        "OptionalSpec": "data.ops.optional_ops.OptionalSpec",
        "RaggedTensor": "ops.ragged.ragged_tensor.RaggedTensor",
        "RaggedTensorSpec": "ops.ragged.ragged_tensor.RaggedTensorSpec",
        "SparseTensor": "framework.sparse_tensor.SparseTensor",
        "SparseTensorSpec": "framework.sparse_tensor.SparseTensorSpec",
        "Tensor": "framework.tensor.Tensor",
        "TensorArray": "ops.tensor_array_ops.TensorArray",
        "TensorArraySpec": "ops.tensor_array_ops.TensorArraySpec",
        "TensorShape": "framework.tensor_shape.TensorShape",
        "TensorSpec": "framework.tensor.TensorSpec",
        "TypeSpec": "framework.type_spec.TypeSpec",
        "Variable": "ops.variables.Variable",
        "VariableAggregation": "ops.variables.VariableAggregationV2",
        "VariableSynchronization": "ops.variables.VariableSynchronization",
        "__internal__.CompositeTensor": "framework.composite_tensor.CompositeTensor",
        "__internal__.EagerTensor": "framework.ops.EagerTensor",
        "__internal__.FuncGraph": "framework.func_graph.FuncGraph",
        "__internal__.function.Function": f"{_FUNCTION}.polymorphic_function.Function",
        "__internal__.function.Method": f"{_FUNCTION}.polymorphic_function.Method",
        "__internal__.function.Traced": f"{_FUNCTION}.concrete_function.ConcreteFunction",
        "__internal__.tracking.AutoTrackable": "trackable.autotrackable.AutoTrackable",
        "__internal__.tracking.Trackable": "trackable.base.Trackable",
        "__internal__.types.Tensor": "types.core.Tensor",
        "config.LogicalDevice": "eager.context.LogicalDevice",
        "config.PhysicalDevice": "eager.context.PhysicalDevice",
        "lookup.StaticHashTable": "ops.lookup_ops.StaticHashTable",
        "saved_model.experimental.TrackableResource": "trackable.resource.TrackableResource",
        "data.Dataset": "data.ops.dataset_ops.DatasetV2",
        "data.DatasetSpec": "data.ops.dataset_ops.DatasetSpec",
        "data.Iterator": "data.ops.iterator_ops.IteratorBase",
        "data.Options": "data.ops.options.Options",
        "distribute.DistributedDataset": "distribute.input_lib.DistributedDataset",
        "distribute.DistributedIterator": "distribute.input_lib.DistributedIterator",
        "distribute.DistributedValues": "types.distribute.DistributedValues",
        "distribute.MirroredStrategy": "distribute.mirrored_strategy.MirroredStrategy",
        "distribute.OneDeviceStrategy": "distribute.one_device_strategy.OneDeviceStrategy",
        "distribute.ReduceOp": "distribute.reduce_util.ReduceOp",
        "distribute.Strategy": "distribute.distribute_lib.Strategy",
        "experimental.Optional": "data.ops.optional_ops.Optional",
        "random.Generator": "ops.stateful_random_ops.Generator",
        "types.experimental.ConcreteFunction": "types.core.ConcreteFunction",
        "types.experimental.PolymorphicFunction": "types.core.PolymorphicFunction",
    }.items()
}
