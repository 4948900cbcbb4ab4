"""What TensorFlow has beside its heart: other kinds of tensors, text, tables, files, internals."""
