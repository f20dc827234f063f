"""NumPy evaluation of convolutions: windows as a strided view, then one stacked matrix product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..primitives.contractions import PrecisionPair
from ..primitives.convolutions import (
    ConvDimensionNumbers,
    Padding,
    Shape,
    conv_general_dilated_p,
    spatial_output,
)
from ..types.avals import AxisName
from .contractions import product_dtypes
from .reductions import refuse_named_axes
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]


def _dilate_and_pad(x: NDArray, dilation: Shape, padding: Padding) -> NDArray:
    """Zeros between and around the elements of all dimensions but the first two."""
    for axis, (step, (low, high)) in enumerate(zip(dilation, padding, strict=True), 2):
        size = x.shape[axis]
        wide = 0 if size == 0 else (size - 1) * step + 1
        shape = list(x.shape)
        shape[axis] = max(0, wide + low + high)
        out = np.zeros(shape, x.dtype)
        # Element i lands at low + i * step; negative padding cuts off those outside.
        kept = [i for i in range(size) if 0 <= low + i * step < shape[axis]]
        if kept:
            first, last = kept[0], kept[-1]
            into = [slice(None)] * x.ndim
            into[axis] = slice(low + first * step, low + last * step + 1, step)
            taken = [slice(None)] * x.ndim
            taken[axis] = slice(first, last + 1)
            out[tuple(into)] = x[tuple(taken)]
        x = out
    return x


def _conv_general_dilated(
    lhs: NDArray,
    rhs: NDArray,
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
) -> Any:
    refuse_named_axes("conv_general_dilated", axis_names)
    wide, result = product_dtypes(lhs.dtype, preferred_element_type)
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    x = lhs.transpose(lhs_spec).astype(wide, copy=False)
    kernels = rhs.transpose(rhs_spec).astype(wide, copy=False)
    sizes = spatial_output(
        x.shape[2:], kernels.shape[2:], window_strides, padding, lhs_dilation, rhs_dilation
    )
    n, c = x.shape[:2]
    o, _, *window = kernels.shape
    groups = max(feature_group_count, batch_group_count)
    # Everything as (group, …): a group has its own inputs and its own kernels.
    if batch_group_count > 1:
        n //= groups
        x = x.reshape(groups, n, c, *x.shape[2:])
    else:
        c //= groups
        x = x.reshape(n, groups, c, *x.shape[2:]).swapaxes(0, 1)
    rank = len(window)
    x = _dilate_and_pad(x.reshape(groups * n, c, *x.shape[3:]), lhs_dilation, padding)
    x = np.ascontiguousarray(x)
    if math.prod(sizes) == 0 or x.size == 0 or kernels.size == 0:
        out = np.zeros((n, o, *sizes), wide)
    else:
        # windows[g, n, p..., c, k...] = x[g, n, c, p * stride + k * dilation]
        b0, b1, *steps = x.strides
        windows = np.lib.stride_tricks.as_strided(
            x,
            (groups, n, *sizes, c, *window),
            (
                b0 * n,
                b0,
                *[b * s for b, s in zip(steps, window_strides, strict=True)],
                b1,
                *[b * s for b, s in zip(steps, rhs_dilation, strict=True)],
            ),
            writeable=False,
        )
        taps = c * math.prod(window)
        rows = windows.reshape(groups, n * math.prod(sizes), taps)
        columns = kernels.reshape(groups, o // groups, taps)
        with np.errstate(all="ignore"):
            product = np.matmul(rows, columns.swapaxes(1, 2))
        product = product.reshape(groups, n, *sizes, o // groups)
        out = np.moveaxis(product, (1, 0, 2 + rank), (0, 1, 2)).reshape(n, o, *sizes)
    order = sorted(range(out.ndim), key=out_spec.__getitem__)
    with np.errstate(all="ignore"):
        return out.transpose(order).astype(result, copy=False)


register_evaluation(conv_general_dilated_p, _conv_general_dilated)
