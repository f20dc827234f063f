"""Special functions that NumPy lacks: error functions, gamma functions, in double precision.

`math` has some of them for single numbers; the others are computed here from convergent or
asymptotic series, arranged so that no branch overflows where another one is meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

F64 = np.ndarray[Any, np.dtype[np.float64]]

# Bernoulli numbers B_2, B_4, … for asymptotic series.
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _each(function: Callable[[float], float]) -> Callable[[F64], F64]:
    """Function of arrays from a function of Python floats."""

    def apply(x: F64) -> F64:
        values = [function(v) for v in x.ravel().tolist()]
        return np.array(values, np.float64).reshape(x.shape)

    return apply


def _lgamma(x: float) -> float:
    if math.isinf(x) or x > 1e305 or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


erf = _each(math.erf)
erfc = _each(math.erfc)
lgamma = _each(_lgamma)


def erf_inv(x: F64) -> F64:
    """Inverse error function: a rough closed form, made exact by Halley's iteration.

    Args:
        x: Array of float64.

    Returns:
        Array of the same shape: infinite at -1 and 1, NaN outside.
    """
    a = np.abs(x)
    inside = a < 1
    safe = np.where(inside, a, 0.5)
    tail = 1 - safe  # exact, so that the upper tail keeps its precision through erfc
    logarithm = np.log(tail) + np.log1p(safe)
    half = 2 / (math.pi * 0.147) + logarithm / 2
    y = np.sqrt(np.sqrt(half * half - logarithm / 0.147) - half)
    for _ in range(3):
        error = np.where(safe < 0.5, erf(y) - safe, tail - erfc(y))
        step = error / (2 / math.sqrt(math.pi) * np.exp(-y * y))
        y = y - step / (1 + y * step)
    y = np.where(inside, y, np.where(a == 1, np.inf, np.nan))
    return np.copysign(y, x)


def digamma(x: F64) -> F64:
    """Derivative of `lgamma`: shifted upwards by recurrence, then an asymptotic series.

    Args:
        x: Array of float64.

    Returns:
        Array of the same shape; NaN at 0 and negative integers.
    """
    pole = (x <= 0) & (x == np.floor(x))
    reflect = x < 0.5
    positive = np.where(reflect, 1 - x, x)
    positive = np.where(pole, 1.0, positive)
    shift = np.zeros_like(positive)
    for _ in range(10):
        small = positive < 10
        shift = shift + np.where(small, 1 / np.where(small, positive, 1.0), 0.0)
        positive = np.where(small, positive + 1, positive)
    inverse_square = 1 / (positive * positive)
    series = np.zeros_like(positive)
    for k in range(len(_BERNOULLI), 0, -1):
        series = (series + _BERNOULLI[k - 1] / (2 * k)) * inverse_square
    value = np.log(positive) - 0.5 / positive - series - shift
    # The tangent of the fraction alone: pi * x would lose its digits for large x.
    turns = np.where(reflect, x - np.round(x), 0.25)
    reflected = value - math.pi / np.tan(math.pi * np.where(turns == 0, 0.5, turns))
    value = np.where(reflect, np.where(turns == 0, np.nan, reflected), value)
    return np.where(pole, np.nan, value)


def _hurwitz_zeta(s: F64, x: F64) -> F64:
    """Sum of `(x + k) ** -s` over k = 0, 1, …, for s > 1: Euler and Maclaurin's formula."""
    terms = 12
    total = np.zeros(np.broadcast_shapes(s.shape, x.shape))
    for k in range(terms):
        total = total + np.power(x + k, -s)
    last = x + terms
    total = total + np.power(last, 1 - s) / (s - 1) + 0.5 * np.power(last, -s)
    factor = s * np.power(last, -s - 1)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b / math.factorial(2 * k) * factor
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (last * last)
    return total


def polygamma(m: F64, x: F64) -> F64:
    """Derivative of order `m` of `digamma`.

    Args:
        m: Array of float64 that holds integers.
        x: Array of float64, of the same shape or rank 0 (as `m` may be).

    Returns:
        Array of the common shape. NaN where `m` is no integer or negative. At the poles of the
        function (0 and negative integers) it is infinite for odd `m`, and NaN for even `m`, where
        both signs meet.
    """
    m, x = np.broadcast_arrays(m, x)
    valid = (m >= 0) & (m == np.floor(m)) & np.isfinite(m)
    order = np.where(valid & (m > 0), m, 1.0)
    # Below 0 recurrence leads upwards: one term for each unit.
    steps = np.where(x < 0, np.ceil(-np.where(np.isfinite(x), x, 0)), 0).clip(0, 1 << 12)
    start = x + steps
    extra = np.zeros_like(x)
    for k in range(int(steps.max(initial=0))):
        extra = extra + np.where(k < steps, np.power(x + k, -(order + 1)), 0.0)
    zeta = _hurwitz_zeta(order + 1, start) + extra
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    value = sign * np.exp(lgamma(order + 1)) * zeta
    pole = (x <= 0) & (x == np.floor(x))
    value = np.where(pole, np.where((order % 2 == 0) | np.isinf(x), np.nan, np.inf), value)
    value = np.where(x == np.inf, 0.0, value)
    value = np.where(m == 0, digamma(x), value)
    return np.where(valid, value, np.nan)
