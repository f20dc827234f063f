"""Softmax and its kin: normalisations over dimensions and named axes.

The maximum that is subtracted first is held constant in derivatives, since results do not depend on
it. A row without any mass (all of it `-inf`, or masked) has softmax 0 and derivative 0, where 0/0
would make a whole training step NaN; its `logsumexp` is `-inf`, with derivative 0.
"""

# mypy: disable-error-code="no-any-return"
# (Operators are untyped at their edges: here they always give an array.)

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import number_like, promote_dtypes_inexact
from axonym_core.types import AxisName, aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, convert, inexact, python_number
from ..arguments.reduction_axes import (
    broadcast_mask,
    keep_dimensions,
    mask_out,
    number_of,
    split_axes,
)
from ..statistics.moments import mean, var, wide_enough

__all__ = [
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "normalize",
    "softmax",
    "standardize",
]

Dims = tuple[int, ...]
Names = tuple[AxisName, ...]


def _maximum(x: Any, dims: Dims, names: Names) -> Any:
    """Greatest element where that is finite, else 0; a constant for derivatives."""
    out = lax.reduce_max(lax.stop_gradient(x), dims)
    if names:
        out = lax.pmax(out, names)
    return lax.select(lax.is_finite(out), out, number_like(0, aval_of(out)))


def _spread(x: Any, shape: tuple[int, ...], dims: Dims) -> Any:
    """Repeat the result of a reduction along the dimensions that were reduced."""
    return lax.broadcast_in_dim(x, shape, tuple([d for d in range(len(shape)) if d not in dims]))


def _real(name: str, x: Any) -> Any:
    x = array_of(name, inexact(name, x))
    if x.dtype in dtypes.COMPLEXES:
        raise DTypeError(f"{name}: x has type {x.aval}; it is a function of real numbers")
    return x


def _masked(name: str, x: Any, where: Any) -> Any:
    """Array with -inf where elements take no part."""
    return mask_out(name, x, where, number_like(-math.inf, aval_of(x)))


@composite("dims", "names")
def _softmax(x: Any, where: Any, *, dims: Dims, names: Names) -> Array:
    x = _masked("softmax", x, where)
    shape = x.shape
    powers = lax.exp(lax.sub(x, _spread(_maximum(x, dims, names), shape, dims)))
    total = lax.reduce_sum(powers, dims, names)
    empty = lax.eq(total, number_like(0, aval_of(total)))
    total = lax.select(empty, number_like(1, aval_of(total)), total)
    return lax.div(powers, _spread(total, shape, dims))


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """Exponentials divided by their sum: positive shares of 1.

    Args:
        x: Array; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        where: Truth values that broadcast to `x`: which elements take part. Others get 0.

    Returns:
        Array of the shape of `x`. Rows in which nothing takes part, or all is -inf, are 0.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.
        DTypeError: `x` is complex.

    Example:
        >>> softmax(lax.full((4,), 1.0, "float32"))
        Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    x = _real("softmax", x)
    dims, names = split_axes("softmax", x.aval, axis)
    return _softmax(x, where, dims=dims, names=names)


@composite("dims", "names")
def _log_softmax(x: Any, where: Any, *, dims: Dims, names: Names) -> Array:
    x = _masked("log_softmax", x, where)
    shape = x.shape
    shifted = lax.sub(x, _spread(_maximum(x, dims, names), shape, dims))
    total = lax.reduce_sum(lax.exp(shifted), dims, names)
    empty = lax.eq(total, number_like(0, aval_of(total)))
    logarithm = lax.log(lax.select(empty, number_like(1, aval_of(total)), total))
    out = lax.sub(shifted, _spread(logarithm, shape, dims))
    return _masked("log_softmax", out, where)  # again: a constant, whatever the sum does


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """Logarithm of `softmax`, exact where that is tiny; arguments and errors are the same.

    Example:
        >>> log_softmax(lax.full((4,), 1.0, "float32"))
        Array([-1.386, -1.386, -1.386, -1.386], dtype=float32)
    """
    x = _real("log_softmax", x)
    dims, names = split_axes("log_softmax", x.aval, axis)
    return _log_softmax(x, where, dims=dims, names=names)


@composite("dims", "names", "keepdims", "number")
def _logsumexp(
    x: Any, where: Any, *, dims: Dims, names: Names, keepdims: bool, number: int
) -> Array:
    x = _masked("logsumexp", x, where)
    shape = x.shape
    top = _maximum(x, dims, names)
    total = lax.reduce_sum(lax.exp(lax.sub(x, _spread(top, shape, dims))), dims, names)
    empty = lax.eq(total, number_like(0, aval_of(total)))
    safe = lax.select(empty, number_like(1, aval_of(total)), total)
    out = lax.add(lax.log(safe), top)
    out = lax.select(empty, number_like(-math.inf, aval_of(out)), out)
    if number != 1:
        out = lax.sub(out, number_like(math.log(number), aval_of(out)))
    return keep_dimensions(out, shape, dims) if keepdims else out


@composite("dims", "names", "keepdims")
def _signed_logsumexp(
    x: Any, b: Any, where: Any, *, dims: Dims, names: Names, keepdims: bool
) -> tuple[Array, Array]:
    """Logarithm of the size, and sign, of a sum of exponentials with factors."""
    shape = lax.broadcast_shapes(aval_of(x).shape, aval_of(b).shape)
    x, b = [
        lax.broadcast_in_dim(v, shape, tuple(range(len(shape) - aval_of(v).ndim, len(shape))))
        for v in (x, b)
    ]
    if where is not None:
        mask = broadcast_mask("logsumexp", where, shape)
        x = lax.select(mask, x, number_like(-math.inf, aval_of(x)))
    # A factor of 0 takes its term out, however large that is.
    x = lax.select(lax.eq(b, number_like(0, aval_of(b))), number_like(-math.inf, aval_of(x)), x)
    top = _maximum(x, dims, names)
    terms = lax.mul(b, lax.exp(lax.sub(x, _spread(top, shape, dims))))
    total = lax.reduce_sum(terms, dims, names)
    size = lax.abs(total)
    empty = lax.eq(size, number_like(0, aval_of(size)))
    safe = lax.select(empty, number_like(1, aval_of(size)), size)
    out = lax.add(lax.log(safe), top)
    out = lax.select(empty, number_like(-math.inf, aval_of(out)), out)
    sign = lax.sign(total)
    if keepdims:
        out, sign = [keep_dimensions(v, shape, dims) for v in (out, sign)]
    return out, sign


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """Logarithm of the sum of exponentials, without overflow.

    Args:
        a: Array or number; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        b: Factors of the exponentials, that broadcast with `a`.
        keepdims: Whether dimensions stay, with size 1.
        return_sign: Whether to return the sign of the sum too, and the logarithm of its size;
            otherwise a negative sum gives NaN.
        where: Truth values that broadcast to `a`: which elements take part.

    Returns:
        Array without the dimensions, that does not vary over the named axes (-inf where nothing
        takes part); with `return_sign` a pair of it and the signs.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.
        DTypeError: `a` is complex.

    Example:
        >>> logsumexp(lax.full((4,), 0.0, "float32"))
        Array(1.386, dtype=float32)
    """
    x = _real("logsumexp", a)
    if b is None and not return_sign:
        dims, names = split_axes("logsumexp", x.aval, axis)
        return _logsumexp(x, where, dims=dims, names=names, keepdims=bool(keepdims), number=1)
    x, factors = promote_dtypes_inexact("logsumexp", x, 1.0 if b is None else b)
    factors = array_of("logsumexp", factors, "b")
    rank = max(aval_of(x).ndim, aval_of(factors).ndim)
    dims, names = split_axes("logsumexp", aval_of(x).update(shape=(0,) * rank), axis)
    out, sign = _signed_logsumexp(
        x, factors, where, dims=dims, names=names, keepdims=bool(keepdims)
    )
    if return_sign:
        return out, sign
    return lax.select(
        lax.lt(sign, number_like(0, aval_of(sign))), number_like(math.nan, aval_of(out)), out
    )


def logmeanexp(a: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Array:
    """Logarithm of the mean of exponentials, without overflow.

    Args:
        a: Array or number.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        where: Truth values that broadcast to `a`: which elements take part.
        keepdims: Whether dimensions stay, with size 1.

    Example:
        >>> logmeanexp(lax.full((4,), 2.0, "float32"))
        Array(2., dtype=float32)
    """
    x = _real("logmeanexp", a)
    dims, names = split_axes("logmeanexp", x.aval, axis)
    if where is None:
        number = number_of(x.aval, dims, names)
        if number:
            return _logsumexp(
                x, None, dims=dims, names=names, keepdims=bool(keepdims), number=number
            )
        return lax.full_like(_logsumexp_of(x, dims, names, keepdims), math.nan)
    out = _logsumexp(x, where, dims=dims, names=names, keepdims=bool(keepdims), number=1)
    mask = convert(broadcast_mask("logmeanexp", where, x.shape), x.dtype)
    mask = mask if aval_of(mask).ndim else lax.broadcast(mask, x.shape)
    count = lax.reduce_sum(mask, dims, names)
    count = keep_dimensions(count, x.shape, dims) if keepdims else count
    return operators.subtract(out, lax.log(count))


def _logsumexp_of(x: Any, dims: Dims, names: Names, keepdims: bool) -> Array:
    return _logsumexp(x, None, dims=dims, names=names, keepdims=bool(keepdims), number=1)


@composite()
def _standardized(x: Any, center: Any, variance: Any, epsilon: Any) -> Array:
    off = operators.subtract(x, center)
    return operators.multiply(off, lax.rsqrt(operators.add(variance, epsilon)))


@composite()
def _without_hidden(x: Any, where: Any) -> Array:
    """Array with 0 in the place of what takes no part and is no number, so that derivatives are."""
    finite = lax.eq(lax.sub(x, x), number_like(0, aval_of(x)))
    hidden = lax.bitwise_not(broadcast_mask("standardize", where, x.shape))
    harmful = lax.bitwise_and(hidden, lax.bitwise_not(finite))
    return lax.select(harmful, number_like(0, aval_of(x)), x)


@composite("dims", "names")
def _standardize_all(x: Any, epsilon: Any, *, dims: Dims, names: Names) -> Array:
    """Standardise by the array's own mean and variance, which share the distances from the mean."""
    shape, dtype = x.shape, x.dtype
    x = convert(x, wide_enough(dtype))
    number = number_like(number_of(x.aval, dims, names), x.aval)
    center = lax.div(lax.reduce_sum(x, dims, names), number)
    off = lax.sub(x, _spread(center, shape, dims))
    variance = lax.div(lax.reduce_sum(lax.square(off), dims, names), number)
    scale = lax.rsqrt(operators.add(variance, epsilon))
    return convert(lax.mul(off, _spread(scale, shape, dims)), dtype)


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
) -> Array:
    """Array with mean 0 and variance 1 over dimensions and named axes.

    Args:
        x: Array; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        mean: What to subtract; the mean if None.
        variance: What to divide by the root of; the variance if None.
        epsilon: Added to the variance, so that it is never 0.
        where: Truth values that broadcast to `x`: which elements count for mean and variance.
            Others are taken for 0 where they are not finite.

    Returns:
        Array of the shape of `x`.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> standardize(lax.iota("float32", 3))
        Array([-1.225,  0.   ,  1.225], dtype=float32)
    """
    x = array_of("standardize", inexact("standardize", x))
    if where is not None:
        x = _without_hidden(x, where)
    mean, variance, epsilon = [python_number(v) for v in (mean, variance, epsilon)]
    if mean is None and variance is None and where is None and x.dtype in dtypes.FLOATS:
        dims, names = split_axes("standardize", x.aval, axis)
        return _standardize_all(x, epsilon, dims=dims, names=names)
    if mean is None:
        mean = _mean(x, axis, keepdims=True, where=where)
    if variance is None:
        variance = var(x, axis, keepdims=True, where=where)
    for argument, value in (("mean", mean), ("variance", variance)):
        shape = array_of("standardize", value, argument).shape
        if len(shape) > x.ndim or any(
            m not in (1, n) for m, n in zip(reversed(shape), reversed(x.shape), strict=False)
        ):
            raise ShapeError(
                f"standardize: {argument} has shape {shape}, which does not broadcast to {x.shape}"
            )
    return _standardized(x, mean, variance, epsilon)


_mean = mean
normalize = standardize
