"""How copies of variables would be kept equal: see tests/compat/config, on TensorFlow too."""

import copy
import pickle
import subprocess
import sys

import gradtape as tf


def test_a_copy_has_the_defaults():
    v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    assert v.aggregation is tf.VariableAggregation.SUM
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert other.synchronization is tf.VariableSynchronization.AUTO


def test_they_are_loaded_when_they_are_used():
    code = "import gradtape as tf, sys; tf.Variable(1.0); print('gradtape._src.tape.replicas' in sys.modules)"  # noqa: E501
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
