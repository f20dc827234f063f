"""StableHLO of `dot_general`.

XLA multiplies numbers of one dtype into a wider one by itself, except integers into floating-point
numbers, which are converted first. Booleans are multiplied as integers: any pair that is true makes
the result true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.primitives.contractions import DotDimensionNumbers, PrecisionPair, dot_general_p
from axonym_core.types import AxisName, ShapedArray, dtypes

from .reductions import refuse_named_axes
from .registry import LoweringContext, register_lowering
from .shape import numbers

Avals = Sequence[ShapedArray]


def precision_attribute(precision: PrecisionPair) -> str:
    """Text of the two operands' precisions, as in `DEFAULT, HIGHEST`."""
    return "DEFAULT, DEFAULT" if precision is None else f"{precision[0].name}, {precision[1].name}"


def product_operands(
    ctx: LoweringContext, avals_in: Avals, out: ShapedArray, lhs: str, rhs: str
) -> tuple[str, str, Avals, ShapedArray]:
    """Operands and result of a contraction in dtypes that XLA multiplies as they are.

    Returns:
        The two operands, their types, and the type in which the product comes out; where its dtype
        differs from that of `out`, the result is to be converted.
    """
    given, wanted = avals_in[0].dtype, out.dtype
    if dtypes.is_bool(given):
        through = given_to = dtypes.int32
    elif dtypes.is_integer(given) and dtypes.is_floating(wanted):
        given_to = through = wanted
    elif wanted.itemsize < given.itemsize:
        given_to = through = given
    else:
        given_to, through = given, wanted
    converted = [aval.update(dtype=given_to) for aval in avals_in]
    lhs = ctx.convert(lhs, avals_in[0], converted[0])
    rhs = ctx.convert(rhs, avals_in[1], converted[1])
    return lhs, rhs, converted, out.update(dtype=through)


def _dot_general(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    lhs: str,
    rhs: str,
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionPair,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> str:
    refuse_named_axes("dot_general", axis_names)
    (c1, c2), (b1, b2) = dimension_numbers
    lhs, rhs, operands, product = product_operands(ctx, avals_in, avals_out[0], lhs, rhs)
    batching = f"batching_dims = [{numbers(b1)}] x [{numbers(b2)}], " if b1 else ""
    out = ctx.op(
        f"stablehlo.dot_general {lhs}, {rhs}, {batching}contracting_dims = [{numbers(c1)}] x "
        f"[{numbers(c2)}], precision = [{precision_attribute(precision)}] : "
        f"({ctx.type(operands[0])}, {ctx.type(operands[1])}) -> {ctx.type(product)}"
    )
    return ctx.convert(out, product, avals_out[0])


register_lowering(dot_general_p, _dot_general)
