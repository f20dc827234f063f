"""Batching of sorting: every operand is given the mapped axis, and each index sorts by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.primitives.sorting import sort_p, top_k_p

from ..rule_tables import Dim, MappedAxis, move_dim, move_to_front, register_batching


def _sort(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> tuple[list[Any], list[Dim]]:
    # Where one operand has the axis, so that as few as possible are transposed.
    at = next(d for d in dims if d is not None)
    moved = [move_dim(x, d, at, axis.size) for x, d in zip(args, dims, strict=True)]
    outs = sort_p.bind(
        *moved,
        dimension=dimension + (dimension >= at),
        is_stable=is_stable,
        num_keys=num_keys,
    )
    return outs, [at] * len(outs)


def _top_k(
    axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, k: int
) -> tuple[list[Any], list[Dim]]:
    return top_k_p.bind(move_to_front(args[0], dims[0], axis.size), k=k), [0, 0]


register_batching(sort_p, _sort)
register_batching(top_k_p, _top_k)
