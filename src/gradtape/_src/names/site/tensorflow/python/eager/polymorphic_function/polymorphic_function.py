"""Part of what TensorFlow has in its module of this name."""

from gradtape._src.function.api import Function, function
from gradtape._src.function.method import Method
