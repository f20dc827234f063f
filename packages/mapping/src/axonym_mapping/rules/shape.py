"""Batching of the primitives that move elements: the mapped axis comes along where it lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.operators import scalar_of
from axonym_core.primitives import shape as p
from axonym_core.types import aval_of

from ..rule_tables import Dim, MappedAxis, move_dim, register_batching

Args = Sequence[Any]
Dims = Sequence[Dim]
Shape = tuple[int, ...]


def _inserted(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at:])


def _shifted(dims: Shape, at: int) -> Shape:
    """Dimension numbers after a new dimension was inserted at `at`."""
    return tuple([d + (d >= at) for d in dims])


def _broadcast_in_dim(
    axis: MappedAxis, args: Args, dims: Dims, *, shape: Shape, broadcast_dimensions: Shape
) -> tuple[Any, Dim]:
    (d,) = dims
    assert d is not None
    # Right after where the dimension before it goes, so that the order is kept without a transpose.
    at = broadcast_dimensions[d - 1] + 1 if d else 0
    out_dims = _inserted(_shifted(broadcast_dimensions, at), d, at)
    shape = _inserted(shape, at, axis.size)
    return lax.broadcast_in_dim(args[0], shape, out_dims), at


def _reshape(axis: MappedAxis, args: Args, dims: Dims, *, new_sizes: Shape) -> tuple[Any, Dim]:
    (x,), (d,) = args, dims
    assert d is not None
    # If the elements before the mapped axis stay together, it can stay between them and the rest.
    before = math.prod(aval_of(x).shape[:d])
    for at in range(len(new_sizes) + 1):
        if math.prod(new_sizes[:at]) == before:
            return lax.reshape(x, _inserted(new_sizes, at, axis.size)), at
    return lax.reshape(move_dim(x, d, 0, axis.size), (axis.size, *new_sizes)), 0


def _transpose(axis: MappedAxis, args: Args, dims: Dims, *, permutation: Shape) -> tuple[Any, Dim]:
    (d,) = dims
    assert d is not None
    return lax.transpose(args[0], (d, *_shifted(permutation, d))), 0


def _squeeze(axis: MappedAxis, args: Args, dims: Dims, *, dimensions: Shape) -> tuple[Any, Dim]:
    (d,) = dims
    assert d is not None
    dropped = _shifted(dimensions, d)
    return lax.squeeze(args[0], dropped), d - sum([k < d for k in dropped])


def _concatenate(axis: MappedAxis, args: Args, dims: Dims, *, dimension: int) -> tuple[Any, Dim]:
    at = next(d for d in dims if d is not None)
    parts = [move_dim(x, d, at, axis.size) for x, d in zip(args, dims, strict=True)]
    return lax.concatenate(parts, dimension + (dimension >= at)), at


def _pad(
    axis: MappedAxis, args: Args, dims: Dims, *, padding_config: p.PaddingConfig
) -> tuple[Any, Dim]:
    (x, value), (d, d_value) = args, dims
    at = 0 if d is None else d
    config = _inserted(padding_config, at, (0, 0, 0))
    if d_value is None:
        return lax.pad(x, value, config), at
    # Each index has its own padding value: pad with anything, then put the values in.
    x = move_dim(x, d, at, axis.size)
    shape = aval_of(x).shape
    padded = lax.pad(x, scalar_of(0, aval_of(x).dtype), config)
    inside = lax.pad(lax.full(shape, True, bool), False, config)
    values = lax.broadcast_in_dim(value, aval_of(padded).shape, (at,))
    return lax.select(inside, padded, values), at


def _slice(
    axis: MappedAxis,
    args: Args,
    dims: Dims,
    *,
    start_indices: Shape,
    limit_indices: Shape,
    strides: Shape,
) -> tuple[Any, Dim]:
    (d,) = dims
    assert d is not None
    out = lax.slice(
        args[0],
        _inserted(start_indices, d, 0),
        _inserted(limit_indices, d, axis.size),
        _inserted(strides, d, 1),
    )
    return out, d


def _split(
    axis_: MappedAxis, args: Args, dims: Dims, *, sizes: Shape, axis: int
) -> tuple[list[Any], list[Dim]]:
    (d,) = dims
    assert d is not None
    return lax.split(args[0], sizes, axis + (axis >= d)), [d] * len(sizes)


def _rev(axis: MappedAxis, args: Args, dims: Dims, *, dimensions: Shape) -> tuple[Any, Dim]:
    (d,) = dims
    assert d is not None
    return lax.rev(args[0], _shifted(dimensions, d)), d


def _optimization_barrier(axis: MappedAxis, args: Args, dims: Dims) -> tuple[list[Any], list[Dim]]:
    return p.optimization_barrier_p.bind(*args), list(dims)


register_batching(p.broadcast_in_dim_p, _broadcast_in_dim)
register_batching(p.reshape_p, _reshape)
register_batching(p.transpose_p, _transpose)
register_batching(p.squeeze_p, _squeeze)
register_batching(p.concatenate_p, _concatenate)
register_batching(p.pad_p, _pad)
register_batching(p.slice_p, _slice)
register_batching(p.split_p, _split)
register_batching(p.rev_p, _rev)
register_batching(p.optimization_barrier_p, _optimization_barrier)
