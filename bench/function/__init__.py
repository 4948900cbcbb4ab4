"""Training steps under `@function`, beside `jax.jit` and `tf.function(jit_compile=True)`."""
