"""Batching of `dot_general`: the mapped axis becomes a batch, a free, or a contracted dimension.

Contracted, where the product sums over the mapped axis (`axis_names`): this is where the total
gradient of a weight over a mapped axis becomes one ordinary product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.primitives.contractions import (
    DotDimensionNumbers,
    dot_general_p,
    free_dimensions,
)
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Dim, MappedAxis, register_batching
from .reductions import times_size


def _shifted(dims: tuple[int, ...], mapped: Dim) -> tuple[int, ...]:
    if mapped is None:
        return dims
    return tuple([d + (d >= mapped) for d in dims])


def _dot_general(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> tuple[Any, Dim]:
    lhs, rhs = args
    d1, d2 = dims
    (c1, c2), (b1, b2) = dimension_numbers
    contracts = axis.name in axis_names
    if contracts:
        axis_names = tuple([name for name in axis_names if name != axis.name])

    def product(x: Any, y: Any, numbers: DotDimensionNumbers) -> Any:
        return dot_general_p.bind(
            x,
            y,
            dimension_numbers=numbers,
            precision=precision,
            preferred_element_type=preferred_element_type,
            axis_names=axis_names,
        )

    if contracts and (d1 is None or d2 is None):
        # The product is linear in the one operand that varies: sum that one first.
        if d1 is not None:
            lhs = lax.reduce_sum(lhs, (d1,))
        elif d2 is not None:
            rhs = lax.reduce_sum(rhs, (d2,))
        out = product(lhs, rhs, dimension_numbers)
        return (out, None) if d1 is not None or d2 is not None else (times_size(out, axis), None)

    c1, b1 = _shifted(c1, d1), _shifted(b1, d1)
    c2, b2 = _shifted(c2, d2), _shifted(b2, d2)
    if d1 is not None and d2 is not None:
        if contracts:
            return product(lhs, rhs, (((d1, *c1), (d2, *c2)), (b1, b2))), None
        return product(lhs, rhs, ((c1, c2), ((d1, *b1), (d2, *b2)))), 0
    out = product(lhs, rhs, ((c1, c2), (b1, b2)))
    free1 = free_dimensions(aval_of(lhs).ndim, c1, b1)
    if d1 is not None:
        return out, len(b1) + free1.index(d1)
    assert d2 is not None
    free2 = free_dimensions(aval_of(rhs).ndim, c2, b2)
    return out, len(b1) + len(free1) + free2.index(d2)


register_batching(dot_general_p, _dot_general)
