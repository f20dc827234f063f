"""Choices between numbers by their size: extrema, clipping, steps."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError
from axonym_core.operators import (
    broadcast_args,
    number_like,
    promote_args,
    promote_dtypes,
    promote_dtypes_inexact,
)
from axonym_core.primitives.elementwise import clamp_p, max_p, min_p
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, refuse_out
from ..errors import ArgumentError

__all__ = ["clip", "fmax", "fmin", "heaviside", "maximum", "minimum"]


def maximum(x1: Any, x2: Any, /) -> Array:
    """The larger of two numbers; NaN where either is.

    Where they are equal, a derivative goes to both in equal parts.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> maximum(2, 3)
        Array(3, dtype=int32, weak_type=True)
    """
    return max_p.bind(*promote_args("maximum", x1, x2))


def minimum(x1: Any, x2: Any, /) -> Array:
    """The smaller of two numbers; NaN where either is.

    Where they are equal, a derivative goes to both in equal parts.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> minimum(2, 3)
        Array(2, dtype=int32, weak_type=True)
    """
    return min_p.bind(*promote_args("minimum", x1, x2))


@composite("largest")
def _extreme_of_numbers(x: Any, y: Any, *, largest: bool) -> Array:
    x, y = broadcast_args("fmax" if largest else "fmin", x, y)
    extreme = lax.max(x, y) if largest else lax.min(x, y)
    return lax.select(lax.ne(x, x), y, lax.select(lax.ne(y, y), x, extreme))


def fmax(x1: Any, x2: Any, /) -> Array:
    """The larger of two numbers; where one is NaN, the other.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> fmax(2.0, float('nan'))
        Array(2., dtype=float32, weak_type=True)
    """
    return _extreme_of_numbers(*promote_dtypes("fmax", x1, x2), largest=True)


def fmin(x1: Any, x2: Any, /) -> Array:
    """The smaller of two numbers; where one is NaN, the other.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape and dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> fmin(2.0, float('nan'))
        Array(2., dtype=float32, weak_type=True)
    """
    return _extreme_of_numbers(*promote_dtypes("fmin", x1, x2), largest=False)


def _one_of(name: str, given: Any, alias: Any) -> Any:
    if given is not None and alias is not None:
        raise ArgumentError(f"clip: {name} and a_{name} mean the same; give one of them")
    return alias if given is None else given


def clip(
    x: Any,
    /,
    min: Any = None,
    max: Any = None,
    out: None = None,
    *,
    a_min: Any = None,
    a_max: Any = None,
) -> Array:
    """The number where it lies between bounds, else the nearer bound.

    Args:
        x: Array or number.
        min: Lower bound that broadcasts with `x`; none if None.
        max: Upper bound that broadcasts with `x`; none if None. Where it is below `min`, it wins.
        out: Refused: arrays are immutable.
        a_min: Another name of `min`.
        a_max: Another name of `max`.

    Returns:
        Array of the common shape and dtype. A derivative at a bound goes to both in equal parts.

    Raises:
        DTypeError: An operand is complex, or a number does not fit the dtype of `x`.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> clip(7, 0, 5)
        Array(5, dtype=int32, weak_type=True)
    """
    if out is not None:
        refuse_out("clip")
    min, max = _one_of("min", min, a_min), _one_of("max", max, a_max)
    if min is None and max is None:
        return array_of("clip", x)
    if max is None:
        return maximum(x, min)
    if min is None:
        return minimum(x, max)
    low, x, high = promote_args("clip", min, x, max)
    return clamp_p.bind(low, x, high)


@composite()
def _heaviside(x: Any, at_zero: Any) -> Array:
    x, at_zero = broadcast_args("heaviside", x, at_zero)
    zero, one = number_like(0, aval_of(x)), number_like(1, aval_of(x))
    step = lax.select(lax.lt(x, zero), zero, one)
    out = lax.select(lax.eq(x, zero), at_zero, step)
    return lax.select(lax.ne(x, x), x, out)


def heaviside(x1: Any, x2: Any, /) -> Array:
    """Step: 0 for negative numbers, 1 for positive ones, and `x2` at 0.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`: the values at 0.

    Returns:
        Array of the common shape, in a floating-point dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> heaviside(0.0, 0.5)
        Array(0.5, dtype=float32, weak_type=True)
    """
    x1, x2 = promote_dtypes_inexact("heaviside", x1, x2)
    if aval_of(x1).dtype in dtypes.COMPLEXES:
        raise DTypeError("heaviside: complex numbers have no order; take a real part")
    return _heaviside(x1, x2)
