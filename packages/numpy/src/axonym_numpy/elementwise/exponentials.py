"""Exponentials, logarithms and roots, element by element."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.operators import broadcast_args, number_like, promote_dtypes_inexact
from axonym_core.primitives.elementwise import (
    cbrt_p,
    div_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    mul_p,
    sqrt_p,
)
from axonym_core.types import COMPLEXES, aval_of

from ..arguments.composites import composite
from ..arguments.operands import inexact

__all__ = [
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "sqrt",
]


def exp(x: Any, /) -> Array:
    """Exponential `e ** x`.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> exp(1.0)
        Array(2.718, dtype=float32, weak_type=True)
    """
    return exp_p.bind(inexact("exp", x))


def exp2(x: Any, /) -> Array:
    """Power of two `2 ** x`.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> exp2(3.0)
        Array(8.0, dtype=float32, weak_type=True)
    """
    return exp2_p.bind(inexact("exp2", x))


def expm1(x: Any, /) -> Array:
    """`exp(x) - 1`, exact near 0 too.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> expm1(1e-10)
        Array(1.0e-10, dtype=float32, weak_type=True)
    """
    return expm1_p.bind(inexact("expm1", x))


def log(x: Any, /) -> Array:
    """Natural logarithm.

    It is -inf at 0, and NaN for negative real numbers.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> log(2.0)
        Array(0.693, dtype=float32, weak_type=True)
    """
    return log_p.bind(inexact("log", x))


def log1p(x: Any, /) -> Array:
    """`log(1 + x)`, exact near 0 too.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> log1p(1e-10)
        Array(1.0e-10, dtype=float32, weak_type=True)
    """
    return log1p_p.bind(inexact("log1p", x))


def _log_to_base(name: str, x: Any, base: float) -> Array:
    x = inexact(name, x)
    out = log_p.bind(x)
    if aval_of(out).dtype in COMPLEXES:  # a complex divisor would make NaN of an infinity
        scale = number_like(math.log(base), aval_of(lax.real(out)))
        return lax.complex(div_p.bind(lax.real(out), scale), div_p.bind(lax.imag(out), scale))
    return div_p.bind(out, number_like(math.log(base), aval_of(out)))


def log2(x: Any, /) -> Array:
    """Logarithm to base 2.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> log2(8.0)
        Array(3.0, dtype=float32, weak_type=True)
    """
    return _log_to_base("log2", x, 2)


def log10(x: Any, /) -> Array:
    """Logarithm to base 10.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> log10(100.0)
        Array(2.0, dtype=float32, weak_type=True)
    """
    return _log_to_base("log10", x, 10)


def sqrt(x: Any, /) -> Array:
    """Square root, which is not negative.

    It is NaN for negative real numbers.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> sqrt(9.0)
        Array(3.0, dtype=float32, weak_type=True)
    """
    return sqrt_p.bind(inexact("sqrt", x))


def cbrt(x: Any, /) -> Array:
    """Cube root, of negative numbers too.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> cbrt(-27.0)
        Array(-3.0, dtype=float32, weak_type=True)
    """
    return cbrt_p.bind(inexact("cbrt", x))


@composite("scale")
def _log_sum(x: Any, y: Any, *, scale: float | None) -> Array:
    """`log(exp(x) + exp(y))`, as the larger one plus a logarithm between 0 and log 2.

    The choice of the larger one selects between two exact forms of one function, so derivatives
    of all orders are right at ties too. Two equal infinities are their own result.
    """
    x, y = broadcast_args("logaddexp", x, y)
    larger = lax.ge(x, y)
    high = lax.select(larger, x, y)
    gap = lax.select(larger, lax.sub(y, x), lax.sub(x, y))
    infinite = lax.eq(lax.abs(high), number_like(math.inf, aval_of(high)))
    infinite = lax.bitwise_and(infinite, lax.eq(x, y))
    gap = lax.select(infinite, number_like(-math.inf, aval_of(gap)), gap)
    if scale is None:
        return lax.add(high, lax.log1p(lax.exp(gap)))
    number = number_like(scale, aval_of(gap))
    return lax.add(high, lax.div(lax.log1p(lax.exp(mul_p.bind(gap, number))), number))


@composite()
def _log_sum_complex(x: Any, y: Any) -> Array:
    x, y = broadcast_args("logaddexp", x, y)
    larger = lax.ge(lax.real(x), lax.real(y))
    high = lax.select(larger, x, y)
    gap = lax.select(larger, lax.sub(y, x), lax.sub(x, y))
    infinite = lax.eq(lax.real(high), number_like(-math.inf, aval_of(lax.real(high))))
    safe = lax.select(infinite, number_like(0, aval_of(gap)), gap)
    total = lax.add(high, lax.log1p(lax.exp(safe)))
    total = lax.select(infinite, high, total)
    # The principal value: an angle from -pi to pi. What is subtracted is a constant in derivatives.
    angle = lax.imag(total)
    turns = lax.div(angle, number_like(2 * math.pi, aval_of(angle)))
    turns = lax.stop_gradient(lax.round(turns, lax.RoundingMethod.TO_NEAREST_EVEN))
    turns = lax.mul(turns, number_like(2 * math.pi, aval_of(angle)))
    return lax.complex(lax.real(total), lax.sub(angle, turns))


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """`log(exp(x1) + exp(x2))`, without overflow.

    Its derivatives are finite wherever they exist, next to infinities too.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> logaddexp(0.0, 0.0)
        Array(0.693, dtype=float32, weak_type=True)
    """
    x1, x2 = promote_dtypes_inexact("logaddexp", x1, x2)
    if aval_of(x1).dtype in COMPLEXES:
        return _log_sum_complex(x1, x2)
    return _log_sum(x1, x2, scale=None)


def logaddexp2(x1: Any, x2: Any, /) -> Array:
    """`log2(2 ** x1 + 2 ** x2)`, without overflow.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        DTypeError: An operand is complex.

    Example:
        >>> logaddexp2(0.0, 0.0)
        Array(1.0, dtype=float32, weak_type=True)
    """
    x1, x2 = promote_dtypes_inexact("logaddexp2", x1, x2)
    return _log_sum(x1, x2, scale=math.log(2))
