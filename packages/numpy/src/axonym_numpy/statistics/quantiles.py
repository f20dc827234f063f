"""Medians, quantiles and percentiles, over dimensions and named axes.

The elements are sorted; a quantile stands at a real position among them, between two neighbours. A
position that is a whole number takes its element and nothing of the other neighbour, so an infinity
beside it does no harm. NaN sorts last, so a last element that is NaN tells that there is one.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import is_number, number_like
from axonym_core.types import AxisName, aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import (
    array_in,
    array_of,
    choice,
    exact,
    inexact,
    python_number,
    refuse_out,
)
from ..arguments.reduction_axes import collect_all, keep_dimensions, number_of, split_axes
from ..errors import ArgumentError
from ..selection.taking import take_along_axis

__all__ = [
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

# The position of quantile q among n elements is n * q + a + q * (1 - a - b) - 1.
_CONTINUOUS = {
    "linear": (1.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_DISCRETE = ("lower", "higher", "midpoint", "nearest")


@composite("dims", "names", "method", "skip_nan", "keepdims")
def _quantile(
    a: Any,
    q: Any,
    *,
    dims: tuple[int, ...],
    names: tuple[AxisName, ...],
    method: str,
    skip_nan: bool,
    keepdims: bool,
) -> Array:
    shape = a.shape
    x = _in_front(a, dims, names)
    n = x.shape[0]
    x = lax.sort(x, 0)
    aval = aval_of(x)
    index_dtype = dtypes.float32 if aval.dtype.itemsize < 8 else dtypes.float64
    missing = lax.ne(x, x)
    if skip_nan:
        valid = lax.reduce_sum(lax.convert_element_type(missing, "int32"), (0,))
        count = lax.convert_element_type(lax.sub(np.int32(n), valid), index_dtype)
    else:
        count = lax.full(x.shape[1:], n, index_dtype)
    rank = q.ndim
    q = lax.broadcast_in_dim(
        lax.convert_element_type(q, index_dtype), (*q.shape, *x.shape[1:]), tuple(range(rank))
    )
    count = lax.broadcast(count, q.shape[:rank])
    position = _position(q, count, method)
    last = count - 1
    position = lax.clamp(number_like(0, aval_of(position)), position, lax.max(last, last * 0))
    lower, higher, share = _neighbours(position, method)
    out = _between(x, lower, higher, share, aval.dtype)
    if skip_nan:
        spoilt = lax.eq(count, number_like(0, aval_of(count)))
    else:
        spoilt = lax.broadcast(lax.index_in_dim(missing, n - 1, keepdims=False), q.shape[:rank])
    out = lax.select(spoilt, number_like(float("nan"), aval_of(out)), out)
    return _with_dimensions(out, rank, shape, dims) if keepdims else out


@composite("dims", "names", "lows", "highs", "shares", "q_shape", "keepdims")
def _known_quantile(
    a: Any,
    *,
    dims: tuple[int, ...],
    names: tuple[AxisName, ...],
    lows: tuple[int, ...],
    highs: tuple[int, ...],
    shares: tuple[float, ...],
    q_shape: tuple[int, ...],
    keepdims: bool,
) -> Array:
    """Quantiles at positions that are known while tracing: slices of the sorted elements."""
    x = _in_front(a, dims, names)
    rest = x.shape[1:]
    x = lax.sort(x, 0)
    last = lax.index_in_dim(x, x.shape[0] - 1, keepdims=False)
    spoilt = lax.broadcast(lax.ne(last, last), q_shape)
    if q_shape:
        lower, higher = x[np.array(lows, np.int32)], x[np.array(highs, np.int32)]
        host = np.asarray(shares, np.float64).reshape((len(lows),) + (1,) * len(rest))
        share = lax.broadcast_in_dim(host, lower.shape, tuple(range(lower.ndim)))
    else:
        lower, higher = [lax.index_in_dim(x, i, keepdims=False) for i in (lows[0], highs[0])]
        share = number_like(shares[0], aval_of(x))
    out = lower if lows == highs else _interpolated(lower, higher, share, a.dtype)
    out = lax.reshape(out, (*q_shape, *rest))
    out = lax.select(spoilt, number_like(float("nan"), aval_of(out)), out)
    return _with_dimensions(out, len(q_shape), a.shape, dims) if keepdims else out


def _with_dimensions(out: Any, rank: int, shape: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    """Give a result the reduced dimensions back, behind those of the quantiles."""
    sizes = tuple([1 if d in dims else m for d, m in enumerate(shape)])
    return lax.reshape(out, (*out.shape[:rank], *sizes))


def _known_positions(q: np.ndarray[Any, Any], n: int, method: str) -> dict[str, Any]:
    """Neighbours and shares for quantiles that are known numbers, in double precision."""
    if method in _DISCRETE or method == "linear":
        position = q * (n - 1)
    else:
        a, b = _CONTINUOUS[method]
        position = n * q + (a + q * (1 - a - b)) - 1
    position = np.clip(position, 0, n - 1)
    low, high = np.floor(position), np.ceil(position)
    if method == "nearest":
        low = high = np.rint(position)
    elif method in ("lower", "higher"):
        low = high = low if method == "lower" else high
    share = np.where(low == high, 0, 0.5 if method == "midpoint" else position - low)
    return {
        "lows": tuple(low.ravel().astype(int).tolist()),
        "highs": tuple(high.ravel().astype(int).tolist()),
        "shares": tuple(share.ravel().tolist()),
        "q_shape": q.shape,
    }


def _in_front(a: Any, dims: tuple[int, ...], names: tuple[AxisName, ...]) -> Any:
    """Array with the elements of each quantile along its first dimension."""
    x, moved = collect_all(a, dims, names)
    rest = tuple([d for d in range(x.ndim) if d not in moved])
    x = lax.transpose(x, (*moved, *rest))
    n = 1
    for size in x.shape[: len(moved)]:
        n *= size
    return lax.reshape(x, (n, *x.shape[len(moved) :]))


def _position(q: Any, n: Any, method: str) -> Any:
    if method in _DISCRETE or method == "linear":
        return operators.multiply(q, n - 1)
    a, b = _CONTINUOUS[method]
    return operators.add(n * q, operators.subtract(a + q * (1 - a - b), 1))


def _neighbours(position: Any, method: str) -> tuple[Any, Any, Any]:
    """Indices of the elements on both sides of a position, and the share of the higher one."""
    low, high = lax.floor(position), lax.ceil(position)
    if method == "lower":
        high = low
    elif method == "higher":
        low = high
    elif method == "nearest":
        low = high = lax.round(position, lax.RoundingMethod.TO_NEAREST_EVEN)
    share = lax.sub(position, low)
    if method == "midpoint":
        half = number_like(0.5, aval_of(share))
        share = lax.select(lax.eq(low, high), number_like(0, aval_of(share)), half)
    return low, high, share


def _between(x: Any, low: Any, high: Any, share: Any, dtype: Any) -> Any:
    rank = aval_of(low).ndim - (x.ndim - 1)
    shape = aval_of(low).shape

    def element(position: Any) -> Any:
        flat = lax.convert_element_type(position, "int32")
        flat = lax.reshape(flat, (math.prod(shape[:rank]), *shape[rank:]))
        return lax.reshape(take_along_axis(x, flat, 0, mode="clip"), shape)

    return _interpolated(element(low), element(high), share, dtype)


def _interpolated(lower: Any, higher: Any, share: Any, dtype: Any) -> Any:
    """The point between two elements; where both are one, or the share is 0, that element."""
    wide = dtypes.float32 if dtype.itemsize < 4 else dtype
    share = lax.convert_element_type(share, wide)
    lower, higher = [lax.convert_element_type(v, wide) for v in (lower, higher)]
    zero = number_like(0, aval_of(share))
    whole = lax.bitwise_or(lax.eq(share, zero), lax.eq(lower, higher))
    gap = lax.select(whole, zero, lax.sub(higher, lower))
    return lax.convert_element_type(lax.add(lower, lax.mul(gap, share)), dtype)


def _quantile_of(
    name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool
) -> Array:
    choice(name, "method", method, (*_CONTINUOUS, *_DISCRETE))
    a = array_of(name, inexact(name, a))
    if a.dtype in dtypes.COMPLEXES:
        raise DTypeError(
            f"{name}: a has type {a.aval}, and complex numbers have no order; give their absolute "
            "value or their real part"
        )
    dims, names = split_axes(name, a.aval, axis)
    if not number_of(a.aval, dims, ()):
        raise ShapeError(
            f"{name}: there is no element in an operand of type {a.aval}, reduced over axis={axis}"
        )
    q = python_number(q)
    if isinstance(q, int | float | np.ndarray) and not _is_share(np.asarray(q)):
        raise ArgumentError(f"{name}: q={q} is not within the range; quantiles lie from 0 to 1")
    if isinstance(q, int | float | np.ndarray) and not skip_nan:
        n = number_of(a.aval, dims, names)
        where = _known_positions(np.asarray(q, np.float64), n, method)
        return _known_quantile(a, dims=dims, names=names, keepdims=bool(keepdims), **where)
    # A position is computed from it in the dtype of the elements.
    q = array_in(name, q, a.dtype, "q") if is_number(q) else array_of(name, inexact(name, q), "q")
    return _quantile(
        a, q, dims=dims, names=names, method=method, skip_nan=skip_nan, keepdims=bool(keepdims)
    )


def _is_share(q: np.ndarray[Any, Any]) -> bool:
    return bool(np.all((q >= 0) & (q <= 1)))


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Quantiles over dimensions and named axes; NaN where there is a NaN.

    Args:
        a: Array of real numbers; integers go to the default floating-point dtype.
        q: Number or array of numbers from 0 to 1.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        out: Refused: arrays are immutable.
        overwrite_input: Without effect: arrays are immutable.
        method: How to choose between neighbours: ``linear``, ``lower``, ``higher``, ``midpoint``,
            ``nearest``, or one of NumPy's continuous methods ``hazen``, ``weibull``,
            ``interpolated_inverted_cdf``, ``median_unbiased``, ``normal_unbiased``.
        keepdims: Whether dimensions stay, with size 1.

    Returns:
        Array with the dimensions of `q` first, then those of `a` that are left.

    Raises:
        ArgumentError: The method is unknown, or `q` is out of range.
        ShapeError: There are no elements, or a dimension does not exist.
        DTypeError: `a` is complex.

    Example:
        >>> quantile(np.array([1.0, 2.0, 4.0], np.float32), 0.75)
        Array(3., dtype=float32)
    """
    if out is not None:
        refuse_out("quantile")
    return _quantile_of("quantile", a, q, axis, method, keepdims, False)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Quantiles of the elements that are not NaN; arguments and errors are those of `quantile`.

    Example:
        >>> nanquantile(np.array([1.0, np.nan, 4.0], np.float32), 0.5)
        Array(2.5, dtype=float32)
    """
    if out is not None:
        refuse_out("nanquantile")
    return _quantile_of("nanquantile", a, q, axis, method, keepdims, True)


def _hundredth(name: str, q: Any) -> Any:
    q = python_number(q)
    if isinstance(q, int | float):
        return q / 100
    return operators.true_divide(exact(name, q, "q"), 100)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Quantiles in percent: `q` from 0 to 100; otherwise as `quantile`.

    Example:
        >>> percentile(np.array([1.0, 2.0, 4.0], np.float32), 75)
        Array(3., dtype=float32)
    """
    if out is not None:
        refuse_out("percentile")
    return _quantile_of("percentile", a, _hundredth("percentile", q), axis, method, keepdims, False)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Quantiles in percent of the elements that are not NaN; otherwise as `quantile`.

    Example:
        >>> nanpercentile(np.array([1.0, np.nan, 4.0], np.float32), 50)
        Array(2.5, dtype=float32)
    """
    if out is not None:
        refuse_out("nanpercentile")
    return _quantile_of(
        "nanpercentile", a, _hundredth("nanpercentile", q), axis, method, keepdims, True
    )


def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle element, or the mean of the two in the middle; NaN where there is a NaN.

    Args:
        a: Array of real numbers; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        out: Refused: arrays are immutable.
        overwrite_input: Without effect: arrays are immutable.
        keepdims: Whether dimensions stay, with size 1.

    Returns:
        Array without the dimensions; NaN where there are no elements.

    Raises:
        ShapeError: A dimension does not exist.
        DTypeError: `a` is complex.

    Example:
        >>> median(np.array([3.0, 9.0, 5.0], np.float32))
        Array(5., dtype=float32)
    """
    if out is not None:
        refuse_out("median")
    return _median("median", a, axis, keepdims, False)


def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median of the elements that are not NaN; otherwise as `median`.

    Example:
        >>> nanmedian(np.array([3.0, np.nan, 5.0], np.float32))
        Array(4., dtype=float32)
    """
    if out is not None:
        refuse_out("nanmedian")
    return _median("nanmedian", a, axis, keepdims, True)


def _median(name: str, a: Any, axis: Any, keepdims: bool, skip_nan: bool) -> Array:
    a = array_of(name, inexact(name, a))
    dims, _ = split_axes(name, a.aval, axis)
    if not number_of(a.aval, dims, ()):
        rest = tuple([n for d, n in enumerate(a.shape) if d not in dims])
        out = lax.full(rest, float("nan"), a.dtype)
        return keep_dimensions(out, a.shape, dims) if keepdims else out
    return _quantile_of(name, a, 0.5, axis, "midpoint", keepdims, skip_nan)
