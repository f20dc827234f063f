"""Comparisons and operations on bits, element by element.

A number beside an array takes the array's dtype; arrays of unlike dtypes or shapes are refused.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from ...arrays.array import Array
from ...operators.promotion import settled
from ...primitives.elementwise import (
    and_p,
    eq_p,
    ge_p,
    gt_p,
    is_finite_p,
    le_p,
    lt_p,
    ne_p,
    not_p,
    or_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from .operands import bind_binary

__all__ = [
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "ge",
    "gt",
    "is_finite",
    "le",
    "lt",
    "ne",
    "population_count",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
]


def eq(x: Any, y: Any) -> Array:
    """Whether `x == y`, element by element.

    Args:
        x: Array of numbers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of `bool` of the common shape.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> eq(2, 3)
        Array(False, dtype=bool)
    """
    return bind_binary("eq", eq_p, x, y)


def ne(x: Any, y: Any) -> Array:
    """Whether `x != y`, element by element.

    Args:
        x: Array of numbers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of `bool` of the common shape.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> ne(2, 3)
        Array(True, dtype=bool)
    """
    return bind_binary("ne", ne_p, x, y)


def lt(x: Any, y: Any) -> Array:
    """Whether `x < y`, element by element.

    Args:
        x: Array of real numbers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of `bool` of the common shape.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> lt(2, 3)
        Array(True, dtype=bool)
    """
    return bind_binary("lt", lt_p, x, y)


def le(x: Any, y: Any) -> Array:
    """Whether `x <= y`, element by element.

    Args:
        x: Array of real numbers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of `bool` of the common shape.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> le(2, 3)
        Array(True, dtype=bool)
    """
    return bind_binary("le", le_p, x, y)


def gt(x: Any, y: Any) -> Array:
    """Whether `x > y`, element by element.

    Args:
        x: Array of real numbers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of `bool` of the common shape.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> gt(2, 3)
        Array(False, dtype=bool)
    """
    return bind_binary("gt", gt_p, x, y)


def ge(x: Any, y: Any) -> Array:
    """Whether `x >= y`, element by element.

    Args:
        x: Array of real numbers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of `bool` of the common shape.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> ge(2, 3)
        Array(False, dtype=bool)
    """
    return bind_binary("ge", ge_p, x, y)


def is_finite(x: Any) -> Array:
    """Whether elements are neither infinite nor NaN.

    Args:
        x: Array of a floating-point dtype.

    Returns:
        Array of `bool` of `x`'s shape.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> is_finite(1.0)
        Array(True, dtype=bool)
    """
    return is_finite_p.bind(settled(x))


def bitwise_and(x: Any, y: Any) -> Array:
    """Bits set in both `x` and `y`.

    Args:
        x: Array of integers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> bitwise_and(6, 3)
        Array(2, dtype=int32, weak_type=True)
    """
    return bind_binary("bitwise_and", and_p, x, y)


def bitwise_or(x: Any, y: Any) -> Array:
    """Bits set in `x`, in `y` or in both.

    Args:
        x: Array of integers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> bitwise_or(6, 3)
        Array(7, dtype=int32, weak_type=True)
    """
    return bind_binary("bitwise_or", or_p, x, y)


def bitwise_xor(x: Any, y: Any) -> Array:
    """Bits set in one of `x` and `y` only.

    Args:
        x: Array of integers or truth values.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> bitwise_xor(6, 3)
        Array(5, dtype=int32, weak_type=True)
    """
    return bind_binary("bitwise_xor", xor_p, x, y)


def bitwise_not(x: Any) -> Array:
    """All bits inverted; for truth values, logical not.

    Args:
        x: Array of integers or truth values.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> bitwise_not(5)
        Array(-6, dtype=int32, weak_type=True)
    """
    return not_p.bind(settled(x))


def shift_left(x: Any, y: Any) -> Array:
    """`x` shifted by `y` bits to the left.

    By the width of the dtype or more, everything is shifted out.

    Args:
        x: Array of integers.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> shift_left(3, 2)
        Array(12, dtype=int32, weak_type=True)
    """
    return bind_binary("shift_left", shift_left_p, x, y)


def shift_right_arithmetic(x: Any, y: Any) -> Array:
    """`x` shifted by `y` bits to the right, the sign bit repeated.

    By the width of the dtype or more, only the sign bit is left.

    Args:
        x: Array of integers.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> shift_right_arithmetic(-8, 1)
        Array(-4, dtype=int32, weak_type=True)
    """
    return bind_binary("shift_right_arithmetic", shift_right_arithmetic_p, x, y)


def shift_right_logical(x: Any, y: Any) -> Array:
    """`x` shifted by `y` bits to the right, filled with zeros.

    By the width of the dtype or more, everything is shifted out.

    Args:
        x: Array of integers.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The dtypes differ, or the operation is not defined for them.
        ShapeError: The shapes differ.

    Example:
        >>> shift_right_logical(-8, 28)
        Array(15, dtype=int32, weak_type=True)
    """
    return bind_binary("shift_right_logical", shift_right_logical_p, x, y)


def population_count(x: Any) -> Array:
    """Number of bits that are set.

    Args:
        x: Array of integers.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> population_count(7)
        Array(3, dtype=int32, weak_type=True)
    """
    return population_count_p.bind(settled(x))
