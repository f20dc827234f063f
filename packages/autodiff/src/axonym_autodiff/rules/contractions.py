"""Derivatives of `dot_general`: bilinear, and its transposes are products again.

The transposed product of an operand sums over the named axes that the operand lacks, through its
own `axis_names`: the cotangent of a weight that does not vary over a mapped axis is one product
that contracts the axis, and no cotangent per index is ever made (`docs/named_axes.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.primitives.contractions import (
    DotDimensionNumbers,
    dot_general_p,
    free_dimensions,
)
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Reading, defjvp, is_linear, register_transpose


def read_elementwise(reading: Reading, ct: Any, axis_names: Sequence[AxisName]) -> Any:
    """Cotangent of the unsummed result: summed over those of `axis_names` read element-wise.

    Each index has its own copy of the sum, and each copy depends on the operands at every index.
    Read collectively, the sum is one value, and so is its cotangent.
    """
    elementwise = tuple([name for name in axis_names if name not in reading.collective])
    return lax.psum(ct, elementwise) if elementwise else ct


def axes_to_sum(
    reading: Reading, operand: Any, operands: Sequence[Any], axis_names: Sequence[AxisName]
) -> tuple[AxisName, ...]:
    """Named axes over which the cotangent of an operand of a contraction has to be summed.

    Those collective ones that another operand varies over or the contraction sums over, while the
    operand is one value along them.
    """
    names = reading.axes_to_sum(operand, *operands)
    if axis_names:
        own = aval_of(operand).names
        names += tuple(
            [s for s in axis_names if s in reading.collective and s not in own and s not in names]
        )
    return names


def cast_to_common(ct: Any, other: Any, dtype: Any) -> tuple[Any, Any]:
    """Give a cotangent and the other operand of a product the wider of their two dtypes.

    They differ where `preferred_element_type` gave the result another dtype than the operands'.
    """
    ct_dtype = aval_of(ct).dtype
    if ct_dtype == dtype:
        return ct, other
    if ct_dtype.itemsize > dtype.itemsize:
        return ct, lax.convert_element_type(other, ct_dtype)
    return lax.convert_element_type(ct, dtype), other


def cast_to(x: Any, dtype: Any) -> Any:
    """Convert where the dtype differs."""
    return x if aval_of(x).dtype == dtype else lax.convert_element_type(x, dtype)


def _inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    inverse = [0] * len(permutation)
    for position, dim in enumerate(permutation):
        inverse[dim] = position
    return tuple(inverse)


def _dot_general_transpose(
    reading: Reading,
    ct: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> tuple[Any, Any]:
    (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = dimension_numbers
    left = is_linear(lhs)
    # `x` is the operand to give a cotangent for, `y` the known one.
    x, y = (lhs, rhs) if left else (rhs, lhs)
    x_aval, y_ndim = aval_of(x), aval_of(y).ndim
    x_contracting, y_contracting = (
        (lhs_contracting, rhs_contracting) if left else (rhs_contracting, lhs_contracting)
    )
    x_batch, y_batch = (lhs_batch, rhs_batch) if left else (rhs_batch, lhs_batch)
    x_free = free_dimensions(x_aval.ndim, x_contracting, x_batch)
    y_free = free_dimensions(y_ndim, y_contracting, y_batch)

    # Dimensions of ct: batch, free of lhs, free of rhs.
    n = len(x_batch)
    ct_batch = tuple(range(n))
    first = n + len(x_free) if left else n
    ct_y_free = tuple(range(first, first + len(y_free)))

    # What is left of y's dimensions after the product are the contracted ones, in y's order.
    order = sorted(range(len(y_contracting)), key=y_contracting.__getitem__)
    contracted = tuple([x_contracting[k] for k in order])
    ct_first, y_first = (*x_batch, *x_free, *contracted), (*x_batch, *contracted, *x_free)
    natural = tuple(range(x_aval.ndim))

    names = axes_to_sum(reading, x, (lhs, rhs), axis_names)
    ct, y = cast_to_common(read_elementwise(reading, ct, axis_names), y, x_aval.dtype)
    params = {"precision": precision, "preferred_element_type": None, "axis_names": names}
    if precision is not None:
        # One precision belongs to ct, whose own was not asked for, and one to y.
        y_precision = precision[1] if left else precision[0]
        params["precision"] = (y_precision, y_precision)
    # Either order of the two factors is right: take the one that gives x's layout, if one does, and
    # of two that do the one in which a mapped cotangent keeps its axis in front.
    if y_first == natural != ct_first:
        numbers = ((y_free, ct_y_free), (y_batch, ct_batch))
        out = dot_general_p.bind(y, ct, dimension_numbers=numbers, **params)
        layout = y_first
    else:
        numbers = ((ct_y_free, y_free), (ct_batch, y_batch))
        out = dot_general_p.bind(ct, y, dimension_numbers=numbers, **params)
        layout = ct_first
    if layout != natural:
        out = lax.transpose(out, _inverse(layout))
    out = cast_to(out, x_aval.dtype)
    return (out, None) if left else (None, out)


defjvp(
    dot_general_p,
    lambda t, out, lhs, rhs, **params: dot_general_p.bind(t, rhs, **params),
    lambda t, out, lhs, rhs, **params: dot_general_p.bind(lhs, t, **params),
)
register_transpose(dot_general_p, _dot_general_transpose, sums_named_axes=True)
