"""Trigonometric and hyperbolic functions, angles and distances, element by element."""

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
from axonym_core.primitives.elementwise import (
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan2_p,
    atan_p,
    atanh_p,
    cos_p,
    cosh_p,
    mul_p,
    sin_p,
    sinh_p,
    tan_p,
    tanh_p,
)
from axonym_core.types import COMPLEXES, aval_of

from ..arguments.composites import composite
from ..arguments.operands import inexact
from .roots import square_root

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "hypot",
    "rad2deg",
    "radians",
    "sin",
    "sinc",
    "sinh",
    "tan",
    "tanh",
]


def sin(x: Any, /) -> Array:
    """Sine of an angle in radians.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> sin(0.5)
        Array(0.479, dtype=float32, weak_type=True)
    """
    return sin_p.bind(inexact("sin", x))


def cos(x: Any, /) -> Array:
    """Cosine of an angle in radians.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> cos(0.5)
        Array(0.878, dtype=float32, weak_type=True)
    """
    return cos_p.bind(inexact("cos", x))


def tan(x: Any, /) -> Array:
    """Tangent of an angle in radians.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> tan(0.5)
        Array(0.546, dtype=float32, weak_type=True)
    """
    return tan_p.bind(inexact("tan", x))


def arcsin(x: Any, /) -> Array:
    """Angle in [-pi/2, pi/2] with a given sine.

    It is NaN for real numbers beyond -1 and 1.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> arcsin(1.0)
        Array(1.571, dtype=float32, weak_type=True)
    """
    return asin_p.bind(inexact("arcsin", x))


def arccos(x: Any, /) -> Array:
    """Angle in [0, pi] with a given cosine.

    It is NaN for real numbers beyond -1 and 1.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> arccos(0.0)
        Array(1.571, dtype=float32, weak_type=True)
    """
    return acos_p.bind(inexact("arccos", x))


def arctan(x: Any, /) -> Array:
    """Angle in [-pi/2, pi/2] with a given tangent.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> arctan(1.0)
        Array(0.785, dtype=float32, weak_type=True)
    """
    return atan_p.bind(inexact("arctan", x))


def arctan2(x1: Any, x2: Any, /) -> Array:
    """Angle in [-pi, pi] of the point `(x2, x1)`.

    Args:
        x1: Array or number: ordinates.
        x2: Array or number that broadcasts with `x1`: abscissas.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> arctan2(1.0, -1.0)
        Array(2.356, dtype=float32, weak_type=True)
    """
    return atan2_p.bind(*promote_args_inexact("arctan2", x1, x2))


def sinh(x: Any, /) -> Array:
    """Hyperbolic sine.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> sinh(1.0)
        Array(1.175, dtype=float32, weak_type=True)
    """
    return sinh_p.bind(inexact("sinh", x))


def cosh(x: Any, /) -> Array:
    """Hyperbolic cosine.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> cosh(1.0)
        Array(1.543, dtype=float32, weak_type=True)
    """
    return cosh_p.bind(inexact("cosh", x))


def tanh(x: Any, /) -> Array:
    """Hyperbolic tangent.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> tanh(1.0)
        Array(0.762, dtype=float32, weak_type=True)
    """
    return tanh_p.bind(inexact("tanh", x))


def arcsinh(x: Any, /) -> Array:
    """Number with a given hyperbolic sine.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> arcsinh(1.0)
        Array(0.881, dtype=float32, weak_type=True)
    """
    return asinh_p.bind(inexact("arcsinh", x))


def arccosh(x: Any, /) -> Array:
    """Number, not negative, with a given hyperbolic cosine.

    It is NaN for real numbers below 1.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> arccosh(2.0)
        Array(1.317, dtype=float32, weak_type=True)
    """
    return acosh_p.bind(inexact("arccosh", x))


def arctanh(x: Any, /) -> Array:
    """Number with a given hyperbolic tangent.

    It is NaN for real numbers beyond -1 and 1.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> arctanh(0.5)
        Array(0.549, dtype=float32, weak_type=True)
    """
    return atanh_p.bind(inexact("arctanh", x))


asin, acos, atan, atan2 = arcsin, arccos, arctan, arctan2
asinh, acosh, atanh = arcsinh, arccosh, arctanh


def _scaled(name: str, x: Any, factor: float) -> Array:
    x = inexact(name, x)
    return mul_p.bind(x, number_like(factor, aval_of(x)))


def deg2rad(x: Any, /) -> Array:
    """Convert degrees to radians.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> deg2rad(180.0)
        Array(3.142, dtype=float32, weak_type=True)
    """
    return _scaled("deg2rad", x, math.pi / 180)


def rad2deg(x: Any, /) -> Array:
    """Convert radians to degrees.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> rad2deg(3.1415927)
        Array(180.0, dtype=float32, weak_type=True)
    """
    return _scaled("rad2deg", x, 180 / math.pi)


radians, degrees = deg2rad, rad2deg


@composite()
def _hypot(x: Any, y: Any) -> Array:
    """Length of a vector, divided by its larger part before squaring.

    That part is held constant in derivatives: the result does not depend on it.
    """
    x, y = broadcast_args("hypot", x, y)
    a, b = lax.abs(x), lax.abs(y)
    zero, one, infinity = [number_like(k, aval_of(a)) for k in (0, 1, math.inf)]
    first = lax.eq(a, infinity)
    infinite = lax.bitwise_or(first, lax.eq(b, infinity))
    u, v = lax.select(infinite, zero, x), lax.select(infinite, zero, y)
    size = lax.stop_gradient(lax.max(lax.abs(u), lax.abs(v)))
    scale = lax.select(lax.eq(size, zero), one, size)
    u, v = lax.div(u, scale), lax.div(v, scale)
    length = lax.mul(square_root(lax.add(lax.square(u), lax.square(v))), scale)
    return lax.select(infinite, lax.select(first, a, b), length)


def hypot(x1: Any, x2: Any, /) -> Array:
    """Length of the vector `(x1, x2)`, without overflow or underflow on the way.

    Its derivative at the origin, where there is none, is 0.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape; infinite where either is, beside NaN too.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> hypot(3e30, 4e30)
        Array(5.0e+30, dtype=float32, weak_type=True)
    """
    return _hypot(*promote_dtypes_inexact("hypot", x1, x2))


# Coefficients of sin(z) / z in powers of z ** 2, the highest first.
_SINC_SERIES = [(-1) ** k / math.factorial(2 * k + 1) for k in range(10, -1, -1)]


@composite()
def _sinc(x: Any) -> Array:
    """`sin(z) / z`, by its series up to |z| = 1, where quotients of derivatives lose all digits."""
    aval = aval_of(x)
    one = number_like(1, aval)
    z = lax.mul(x, number_like(math.pi, aval))
    size = lax.real(z) if aval.dtype in COMPLEXES else z
    small = lax.lt(lax.abs(size), number_like(1, aval_of(size)))
    if aval.dtype in COMPLEXES:
        imaginary = lax.imag(z)
        near = lax.lt(lax.abs(imaginary), number_like(1, aval_of(imaginary)))
        small = lax.bitwise_and(small, near)
    inner = lax.square(lax.select(small, z, number_like(0, aval)))
    series = number_like(_SINC_SERIES[0], aval)
    for coefficient in _SINC_SERIES[1:]:
        series = lax.add(lax.mul(series, inner), number_like(coefficient, aval))
    outer = lax.select(small, one, z)
    return lax.select(small, series, lax.div(lax.sin(outer), outer))


def sinc(x: Any, /) -> Array:
    """`sin(pi x) / (pi x)`, and 1 at 0.

    Its derivatives of all orders are right, at 0 and near it.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> sinc(0.5)
        Array(0.637, dtype=float32, weak_type=True)
    """
    return _sinc(inexact("sinc", x))
