"""Collectives over a mapped axis: reductions of the dimension that carries it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.primitives.collectives import (
    axis_index_p,
    grouped_pmax_p,
    grouped_pmin_p,
    grouped_psum_p,
    pbroadcast_p,
    pmax_p,
    pmin_p,
    psum_p,
)
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Dim, MappedAxis, move_to_front, register_batching

_ROWS = tuple[tuple[int, ...], ...]


def _take(x: Any, rows: Sequence[int]) -> Any:
    """Rows of an array along its first dimension."""
    if list(rows) == list(range(aval_of(x).shape[0])):
        return x
    shape = aval_of(x).shape
    numbers = lax.GatherDimensionNumbers(tuple(range(1, len(shape))), (0,), (0,))
    at = np.asarray(rows, np.int32)[:, None]
    return lax.gather(x, at, numbers, (1, *shape[1:]), unique_indices=True)


def _within_groups(x: Any, groups: _ROWS, reduce: Callable[[Any, tuple[int, ...]], Any]) -> Any:
    """Reduce rows within each group; each row of a group gets its result.

    Groups of one size are reduced in one operation.
    """
    rest = aval_of(x).shape[1:]
    parts: list[Any] = []
    order: list[int] = []
    for size in sorted({len(group) for group in groups}):
        alike = [group for group in groups if len(group) == size]
        members = [i for group in alike for i in group]
        shape = (len(alike), size, *rest)
        reduced = reduce(lax.reshape(_take(x, members), shape), (1,))
        kept = (0, *range(2, len(shape)))
        repeated = lax.broadcast_in_dim(reduced, shape, kept)
        parts.append(lax.reshape(repeated, (len(members), *rest)))
        order += members
    if not parts:
        return x
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return _take(lax.concatenate(parts, 0) if len(parts) > 1 else parts[0], inverse)


def _register_grouped(
    primitive: Primitive,
    reduce: Callable[[Any, tuple[int, ...]], Any],
    of_copies: Callable[[Any, int], Any],
) -> None:
    def rule(
        mapped: MappedAxis,
        args: Sequence[Any],
        dims: Sequence[Dim],
        *,
        axis: AxisName,
        size: int,
        groups: _ROWS,
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        if mapped.name != axis:
            return primitive.bind(x, axis=axis, size=size, groups=groups), dim
        sizes = {len(group) for group in groups}
        if dim is None and len(sizes) == 1:
            return of_copies(x, sizes.pop()), None
        return _within_groups(move_to_front(x, dim, size), groups, reduce), 0

    register_batching(primitive, rule)


def _register_reduction(
    primitive: Primitive,
    grouped: Primitive,
    reduce: Callable[..., Any],
    of_copies: Callable[[Any, int], Any],
) -> None:
    """Set the rule of a collective reduction.

    Args:
        primitive: The collective.
        grouped: The same within groups of indices.
        reduce: Reduces dimensions of an array, and named axes in the same operation.
        of_copies: The reduction of `n` equal copies.
    """

    def rule(
        axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, axes: tuple[AxisName, ...]
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        if axis.name not in axes:
            return primitive.bind(x, axes=axes), dim
        others = tuple([a for a in axes if a != axis.name])
        if dim is not None:
            return reduce(x, (dim,), others), None
        out = of_copies(x, axis.size)
        return (primitive.bind(out, axes=others) if others else out), None

    register_batching(primitive, rule)
    _register_grouped(grouped, reduce, of_copies)


def _times(x: Any, count: int) -> Any:
    return lax.mul(x, aval_of(x).dtype.type(count))


_register_reduction(psum_p, grouped_psum_p, lax.reduce_sum, _times)
_register_reduction(pmax_p, grouped_pmax_p, lax.reduce_max, lambda x, count: x)
_register_reduction(pmin_p, grouped_pmin_p, lax.reduce_min, lambda x, count: x)


def _pbroadcast(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    named: tuple[tuple[AxisName, int], ...],
) -> tuple[Any, Dim]:
    # A change of type only: all indices go on sharing the value.
    others = tuple([e for e in named if e[0] != axis.name])
    return (pbroadcast_p.bind(args[0], named=others) if others else args[0]), dims[0]


register_batching(pbroadcast_p, _pbroadcast)


def _axis_index(
    mapped: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, axis: AxisName, size: int
) -> tuple[Any, Dim]:
    return lax.iota(np.dtype(np.int32), size), 0


register_batching(axis_index_p, _axis_index)
