"""`tf.raw_ops`: ops that TensorFlow has under no other name."""
