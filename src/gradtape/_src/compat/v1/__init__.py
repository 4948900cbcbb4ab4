"""`tf.compat`: what version 1 names or orders otherwise, and text as either kind of string."""
