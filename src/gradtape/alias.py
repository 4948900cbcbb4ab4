"""gradtape in the place of TensorFlow: after `install_as_tensorflow()`, `import tensorflow` is it.

`tensorflow.x.y` is the module `gradtape.x.y` itself, not a copy, so that types, registries and
tapes are the same under both names.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType

from gradtape._missing import missing_import, missing_module


def install_as_tensorflow() -> Installation:
    """Make every later `import tensorflow` in this process an import of gradtape.

    It stays so until `uninstall()` of the result, or to the end of a `with`:

    >>> with install_as_tensorflow():
    ...     import tensorflow as tf
    >>> tf.__name__
    'gradtape'
    """
    return Installation()


class Installation:
    """What `install_as_tensorflow` did, and the way back."""

    def __init__(self) -> None:
        loaded = sys.modules.get("tensorflow")
        if loaded is not None and loaded is not sys.modules["gradtape"]:
            raise RuntimeError(
                "install_as_tensorflow: TensorFlow itself is imported already. "
                "Call it before the first `import tensorflow`."
            )
        self._alias, self._absent = _Alias(), _Absent()
        sys.meta_path.insert(0, self._alias)
        sys.meta_path.append(self._absent)

    def uninstall(self) -> None:
        """Give the name `tensorflow` back. Modules that imported it keep what they have."""
        if self._alias not in sys.meta_path:
            return
        sys.meta_path.remove(self._alias)
        sys.meta_path.remove(self._absent)
        for name in [n for n in sys.modules if n.partition(".")[0] == "tensorflow"]:
            del sys.modules[name]
        for module in self._alias.opened:
            del module.__path__

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.uninstall()


class _Alias(MetaPathFinder, Loader):
    """Finder, first in sys.meta_path, and loader of `tensorflow` and all below it."""

    def __init__(self) -> None:
        self.opened: list[ModuleType] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] != "tensorflow":
            return None
        if not _exists(_own(name)):
            raise missing_module(name)
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(_own(spec.name))
        spec.loader_state = module.__spec__
        if not hasattr(module, "__path__"):
            # Python asks finders about `import tensorflow.math.x` and `from tensorflow.math import
            # x` only where tensorflow.math has a path; only then can the error be ours.
            module.__path__ = []
            self.opened.append(module)
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module ran under its own name; Python has just replaced its spec by the alias's.
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


class _Absent(MetaPathFinder):
    """Finder, last in sys.meta_path: only a module that no other finder has comes here.

    `from tensorflow import x` asks for the module gradtape.x when gradtape has no such name, and
    would then fail with a message that gives neither the reason nor what is close.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        if name.startswith("gradtape."):
            raise missing_import(name)


def _own(name: str) -> str:
    """The name in gradtape of the module that TensorFlow calls `name`."""
    parts = name.split(".")[1:]
    if parts[:2] == ["compat", "v2"]:
        parts = parts[2:]
    return ".".join(["gradtape", *parts])


def _exists(own: str) -> bool:
    try:
        return own in sys.modules or importlib.util.find_spec(own) is not None
    except ImportError:
        return False
