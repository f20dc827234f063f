"""Means, variances and weighted averages, over dimensions and named axes.

Numbers narrower than 32 bits are computed with in 32 bits and rounded once. A standard deviation
has derivative 0 where the variance is 0 (`roots`).
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import number_like, promote_dtypes_inexact
from axonym_core.primitives.elementwise import div_p
from axonym_core.primitives.reductions import reduce_sum_p
from axonym_core.types import AxisName, DType, aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, convert, dtype_beside, inexact, refuse_out
from ..arguments.reduction_axes import (
    broadcast_mask,
    keep_dimensions,
    mask_out,
    number_of,
    split_axes,
)
from ..creation.matrices import diagonal
from ..elementwise.complex_numbers import real
from ..elementwise.roots import square_root
from ..errors import ArgumentError
from ..reductions.elementary import sum as _sum

__all__ = ["average", "corrcoef", "cov", "mean", "std", "var"]


def wide_enough(dtype: DType) -> DType:
    """Dtype in which to compute with numbers of a floating-point dtype."""
    return dtypes.float32 if dtype in dtypes.FLOATS and dtype.itemsize < 4 else dtype


def _computed_in(name: str, a: Any, dtype: Any) -> tuple[Any, DType, bool]:
    """Operand in the dtype to compute in, and dtype and weakness of the result."""
    if dtype is not None:
        a = array_of(name, a)
        wanted = dtype_beside(dtype, a.dtype)
        if a.dtype in dtypes.COMPLEXES and wanted not in dtypes.COMPLEXES:
            raise DTypeError(f"{name}: dtype={wanted} cannot hold the complex result; leave it out")
        inner = wanted if wanted in dtypes.INEXACT else dtypes.default_float_dtype()
        return convert(a, wide_enough(inner)), wanted, False
    a = array_of(name, inexact(name, a))
    wide = wide_enough(a.dtype)
    if wide != a.dtype:
        return convert(a, wide), a.dtype, False
    return a, wide, a.weak_type


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """Arithmetic mean over dimensions and named axes.

    Args:
        a: Array or number; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        dtype: Dtype of the result; by default that of `a`.
        out: Refused: arrays are immutable.
        keepdims: Whether dimensions stay, with size 1.
        where: Truth values that broadcast to `a`: which elements take part.

    Returns:
        Array without the dimensions, that does not vary over the named axes. The mean of no
        elements is NaN.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> mean(lax.iota("float32", 4))
        Array(1.5, dtype=float32)
    """
    if out is not None:
        refuse_out("mean")
    a, out_dtype, weak = _computed_in("mean", a, dtype)
    aval = a.aval
    dims, names = split_axes("mean", aval, axis)
    if where is not None:
        center = _masked_mean(a, where, dims=dims, names=names)
    else:
        total = reduce_sum_p.bind(a, axes=dims, axis_names=names)
        center = div_p.bind(total, number_like(number_of(aval, dims, names), total.aval))
    if keepdims:
        center = keep_dimensions(center, aval.shape, dims)
    if center.dtype == out_dtype:
        return center
    return lax.convert_element_type(center, out_dtype, weak)


@composite("dims", "names")
def _masked_mean(
    a: Any, where: Any, *, dims: tuple[int, ...], names: tuple[AxisName, ...]
) -> Array:
    total = lax.reduce_sum(mask_out("mean", a, where, number_like(0, a.aval)), dims, names)
    return lax.div(total, _count("mean", a, where, dims, names))


def _count(
    name: str, a: Any, where: Any, dims: tuple[int, ...], names: tuple[AxisName, ...]
) -> Any:
    """How many elements take part, in the dtype of `a`."""
    aval = aval_of(a)
    if where is None:
        return number_like(number_of(aval, dims, names), aval)
    mask = lax.convert_element_type(broadcast_mask(name, where, aval.shape), aval.dtype)
    if aval_of(mask).shape != aval.shape:
        mask = lax.broadcast(mask, aval.shape)
    return lax.reduce_sum(mask, dims, names)


@composite("dims", "names", "ddof", "keepdims", "root")
def _variance(
    a: Any,
    where: Any,
    center: Any,
    *,
    dims: tuple[int, ...],
    names: tuple[AxisName, ...],
    ddof: float,
    keepdims: bool,
    root: bool,
) -> Array:
    zero = number_like(0, aval_of(a))
    number = _count("var", a, where, dims, names)
    if center is None:
        center = lax.div(lax.reduce_sum(mask_out("var", a, where, zero), dims, names), number)
        center = keep_dimensions(center, a.shape, dims)
    off = mask_out("var", operators.subtract(a, center), where, zero)
    if aval_of(off).dtype in dtypes.COMPLEXES:
        squares = lax.add(lax.square(lax.real(off)), lax.square(lax.imag(off)))
    else:
        squares = lax.square(off)
    total = lax.reduce_sum(squares, dims, names)
    if where is None:
        degrees = number_like(max(number_of(a.aval, dims, names) - ddof, 0), aval_of(total))
    else:
        degrees = lax.real(number) if aval_of(number).dtype in dtypes.COMPLEXES else number
        if ddof:
            degrees = lax.sub(degrees, number_like(ddof, aval_of(degrees)))
            degrees = lax.max(degrees, number_like(0, aval_of(degrees)))
    out = lax.div(total, degrees)
    if root:
        out = square_root(out)
    return keep_dimensions(out, a.shape, dims) if keepdims else out


def _known_mean(name: str, mean: Any, a: Any) -> Any:
    """A mean that the caller knows, in the dtype to compute in."""
    mean = array_of(name, mean, "mean")
    lead = a.ndim - mean.ndim
    if lead < 0 or any(m not in (1, n) for m, n in zip(mean.shape, a.shape[lead:], strict=True)):
        raise ShapeError(
            f"{name}: mean has shape {mean.shape}, which does not broadcast to {a.shape}; compute "
            "it with keepdims=True"
        )
    if mean.dtype in dtypes.COMPLEXES and a.dtype not in dtypes.COMPLEXES:
        raise DTypeError(f"{name}: mean has type {mean.aval}, and the operand is real")
    return convert(mean, a.dtype)


def _spread(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: Any,
    correction: float | None,
) -> Array:
    if correction is not None:
        if ddof:
            raise ArgumentError(
                f"{name}: ddof={ddof} and correction={correction} mean the same; give one of them"
            )
        ddof = correction
    a, out_dtype, weak = _computed_in(name, a, dtype)
    dims, names = split_axes(name, a.aval, axis)
    out = _variance(
        a,
        where,
        None if mean is None else _known_mean(name, mean, a),
        dims=dims,
        names=names,
        ddof=ddof,
        keepdims=bool(keepdims),
        root=name == "std",
    )
    if out_dtype in dtypes.COMPLEXES:
        out_dtype = out.dtype
    return out if out.dtype == out_dtype else lax.convert_element_type(out, out_dtype, weak)


def var(
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
    """Variance over dimensions and named axes: the mean squared distance from the mean.

    Args:
        a: Array or number; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        dtype: Dtype of the result; by default that of `a`, real.
        out: Refused: arrays are immutable.
        ddof: The sum of squares is divided by the number of elements less this.
        keepdims: Whether dimensions stay, with size 1.
        where: Truth values that broadcast to `a`: which elements take part.
        mean: The mean, where it is known: an array that broadcasts to `a`.
        correction: Another name of `ddof`.

    Returns:
        Array without the dimensions, that does not vary over the named axes.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.
        ArgumentError: `ddof` and `correction` are both given.

    Example:
        >>> var(lax.iota("float32", 4))
        Array(1.25, dtype=float32)
    """
    if out is not None:
        refuse_out("var")
    return _spread("var", a, axis, dtype, ddof, keepdims, where, mean, correction)


def std(
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
    """Standard deviation over dimensions and named axes: the square root of `var`.

    Arguments and errors are those of `var`. Its derivative where the variance is 0 is 0.

    Example:
        >>> std(lax.iota("float32", 4))
        Array(1.118, dtype=float32)
    """
    if out is not None:
        refuse_out("std")
    return _spread("std", a, axis, dtype, ddof, keepdims, where, mean, correction)


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Weighted mean over dimensions and named axes.

    Args:
        a: Array or number.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        weights: Array of the shape of `a`, or a vector along the one dimension `axis`; equal
            weights if None.
        returned: Whether to return the sums of the weights too.
        keepdims: Whether dimensions stay, with size 1.

    Returns:
        Array without the dimensions; with `returned` a pair of it and of the sums of weights.

    Raises:
        ShapeError: The weights do not fit.

    Example:
        >>> average(lax.iota("float32", 3), weights=lax.iota("float32", 3))
        Array(1.667, dtype=float32)
    """
    a = array_of("average", inexact("average", a))
    if weights is None:
        out = mean(a, axis, keepdims=keepdims)
        if not returned:
            return out
        dims, names = split_axes("average", a.aval, axis)
        return out, lax.full_like(out, number_of(a.aval, dims, names))
    w = array_of("average", weights, "weights")
    if w.shape != a.shape and w.ndim:
        dims, _ = split_axes("average", a.aval, axis)
        if axis is None or w.ndim != 1 or len(dims) != 1 or w.shape[0] != a.shape[dims[0]]:
            raise ShapeError(
                f"average: weights of shape {w.shape} fit neither the operand's shape {a.shape} "
                f"nor a dimension axis={axis}; give weights of one of these shapes"
            )
        w = lax.broadcast_in_dim(w, a.shape, dims)
    a, w = [array_of("average", x) for x in promote_dtypes_inexact("average", a, w)]
    total = _sum(w if w.ndim else lax.broadcast(w, a.shape), axis, keepdims=keepdims)
    weighted = _sum(operators.multiply(a, w), axis, keepdims=keepdims)
    out = operators.true_divide(weighted, total)
    return (out, total) if returned else out


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Covariance matrix of variables with observations.

    Args:
        m: Matrix of observations, or a vector of those of one variable.
        y: More variables, with the same observations.
        rowvar: Whether rows are variables; otherwise columns are.
        bias: Whether sums of products are divided by the number of observations, and not by one
            less.
        ddof: The sums are divided by the number of observations less this; it goes before `bias`.
        fweights: How often each observation occurs: a vector of integers, none of them negative.
        aweights: How much each observation counts: a vector of numbers, none of them negative.
        dtype: Dtype of the result.

    Returns:
        Matrix with a row and a column for each variable (0-d for a single one).

    Raises:
        ShapeError: An argument has too many dimensions, or the numbers of observations differ.
        DTypeError: `fweights` holds no integers.

    Example:
        >>> cov(lax.iota("float32", 4))
        Array(1.667, dtype=float32)
    """
    variables = [_observations("cov", m, "m", rowvar)]
    if y is not None:
        variables.append(_observations("cov", y, "y", rowvar))
        if variables[0].shape[1] != variables[1].shape[1]:
            raise ShapeError(
                f"cov: m has {variables[0].shape[1]} observations and y {variables[1].shape[1]}; "
                "both have one value for each observation"
            )
    rows = [array_of("cov", v) for v in promote_dtypes_inexact("cov", *variables)]
    together = lax.concatenate(rows, 0) if len(rows) > 1 else rows[0]
    x, out_dtype, weak = _computed_in("cov", together, dtype)
    weights = _weights(x, fweights, aweights)
    if ddof is None:
        ddof = 0 if bias else 1
    out = _covariance(x, *weights, ddof=ddof)
    return out if out.dtype == out_dtype else lax.convert_element_type(out, out_dtype, weak)


def _observations(name: str, x: Any, argument: str, rowvar: bool) -> Array:
    """Matrix with a row for each variable."""
    x = array_of(name, inexact(name, x))
    if x.ndim > 2:
        raise ShapeError(f"{name}: {argument} has type {x.aval}; give a matrix or a vector")
    if x.ndim < 2:
        return lax.reshape(x, (1, x.size))
    # A single row is one variable in y, whatever rowvar says, as in NumPy.
    return x if rowvar or (argument == "y" and x.shape[0] == 1) else lax.transpose(x, (1, 0))


def _weights(x: Array, fweights: Any, aweights: Any) -> tuple[Any, Any]:
    given = []
    for argument, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            weights = array_of("cov", weights, argument)
            if weights.shape != x.shape[1:]:
                raise ShapeError(
                    f"cov: {argument} has shape {weights.shape}; give a vector of one weight for "
                    f"each of the {x.shape[1]} observations"
                )
            if argument == "fweights" and weights.dtype not in dtypes.INTEGERS:
                raise DTypeError(f"cov: fweights has type {weights.aval}; give integers")
            weights = convert(weights, x.dtype)
        given.append(weights)
    return given[0], given[1]


@composite("ddof")
def _covariance(x: Any, frequencies: Any, importances: Any, *, ddof: float) -> Array:
    total: Any = number_like(x.shape[1], aval_of(x))
    weights, degrees = None, number_like(max(x.shape[1] - ddof, 0), aval_of(x))
    if frequencies is not None or importances is not None:
        weights = importances if frequencies is None else frequencies
        if frequencies is not None and importances is not None:
            weights = lax.mul(frequencies, importances)
        total = lax.reduce_sum(weights, (0,))
        lost = number_like(ddof, aval_of(x))
        if importances is not None:
            squares = lax.reduce_sum(lax.mul(weights, importances), (0,))
            lost = lax.div(lax.mul(squares, lost), total)
        degrees = lax.sub(total, lost)
        degrees = lax.select(_positive(degrees), degrees, number_like(0, aval_of(x)))
    weighted = x if weights is None else operators.multiply(x, weights)
    center = lax.div(lax.reduce_sum(weighted, (1,)), total)
    off = operators.subtract(x, lax.expand_dims(center, (1,)))
    weighted = off if weights is None else operators.multiply(off, weights)
    products = operators.matmul(weighted, lax.transpose(lax.conj(off), (1, 0)))
    out = lax.div(products, degrees)
    return lax.reshape(out, ()) if out.shape == (1, 1) else out


def _positive(x: Any) -> Any:
    real = lax.real(x) if aval_of(x).dtype in dtypes.COMPLEXES else x
    return lax.gt(real, number_like(0, aval_of(real)))


@composite()
def _correlations(c: Any) -> Array:
    if not c.ndim:
        return lax.div(c, c)
    scale = convert(lax.sqrt(real(diagonal(c))), c.dtype)
    rows = lax.broadcast_in_dim(scale, c.shape, (0,))
    columns = lax.broadcast_in_dim(scale, c.shape, (1,))
    return lax.div(lax.div(c, rows), columns)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Correlation coefficients of variables with observations; arguments are those of `cov`.

    Example:
        >>> corrcoef(lax.reshape(lax.iota("float32", 4), (2, 2)))
        Array([[1., 1.],
               [1., 1.]], dtype=float32)
    """
    return _correlations(cov(x, y, rowvar, dtype=dtype))
