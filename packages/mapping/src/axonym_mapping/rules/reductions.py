"""Batching of reductions and cumulative operations: the mapped dimension is left alone.

A reduction of the mapped axis itself (`axis_names`) reduces its dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.primitives import reductions as p
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, aval_of

from ..rule_tables import Dim, MappedAxis, register_batching


def _shifted(axes: Sequence[int], dim: int) -> tuple[int, ...]:
    """Positions of dimensions once the mapped one is inserted at `dim`."""
    return tuple([axis + (axis >= dim) for axis in axes])


def _after_reduction(dim: int, axes: Sequence[int]) -> int:
    """Where the mapped dimension lies once those of `axes` (positions after insertion) are gone."""
    return dim - sum(axis < dim for axis in axes)


def times_size(x: Any, axis: MappedAxis) -> Any:
    """The sum over a mapped axis of a value that does not vary over it."""
    dtype = aval_of(x).dtype
    return lax.mul(x, dtype.type(axis.size))


def _def_named_reduction(primitive: Primitive, of_copies: Callable[[Any, MappedAxis], Any]) -> None:
    """Set the rule of a reduction of dimensions and named axes, given that of equal copies."""

    def rule(
        axis: MappedAxis,
        args: Sequence[Any],
        dims: Sequence[Dim],
        *,
        axes: tuple[int, ...],
        axis_names: tuple[AxisName, ...],
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        if axis.name in axis_names:
            names = tuple([name for name in axis_names if name != axis.name])
            if dim is None:
                return of_copies(primitive.bind(x, axes=axes, axis_names=names), axis), None
            all_axes = tuple(sorted((*_shifted(axes, dim), dim)))
            return primitive.bind(x, axes=all_axes, axis_names=names), None
        assert dim is not None
        shifted = _shifted(axes, dim)
        out = primitive.bind(x, axes=shifted, axis_names=axis_names)
        return out, _after_reduction(dim, shifted)

    register_batching(primitive, rule)


def _def_reduction(primitive: Primitive) -> None:
    def rule(
        axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, axes: tuple[int, ...]
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        assert dim is not None
        shifted = _shifted(axes, dim)
        return primitive.bind(x, axes=shifted), _after_reduction(dim, shifted)

    register_batching(primitive, rule)


def _def_index_reduction(primitive: Primitive) -> None:
    def rule(
        mapped: MappedAxis,
        args: Sequence[Any],
        dims: Sequence[Dim],
        *,
        axis: int,
        index_dtype: Any,
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        assert dim is not None
        (shifted,) = _shifted((axis,), dim)
        out = primitive.bind(x, axis=shifted, index_dtype=index_dtype)
        return out, _after_reduction(dim, (shifted,))

    register_batching(primitive, rule)


def _def_cumulative(primitive: Primitive) -> None:
    def rule(
        mapped: MappedAxis, args: Sequence[Any], dims: Sequence[Dim], *, axis: int, reverse: bool
    ) -> tuple[Any, Dim]:
        (x,), (dim,) = args, dims
        assert dim is not None
        (shifted,) = _shifted((axis,), dim)
        return primitive.bind(x, axis=shifted, reverse=reverse), dim

    register_batching(primitive, rule)


_def_named_reduction(p.reduce_sum_p, times_size)
_def_named_reduction(p.reduce_max_p, lambda x, axis: x)
_def_named_reduction(p.reduce_min_p, lambda x, axis: x)
for _primitive in (p.reduce_prod_p, p.reduce_and_p, p.reduce_or_p):
    _def_reduction(_primitive)
for _primitive in (p.argmax_p, p.argmin_p):
    _def_index_reduction(_primitive)
for _primitive in (p.cumsum_p, p.cumprod_p, p.cummax_p, p.cummin_p, p.cumlogsumexp_p):
    _def_cumulative(_primitive)
