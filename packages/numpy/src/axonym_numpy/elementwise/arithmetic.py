"""Arithmetic, element by element, as the operators of arrays do it."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError
from axonym_core.operators import number_like, promote_args, promote_args_inexact
from axonym_core.primitives.elementwise import integer_pow_p, rem_p, sign_p, square_p
from axonym_core.types import aval_of, dtypes

from ..arguments.operands import array_of, as_bool, inexact, numeric, refuse_operands, settled_pair

__all__ = [
    "abs",
    "absolute",
    "add",
    "divide",
    "divmod",
    "fabs",
    "float_power",
    "floor_divide",
    "fmod",
    "mod",
    "multiply",
    "negative",
    "positive",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "sign",
    "square",
    "subtract",
    "true_divide",
]


def add(x1: Any, x2: Any, /) -> Array:
    """Sum `x1 + x2`; of truth values, logical or.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> add(2, 3)
        Array(5, dtype=int32, weak_type=True)
    """
    out = operators.add(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("add", x1, x2)


def subtract(x1: Any, x2: Any, /) -> Array:
    """Difference `x1 - x2`.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: The operands are truth values.
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> subtract(2, 3)
        Array(-1, dtype=int32, weak_type=True)
    """
    out = operators.subtract(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("subtract", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Array:
    """Product `x1 * x2`; of truth values, logical and.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> multiply(2, 3)
        Array(6, dtype=int32, weak_type=True)
    """
    out = operators.multiply(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("multiply", x1, x2)


def divide(x1: Any, x2: Any, /) -> Array:
    """Quotient `x1 / x2`; of integers in the default floating-point dtype.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> divide(1, 2)
        Array(0.5, dtype=float32, weak_type=True)
    """
    out = operators.true_divide(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("divide", x1, x2)


true_divide = divide


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotient rounded down; of integers by 0 it is 0.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> int(floor_divide(-7, 2))
        -4
    """
    out = operators.floor_divide(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("floor_divide", x1, x2)


def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainder of `floor_divide`, with the sign of `x2`.

    By 0 it is 0 for integers and NaN for floating-point numbers.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> int(remainder(-7, 2))
        1
    """
    out = operators.remainder(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("remainder", x1, x2)


mod = remainder


def fmod(x1: Any, x2: Any, /) -> Array:
    """Remainder of the quotient rounded towards 0, with the sign of `x1`.

    By 0 it is 0 for integers and NaN for floating-point numbers.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> fmod(-7, 2)
        Array(-1, dtype=int32, weak_type=True)
    """
    x1, x2 = promote_args("fmod", x1, x2)
    if aval_of(x1).dtype == dtypes.bool_:
        x1, x2 = [lax.convert_element_type(x, dtypes.int8) for x in (x1, x2)]
    out = rem_p.bind(x1, x2)
    if aval_of(out).dtype not in dtypes.INTEGERS:
        return out
    zero = number_like(0, aval_of(out))
    return lax.select(lax.eq(x2, number_like(0, aval_of(x2))), zero, out)


def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """Quotient rounded down, and remainder: `floor_divide` and `remainder`.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Two arrays of the common shape and dtype.

    Example:
        >>> [int(x) for x in divmod(-7, 2)]
        [-4, 1]
    """
    return floor_divide(x1, x2), remainder(x1, x2)


def power(x1: Any, x2: Any, /) -> Array:
    """Power `x1 ** x2`; by multiplication where `x2` is a Python integer.

    Where an exponent is 0 the result is 1 with derivative 0, at the base 0 too.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: A base is an integer and a Python exponent is negative.
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> power(2, 10)
        Array(1024, dtype=int32, weak_type=True)
    """
    out = operators.power(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("power", x1, x2)


pow = power


def float_power(x1: Any, x2: Any, /) -> Array:
    """Power in a floating-point dtype, of integers too.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> float_power(2, -1)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.pow(*promote_args_inexact("float_power", x1, x2))


def positive(x: Any, /) -> Array:
    """The operand itself.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Example:
        >>> positive(2)
        Array(2, dtype=int32, weak_type=True)
    """
    return array_of("positive", x)


def negative(x: Any, /) -> Array:
    """Negation `-x`; it wraps for integers.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: `x` holds truth values.

    Example:
        >>> negative(2)
        Array(-2, dtype=int32, weak_type=True)
    """
    return operators.negative(numeric("negative", x))


def absolute(x: Any, /) -> Array:
    """Absolute value; its derivative at 0 is 0.

    Args:
        x: Array or number.

    Returns:
        Array of the shape of `x`; its dtype is that of `x`, or of the parts of a complex
        `x`.

    Example:
        >>> absolute(-2)
        Array(2, dtype=int32, weak_type=True)
    """
    return operators.absolute(array_of("absolute", x))


abs = absolute


def fabs(x: Any, /) -> Array:
    """Absolute value in a floating-point dtype.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> fabs(-2)
        Array(2., dtype=float32, weak_type=True)
    """
    x = inexact("fabs", x)
    if aval_of(x).dtype in dtypes.COMPLEXES:
        raise DTypeError("fabs: complex numbers are not supported; use abs")
    return lax.abs(x)


def sign(x: Any, /) -> Array:
    """Sign: -1, 0 or 1, and NaN of NaN; for complex numbers `x / abs(x)`.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: `x` holds truth values.

    Example:
        >>> sign(-2.5)
        Array(-1.0, dtype=float32, weak_type=True)
    """
    x = numeric("sign", x)
    return sign_p.bind(x)


def square(x: Any, /) -> Array:
    """Square `x * x`.

    Args:
        x: Array or number.

    Returns:
        Array of the shape and dtype of `x`.

    Example:
        >>> square(3)
        Array(9, dtype=int32, weak_type=True)
    """
    x = numeric("square", x)
    return as_bool("square", x) if aval_of(x).dtype == dtypes.bool_ else square_p.bind(x)


def reciprocal(x: Any, /) -> Array:
    """Reciprocal `1 / x`, in a floating-point dtype.

    Args:
        x: Array or number; integers go to the default floating-point dtype.

    Returns:
        Array of the shape of `x`.

    Example:
        >>> reciprocal(4)
        Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow_p.bind(inexact("reciprocal", x), y=-1)
