"""Lowering of element-wise operations: mostly one StableHLO operation each.

StableHLO wants operands of one shape, so rank-0 operands are broadcast, except where it takes them
as they are (the condition of a selection, the bounds of a clamp). Functions that StableHLO lacks
come from CHLO, which the compiler expands into polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from axonym_core.primitives import elementwise as p
from axonym_core.programs import Primitive
from axonym_core.types import COMPLEXES, FLOATS, INTEGERS, SIGNED, ShapedArray, bool_, dtypes

from .complex_functions import PartWriter, size, with_complex_values
from .registry import LoweringContext, LoweringRule, register_lowering

Avals = Sequence[ShapedArray]


def spread(
    ctx: LoweringContext, avals: Avals, operands: Sequence[str], out: ShapedArray
) -> Sequence[str]:
    """Operands in the shape of the result.

    Args:
        ctx: The context.
        avals: Types of the operands.
        operands: Their names.
        out: Type of the result.
    """
    shape = out.shape
    for aval in avals:
        if aval.shape != shape:
            return [
                ctx.broadcast_scalar(x, aval, out) for x, aval in zip(operands, avals, strict=True)
            ]
    return operands


def _operation(name: str) -> LoweringRule:
    """Rule of an operation whose operands and result have one type."""

    def rule(
        ctx: LoweringContext, avals_in: Avals, avals_out: Avals, *operands: str, **params: Any
    ) -> str:
        out = avals_out[0]
        listed = ", ".join(spread(ctx, avals_in, operands, out))
        return ctx.op(f"{name} {listed} : {ctx.type(out)}")

    return rule


def _of_dialect(name: str) -> LoweringRule:
    """Rule of a CHLO function, whose text lists the types of operands and result."""

    def rule(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, *operands: str) -> str:
        out = avals_out[0]
        text = ctx.type(out)
        names = spread(ctx, avals_in, operands, out)
        return ctx.op(f"{name} {', '.join(names)} : {', '.join([text] * len(names))} -> {text}")

    return rule


def _changing(name: str) -> LoweringRule:
    """Rule of an operation of one operand whose result has another element type."""

    def rule(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, **params: Any) -> str:
        return ctx.op(f"{name} {x} : ({ctx.type(avals_in[0])}) -> {ctx.type(avals_out[0])}")

    return rule


def _comparison(direction: str) -> LoweringRule:
    def rule(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, *operands: str) -> str:
        out = avals_out[0]
        names = spread(ctx, avals_in, operands, out)
        full = avals_in[0] if avals_in[0].shape == out.shape else avals_in[1]
        dtype = dtypes.storage_dtype(full.dtype)
        kind = "SIGNED" if dtype in SIGNED else "FLOAT"
        if dtype == bool_ or (dtype in INTEGERS and dtype not in SIGNED):
            kind = "UNSIGNED"
        text = ctx.type(full)
        return ctx.op(
            f"stablehlo.compare {direction}, {', '.join(names)}, {kind} : "
            f"({text}, {text}) -> {ctx.type(out)}"
        )

    return rule


def _identity(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, **params: Any
) -> str:
    return x


def _neg(ctx: LoweringContext, aval: ShapedArray, x: str) -> str:
    return ctx.op(f"stablehlo.negate {x} : {ctx.type(aval)}")


def _mul(ctx: LoweringContext, aval: ShapedArray, x: str, y: str) -> str:
    return ctx.op(f"stablehlo.multiply {x}, {y} : {ctx.type(aval)}")


def _mul_no_nan(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, y: str) -> str:
    out = avals_out[0]
    x, y = spread(ctx, avals_in, (x, y), out)
    truth = out.update(dtype=bool_, weak_type=False)
    zero = ctx.constant(0, out)
    first, second = [_comparison("EQ")(ctx, (out, out), (truth,), v, zero) for v in (x, y)]
    vanishes = ctx.op(f"stablehlo.or {first}, {second} : {ctx.type(truth)}")
    return _select(ctx, vanishes, truth, zero, _mul(ctx, out, x, y), out)


def _square(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    return _mul(ctx, avals_out[0], x, x)


def _widened(ctx: LoweringContext, x: str, out: ShapedArray) -> tuple[str, ShapedArray]:
    """Operand and its type, in 32 bits where it is a floating-point number of fewer."""
    if out.dtype in FLOATS and out.dtype.itemsize < 4:
        wide = out.update(dtype=dtypes.float32)
        return ctx.convert(x, out, wide), wide
    return x, out


def _integer_pow(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, y: int) -> str:
    out = avals_out[0]
    if y == 0:
        return ctx.constant(1, out)
    factor, wide = _widened(ctx, x, out)
    power, exponent = "", abs(y)
    while exponent:
        if exponent & 1:
            power = _mul(ctx, wide, power, factor) if power else factor
        exponent >>= 1
        if exponent:
            factor = _mul(ctx, wide, factor, factor)
    if y < 0:
        one = ctx.constant(1, wide)
        power = ctx.op(f"stablehlo.divide {one}, {power} : {ctx.type(wide)}")
    return power if wide is out else ctx.convert(power, wide, out)


def _pow(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, y: str) -> str:
    out = avals_out[0]
    x, y = spread(ctx, avals_in, (x, y), out)
    if out.dtype not in INTEGERS:
        return ctx.op(f"stablehlo.power {x}, {y} : {ctx.type(out)}")
    power = _pow_by_squaring(ctx, out, x, y)
    if out.dtype not in SIGNED:
        return power
    # 1 / x ** -y without its fraction: 0, but for the bases 1 and -1.
    text = ctx.type(out)
    zero, one, minus_one = [ctx.constant(k, out) for k in (0, 1, -1)]
    truth = out.update(dtype=bool_, weak_type=False)

    def compare(direction: str, a: str, b: str) -> str:
        return ctx.op(
            f"stablehlo.compare {direction}, {a}, {b}, SIGNED : ({text}, {text}) -> "
            f"{ctx.type(truth)}"
        )

    odd = compare("NE", ctx.op(f"stablehlo.and {y}, {one} : {text}"), zero)
    sign = _select(ctx, odd, truth, minus_one, one, out)
    inverse = _select(ctx, compare("EQ", x, minus_one), truth, sign, zero, out)
    inverse = _select(ctx, compare("EQ", x, one), truth, one, inverse, out)
    return _select(ctx, compare("LT", y, zero), truth, inverse, power, out)


def _pow_by_squaring(ctx: LoweringContext, aval: ShapedArray, x: str, y: str) -> str:
    """Power of integers, in a loop over the bits of the exponent.

    The compiler's own power of integers ignores the upper bits of a large exponent.
    """
    bits = int(dtypes.iinfo(aval.dtype).bits)
    counter = ShapedArray((), dtypes.int32)
    truth = aval.update(dtype=bool_, weak_type=False)
    text = ctx.type(aval)
    types = [ctx.type(counter), text, text, text]

    def test(args: list[str]) -> list[str]:
        number = types[0]
        bound = ctx.constant(bits, counter)
        compared = f"stablehlo.compare LT, {args[0]}, {bound}, SIGNED"
        return [ctx.op(f"{compared} : ({number}, {number}) -> tensor<i1>")]

    def step(args: list[str]) -> list[str]:
        i, power, factor, exponent = args
        one = ctx.constant(1, aval)
        bit = ctx.op(f"stablehlo.and {exponent}, {one} : {text}")
        is_set = ctx.op(
            f"stablehlo.compare NE, {bit}, {ctx.constant(0, aval)} : ({text}, {text}) -> "
            f"{ctx.type(truth)}"
        )
        return [
            ctx.op(f"stablehlo.add {i}, {ctx.constant(1, counter)} : {types[0]}"),
            _select(ctx, is_set, truth, _mul(ctx, aval, power, factor), power, aval),
            _mul(ctx, aval, factor, factor),
            ctx.op(f"stablehlo.shift_right_logical {exponent}, {one} : {text}"),
        ]

    initial = [ctx.constant(0, counter), ctx.constant(1, aval), x, y]
    condition = ctx.region(types, test, result_types=["tensor<i1>"])
    body = ctx.region(types, step, result_types=types)
    listed = ", ".join(types)
    results: list[str] = ctx.op(
        f'"stablehlo.while"({", ".join(initial)}) ({condition}, {body}) : ({listed}) -> ({listed})',
        len(types),
    )
    return results[1]


def _exp2(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    out = avals_out[0]
    if out.dtype in COMPLEXES:
        b = PartWriter(ctx, out)  # a complex factor would make NaN of infinities
        log2 = b.number(math.log(2))
        scaled = b.join(*[b.op("multiply", part, log2) for part in b.split(x)])
        rule: LoweringRule = with_complex_values(p.exp_p, _operation("stablehlo.exponential"))
        return str(rule(ctx, avals_in, avals_out, scaled))
    # A power, and not the exponential of a multiple, is exact for integers.
    return ctx.op(f"stablehlo.power {ctx.constant(2, out)}, {x} : {ctx.type(out)}")


def _sign(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    out = avals_out[0]
    if out.dtype in INTEGERS and out.dtype not in SIGNED:
        return ctx.op(f"stablehlo.minimum {x}, {ctx.constant(1, out)} : {ctx.type(out)}")
    return ctx.op(f"stablehlo.sign {x} : {ctx.type(out)}")


def _abs(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    dtype = avals_in[0].dtype
    if dtype in SIGNED or dtype in FLOATS:
        return ctx.op(f"stablehlo.abs {x} : {ctx.type(avals_out[0])}")
    if dtype in COMPLEXES:
        return size(ctx, avals_in[0], x, avals_out[0])
    return x


_ROUND: Final = {
    p.RoundingMethod.AWAY_FROM_ZERO: "stablehlo.round_nearest_afz",
    p.RoundingMethod.TO_NEAREST_EVEN: "stablehlo.round_nearest_even",
}


def _round(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    x: str,
    *,
    rounding_method: p.RoundingMethod,
) -> str:
    return ctx.op(f"{_ROUND[rounding_method]} {x} : {ctx.type(avals_out[0])}")


def _clamp(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, low: str, x: str, high: str
) -> str:
    out = avals_out[0]
    x = ctx.broadcast_scalar(x, avals_in[1], out)
    bounds = (avals_in[0], avals_in[2])
    if bounds[0].shape != bounds[1].shape:  # both of the operand's shape, or both of rank 0
        low, high = [
            ctx.broadcast_scalar(b, aval, out) for b, aval in zip((low, high), bounds, strict=True)
        ]
        types = [ctx.type(out)] * 2
    else:
        types = [ctx.type(aval) for aval in bounds]
    text = ctx.type(out)
    return ctx.op(
        f"stablehlo.clamp {low}, {x}, {high} : ({types[0]}, {text}, {types[1]}) -> {text}"
    )


def _select(
    ctx: LoweringContext, pred: str, pred_aval: ShapedArray, yes: str, no: str, out: ShapedArray
) -> str:
    return ctx.op(f"stablehlo.select {pred}, {yes}, {no} : {ctx.type(pred_aval)}, {ctx.type(out)}")


def _select_n(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, which: str, *cases: str
) -> str:
    out = avals_out[0]
    which_aval = avals_in[0]
    names = [
        ctx.broadcast_scalar(x, aval, out) for x, aval in zip(cases, avals_in[1:], strict=True)
    ]
    if len(names) == 1:
        return names[0]
    if which_aval.dtype == bool_:
        return _select(ctx, which, which_aval, names[1], names[0], out)
    pred_aval = which_aval.update(dtype=bool_, weak_type=False)
    chosen = names[-1]
    for i in range(len(names) - 2, -1, -1):
        bound = ctx.constant(i, which_aval)
        text = ctx.type(which_aval)
        pred = ctx.op(
            f"stablehlo.compare LE, {which}, {bound}, SIGNED : ({text}, {text}) -> "
            f"{ctx.type(pred_aval)}"
        )
        chosen = _select(ctx, pred, pred_aval, names[i], chosen, out)
    return chosen


def _convert(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, **params: Any) -> str:
    return ctx.convert(x, avals_in[0], avals_out[0])


def _bitcast(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, new_dtype: Any
) -> str:
    if avals_in[0].dtype == new_dtype:
        return x
    return ctx.op(
        f"stablehlo.bitcast_convert {x} : ({ctx.type(avals_in[0])}) -> {ctx.type(avals_out[0])}"
    )


def _population_count(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    out = avals_out[0]
    if dtypes.iinfo(out.dtype).bits >= 8:
        return ctx.op(f"stablehlo.popcnt {x} : {ctx.type(out)}")
    # The compiler counts the copies of the sign bit of 4-bit numbers as well.
    wide = out.update(dtype=dtypes.int8)
    text = ctx.type(wide)
    low = ctx.op(f"stablehlo.and {ctx.convert(x, out, wide)}, {ctx.constant(15, wide)} : {text}")
    return ctx.convert(ctx.op(f"stablehlo.popcnt {low} : {text}"), wide, out)


def _conj(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    out = avals_out[0]
    part = np.dtype(np.float32 if out.dtype == dtypes.complex64 else np.float64)
    half = ShapedArray(out.shape, part)
    whole, text = ctx.type(out), ctx.type(half)
    real = ctx.op(f"stablehlo.real {x} : ({whole}) -> {text}")
    imag = _neg(ctx, half, ctx.op(f"stablehlo.imag {x} : ({whole}) -> {text}"))
    return ctx.op(f"stablehlo.complex {real}, {imag} : {whole}")


def _erfc(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str) -> str:
    # The compiler does not expand it for 8-bit numbers.
    out = avals_out[0]
    x, wide = _widened(ctx, x, out)
    result = ctx.op(f"chlo.erfc {x} : {ctx.type(wide)} -> {ctx.type(wide)}")
    return result if wide is out else ctx.convert(result, wide, out)


_STABLEHLO: Final[dict[Primitive, str]] = {
    p.neg_p: "negate",
    p.add_p: "add",
    p.sub_p: "subtract",
    p.mul_p: "multiply",
    p.div_p: "divide",
    p.rem_p: "remainder",
    p.max_p: "maximum",
    p.min_p: "minimum",
    p.floor_p: "floor",
    p.ceil_p: "ceil",
    p.exp_p: "exponential",
    p.expm1_p: "exponential_minus_one",
    p.log_p: "log",
    p.log1p_p: "log_plus_one",
    p.sqrt_p: "sqrt",
    p.rsqrt_p: "rsqrt",
    p.cbrt_p: "cbrt",
    p.sin_p: "sine",
    p.cos_p: "cosine",
    p.tan_p: "tan",
    p.atan2_p: "atan2",
    p.tanh_p: "tanh",
    p.logistic_p: "logistic",
    p.complex_p: "complex",
    p.and_p: "and",
    p.or_p: "or",
    p.xor_p: "xor",
    p.not_p: "not",
    p.shift_left_p: "shift_left",
    p.shift_right_arithmetic_p: "shift_right_arithmetic",
    p.shift_right_logical_p: "shift_right_logical",
}

_CHLO: Final[dict[Primitive, str]] = {
    p.asin_p: "asin",
    p.acos_p: "acos",
    p.atan_p: "atan",
    p.sinh_p: "sinh",
    p.cosh_p: "cosh",
    p.asinh_p: "asinh",
    p.acosh_p: "acosh",
    p.atanh_p: "atanh",
    p.erf_p: "erf",
    p.erf_inv_p: "erf_inv",
    p.lgamma_p: "lgamma",
    p.digamma_p: "digamma",
    p.polygamma_p: "polygamma",
    p.nextafter_p: "next_after",
}

_COMPARISONS: Final[dict[Primitive, str]] = {
    p.eq_p: "EQ",
    p.ne_p: "NE",
    p.lt_p: "LT",
    p.le_p: "LE",
    p.gt_p: "GT",
    p.ge_p: "GE",
}

_OWN: Final[dict[Primitive, LoweringRule]] = {
    p.mul_no_nan_p: _mul_no_nan,
    p.integer_pow_p: _integer_pow,
    p.pow_p: _pow,
    p.square_p: _square,
    p.exp2_p: _exp2,
    p.sign_p: _sign,
    p.abs_p: _abs,
    p.round_p: _round,
    p.clamp_p: _clamp,
    p.select_n_p: _select_n,
    p.convert_element_type_p: _convert,
    p.bitcast_convert_type_p: _bitcast,
    p.conj_p: _conj,
    p.population_count_p: _population_count,
    p.erfc_p: _erfc,
    p.real_p: _changing("stablehlo.real"),
    p.imag_p: _changing("stablehlo.imag"),
    p.is_finite_p: _changing("stablehlo.is_finite"),
    p.copy_p: _identity,
    p.stop_gradient_p: _identity,
}

for _primitive, _name in _STABLEHLO.items():
    register_lowering(_primitive, with_complex_values(_primitive, _operation(f"stablehlo.{_name}")))
for _primitive, _name in _CHLO.items():
    register_lowering(_primitive, with_complex_values(_primitive, _of_dialect(f"chlo.{_name}")))
for _primitive, _name in _COMPARISONS.items():
    register_lowering(_primitive, _comparison(_name))
for _primitive, _rule in _OWN.items():
    register_lowering(_primitive, with_complex_values(_primitive, _rule))
