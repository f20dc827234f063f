"""StableHLO of sorting and of the largest elements.

Floating-point keys are compared as integers that have their order: comparisons of floating-point
numbers take subnormal numbers for zero on CPUs, and would leave them unsorted. XLA sorts a single
operand several times faster where the comparison is a plain "less than", so numbers whose equal
elements need not keep their order are turned into integers before they are sorted. The largest
elements are found in 32-bit floating-point numbers wherever these hold the values exactly, for
which XLA has a fast way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_core.primitives.sorting import sort_p, top_k_p
from axonym_core.types import ShapedArray, dtypes

from .registry import LoweringContext, register_lowering
from .types import tensor_type

Avals = Sequence[ShapedArray]
_BIT = "tensor<i1>"


def _compare(ctx: LoweringContext, direction: str, x: str, y: str, t: str) -> str:
    return ctx.op(f"stablehlo.compare {direction}, {x}, {y} : ({t}, {t}) -> {_BIT}")


def _integer_key(ctx: LoweringContext, x: str, dtype: Any) -> tuple[str, np.dtype[Any]]:
    """Integer in the place of a floating-point scalar: equal zeros, and every NaN the largest."""
    if dtype.itemsize == 1:  # the 8-bit formats differ in what is NaN
        source, dtype = tensor_type((), dtype), dtypes.float32
        x = ctx.op(f"stablehlo.convert {x} : ({source}) -> {tensor_type((), dtype)}")
    bits = ShapedArray((), f"int{dtype.itemsize * 8}")
    t, info = ctx.type(bits), np.iinfo(bits.dtype)
    infinity = np.asarray(np.inf, dtype).view(bits.dtype)
    x = ctx.op(f"stablehlo.bitcast_convert {x} : ({tensor_type((), dtype)}) -> {t}")
    # Sign and magnitude to a two's complement, in which there is one zero.
    negative = _compare(ctx, "LT", x, ctx.constant(0, bits), t)
    opposite = ctx.op(f"stablehlo.subtract {ctx.constant(info.min, bits)}, {x} : {t}")
    x = ctx.op(f"stablehlo.select {negative}, {opposite}, {x} : {_BIT}, {t}")
    magnitude = ctx.op(f"stablehlo.abs {x} : {t}")
    nan = _compare(ctx, "GT", magnitude, ctx.constant(infinity, bits), t)
    largest = ctx.constant(info.max, bits)
    return ctx.op(f"stablehlo.select {nan}, {largest}, {x} : {_BIT}, {t}"), bits.dtype


def _keys(
    ctx: LoweringContext, pairs: Sequence[tuple[str, str]], avals: Avals
) -> list[tuple[str, str, str]]:
    """Pairs of scalars to compare with their type, most important first; complex ones make two."""
    keys = []

    def add(x: str, y: str, dtype: Any) -> None:
        if dtypes.is_floating(dtype):
            x, key_dtype = _integer_key(ctx, x, dtype)
            y, dtype = _integer_key(ctx, y, dtype)[0], key_dtype
        keys.append((x, y, tensor_type((), dtype)))

    for (x, y), aval in zip(pairs, avals, strict=True):
        if dtypes.is_complex(aval.dtype):
            part = dtypes.float32 if aval.dtype == dtypes.complex64 else dtypes.float64
            signature = f"({tensor_type((), aval.dtype)}) -> {tensor_type((), part)}"
            for operation in ("real", "imag"):
                a, b = (ctx.op(f"stablehlo.{operation} {v} : {signature}") for v in (x, y))
                add(a, b, part)
        else:
            add(x, y, aval.dtype)
    return keys


def _sort_operands(
    ctx: LoweringContext,
    avals: Avals,
    operands: Sequence[str],
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> list[str]:
    def comparison(args: list[str]) -> list[str]:
        pairs = [(args[2 * i], args[2 * i + 1]) for i in range(num_keys)]
        keys = _keys(ctx, pairs, avals[:num_keys])
        # From the least important key on: less in this one, or equal in it and less in the rest.
        result = _compare(ctx, "LT", *keys[-1])
        for key in reversed(keys[:-1]):
            later = ctx.op(f"stablehlo.and {_compare(ctx, 'EQ', *key)}, {result} : {_BIT}")
            result = ctx.op(f"stablehlo.or {_compare(ctx, 'LT', *key)}, {later} : {_BIT}")
        return [result]

    scalars = [tensor_type((), a.dtype) for a in avals for _ in range(2)]
    region = ctx.region(scalars, comparison, result_types=[_BIT])
    types = ", ".join([ctx.type(a) for a in avals])
    out = ctx.op(
        f'"stablehlo.sort"({", ".join(operands)}) <{{dimension = {dimension} : i64, '
        f"is_stable = {str(is_stable).lower()}}}> ({region}) : ({types}) -> ({types})",
        len(operands),
    )
    return [out] if len(operands) == 1 else out


def _flip_negative(ctx: LoweringContext, x: str, aval: ShapedArray) -> str:
    """Map bits of floating-point numbers to integers of the same order, or back."""
    t = ctx.type(aval)
    width = aval.dtype.itemsize * 8
    sign = ctx.op(f"stablehlo.shift_right_arithmetic {x}, {ctx.constant(width - 1, aval)} : {t}")
    mask = ctx.op(f"stablehlo.and {sign}, {ctx.constant(np.iinfo(aval.dtype).max, aval)} : {t}")
    return ctx.op(f"stablehlo.xor {x}, {mask} : {t}")


def _positive_nan(ctx: LoweringContext, x: str, aval: ShapedArray) -> str:
    """Give every NaN the bits of the positive one."""
    t, bits = ctx.type(aval), tensor_type(aval.shape, dtypes.bool_)
    nan = ctx.op(f"stablehlo.compare NE, {x}, {x} : ({t}, {t}) -> {bits}")
    return ctx.op(f"stablehlo.select {nan}, {ctx.constant(np.nan, aval)}, {x} : {bits}, {t}")


def _sort_as_integers(ctx: LoweringContext, aval: ShapedArray, x: str, dimension: int) -> str:
    integers = aval.update(dtype=np.dtype(f"i{aval.dtype.itemsize}"))
    t, t_int = ctx.type(aval), ctx.type(integers)
    bits = ctx.op(f"stablehlo.bitcast_convert {_positive_nan(ctx, x, aval)} : ({t}) -> {t_int}")
    keys = _flip_negative(ctx, bits, integers)
    (ordered,) = _sort_operands(ctx, [integers], [keys], dimension, False, 1)
    bits = _flip_negative(ctx, ordered, integers)
    return ctx.op(f"stablehlo.bitcast_convert {bits} : ({t_int}) -> {t}")


def _sort(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    *operands: str,
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> list[str]:
    aval = avals_in[0]
    single = len(operands) == 1 and not is_stable
    if single and dtypes.is_floating(aval.dtype) and aval.dtype.itemsize > 1:
        return [_sort_as_integers(ctx, aval, operands[0], dimension)]
    return _sort_operands(ctx, avals_in, operands, dimension, is_stable, num_keys)


def _top_k(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, k: int) -> list[str]:
    (aval,), (values, positions) = avals_in, avals_out
    searched, found = aval, values
    if aval.dtype.itemsize < 4:  # exact in 32 bits, whatever it holds
        searched, found = aval.update(dtype=dtypes.float32), values.update(dtype=dtypes.float32)
        x = ctx.convert(x, aval, searched)
    if dtypes.is_floating(aval.dtype):
        x = _positive_nan(ctx, x, searched)
    results = f"({ctx.type(found)}, {ctx.type(positions)})"
    best, where = ctx.op(f"chlo.top_k({x}, k = {k}) : {ctx.type(searched)} -> {results}", 2)
    return [ctx.convert(best, found, values), where]


register_lowering(sort_p, _sort)
register_lowering(top_k_p, _top_k)
