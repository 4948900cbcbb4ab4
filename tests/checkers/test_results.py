"""What public functions and methods give has a type, but where nobody can know it."""

import importlib
import inspect
import typing
from collections import ChainMap

from tests.names.test_tree import INTERNAL, NAMESPACES

ELEMENT = "an element of a dataset, or what describes it"
NUMBER = "a number of the dtype"
STRUCTURE = "nested as an argument is"
OVERLOADED = "said by the overloads"
LIBRARY = "of a library that may not be there, or has no types"
UNKNOWN = {
    "DType.max": NUMBER,
    "DType.min": NUMBER,
    "Dataset.get_single_element": ELEMENT,
    "DatasetSpec.element_spec": ELEMENT,
    "DistributedIterator.element_spec": ELEMENT,
    "FixedLengthRecordDataset.get_single_element": ELEMENT,
    "Iterator.element_spec": ELEMENT,
    "TFRecordDataset.get_single_element": ELEMENT,
    "TextLineDataset.get_single_element": ELEMENT,
    "Iterator.get_next": ELEMENT,
    "Optional.element_spec": ELEMENT,
    "Optional.get_value": ELEMENT,
    "GradientMonitor.plot": LIBRARY,
    "GradientTape.jacobian_structure": LIBRARY,
    "GradientTape.sparse_jacobian": LIBRARY,
    "map_structure": STRUCTURE,
    "pack_sequence_as": STRUCTURE,
    "get_step": "what set_step was given",
    "TypeSpec.value_type": "a type of the user's",
}


def functions():
    """(name, function) of every public function, and of every public method where it is made.

    What a private base has is its subclass's. Not those of `compat`: what these give is dense,
    sparse or ragged as their arguments are, or what a function of the user's returns.
    """
    for name, function in _functions():
        if not function.__module__.startswith("gradtape._src.compat."):
            yield name, function


def _functions():
    for module in [name for name in NAMESPACES if name != INTERNAL]:
        space = importlib.import_module(module)
        for name in dir(space):
            value = getattr(space, name)
            if isinstance(value, type):
                made = [kind for kind in value.__mro__ if "._src." in kind.__module__]
                for part, raw in ChainMap(*map(vars, [value, *made])).items():
                    function = getattr(raw, "fget", getattr(raw, "__func__", raw))
                    if inspect.isfunction(function) and not part.startswith("_"):
                        yield f"{value.__name__}.{part}", function
            elif inspect.isfunction(value):
                yield name, value


def test_results_have_types():
    found = {}
    for name, function in functions():
        if function.__annotations__.get("return", "Any") == "Any":
            overloads = typing.get_overloads(function)
            found[name] = OVERLOADED if overloads else "Any"
    assert {name for name, how in found.items() if how == "Any"} == set(UNKNOWN)
    assert found["GradientTape.gradient"] == OVERLOADED
