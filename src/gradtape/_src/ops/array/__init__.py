"""Making, shaping, indexing and joining tensors."""
