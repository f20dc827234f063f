"""Effects: what an operation does besides giving results.

An operation without effects may be dropped where nobody reads its results, computed again instead
of being remembered, moved out of a loop, or evaluated at an index that throws its result away. One
with effects is done exactly as often as the program says. No primitive of the packages has any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import EffectError


class Effect(NamedTuple):
    """A kind of effect.

    Attributes:
        name: What it is, as in `log`; printed after programs that have it.
        ordered: Whether operations with this effect must follow each other as they are written.
    """

    name: str
    ordered: bool = False


Effects = frozenset[Effect]

NONE: Effects = frozenset()


def names_of(effects: Iterable[Effect]) -> str:
    """The effects in words, in the order of their names."""
    return ", ".join(sorted([e.name for e in effects]))


def require_none(effects: Effects, where: str, mend: str) -> None:
    """Refuse what an operation with effects cannot have done to it.

    Args:
        effects: Effects of the operation or program.
        where: What would be done, as in `vmap of cond with a mapped condition`.
        mend: What to do instead.

    Raises:
        EffectError: There are effects.
    """
    if effects:
        raise EffectError(
            f"{where} would do more or less often than written what has the effect "
            f"{names_of(effects)}; {mend}"
        )
