"""Counting in bins, and interpolating between points."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array, ConcreteArray
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import number_like, promote_dtypes_inexact
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_in, array_of, concrete_of, convert, inexact, size_of
from ..creation.construction import asarray
from ..creation.ranges import linspace
from ..errors import ArgumentError
from ..reductions.cumulative import diff
from ..reductions.elementary import sum as sum_over
from ..selection.sorting import searchsorted

__all__ = ["bincount", "histogram", "histogram_bin_edges", "interp"]


def bincount(
    x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None
) -> Array:
    """How often each integer from 0 on occurs, or the sum of the weights of its places.

    Args:
        x: Vector of integers, not negative.
        weights: Array of the shape of `x`; each place counts 1 if None.
        minlength: Least size of the result.
        length: Size of the result; must be given where `x` is traced. Greater integers are left
            out.

    Returns:
        Vector: counts in the default integer dtype, or sums in the dtype of the weights.

    Raises:
        ConcretizationError: `x` is traced and the length is not given.
        DTypeError: `x` does not hold integers.
        ShapeError: `x` is no vector, or the weights have another shape.
        ArgumentError: An integer is negative (where `x` is not traced).

    Example:
        >>> bincount(np.array([0, 2, 2]))
        Array([1, 0, 2], dtype=int32)
    """
    x = array_of("bincount", x)
    minlength = size_of("bincount", "minlength", minlength)
    if x.ndim != 1:
        raise ShapeError(f"bincount: x has type {x.aval}; give a vector")
    if x.dtype == dtypes.bool_:
        x = convert(x, dtypes.default_int_dtype())
    if x.dtype not in dtypes.INTEGERS and x.size:
        raise DTypeError(f"bincount: x has type {x.aval}; give integers")
    if isinstance(x, ConcreteArray) and x.size and x.dtype in dtypes.SIGNED:
        least = int(np.asarray(x).min())
        if least < 0:
            raise ArgumentError(f"bincount: x holds {least}; give integers of 0 or more")
    if length is None:
        host = concrete_of("bincount", x, "give the size of the result as length=")
        length = max(minlength, int(host.max()) + 1 if host.size else 0)
    else:
        length = max(size_of("bincount", "length", length), minlength)
    if weights is None:
        w: Any = lax.full((), 1, dtypes.default_int_dtype())
    else:
        w = array_of("bincount", weights, "weights")
        if w.shape != x.shape:
            raise ShapeError(
                f"bincount: x has shape {x.shape} and weights has {w.shape}; give one for each"
            )
    if not x.size:
        return lax.full((length,), 0, w.dtype)
    return _count(x, w, length=length)


@composite("length")
def _count(x: Any, w: Any, *, length: int) -> Array:
    zeros = lax.full((length,), 0, w.dtype)
    if x.dtype in dtypes.SIGNED:  # a negative integer is no position from the end here
        beyond = number_like(length, x.aval) if length <= dtypes.iinfo(x.dtype).max else None
        if beyond is None:
            x = convert(x, dtypes.int32)
            beyond = np.int32(length)
        x = lax.select(lax.lt(x, number_like(0, x.aval)), beyond, x)
    return zeros.at[x].add(w, mode="drop")


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None) -> Array:
    """Edges of the bins of a histogram.

    Args:
        a: Array of numbers.
        bins: Number of equal bins, or the edges themselves.
        range: Pair of the least and the greatest edge; by default those of the data.

    Returns:
        Vector of one edge more than bins.

    Raises:
        ArgumentError: There is no bin, or the range is not one.

    Example:
        >>> histogram_bin_edges(np.array([1.0, 3.0], np.float32), 2)
        Array([1., 2., 3.], dtype=float32)
    """
    a = array_of("histogram", inexact("histogram", a))
    if isinstance(bins, str):
        raise ArgumentError(f"histogram: bins={bins!r}: give a number of bins, or their edges")
    if isinstance(bins, list | tuple) or getattr(bins, "ndim", None):
        return asarray(bins)
    number = size_of("histogram", "bins", bins)
    if not number:
        raise ArgumentError("histogram: bins=0; give 1 bin or more")
    if range is None:
        if a.size:
            low = lax.reduce_min(a, tuple(np.arange(a.ndim).tolist()))
            high = lax.reduce_max(a, tuple(np.arange(a.ndim).tolist()))
        else:
            low, high = lax.full((), 0, a.dtype), lax.full((), 1, a.dtype)
    else:
        low, high = [array_in("histogram", r, a.dtype) for r in range]
    same = operators.equal(low, high)
    half = number_like(0.5, a.aval)
    low = lax.select(same, operators.subtract(low, half), low)
    high = lax.select(same, operators.add(high, half), high)
    return linspace(low, high, number + 1, dtype=a.dtype)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, *, density: bool = False, weights: Any = None
) -> tuple[Array, Array]:
    """Count elements in bins.

    Args:
        a: Array of numbers, taken as flat.
        bins: Number of equal bins, or their edges.
        range: Pair of the least and the greatest edge; by default those of the data.
        weights: Array of the shape of `a`; each element counts 1 if None.
        density: Whether to divide by the total and by the widths.

    Returns:
        The counts (in the default floating-point dtype, as sums of weights are) and the edges. The
        last bin holds both its edges.

    Raises:
        ArgumentError: There is no bin.
        ShapeError: The weights have another shape.

    Example:
        >>> histogram(np.array([1.0, 1.5, 3.0], np.float32), 2)[0]
        Array([2., 1.], dtype=float32)
    """
    a = array_of("histogram", a)
    edges = histogram_bin_edges(a, bins, range)
    if weights is None:
        w = lax.full(a.shape, 1, edges.dtype)
    else:
        w = array_of("histogram", inexact("histogram", weights))
        if w.shape != a.shape:
            raise ShapeError(
                f"histogram: a has shape {a.shape} and weights has {w.shape}; give one for each"
            )
    number = edges.shape[0] - 1
    flat, edges_ = promote_dtypes_inexact("histogram", lax.reshape(a, (a.size,)), edges)
    index = operators.subtract(searchsorted(edges_, flat, "right"), 1)
    at_end = operators.equal(flat, edges_[-1])
    index = lax.select(at_end, lax.full((), number - 1, index.dtype), index)
    counts = bincount_traced(index, lax.reshape(w, (w.size,)), number)
    if not density:
        return counts, edges
    widths = diff(edges)
    return operators.true_divide(counts, operators.multiply(widths, sum_over(counts))), edges


def bincount_traced(index: Any, weights: Any, length: int) -> Array:
    """Sums of weights at positions from 0 on; positions out of range are left out."""
    if not aval_of(index).size:
        return lax.full((length,), 0, aval_of(weights).dtype)
    return _count(index, weights, length=length)


@composite("clamped_left", "clamped_right")
def _interp(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, *, clamped_left: bool, clamped_right: bool
) -> Array:
    n = xp.shape[0]
    if n == 1:
        out = lax.broadcast_in_dim(fp[0], x.shape, ())
    else:
        upper = searchsorted(xp, x, "right")
        upper = lax.clamp(lax.full((), 1, upper.dtype), upper, lax.full((), n - 1, upper.dtype))
        x0, x1 = xp[upper - 1], xp[upper]
        y0, y1 = fp[upper - 1], fp[upper]
        width = lax.sub(x1, x0)
        zero, one = number_like(0, aval_of(width)), number_like(1, aval_of(width))
        flat = lax.eq(width, zero)
        share = lax.div(lax.sub(x, x0), lax.select(flat, one, width))
        share = convert(lax.select(flat, zero, share), fp.dtype)
        out = lax.add(y0, lax.mul(lax.sub(y1, y0), share))
    left = fp[0] if clamped_left else convert(left, fp.dtype)
    right = fp[n - 1] if clamped_right else convert(right, fp.dtype)
    out = lax.select(lax.lt(x, lax.broadcast_in_dim(xp[0], x.shape, ())), left, out)
    return lax.select(lax.gt(x, lax.broadcast_in_dim(xp[n - 1], x.shape, ())), right, out)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Values of a function that is linear between points.

    Args:
        x: Array or number: where to evaluate.
        xp: Vector: places of the points, increasing.
        fp: Vector of their values, real or complex.
        left: Value before the first point; that of the first point if None.
        right: Value after the last point; that of the last point if None.
        period: Period of the function; the places are taken modulo it, and need not increase.

    Returns:
        Array of the shape of `x`.

    Raises:
        ShapeError: `xp` and `fp` are not vectors of one size, or are empty.

    Example:
        >>> x, y = np.array([1.0, 2.0, 3.0], np.float32), np.array([3.0, 2.0, 0.0], np.float32)
        >>> interp(2.5, x, y)
        Array(1., dtype=float32)
    """
    x, xp = promote_dtypes_inexact("interp", x, xp)
    xp = array_of("interp", xp)
    x = array_in("interp", x, xp.dtype)
    fp = array_of("interp", inexact("interp", fp))
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.size:
        raise ShapeError(
            f"interp: xp has type {xp.aval} and fp has {fp.aval}; give vectors of one size, with "
            "one point or more"
        )
    if period is not None:
        period = lax.abs(array_in("interp", period, xp.dtype, "period"))
        x, xp = operators.remainder(x, period), operators.remainder(xp, period)
        xp, fp = _periodic(xp, fp, period)
        left = right = None
    return _interp(
        x,
        xp,
        fp,
        0.0 if left is None else left,
        0.0 if right is None else right,
        clamped_left=left is None,
        clamped_right=right is None,
    )


def _periodic(xp: Any, fp: Any, period: Any) -> tuple[Any, Any]:
    """Points in order, with the last one before the first and the first one after the last."""
    if fp.dtype in dtypes.COMPLEXES:
        order = lax.sort((xp, lax.iota("int32", xp.shape[0])), 0, True, 1)[1]
        xp, fp = xp[order], fp[order]
    else:
        xp, fp = lax.sort((xp, fp), 0, True, 1)
    ends = [lax.expand_dims(v, (0,)) for v in (xp[-1] - period, xp[0] + period)]
    values = [lax.expand_dims(v, (0,)) for v in (fp[-1], fp[0])]
    return (
        lax.concatenate([ends[0], xp, ends[1]], 0),
        lax.concatenate([values[0], fp, values[1]], 0),
    )
