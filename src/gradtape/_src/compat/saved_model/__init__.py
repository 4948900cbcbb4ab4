"""`tf.saved_model`: objects in a folder, with their variables and compiled functions.

The folder is gradtape's own, not TensorFlow's format: `model.json` says what the objects are,
`variables.safetensors` has the values, `programs/` the functions as StableHLO. Nothing of Python is
in it, and nothing in it is run but the programs, by XLA.
"""
