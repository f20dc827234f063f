"""StableHLO of reading and writing at computed positions.

StableHLO's gather clips, and its scatter drops; the other modes are written out here. One window at
one position is a dynamic slice or update slice, which the compiler can do in place and fuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_core.errors import InternalError
from axonym_core.primitives import indexing as p
from axonym_core.primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    no_value,
)
from axonym_core.types import AxisName, ShapedArray, dtypes

from .registry import LoweringContext, register_lowering
from .shape import box, numbers, reshape_to

Avals = Sequence[ShapedArray]
Shape = tuple[int, ...]

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)
_BOOL = np.dtype(np.bool_)
_FILL = GatherScatterMode.FILL_OR_DROP


def _wide_indices(ctx: LoweringContext, x: str, aval: ShapedArray) -> tuple[str, ShapedArray]:
    """Convert indices to a signed dtype that holds every position."""
    dtype = aval.dtype
    if dtype in (_INT32, _INT64):
        return x, aval
    if dtype == dtypes.uint64:
        largest = ctx.constant(np.uint64(2**63 - 1), aval)
        x = ctx.op(f"stablehlo.minimum {x}, {largest} : {ctx.type(aval)}")
    wide = dtype in (dtypes.uint32, dtypes.uint64)
    to = ShapedArray(aval.shape, _INT64 if wide else _INT32)
    return ctx.convert(x, aval, to), to


def _last_starts(shape: Shape, window: Sequence[int], indexed: Shape) -> list[int]:
    return [shape[d] - window[d] for d in indexed]


def _limits(ctx: LoweringContext, last: Sequence[int], aval: ShapedArray) -> str:
    """The last start in bounds, for each component of index vectors of a type."""
    if len(set(last)) < 2:
        return ctx.constant(last[0] if last else 0, aval)
    row = ShapedArray((len(last),), aval.dtype)
    limits = ctx.constant(np.asarray(last), row)
    return ctx.broadcast_in_dim(limits, row, aval, (aval.ndim - 1,))


def _clip(ctx: LoweringContext, x: str, aval: ShapedArray, last: Sequence[int]) -> str:
    zero = ctx.constant(0, aval)
    return ctx.op(f"stablehlo.clamp {zero}, {x}, {_limits(ctx, last, aval)} : {ctx.type(aval)}")


def _inside(ctx: LoweringContext, x: str, aval: ShapedArray, last: Sequence[int]) -> str:
    """Whether the window at each index vector lies inside: a truth value for each vector."""
    if not aval.ndim:
        vector = ShapedArray((1,), aval.dtype)
        return _inside(ctx, reshape_to(ctx, x, aval, vector), vector, last)
    flags = ShapedArray(aval.shape, _BOOL)
    out = ShapedArray(aval.shape[:-1], _BOOL)
    sides = []
    for direction, limit in (("GE", ctx.constant(0, aval)), ("LE", _limits(ctx, last, aval))):
        sides.append(
            ctx.op(
                f"stablehlo.compare {direction}, {x}, {limit} : "
                f"({ctx.type(aval)}, {ctx.type(aval)}) -> {ctx.type(flags)}"
            )
        )
    both = ctx.op(f"stablehlo.and {sides[0]}, {sides[1]} : {ctx.type(flags)}")
    if aval.shape[-1] == 1:
        return reshape_to(ctx, both, flags, out)
    scalar = ShapedArray((), _BOOL)
    true = ctx.constant(True, scalar)
    return ctx.op(
        f"stablehlo.reduce({both} init: {true}) applies stablehlo.and across dimensions = "
        f"[{aval.ndim - 1}] : ({ctx.type(flags)}, {ctx.type(scalar)}) -> {ctx.type(out)}"
    )


def _select(ctx: LoweringContext, mask: str, x: str, y: str, aval: ShapedArray) -> str:
    flags = ShapedArray(aval.shape, _BOOL)
    return ctx.op(f"stablehlo.select {mask}, {x}, {y} : {ctx.type(flags)}, {ctx.type(aval)}")


def _in_bounds(
    ctx: LoweringContext, start: str, scalar: ShapedArray, size: int, window: int
) -> str:
    """A start at which a window lies inside a dimension; what is known is computed here.

    XLA's dynamic slices move a window inside by themselves. But the compiler of jaxlib 0.10 makes
    one of two in a row by adding their starts, as if neither had to be moved.
    """
    last = size - window
    known = ctx.scope.scalars.get(start)
    if known is not None or last == 0:
        at = 0 if known is None else int(known[0])
        return ctx.constant(min(max(at, 0), last), scalar)
    zero, end = ctx.constant(0, scalar), ctx.constant(last, scalar)
    return ctx.op(f"stablehlo.clamp {zero}, {start}, {end} : {ctx.type(scalar)}")


def _scalar_starts(
    ctx: LoweringContext,
    vector: str,
    aval: ShapedArray,
    indexed: Shape,
    shape: Shape,
    window: Sequence[int],
) -> tuple[list[str], str]:
    """Components of one index vector as scalars, one for each dimension; and their type."""
    scalar = ShapedArray((), aval.dtype)
    single = ShapedArray((1,), aval.dtype)
    starts = [""] * len(shape)
    for k, d in enumerate(indexed):
        part = vector
        if aval.size > 1:
            part = box(ctx, vector, aval, single, (k,), (k + 1,), (1,))
        start = reshape_to(ctx, part, single if aval.ndim else aval, scalar)
        starts[d] = _in_bounds(ctx, start, scalar, shape[d], window[d])
    zero = "" if all(starts) else ctx.constant(0, scalar)
    return [s or zero for s in starts], ctx.type(scalar)


def _slice_at(
    ctx: LoweringContext,
    x: str,
    aval: ShapedArray,
    starts: Sequence[str],
    start_type: str,
    sizes: Sequence[int],
) -> tuple[str, ShapedArray]:
    out = ShapedArray(tuple(sizes), aval.dtype)
    if not starts:
        return x, out
    types = ", ".join([start_type] * len(starts))
    name = ctx.op(
        f"stablehlo.dynamic_slice {x}, {', '.join(starts)}, sizes = [{numbers(sizes)}] : "
        f"({ctx.type(aval)}, {types}) -> {ctx.type(out)}"
    )
    return name, out


def _update_at(
    ctx: LoweringContext,
    x: str,
    aval: ShapedArray,
    update: str,
    update_aval: ShapedArray,
    starts: Sequence[str],
    start_type: str,
) -> str:
    if not starts:
        return update
    types = ", ".join([start_type] * len(starts))
    return ctx.op(
        f"stablehlo.dynamic_update_slice {x}, {update}, {', '.join(starts)} : "
        f"({ctx.type(aval)}, {ctx.type(update_aval)}, {types}) -> {ctx.type(aval)}"
    )


def _gather(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    operand: str,
    indices: str,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> str:
    n = dimension_numbers
    aval, aval_indices = avals_in
    (out,) = avals_out
    indices, aval_indices = _wide_indices(ctx, indices, aval_indices)
    if aval_indices.ndim < 2:
        starts, start_type = _scalar_starts(
            ctx, indices, aval_indices, n.start_index_map, aval.shape, slice_sizes
        )
        name, part = _slice_at(ctx, operand, aval, starts, start_type, slice_sizes)
        name = reshape_to(ctx, name, part, out)
    else:
        fields = [
            f"{key} = [{numbers(dims)}]"
            for key, dims in (
                ("offset_dims", n.offset_dims),
                ("collapsed_slice_dims", n.collapsed_slice_dims),
                ("operand_batching_dims", n.operand_batching_dims),
                ("start_indices_batching_dims", n.start_indices_batching_dims),
                ("start_index_map", n.start_index_map),
            )
            if dims
        ]
        fields.append(f"index_vector_dim = {aval_indices.ndim - 1}")
        is_sorted = "true" if indices_are_sorted else "false"
        name = ctx.op(
            f'"stablehlo.gather"({operand}, {indices}) <{{dimension_numbers = '
            f"#stablehlo.gather<{', '.join(fields)}>, indices_are_sorted = {is_sorted}, "
            f"slice_sizes = array<i64{': ' if slice_sizes else ''}{numbers(slice_sizes)}>}}> : "
            f"({ctx.type(aval)}, {ctx.type(aval_indices)}) -> {ctx.type(out)}"
        )
    if mode != _FILL:
        return name
    last = _last_starts(aval.shape, slice_sizes, n.start_index_map)
    inside = _inside(ctx, indices, aval_indices, last)
    flags = ShapedArray(aval_indices.shape[:-1], _BOOL)
    batch_dims = p.window_dims(out.ndim, n.offset_dims)
    mask = ctx.broadcast_in_dim(inside, flags, ShapedArray(out.shape, _BOOL), batch_dims)
    fill = ctx.constant(no_value(out.dtype) if fill_value is None else fill_value, out)
    return _select(ctx, mask, name, fill, out)


def _combine(ctx: LoweringContext, operation: str | None, x: str, y: str, tensor: str) -> str:
    return y if operation is None else ctx.op(f"stablehlo.{operation} {x}, {y} : {tensor}")


def _scatter_one(
    ctx: LoweringContext,
    operation: str | None,
    avals_in: Avals,
    operand: str,
    indices: str,
    updates: str,
    n: ScatterDimensionNumbers,
    window: Shape,
    mode: GatherScatterMode,
) -> str:
    """A scatter of one window."""
    aval, aval_indices, aval_updates = avals_in
    starts, start_type = _scalar_starts(
        ctx, indices, aval_indices, n.scatter_dims_to_operand_dims, aval.shape, window
    )
    part = ShapedArray(window, aval.dtype)
    new = reshape_to(ctx, updates, aval_updates, part)
    if operation is not None or mode == _FILL:
        old, _ = _slice_at(ctx, operand, aval, starts, start_type, window)
        new = _combine(ctx, operation, old, new, ctx.type(part))
        if mode == _FILL:
            last = _last_starts(aval.shape, window, n.scatter_dims_to_operand_dims)
            inside = _inside(ctx, indices, aval_indices, last)
            flag = ShapedArray((), _BOOL)
            mask = ctx.broadcast_scalar(inside, flag, ShapedArray(window, _BOOL))
            new = _select(ctx, mask, new, old, part)
    return _update_at(ctx, operand, aval, new, part, starts, start_type)


def _scatter(
    ctx: LoweringContext,
    operation: str | None,
    avals_in: Avals,
    operand: str,
    indices: str,
    updates: str,
    n: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
) -> str:
    aval, aval_indices, aval_updates = avals_in
    indices, aval_indices = _wide_indices(ctx, indices, aval_indices)
    windows = p.window_dims(aval.ndim, n.inserted_window_dims, n.operand_batching_dims)
    window = [1] * aval.ndim
    for d, u in zip(windows, n.update_window_dims, strict=True):
        window[d] = aval_updates.shape[u]
    if aval_indices.ndim < 2:
        avals = (aval, aval_indices, aval_updates)
        return _scatter_one(
            ctx, operation, avals, operand, indices, updates, n, tuple(window), mode
        )
    if mode != _FILL:
        last = _last_starts(aval.shape, window, n.scatter_dims_to_operand_dims)
        indices = _clip(ctx, indices, aval_indices, last)
    fields = [
        f"{key} = [{numbers(dims)}]"
        for key, dims in (
            ("update_window_dims", n.update_window_dims),
            ("inserted_window_dims", n.inserted_window_dims),
            ("input_batching_dims", n.operand_batching_dims),
            ("scatter_indices_batching_dims", n.scatter_indices_batching_dims),
            ("scatter_dims_to_operand_dims", n.scatter_dims_to_operand_dims),
        )
        if dims
    ]
    fields.append(f"index_vector_dim = {aval_indices.ndim - 1}")
    scalar = ctx.type(ShapedArray((), aval.dtype))
    region = ctx.region(
        [scalar, scalar],
        lambda args: [_combine(ctx, operation, args[0], args[1], scalar)],
        "stablehlo.return",
        [scalar],
    )
    is_sorted = "true" if indices_are_sorted else "false"
    unique = "true" if unique_indices else "false"
    return ctx.op(
        f'"stablehlo.scatter"({operand}, {indices}, {updates}) '
        f"<{{indices_are_sorted = {is_sorted}, "
        f"scatter_dimension_numbers = #stablehlo.scatter<{', '.join(fields)}>, "
        f"unique_indices = {unique}}}> ({region}) : "
        f"({ctx.type(aval)}, {ctx.type(aval_indices)}, {ctx.type(aval_updates)}) -> "
        f"{ctx.type(aval)}"
    )


def _scatter_rule(operation: str | None) -> Any:
    def rule(
        ctx: LoweringContext,
        avals_in: Avals,
        avals_out: Avals,
        operand: str,
        indices: str,
        updates: str,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        indices_are_sorted: bool,
        unique_indices: bool,
        mode: GatherScatterMode,
        axis_names: tuple[AxisName, ...] = (),
    ) -> str:
        if axis_names:
            raise InternalError(
                f"scatter_add over the named axes {axis_names} reached the compiler; the "
                "transformation that brought them into scope should have mapped them away"
            )
        return _scatter(
            ctx,
            operation,
            avals_in,
            operand,
            indices,
            updates,
            dimension_numbers,
            indices_are_sorted,
            unique_indices,
            mode,
        )

    return rule


def _bounded_starts(
    ctx: LoweringContext, starts: Sequence[str], avals: Avals, shape: Shape, window: Shape
) -> tuple[list[str], str]:
    """Scalar starts of one window that lies inside, in a wide dtype; and their type."""
    names, kind = [], ""
    for start, aval, size, part in zip(starts, avals, shape, window, strict=True):
        name, scalar = _wide_indices(ctx, start, aval)
        names.append(_in_bounds(ctx, name, scalar, size, part))
        kind = ctx.type(scalar)
    return names, kind


def _dynamic_slice(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    operand: str,
    *starts: str,
    slice_sizes: Shape,
) -> str:
    aval = avals_in[0]
    names, kind = _bounded_starts(ctx, starts, avals_in[1:], aval.shape, slice_sizes)
    return _slice_at(ctx, operand, aval, names, kind, slice_sizes)[0]


def _dynamic_update_slice(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    operand: str,
    update: str,
    *starts: str,
) -> str:
    aval, aval_update = avals_in[:2]
    names, kind = _bounded_starts(ctx, starts, avals_in[2:], aval.shape, aval_update.shape)
    return _update_at(ctx, operand, aval, update, aval_update, names, kind)


register_lowering(p.gather_p, _gather)
register_lowering(p.scatter_p, _scatter_rule(None))
register_lowering(p.scatter_add_p, _scatter_rule("add"))
register_lowering(p.scatter_mul_p, _scatter_rule("multiply"))
register_lowering(p.scatter_min_p, _scatter_rule("minimum"))
register_lowering(p.scatter_max_p, _scatter_rule("maximum"))
register_lowering(p.dynamic_slice_p, _dynamic_slice)
register_lowering(p.dynamic_update_slice_p, _dynamic_update_slice)
