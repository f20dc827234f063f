"""Primitives that move, repeat or make elements without computing with them.

`broadcast_in_dim` is the one primitive that repeats elements; creation of constant arrays is a
broadcast scalar. `split` exists beside `slice` because its transpose is one concatenation, where
that of n slices is n paddings and n additions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import DTypeError, ShapeError
from ..programs.primitive import ALL, Primitive
from ..types import dtypes
from ..types.avals import ShapedArray

Shape = tuple[int, ...]
PaddingConfig = tuple[tuple[int, int, int], ...]


def check_dimensions(function: str, argument: str, dims: Shape, ndim: int) -> None:
    """Check that `dims` are distinct dimensions of an array of rank `ndim`, none negative."""
    for d in dims:
        if not 0 <= d < ndim:
            raise ShapeError(
                f"{function}: {argument}={dims} names dimension {d}, the operand has dimensions "
                f"0 to {ndim - 1}"
                if ndim
                else f"{function}: {argument}={dims} names dimension {d}, the operand is 0-d"
            )
    if len(set(dims)) != len(dims):
        raise ShapeError(f"{function}: {argument}={dims} names a dimension twice; name each once")


def _length(function: str, argument: str, value: tuple[Any, ...], x: ShapedArray) -> None:
    if len(value) != x.ndim:
        raise ShapeError(
            f"{function}: {argument}={value} has {len(value)} entries; give one for each of the "
            f"{x.ndim} dimensions of the operand {x}"
        )


def _broadcast_in_dim(x: ShapedArray, *, shape: Shape, broadcast_dimensions: Shape) -> ShapedArray:
    dims = broadcast_dimensions
    _length("broadcast_in_dim", "broadcast_dimensions", dims, x)
    for d in dims:
        if not 0 <= d < len(shape):
            raise ShapeError(
                f"broadcast_in_dim: broadcast_dimensions={dims} names dimension {d}, which the "
                f"result of shape {shape} does not have"
            )
    if any(a >= b for a, b in pairwise(dims)):
        raise ShapeError(
            f"broadcast_in_dim: broadcast_dimensions={dims} must increase; transpose the operand "
            "first"
        )
    for size, d in zip(x.shape, dims, strict=True):
        if size not in (1, shape[d]):
            raise ShapeError(
                f"broadcast_in_dim: the operand {x} cannot become shape={shape} with "
                f"broadcast_dimensions={dims}: its dimension of size {size} would have to become "
                f"{shape[d]}; only dimensions of size 1 are repeated"
            )
    return ShapedArray(shape, x.dtype, x.weak_type)


def _reshape(x: ShapedArray, *, new_sizes: Shape) -> ShapedArray:
    out = ShapedArray(new_sizes, x.dtype, x.weak_type)
    if out.size != x.size:
        raise ShapeError(
            f"reshape: new_sizes={new_sizes} has {out.size} elements, the operand {x} has "
            f"{x.size}; a reshape keeps their number"
        )
    return out


def _transpose(x: ShapedArray, *, permutation: Shape) -> ShapedArray:
    if sorted(permutation) != list(range(x.ndim)):
        raise ShapeError(
            f"transpose: permutation={permutation} is not a permutation of the dimensions "
            f"{tuple(range(x.ndim))} of the operand {x}"
        )
    return ShapedArray(tuple([x.shape[d] for d in permutation]), x.dtype, x.weak_type)


def _squeeze(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    check_dimensions("squeeze", "dimensions", dimensions, x.ndim)
    for d in dimensions:
        if x.shape[d] != 1:
            raise ShapeError(
                f"squeeze: dimensions={dimensions} names dimension {d} of size {x.shape[d]} of the "
                f"operand {x}; only dimensions of size 1 can be dropped"
            )
    kept = tuple([n for d, n in enumerate(x.shape) if d not in dimensions])
    return ShapedArray(kept, x.dtype, x.weak_type)


def require_same_dtype(function: str, avals: tuple[ShapedArray, ...]) -> None:
    """Check that operands have one dtype."""
    for x in avals[1:]:
        if x.dtype != avals[0].dtype:
            raise DTypeError(
                f"{function}: the operands have different dtypes "
                f"({', '.join(str(x) for x in avals)}); convert them with "
                "lax.convert_element_type, or use the function of axonym.numpy, which promotes"
            )


def _concatenate(*xs: ShapedArray, dimension: int) -> ShapedArray:
    if not xs:
        raise ShapeError("concatenate: no operands; give at least one array")
    require_same_dtype("concatenate", xs)
    first = xs[0]
    check_dimensions("concatenate", "dimension", (dimension,), first.ndim)
    rest = (*first.shape[:dimension], *first.shape[dimension + 1 :])
    total = 0
    for x in xs:
        if x.ndim != first.ndim or (*x.shape[:dimension], *x.shape[dimension + 1 :]) != rest:
            raise ShapeError(
                f"concatenate: operands {', '.join(str(x) for x in xs)} differ in another "
                f"dimension than dimension={dimension}; only that one may differ"
            )
        total += x.shape[dimension]
    shape = (*first.shape[:dimension], total, *first.shape[dimension + 1 :])
    return ShapedArray(shape, first.dtype, all(x.weak_type for x in xs))


def padded_size(size: int, low: int, high: int, interior: int) -> int:
    """Size of a dimension after padding."""
    return low + high + size + max(size - 1, 0) * interior


def _pad(
    x: ShapedArray, padding_value: ShapedArray, *, padding_config: PaddingConfig
) -> ShapedArray:
    require_same_dtype("pad", (x, padding_value))
    if padding_value.ndim:
        raise ShapeError(f"pad: padding_value must be a scalar, got {padding_value}")
    _length("pad", "padding_config", padding_config, x)
    shape = []
    for d, (size, (low, high, interior)) in enumerate(zip(x.shape, padding_config, strict=True)):
        if interior < 0:
            raise ShapeError(
                f"pad: padding_config[{d}]={(low, high, interior)} has negative interior padding; "
                "only the low and high padding may be negative"
            )
        new = padded_size(size, low, high, interior)
        if new < 0:
            raise ShapeError(
                f"pad: padding_config[{d}]={(low, high, interior)} removes more than there is: "
                f"dimension {d} of the operand {x} would get size {new}"
            )
        shape.append(new)
    return ShapedArray(tuple(shape), x.dtype, x.weak_type and padding_value.weak_type)


def _slice(
    x: ShapedArray, *, start_indices: Shape, limit_indices: Shape, strides: Shape
) -> ShapedArray:
    _length("slice", "start_indices", start_indices, x)
    _length("slice", "limit_indices", limit_indices, x)
    _length("slice", "strides", strides, x)
    shape = []
    for d, (size, start, limit, stride) in enumerate(
        zip(x.shape, start_indices, limit_indices, strides, strict=True)
    ):
        if not 0 <= start <= limit <= size:
            raise ShapeError(
                f"slice: start_indices[{d}]={start} and limit_indices[{d}]={limit} must satisfy "
                f"0 <= start <= limit <= {size}, the size of dimension {d} of the operand {x}"
            )
        if stride < 1:
            raise ShapeError(
                f"slice: strides[{d}]={stride} must be 1 or more; use lax.rev for a reversed order"
            )
        shape.append(-(-(limit - start) // stride))
    return ShapedArray(tuple(shape), x.dtype, x.weak_type)


def _split(x: ShapedArray, *, sizes: Shape, axis: int) -> tuple[ShapedArray, ...]:
    check_dimensions("split", "axis", (axis,), x.ndim)
    if sum(sizes) != x.shape[axis]:
        raise ShapeError(
            f"split: sizes={sizes} add up to {sum(sizes)}, dimension axis={axis} of the operand "
            f"{x} has size {x.shape[axis]}"
        )
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    return tuple([ShapedArray((*before, n, *after), x.dtype, x.weak_type) for n in sizes])


def _rev(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    check_dimensions("rev", "dimensions", dimensions, x.ndim)
    return ShapedArray(x.shape, x.dtype, x.weak_type)


def _iota(*, dtype: np.dtype[Any], shape: Shape, dimension: int) -> ShapedArray:
    if not (dtypes.is_integer(dtype) or dtypes.is_inexact(dtype)):
        raise DTypeError(f"iota: dtype={dtype} does not count; use an integer or a float dtype")
    check_dimensions("iota", "dimension", (dimension,), len(shape))
    return ShapedArray(shape, dtype)


def _optimization_barrier(*xs: ShapedArray) -> tuple[ShapedArray, ...]:
    return xs


def _moving(name: str, shape_rule: Callable[..., Any], **facts: Any) -> Primitive:
    return Primitive(name, shape_rule, kind="moving", linear=ALL, **facts)


broadcast_in_dim_p = Primitive(
    "broadcast_in_dim", _broadcast_in_dim, kind="repeating", linear=ALL, cheap=True
)
reshape_p = _moving("reshape", _reshape, cheap=True)
transpose_p = _moving("transpose", _transpose, cheap=True)
squeeze_p = _moving("squeeze", _squeeze, cheap=True)
concatenate_p = _moving("concatenate", _concatenate)
pad_p = _moving("pad", _pad)
slice_p = _moving("slice", _slice, cheap=True)
split_p = _moving("split", _split, multiple_results=True)
rev_p = _moving("rev", _rev)
iota_p = Primitive(
    "iota",
    _iota,
    cheap=True,
    absent={"transpose": "it has no operand", "batching": "it has no operand"},
)
# What goes in comes out, but no compiler optimisation crosses it. Results keep their own axes.
optimization_barrier_p = Primitive(
    "optimization_barrier",
    _optimization_barrier,
    multiple_results=True,
    linear=ALL,
    own_axes=True,
)
