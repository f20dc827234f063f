"""Mathematical functions, element by element: exponential, trigonometric, hyperbolic, special.

They take floating-point numbers (some complex ones too) and refuse integers, whose results would
need a dtype that nobody chose; `axonym.numpy` chooses one.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from ...arrays.array import Array
from ...operators.promotion import settled
from ...primitives.elementwise import (
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan2_p,
    atan_p,
    atanh_p,
    cbrt_p,
    cos_p,
    cosh_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    exp2_p,
    exp_p,
    expm1_p,
    lgamma_p,
    log1p_p,
    log_p,
    logistic_p,
    polygamma_p,
    rsqrt_p,
    sin_p,
    sinh_p,
    sqrt_p,
    tan_p,
    tanh_p,
)
from .operands import bind_binary

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "polygamma",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def exp(x: Any) -> Array:
    """Exponential function, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> exp(1.0)
        Array(2.718, dtype=float32, weak_type=True)
    """
    return exp_p.bind(settled(x))


def exp2(x: Any) -> Array:
    """Two to the power of each element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> exp2(3.0)
        Array(8.0, dtype=float32, weak_type=True)
    """
    return exp2_p.bind(settled(x))


def expm1(x: Any) -> Array:
    """`exp(x) - 1`, exact for small `x` too.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> expm1(1e-10)
        Array(1e-10, dtype=float32, weak_type=True)
    """
    return expm1_p.bind(settled(x))


def log(x: Any) -> Array:
    """Natural logarithm, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> log(2.0)
        Array(0.693, dtype=float32, weak_type=True)
    """
    return log_p.bind(settled(x))


def log1p(x: Any) -> Array:
    """`log(1 + x)`, exact for small `x` too.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> log1p(1e-10)
        Array(1e-10, dtype=float32, weak_type=True)
    """
    return log1p_p.bind(settled(x))


def sqrt(x: Any) -> Array:
    """Square root, element by element; NaN of negative numbers.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> sqrt(9.0)
        Array(3.0, dtype=float32, weak_type=True)
    """
    return sqrt_p.bind(settled(x))


def rsqrt(x: Any) -> Array:
    """Reciprocal square root, `1 / sqrt(x)`.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> rsqrt(4.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return rsqrt_p.bind(settled(x))


def cbrt(x: Any) -> Array:
    """Cube root, element by element.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> cbrt(-8.0)
        Array(-2.0, dtype=float32, weak_type=True)
    """
    return cbrt_p.bind(settled(x))


def sin(x: Any) -> Array:
    """Sine of angles in radians.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> sin(0.5)
        Array(0.479, dtype=float32, weak_type=True)
    """
    return sin_p.bind(settled(x))


def cos(x: Any) -> Array:
    """Cosine of angles in radians.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> cos(0.5)
        Array(0.878, dtype=float32, weak_type=True)
    """
    return cos_p.bind(settled(x))


def tan(x: Any) -> Array:
    """Tangent of angles in radians.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> tan(0.5)
        Array(0.546, dtype=float32, weak_type=True)
    """
    return tan_p.bind(settled(x))


def asin(x: Any) -> Array:
    """Arc sine in radians; NaN outside of -1 to 1.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> asin(1.0)
        Array(1.571, dtype=float32, weak_type=True)
    """
    return asin_p.bind(settled(x))


def acos(x: Any) -> Array:
    """Arc cosine in radians; NaN outside of -1 to 1.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> acos(-1.0)
        Array(3.142, dtype=float32, weak_type=True)
    """
    return acos_p.bind(settled(x))


def atan(x: Any) -> Array:
    """Arc tangent in radians.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> atan(1.0)
        Array(0.785, dtype=float32, weak_type=True)
    """
    return atan_p.bind(settled(x))


def atan2(x: Any, y: Any) -> Array:
    """Angle of the points with ordinate `x` and abscissa `y`, in radians from -pi to pi.

    Args:
        x: Array of a floating-point dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ or are not floating-point.
        ShapeError: The shapes differ.

    Example:
        >>> atan2(1.0, -1.0)
        Array(2.356, dtype=float32, weak_type=True)
    """
    return bind_binary("atan2", atan2_p, x, y)


def sinh(x: Any) -> Array:
    """Hyperbolic sine, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> sinh(1.0)
        Array(1.175, dtype=float32, weak_type=True)
    """
    return sinh_p.bind(settled(x))


def cosh(x: Any) -> Array:
    """Hyperbolic cosine, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> cosh(1.0)
        Array(1.543, dtype=float32, weak_type=True)
    """
    return cosh_p.bind(settled(x))


def tanh(x: Any) -> Array:
    """Hyperbolic tangent, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> tanh(1.0)
        Array(0.762, dtype=float32, weak_type=True)
    """
    return tanh_p.bind(settled(x))


def asinh(x: Any) -> Array:
    """Inverse hyperbolic sine, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> asinh(1.0)
        Array(0.881, dtype=float32, weak_type=True)
    """
    return asinh_p.bind(settled(x))


def acosh(x: Any) -> Array:
    """Inverse hyperbolic cosine, element by element; NaN below 1.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> acosh(2.0)
        Array(1.317, dtype=float32, weak_type=True)
    """
    return acosh_p.bind(settled(x))


def atanh(x: Any) -> Array:
    """Inverse hyperbolic tangent, element by element; NaN outside of -1 to 1.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> atanh(0.5)
        Array(0.549, dtype=float32, weak_type=True)
    """
    return atanh_p.bind(settled(x))


def logistic(x: Any) -> Array:
    """Logistic (sigmoid) function, `1 / (1 + exp(-x))`.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> logistic(0.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return logistic_p.bind(settled(x))


def erf(x: Any) -> Array:
    """Error function, element by element.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> erf(0.5)
        Array(0.520, dtype=float32, weak_type=True)
    """
    return erf_p.bind(settled(x))


def erfc(x: Any) -> Array:
    """Complementary error function, `1 - erf(x)`, exact for large `x` too.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> erfc(0.5)
        Array(0.480, dtype=float32, weak_type=True)
    """
    return erfc_p.bind(settled(x))


def erf_inv(x: Any) -> Array:
    """Inverse error function: infinite at -1 and 1, NaN outside.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> erf_inv(0.5)
        Array(0.477, dtype=float32, weak_type=True)
    """
    return erf_inv_p.bind(settled(x))


def lgamma(x: Any) -> Array:
    """Logarithm of the absolute value of the gamma function.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> lgamma(5.0)
        Array(3.178, dtype=float32, weak_type=True)
    """
    return lgamma_p.bind(settled(x))


def digamma(x: Any) -> Array:
    """Derivative of `lgamma`; NaN at negative integers, not finite at 0.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> digamma(1.0)
        Array(-0.577, dtype=float32, weak_type=True)
    """
    return digamma_p.bind(settled(x))


def polygamma(m: Any, x: Any) -> Array:
    """Derivative of order `m` of `digamma`.

    Args:
        m: Array of a floating-point dtype that holds integers, 0 or more. The result does not
            depend differentiably on it.
        x: Array of the same dtype and rank, whose sizes are those of `m` or 1 (as `m`'s may be);
            or of rank 0 (as `m` may be).

    Returns:
        Array of the common shape and dtype; NaN where `m` is no integer or negative.

    Raises:
        DTypeError: The dtypes differ or are not floating-point.
        ShapeError: The shapes differ.

    Example:
        >>> polygamma(1.0, 1.0)
        Array(1.645, dtype=float32, weak_type=True)
    """
    return bind_binary("polygamma", polygamma_p, m, x)
