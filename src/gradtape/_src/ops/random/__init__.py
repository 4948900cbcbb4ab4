"""Random numbers: in sequence, from generators, from seeds; initializers."""
