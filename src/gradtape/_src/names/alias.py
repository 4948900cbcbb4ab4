"""gradtape in the place of TensorFlow: after `install_as_tensorflow()`, `import tensorflow` is it.

`tensorflow` is a module of its own (`site/tensorflow`), with TensorFlow's version and gradtape's
names. Below it, `tensorflow.x.y` is the module `gradtape.x.y` itself, so that types, registries and
tapes are the same under both names. The folder `site` also holds what `importlib.metadata` reads,
and is on the path of child processes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module, util
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from . import Names, show_classes_in
from .missing import missing_module
from .private_places import PRIVATE_PLACES

_JAX2TF = "jax.experimental.jax2tf"
"""Replaced too: JAX's own module calls the runtime of TensorFlow, which is not here."""

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")


def install_as_tensorflow() -> Installation:
    """Make every later `import tensorflow`, here and in child processes, an import of gradtape.

    It stays so until `uninstall()` of the result, or to the end of a `with`:

    >>> with install_as_tensorflow():
    ...     import tensorflow as tf
    ...     tf.Tensor
    <class 'tensorflow.python.framework.tensor.Tensor'>
    >>> tf.Tensor
    <class 'gradtape.Tensor'>
    """
    return Installation()


class Installation(AbstractContextManager["Installation"]):
    """What `install_as_tensorflow` did, and the way back."""

    def __init__(self) -> None:
        _alias.install(self)

    def uninstall(self) -> None:
        """Give the name `tensorflow` back. Modules that imported it keep what they have."""
        _alias.uninstall(self)

    def __exit__(self, *error: object) -> None:
        self.uninstall()


class _Alias(MetaPathFinder, Loader):
    """Finder, first in sys.meta_path, and loader of `tensorflow` and all below it."""

    def __init__(self) -> None:
        self.users: set[Installation | None] = set()

    def install(self, user: Installation | None) -> None:
        loaded = sys.modules.get("tensorflow")
        if loaded is not None and not str(getattr(loaded, "__file__", "")).startswith(SITE):
            raise RuntimeError(
                "gradtape cannot take the name `tensorflow`: TensorFlow itself is imported "
                "already. Call install_as_tensorflow(), or use tf.keras of gradtape, before the "
                "first `import tensorflow`."
            )
        if not self.users:
            sys.meta_path.insert(0, self)
            # Behind the folder of the script, before the installed packages.
            self.on_path = SITE in sys.path
            if not self.on_path:
                sys.path.insert(0 if sys.flags.safe_path else 1, SITE)
            self.python_path = os.environ.get("PYTHONPATH")
            before = self.python_path or ""
            if SITE not in before.split(os.pathsep):
                os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SITE, before]))
            show_classes_in("tensorflow", PRIVATE_PLACES)
        self.users.add(user)

    def uninstall(self, user: Installation) -> None:
        if user not in self.users:
            return
        self.users.remove(user)
        if self.users:
            return
        show_classes_in("gradtape")
        if self.python_path is None:
            os.environ.pop("PYTHONPATH", None)
        else:
            os.environ["PYTHONPATH"] = self.python_path
        if not self.on_path and SITE in sys.path:
            sys.path.remove(SITE)
        sys.meta_path.remove(self)
        for name in [n for n in sys.modules if n.partition(".")[0] == "tensorflow"]:
            del sys.modules[name]
        if sys.modules.pop(_JAX2TF, None) is not None:
            del sys.modules["jax.experimental"].jax2tf

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, *parts = name.split(".")
        if name == _JAX2TF:
            return ModuleSpec(name, self)
        if root != "tensorflow":
            return None
        file = PathFinder.find_spec(name, [os.path.join(SITE, *name.split(".")[:-1])])
        if file is not None:
            return file
        hidden = [part for part in parts if part.startswith("_") and part != "__internal__"]
        if not hidden and _exists(_own(name)):
            return ModuleSpec(name, self, is_package=True)
        if sys._getframe(2).f_globals["__name__"] == "importlib.util":
            return None  # the caller of find_spec asks whether there is such a module
        raise missing_module(name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_own(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module ran under its own name; Python has just replaced its spec by the alias's.
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


_alias = _Alias()


def stay_installed() -> None:
    """Install the alias for good."""
    _alias.install(None)


def face(module: dict[str, Any]) -> Names:
    """The `__getattr__`, `__dir__` and `__all__` of a module in `site`, by its globals."""
    if not _alias.users:
        stay_installed()  # in a child process, which found the module by its path
    own: Any = import_module(_own(module["__name__"]))

    def get(name: str) -> Any:
        if name.startswith("_") and name != "__internal__":
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        value = module[name] = getattr(own, name)
        return value

    return get, own.__dir__, own.__all__


def _own(name: str) -> str:
    """The module that has the name `name`, of TensorFlow, by the name it runs under."""
    if name == _JAX2TF:
        return "gradtape._src.compat.jax2tf"
    v2 = "tensorflow.compat.v2"
    if name == v2 or name.startswith(f"{v2}."):
        return "tensorflow" + name.removeprefix(v2)
    return "gradtape" + name.removeprefix("tensorflow")


def _exists(own: str) -> bool:
    try:
        return own in sys.modules or util.find_spec(own) is not None
    except ImportError:
        return False
