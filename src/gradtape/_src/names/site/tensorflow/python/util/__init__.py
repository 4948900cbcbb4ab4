"""TensorFlow's own packages, as far as clients of it import from them."""
