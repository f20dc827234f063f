"""Branches that are evaluated at all indices of an axis, since the condition varies over it.

At an index that takes another branch, what this one computes is thrown away. It may be infinite or
NaN; then its derivative multiplies a zero cotangent with infinity, which gives NaN, and where the
cotangent belongs to an operand that all indices share, nothing throws that away. So an index that
does not take the branch computes it with the operands of one that does, as constants.

A branch that refers to the axes itself (by a collective) reads operands at all indices, whether
they take the branch or not; there nothing may be replaced.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .. import dtypes
from ..avals import AxisName, ShapedArray, aval_of
from .collectives import axis_index, axis_size, pmin, psum
from .elementwise import convert_element_type, eq, gt, lt, select, stop_gradient


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
        dtype = aval_of(x).dtype
        if dtype == np.bool_:
            x = convert_element_type(x, np.int32)
        found = psum(select(self._one, x, aval_of(x).dtype.type(0)), self._axes)
        return gt(found, np.int32(0)) if dtype == np.bool_ else found

    def operand(self, x: Any) -> Any:
        """An operand of the branch, fit to be used at all indices."""
        if aval_of(x).names.isdisjoint(self._axes):
            return counted_if(self._ever, x)
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
    return select(ever, x, stop_gradient(x))
