"""Part of what TensorFlow has in `tensorflow.python.ops.variables`."""

from gradtape._src.tape.replicas import (
    VariableAggregation,
    VariableAggregation as VariableAggregationV2,
    VariableSynchronization,
)
from gradtape._src.tape.variable import Variable
