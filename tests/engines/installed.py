"""A plug-in for pytest: the tests run with the stand-in for CuPy, as if there were a GPU."""

import numpy as np

from . import card

np.seterr(all="ignore")  # a card does not warn
card.install()
