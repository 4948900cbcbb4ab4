"""The context of eager execution, as far as there is one: here every op has run when it returns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...core.tracing import current_graph
from ...tape.scopes import executing_eagerly as executing_eagerly, init_scope


class Context:
    """What TensorFlow's eager context tells its clients."""

    def executing_eagerly(self) -> bool:
        return executing_eagerly()

    @property
    def is_async(self) -> bool:
        """Never: an op has run when it returns."""
        return False

    def sync_executors(self) -> None:
        """Wait for ops that still run: there are none."""

    def clear_kernel_cache(self) -> None:
        """Nothing: programs belong to their functions, and go with them.

        No garbage is collected either. Keras calls this between any two of its tests, and a
        collection takes longer than most of them; where memory matters, it collects by itself.
        """

    def ensure_initialized(self) -> None:
        """Nothing is to be set up."""

    def num_gpus(self) -> int:
        return 0


_context = Context()


def context() -> Context:
    """The one context."""
    return _context


def async_wait() -> None:
    """Wait for ops that still run: there are none."""


@contextmanager
def eager_mode() -> Iterator[None]:
    """A block whose ops compute at once, also inside a function that is being traced."""
    with init_scope():
        yield


def in_graph_mode() -> bool:
    """Whether ops are being traced."""
    return current_graph() is not None


def enabled() -> bool:
    """Whether the behaviour is that of TensorFlow 2. It is."""
    return True


def _reset_context() -> None:
    """Begin anew: there is nothing that was set up."""
