"""Derivatives of collectives, where the two readings of reverse mode differ.

`docs/named_axes.md` says what they mean.

| forward | collective axis | element-wise axis |
| --- | --- | --- |
| `pbroadcast` | `psum` | identity |
| `psum` | `pbroadcast` | `psum` |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.primitives.collectives import (
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

from ..rule_tables import Linear, Reading, deflinear, register_jvp
from .reductions import rounded_once


def _psum_transpose(
    reading: Reading, ct: Any, x: Linear, *, axes: tuple[AxisName, ...]
) -> list[Any]:
    # Collectively, the one sum's cotangent goes to every index, which implicit broadcasting does;
    # a summand that all indices share was counted once for each. Element-wise, every index has a
    # sum of its own, and each summand is in all of them.
    summed = tuple([a for a in axes if a not in reading.collective or a not in x.aval.names])
    return [psum_p.bind(ct, axes=summed) if summed else ct]


deflinear(psum_p, _psum_transpose, sums_named_axes=True)


def _pbroadcast_transpose(
    reading: Reading, ct: Any, x: Linear, *, named: tuple[tuple[AxisName, int], ...]
) -> list[Any]:
    summed = tuple([name for name, _ in named if name in reading.collective])
    return [psum_p.bind(ct, axes=summed) if summed else ct]


deflinear(pbroadcast_p, _pbroadcast_transpose, sums_named_axes=True)


def _grouped_psum_transpose(reading: Reading, ct: Any, x: Linear, **groups: Any) -> list[Any]:
    # The members of a group read each other's summands, so the cotangents of their sums add up in
    # the same groups, in either reading.
    return [grouped_psum_p.bind(ct, **groups)]


deflinear(grouped_psum_p, _grouped_psum_transpose)


def _extremum_jvp(primitive: Primitive, add_up: Primitive) -> None:
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **axes: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        x = rounded_once(x)
        out = primitive.bind(x, **axes)
        # The winners' tangents; ties share equally.
        won, dtype = lax.eq(x, out), aval_of(t).dtype
        count = add_up.bind(lax.convert_element_type(won, dtype), **axes)
        return out, lax.div(add_up.bind(lax.select(won, t, dtype.type(0)), **axes), count)

    register_jvp(primitive, jvp)


_extremum_jvp(pmax_p, psum_p)
_extremum_jvp(pmin_p, psum_p)
_extremum_jvp(grouped_pmax_p, grouped_psum_p)
_extremum_jvp(grouped_pmin_p, grouped_psum_p)
