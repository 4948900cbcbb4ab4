"""The shapes of an op's results where its kernel does not understand open sizes: by example.

Not everything can be said with symbols: whether two open sizes are equal, whether a window fits. In
a graph that serves to learn shapes, such an op is run on some sizes in place of the open ones. A
size of the result that differs between examples is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.op import as_tuple
from ..core.sizes import is_open
from ..core.spec import Spec
from ..core.tensor import Tensor, is_symbolic
from .control import COMPILED
from .graph import Graph
from .trace import names_of, numbers, sized

Example = dict[str, int]  # sizes by the names of what stands for them


def results_by_example(graph: Any, op: Any, inputs: list[Any], params: dict[str, Any]) -> Any:
    """What `op` gives, as new inputs of `graph` of these shapes; None if no example works."""
    known = [n for x in inputs for n in x._array.shape if is_open(n)]
    known += [n for value in params.values() for n in _sizes_in(value)]
    names = sorted({name for n in known for name in names_of(n)})
    for examples in _examples(names):
        try:
            found = [_run(op, inputs, params, example) for example in examples]
        except Exception:  # of any kind: it does not fit these sizes
            continue
        results = tuple([_common(graph, outputs, examples, known) for outputs in zip(*found)])  # noqa: B905
        return results if len(results) > 1 else results[0]
    return None


def _examples(names: list[str]) -> Iterator[list[Example]]:
    """Pairs of examples: all sizes different, all equal, all one."""
    yield [{name: 24 + 12 * i for i, name in enumerate(names)},
           {name: 72 + 24 * i for i, name in enumerate(names)}]  # fmt: skip
    yield [dict.fromkeys(names, 24), dict.fromkeys(names, 60)]
    yield [dict.fromkeys(names, 1)]


def _run(op: Any, inputs: list[Any], params: dict[str, Any], example: Example) -> Any:
    graph = Graph(f"an example of {op.name}", COMPILED)
    with graph.running(), sized(example):
        tensors = [
            graph.tensor(Spec(numbers(x._array.shape), x._array.dtype))
            if is_symbolic(x._array)
            else x
            for x in inputs
        ]
        outputs = op.call(*tensors, **{name: _numbered(v) for name, v in params.items()})
        return [(y._array.shape, y._array.dtype) for y in as_tuple(outputs)]


def _common(graph: Any, outputs: Any, examples: list[Example], known: list[Any]) -> Tensor:
    """A tensor of the shape that an output has in all examples."""
    shapes = [shape for shape, _ in outputs]
    sizes = [_size(graph, axis, examples, known) for axis in zip(*shapes, strict=True)]
    tensor: Tensor = graph.tensor(Spec(tuple(sizes), outputs[0][1]))
    return tensor


def _size(graph: Any, found: tuple[int, ...], examples: list[Example], known: list[Any]) -> Any:
    if len(examples) == 1 and found[0] != 1:
        return found[0]
    if len(examples) > 1 and len(set(found)) == 1:
        return found[0]
    for size in known:
        if all(_at(size, example) == n for n, example in zip(found, examples, strict=True)):
            return size
    return graph.new_size()


def _at(size: Any, example: Example) -> Any:
    with sized(example):
        return numbers([size])[0]


def _sizes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from _sizes_in(part)
    elif isinstance(value, slice):
        yield from _sizes_in((value.start, value.stop, value.step))
    elif is_open(value):
        yield value


def _numbered(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)([_numbered(part) for part in value])
    if isinstance(value, slice):
        return slice(*[_numbered(part) for part in (value.start, value.stop, value.step)])
    return numbers([value])[0]
