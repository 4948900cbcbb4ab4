"""`tf.compat`: `compat.v2` is gradtape itself."""

import sys

v2 = sys.modules["gradtape"]

# As os does for os.path: `import gradtape.compat.v2 as tf` finds the package, not a copy of it.
sys.modules[f"{__name__}.v2"] = v2
