"""Derivatives of reading and writing at computed positions.

Reading is linear in the operand, and its transpose adds into zeros at the same positions, under the
same mode: what was clipped when reading is clipped when adding, what read the fill value adds
nothing. The sum over collective axes happens in that same addition (`axis_names`), so a table that
does not vary over a mapped axis never has one cotangent per index of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.extend import Zero, add_tangents, instantiate
from axonym_core.primitives import indexing as p
from axonym_core.primitives.collectives import psum_p
from axonym_core.primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Reading, is_linear, register_jvp, register_transpose

Shape = tuple[int, ...]
Values = Sequence[Any]


def _zeros(x: Any) -> Any:
    """Zeros of the type of an operand; they do not vary over named axes."""
    aval = aval_of(x)
    return lax.full(aval.shape, 0, aval.dtype)


def _window_sizes(operand: Any, updates: Any, n: ScatterDimensionNumbers) -> Shape:
    sizes = [1] * aval_of(operand).ndim
    windows = p.window_dims(len(sizes), n.inserted_window_dims, n.operand_batching_dims)
    for d, u in zip(windows, n.update_window_dims, strict=True):
        sizes[d] = aval_of(updates).shape[u]
    return tuple(sizes)


def gather_updates(
    x: Any,
    indices: Any,
    window: Shape,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> Any:
    """Read what a scatter with these parameters would write, or have written."""
    return p.gather_p.bind(
        x,
        indices,
        dimension_numbers=GatherDimensionNumbers(*dimension_numbers),
        slice_sizes=window,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        fill_value=fill_value,
    )


def _gather_jvp(primals: Values, tangents: Values, **params: Any) -> tuple[Any, Any]:
    operand, indices = primals
    out = p.gather_p.bind(operand, indices, **params)
    zero = aval_of(operand).dtype.type(0)
    return out, p.gather_p.bind(tangents[0], indices, **{**params, "fill_value": zero})


def _gather_transpose(
    reading: Reading,
    ct: Any,
    operand: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> list[Any]:
    out = p.scatter_add_p.bind(
        _zeros(operand),
        indices,
        ct,
        dimension_numbers=ScatterDimensionNumbers(*dimension_numbers),
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        axis_names=reading.axes_to_sum(operand, indices),
    )
    return [out, None]


def _psum(x: Any, axes: Sequence[AxisName]) -> Any:
    return psum_p.bind(x, axes=tuple(axes)) if axes else x


def _missing(
    reading: Reading, x: Any, operands: Values, axis_names: tuple[AxisName, ...]
) -> tuple[AxisName, ...]:
    """Collective axes over which the cotangent for operand `x` has to be summed."""
    own = aval_of(x).names
    named = [a for a in axis_names if a in reading.collective and a not in own]
    return (*named, *[a for a in reading.axes_to_sum(x, *operands) if a not in named])


def _scatter_add_jvp(primals: Values, tangents: Values, **params: Any) -> tuple[Any, Any]:
    operand, indices, updates = primals
    out = p.scatter_add_p.bind(operand, indices, updates, **params)
    t, _, t_updates = tangents
    if type(t_updates) is Zero and not params["axis_names"]:
        return out, t
    return out, p.scatter_add_p.bind(instantiate(t), indices, instantiate(t_updates), **params)


def _scatter_add_transpose(
    reading: Reading,
    ct: Any,
    operand: Any,
    indices: Any,
    updates: Any,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    axis_names: tuple[AxisName, ...],
) -> list[Any]:
    operands = (operand, indices, updates)
    ct = _psum(ct, [a for a in axis_names if a not in reading.collective])
    ct_operand = ct_updates = None
    if is_linear(operand):
        ct_operand = _psum(ct, _missing(reading, operand, operands, axis_names))
    if is_linear(updates):
        ct_updates = gather_updates(
            ct,
            indices,
            _window_sizes(operand, updates, dimension_numbers),
            dimension_numbers=dimension_numbers,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            fill_value=aval_of(ct).dtype.type(0),
        )
        ct_updates = _psum(ct_updates, _missing(reading, updates, operands, axis_names))
    return [ct_operand, None, ct_updates]


def _scatter_jvp(primals: Values, tangents: Values, **params: Any) -> tuple[Any, Any]:
    operand, indices, updates = primals
    t, _, t_updates = tangents
    out = p.scatter_p.bind(operand, indices, updates, **params)
    # Linear in both: the update that stays for values stays for tangents.
    return out, p.scatter_p.bind(instantiate(t), indices, instantiate(t_updates), **params)


def _scatter_transpose(
    reading: Reading, ct: Any, operand: Any, indices: Any, updates: Any, **params: Any
) -> list[Any]:
    ct_operand = ct_updates = None
    if is_linear(operand):
        ct_operand = p.scatter_p.bind(ct, indices, _zeros(updates), **params)
    if is_linear(updates):
        window = _window_sizes(operand, updates, params["dimension_numbers"])
        zero = aval_of(ct).dtype.type(0)
        ct_updates = gather_updates(ct, indices, window, **params, fill_value=zero)
        if not params["unique_indices"] and aval_of(indices).ndim > 1:
            stayed = _stayed(operand, indices, updates, window, params)
            ct_updates = lax.select(stayed, ct_updates, zero)
    return [ct_operand, None, ct_updates]


def _stayed(operand: Any, indices: Any, updates: Any, window: Shape, params: dict[str, Any]) -> Any:
    """Which elements of the updates were not overwritten by later ones: write their numbers."""
    aval = aval_of(updates)
    dtype = np.dtype(np.int32 if aval.size < 2**31 else np.int64)
    numbers = lax.reshape(lax.iota(dtype, aval.size), aval.shape)
    unwritten = lax.full(aval_of(operand).shape, -1, dtype)
    written = p.scatter_p.bind(unwritten, indices, numbers, **params)
    read = gather_updates(written, indices, window, **params, fill_value=dtype.type(-1))
    return lax.eq(read, numbers)


def _scatter_mul_jvp(primals: Values, tangents: Values, **params: Any) -> tuple[Any, Any]:
    operand, indices, updates = primals
    t, _, t_updates = tangents
    out = p.scatter_mul_p.bind(operand, indices, updates, **params)
    tangent: Any = Zero(aval_of(out).to_tangent())
    if type(t) is not Zero:
        tangent = p.scatter_mul_p.bind(t, indices, updates, **params)
    if type(t_updates) is not Zero:
        others = _other_factors(operand, indices, updates, params)
        part = p.scatter_add_p.bind(
            _zeros(operand), indices, lax.mul(t_updates, others), **params, axis_names=()
        )
        tangent = add_tangents(tangent, part)
    return out, tangent


def _other_factors(operand: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    """For each update, the product of the operand and all other updates of the same element.

    Without division by zero: zeros among the updates are counted, not multiplied.
    """
    window = _window_sizes(operand, updates, params["dimension_numbers"])
    zero, one = (aval_of(updates).dtype.type(n) for n in (0, 1))

    def read(x: Any) -> Any:
        return gather_updates(x, indices, window, **params, fill_value=zero)

    if params["unique_indices"] or aval_of(indices).ndim < 2:
        return read(operand)
    vanish = lax.eq(updates, zero)
    nonzero = lax.select(vanish, one, updates)
    product = p.scatter_mul_p.bind(operand, indices, nonzero, **params)
    ones = lax.select(vanish, lax.full(aval_of(updates).shape, 1, aval_of(updates).dtype), zero)
    zeros = p.scatter_add_p.bind(_zeros(operand), indices, ones, **params, axis_names=())
    other_zeros = lax.sub(read(zeros), ones)
    return lax.select(lax.eq(other_zeros, zero), lax.div(read(product), nonzero), zero)


def _scatter_mul_transpose(
    reading: Reading, ct: Any, operand: Any, indices: Any, updates: Any, **params: Any
) -> list[Any]:
    return [p.scatter_mul_p.bind(ct, indices, updates, **params), None, None]


def _register_extreme(primitive: Primitive) -> None:
    def jvp(primals: Values, tangents: Values, **params: Any) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        out = primitive.bind(operand, indices, updates, **params)
        window = _window_sizes(operand, updates, params["dimension_numbers"])
        # Winners share the derivative equally, the operand's own element among them.
        dtype = aval_of(out).dtype
        zero, one = dtype.type(0), dtype.type(1)
        read = gather_updates(out, indices, window, **params, fill_value=None)
        kept = lax.eq(operand, out)
        won = lax.eq(updates, read)

        def scatter(x: Any, y: Any) -> Any:
            return p.scatter_add_p.bind(x, indices, y, **params, axis_names=())

        counts = [
            lax.select(mask, lax.full(aval_of(mask).shape, 1, dtype), zero) for mask in (kept, won)
        ]
        share = lax.div(one, scatter(*counts))
        parts = [
            _zeros(x) if type(dx) is Zero else lax.select(mask, dx, zero)
            for x, dx, mask in ((operand, t, kept), (updates, t_updates, won))
        ]
        return out, lax.mul(scatter(*parts), share)

    register_jvp(primitive, jvp)


def _dynamic_slice_jvp(primals: Values, tangents: Values, *, slice_sizes: Shape) -> tuple[Any, Any]:
    operand, *starts = primals
    out = p.dynamic_slice_p.bind(operand, *starts, slice_sizes=slice_sizes)
    return out, p.dynamic_slice_p.bind(tangents[0], *starts, slice_sizes=slice_sizes)


def _dynamic_slice_transpose(
    reading: Reading, ct: Any, operand: Any, *starts: Any, slice_sizes: Shape
) -> list[Any]:
    rest = [None] * len(starts)
    axes = reading.axes_to_sum(operand, *starts)
    if not axes:
        return [p.dynamic_update_slice_p.bind(_zeros(operand), ct, *starts), *rest]
    dims = tuple(range(len(slice_sizes)))
    out = p.scatter_add_p.bind(
        _zeros(operand),
        lax.concatenate([lax.reshape(s, (1,)) for s in starts], 0),
        ct,
        dimension_numbers=ScatterDimensionNumbers(dims, (), dims),
        indices_are_sorted=True,
        unique_indices=True,
        mode=GatherScatterMode.CLIP,
        axis_names=axes,
    )
    return [out, *rest]


def _dynamic_update_slice_jvp(primals: Values, tangents: Values) -> tuple[Any, Any]:
    operand, update, *starts = primals
    t, t_update, *_ = tangents
    out = p.dynamic_update_slice_p.bind(operand, update, *starts)
    tangent = p.dynamic_update_slice_p.bind(instantiate(t), instantiate(t_update), *starts)
    return out, tangent


def _dynamic_update_slice_transpose(
    reading: Reading, ct: Any, operand: Any, update: Any, *starts: Any
) -> list[Any]:
    ct_operand = ct_update = None
    if is_linear(operand):
        ct_operand = p.dynamic_update_slice_p.bind(ct, _zeros(update), *starts)
    if is_linear(update):
        sizes = aval_of(update).shape
        ct_update = p.dynamic_slice_p.bind(ct, *starts, slice_sizes=sizes)
    return [ct_operand, ct_update, *[None] * len(starts)]


register_jvp(p.gather_p, _gather_jvp)
register_transpose(p.gather_p, _gather_transpose, sums_named_axes=True)
register_jvp(p.scatter_add_p, _scatter_add_jvp)
register_transpose(p.scatter_add_p, _scatter_add_transpose, sums_named_axes=True)
register_jvp(p.scatter_p, _scatter_jvp)
register_transpose(p.scatter_p, _scatter_transpose)
register_jvp(p.scatter_mul_p, _scatter_mul_jvp)
register_transpose(p.scatter_mul_p, _scatter_mul_transpose)
_register_extreme(p.scatter_min_p)
_register_extreme(p.scatter_max_p)
register_jvp(p.dynamic_slice_p, _dynamic_slice_jvp)
register_transpose(p.dynamic_slice_p, _dynamic_slice_transpose, sums_named_axes=True)
register_jvp(p.dynamic_update_slice_p, _dynamic_update_slice_jvp)
register_transpose(p.dynamic_update_slice_p, _dynamic_update_slice_transpose)
