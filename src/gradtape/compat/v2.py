"""TensorFlow's `tf.compat.v2`: the package gradtape itself, not a copy of it."""

import sys

sys.modules[__name__] = sys.modules["gradtape"]
