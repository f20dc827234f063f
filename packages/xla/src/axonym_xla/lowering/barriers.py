"""Optimization barriers, also for versions of XLA that drop them before they fuse.

A barrier makes XLA compute a value once and keep it. Without, it may compute it again in every
operation that reads it: slower where the value is long to compute, and wrong where it is compared
with its own maximum, for two computations may round it in two ways.

The compiler for the CPU in jaxlib 0.10 takes barriers out before it fuses, so they hold nothing.
What it never looks into is a call that must not be inlined. So there each barrier becomes such a
call of the identity, which costs a copy. (In later versions a barrier costs nothing.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

from .structure import Argument, Function


@final
class Barriers:
    """The barriers of one module.

    Args:
        as_calls: Whether they are calls of the identity.
    """

    __slots__ = ("_as_calls", "_identities")

    def __init__(self, *, as_calls: bool) -> None:
        self._as_calls = as_calls
        self._identities: dict[tuple[str, ...], Function] = {}  # by types

    def operation(self, operands: Sequence[str], types: Sequence[str]) -> str:
        """A barrier for some values."""
        if not self._as_calls:
            return f"stablehlo.optimization_barrier {', '.join(operands)} : {', '.join(types)}"
        key = tuple(types)
        identity = self._identities.get(key)
        if identity is None:
            arguments = [Argument(f"%arg{i}", kind) for i, kind in enumerate(key)]
            # No other function of a module begins with an underscore.
            name = f"_barrier{len(self._identities)}"
            identity = Function(name, arguments, [], [a.name for a in arguments], key)
            self._identities[key] = identity
        return identity.call(operands, kept=True)

    def functions(self) -> Iterable[Function]:
        """The functions that the barriers call."""
        return self._identities.values()
