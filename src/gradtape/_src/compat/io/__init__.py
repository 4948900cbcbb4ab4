"""Files, records and encodings: what `tf.io` has, and the datasets that read files."""
