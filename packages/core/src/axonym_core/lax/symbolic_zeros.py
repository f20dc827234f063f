"""Symbolic zeros: tangents and cotangents that are known to vanish and are never computed."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..types import dtypes
from ..types.avals import ShapedArray, aval_of
from ..types.python_numbers import settled_aval
from .creation import full
from .elementwise.arithmetic import add
from .elementwise.conversions import convert_element_type


@final
class Zero:
    """A zero of the given type, without storage."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"


def instantiate(x: Any) -> Any:
    """Return an array for a symbolic zero; anything else passes.

    The array does not vary over named axes, whatever the zero's type says: implicit broadcasting
    makes up for that at no cost. Integer primals have tangents of dtype `float0`, which exist only
    as NumPy arrays.
    """
    if type(x) is not Zero:
        return x
    if x.aval.dtype == dtypes.float0:
        return np.zeros(x.aval.shape, dtypes.float0)
    return full(x.aval.shape, 0, x.aval.dtype)


def returned_tangent(t: Any, aval: ShapedArray) -> Any:
    """A tangent or cotangent of a value of a type, as a transformation returns it.

    It is as weak as the value, and has the default width if that is a number.
    """
    own = aval_of(t)
    if not aval.weak_type or own.dtype == dtypes.float0:
        return t
    return convert_element_type(t, settled_aval(aval).dtype, True)


def add_tangents(x: Any, y: Any) -> Any:
    """Sum of two tangents or cotangents of the same type, either of which may be `Zero`."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add(x, y)
