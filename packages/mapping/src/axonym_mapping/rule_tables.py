"""The table of batching rules, and the short forms in which most of them are written.

Batching rule: `rule(axis, args, dims, **params) -> (out, dim)`, for primitives with multiple
results `(outs, dims)`. `args[k]` carries the mapped axis as its positional dimension `dims[k]`;
where `dims[k]` is None it has the same value at every index. At least one dim is not None, unless
the primitive refers to the mapped axis by name. The result's dim says where the axis lies now, None
that the result does not vary.

A primitive with a parameter that names axes takes its own name (`axis.name`) out of the parameter
and does positionally what it says; other names it leaves to the enclosing traces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from axonym_core import lax
from axonym_core.primitives.shape import broadcast_in_dim_p
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, aval_of

Dim = int | None
BatchingRule = Callable[..., tuple[Any, Any]]


class MappedAxis(NamedTuple):
    """The axis that a batching rule maps over."""

    name: AxisName
    size: int


batching_rules: dict[Primitive, BatchingRule] = {}


def register_batching(primitive: Primitive, rule: BatchingRule) -> None:
    """Set the batching rule of a primitive: `rule(axis, args, dims, **params) -> (out, dim)`."""
    batching_rules[primitive] = rule


def move_to_front(x: Any, dim: Dim, size: int) -> Any:
    """Return `x` with the mapped axis as dimension 0, broadcast where it had none."""
    return move_dim(x, dim, 0, size)


def move_dim(x: Any, dim: Dim, to: int, size: int) -> Any:
    """Return `x` with the mapped axis at dimension `to`, broadcast where it had none."""
    if dim is None:
        shape = list(aval_of(x).shape)
        kept = [i if i < to else i + 1 for i in range(len(shape))]
        shape.insert(to, size)
        return broadcast_in_dim_p.bind(x, shape=tuple(shape), broadcast_dimensions=tuple(kept))
    if dim == to:
        return x
    order = [i for i in range(aval_of(x).ndim) if i != dim]
    order.insert(to, dim)
    return lax.transpose(x, tuple(order))


def batch_elementwise(
    primitive: Primitive,
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    params: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Apply an element-wise primitive to the larger arrays.

    Operands of several ranks are aligned first: the mapped axis goes to one place, and a rank-0
    operand that has it becomes an array.
    """
    if len(args) == 1:
        aligned, dim = args, dims[0]
    else:
        aligned, dim = align_elementwise(axis, args, dims)
    out = primitive.bind(*aligned, **params)
    return out, [dim] * len(out) if primitive.multiple_results else dim


def align_elementwise(
    axis: MappedAxis, args: Sequence[Any], dims: Sequence[Dim]
) -> tuple[list[Any], Dim]:
    """Give operands of an element-wise primitive one shape, or rank 0, and the axis one place.

    Unmapped scalars stay scalars.
    """
    ranks = [aval_of(x).ndim - (d is not None) for x, d in zip(args, dims, strict=True)]
    rank = max(ranks)
    mapped = [(d, r) for d, r in zip(dims, ranks, strict=True) if d is not None]
    # Keep the axis where a full-rank operand has it, so that transposing is rare.
    dim = next((d for d, r in mapped if r == rank), 0)
    shape: tuple[int, ...] | None = None
    aligned = []
    for x, d, r in zip(args, dims, ranks, strict=True):
        if r == rank:
            if d is not None:
                x = move_dim(x, d, dim, axis.size)
                shape = aval_of(x).shape
            elif rank > 0:
                x = move_dim(x, None, dim, axis.size)
                shape = aval_of(x).shape
        aligned.append(x)
    if rank > 0:
        assert shape is not None
        aligned = [
            lax.broadcast_in_dim(x, shape, (dim,)) if r == 0 and d is not None else x
            for x, d, r in zip(aligned, dims, ranks, strict=True)
        ]
    return aligned, dim
