"""Rounding to integers and to decimal places."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import builtins
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array, as_ints
from axonym_core.operators import number_like
from axonym_core.primitives.elementwise import RoundingMethod, ceil_p, floor_p, round_p
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, inexact, numeric, refuse_out

__all__ = ["around", "ceil", "fix", "floor", "rint", "round", "trunc"]

_EVEN = RoundingMethod.TO_NEAREST_EVEN


def _is_whole(x: Any) -> bool:
    dtype = aval_of(x).dtype
    return dtype in dtypes.INTEGERS or dtype == dtypes.bool_


def floor(x: Any, /) -> Array:
    """The largest integer not above a number.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`; integers are returned as they are.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> floor(-1.5)
        Array(-2., dtype=float32, weak_type=True)
    """
    x = numeric("floor", x)
    return array_of("floor", x) if _is_whole(x) else floor_p.bind(x)


def ceil(x: Any, /) -> Array:
    """The smallest integer not below a number.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`; integers are returned as they are.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> ceil(-1.5)
        Array(-1., dtype=float32, weak_type=True)
    """
    x = numeric("ceil", x)
    return array_of("ceil", x) if _is_whole(x) else ceil_p.bind(x)


@composite()
def _trunc(x: Any) -> Array:
    return lax.select(lax.lt(x, number_like(0, aval_of(x))), lax.ceil(x), lax.floor(x))


def trunc(x: Any, /) -> Array:
    """The integer part of a number: rounded towards 0.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`; integers are returned as they are.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> trunc(-1.5)
        Array(-1., dtype=float32, weak_type=True)
    """
    x = numeric("trunc", x)
    return array_of("trunc", x) if _is_whole(x) else _trunc(x)


fix = trunc


def rint(x: Any, /) -> Array:
    """The nearest integer; halves go to the even one.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> rint(2.5)
        Array(2., dtype=float32, weak_type=True)
    """
    x = inexact("rint", x)
    if aval_of(x).dtype in dtypes.COMPLEXES:
        return _round_parts(x, decimals=0)
    return round_p.bind(x, rounding_method=_EVEN)


@composite("decimals")
def _round(x: Any, *, decimals: int) -> Array:
    aval = aval_of(x)
    if aval.dtype in dtypes.INTEGERS:
        step = 10**-decimals
        if step > dtypes.iinfo(aval.dtype).max:
            return lax.full_like(x, 0)
        unit = number_like(step, aval)
        low = x - x % unit
        rest = x - low
        twice = 2 * rest
        up = (twice > unit) | ((twice == unit) & ((low // unit) % 2 == 1))
        return lax.select(up, low + unit, low)
    narrow = aval.dtype if aval.dtype.itemsize >= 4 else dtypes.float32
    wide = lax.convert_element_type(x, narrow, aval.weak_type)
    factor = number_like(10.0 ** builtins.abs(decimals), aval_of(wide))
    scale, back = (lax.mul, lax.div) if decimals > 0 else (lax.div, lax.mul)
    out = back(lax.round(scale(wide, factor), _EVEN), factor)
    # What is too large to be scaled has no decimals.
    out = lax.select(lax.is_finite(scale(wide, factor)), out, wide)
    return lax.convert_element_type(out, aval.dtype, aval.weak_type)


@composite("decimals")
def _round_parts(x: Any, *, decimals: int) -> Array:
    return lax.complex(round(lax.real(x), decimals), round(lax.imag(x), decimals))


def round(a: Any, decimals: int = 0, out: None = None) -> Array:
    """Round to a number of decimal places; halves go to the even digit.

    Args:
        a: Array or number.
        decimals: Number of places; negative ones are before the point.
        out: Refused: arrays are immutable.

    Returns:
        Array of the shape and dtype of `a`.

    Example:
        >>> round(2.346, 2)
        Array(2.35, dtype=float32, weak_type=True)
        >>> round(1250, -2)
        Array(1200, dtype=int32, weak_type=True)
    """
    if out is not None:
        refuse_out("round")
    a = numeric("round", a)
    (decimals,) = as_ints(decimals, "round", "decimals")
    if aval_of(a).dtype == dtypes.bool_ or (decimals >= 0 and _is_whole(a)):
        return array_of("round", a)
    if aval_of(a).dtype in dtypes.COMPLEXES:
        return _round_parts(a, decimals=decimals)
    if decimals == 0:
        return round_p.bind(a, rounding_method=_EVEN)
    return _round(a, decimals=decimals)


around = round
