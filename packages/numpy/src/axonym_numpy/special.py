"""Special functions, named as in `scipy.special`: error functions, log-sums, entropies."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.operators import (
    broadcast_args,
    number_like,
    promote_args_inexact,
    promote_dtypes_inexact,
)
from axonym_core.types import aval_of

from .arguments.composites import composite
from .arguments.operands import inexact
from .elementwise.exponentials import exp2, expm1, log1p
from .elementwise.trigonometry import sinc
from .nn import normalizations
from .nn.activations import log_sigmoid
from .nn.normalizations import logsumexp

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "kl_div",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "polygamma",
    "psi",
    "rel_entr",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]


def erf(x: Any, /) -> Array:
    """Error function.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> erf(1.0)
        Array(0.843, dtype=float32, weak_type=True)
    """
    return lax.erf(inexact("erf", x))


def erfc(x: Any, /) -> Array:
    """`1 - erf(x)`, exact where that is tiny.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> erfc(1.0)
        Array(0.157, dtype=float32, weak_type=True)
    """
    return lax.erfc(inexact("erfc", x))


def erfinv(x: Any, /) -> Array:
    """Inverse of the error function, from -1 to 1.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> erfinv(0.5)
        Array(0.477, dtype=float32, weak_type=True)
    """
    return lax.erf_inv(inexact("erfinv", x))


def expit(x: Any, /) -> Array:
    """Logistic function `1 / (1 + exp(-x))`.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> expit(0.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(inexact("expit", x))


def gammaln(x: Any, /) -> Array:
    """Logarithm of the size of the gamma function.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> gammaln(5.0)
        Array(3.178, dtype=float32, weak_type=True)
    """
    return lax.lgamma(inexact("gammaln", x))


def digamma(x: Any, /) -> Array:
    """Derivative of the logarithm of the gamma function.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> digamma(1.0)
        Array(-0.577, dtype=float32, weak_type=True)
    """
    return lax.digamma(inexact("digamma", x))


psi = digamma
log_expit = log_sigmoid


def polygamma(n: Any, x: Any, /) -> Array:
    """Derivative of order `n` of `digamma`.

    Args:
        n: Array or number: the order, an integer of 0 or more.
        x: Array or number that broadcasts with `n`.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: An operand is complex.

    Example:
        >>> polygamma(1, 1.0)
        Array(1.645, dtype=float32, weak_type=True)
    """
    return lax.polygamma(*promote_args_inexact("polygamma", n, x))


@composite()
def _logit(x: Any) -> Array:
    return lax.sub(lax.log(x), lax.log1p(lax.neg(x)))


def logit(x: Any, /) -> Array:
    """`log(x / (1 - x))`, the inverse of `expit`.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> logit(0.75)
        Array(1.099, dtype=float32, weak_type=True)
    """
    return _logit(inexact("logit", x))


@composite("plus_one")
def _xlogy(x: Any, y: Any, *, plus_one: bool) -> Array:
    """`x * log(y)`, and 0 where `x` is 0 (if `y` is not NaN)."""
    x, y = broadcast_args("xlogy", x, y)
    logarithm = lax.log1p(y) if plus_one else lax.log(y)
    zero, plain = number_like(0, aval_of(x)), lax.stop_gradient(lax.mul(x, logarithm))
    vanishes = lax.bitwise_and(lax.eq(x, zero), lax.eq(y, y))
    spoilt = lax.bitwise_and(lax.ne(plain, plain), lax.bitwise_not(vanishes))
    return lax.select(spoilt, plain, lax.mul_no_nan(x, logarithm))


def xlogy(x: Any, y: Any, /) -> Array:
    """`x * log(y)`, and 0 where `x` is 0.

    Args:
        x: Array or number.
        y: Array or number that broadcasts with `x`.

    Returns:
        Array of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> xlogy(0.0, 0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _xlogy(*promote_dtypes_inexact("xlogy", x, y), plus_one=False)


def xlog1py(x: Any, y: Any, /) -> Array:
    """`x * log(1 + y)`, and 0 where `x` is 0.

    Args:
        x: Array or number.
        y: Array or number that broadcasts with `x`.

    Returns:
        Array of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> xlog1py(0.0, -1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _xlogy(*promote_dtypes_inexact("xlog1py", x, y), plus_one=True)


@composite()
def _entr(x: Any) -> Array:
    out = lax.mul_no_nan(lax.neg(x), lax.log(x))
    return lax.select(
        lax.lt(x, number_like(0, aval_of(x))), number_like(-math.inf, aval_of(x)), out
    )


def entr(x: Any, /) -> Array:
    """`-x * log(x)`, 0 at 0 and -inf for negative numbers: the summand of an entropy.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> entr(0.5)
        Array(0.347, dtype=float32, weak_type=True)
    """
    return _entr(inexact("entr", x))


@composite("shifted")
def _rel_entr(p: Any, q: Any, *, shifted: bool) -> Array:
    """`p * log(p / q)`, by a difference of logarithms where the quotient may overflow."""
    p, q = broadcast_args("rel_entr", p, q)
    zero, one = number_like(0, aval_of(p)), number_like(1, aval_of(p))
    negative = lax.bitwise_or(lax.lt(p, zero), lax.lt(q, zero))
    neither = lax.bitwise_and(lax.eq(p, zero), lax.eq(q, zero))
    p, divisor = lax.select(neither, zero, p), lax.select(neither, one, q)
    ratio = lax.div(p, divisor)
    near = lax.bitwise_and(
        lax.gt(ratio, number_like(0.5, aval_of(p))), lax.lt(ratio, number_like(2, aval_of(p)))
    )
    gap = lax.div(lax.select(near, lax.sub(p, q), zero), lax.select(near, divisor, one))
    far = lax.sub(lax.log(p), lax.log(divisor))
    out = lax.mul_no_nan(p, lax.select(near, lax.log1p(gap), far))
    if shifted:
        out = lax.add(lax.sub(out, p), q)
    out = lax.select(negative, number_like(math.inf, aval_of(p)), out)
    spoilt = lax.bitwise_or(lax.ne(p, p), lax.ne(q, q))
    return lax.select(spoilt, number_like(math.nan, aval_of(p)), out)


def rel_entr(p: Any, q: Any, /) -> Array:
    """`p * log(p / q)`, 0 where `p` is 0: the summand of a relative entropy.

    Args:
        p: Array or number.
        q: Array or number that broadcasts with `p`.

    Returns:
        Array of the common shape; infinite where an operand is negative, or `q` alone is 0.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> rel_entr(0.5, 0.25)
        Array(0.347, dtype=float32, weak_type=True)
    """
    return _rel_entr(*promote_dtypes_inexact("rel_entr", p, q), shifted=False)


def kl_div(p: Any, q: Any, /) -> Array:
    """`p * log(p / q) - p + q`, which is never negative.

    Args:
        p: Array or number.
        q: Array or number that broadcasts with `p`.

    Returns:
        Array of the common shape; infinite where an operand is negative, or `q` alone is 0.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> kl_div(0.5, 0.25)
        Array(0.097, dtype=float32, weak_type=True)
    """
    return _rel_entr(*promote_dtypes_inexact("kl_div", p, q), shifted=True)


def softmax(x: Any, axis: Any = None) -> Array:
    """Exponentials divided by their sum over all dimensions, unless `axis` says which.

    Otherwise as `axonym.nn.softmax`, whose `axis` is the last dimension where it is not given.

    Args:
        x: Array; integers go to the default floating-point dtype.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.

    Example:
        >>> softmax(lax.full((2, 2), 1.0, "float32"))
        Array([[0.25, 0.25],
               [0.25, 0.25]], dtype=float32)
    """
    return normalizations.softmax(x, axis)


def log_softmax(x: Any, axis: Any = None) -> Array:
    """Logarithm of `softmax`, exact where that is tiny; arguments are the same.

    Example:
        >>> log_softmax(lax.full((2, 2), 1.0, "float32"))
        Array([[-1.386, -1.386],
               [-1.386, -1.386]], dtype=float32)
    """
    return normalizations.log_softmax(x, axis)


@composite()
def _ndtr(x: Any) -> Array:
    aval = aval_of(x)
    scaled = lax.mul(x, number_like(-math.sqrt(0.5), aval))
    return lax.mul(number_like(0.5, aval), lax.erfc(scaled))


def ndtr(x: Any, /) -> Array:
    """Probability that a standard normal number lies below `x`.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> ndtr(0.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return _ndtr(inexact("ndtr", x))


@composite()
def _log_ndtr(x: Any) -> Array:
    """A logarithm of what is not near 1; far below 0, an asymptotic series."""
    aval = aval_of(x)
    one = number_like(1, aval)
    far = lax.lt(x, number_like(-5 if aval.dtype.itemsize < 8 else -14, aval))
    high = lax.gt(x, number_like(0, aval))
    near = lax.select(lax.bitwise_or(far, high), number_like(0, aval), x)
    middle = lax.log(_ndtr(near))
    upper = lax.log1p(lax.neg(_ndtr(lax.neg(lax.select(high, x, one)))))
    low = lax.select(far, x, number_like(-20, aval))
    inverse = lax.integer_pow(low, -2)
    series = one
    for k in range(13, 0, -2):  # 1 - 1/x^2 (1 - 3/x^2 (1 - 5/x^2 ...))
        series = lax.sub(one, lax.mul(lax.mul(number_like(k, aval), inverse), series))
    half = number_like(-0.5, aval)
    lower = lax.mul(half, lax.square(low))
    lower = lax.sub(lower, lax.log(lax.neg(low)))
    lower = lax.add(lax.sub(lower, number_like(0.5 * math.log(2 * math.pi), aval)), lax.log(series))
    return lax.select(far, lower, lax.select(high, upper, middle))


def log_ndtr(x: Any, /) -> Array:
    """Logarithm of `ndtr`, exact where that is tiny.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> log_ndtr(-10.0)
        Array(-53.23, dtype=float32, weak_type=True)
    """
    return _log_ndtr(inexact("log_ndtr", x))
