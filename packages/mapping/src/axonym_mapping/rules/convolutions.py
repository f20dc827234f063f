"""Batching of convolutions: the mapped axis joins the batch, the features or the groups.

Mapped inputs join the batch and mapped kernels the output features; where both are mapped, each
index becomes a group of features. Where the convolution sums over the mapped axis (`axis_names`),
it joins the features that are summed over: the total gradient of a kernel over a mapped axis is one
convolution.
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
)
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Dim, MappedAxis, register_batching
from .reductions import times_size


def _merge(x: Any, mapped: int, into: int, groups: int = 1) -> Any:
    """Make the mapped dimension part of another one, between its group number and the rest.

    Args:
        x: Array.
        mapped: The mapped dimension.
        into: The other dimension, as it is numbered without the mapped one.
        groups: How many groups the other dimension is cut into.
    """
    order = [i for i in range(aval_of(x).ndim) if i != mapped]
    shape = [aval_of(x).shape[i] for i in order]
    size = aval_of(x).shape[mapped]
    order.insert(into, mapped)
    if groups > 1:
        target = order[into + 1]
        # Cut the dimension into (group, rest), and put the mapped one between the two.
        full = list(aval_of(x).shape)
        split = [*full[:target], groups, full[target] // groups, *full[target + 1 :]]
        x = lax.reshape(x, split)
        order = [i + (i > target) for i in order]
        order[into + 1] = target + 1
        order.insert(into, target)
    x = lax.transpose(x, order)
    shape[into] *= size
    return lax.reshape(x, shape)


def _unmerge(x: Any, dim: int, size: int, groups: int = 1) -> tuple[Any, int]:
    """Take the mapped dimension out of another one, as it was put there; it comes first in it."""
    shape = list(aval_of(x).shape)
    rest = shape[dim] // size // groups
    if groups == 1:
        return lax.reshape(x, [*shape[:dim], size, rest, *shape[dim + 1 :]]), dim
    x = lax.reshape(x, [*shape[:dim], groups, size, rest, *shape[dim + 1 :]])
    order = list(range(len(shape) + 2))
    order[dim], order[dim + 1] = dim + 1, dim
    x = lax.transpose(x, order)
    return lax.reshape(x, [*shape[:dim], size, groups * rest, *shape[dim + 1 :]]), dim


def _conv_general_dilated(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
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
) -> tuple[Any, Dim]:
    lhs, rhs = args
    d1, d2 = dims
    contracts = axis.name in axis_names
    if contracts:
        axis_names = tuple([name for name in axis_names if name != axis.name])

    def convolve(x: Any, kernels: Any, feature_groups: int, batch_groups: int) -> Any:
        return conv_general_dilated_p.bind(
            x,
            kernels,
            window_strides=window_strides,
            padding=padding,
            lhs_dilation=lhs_dilation,
            rhs_dilation=rhs_dilation,
            dimension_numbers=dimension_numbers,
            feature_group_count=feature_groups,
            batch_group_count=batch_groups,
            precision=precision,
            preferred_element_type=preferred_element_type,
            axis_names=axis_names,
        )

    lhs_spec, rhs_spec, out_spec = dimension_numbers
    if contracts:
        if d1 is not None and d2 is not None:
            lhs = _merge(lhs, d1, lhs_spec[1], feature_group_count)
            rhs = _merge(rhs, d2, rhs_spec[1])
            return convolve(lhs, rhs, feature_group_count, batch_group_count), None
        # The convolution is linear in the one operand that varies: sum that one first.
        if d1 is not None:
            lhs = lax.reduce_sum(lhs, (d1,))
        elif d2 is not None:
            rhs = lax.reduce_sum(rhs, (d2,))
        out = convolve(lhs, rhs, feature_group_count, batch_group_count)
        return (out, None) if d1 is not None or d2 is not None else (times_size(out, axis), None)
    if d1 is not None and d2 is not None:
        if batch_group_count > 1:
            lhs = _merge(lhs, d1, lhs_spec[0])
            groups = (1, batch_group_count * axis.size)
        else:
            lhs = _merge(lhs, d1, lhs_spec[1])
            groups = (feature_group_count * axis.size, 1)
        out = convolve(lhs, _merge(rhs, d2, rhs_spec[0]), *groups)
        return _unmerge(out, out_spec[1], axis.size)
    if d1 is not None:
        lhs = _merge(lhs, d1, lhs_spec[0], batch_group_count)
        out = convolve(lhs, rhs, feature_group_count, batch_group_count)
        return _unmerge(out, out_spec[0], axis.size)
    assert d2 is not None
    groups_of_kernels = max(feature_group_count, batch_group_count)
    rhs = _merge(rhs, d2, rhs_spec[0], groups_of_kernels)
    out = convolve(lhs, rhs, feature_group_count, batch_group_count)
    return _unmerge(out, out_spec[1], axis.size, groups_of_kernels)


register_batching(conv_general_dilated_p, _conv_general_dilated)
