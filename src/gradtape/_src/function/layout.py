"""How the arrays of a compiled call lie: variables by themselves, or side by side in packs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import lax, numpy as jnp

from ..core.spec import Spec
from ..tape.cell import Cell, Loan
from ..tape.pack import Pack


class Layout:
    """The inputs and outputs of a program, and those of a call, which `Loan` lends and takes back.

    inputs of the program    arguments, variables, random keys
    inputs of a call         arguments, loose variables, packs, random keys; then spare arrays
    outputs of the program   results, values of assigned variables, and what its checks say
    outputs of a call        assigned loose variables, packs, results, and what its checks say
    """

    def __init__(self, inputs: list[Any], arguments: int, results: int, loan: Loan) -> None:
        self.arguments = arguments
        self._inputs = inputs
        self.results = results
        self._loan = loan
        self._number = {cell: i for i, cell in enumerate(loan.cells)}
        keys = inputs[arguments + len(loan.cells) :]
        self._keys = len(keys)
        packs = [Spec(pack.array.shape, pack.array.dtype) for pack in loan.packs]
        self.inputs = [*inputs[:arguments], *map(self._input_of, loan.loose), *packs, *keys]
        self.spares = list(map(self._input_of, loan.assigned_loose))
        self.assigned = len(loan.assigned_loose) + len(loan.assigned_packs)

    def _input_of(self, cell: Cell) -> Any:
        return self._inputs[self.arguments + self._number[cell]]

    def inputs_of_program(self, arrays: Sequence[Any]) -> list[Any]:
        """While a call is traced: the inputs of the program, of those of the call."""
        loan, start = self._loan, self.arguments
        values = dict(zip(loan.loose, arrays[start:], strict=False))
        for pack, array in zip(loan.packs, arrays[start + len(values) :], strict=False):
            values |= _parts(pack, array)
        end = len(self.inputs)
        variables = [values[cell] for cell in loan.cells]
        return [*arrays[:start], *variables, *arrays[end - self._keys : end]]

    def outputs_of_call(self, outputs: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
        """While a call is traced: its outputs, of those of the program and the call's inputs."""
        loan, count = self._loan, self.results
        end = count + len(loan.assigned)
        new = dict(zip(loan.assigned, outputs[count:end], strict=True))
        first = self.arguments + len(loan.loose)
        packs = []
        for pack in loan.assigned_packs:
            values = _parts(pack, arrays[first + loan.packs.index(pack)]) | new
            packs.append(jnp.concatenate([values[cell].reshape(-1) for cell in pack.cells]))
        loose = [new[cell] for cell in loan.assigned_loose]
        # JAX gives a donated array to the first output of its shape: to one that is a variable.
        return [*loose, *packs, *outputs[:count], *outputs[end:]]

    def values(self, arrays: Sequence[Any]) -> list[Any]:
        """The inputs of the program in a call with these arrays, to run it again."""
        end = len(self.inputs)
        variables = [cell.read()._array for cell in self._loan.cells]
        return [*arrays[: self.arguments], *variables, *arrays[end - self._keys : end]]


def _parts(pack: Pack, array: Any) -> dict[Cell, Any]:
    """The value of each cell of a pack whose array is a tracer."""
    return {
        cell: lax.reshape(lax.slice(array, (place.start,), (place.stop,)), place.shape)
        for cell, place in zip(pack.cells, pack.places, strict=True)
    }
