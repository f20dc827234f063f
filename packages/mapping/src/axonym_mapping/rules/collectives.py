"""Collectives over a mapped axis: reductions of the dimension that carries it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.primitives.collectives import axis_index_p, pbroadcast_p, pmax_p, pmin_p, psum_p
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Dim, MappedAxis, register_batching


def _register_reduction(
    primitive: Primitive,
    reduce: Callable[[Any, tuple[int, ...]], Any],
    of_copies: Callable[[Any, int], Any],
) -> None:
    """Set the rule of a collective reduction.

    Args:
        primitive: The collective.
        reduce: Reduces dimensions of an array.
        of_copies: The reduction of `n` equal copies.
    """

    def rule(
        axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, axes: tuple[AxisName, ...]
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        if axis.name not in axes:
            return primitive.bind(x, axes=axes), dim
        out = of_copies(x, axis.size) if dim is None else reduce(x, (dim,))
        others = tuple([a for a in axes if a != axis.name])
        return (primitive.bind(out, axes=others) if others else out), None

    register_batching(primitive, rule)


def _times(x: Any, count: int) -> Any:
    return lax.mul(x, aval_of(x).dtype.type(count))


_register_reduction(psum_p, lax.reduce_sum, _times)
_register_reduction(pmax_p, lax.reduce_max, lambda x, count: x)
_register_reduction(pmin_p, lax.reduce_min, lambda x, count: x)


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
