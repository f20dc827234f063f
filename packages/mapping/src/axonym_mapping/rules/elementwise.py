"""Batching of operations on elements that are not element-wise by shape.

Those that are (`Primitive.kind`) need no rule: `rule_tables.batch_elementwise` is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.primitives import elementwise as p
from axonym_core.types import aval_of

from ..rule_tables import Dim, MappedAxis, move_to_front, register_batching


def _batch_bitcast(
    axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, new_dtype: Any
) -> tuple[Any, Dim]:
    # The last dimension may be divided or joined, so the mapped axis must not be it.
    (x,), (dim,) = args, dims
    if aval_of(x).dtype.itemsize == new_dtype.itemsize:
        return p.bitcast_convert_type_p.bind(x, new_dtype=new_dtype), dim
    x = move_to_front(x, dim, axis.size)
    return p.bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0


register_batching(p.bitcast_convert_type_p, _batch_bitcast)
