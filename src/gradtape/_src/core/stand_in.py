"""StandIn: an object of another library that stands for a tensor, as Keras' variables do.

Its method `__tf_tensor__(dtype, name)`, of TensorFlow's protocol, gives that tensor. Its class
inherits from this one, `tf.__internal__.types.Tensor`, and so its objects are tensors to every op.
What stands for a variable has a `handle` besides, the variable itself, by which tapes know it.
"""

from __future__ import annotations

from typing import Any

from .convert import as_tensor
from .tensor import Tensor


class StandIn:
    """Base of classes whose objects stand for a tensor."""

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} stands for a tensor, and must say for which one in "
            "`__tf_tensor__(self, dtype=None, name=None)`."
        )

    def _as_tensor(self) -> Tensor:
        return as_tensor(self.__tf_tensor__())

    @property
    def _key(self) -> int:
        """The key of the variable, which tapes know in the place of its stand-in."""
        key: int = self.handle._key  # type: ignore[attr-defined]
        return key
