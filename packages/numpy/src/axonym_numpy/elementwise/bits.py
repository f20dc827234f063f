"""Operations on the bits of integers and truth values."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.primitives.elementwise import not_p
from axonym_core.types import dtypes

from ..arguments.operands import numeric, refuse_operands, settled_pair

__all__ = [
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
]


def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Bits set in both operands.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand holds neither integers nor truth values.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> bitwise_and(6, 3)
        Array(2, dtype=int32, weak_type=True)
    """
    out = operators.bitwise_and(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("bitwise_and", x1, x2)


def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Bits set in one operand or both.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand holds neither integers nor truth values.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> bitwise_or(6, 3)
        Array(7, dtype=int32, weak_type=True)
    """
    out = operators.bitwise_or(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("bitwise_or", x1, x2)


def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Bits set in one operand only.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand holds neither integers nor truth values.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> bitwise_xor(6, 3)
        Array(5, dtype=int32, weak_type=True)
    """
    out = operators.bitwise_xor(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("bitwise_xor", x1, x2)


def left_shift(x1: Any, x2: Any, /) -> Array:
    """Bits moved to the left; by the width of the dtype or more, all are shifted out.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand holds neither integers nor truth values.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> left_shift(3, 2)
        Array(12, dtype=int32, weak_type=True)
    """
    out = operators.left_shift(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("left_shift", x1, x2)


def right_shift(x1: Any, x2: Any, /) -> Array:
    """Bits moved to the right; the sign bit of signed integers is repeated.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand holds neither integers nor truth values.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> right_shift(-8, 1)
        Array(-4, dtype=int32, weak_type=True)
    """
    out = operators.right_shift(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("right_shift", x1, x2)


def bitwise_not(x: Any, /) -> Array:
    """All bits inverted; of truth values, logical not.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: `x` holds neither integers nor truth values.

    Example:
        >>> bitwise_not(5)
        Array(-6, dtype=int32, weak_type=True)
    """
    x = numeric("bitwise_not", x)
    return not_p.bind(x)


invert = bitwise_invert = bitwise_not
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift


def bitwise_count(x: Any, /) -> Array:
    """Number of bits that are set in the absolute value.

    Args:
        x: Array or number.

    Returns:
        Array of `uint8` of the shape of `x`.

    Raises:
        DTypeError: `x` holds no integers.

    Example:
        >>> bitwise_count(-7)
        Array(3, dtype=uint8)
    """
    count = lax.population_count(operators.absolute(numeric("bitwise_count", x)))
    return lax.convert_element_type(count, dtypes.uint8)
