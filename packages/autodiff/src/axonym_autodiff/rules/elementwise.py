"""Derivatives of element-wise operations.

Three habits run through the rules.

* **One linear equation for each operand.** What depends on the primals alone is computed first, the
  tangent is multiplied by it last. So the linear program, and its transpose, stay short.
* **No NaN where the derivative exists.** Choices (`max`, `clamp`, `select_n`) select between
  tangents instead of multiplying them by 0, which would turn an infinity on the path that was not
  taken into NaN. Functions that are steep at an end of their domain (`log`, `sqrt`, `x ** y`)
  multiply with `mul_no_nan`: what counts for nothing has tangent 0, whatever the slope is there.
* **Rank-0 operands** stand for full arrays: a tangent is spread to the result's shape where nothing
  else does it, and `unbroadcast` sums a cotangent back.

Complex numbers: a cotangent `ct` pairs with a tangent `t` as the real part of `ct * t`, without
conjugation, so transposing is linear; `grad` conjugates at the end where that is asked for.
Derivatives with respect to integers and truth values are zero and never reach a rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from axonym_core import lax
from axonym_core.extend import Zero, add_tangents
from axonym_core.operators import number_like, strong
from axonym_core.primitives import elementwise as p
from axonym_core.programs import Primitive
from axonym_core.types import ShapedArray, aval_of, dtypes

from ..rule_tables import (
    Reading,
    defjvp,
    deflinear,
    defzero,
    is_linear,
    register_jvp,
    register_transpose,
)

JvpResult = tuple[Any, Any]


def unbroadcast(ct: Any, aval: ShapedArray) -> Any:
    """Sum a cotangent over the dimensions that an element-wise operation gave a rank-0 operand.

    Args:
        ct: Cotangent of the operation's result.
        aval: Type of the operand.

    Returns:
        Cotangent of the operand's shape.
    """
    ndim = aval_of(ct).ndim
    if aval.shape or not ndim:
        return ct
    return lax.reduce_sum(ct, tuple(range(ndim)))


def _full(t: Any, out: Any) -> Any:
    """Spread a rank-0 tangent to the shape of the result."""
    shape = aval_of(out).shape
    return t if aval_of(t).shape == shape else lax.broadcast(t, shape)


def _number(value: float, like: Any) -> Any:
    """Number in the dtype of an array."""
    return number_like(value, aval_of(like))


def _zero_of(out: Any) -> Zero:
    return Zero(aval_of(out).to_tangent())


# Sums.


def _add_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> JvpResult:
    out = p.add_p.bind(*primals)
    return out, _full(add_tangents(*tangents), out)


def _add_transpose(reading: Reading, ct: Any, x: Any, y: Any) -> list[Any]:
    return [unbroadcast(ct, v.aval) if is_linear(v) else None for v in (x, y)]


def _sub_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> JvpResult:
    out = p.sub_p.bind(*primals)
    tx, ty = tangents
    if type(ty) is Zero:
        return out, _full(tx, out)
    return out, _full(lax.neg(ty) if type(tx) is Zero else lax.sub(tx, ty), out)


def _sub_transpose(reading: Reading, ct: Any, x: Any, y: Any) -> list[Any]:
    return [
        unbroadcast(ct, x.aval) if is_linear(x) else None,
        lax.neg(unbroadcast(ct, y.aval)) if is_linear(y) else None,
    ]


register_jvp(p.add_p, _add_jvp)
register_transpose(p.add_p, _add_transpose)
register_jvp(p.sub_p, _sub_jvp)
register_transpose(p.sub_p, _sub_transpose)
deflinear(p.neg_p, lambda reading, ct, x: [lax.neg(ct)])
deflinear(p.copy_p, lambda reading, ct, x: [ct])


# Products and powers.


def _mul_transpose(product: Callable[[Any, Any], Any]) -> Callable[..., list[Any]]:
    def transpose(reading: Reading, ct: Any, x: Any, y: Any) -> list[Any]:
        if is_linear(x):
            return [unbroadcast(product(ct, y), x.aval), None]
        return [None, unbroadcast(product(x, ct), y.aval)]

    return transpose


def _div_transpose(reading: Reading, ct: Any, x: Any, y: Any) -> list[Any]:
    return [unbroadcast(lax.div(ct, y), x.aval), None]


def _truncate(x: Any) -> Any:
    return lax.select(lax.lt(x, _number(0, x)), lax.ceil(x), lax.floor(x))


def _at_zero(x: Any, y: Any) -> Any:
    """Where a base and its exponent are both 0: the power counts as the constant 1 there."""
    return lax.bitwise_and(lax.eq(x, _number(0, x)), lax.eq(y, _number(0, y)))


def _less_one(y: Any) -> Any:
    return y - type(y)(1)


def _pow_by_base(t: Any, out: Any, x: Any, y: Any) -> Any:
    if not isinstance(y, np.generic | float | int):
        power = lax.select(_at_zero(x, y), _number(0, out), lax.pow(x, lax.sub(y, _number(1, y))))
        slope = lax.mul_no_nan(y, power)
    else:
        slope = _number(0, out) if y == 0 else lax.mul(lax.pow(x, _less_one(y)), y)
    return lax.mul_no_nan(t, slope)


def _pow_by_exponent(t: Any, out: Any, x: Any, y: Any) -> Any:
    base = lax.select(_at_zero(x, y), _number(1, x), x)
    return lax.mul_no_nan(t, lax.mul_no_nan(out, lax.log(base)))


def _integer_pow_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, y: int) -> JvpResult:
    (x,), (t,) = primals, tangents
    out = p.integer_pow_p.bind(x, y=y)
    if y == 0:
        return out, _zero_of(out)
    if y == 1:
        return out, t
    x = strong(x)
    power = x if y == 2 else p.integer_pow_p.bind(x, y=y - 1)
    product = lax.mul if y > 0 else lax.mul_no_nan
    return out, product(t, lax.mul(power, _number(y, x)))


defjvp(p.mul_p, lambda t, out, x, y: lax.mul(t, y), lambda t, out, x, y: lax.mul(x, t))
register_transpose(p.mul_p, _mul_transpose(lax.mul))
defjvp(
    p.mul_no_nan_p,
    lambda t, out, x, y: lax.mul_no_nan(t, y),
    lambda t, out, x, y: lax.mul_no_nan(x, t),
)
register_transpose(p.mul_no_nan_p, _mul_transpose(lax.mul_no_nan))
defjvp(
    p.div_p,
    lambda t, out, x, y: lax.div(t, y),
    lambda t, out, x, y: lax.mul(t, lax.neg(lax.div(out, y))),
)
register_transpose(p.div_p, _div_transpose)
defjvp(
    p.rem_p,
    lambda t, out, x, y: _full(t, out),
    lambda t, out, x, y: lax.mul(t, lax.neg(_truncate(lax.div(x, y)))),
)
defjvp(p.pow_p, _pow_by_base, _pow_by_exponent)
register_jvp(p.integer_pow_p, _integer_pow_jvp)
defjvp(p.square_p, lambda t, out, x: lax.mul(t, lax.mul(x, _number(2, x))))


# Choices.


def _select_n_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> JvpResult:
    out = p.select_n_p.bind(*primals)
    zero = _number(0, out)
    cases = [zero if type(t) is Zero else t for t in tangents[1:]]
    return out, _full(p.select_n_p.bind(primals[0], *cases), out)


def _select_n_transpose(reading: Reading, ct: Any, which: Any, *cases: Any) -> list[Any]:
    zero = _number(0, ct)

    def share(k: int, case: Any) -> Any:
        chosen = [ct if i == k else zero for i in range(len(cases))]
        return unbroadcast(p.select_n_p.bind(which, *chosen), case.aval)

    return [None, *[share(k, case) if is_linear(case) else None for k, case in enumerate(cases)]]


def _winner(wins: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Tangent of the operand `x` of an extremum with `y`: all of it, or half of it at a tie."""

    def tangent(t: Any, x: Any, y: Any) -> Any:
        share = lax.select(lax.eq(x, y), _number(0.5, t), _number(1, t))
        return lax.select(wins(x, y), lax.mul(t, share), _number(0, t))

    return tangent


_larger: Final = _winner(lax.ge)
_smaller: Final = _winner(lax.le)


def _clamp_low(t: Any, out: Any, low: Any, x: Any, high: Any) -> Any:
    return _full(_smaller(_larger(t, low, x), lax.max(low, x), high), out)


def _clamp_operand(t: Any, out: Any, low: Any, x: Any, high: Any) -> Any:
    return _full(_smaller(_larger(t, x, low), lax.max(low, x), high), out)


def _clamp_high(t: Any, out: Any, low: Any, x: Any, high: Any) -> Any:
    return _full(_smaller(t, high, lax.max(low, x)), out)


register_jvp(p.select_n_p, _select_n_jvp)
register_transpose(p.select_n_p, _select_n_transpose)
defjvp(p.max_p, lambda t, out, x, y: _larger(t, x, y), lambda t, out, x, y: _larger(t, y, x))
defjvp(p.min_p, lambda t, out, x, y: _smaller(t, x, y), lambda t, out, x, y: _smaller(t, y, x))
defjvp(p.clamp_p, _clamp_low, _clamp_operand, _clamp_high)
defjvp(p.nextafter_p, lambda t, out, x, y: _full(t, out), None)


# Conversions and complex numbers.


def _convert_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, new_dtype: Any, weak_type: bool
) -> JvpResult:
    def convert(x: Any, weak: bool) -> Any:
        return p.convert_element_type_p.bind(x, new_dtype=new_dtype, weak_type=weak)

    x = primals[0]
    if weak_type and type(x) is float and dtypes.is_floating(new_dtype):
        out = number_like(x, ShapedArray((), new_dtype, True))  # a number: nothing is computed
    else:
        out = convert(x, weak_type)
    if not dtypes.is_inexact(new_dtype):
        return out, _zero_of(out)
    return out, convert(tangents[0], False)


def _convert_transpose(
    reading: Reading, ct: Any, x: Any, *, new_dtype: Any, weak_type: bool
) -> list[Any]:
    if dtypes.is_complex(aval_of(ct).dtype) and not dtypes.is_complex(x.aval.dtype):
        ct = lax.real(ct)
    return [lax.convert_element_type(ct, x.aval.dtype, x.aval.weak_type)]


def _complex_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> JvpResult:
    out = p.complex_p.bind(*primals)
    zero = _number(0, primals[0])
    parts = [zero if type(t) is Zero else t for t in tangents]
    return out, _full(p.complex_p.bind(*parts), out)


def _complex_transpose(reading: Reading, ct: Any, x: Any, y: Any) -> list[Any]:
    return [
        unbroadcast(lax.real(ct), x.aval) if is_linear(x) else None,
        unbroadcast(lax.neg(lax.imag(ct)), y.aval) if is_linear(y) else None,
    ]


def _abs_tangent(t: Any, out: Any, x: Any) -> Any:
    # The sign of 0 is 0, so the derivative there is that, and not NaN.
    if dtypes.is_complex(aval_of(x).dtype):
        return lax.real(lax.mul(t, lax.conj(lax.sign(x))))
    return lax.mul(t, lax.sign(x))


def _sign_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> JvpResult:
    (x,), (t,) = primals, tangents
    out = p.sign_p.bind(x)
    if not dtypes.is_complex(aval_of(x).dtype):
        return out, _zero_of(out)
    size = lax.abs(x)
    at_zero = lax.eq(size, _number(0, size))
    inverse = lax.select(
        at_zero,
        _number(0, size),
        lax.div(_number(1, size), lax.select(at_zero, _number(1, size), size)),
    )
    radial = lax.complex(lax.real(lax.mul(t, lax.conj(out))), _number(0, size))
    across = lax.sub(t, lax.mul(radial, out))
    return out, lax.mul(across, lax.complex(inverse, _number(0, size)))


register_jvp(p.convert_element_type_p, _convert_jvp)
register_transpose(p.convert_element_type_p, _convert_transpose)
deflinear(p.real_p, lambda reading, ct, x: [lax.complex(ct, _number(0, ct))])
deflinear(p.imag_p, lambda reading, ct, x: [lax.complex(_number(0, ct), lax.neg(ct))])
deflinear(p.conj_p, lambda reading, ct, x: [lax.conj(ct)])
register_jvp(p.complex_p, _complex_jvp)
register_transpose(p.complex_p, _complex_transpose)
defjvp(p.abs_p, _abs_tangent)
register_jvp(p.sign_p, _sign_jvp)


# Functions: the slope at `x`, where the result is `out`.


def _slope(primitive: Primitive, slope: Callable[[Any, Any], Any]) -> None:
    defjvp(primitive, lambda t, out, x: lax.mul(t, slope(out, x)))


def _steep(primitive: Primitive, slope: Callable[[Any, Any], Any]) -> None:
    """Slope of a function of which an end of the domain has an infinite one, or none.

    A selection takes care that the function counts for nothing there; its tangent of 0 stays 0.
    """
    defjvp(primitive, lambda t, out, x: lax.mul_no_nan(t, slope(out, x)))


def _one_minus_square(x: Any) -> Any:
    # In two factors, so that nothing cancels near -1 and 1.
    one = _number(1, x)
    return lax.mul(lax.sub(one, x), lax.add(one, x))


def _one_plus_square(x: Any) -> Any:
    return lax.add(_number(1, x), lax.square(x))


def _asin_slope(out: Any, x: Any) -> Any:
    return lax.rsqrt(_one_minus_square(x))


_slope(p.exp_p, lambda out, x: out)
_slope(p.exp2_p, lambda out, x: lax.mul(out, _number(math.log(2), out)))
_slope(p.expm1_p, lambda out, x: lax.add(out, _number(1, out)))
_steep(p.log_p, lambda out, x: lax.reciprocal(x))
_steep(p.log1p_p, lambda out, x: lax.reciprocal(lax.add(x, _number(1, x))))
_steep(p.sqrt_p, lambda out, x: lax.mul(lax.reciprocal(out), _number(0.5, x)))
_steep(p.rsqrt_p, lambda out, x: lax.mul_no_nan(lax.mul(out, _number(-0.5, x)), lax.reciprocal(x)))
_steep(p.cbrt_p, lambda out, x: lax.reciprocal(lax.mul(lax.square(out), _number(3, x))))
_slope(p.sin_p, lambda out, x: lax.cos(x))
_slope(p.cos_p, lambda out, x: lax.neg(lax.sin(x)))
_slope(p.tan_p, lambda out, x: _one_plus_square(out))
_steep(p.asin_p, _asin_slope)
_steep(p.acos_p, lambda out, x: lax.neg(_asin_slope(out, x)))
defjvp(p.atan_p, lambda t, out, x: lax.div(t, _one_plus_square(x)))
_slope(p.sinh_p, lambda out, x: lax.cosh(x))
_slope(p.cosh_p, lambda out, x: lax.sinh(x))
_slope(p.tanh_p, lambda out, x: _one_minus_square(out))
# Written with the result, these never square a large operand.
defjvp(p.asinh_p, lambda t, out, x: lax.div(t, lax.cosh(out)))
_steep(p.acosh_p, lambda out, x: lax.reciprocal(lax.sinh(out)))
_steep(p.atanh_p, lambda out, x: lax.reciprocal(_one_minus_square(x)))
_slope(p.logistic_p, lambda out, x: lax.mul(out, lax.sub(_number(1, out), out)))


def _gauss(scale: float, x: Any) -> Any:
    return lax.mul(lax.exp(lax.neg(lax.square(x))), _number(scale, x))


_TWO_OVER_ROOT_PI: Final = 2 / math.sqrt(math.pi)

_slope(p.erf_p, lambda out, x: _gauss(_TWO_OVER_ROOT_PI, x))
_slope(p.erfc_p, lambda out, x: _gauss(-_TWO_OVER_ROOT_PI, x))
_steep(
    p.erf_inv_p,
    lambda out, x: lax.mul(lax.exp(lax.square(out)), _number(1 / _TWO_OVER_ROOT_PI, x)),
)
_steep(p.lgamma_p, lambda out, x: lax.digamma(x))
_steep(p.digamma_p, lambda out, x: lax.polygamma(_number(1, x), x))
defjvp(
    p.polygamma_p,
    None,
    lambda t, out, m, x: lax.mul_no_nan(t, lax.polygamma(lax.add(m, _number(1, m)), x)),
)


def _atan2_slopes(x: Any, y: Any) -> tuple[Any, Any]:
    # Both are divided by the larger before squaring, which could overflow or vanish. At the origin
    # there is no derivative, and 0 stands for it.
    zero, one = _number(0, x), _number(1, x)
    size = lax.stop_gradient(lax.max(lax.abs(x), lax.abs(y)))
    flat = lax.bitwise_or(lax.eq(size, zero), lax.eq(size, _number(math.inf, size)))
    size = lax.select(flat, one, size)
    u, v = [lax.select(flat, zero, lax.div(w, size)) for w in (x, y)]
    square = lax.select(flat, one, lax.add(lax.square(u), lax.square(v)))
    radius = lax.mul(square, size)
    return lax.div(v, radius), lax.neg(lax.div(u, radius))


defjvp(
    p.atan2_p,
    lambda t, out, x, y: lax.mul(t, _atan2_slopes(x, y)[0]),
    lambda t, out, x, y: lax.mul(t, _atan2_slopes(x, y)[1]),
)


# Operations that are constant between jumps, or have integer or truth values.

for _primitive in (
    p.floor_p,
    p.ceil_p,
    p.round_p,
    p.eq_p,
    p.ne_p,
    p.lt_p,
    p.le_p,
    p.gt_p,
    p.ge_p,
    p.is_finite_p,
    p.and_p,
    p.or_p,
    p.xor_p,
    p.not_p,
    p.shift_left_p,
    p.shift_right_arithmetic_p,
    p.shift_right_logical_p,
    p.population_count_p,
    p.bitcast_convert_type_p,
    p.stop_gradient_p,
):
    defzero(_primitive)
