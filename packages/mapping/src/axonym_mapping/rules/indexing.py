"""Batching of reading and writing at computed positions: it stays one gather, one scatter.

Where only the operand is mapped, the axis becomes a dimension of the windows; where only the
indices are, one more dimension of index vectors, and the operand (a table, say) is never repeated;
where both are, a batching dimension of both. A `scatter_add` that also sums over the mapped axis
(`axis_names`) adds all its updates into one unmapped operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.primitives import indexing as p
from axonym_core.primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Dim, MappedAxis, move_dim, register_batching
from .reductions import times_size

Args = Sequence[Any]
Dims = Sequence[Dim]
Shape = tuple[int, ...]


def _shifted(dims: Shape, at: int) -> Shape:
    """Dimension numbers after a new dimension was inserted at `at`."""
    return tuple([d + (d >= at) for d in dims])


def _inserted(values: Shape, at: int, value: int) -> Shape:
    return (*values[:at], value, *values[at:])


def _vectors_in_front(indices: Any, d: int, size: int) -> Any:
    """Index vectors with the mapped axis as their first dimension."""
    if aval_of(indices).ndim == 1:  # at each index of the axis a scalar, which is one component
        return lax.broadcast_in_dim(indices, (size, 1), (0,))
    return move_dim(indices, d, 0, size)


def _with_window_dim(
    numbers: tuple[Shape, ...], operand_dim: int, operand_ndim: int
) -> tuple[tuple[Shape, ...], int]:
    """Dimension numbers when the operand has a new dimension that each window holds whole.

    Also where that dimension lies in the result of a gather, or in the updates of a scatter. (The
    fields of both kinds of dimension numbers mean the same, in the same order.)
    """
    offset, dropped, index_map, operand_batching, indices_batching = numbers
    dropped = _shifted(dropped, operand_dim)
    operand_batching = _shifted(operand_batching, operand_dim)
    windows = p.window_dims(operand_ndim, dropped, operand_batching)
    k = windows.index(operand_dim)
    # In the place of the next dimension of the window, or behind the last.
    place = offset[k] if k < len(offset) else (offset[-1] + 1 if offset else 0)
    offset = _inserted(_shifted(offset, place), k, place)
    index_map = _shifted(index_map, operand_dim)
    return (offset, dropped, index_map, operand_batching, indices_batching), place


def _with_index_dim(numbers: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Dimension numbers when the indices, and so the result or the updates, have one in front."""
    offset, dropped, index_map, operand_batching, indices_batching = numbers
    return (
        tuple([d + 1 for d in offset]),
        dropped,
        index_map,
        operand_batching,
        tuple([d + 1 for d in indices_batching]),
    )


def _with_batching_dim(numbers: tuple[Shape, ...], operand_dim: int) -> tuple[Shape, ...]:
    """Dimension numbers when indices (in front) and operand have a new dimension in common."""
    offset, dropped, index_map, operand_batching, indices_batching = _with_index_dim(numbers)
    pairs = [
        (operand_dim, 0),
        *zip(_shifted(operand_batching, operand_dim), indices_batching, strict=True),
    ]
    pairs.sort()
    return (
        offset,
        _shifted(dropped, operand_dim),
        _shifted(index_map, operand_dim),
        tuple([d for d, _ in pairs]),
        tuple([d for _, d in pairs]),
    )


def _gather(
    axis: MappedAxis,
    args: Args,
    dims: Dims,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> tuple[Any, Dim]:
    (operand, indices), (d, d_indices) = args, dims
    if d_indices is None:
        assert d is not None
        ndim = aval_of(operand).ndim
        numbers, out_dim = _with_window_dim(dimension_numbers, d, ndim)
        slice_sizes = _inserted(slice_sizes, d, axis.size)
    else:
        indices = _vectors_in_front(indices, d_indices, axis.size)
        out_dim = 0
        if d is None:
            numbers = _with_index_dim(dimension_numbers)
            # The same element may be read at several indices of the axis.
            indices_are_sorted = unique_indices = False
        else:
            numbers = _with_batching_dim(dimension_numbers, d)
            slice_sizes = _inserted(slice_sizes, d, 1)
    out = p.gather_p.bind(
        operand,
        indices,
        dimension_numbers=GatherDimensionNumbers(*numbers),
        slice_sizes=slice_sizes,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        fill_value=fill_value,
    )
    return out, out_dim


def _scatter_over_batch(
    bind: Callable[..., Any],
    axis: MappedAxis,
    args: Args,
    dims: Dims,
    numbers: ScatterDimensionNumbers,
) -> tuple[Any, Dim]:
    """A scatter into an operand for each index of the axis."""
    (operand, indices, updates), (d, d_indices, d_updates) = args, dims
    if d is None:
        d = 0
        operand = move_dim(operand, None, 0, axis.size)
    if d_indices is None:
        new, place = _with_window_dim(numbers, d, aval_of(operand).ndim)
        updates = move_dim(updates, d_updates, place, axis.size)
    else:
        new = _with_batching_dim(numbers, d)
        indices = _vectors_in_front(indices, d_indices, axis.size)
        updates = move_dim(updates, d_updates, 0, axis.size)
    return bind(operand, indices, updates, dimension_numbers=ScatterDimensionNumbers(*new)), d


def _register_scatter(primitive: Primitive) -> None:
    def rule(
        axis: MappedAxis,
        args: Args,
        dims: Dims,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        indices_are_sorted: bool,
        unique_indices: bool,
        mode: GatherScatterMode,
    ) -> tuple[Any, Dim]:
        def bind(*operands: Any, dimension_numbers: ScatterDimensionNumbers) -> Any:
            return primitive.bind(
                *operands,
                dimension_numbers=dimension_numbers,
                indices_are_sorted=indices_are_sorted,
                unique_indices=unique_indices,
                mode=mode,
            )

        return _scatter_over_batch(bind, axis, args, dims, dimension_numbers)

    register_batching(primitive, rule)


def _scatter_add(
    axis: MappedAxis,
    args: Args,
    dims: Dims,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    axis_names: tuple[AxisName, ...],
) -> tuple[Any, Dim]:
    summed = axis.name in axis_names
    repeated = summed and dims[1] is not None
    if summed:
        axis_names = tuple([name for name in axis_names if name != axis.name])

    def bind(*operands: Any, dimension_numbers: ScatterDimensionNumbers) -> Any:
        return p.scatter_add_p.bind(
            *operands,
            dimension_numbers=dimension_numbers,
            indices_are_sorted=indices_are_sorted and not repeated,
            unique_indices=unique_indices and not repeated,
            mode=mode,
            axis_names=axis_names,
        )

    if not summed:
        return _scatter_over_batch(bind, axis, args, dims, dimension_numbers)
    (operand, indices, updates), (d, d_indices, d_updates) = args, dims
    operand = times_size(operand, axis) if d is None else lax.reduce_sum(operand, (d,))
    if d_indices is None:
        # The same places at every index of the axis: add up what is written there first.
        updates = (
            times_size(updates, axis)
            if d_updates is None
            else lax.reduce_sum(updates, (d_updates,))
        )
        return bind(operand, indices, updates, dimension_numbers=dimension_numbers), None
    indices = _vectors_in_front(indices, d_indices, axis.size)
    updates = move_dim(updates, d_updates, 0, axis.size)
    numbers = ScatterDimensionNumbers(*_with_index_dim(dimension_numbers))
    return bind(operand, indices, updates, dimension_numbers=numbers), None


def _index_vector(starts: Sequence[Any], dims: Dims, size: int) -> tuple[Any, Dim]:
    """Start indices as the components of one index vector."""
    mapped = any(d is not None for d in dims)
    columns = []
    for start, d in zip(starts, dims, strict=True):
        if d is None:
            columns.append(lax.broadcast_in_dim(start, (size, 1) if mapped else (1,), ()))
        else:
            columns.append(lax.broadcast_in_dim(start, (size, 1), (0,)))
    return lax.concatenate(columns, 1 if mapped else 0), 0 if mapped else None


def _dynamic_slice(
    axis: MappedAxis, args: Args, dims: Dims, *, slice_sizes: Shape
) -> tuple[Any, Dim]:
    (operand, *starts), (d, *d_starts) = args, dims
    if not any(k is not None for k in d_starts):
        assert d is not None
        zero = aval_of(starts[0]).dtype.type(0) if starts else 0
        out = p.dynamic_slice_p.bind(
            operand,
            *starts[:d],
            zero,
            *starts[d:],
            slice_sizes=_inserted(slice_sizes, d, axis.size),
        )
        return out, d
    indices, d_indices = _index_vector(starts, d_starts, axis.size)
    whole = tuple(range(len(slice_sizes)))
    return _gather(
        axis,
        (operand, indices),
        (d, d_indices),
        dimension_numbers=GatherDimensionNumbers(whole, (), whole),
        slice_sizes=slice_sizes,
        indices_are_sorted=True,
        unique_indices=True,
        mode=GatherScatterMode.CLIP,
        fill_value=None,
    )


def _dynamic_update_slice(axis: MappedAxis, args: Args, dims: Dims) -> tuple[Any, Dim]:
    (operand, update, *starts), (d, d_update, *d_starts) = args, dims
    if not any(k is not None for k in d_starts):
        at = d if d is not None else 0
        operand = move_dim(operand, d, at, axis.size)
        update = move_dim(update, d_update, at, axis.size)
        zero = aval_of(starts[0]).dtype.type(0) if starts else 0
        out = p.dynamic_update_slice_p.bind(operand, update, *starts[:at], zero, *starts[at:])
        return out, at
    indices, d_indices = _index_vector(starts, d_starts, axis.size)
    whole = tuple(range(len(starts)))

    def bind(*operands: Any, dimension_numbers: ScatterDimensionNumbers) -> Any:
        return p.scatter_p.bind(
            *operands,
            dimension_numbers=dimension_numbers,
            indices_are_sorted=True,
            unique_indices=True,
            mode=GatherScatterMode.CLIP,
        )

    return _scatter_over_batch(
        bind,
        axis,
        (operand, indices, update),
        (d, d_indices, d_update),
        ScatterDimensionNumbers(whole, (), whole),
    )


register_batching(p.gather_p, _gather)
register_batching(p.scatter_add_p, _scatter_add)
for _primitive in (p.scatter_p, p.scatter_mul_p, p.scatter_min_p, p.scatter_max_p):
    _register_scatter(_primitive)
register_batching(p.dynamic_slice_p, _dynamic_slice)
register_batching(p.dynamic_update_slice_p, _dynamic_update_slice)
