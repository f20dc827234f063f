"""The make-up of floating-point numbers: NaN and infinities, signs, exponents, neighbours."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.errors import DTypeError
from axonym_core.operators import (
    broadcast_args,
    number_like,
    promote_args_inexact,
    promote_dtypes_inexact,
    scalar_of,
)
from axonym_core.primitives.elementwise import is_finite_p, ne_p, nextafter_p
from axonym_core.types import COMPLEXES, FLOATS, aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, convert, exact, inexact, numeric, real_dtype, refuse_out

__all__ = [
    "copysign",
    "frexp",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "ldexp",
    "modf",
    "nan_to_num",
    "nextafter",
    "signbit",
    "spacing",
]


def _everywhere(x: Any, value: bool) -> Array:
    return lax.full(aval_of(x).shape, value, dtypes.bool_)


def isnan(x: Any, /) -> Array:
    """Whether a number is NaN.

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Example:
        >>> isnan(float('nan'))
        Array(True, dtype=bool)
    """
    x = numeric("isnan", x)
    if aval_of(x).dtype not in dtypes.INEXACT:
        return _everywhere(x, False)
    return ne_p.bind(x, x)


def isfinite(x: Any, /) -> Array:
    """Whether a number is neither infinite nor NaN.

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Example:
        >>> isfinite(1.0)
        Array(True, dtype=bool)
    """
    x = numeric("isfinite", x)
    dtype = aval_of(x).dtype
    if dtype in FLOATS:
        return is_finite_p.bind(x)
    if dtype in COMPLEXES:
        return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))
    return _everywhere(x, True)


def _equals_infinity(x: Any, value: float) -> Array:
    return lax.eq(x, number_like(value, aval_of(x)))


def isinf(x: Any, /) -> Array:
    """Whether a number is infinite, of either sign or in either part.

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Example:
        >>> isinf(float('-inf'))
        Array(True, dtype=bool)
    """
    x = numeric("isinf", x)
    dtype = aval_of(x).dtype
    if dtype in FLOATS:
        return _equals_infinity(lax.abs(x), math.inf)
    if dtype in COMPLEXES:
        parts = [_equals_infinity(lax.abs(part(x)), math.inf) for part in (lax.real, lax.imag)]
        return lax.bitwise_or(*parts)
    return _everywhere(x, False)


def isposinf(x: Any, /, out: None = None) -> Array:
    """Whether a number is infinite and positive.

    Args:
        x: Array or number.
        out: Refused: arrays are immutable.

    Returns:
        Array of `bool` of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> isposinf(float('inf'))
        Array(True, dtype=bool)
    """
    if out is not None:
        refuse_out("isposinf")
    x = numeric("isposinf", x)
    dtype = aval_of(x).dtype
    if dtype in COMPLEXES:
        raise DTypeError("isposinf: complex numbers have no sign; test their parts")
    return _equals_infinity(x, math.inf) if dtype in FLOATS else _everywhere(x, False)


def isneginf(x: Any, /, out: None = None) -> Array:
    """Whether a number is infinite and negative.

    Args:
        x: Array or number.
        out: Refused: arrays are immutable.

    Returns:
        Array of `bool` of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> isneginf(float('-inf'))
        Array(True, dtype=bool)
    """
    if out is not None:
        refuse_out("isneginf")
    x = numeric("isneginf", x)
    dtype = aval_of(x).dtype
    if dtype in COMPLEXES:
        raise DTypeError("isneginf: complex numbers have no sign; test their parts")
    return _equals_infinity(x, -math.inf) if dtype in FLOATS else _everywhere(x, False)


_BITS = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def signbit(x: Any, /) -> Array:
    """Whether the sign bit is set: of negative numbers, -0.0 and some NaN.

    Args:
        x: Array or number.

    Returns:
        Array of `bool` of the shape of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> signbit(-0.0)
        Array(True, dtype=bool)
    """
    x = numeric("signbit", x)
    dtype = aval_of(x).dtype
    if dtype in FLOATS:
        x = lax.bitcast_convert_type(x, _BITS[dtype.itemsize])
    elif dtype in COMPLEXES:
        raise DTypeError("signbit: complex numbers have no sign; test their parts")
    elif dtype not in dtypes.SIGNED:
        return _everywhere(x, False)
    return lax.lt(x, number_like(0, aval_of(x)))


@composite()
def _copysign(x: Any, y: Any) -> Array:
    x, y = broadcast_args("copysign", x, y)
    return lax.select(lax.ne(signbit(x), signbit(y)), lax.neg(x), x)


def copysign(x1: Any, x2: Any, /) -> Array:
    """Numbers of the size of `x1` with the sign of `x2`.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape, in a floating-point dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> copysign(2.0, -0.0)
        Array(-2., dtype=float32, weak_type=True)
    """
    return _copysign(*promote_dtypes_inexact("copysign", x1, x2))


def nextafter(x1: Any, x2: Any, /) -> Array:
    """The floating-point number after `x1` in the direction of `x2`.

    Args:
        x1: Array or number.
        x2: Array or number that broadcasts with `x1`.

    Returns:
        Array of the common shape, in a floating-point dtype.

    Raises:
        DTypeError: An operand is complex.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> nextafter(1.0, 2.0) - 1.0
        Array(1.192e-07, dtype=float32, weak_type=True)
    """
    return nextafter_p.bind(*promote_args_inexact("nextafter", x1, x2))


def spacing(x: Any, /) -> Array:
    """Distance to the next number away from 0.

    Args:
        x: Array or number.

    Returns:
        Array of the shape of `x`, with its signs.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> spacing(1.0)
        Array(1.192e-07, dtype=float32, weak_type=True)
    """
    x = inexact("spacing", x)
    away = copysign(number_like(math.inf, aval_of(x)), x)
    return lax.sub(nextafter_p.bind(x, away), x)


def _layout(dtype: dtypes.DType) -> tuple[int, int]:
    """Number of bits of the fraction, and bias of the exponent."""
    info = dtypes.finfo(dtype)
    return int(info.nmant), 1 - int(info.minexp)


def _power_of_two(exponent: Any, dtype: dtypes.DType) -> Array:
    """`2 ** exponent` exactly, for exponents of normal numbers, written as bits."""
    fraction, bias = _layout(dtype)
    bits = _BITS[dtype.itemsize]
    biased = lax.convert_element_type(lax.add(exponent, scalar_of(bias, dtypes.int32)), bits)
    return lax.bitcast_convert_type(lax.shift_left(biased, scalar_of(fraction, bits)), dtype)


@composite()
def _ldexp(x: Any, exponent: Any) -> Array:
    """Multiply in three steps, so that the power itself need not be a number of the dtype."""
    dtype = aval_of(x).dtype
    narrow = dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
    wide = lax.convert_element_type(x, dtypes.float32) if narrow else x
    wide_dtype = aval_of(wide).dtype
    _, bias = _layout(wide_dtype)
    limit = 3 * (bias - 1)
    exponent = lax.clamp(np.int32(-limit), exponent, np.int32(limit))
    third = lax.div(exponent, np.int32(3))
    rest = lax.sub(exponent, lax.mul(third, np.int32(2)))
    wide, third, rest = broadcast_args("ldexp", wide, third, rest)
    power = _power_of_two(third, wide_dtype)
    out = lax.mul(lax.mul(lax.mul(wide, power), power), _power_of_two(rest, wide_dtype))
    return lax.convert_element_type(out, dtype)


def ldexp(x1: Any, x2: Any, /) -> Array:
    """`x1 * 2 ** x2`, exact wherever the result is a normal number.

    Args:
        x1: Array or number.
        x2: Integer, or array of integers, that broadcasts with `x1`.

    Returns:
        Array of the common shape, of the dtype of `x1` or the default floating-point one.

    Raises:
        DTypeError: `x1` is complex, or `x2` holds no integers.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> ldexp(1.5, 3)
        Array(12., dtype=float32)
    """
    x1 = inexact("ldexp", x1)
    x2 = numeric("ldexp", x2)
    if aval_of(x1).dtype in COMPLEXES:
        raise DTypeError("ldexp: x1 is complex; scale its parts")
    if aval_of(x2).dtype not in dtypes.INTEGERS:
        raise DTypeError(
            f"ldexp: x2 is {aval_of(x2)}; give integers, for other exponents use x1 * exp2(x2)"
        )
    if not isinstance(x2, Array | np.ndarray):
        x2 = max(min(int(x2), 10**6), -(10**6))
    elif aval_of(x2).dtype.itemsize > 4 or aval_of(x2).dtype == dtypes.uint32:
        x2 = lax.min(x2, scalar_of(10**6, aval_of(x2).dtype))
        if aval_of(x2).dtype in dtypes.SIGNED:
            x2 = lax.max(x2, scalar_of(-(10**6), aval_of(x2).dtype))
    return _ldexp(convert(x1, aval_of(x1).dtype), convert(x2, dtypes.int32))


@composite()
def _frexp(x: Any) -> tuple[Array, Array]:
    dtype = aval_of(x).dtype
    fraction, bias = _layout(dtype)
    bits = _BITS[dtype.itemsize]
    size = lax.abs(x)
    zero = number_like(0, aval_of(x))
    special = lax.bitwise_or(lax.eq(size, zero), lax.bitwise_not(lax.is_finite(x)))
    tiny = lax.lt(size, scalar_of(dtypes.finfo(dtype).tiny, dtype))
    shift = fraction + 1
    normal = lax.select(tiny, lax.mul(size, scalar_of(2.0**shift, dtype)), size)
    raw = lax.shift_right_logical(lax.bitcast_convert_type(normal, bits), scalar_of(fraction, bits))
    exponent = lax.sub(lax.convert_element_type(raw, dtypes.int32), np.int32(bias - 1))
    exponent = lax.select(tiny, lax.sub(exponent, np.int32(shift)), exponent)
    exponent = lax.select(special, np.int32(0), exponent)
    return lax.select(special, x, _ldexp(x, lax.neg(exponent))), exponent


def frexp(x: Any, /) -> tuple[Array, Array]:
    """Mantissa and exponent: `x == mantissa * 2 ** exponent`, with `0.5 <= abs(mantissa) < 1`.

    Args:
        x: Array or number.

    Returns:
        The mantissa in the dtype of `x`, and the exponent as int32; 0, infinities and NaN are their
        own mantissa, with exponent 0.

    Raises:
        DTypeError: `x` is complex, or of 8 bits.

    Example:
        >>> [float(part) for part in frexp(12.0)]
        [0.75, 4.0]
    """
    x = inexact("frexp", x)
    dtype = aval_of(x).dtype
    if dtype in COMPLEXES or dtype.itemsize < 2:
        raise DTypeError(f"frexp: x is {aval_of(x)}; give real numbers of 16 bits or more")
    return _frexp(convert(x, dtype))


@composite()
def _modf(x: Any) -> tuple[Array, Array]:
    whole = lax.select(lax.lt(x, number_like(0, aval_of(x))), lax.ceil(x), lax.floor(x))
    infinite = _equals_infinity(lax.abs(x), math.inf)
    part = lax.select(infinite, number_like(0, aval_of(x)), lax.sub(x, whole))
    return _copysign(part, x), whole


def modf(x: Any, /) -> tuple[Array, Array]:
    """Fractional and integral part, both with the sign of `x`.

    Args:
        x: Array or number.

    Returns:
        Two arrays of the shape of `x`, in a floating-point dtype.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> [float(part) for part in modf(-1.5)]
        [-0.5, -1.0]
    """
    return _modf(inexact("modf", x))


@composite()
def _nan_to_num(x: Any, nan: Any, high: Any, low: Any) -> Array:
    out = lax.select(lax.ne(x, x), nan, x)
    out = lax.select(_equals_infinity(x, math.inf), high, out)
    return lax.select(_equals_infinity(x, -math.inf), low, out)


def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Array:
    """Replace NaN and infinities by numbers; no derivative goes through what is replaced.

    Args:
        x: Array or number.
        copy: Has no effect: arrays never change.
        nan: What stands for NaN.
        posinf: What stands for infinity; the largest number of the dtype if None.
        neginf: What stands for minus infinity; the smallest number of the dtype if None.

    Returns:
        Array of the shape and dtype of `x`; integers are returned as they are.

    Example:
        >>> nan_to_num(float("nan"), nan=1.0)
        Array(1., dtype=float32)
    """
    x = numeric("nan_to_num", x)
    dtype = aval_of(x).dtype
    if dtype not in dtypes.INEXACT:
        return array_of("nan_to_num", x)
    x = convert(x, dtype)
    real = real_dtype(dtype)
    info = dtypes.finfo(real)
    high = float(info.max) if posinf is None else posinf
    low = float(info.min) if neginf is None else neginf
    given = [convert(exact("nan_to_num", v), real) for v in (nan, high, low)]
    if dtype in COMPLEXES:
        return lax.complex(*[_nan_to_num(part(x), *given) for part in (lax.real, lax.imag)])
    return _nan_to_num(x, *given)
