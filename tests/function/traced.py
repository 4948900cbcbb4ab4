"""Traced mode for tests that were written for eager code.

A test body runs while a graph is open, as the body of a `@function` does: the tensors that it makes
by `tf.constant` and `tf.convert_to_tensor` are symbolic, like arguments, and so are the values of
variables. Where the body asks for values, the program traced so far is run, op by op on XLA.
"""

import functools
from contextlib import contextmanager

import jax
import numpy as np

import gradtape
from gradtape._src.core.recorder import listeners
from gradtape._src.core.tensor import Tensor, is_symbolic
from gradtape._src.core.tracing import current_graph
from gradtape._src.function.control import COMPILED
from gradtape._src.function.cut import Cut, Mark
from gradtape._src.function.graph import Graph
from gradtape._src.function.trace import sized, var_of

MADE_BY = ["constant", "convert_to_tensor"]
"""The functions of gradtape whose tensors become symbolic."""

values_of_eager_tensors = Tensor._values


class TracedTest(Graph):
    """The graph of a test; it can tell values while it is traced."""

    def feed(self, like, supply):
        """One run of the program asks each supply once, however often values are looked at."""
        return super().feed(like, functools.cache(supply))

    def symbolic(self, tensor):
        """A tensor that has the values of `tensor`, and does not show them while tracing."""
        array = tensor._array
        if current_graph() is not self or is_symbolic(array) or array.dtype == object:
            return tensor
        x = self.tensor(array)
        self.feeds.append((x._array, lambda: array))
        return x

    def value(self, array):
        """The value of a tracer, from the equations so far; or what a check among them raises."""
        cut = Cut(self.trace, Mark(0, 0), self.mark(), [array])
        supplies = {var_of(tracer): supply for tracer, supply in self.feeds}
        for key, x in self.read_as.items():
            supplies[var_of(x._array)] = self.variables[key]._cell.array
        inputs = [supplies[var_of(tracer)]() for tracer in cut.free]
        rounds = dict.fromkeys(self.kept_rounds(), 30)  # no test makes more
        with self.outside(), sized(rounds):
            value = np.asarray(cut.run(cut.free, inputs)[0])
            jax.effects_barrier()
        if self.messages:
            raise self.messages.pop()
        return value


@contextmanager
def traced(monkeypatch):
    """A block that is traced; the tapes that it opens it must close."""
    graph = TracedTest("test", COMPILED)

    def values(tensor, use):
        if graph.trace.owns(tensor._array) and current_graph() is graph:
            return graph.value(tensor._array)
        return values_of_eager_tensors(tensor, use)

    monkeypatch.setattr(Tensor, "_values", values)
    for name in MADE_BY:
        monkeypatch.setattr(gradtape, name, _symbolic_result(graph, getattr(gradtape, name)))
    with graph.running():
        yield
        left = [recorder for recorder in listeners() if recorder is not graph]
    assert not left, f"tapes are left active: {left}"


def _symbolic_result(graph, make):
    @functools.wraps(make)
    def made(*args, **kwargs):
        return graph.symbolic(make(*args, **kwargs))

    return made
