"""Part of what TensorFlow has in `tensorflow.python.util.deprecation`; TensorBoard asks for it."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silence() -> Iterator[None]:
    """A block without warnings of what is deprecated. There are none."""
    yield
