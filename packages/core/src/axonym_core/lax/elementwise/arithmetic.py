"""Arithmetic, element by element.

A number beside an array takes the array's dtype; arrays of unlike dtypes or shapes are refused.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import operator
from typing import Any

from ...arrays.array import Array
from ...operators.promotion import is_number, match_scalars, settled
from ...primitives.elementwise import (
    RoundingMethod,
    abs_p,
    add_p,
    ceil_p,
    clamp_p,
    div_p,
    floor_p,
    integer_pow_p,
    max_p,
    min_p,
    mul_no_nan_p,
    mul_p,
    neg_p,
    nextafter_p,
    pow_p,
    rem_p,
    round_p,
    sign_p,
    square_p,
    sub_p,
)
from .operands import bind_binary

__all__ = [
    "RoundingMethod",
    "abs",
    "add",
    "ceil",
    "clamp",
    "div",
    "floor",
    "integer_pow",
    "max",
    "min",
    "mul",
    "mul_no_nan",
    "neg",
    "nextafter",
    "pow",
    "reciprocal",
    "rem",
    "round",
    "sign",
    "square",
    "sub",
]


def neg(x: Any) -> Array:
    """Negation `-x`, element by element; it wraps for integers.

    Args:
        x: Array of any numeric dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> neg(2)
        Array(-2, dtype=int32, weak_type=True)
    """
    return neg_p.bind(settled(x))


def add(x: Any, y: Any) -> Array:
    """Sum `x + y`, element by element.

    Args:
        x: Array of any numeric dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> add(2, 3)
        Array(5, dtype=int32, weak_type=True)
    """
    return bind_binary("add", add_p, x, y)


def sub(x: Any, y: Any) -> Array:
    """Difference `x - y`, element by element.

    Args:
        x: Array of any numeric dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> sub(2, 3)
        Array(-1, dtype=int32, weak_type=True)
    """
    return bind_binary("sub", sub_p, x, y)


def mul(x: Any, y: Any) -> Array:
    """Product `x * y`, element by element.

    Args:
        x: Array of any numeric dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> mul(2, 3)
        Array(6, dtype=int32, weak_type=True)
    """
    return bind_binary("mul", mul_p, x, y)


def mul_no_nan(x: Any, y: Any) -> Array:
    """Product `x * y` that is 0 where an operand is 0, even if the other is infinite or NaN.

    Its derivatives, of all orders, are products of this kind: `mul_no_nan(x, log(x))` is 0 at 0,
    and its derivative there is `-inf`, as that of `x * log(x)` is in the limit.

    Args:
        x: Array of any numeric dtype.
        y: Array of the same dtype, and of the same shape or rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> mul_no_nan(0.0, float("inf"))
        Array(0., dtype=float32, weak_type=True)
    """
    return bind_binary("mul_no_nan", mul_no_nan_p, x, y)


def div(x: Any, y: Any) -> Array:
    """Quotient `x / y`, element by element.

    Of integers it is truncated towards zero, and -1 (all bits set) where `y` is 0.

    Args:
        x: Array of any numeric dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> div(-7, 2)
        Array(-3, dtype=int32, weak_type=True)
    """
    return bind_binary("div", div_p, x, y)


def rem(x: Any, y: Any) -> Array:
    """Remainder of `div`, with the sign of `x`.

    Where `y` is 0 it is `x` for integers and NaN for floating-point numbers.

    Args:
        x: Array of integers or of a floating-point dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> rem(-7, 2)
        Array(-1, dtype=int32, weak_type=True)
    """
    return bind_binary("rem", rem_p, x, y)


def pow(x: Any, y: Any) -> Array:
    """Power `x ** y`, element by element.

    Of integers to negative powers it is the integer part: 0, except for the bases 1 and -1.

    Args:
        x: Array of any numeric dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> pow(2.0, 0.5)
        Array(1.414, dtype=float32, weak_type=True)
    """
    return bind_binary("pow", pow_p, x, y)


def square(x: Any) -> Array:
    """Square `x * x`, element by element.

    Args:
        x: Array of any numeric dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> square(3)
        Array(9, dtype=int32, weak_type=True)
    """
    return square_p.bind(settled(x))


def max(x: Any, y: Any) -> Array:
    """The larger of `x` and `y`; NaN where either is.

    Where they are equal, a derivative goes to both in equal parts.

    Args:
        x: Array of any real dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> max(2, 3)
        Array(3, dtype=int32, weak_type=True)
    """
    return bind_binary("max", max_p, x, y)


def min(x: Any, y: Any) -> Array:
    """The smaller of `x` and `y`; NaN where either is.

    Where they are equal, a derivative goes to both in equal parts.

    Args:
        x: Array of any real dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> min(2, 3)
        Array(2, dtype=int32, weak_type=True)
    """
    return bind_binary("min", min_p, x, y)


def sign(x: Any) -> Array:
    """Sign: -1, 0 or 1, and NaN of NaN; for complex numbers `x / abs(x)`.

    Args:
        x: Array of any numeric dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> sign(-2.5)
        Array(-1.0, dtype=float32, weak_type=True)
    """
    return sign_p.bind(settled(x))


def abs(x: Any) -> Array:
    """Absolute value, element by element.

    Args:
        x: Array of any numeric dtype.

    Returns:
        Array of `x`'s shape; its dtype is that of `x`, or of the parts of a complex `x`.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> abs(-2)
        Array(2, dtype=int32, weak_type=True)
    """
    return abs_p.bind(settled(x))


def floor(x: Any) -> Array:
    """The largest integer not above each element.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> floor(-1.5)
        Array(-2.0, dtype=float32, weak_type=True)
    """
    return floor_p.bind(settled(x))


def ceil(x: Any) -> Array:
    """The smallest integer not below each element.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> ceil(-1.5)
        Array(-1.0, dtype=float32, weak_type=True)
    """
    return ceil_p.bind(settled(x))


def nextafter(x: Any, y: Any) -> Array:
    """The number after `x` in the direction of `y`.

    Args:
        x: Array of a floating-point dtype.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> nextafter(1.0, 2.0) > 1.0
        Array(True, dtype=bool)
    """
    return bind_binary("nextafter", nextafter_p, x, y)


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """The nearest integer to each element.

    Args:
        x: Array of a floating-point dtype.
        rounding_method: Where numbers half-way between two integers go.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> round(2.5), round(2.5, RoundingMethod.TO_NEAREST_EVEN)
        (Array(3.0, dtype=float32, weak_type=True), Array(2.0, dtype=float32, weak_type=True))
    """
    return round_p.bind(settled(x), rounding_method=RoundingMethod(rounding_method))


def reciprocal(x: Any) -> Array:
    """Reciprocal `1 / x`, element by element.

    Args:
        x: Array of a floating-point or complex dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Example:
        >>> reciprocal(4.0)
        Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow(x, -1)


def integer_pow(x: Any, y: int) -> Array:
    """Power with a fixed integer exponent, by repeated multiplication.

    Args:
        x: Array of any numeric dtype.
        y: A Python integer; 0 or more where `x` holds integers.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` holds truth values, or integers while `y` is negative.
        TypeError: `y` is not an integer.

    Example:
        >>> integer_pow(3, 4)
        Array(81, dtype=int32, weak_type=True)
    """
    return integer_pow_p.bind(settled(x), y=operator.index(y))


def clamp(min: Any, x: Any, max: Any) -> Array:
    """`x` where it lies between bounds, else the nearer bound.

    Args:
        min: Lower bound: array of `x`'s dtype, and of its shape or rank 0.
        x: Array of a real dtype.
        max: Upper bound, as `min`; where `min` is above it, it wins.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ or are complex.
        ShapeError: The shapes differ.

    Example:
        >>> clamp(0, 7, 5)
        Array(5, dtype=int32, weak_type=True)
    """
    if is_number(min) or is_number(x) or is_number(max):
        min, x, max = match_scalars("clamp", min, x, max)
    return clamp_p.bind(min, x, max)
