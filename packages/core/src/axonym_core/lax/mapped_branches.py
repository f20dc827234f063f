"""Branches that are evaluated at all indices of an axis, since the condition varies over it.

At an index that takes another branch, what this one computes is thrown away. It may be infinite or
NaN; then its derivative multiplies a zero cotangent with infinity, which gives NaN, and where the
cotangent belongs to an operand that all indices share, nothing throws that away. So an index that
does not take the branch computes it with the operands of one that does, as constants.

A branch that sums over the axes itself (or refers to other indices in another way) reads values at
all indices, whether they take the branch or not. So what such an operation is given is computed
from the operands as they are; what it returns is for each index an operand again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from ..operators.promotion import strong
from ..primitives.calls import jit_p
from ..programs.effects import NONE, require_none
from ..programs.evaluation import eval_jaxpr
from ..programs.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from ..programs.walking import bind_equation, needed_equations
from ..types import dtypes
from ..types.avals import AxisName, ShapedArray, aval_of
from .collectives import axis_index, axis_size, pmin, psum
from .elementwise import convert_element_type, eq, gt, lt, ne, select, select_n, stop_gradient

Guard = Callable[[Any], Any]


def select_branch(
    index: Any,
    branches: Sequence[Jaxpr],
    args: Sequence[Any],
    guard_for: Callable[[Any], Guard] | None,
) -> list[Any]:
    """A `cond` whose condition is mapped, as a selection from the results of all branches.

    Args:
        index: Index of the branch to take.
        branches: The branches.
        args: Their operands.
        guard_for: `guard_for(here)`, where `here` says who takes a branch, returns a function that
            makes an operand of the branch fit to be used at all indices. None where branches are
            linear: what is thrown away is zero then.
    """
    require_none(
        NONE.union(*[branch.effects for branch in branches]),
        "evaluating all branches of a cond, since its condition is mapped,",
        "take it out of the branches, or leave the condition unmapped",
    )
    axes = aval_of(index).names
    results = []
    for i, branch in enumerate(branches):
        if guard_for is None or not args:
            results.append(eval_jaxpr(branch, *args))
        else:
            fit = guard_for(eq(index, np.int32(i)))
            args = [strong(x) for x in args]  # numbers would be rounded by what is done to them
            results.append(_evaluate(branch, args, [fit(x) for x in args], fit, axes)[1])
    which = ne(index, np.int32(0)) if len(branches) == 2 else index
    return [select_n(which, *alternatives) for alternatives in zip(*results, strict=True)]


def _evaluate(
    jaxpr: Jaxpr,
    args: Sequence[Any],
    guarded: Sequence[Any],
    fit: Guard,
    axes: frozenset[AxisName],
    wanted: Sequence[Atom] = (),
) -> tuple[list[Any], list[Any]]:
    """Evaluate a program on guarded operands; what others read, on operands as they are.

    Returns:
        The values of `wanted` variables on operands as they are; the results on guarded ones.
    """
    if axes.isdisjoint(jaxpr.axes_communicated):
        return [], eval_jaxpr(jaxpr, *guarded)
    _, read_by_others = needed_equations(
        jaxpr.eqns, wanted, lambda eqn: axes & eqn.axes_communicated
    )
    consts = dict(zip(jaxpr.constvars, jaxpr.consts, strict=True))
    plain: dict[Var, Any] = {**consts, **dict(zip(jaxpr.invars, args, strict=True))}
    own: dict[Var, Any] = {**consts, **dict(zip(jaxpr.invars, guarded, strict=True))}
    for eqn in jaxpr.eqns:
        if axes.isdisjoint(eqn.axes_communicated):
            if not read_by_others.isdisjoint(eqn.outvars):
                plain.update(_results(eqn, plain))
            own.update(_results(eqn, own))
        elif eqn.primitive is jit_p:  # other calls have derivative rules of their own
            inner: Jaxpr = eqn.params["jaxpr"]
            plain_args, own_args = [[_read(env, a) for a in eqn.invars] for env in (plain, own)]
            outs = _evaluate(inner, plain_args, own_args, fit, axes, inner.outvars)
            for env, values in zip((plain, own), outs, strict=True):
                env.update(zip(eqn.outvars, values, strict=True))
        else:
            plain.update(_results(eqn, plain))
            own.update({v: fit(plain[v]) for v in eqn.outvars})
    return [_read(plain, a) for a in wanted], [_read(own, a) for a in jaxpr.outvars]


def _read(env: Mapping[Var, Any], atom: Atom) -> Any:
    return atom.val if type(atom) is Literal else env[atom]


def _results(eqn: JaxprEqn, env: Mapping[Var, Any]) -> dict[Var, Any]:
    out = bind_equation(eqn, [_read(env, a) for a in eqn.invars])
    return dict(zip(eqn.outvars, out if eqn.primitive.multiple_results else (out,), strict=True))


@final
class Takers:
    """The indices of named axes that take a branch.

    Args:
        here: 0-d boolean that varies over at least one axis: whether this index takes the branch.
    """

    __slots__ = ("_axes", "_ever", "_here", "_one")

    def __init__(self, here: Any) -> None:
        self._axes: tuple[AxisName, ...] = tuple([name for name, _ in aval_of(here).named])
        self._here = here
        index, size = axis_index(self._axes), np.int32(axis_size(self._axes))
        first = pmin(select(here, index, size), self._axes)
        self._one = eq(index, first)
        self._ever = lt(first, size)

    def value_at_one(self, x: Any) -> Any:
        """Value of `x` at the first index that takes the branch; it does not vary over the axes."""
        x = strong(x)
        dtype = aval_of(x).dtype
        if dtype == np.bool_:
            x = convert_element_type(x, np.int32)
        found = psum(select(self._one, x, aval_of(x).dtype.type(0)), self._axes)
        return gt(found, np.int32(0)) if dtype == np.bool_ else found

    def operand(self, x: Any) -> Any:
        """An operand of the branch, fit to be used at all indices."""
        if aval_of(x).names.isdisjoint(self._axes):
            return counted_if(self._ever, x)
        x = strong(x)
        here = chosen_along(aval_of(x), self._here)
        return select(here, x, stop_gradient(self.value_at_one(x)))


def chosen_along(aval: ShapedArray, chosen: Any) -> Any:
    """Whether an operand is used, where it varies over fewer axes than what says who uses it.

    Args:
        aval: Type of the operand.
        chosen: Boolean that varies over named axes: who takes the branch.
    """
    missing = tuple([name for name, _ in aval_of(chosen).named if name not in aval.names])
    return gt(psum(chosen, missing), np.int32(0)) if missing else chosen


def counted_if(ever: Any, x: Any) -> Any:
    """A value that indices share, as it is; its derivative counts if any of them takes the branch.

    Args:
        ever: 0-d boolean.
        x: The value. It may be a weight, so it is not copied for each index.
    """
    if not dtypes.is_inexact(aval_of(x).dtype):
        return x
    x = strong(x)
    return select(ever, x, stop_gradient(x))


def guard(here: Any) -> Guard:
    """What makes operands of a branch that is taken `here` fit to be used at all indices."""
    return Takers(here).operand
