"""From how many places each jaxpr of a program is called.

A function that is called from one place is inlined by the compiler; one that is called from several
is kept, and compiled once.
"""

from __future__ import annotations

from typing import final

from axonym_core.primitives import calls
from axonym_core.programs import Jaxpr, JaxprEqn, programs_in


@final
class CallCounts:
    """The calls in a program.

    Args:
        jaxpr: The program. Each jaxpr inside is walked at most twice.
    """

    __slots__ = ("_called", "_inlined")

    def __init__(self, jaxpr: Jaxpr) -> None:
        self._called: dict[Jaxpr, int] = {}
        self._inlined: dict[Jaxpr, int] = {}
        self._walk(jaxpr)

    def of(self, jaxpr: Jaxpr) -> int:
        """From how many places the function of a jaxpr is called (2 may stand for more)."""
        return self._called.get(jaxpr, 0)

    def inlined(self, eqn: JaxprEqn) -> Jaxpr | None:
        """The jaxpr that an equation calls, where its body will be fused with the caller's."""
        if eqn.primitive is calls.jit_p:
            jaxpr: Jaxpr = eqn.params["jaxpr"]
            return jaxpr if self.of(jaxpr) <= 1 else None
        if eqn.primitive.kind == "call":
            (body,) = programs_in(eqn.primitive, eqn.params)
            return body
        return None

    def _walk(self, jaxpr: Jaxpr) -> None:
        for eqn in jaxpr.eqns:
            if eqn.primitive.programs:
                for program in programs_in(eqn.primitive, eqn.params):
                    self._count(eqn, program)

    def _count(self, eqn: JaxprEqn, jaxpr: Jaxpr) -> None:
        counts = self._called if eqn.primitive is calls.jit_p else self._inlined
        seen = counts[jaxpr] = counts.get(jaxpr, 0) + 1
        # The calls in a function count once. What is written in two places makes its calls twice.
        if seen == 1 or (seen == 2 and counts is self._inlined):
            self._walk(jaxpr)
