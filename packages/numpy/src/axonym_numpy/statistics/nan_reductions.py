"""Reductions that leave NaN out, over dimensions and named axes.

What is left out is replaced *before* anything is computed, so it takes no part in derivatives.
"""

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.operators import number_like
from axonym_core.types import aval_of, dtypes

from ..arguments.operands import array_of, numeric, refuse_out
from ..arguments.reduction_axes import broadcast_mask
from ..reductions.cumulative import cumprod, cumsum
from ..reductions.elementary import argmax, argmin, extreme, max, min, prod, sum
from .moments import mean, std, var

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _numbers(name: str, a: Any) -> Any:
    """Which elements are not NaN; None where the dtype has no NaN."""
    a = numeric(name, a)
    if aval_of(a).dtype not in dtypes.INEXACT:
        return None
    return lax.eq(a, a)


def _both(name: str, a: Any, where: Any) -> Any:
    present = _numbers(name, a)
    if present is None:
        return where
    if where is None:
        return present
    return operators.bitwise_and(present, broadcast_mask(name, where, aval_of(a).shape))


def _replaced(name: str, a: Any, value: float) -> Any:
    a = array_of(name, a)
    present = _numbers(name, a)
    return a if present is None else lax.select(present, a, number_like(value, a.aval))


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Sum of the elements that are not NaN; otherwise as `sum`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nansum(anp.array([1.0, anp.nan, 3.0]))
        Array(4., dtype=float32)
    """
    if out is not None:
        refuse_out("nansum")
    where = _both("nansum", a, where)
    return sum(a, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Product of the elements that are not NaN; otherwise as `prod`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanprod(anp.array([2.0, anp.nan, 3.0]))
        Array(6., dtype=float32)
    """
    if out is not None:
        refuse_out("nanprod")
    where = _both("nanprod", a, where)
    return prod(a, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """Mean of the elements that are not NaN; otherwise as `mean`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanmean(anp.array([1.0, anp.nan, 3.0]))
        Array(2., dtype=float32)
    """
    if out is not None:
        refuse_out("nanmean")
    return mean(a, axis, dtype, keepdims=keepdims, where=_both("nanmean", a, where))


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Variance of the elements that are not NaN; otherwise as `var`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanvar(anp.array([1.0, anp.nan, 3.0]))
        Array(1., dtype=float32)
    """
    if out is not None:
        refuse_out("nanvar")
    where = _both("nanvar", a, where)
    return var(
        a,
        axis,
        dtype,
        ddof=ddof,
        keepdims=keepdims,
        where=where,
        mean=mean,
        correction=correction,
    )


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Standard deviation of the elements that are not NaN; otherwise as `std`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanstd(anp.array([1.0, anp.nan, 3.0]))
        Array(1., dtype=float32)
    """
    if out is not None:
        refuse_out("nanstd")
    where = _both("nanstd", a, where)
    return std(
        a,
        axis,
        dtype,
        ddof=ddof,
        keepdims=keepdims,
        where=where,
        mean=mean,
        correction=correction,
    )


def _nan_extremum(name: str, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Array:
    largest = name == "nanmax"
    reduce = max if largest else min
    a = array_of(name, a)
    present = _numbers(name, a)
    if present is None:
        return reduce(a, axis, keepdims=keepdims, initial=initial, where=where)
    lowest = extreme(a.dtype, not largest)
    out = reduce(
        lax.select(present, a, lowest), axis, keepdims=keepdims, initial=initial, where=where
    )
    if initial is not None:
        return out
    found = max(present, axis, keepdims=keepdims)
    return lax.select(found, out, number_like(float("nan"), aval_of(out)))


def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Greatest of the elements that are not NaN, or NaN if there is none; otherwise as `max`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanmax(anp.array([1.0, anp.nan, 3.0]))
        Array(3., dtype=float32)
    """
    if out is not None:
        refuse_out("nanmax")
    return _nan_extremum("nanmax", a, axis, keepdims, initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Least of the elements that are not NaN, or NaN if there is none; otherwise as `min`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanmin(anp.array([1.0, anp.nan, 3.0]))
        Array(1., dtype=float32)
    """
    if out is not None:
        refuse_out("nanmin")
    return _nan_extremum("nanmin", a, axis, keepdims, initial, where)


def _nan_position(name: str, a: Any, axis: Any, keepdims: bool) -> Array:
    largest = name == "nanargmax"
    a = array_of(name, a)
    find = argmax if largest else argmin
    present = _numbers(name, a)
    if present is None:
        return find(a, axis, keepdims=keepdims)
    # Infinities of the losing sign must beat what was NaN, so position goes by presence first.
    lowest = extreme(a.dtype, not largest)
    filled = lax.select(present, a, lowest)
    best = (max if largest else min)(filled, axis, keepdims=True)
    wins = operators.bitwise_and(operators.equal(filled, best), present)
    out = argmax(wins, axis, keepdims=keepdims)
    found = max(present, axis, keepdims=keepdims)
    return lax.select(found, out, number_like(-1, aval_of(out)))


def nanargmax(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Array:
    """Position of the greatest element that is not NaN; -1 if there is none.

    Arguments and errors are those of `argmax`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanargmax(anp.array([1.0, anp.nan, 3.0]))
        Array(2, dtype=int32)
    """
    if out is not None:
        refuse_out("nanargmax")
    return _nan_position("nanargmax", a, axis, keepdims)


def nanargmin(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Array:
    """Position of the least element that is not NaN; -1 if there is none.

    Arguments and errors are those of `argmin`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nanargmin(anp.array([1.0, anp.nan, 3.0]))
        Array(0, dtype=int32)
    """
    if out is not None:
        refuse_out("nanargmin")
    return _nan_position("nanargmin", a, axis, keepdims)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Running sums with 0 in the place of NaN; otherwise as `cumsum`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nancumsum(anp.array([1.0, anp.nan, 3.0]))
        Array([1., 1., 4.], dtype=float32)
    """
    if out is not None:
        refuse_out("nancumsum")
    return cumsum(_replaced("nancumsum", a, 0), axis, dtype)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Running products with 1 in the place of NaN; otherwise as `cumprod`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.nancumprod(anp.array([2.0, anp.nan, 3.0]))
        Array([2., 2., 6.], dtype=float32)
    """
    if out is not None:
        refuse_out("nancumprod")
    return cumprod(_replaced("nancumprod", a, 1), axis, dtype)
