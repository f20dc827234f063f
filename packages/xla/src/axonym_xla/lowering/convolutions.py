"""StableHLO of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.primitives.contractions import PrecisionPair
from axonym_core.primitives.convolutions import (
    ConvDimensionNumbers,
    Padding,
    Shape,
    conv_general_dilated_p,
)
from axonym_core.types import AxisName, ShapedArray

from .contractions import precision_attribute, product_operands
from .reductions import refuse_named_axes
from .registry import LoweringContext, register_lowering
from .shape import numbers

Avals = Sequence[ShapedArray]


def _layout(spec: Shape, first: str, second: str) -> str:
    """Meaning of each dimension, as in `b, 0, 1, f`."""
    letters = [""] * len(spec)
    for letter, dim in zip((first, second, *map(str, range(len(spec) - 2))), spec, strict=True):
        letters[dim] = letter
    return f"[{', '.join(letters)}]"


def _conv_general_dilated(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    lhs: str,
    rhs: str,
    *,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: PrecisionPair,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> str:
    refuse_named_axes("conv_general_dilated", axis_names)
    out = avals_out[0]
    if out.size == 0 or avals_in[0].size == 0 or avals_in[1].size == 0:
        return ctx.constant(0, out)
    lhs, rhs, operands, product = product_operands(ctx, avals_in, out, lhs, rhs)
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    pads = ", ".join([f"[{low}, {high}]" for low, high in padding])
    convolved = ctx.op(
        f"stablehlo.convolution({lhs}, {rhs}) dim_numbers = {_layout(lhs_spec, 'b', 'f')}x"
        f"{_layout(rhs_spec, 'o', 'i')}->{_layout(out_spec, 'b', 'f')}, window = {{stride = "
        f"[{numbers(window_strides)}], pad = [{pads}], lhs_dilate = [{numbers(lhs_dilation)}], "
        f"rhs_dilate = [{numbers(rhs_dilation)}]}} {{batch_group_count = {batch_group_count} : "
        f"i64, feature_group_count = {feature_group_count} : i64, precision_config = "
        f"[{_precision_config(precision)}]}} : "
        f"({ctx.type(operands[0])}, {ctx.type(operands[1])}) -> {ctx.type(product)}"
    )
    return ctx.convert(convolved, product, out)


def _precision_config(precision: PrecisionPair) -> str:
    names = precision_attribute(precision).split(", ")
    return ", ".join([f"#stablehlo<precision {name}>" for name in names])


register_lowering(conv_general_dilated_p, _conv_general_dilated)
