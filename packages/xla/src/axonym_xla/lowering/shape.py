"""StableHLO of the primitives that move elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from axonym_core.primitives import shape as p
from axonym_core.types import ShapedArray

from .registry import LoweringContext, register_lowering

Avals = Sequence[ShapedArray]
Shape = tuple[int, ...]


def numbers(values: Iterable[int]) -> str:
    """Integers as a list in the text of a program."""
    return ", ".join(map(str, values))


def _broadcast_in_dim(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    x: str,
    *,
    shape: Shape,
    broadcast_dimensions: Shape,
) -> str:
    return ctx.broadcast_in_dim(x, avals_in[0], avals_out[0], broadcast_dimensions)


def reshape_to(ctx: LoweringContext, x: str, source: ShapedArray, target: ShapedArray) -> str:
    """Reshape a value, where its shape differs."""
    if source.shape == target.shape:
        return x
    return ctx.op(f"stablehlo.reshape {x} : ({ctx.type(source)}) -> {ctx.type(target)}")


def _reshape(ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, **params: Any) -> str:
    return reshape_to(ctx, x, avals_in[0], avals_out[0])


def _transpose(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, permutation: Shape
) -> str:
    return ctx.op(
        f"stablehlo.transpose {x}, dims = [{numbers(permutation)}] : "
        f"({ctx.type(avals_in[0])}) -> {ctx.type(avals_out[0])}"
    )


def _concatenate(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, *xs: str, dimension: int
) -> str:
    types = ", ".join([ctx.type(a) for a in avals_in])
    return ctx.op(
        f"stablehlo.concatenate {', '.join(xs)}, dim = {dimension} : "
        f"({types}) -> {ctx.type(avals_out[0])}"
    )


def _pad(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    x: str,
    value: str,
    *,
    padding_config: p.PaddingConfig,
) -> str:
    low, high, interior = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    return ctx.op(
        f"stablehlo.pad {x}, {value}, low = [{numbers(low)}], high = [{numbers(high)}], "
        f"interior = [{numbers(interior)}] : "
        f"({ctx.type(avals_in[0])}, {ctx.type(avals_in[1])}) -> {ctx.type(avals_out[0])}"
    )


def box(
    ctx: LoweringContext,
    x: str,
    source: ShapedArray,
    target: ShapedArray,
    start: Sequence[int],
    limit: Sequence[int],
    strides: Sequence[int],
) -> str:
    """Cut a box out of a value."""
    ranges = ", ".join([f"{a}:{b}:{s}" for a, b, s in zip(start, limit, strides, strict=True)])
    return ctx.op(f"stablehlo.slice {x} [{ranges}] : ({ctx.type(source)}) -> {ctx.type(target)}")


def _slice(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    x: str,
    *,
    start_indices: Shape,
    limit_indices: Shape,
    strides: Shape,
) -> str:
    return box(ctx, x, avals_in[0], avals_out[0], start_indices, limit_indices, strides)


def _split(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, sizes: Shape, axis: int
) -> list[str]:
    source = avals_in[0]
    start, limit, ones = [0] * source.ndim, list(source.shape), [1] * source.ndim
    parts = []
    for size, target in zip(sizes, avals_out, strict=True):
        limit[axis] = start[axis] + size
        parts.append(box(ctx, x, source, target, start, limit, ones))
        start[axis] = limit[axis]
    return parts


def _rev(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, x: str, *, dimensions: Shape
) -> str:
    return ctx.op(
        f"stablehlo.reverse {x}, dims = [{numbers(dimensions)}] : {ctx.type(avals_in[0])}"
    )


def _iota(
    ctx: LoweringContext,
    avals_in: Avals,
    avals_out: Avals,
    *,
    dtype: np.dtype[Any],
    shape: Shape,
    dimension: int,
) -> str:
    return ctx.op(f"stablehlo.iota dim = {dimension} : {ctx.type(avals_out[0])}")


def _optimization_barrier(
    ctx: LoweringContext, avals_in: Avals, avals_out: Avals, *xs: str
) -> list[str]:
    return ctx.barrier(xs, [ctx.type(a) for a in avals_in]) if xs else []


register_lowering(p.broadcast_in_dim_p, _broadcast_in_dim)
register_lowering(p.reshape_p, _reshape)
register_lowering(p.squeeze_p, _reshape)
register_lowering(p.transpose_p, _transpose)
register_lowering(p.concatenate_p, _concatenate)
register_lowering(p.pad_p, _pad)
register_lowering(p.slice_p, _slice)
register_lowering(p.split_p, _split)
register_lowering(p.rev_p, _rev)
register_lowering(p.iota_p, _iota)
register_lowering(p.optimization_barrier_p, _optimization_barrier)
