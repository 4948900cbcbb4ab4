"""Elements and specs in Python's own types, for comparison."""

import collections

Pair = collections.namedtuple("Pair", "a b")


def plain(value):
    """An element in Python's own types."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [plain(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.tolist() if hasattr(value, "tolist") else value


def values(dataset):
    return [plain(element) for element in dataset.as_numpy_iterator()]


def shapes(spec):
    return [None if s.shape.rank is None else tuple(s.shape) for s in spec]
