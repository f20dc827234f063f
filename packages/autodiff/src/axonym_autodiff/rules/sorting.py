"""Derivatives of sorting: tangents are permuted as their primals are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.extend import Zero
from axonym_core.primitives.indexing import GatherDimensionNumbers
from axonym_core.primitives.sorting import sort_p, top_k_p
from axonym_core.types import aval_of

from ..rule_tables import register_jvp


def _take_along(x: Any, positions: Any, axis: int) -> Any:
    """Elements of `x` at positions along a dimension, other dimensions going along."""
    ndim = aval_of(x).ndim
    others = tuple([i for i in range(ndim) if i != axis])
    numbers = GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return lax.gather(
        x,
        lax.expand_dims(positions, (ndim,)),
        numbers,
        (1,) * ndim,
        unique_indices=True,
        mode="promise_in_bounds",
    )


def _rearranged(t: Any, out: Any, positions: Any, axis: int) -> Any:
    """Tangent of elements that come from positions along a dimension."""
    aval = aval_of(out)
    # A gather reads windows of size 1, and nothing has none.
    if type(t) is Zero or aval.size == 0:
        return Zero(aval.to_tangent())
    return _take_along(t, positions, axis)


def _sort_jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> tuple[list[Any], list[Any]]:
    shape = aval_of(primals[0]).shape
    dtype = np.int32 if shape[dimension] < 2**31 else np.int64
    positions = lax.broadcasted_iota(dtype, shape, dimension)
    *outs, order = sort_p.bind(
        *primals, positions, dimension=dimension, is_stable=is_stable, num_keys=num_keys
    )
    return outs, [
        _rearranged(t, out, order, dimension) for t, out in zip(tangents, outs, strict=True)
    ]


def _top_k_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, k: int
) -> tuple[list[Any], list[Any]]:
    values, positions = top_k_p.bind(*primals, k=k)
    tangent = _rearranged(tangents[0], values, positions, aval_of(values).ndim - 1)
    return [values, positions], [tangent, Zero(aval_of(positions).to_tangent())]


register_jvp(sort_p, _sort_jvp)
register_jvp(top_k_p, _top_k_jvp)
