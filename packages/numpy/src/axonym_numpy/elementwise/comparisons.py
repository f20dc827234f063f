"""Comparisons and logic, element by element, and comparisons of whole arrays."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import ShapeError
from axonym_core.operators import (
    broadcast_args,
    is_number,
    number_like,
    promote_dtypes,
    promote_dtypes_inexact,
)
from axonym_core.primitives.elementwise import and_p, not_p, or_p, xor_p
from axonym_core.types import INEXACT, aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import (
    array_in,
    array_of,
    as_bool,
    real_dtype,
    refuse_operands,
    settled_pair,
)

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "equal",
    "greater",
    "greater_equal",
    "isclose",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
]


def equal(x1: Any, x2: Any, /) -> Array:
    """Whether `x1 == x2`.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> equal(2, 3)
        Array(False, dtype=bool)
    """
    out = operators.equal(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("equal", x1, x2)


def not_equal(x1: Any, x2: Any, /) -> Array:
    """Whether `x1 != x2`.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> not_equal(2, 3)
        Array(True, dtype=bool)
    """
    out = operators.not_equal(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("not_equal", x1, x2)


def less(x1: Any, x2: Any, /) -> Array:
    """Whether `x1 < x2`. Complex numbers are ordered by real, then imaginary part.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> less(2, 3)
        Array(True, dtype=bool)
    """
    out = operators.less(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("less", x1, x2)


def less_equal(x1: Any, x2: Any, /) -> Array:
    """Whether `x1 <= x2`. Complex numbers are ordered by real, then imaginary part.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> less_equal(2, 3)
        Array(True, dtype=bool)
    """
    out = operators.less_equal(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("less_equal", x1, x2)


def greater(x1: Any, x2: Any, /) -> Array:
    """Whether `x1 > x2`. Complex numbers are ordered by real, then imaginary part.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> greater(2, 3)
        Array(False, dtype=bool)
    """
    out = operators.greater(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("greater", x1, x2)


def greater_equal(x1: Any, x2: Any, /) -> Array:
    """Whether `x1 >= x2`. Complex numbers are ordered by real, then imaginary part.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> greater_equal(2, 3)
        Array(False, dtype=bool)
    """
    out = operators.greater_equal(*settled_pair(x1, x2))
    return out if out is not NotImplemented else refuse_operands("greater_equal", x1, x2)


def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both operands are true (not 0).

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> logical_and(True, 0)
        Array(False, dtype=bool)
    """
    truths = as_bool("logical_and", x1), as_bool("logical_and", x2)
    return and_p.bind(*broadcast_args("logical_and", *truths))


def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether one operand or both are true (not 0).

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> logical_or(True, 0)
        Array(True, dtype=bool)
    """
    truths = as_bool("logical_or", x1), as_bool("logical_or", x2)
    return or_p.bind(*broadcast_args("logical_or", *truths))


def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether one operand, and not both, is true (not 0).

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.
        TypeError: An operand is neither an array nor a number.

    Example:
        >>> logical_xor(True, 0)
        Array(True, dtype=bool)
    """
    truths = as_bool("logical_xor", x1), as_bool("logical_xor", x2)
    return xor_p.bind(*broadcast_args("logical_xor", *truths))


def logical_not(x: Any, /) -> Array:
    """Whether the operand is false (0).

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Example:
        >>> logical_not(0)
        Array(True, dtype=bool)
    """
    return not_p.bind(as_bool("logical_not", x))


@composite("equal_nan")
def _isclose(a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Array:
    a, b = broadcast_args("isclose", a, b)
    size = lax.abs(b)
    dtype = aval_of(size).dtype
    rtol, atol = [lax.convert_element_type(t, dtype) for t in (rtol, atol)]
    bound = operators.add(atol, operators.multiply(rtol, size))
    near = operators.less_equal(lax.abs(lax.sub(a, b)), bound)
    # An infinite bound would take every number for close to an infinity.
    near = operators.bitwise_and(near, lax.lt(size, number_like(float("inf"), aval_of(size))))
    near = operators.bitwise_or(near, lax.eq(a, b))
    if equal_nan:
        near = operators.bitwise_or(near, lax.bitwise_and(lax.ne(a, a), lax.ne(b, b)))
    return near


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Whether `|a - b| <= atol + rtol * |b|`, or both are the same infinity.

    Args:
        a: Array or number.
        b: Array or number that broadcasts with `a`.
        rtol: Tolerance relative to `b`.
        atol: Absolute tolerance.
        equal_nan: Whether NaN is close to NaN.

    Returns:
        Array of `bool` of the common shape.

    Raises:
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> isclose(1.0, 1.0 + 1e-7)
        Array(True, dtype=bool)
    """
    a, b = promote_dtypes_inexact("isclose", a, b)
    # A tolerance is a number beside them, not one alone: it has all the bits that they have.
    dtype = real_dtype(aval_of(a).dtype)
    rtol, atol = [
        array_in("isclose", tolerance, dtype, name)
        if is_number(tolerance)
        else array_of("isclose", tolerance, name)
        for name, tolerance in (("rtol", rtol), ("atol", atol))
    ]
    return _isclose(a, b, rtol, atol, equal_nan=bool(equal_nan))


def _all(x: Any) -> Array:
    return lax.reduce_and(x, tuple(range(aval_of(x).ndim)))


def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether all elements are close, as `isclose` says; arguments are those of `isclose`.

    Returns:
        0-d array of `bool`, which works as a truth value.

    Example:
        >>> allclose(1.0, 1.0 + 1e-7)
        Array(True, dtype=bool)
    """
    return _all(isclose(a, b, rtol, atol, equal_nan))


@composite("equal_nan")
def _array_equal(a: Any, b: Any, *, equal_nan: bool) -> Array:
    same = operators.equal(a, b)
    if equal_nan and aval_of(a).dtype in INEXACT:
        same = operators.bitwise_or(
            same, operators.bitwise_and(operators.not_equal(a, a), operators.not_equal(b, b))
        )
    return _all(same)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Whether two arrays have one shape and equal elements.

    Args:
        a1: Array or number.
        a2: Array or number.
        equal_nan: Whether NaN equals NaN.

    Returns:
        0-d array of `bool`, which works as a truth value.

    Example:
        >>> array_equal(1.0, 1)
        Array(True, dtype=bool)
    """
    a, b = promote_dtypes("array_equal", a1, a2)
    if aval_of(a).shape != aval_of(b).shape:
        return lax.full((), False, dtypes.bool_)
    return _array_equal(a, b, equal_nan=bool(equal_nan))


def array_equiv(a1: Any, a2: Any) -> Array:
    """Whether two arrays broadcast together and are equal where they meet.

    Args:
        a1: Array or number.
        a2: Array or number.

    Returns:
        0-d array of `bool`, which works as a truth value.

    Example:
        >>> array_equiv(lax.full((3,), 2), 2)
        Array(True, dtype=bool)
    """
    a, b = promote_dtypes("array_equiv", a1, a2)
    try:
        lax.broadcast_shapes(aval_of(a).shape, aval_of(b).shape)
    except ShapeError:
        return lax.full((), False, dtypes.bool_)
    return _array_equal(a, b, equal_nan=False)
