"""The engine on JAX, whose arrays may be tracers of a program that XLA compiles."""
