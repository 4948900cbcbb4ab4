"""`tf.config`: the devices of this machine, and the switches of TensorFlow's runtime."""
