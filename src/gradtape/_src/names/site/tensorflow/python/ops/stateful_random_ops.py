"""Part of what TensorFlow has in `tensorflow.python.ops.stateful_random_ops`."""

from gradtape._src.tape.generator import Generator
