"""Linear functions that a tape recorded, as trees.

What `vjp`, `linearize` and `linear_transpose` return is the record of a tape and holds arrays: the
primal values that it mentions. It is a pytree with these arrays as its leaves, so it may be
returned from compiled functions, carried through loops and saved by forward rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np

from axonym_core.arrays import Array
from axonym_core.programs import JaxprEqn, Var
from axonym_core.types import dtypes


def _is_array(x: Any) -> bool:
    return isinstance(x, Array | np.ndarray) and x.dtype != dtypes.float0


@final
class _Template:
    """A recorded map without its arrays. Compared by identity: one recording, one structure."""

    __slots__ = ("eqns", "first_places", "numbers", "outputs", "static")

    def __init__(self, eqns: Sequence[JaxprEqn], outputs: Sequence[Any], static: Any) -> None:
        self.static = static
        # Where each array stands for the first time, and which one stands at each place.
        self.first_places: list[tuple[int, int]] = []
        self.numbers: dict[tuple[int, int], int] = {}
        known: dict[int, int] = {}
        for i, operands in enumerate([*[e.invars for e in eqns], outputs]):
            for j, x in enumerate(operands):
                if _is_array(x):
                    number = known.setdefault(id(x), len(known))
                    if number == len(self.first_places):
                        self.first_places.append((i, j))
                    self.numbers[i, j] = number
        blank: Sequence[None] = [None] * len(known)
        self.eqns, self.outputs = self._filled(eqns, outputs, blank)

    def values(self, eqns: Sequence[JaxprEqn], outputs: Sequence[Any]) -> list[Any]:
        """The arrays of a map of this structure."""
        return [eqns[i].invars[j] if i < len(eqns) else outputs[j] for i, j in self.first_places]

    def filled(self, values: Sequence[Any]) -> tuple[list[JaxprEqn], list[Any]]:
        """Equations and outputs with arrays in their places."""
        return self._filled(self.eqns, self.outputs, values)

    def _filled(
        self, eqns: Sequence[JaxprEqn], outputs: Sequence[Any], values: Sequence[Any]
    ) -> tuple[list[JaxprEqn], list[Any]]:
        def fill(i: int, operands: Sequence[Any]) -> list[Any]:
            numbers = self.numbers
            return [
                values[numbers[i, j]] if (i, j) in numbers else x for j, x in enumerate(operands)
            ]

        filled = [
            JaxprEqn(e.primitive, tuple(fill(i, e.invars)), e.outvars, e.params, e.source)
            for i, e in enumerate(eqns)
        ]
        return filled, fill(len(eqns), outputs)


class RecordedMap:
    """Base class of the linear functions that `vjp` and its like return.

    Subclasses list in `__slots__` what else they hold, which is no data.
    """

    __slots__ = ("_eqns", "_inputs", "_outputs", "_template")

    def __init__(
        self, eqns: Sequence[JaxprEqn], inputs: Sequence[Var], outputs: Sequence[Any]
    ) -> None:
        self._eqns = eqns
        self._inputs = inputs
        self._outputs = outputs
        self._template: _Template | None = None

    def tree_flatten(self) -> tuple[list[Any], _Template]:
        """The arrays that the map holds, and all else."""
        if self._template is None:
            names = ("_inputs", *type(self).__slots__)
            static = [(name, getattr(self, name)) for name in names]
            self._template = _Template(self._eqns, self._outputs, static)
        return self._template.values(self._eqns, self._outputs), self._template

    @classmethod
    def tree_unflatten(cls, template: _Template, values: Sequence[Any]) -> Self:
        """The map with other arrays."""
        new = cls.__new__(cls)
        new._eqns, new._outputs = template.filled(values)
        new._template = template
        for name, value in template.static:
            setattr(new, name, value)
        return new
