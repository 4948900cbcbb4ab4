"""Keras' `utils`: the module `gradtape.utils` itself."""

import sys

from gradtape import utils

sys.modules[__name__] = utils
