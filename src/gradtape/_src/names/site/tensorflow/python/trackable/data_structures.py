"""Part of what TensorFlow has in `tensorflow.python.trackable.data_structures`."""

from gradtape._src.compat.internals.tracking import (
    ListWrapper,
    _DictWrapper,
    _TupleWrapper,
    wrap as wrap_or_unwrap,
)
from gradtape._src.core.trackable import NoDependency
