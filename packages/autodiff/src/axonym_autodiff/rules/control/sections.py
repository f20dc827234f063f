"""The sections of a loop's operands, by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from axonym_core.extend import instantiate
from axonym_core.programs import Atom, Jaxpr, Var, with_results
from axonym_core.types import ShapedArray

from ...programs import Mask
from ...tape import widen
from ..calls import chosen


class Sections(NamedTuple):
    """Something for each operand of a loop: for its constants, its carry, what it scans."""

    consts: Sequence[Any]
    carry: Sequence[Any]
    xs: Sequence[Any]

    @property
    def flat(self) -> tuple[Any, ...]:
        """All of it in the order of the operands."""
        return (*self.consts, *self.carry, *self.xs)

    def chosen(self, mask: Sections) -> Sections:
        """What is at the places of a mask."""
        return Sections(*[chosen(part, tuple(m)) for part, m in zip(self, mask, strict=True)])

    def dealt(self, values: Sequence[Any]) -> Sections:
        """Values for the true places of this mask, dealt to their sections."""
        rest = iter(values)
        return Sections(*[list(islice(rest, sum(part))) for part in self])


def sections(values: Sequence[Any], num_consts: int, num_carry: int) -> Sections:
    """Divide something that there is for each operand."""
    start = num_consts + num_carry
    return Sections(values[:num_consts], values[num_consts:start], values[start:])


def either(a: Mask, b: Mask) -> Mask:
    """Places that are in one of two masks."""
    return tuple([x or y for x, y in zip(a, b, strict=True)])


def arranged(jaxpr: Jaxpr, arguments: Sequence[Var], results: Sequence[Atom]) -> Jaxpr:
    """The same program with its arguments and results in another order; each time one object."""
    return jaxpr.derived(
        ("arranged", tuple(arguments), tuple(results)),
        lambda: with_results(jaxpr, results, arguments),
    )


def instantiated(tangents: Sequence[Any], mask: Mask, avals: Sequence[ShapedArray]) -> list[Any]:
    """Tangents at the places of a mask as arrays of the types that the loop carries."""
    return [
        widen(instantiate(t), aval.named)
        for t, m, aval in zip(tangents, mask, avals, strict=True)
        if m
    ]
