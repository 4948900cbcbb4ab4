"""What gradtape is checked with, for you to check your own ops and functions with."""

from ._src.names import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(globals())
