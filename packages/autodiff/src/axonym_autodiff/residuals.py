"""Which primal values a linear program is given, and which it computes again.

The linear part of a function that is called, or looped, takes its residuals through memory: every
one is a result of the primal program (in a loop, of every step). Most are cheap element-wise
functions of a few others. A residual that can be computed from arguments and other residuals by
cheap operations is computed again in the linear program instead; so is one that comes from values
which together are not larger than it (a broadcast array; several functions of one exponential).

Operations that cost as much as several memory accesses (contractions, reductions, exponentials) are
never repeated; `Primitive.cheap` says which may be. The choice is greedy, from the last value to
the first, and takes time linear in the size of the program, since at most `_MOST_STEPS` operations
are considered for a residual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axonym_core.programs import JaxprEqn, Var

_MOST_STEPS = 24


def _size(var: Var) -> int:
    return var.aval.size * max(var.aval.dtype.itemsize, 1)


def choose_residuals(
    needed: Sequence[Var], eqns: Sequence[JaxprEqn], available: frozenset[Var]
) -> tuple[list[Var], list[JaxprEqn]]:
    """Choose what to save of a primal program.

    Args:
        needed: Values that the linear program reads.
        eqns: The primal program.
        available: Values that cost nothing: the program's arguments.

    Returns:
        The values to save or pass on, in order, and the equations to repeat, in order.
    """
    position: dict[Var, int] = {}
    producers: dict[Var, JaxprEqn] = {}
    for i, eqn in enumerate(eqns):
        for v in eqn.outvars:
            position[v] = i
        if eqn.primitive.cheap:
            producers.update(dict.fromkeys(eqn.outvars, eqn))
    saved: dict[Var, None] = dict.fromkeys(needed)
    repeated: dict[int, JaxprEqn] = {}
    for var in sorted(needed, key=lambda v: position.get(v, -1), reverse=True):
        if var not in producers:
            continue
        found = _from_others(var, producers, saved, available, position)
        if found is None:
            continue
        leaves, steps = found
        del saved[var]
        saved.update(dict.fromkeys(leaves))
        repeated.update(steps)
    # A value that a later one is computed from may itself have been dropped: its own equations are
    # among the repeated ones then, and come first.
    return list(saved), [repeated[i] for i in sorted(repeated)]


def _from_others(
    var: Var,
    producers: Mapping[Var, JaxprEqn],
    saved: Mapping[Var, Any],
    available: frozenset[Var],
    position: Mapping[Var, int],
) -> tuple[list[Var], dict[int, JaxprEqn]] | None:
    """Leaves to read and equations to repeat for a value, if that is better than saving it."""
    leaves: dict[Var, None] = {}
    steps: dict[int, JaxprEqn] = {}
    added = 0
    pending = [var]
    while pending:
        v = pending.pop()
        eqn = producers.get(v)
        if v is not var and (v in saved or v in available):
            leaves[v] = None
        elif eqn is None or len(steps) >= _MOST_STEPS:
            if v not in leaves:
                leaves[v] = None
                added += _size(v)
        elif position[v] not in steps:
            steps[position[v]] = eqn
            pending.extend([a for a in eqn.invars if type(a) is Var])
        if added > _size(var):
            return None
    return list(leaves), steps
