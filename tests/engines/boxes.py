"""A third engine, to prove the contract with: arrays that are NumPy's in a box that does not open.

As on a device of its own, NumPy cannot read the arrays, nor do they mix with NumPy's arrays in an
operation. The engine defines what the contract demands of an eager engine and nothing else.
"""

import operator
import types

import numpy as np

from gradtape._src.core.engine import register_engine
from gradtape._src.engines import contract

NAMES = {*contract.NAMESPACE.split(), *contract.NAMESPACE_OF_DEFAULTS.split()}
ARRAY = set(contract.ARRAY.split())


class Box:
    """An array that only the functions of `Boxes` and its own operators can read."""

    __array_ufunc__ = None  # NumPy leaves its operators to ours

    def __init__(self, values):
        self._values = values

    def __array__(self, *args, **kwargs):
        raise TypeError("A box does not open for NumPy.")

    def __getattr__(self, name):
        if name not in ARRAY:
            raise AttributeError(f"The contract does not ask for `{name}` of an array.")
        value = getattr(self._values, name)
        return boxed(value) if not callable(value) else lifted(value)

    real = property(lambda self: boxed(self._values.real))
    imag = property(lambda self: boxed(self._values.imag))

    @real.setter
    def real(self, part):
        self._values.real = opened(part)

    @imag.setter
    def imag(self, part):
        self._values.imag = opened(part)

    def __getitem__(self, key):
        return boxed(self._values[opened(key, host=True)])

    def __setitem__(self, key, value):
        self._values[opened(key, host=True)] = opened(value)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return map(boxed, self._values)

    def __bool__(self):
        return bool(self._values)

    def __int__(self):
        return int(self._values)

    def __float__(self):
        return float(self._values)

    def __format__(self, spec):
        return format(self._values, spec)

    def __str__(self):
        return str(self._values)


def _operator(function):
    return lambda *boxes: boxed(function(*map(opened, boxes)))


def _in_place(function):
    def apply(x, y):
        function(x._values, opened(y))
        return x

    return apply


_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
for _name in [*_BINARY, "lshift", "rshift"]:
    _function = getattr(operator, f"__{_name}__")
    setattr(Box, f"__{_name}__", _operator(_function))
    setattr(Box, f"__r{_name}__", _operator(lambda x, y, f=_function: f(y, x)))
    setattr(Box, f"__i{_name}__", _in_place(getattr(operator, f"__i{_name}__")))
for _name in ["neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge"]:
    setattr(Box, f"__{_name}__", _operator(getattr(operator, f"__{_name}__")))


def boxed(value):
    """A result of NumPy, with its arrays in boxes."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Box(np.asarray(value))
    if isinstance(value, tuple) and any(isinstance(v, (np.ndarray, np.generic)) for v in value):
        return tuple(map(boxed, value))
    return value


def opened(value, host=False):
    """An argument for NumPy; an array that is not in a box is refused, unless `host`."""
    if isinstance(value, Box):
        return value._values
    if isinstance(value, np.ndarray) and not host:
        raise TypeError("An array of NumPy met arrays in boxes.")
    if type(value) in (list, tuple):
        return type(value)(opened(v, host) for v in value)
    return value


def lifted(function, host=False):
    def call(*args, **kwargs):
        given = [opened(a, host) for a in args]
        return boxed(function(*given, **{k: opened(v, host) for k, v in kwargs.items()}))

    return call


class Namespace:
    """A part of NumPy's namespace, on boxes."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        if self._module is np and name not in NAMES:
            raise AttributeError(f"The contract does not ask for `{name}` of the namespace.")
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            return Namespace(value)
        if isinstance(value, np.ufunc):
            return Ufunc(value)
        takes_host_arrays = name in ("asarray", "array")
        return lifted(value, takes_host_arrays) if callable(value) else value


class Ufunc:
    def __init__(self, ufunc):
        self._ufunc = ufunc

    def __call__(self, *args, out=None, **kwargs):
        result = lifted(self._ufunc)(*args, out=out, **kwargs)
        return result if out is None else out

    def __getattr__(self, name):
        return lifted(getattr(self._ufunc, name))


class Boxes(contract.Contract):
    name = "boxes"

    def adopt(self, array):
        return Box(array) if isinstance(array, (np.ndarray, np.generic)) else array

    def to_numpy(self, x):
        return opened(x, host=True)


engine = Boxes(Namespace(np))
register_engine(lambda kind: kind is Box, lambda: engine)
