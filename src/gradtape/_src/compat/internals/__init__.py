"""What clients of TensorFlow, Keras first, use of its inside: `tf.__internal__` and the like."""
