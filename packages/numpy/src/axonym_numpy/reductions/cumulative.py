"""Running sums and products, and differences between neighbours."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array, as_dimension
from axonym_core.errors import ShapeError
from axonym_core.operators import number_like, promote_dtypes, promote_dtypes_inexact
from axonym_core.primitives.reductions import cumprod_p, cumsum_p
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import (
    array_in,
    array_of,
    convert,
    dtype_beside,
    inexact,
    refuse_out,
    size_of,
)
from ..errors import ArgumentError
from .elementary import sum as sum_over
from .elementary import sum_dtype

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "ediff1d",
    "gradient",
    "trapezoid",
]


def _cumulate(name: str, primitive: Any, a: Any, axis: Any, dtype: Any) -> Array:
    a = array_of(name, a)
    if axis is None:
        a, axis = lax.reshape(a, (a.size,)), 0
    axis = as_dimension(axis, a.ndim, name, "axis")
    wanted = sum_dtype(a.dtype) if dtype is None else dtype_beside(dtype, a.dtype)
    if wanted != a.dtype:
        a = convert(a, wanted)
    return primitive.bind(a, axis=axis, reverse=False)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Sums of the elements up to and including each position along a dimension.

    Args:
        a: Array or number.
        axis: Dimension; None for the flattened array.
        dtype: Dtype to sum in and to return, as of `sum`.
        out: Refused: arrays are immutable.

    Returns:
        Array of the shape of `a`, or flat where `axis` is None.

    Raises:
        ShapeError: The dimension does not exist.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.cumsum(anp.array([1, 2, 3]))
        Array([1, 3, 6], dtype=int32)
    """
    if out is not None:
        refuse_out("cumsum")
    return _cumulate("cumsum", cumsum_p, a, axis, dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Products of the elements up to and including each position along a dimension.

    Arguments and errors are those of `cumsum`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.cumprod(anp.array([1, 2, 3]))
        Array([1, 2, 6], dtype=int32)
    """
    if out is not None:
        refuse_out("cumprod")
    return _cumulate("cumprod", cumprod_p, a, axis, dtype)


def _cumulative(name: str, a: Any, axis: Any, dtype: Any, include_initial: bool) -> Array:
    a = array_of(name, a)
    if axis is None and a.ndim != 1:
        raise ArgumentError(f"{name}: a has type {a.aval}; say along which dimension, with axis=")
    out = (cumsum if name == "cumulative_sum" else cumprod)(a, 0 if axis is None else axis, dtype)
    if not include_initial:
        return out
    axis = as_dimension(0 if axis is None else axis, a.ndim, name, "axis")
    shape = tuple([1 if d == axis else n for d, n in enumerate(a.shape)])
    first = lax.full(shape, 0 if name == "cumulative_sum" else 1, out.dtype)
    return lax.concatenate([first, out], axis)


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Array:
    """Running sums along a dimension, as the array API names them.

    Args:
        x: Array.
        axis: Dimension; may be left out of a vector.
        dtype: Dtype to sum in and to return.
        out: Refused: arrays are immutable.
        include_initial: Whether to begin with 0.

    Raises:
        ArgumentError: `axis` is left out of an array that is no vector.
        ShapeError: The dimension does not exist.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.cumulative_sum(anp.array([1, 2]), include_initial=True)
        Array([0, 1, 3], dtype=int32)
    """
    if out is not None:
        refuse_out("cumulative_sum")
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Array:
    """Running products along a dimension; arguments and errors are those of `cumulative_sum`.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.cumulative_prod(anp.array([2, 3]), include_initial=True)
        Array([1, 2, 6], dtype=int32)
    """
    if out is not None:
        refuse_out("cumulative_prod")
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


def _subtract(x: Any, y: Any) -> Any:
    if aval_of(x).dtype == dtypes.bool_:
        return operators.not_equal(x, y)
    return operators.subtract(x, y)


@composite("n", "axis")
def _diff(a: Any, *, n: int, axis: int) -> Array:
    for _ in range(n):
        later = lax.slice_in_dim(a, 1, None, axis=axis)
        a = _subtract(later, lax.slice_in_dim(a, 0, max(a.shape[axis] - 1, 0), axis=axis))
    return a


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours along a dimension; of truth values, whether they differ.

    Args:
        a: Array.
        n: How often to take differences.
        axis: Dimension.
        prepend: Number or array to put before `a` along the dimension first.
        append: Number or array to put after it.

    Returns:
        Array that is shorter by `n` along the dimension.

    Raises:
        ArgumentError: `n` is negative.
        ShapeError: The dimension does not exist.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.diff(anp.array([1, 4, 9]))
        Array([3, 5], dtype=int32)
    """
    a = array_of("diff", a)
    n = size_of("diff", "n", n)
    axis = as_dimension(axis, a.ndim, "diff", "axis")
    parts = [x for x in (prepend, a, append) if x is not None]
    if len(parts) > 1:
        parts = promote_dtypes("diff", *parts)
        edge = tuple([1 if d == axis else m for d, m in enumerate(a.shape)])
        parts = [p if aval_of(p).ndim else lax.full(edge, p, aval_of(p).dtype) for p in parts]
        a = lax.concatenate([array_of("diff", p) for p in parts], axis)
    return _diff(a, n=min(n, max(a.shape[axis], 1)), axis=axis) if n else a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Differences of neighbours in a flattened array.

    Args:
        ary: Array.
        to_end: Numbers to put after the differences.
        to_begin: Numbers to put before them.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.ediff1d(anp.array([1, 4, 9]), to_begin=0)
        Array([0, 3, 5], dtype=int32)
    """
    flat = array_of("ediff1d", ary)
    flat = lax.reshape(flat, (flat.size,))
    parts = [diff(flat)]
    for extra, first in ((to_begin, True), (to_end, False)):
        if extra is not None:
            x = array_in("ediff1d", extra, flat.dtype)
            x = lax.reshape(x, (aval_of(x).size,))
            parts = [x, *parts] if first else [*parts, x]
    return lax.concatenate(parts, 0)


@composite("axis")
def _gradient(f: Any, h: Any, *, axis: int) -> Array:
    """Central differences inside, one-sided ones at the ends, for equal or unequal distances."""
    n = f.shape[axis]

    def part(x: Any, start: int, stop: int) -> Any:
        return lax.slice_in_dim(x, start, stop, axis=axis)

    step = diff(f, axis=axis)
    if h.ndim == 0:
        slope = step / h
        inner = (part(slope, 0, n - 2) + part(slope, 1, n - 1)) * number_like(0.5, slope.aval)
    else:
        shape = tuple([m if d == axis else 1 for d, m in enumerate(step.shape)])
        distance = lax.reshape(diff(h), shape)
        slope = step / distance
        before, after = part(distance, 0, n - 2), part(distance, 1, n - 1)
        inner = part(slope, 0, n - 2) * after + part(slope, 1, n - 1) * before
        inner = inner / (before + after)
    return lax.concatenate([part(slope, 0, 1), inner, part(slope, n - 2, n - 1)], axis)


def gradient(f: Any, *varargs: Any, axis: Any = None) -> Any:
    """Slopes by central differences, one-sided at the ends.

    Args:
        f: Array of values at grid points.
        *varargs: Distance of the points, one number for all dimensions or one for each; or for
            each the vector of their places.
        axis: Dimension or dimensions; all if None.

    Returns:
        Array of the shape of `f`; a list of them for several dimensions.

    Raises:
        ArgumentError: There is neither one spacing nor one for each dimension.
        ShapeError: A dimension has fewer than two points.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.gradient(anp.array([1.0, 4.0, 9.0]))
        Array([3., 4., 5.], dtype=float32)
    """
    f = array_of("gradient", inexact("gradient", f))
    given = range(f.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    axes = [as_dimension(a, f.ndim, "gradient", "axis") for a in given]
    spacing = varargs or (1.0,)
    if len(spacing) not in (1, len(axes)):
        raise ArgumentError(
            f"gradient: {len(spacing)} spacings for {len(axes)} dimensions; give one, or one each"
        )
    spacing = tuple(spacing) * (len(axes) if len(spacing) == 1 else 1)
    out = []
    for a, h in zip(axes, spacing, strict=True):
        if f.shape[a] < 2:
            raise ShapeError(f"gradient: dimension {a} of shape {f.shape} has fewer than 2 points")
        x, step = promote_dtypes_inexact("gradient", f, h)
        out.append(_gradient(x, array_of("gradient", step), axis=a))
    return out[0] if len(out) == 1 else out


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integral along a dimension by the trapezoidal rule.

    Args:
        y: Array of values.
        x: Where they stand: vector, or array of the shape of `y`.
        dx: Distance of neighbours where `x` is None.
        axis: Dimension.

    Returns:
        Array without the dimension.

    Raises:
        ShapeError: The dimension does not exist.

    Example:
        >>> import axonym_numpy as anp
        >>> anp.trapezoid(anp.array([1.0, 2.0, 3.0]))
        Array(4., dtype=float32)
    """
    y = array_of("trapezoid", inexact("trapezoid", y))
    axis = as_dimension(axis, y.ndim, "trapezoid", "axis")
    both = lax.slice_in_dim(y, 1, None, axis=axis) + lax.slice_in_dim(
        y, 0, max(y.shape[axis] - 1, 0), axis=axis
    )
    width = dx
    if x is not None:
        x = array_of("trapezoid", x, "x")
        width = diff(x, axis=0 if x.ndim == 1 else axis)
        if x.ndim == 1:
            width = lax.reshape(
                width, tuple([width.size if d == axis else 1 for d in range(y.ndim)])
            )
    return sum_over(operators.multiply(both, width), axis) * 0.5
