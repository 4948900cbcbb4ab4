"""A plug-in for pytest: the tests run with the stand-in for CuPy, as if there were a GPU."""

from . import card

card.install()
