"""Derivatives of convolutions: bilinear, and both transposes are convolutions again.

By the input, it is the cotangent dilated by the strides, convolved with the flipped kernels. By
the kernels, it is the input convolved with the cotangent, batch and features having changed places.
Groups of features turn into groups of the batch and back. As for `dot_general`, named axes that an
operand lacks are summed over in the transposed convolution itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.primitives.convolutions import (
    ConvDimensionNumbers,
    Padding,
    Shape,
    conv_general_dilated_p,
    dilated,
)
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Reading, defjvp, is_linear, register_transpose
from .contractions import axes_to_sum, cast_to, cast_to_common, read_elementwise


def _grouped_to_back(x: Any, dim: int, groups: int, target: int) -> Any:
    """Cut `dim` into groups, and put the group number before the entries of dimension `target`.

    Dimension `dim` becomes `groups` times shorter and `target` as much longer.
    """
    if groups == 1:
        return x
    shape = list(aval_of(x).shape)
    split = [*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :]]
    x = lax.reshape(x, split)
    order = [i for i in range(len(split)) if i != dim]
    order.insert(target, dim)
    shape[dim] //= groups
    shape[target] *= groups
    return lax.reshape(lax.transpose(x, order), shape)


def _transpose_lhs(
    ct: Any,
    lhs_shape: Shape,
    rhs: Any,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    numbers: ConvDimensionNumbers,
    feature_groups: int,
    batch_groups: int,
    params: dict[str, Any],
) -> Any:
    lhs_spec, rhs_spec, out_spec = numbers
    rhs_shape = aval_of(rhs).shape
    pads = []
    for i, stride, (low, _), ld, rd in zip(
        range(2, len(lhs_spec)), strides, padding, lhs_dilation, rhs_dilation, strict=True
    ):
        span = dilated(rhs_shape[rhs_spec[i]], rd)
        before = span - 1 - low
        wide = dilated(lhs_shape[lhs_spec[i]], ld)
        covered = dilated(aval_of(ct).shape[out_spec[i]], stride)
        pads.append((before, wide + span - 1 - covered - before))
    # Output and input features change places, within their groups.
    out_feature, in_feature = rhs_spec[:2]
    groups = max(feature_groups, batch_groups)
    kernels = _grouped_to_back(rhs, out_feature, groups, in_feature)
    out = conv_general_dilated_p.bind(
        ct,
        lax.rev(kernels, rhs_spec[2:]),
        window_strides=lhs_dilation,
        padding=tuple(pads),
        lhs_dilation=strides,
        rhs_dilation=rhs_dilation,
        dimension_numbers=ConvDimensionNumbers(
            out_spec, (in_feature, out_feature, *rhs_spec[2:]), lhs_spec
        ),
        feature_group_count=groups,
        batch_group_count=1,
        **params,
    )
    # Groups of the batch came out as groups of features.
    return _grouped_to_back(out, lhs_spec[1], batch_groups, lhs_spec[0])


def _transpose_rhs(
    ct: Any,
    lhs: Any,
    rhs_shape: Shape,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    numbers: ConvDimensionNumbers,
    feature_groups: int,
    batch_groups: int,
    params: dict[str, Any],
) -> Any:
    lhs_spec, rhs_spec, out_spec = numbers
    lhs_shape = aval_of(lhs).shape
    pads = []
    for i, stride, (low, _), ld, rd in zip(
        range(2, len(lhs_spec)), strides, padding, lhs_dilation, rhs_dilation, strict=True
    ):
        span = dilated(rhs_shape[rhs_spec[i]], rd)
        wide = dilated(lhs_shape[lhs_spec[i]], ld)
        covered = dilated(aval_of(ct).shape[out_spec[i]], stride)
        pads.append((low, span - 1 + covered - wide - low))
    # The batch is summed over, so it takes the place of features, and features that of the batch.
    # Groups of the batch need no regrouping: they are the first part of each dimension already.
    return conv_general_dilated_p.bind(
        lhs,
        ct,
        window_strides=rhs_dilation,
        padding=tuple(pads),
        lhs_dilation=lhs_dilation,
        rhs_dilation=strides,
        dimension_numbers=ConvDimensionNumbers(
            (lhs_spec[1], lhs_spec[0], *lhs_spec[2:]),
            (out_spec[1], out_spec[0], *out_spec[2:]),
            (rhs_spec[1], rhs_spec[0], *rhs_spec[2:]),
        ),
        feature_group_count=batch_groups,
        batch_group_count=feature_groups,
        **params,
    )


def _conv_general_dilated_transpose(
    reading: Reading,
    ct: Any,
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: Any,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> Sequence[Any]:
    left = is_linear(lhs)
    x, y = (lhs, rhs) if left else (rhs, lhs)
    aval = aval_of(x)
    if aval.size == 0 or aval_of(ct).size == 0:
        zero = lax.full(aval.shape, 0, aval.dtype)
        return (zero, None) if left else (None, zero)
    names = axes_to_sum(reading, x, (lhs, rhs), axis_names)
    ct, y = cast_to_common(read_elementwise(reading, ct, axis_names), y, aval.dtype)
    transpose: Any = _transpose_lhs if left else _transpose_rhs
    y_precision = None if precision is None else precision[1 if left else 0]
    out = transpose(
        ct,
        *((aval.shape, y) if left else (y, aval.shape)),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dimension_numbers,
        feature_group_count,
        batch_group_count,
        {
            "precision": None if precision is None else (y_precision, y_precision),
            "preferred_element_type": None,
            "axis_names": names,
        },
    )
    out = cast_to(out, aval.dtype)
    return (out, None) if left else (None, out)


defjvp(
    conv_general_dilated_p,
    lambda t, out, lhs, rhs, **params: conv_general_dilated_p.bind(t, rhs, **params),
    lambda t, out, lhs, rhs, **params: conv_general_dilated_p.bind(lhs, t, **params),
)
register_transpose(
    conv_general_dilated_p,
    _conv_general_dilated_transpose,
    sums_named_axes=True,
)
