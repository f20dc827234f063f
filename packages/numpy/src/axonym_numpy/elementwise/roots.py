"""Square roots and powers of sums that may vanish, with a derivative of 0 where they do.

The derivative of a root is infinite at 0. A norm, a standard deviation or a distance has no
derivative where it vanishes either, but every direction out of there goes up: 0 is the subgradient
that keeps a training run alive, where `0 * inf` would make it NaN.
"""

from __future__ import annotations

from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.operators import number_like
from axonym_core.types import aval_of

__all__ = ["power_of_sum", "square_root"]


def square_root(x: Any) -> Array:
    """Square root of a sum of squares: 0 at 0, with derivative 0 there."""
    aval = aval_of(x)
    zero = number_like(0, aval)
    vanishes = lax.eq(x, zero)
    safe = lax.select(vanishes, number_like(1, aval), x)
    return lax.select(vanishes, zero, lax.sqrt(safe))


def power_of_sum(x: Any, exponent: float) -> Array:
    """Power of a sum that is not negative: unchanged at 0, with derivative 0 there.

    Args:
        x: Array of a floating-point dtype.
        exponent: Number other than 0.
    """
    aval = aval_of(x)
    vanishes = lax.eq(x, number_like(0, aval))
    safe = lax.select(vanishes, number_like(1, aval), x)
    power = lax.pow(safe, number_like(exponent, aval))
    at_zero = number_like(0 if exponent > 0 else float("inf"), aval)
    return lax.select(vanishes, at_zero, power)
