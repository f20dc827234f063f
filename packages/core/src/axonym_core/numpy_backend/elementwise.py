"""Element-wise operations in NumPy's words.

NumPy differs from hardware in places, and hardware is what the compiled backend runs on; the rules
give what that gives: integer division by 0, shifts by the width or more, floating-point numbers out
of an integer's range. Types of less than 32 bits that NumPy does not compute with are computed in a
wider type and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..primitives import elementwise as p
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.dtypes import COMPLEXES, FLOATS, INTEGERS, bool_, float16, float32, float64
from . import special_functions as special
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]
Rule = Callable[..., Any]

_NARROW_FLOATS: Final = FLOATS - {float32, float64}
_NARROW_INTEGERS: Final = frozenset((dtypes.int4, dtypes.uint4))


def _widened(x: NDArray) -> NDArray:
    if x.dtype in _NARROW_FLOATS:
        return x.astype(np.float32)
    return x.astype(np.int32) if x.dtype in _NARROW_INTEGERS else x


def _quiet(rule: Rule) -> Rule:
    """Rule without warnings: infinities, NaN and wrapped integers are results like others."""

    def evaluate(*args: NDArray, **params: Any) -> Any:
        with np.errstate(all="ignore"):
            return rule(*args, **params)

    return evaluate


def _wide(rule: Rule) -> Rule:
    """Rule that computes narrow types in wider ones, and gives the operands' dtype."""

    def evaluate(*args: NDArray, **params: Any) -> Any:
        dtype = args[0].dtype
        with np.errstate(all="ignore"):
            out = np.asarray(rule(*[_widened(x) for x in args], **params))
            return out if out.dtype == dtype else _cast(out, dtype)

    return evaluate


def _predicate(rule: Rule) -> Rule:
    """Rule that gives truth values."""

    def evaluate(*args: NDArray) -> Any:
        with np.errstate(all="ignore"):
            return rule(*[_widened(x) for x in args])

    return evaluate


def _double(rule: Rule) -> Rule:
    """Rule that is defined for float64 only: computes there, and gives the operands' dtype."""

    def evaluate(*args: NDArray) -> Any:
        with np.errstate(all="ignore"):
            out = rule(*[x.astype(np.float64) for x in args])
            return _cast(np.asarray(out), args[0].dtype)

    return evaluate


def _cast(x: NDArray, dtype: Any) -> NDArray:
    """NumPy's own conversion, by way of a type that both know where there is none."""
    both = (x.dtype, dtype)
    if dtypes.float8_e8m0fnu in both or (both[0] in _NARROW_INTEGERS and dtype in _NARROW_INTEGERS):
        middle = np.int32 if x.dtype in INTEGERS and dtype in INTEGERS else np.float32
        return x.astype(middle).astype(dtype)
    return x.astype(dtype)


def _convert(x: NDArray, *, new_dtype: Any, weak_type: bool) -> Any:
    old = x.dtype
    if old == new_dtype:
        return x
    if new_dtype == bool_:
        return np.not_equal(_widened(x), 0)
    if old in FLOATS and new_dtype in INTEGERS:
        limits = dtypes.iinfo(new_dtype)
        wide = np.trunc(x.astype(np.float64))
        target = np.dtype(np.uint64 if new_dtype == dtypes.uint64 else np.int64)
        low, high = target.type(limits.min), target.type(limits.max)
        inside = (wide >= float(limits.min)) & (wide < float(limits.max) + 1)
        nearest = np.where(wide < 0, low, np.where(np.isnan(wide), target.type(0), high))
        return _cast(
            np.where(inside, np.where(inside, wide, 0.0).astype(target), nearest), new_dtype
        )
    return _cast(x, new_dtype)


def _mul_no_nan(x: NDArray, y: NDArray) -> Any:
    return np.where((x == 0) | (y == 0), x.dtype.type(0), np.multiply(x, y))


def _div(x: NDArray, y: NDArray) -> Any:
    if x.dtype not in INTEGERS:
        return np.divide(x, y)
    ones = x.dtype.type(-1) if x.dtype in dtypes.SIGNED else np.iinfo(x.dtype).max
    by_zero, by_minus_one = y == 0, _is_minus_one(y)
    safe = np.where(by_zero | by_minus_one, x.dtype.type(1), y)
    # The dividend less its truncated remainder is a multiple: rounding plays no part.
    quotient = (x - np.fmod(x, safe)) // safe
    quotient = np.where(by_minus_one, np.negative(x), quotient)
    return np.where(by_zero, x.dtype.type(ones), quotient)


def _rem(x: NDArray, y: NDArray) -> Any:
    if x.dtype not in INTEGERS:
        return np.fmod(x, y)
    by_zero, by_minus_one = y == 0, _is_minus_one(y)
    safe = np.where(by_zero | by_minus_one, x.dtype.type(1), y)
    return np.where(by_zero, x, np.fmod(x, safe))


def _is_minus_one(y: NDArray) -> Any:
    # The one divisor besides 0 that processors trap on, with the most negative dividend.
    return y == -1 if y.dtype in dtypes.SIGNED else np.zeros(y.shape, bool)


def _pow(x: NDArray, y: NDArray) -> Any:
    if x.dtype not in dtypes.SIGNED:
        return np.power(x, y)
    negative = y < 0
    whole = np.power(x, np.where(negative, y.dtype.type(0), y))
    odd = np.where(y % 2 == 0, x.dtype.type(1), x)
    inverse = np.where(x == 1, x, np.where(x == -1, odd, x.dtype.type(0)))
    return np.where(negative, inverse, whole)


def _integer_pow(x: NDArray, *, y: int) -> Any:
    if x.dtype in INTEGERS:
        out, base = np.ones(x.shape, x.dtype), x
        while y:
            if y & 1:
                out = out * base
            base = base * base
            y >>= 1
        return out
    return np.divide(x.dtype.type(1), x) if y == -1 else np.power(x, x.dtype.type(y))


def _sign(x: NDArray) -> Any:
    if x.dtype in COMPLEXES:  # a quarter of it, where the size would overflow
        finite = np.isfinite(x.real) & np.isfinite(x.imag)
        x = np.where(finite & np.isinf(np.abs(x)), x / 4, x)
    return np.sign(x)


def _abs(x: NDArray) -> Any:
    return np.abs(x) if x.dtype in COMPLEXES else np.abs(_widened(x)).astype(x.dtype)


def _round(x: NDArray, *, rounding_method: p.RoundingMethod) -> Any:
    if rounding_method is p.RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)  # the fraction is exact, which x + 0.5 would not be
    away = np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)
    return np.where(np.isfinite(x), away, x)


def _logistic(x: NDArray) -> Any:
    if x.dtype in COMPLEXES:
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _select_n(which: NDArray, *cases: NDArray) -> Any:
    if which.dtype == bool_:
        return np.where(which, cases[-1], cases[0])
    number = np.clip(which, 0, len(cases) - 1)
    out = cases[0] if len(cases) > 1 else np.broadcast_arrays(cases[0], number)[0]
    for i, case in enumerate(cases[1:], 1):
        out = np.where(number == i, case, out)
    return out


def _unsigned(x: NDArray) -> NDArray:
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def _shift(amount: NDArray, bits: int) -> tuple[Any, Any]:
    """Amount within the width, and where it is beyond; negative ones are huge unsigned ones."""
    beyond = (amount < 0) | (amount >= bits)
    return np.where(beyond, amount.dtype.type(0), amount), beyond


def _bits_of(dtype: Any) -> int:
    return int(dtypes.iinfo(dtype).bits)


def _shift_left(x: NDArray, y: NDArray) -> Any:
    bits = _bits_of(x.dtype)
    within, beyond = _shift(_widened(y), bits)
    out = np.where(beyond, 0, np.left_shift(_widened(x), within))
    return _cast(out, x.dtype)


def _shift_right_arithmetic(x: NDArray, y: NDArray) -> Any:
    bits = _bits_of(x.dtype)
    wide = _widened(x)
    if x.dtype not in dtypes.SIGNED:  # the same bits, read as signed
        wide = np.where(wide >= 8, wide - 16, wide) if bits < 8 else wide.view(f"i{bits // 8}")
    within, beyond = _shift(_widened(y), bits)
    last = np.array(bits - 1, wide.dtype)
    out = np.right_shift(wide, np.where(beyond, last, within.astype(wide.dtype)))
    return out.astype(x.dtype) if bits >= 8 else _cast(out, x.dtype)


def _shift_right_logical(x: NDArray, y: NDArray) -> Any:
    bits = _bits_of(x.dtype)
    wide = _widened(x) & 15 if bits < 8 else _unsigned(np.ascontiguousarray(x)).reshape(x.shape)
    within, beyond = _shift(_widened(y), bits)
    out = np.where(beyond, wide.dtype.type(0), np.right_shift(wide, within.astype(wide.dtype)))
    return out.astype(x.dtype)


def _population_count(x: NDArray) -> Any:
    wide = _widened(x) & 15 if _bits_of(x.dtype) < 8 else x.astype(f"u{x.dtype.itemsize}")
    return np.bitwise_count(wide).astype(np.int32).astype(x.dtype)


def _bitcast(x: NDArray, *, new_dtype: Any) -> Any:
    old, new_dtype = x.dtype, dtypes.storage_dtype(new_dtype)
    flat = np.ascontiguousarray(x).reshape(x.shape)
    if old.itemsize == new_dtype.itemsize:
        return flat.view(new_dtype)
    if old.itemsize > new_dtype.itemsize:
        ratio = old.itemsize // new_dtype.itemsize
        return flat.reshape(*x.shape, 1).view(new_dtype).reshape(*x.shape, ratio)
    return flat.view(new_dtype).reshape(x.shape[:-1])


def _clamp(low: NDArray, x: NDArray, high: NDArray) -> Any:
    return np.minimum(np.maximum(low, x), high)


def _complex(x: NDArray, y: NDArray) -> Any:
    x, y = np.broadcast_arrays(x, y)
    out = np.empty(x.shape, np.complex64 if x.dtype == float32 else np.complex128)
    out.real, out.imag = x, y
    return out


def _nextafter(x: NDArray, y: NDArray) -> Any:
    if x.dtype in (float16, float32, float64, dtypes.bfloat16):
        return np.nextafter(x, y)
    return _nextafter_8_bits(x, y)


def _nextafter_8_bits(x: NDArray, y: NDArray) -> Any:
    """Of the 256 numbers of a type, the next one in the direction."""
    x, y = np.broadcast_arrays(x, y)
    every = np.arange(256, dtype=np.uint8).view(x.dtype).astype(np.float32)
    every = np.unique(every[~np.isnan(every)])
    a, b = x.astype(np.float32), y.astype(np.float32)
    up = every[np.clip(np.searchsorted(every, a, "right"), 0, len(every) - 1)]
    down = every[np.clip(np.searchsorted(every, a, "left") - 1, 0, len(every) - 1)]
    out = np.where(a == b, b, np.where(a < b, up, down))
    return np.where(np.isnan(a) | np.isnan(b), np.nan, out).astype(x.dtype)


def _register(table: dict[Primitive, Rule], wrap: Callable[[Rule], Rule]) -> None:
    for primitive, rule in table.items():
        register_evaluation(primitive, wrap(rule))


_WIDE: Final[dict[Primitive, Rule]] = {
    p.neg_p: np.negative,
    p.add_p: np.add,
    p.sub_p: np.subtract,
    p.mul_p: np.multiply,
    p.mul_no_nan_p: _mul_no_nan,
    p.div_p: _div,
    p.rem_p: _rem,
    p.pow_p: _pow,
    p.integer_pow_p: _integer_pow,
    p.square_p: np.square,
    p.max_p: np.maximum,
    p.min_p: np.minimum,
    p.clamp_p: _clamp,
    p.sign_p: _sign,
    p.floor_p: np.floor,
    p.ceil_p: np.ceil,
    p.round_p: _round,
    p.conj_p: np.conjugate,
    p.exp_p: np.exp,
    p.exp2_p: np.exp2,
    p.expm1_p: np.expm1,
    p.log_p: np.log,
    p.log1p_p: np.log1p,
    p.sqrt_p: np.sqrt,
    p.rsqrt_p: lambda x: 1 / np.sqrt(x),
    p.cbrt_p: np.cbrt,
    p.sin_p: np.sin,
    p.cos_p: np.cos,
    p.tan_p: np.tan,
    p.asin_p: np.arcsin,
    p.acos_p: np.arccos,
    p.atan_p: np.arctan,
    p.atan2_p: np.arctan2,
    p.sinh_p: np.sinh,
    p.cosh_p: np.cosh,
    p.tanh_p: np.tanh,
    p.asinh_p: np.arcsinh,
    p.acosh_p: np.arccosh,
    p.atanh_p: np.arctanh,
    p.logistic_p: _logistic,
    p.and_p: np.bitwise_and,
    p.or_p: np.bitwise_or,
    p.xor_p: np.bitwise_xor,
    p.not_p: np.invert,
}

_DOUBLE: Final[dict[Primitive, Rule]] = {
    p.erf_p: special.erf,
    p.erfc_p: special.erfc,
    p.erf_inv_p: special.erf_inv,
    p.lgamma_p: special.lgamma,
    p.digamma_p: special.digamma,
    p.polygamma_p: special.polygamma,
}

_TRUTH: Final[dict[Primitive, Rule]] = {
    p.eq_p: np.equal,
    p.ne_p: np.not_equal,
    p.lt_p: np.less,
    p.le_p: np.less_equal,
    p.gt_p: np.greater,
    p.ge_p: np.greater_equal,
    p.is_finite_p: np.isfinite,
}

_OWN: Final[dict[Primitive, Rule]] = {
    p.abs_p: _abs,
    p.real_p: np.real,
    p.imag_p: np.imag,
    p.complex_p: _complex,
    p.convert_element_type_p: _convert,
    p.select_n_p: _select_n,
    p.copy_p: np.copy,
    p.stop_gradient_p: lambda x: x,
    p.nextafter_p: _nextafter,
    p.shift_left_p: _shift_left,
    p.shift_right_arithmetic_p: _shift_right_arithmetic,
    p.shift_right_logical_p: _shift_right_logical,
    p.population_count_p: _population_count,
    p.bitcast_convert_type_p: _bitcast,
}

_register(_WIDE, _wide)
_register(_DOUBLE, _double)
_register(_TRUTH, _predicate)
_register(_OWN, _quiet)
