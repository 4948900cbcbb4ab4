"""Part of what TensorFlow has in `tensorflow.python.eager.polymorphic_function`."""
