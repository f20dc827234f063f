"""What the primitives of `primitives/indexing.py` mean, in NumPy's words.

Gather and scatter become NumPy's own advanced indexing: one index array for each dimension of the
operand, in which batch dimensions come first and the dimensions of the window follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..primitives import indexing as p
from ..primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    no_value,
)
from ..types.avals import AxisName
from .reductions import refuse_named_axes
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def _starts(
    shape: Shape,
    indices: NDArray,
    window: Sequence[int],
    index_map: Shape,
    operand_batching: Shape,
    indices_batching: Shape,
    mode: GatherScatterMode,
) -> tuple[list[Any], NDArray | None]:
    """Start of each window in each dimension, clipped; and which windows lie inside."""
    batch = indices.shape[:-1]
    starts: list[Any] = [0] * len(shape)
    inside = None if mode != GatherScatterMode.FILL_OR_DROP else np.ones(batch, bool)
    for k, d in enumerate(index_map):
        last = shape[d] - window[d]
        index = indices[..., k]
        if index.dtype == np.uint64:
            index = np.minimum(index, np.uint64(2**63 - 1))
        index = index.astype(np.int64)
        if inside is not None:
            inside &= (index >= 0) & (index <= last)
        starts[d] = np.clip(index, 0, last)
    for d, b in zip(operand_batching, indices_batching, strict=True):
        starts[d] = np.arange(shape[d]).reshape([-1 if i == b else 1 for i in range(len(batch))])
    return starts, inside


def _index_arrays(
    starts: Sequence[Any], batch_ndim: int, window: Sequence[int], shape: Shape
) -> tuple[Any, ...]:
    """Index arrays that broadcast to the batch dimensions and then the window's.

    There is none for trailing dimensions that a window holds whole, which NumPy then copies whole.
    """
    ndim = len(shape)
    while ndim and type(starts[ndim - 1]) is int and window[ndim - 1] == shape[ndim - 1]:
        ndim -= 1
    window = window[:ndim]
    arrays = []
    for d, (start, size) in enumerate(zip(starts, window, strict=False)):
        offset = np.arange(size).reshape([-1 if i == d else 1 for i in range(ndim)])
        start = np.asarray(start)
        arrays.append(start.reshape(*start.shape, *[1] * ndim) + offset)
    # Starts of unindexed dimensions are scalars; give all arrays the batch dimensions.
    return tuple([a.reshape([1] * (batch_ndim + ndim - a.ndim) + list(a.shape)) for a in arrays])


def _gather(
    operand: NDArray,
    indices: NDArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> NDArray:
    n = dimension_numbers
    indices = np.atleast_1d(indices)
    batch = indices.shape[:-1]
    starts, inside = _starts(
        operand.shape,
        indices,
        slice_sizes,
        n.start_index_map,
        n.operand_batching_dims,
        n.start_indices_batching_dims,
        mode,
    )
    full = (*batch, *slice_sizes)
    if batch:
        index = _index_arrays(starts, len(batch), slice_sizes, operand.shape)
        out = np.broadcast_to(operand[index], full)
    else:
        out = operand[_box(operand.shape, slice_sizes, starts)]
    if inside is not None:
        fill = no_value(operand.dtype) if fill_value is None else fill_value
        mask = inside.reshape(*batch, *[1] * operand.ndim)
        out = np.where(mask, out, np.asarray(fill).astype(operand.dtype))
    dropped = (*n.collapsed_slice_dims, *n.operand_batching_dims)
    out = np.squeeze(out, tuple([len(batch) + d for d in dropped]))
    ndim = out.ndim
    places = [d for d in range(ndim) if d not in n.offset_dims] + list(n.offset_dims)
    return np.moveaxis(out, range(ndim), places)


Combine = Callable[[NDArray, tuple[Any, ...], NDArray], None]


def _replace(out: NDArray, index: tuple[Any, ...], updates: NDArray) -> None:
    out[index] = updates


def _with(ufunc: Any) -> Combine:
    def combine(out: NDArray, index: tuple[Any, ...], updates: NDArray) -> None:
        with np.errstate(all="ignore"):
            ufunc.at(out, index, updates)

    return combine


def _scatter(
    combine: Combine,
    operand: NDArray,
    indices: NDArray,
    updates: NDArray,
    n: ScatterDimensionNumbers,
    mode: GatherScatterMode,
) -> NDArray:
    indices = np.atleast_1d(indices)
    batch = indices.shape[:-1]
    windows = p.window_dims(operand.ndim, n.inserted_window_dims, n.operand_batching_dims)
    window = [1] * operand.ndim
    for d, u in zip(windows, n.update_window_dims, strict=True):
        window[d] = updates.shape[u]
    starts, inside = _starts(
        operand.shape,
        indices,
        window,
        n.scatter_dims_to_operand_dims,
        n.operand_batching_dims,
        n.scatter_indices_batching_dims,
        mode,
    )
    full = (*batch, *window)
    order = p.window_dims(updates.ndim, n.update_window_dims) + list(n.update_window_dims)
    updates = updates.transpose(order).reshape(full)
    # One more dimension in front, so that there is something to index.
    out = operand[None].copy()
    shape = out.shape
    index = _index_arrays([np.zeros(batch, np.int64), *starts], len(batch), [1, *window], shape)
    updates = updates.reshape(*batch, 1, *window)
    if inside is not None:
        # Only the windows that lie inside; the batch dimensions become one.
        index = tuple([np.broadcast_to(a, (*batch, *a.shape[len(batch) :]))[inside] for a in index])
        updates = updates[inside]
    combine(out, index, updates)
    return out.reshape(operand.shape)


def _scatter_rule(combine: Combine) -> Any:
    def rule(
        operand: NDArray,
        indices: NDArray,
        updates: NDArray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        indices_are_sorted: bool,
        unique_indices: bool,
        mode: GatherScatterMode,
        axis_names: tuple[AxisName, ...] = (),
    ) -> NDArray:
        refuse_named_axes("scatter_add", axis_names)
        return _scatter(combine, operand, indices, updates, dimension_numbers, mode)

    return rule


def _box(shape: Shape, sizes: Shape, starts: Sequence[NDArray]) -> tuple[slice, ...]:
    box = []
    for size, n, start in zip(shape, sizes, starts, strict=True):
        first = min(max(int(start), 0), size - n)
        box.append(slice(first, first + n))
    return tuple(box)


def _dynamic_slice(operand: NDArray, *starts: NDArray, slice_sizes: Shape) -> NDArray:
    part: NDArray = operand[_box(operand.shape, slice_sizes, starts)]
    return part


def _dynamic_update_slice(operand: NDArray, update: NDArray, *starts: NDArray) -> NDArray:
    out = operand.copy()
    out[_box(operand.shape, update.shape, starts)] = update
    return out


register_evaluation(p.gather_p, _gather)
register_evaluation(p.scatter_p, _scatter_rule(_replace))
register_evaluation(p.scatter_add_p, _scatter_rule(_with(np.add)))
register_evaluation(p.scatter_mul_p, _scatter_rule(_with(np.multiply)))
register_evaluation(p.scatter_min_p, _scatter_rule(_with(np.minimum)))
register_evaluation(p.scatter_max_p, _scatter_rule(_with(np.maximum)))
register_evaluation(p.dynamic_slice_p, _dynamic_slice)
register_evaluation(p.dynamic_update_slice_p, _dynamic_update_slice)
