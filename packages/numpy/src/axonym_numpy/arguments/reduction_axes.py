"""Axes to reduce over: dimensions by number, named axes by name, and tuples that mix both.

`axis=(0, "batch")` reduces over the first dimension and over the named axis `batch`. An integer is
a dimension and any other hashable object a name, so a named axis whose name is an integer or a
tuple can only be reached through `lax`. `axis=None` means all dimensions, and no named axis.

Sums over names are one operation with those over dimensions. An operation that has no such form
collects the named axis first: `collect` makes it a leading dimension.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.errors import ArgumentTypeError, AxisNameError, ShapeError
from axonym_core.operators import scalar_of
from axonym_core.primitives.reductions import reduce_sum_p
from axonym_core.primitives.shape import reshape_p
from axonym_core.settings import context
from axonym_core.types import AxisName, ShapedArray, aval_of, bool_

__all__ = ["collect", "collect_all", "keep_dimensions", "mask_out", "number_of", "split_axes"]

_ALL = [tuple(range(n)) for n in range(16)]

Axes = tuple[tuple[int, ...], tuple[AxisName, ...]]


def split_axes(name: str, aval: ShapedArray, axis: Any) -> Axes:
    """Dimensions and named axes that an `axis` argument lists.

    Args:
        name: Name of the function, for messages.
        aval: Type of the operand.
        axis: None, an integer, a name, or a tuple or list of integers and names.

    Returns:
        Dimensions from 0 to `ndim - 1`, and names.

    Raises:
        ShapeError: A dimension does not exist or is listed twice.
        AxisNameError: A named axis is not in scope or is listed twice.
    """
    ndim = aval.ndim
    if axis is None:
        return (_ALL[ndim] if ndim < 16 else tuple(range(ndim))), ()
    if type(axis) is int:
        if -ndim <= axis < ndim:
            return (axis % ndim,), ()
        raise ShapeError(_no_such_dimension(name, axis, aval))
    dims: list[int] = []
    names: list[AxisName] = []
    for one in axis if isinstance(axis, tuple | list) else (axis,):
        if isinstance(one, int | np.integer | np.ndarray) and not isinstance(one, bool):
            d = operator.index(one)
            if not -ndim <= d < ndim:
                raise ShapeError(_no_such_dimension(name, d, aval))
            dims.append(d % ndim)
        else:
            _require_in_scope(name, one)
            names.append(one)
    if len(set(dims)) != len(dims):
        raise ShapeError(f"{name}: axis={axis} lists a dimension twice; list each once")
    if len(set(names)) != len(names):
        raise AxisNameError(f"{name}: axis={axis} lists a named axis twice; list each once")
    return tuple(dims), tuple(names)


def _no_such_dimension(name: str, axis: int, aval: ShapedArray) -> str:
    if not aval.ndim:
        return f"{name}: axis={axis}, but the operand of type {aval} has no dimensions"
    return (
        f"{name}: axis={axis} is not a dimension of the operand of type {aval}; use a number from "
        f"{-aval.ndim} to {aval.ndim - 1}"
    )


def _require_in_scope(name: str, axis: Any) -> None:
    try:
        hash(axis)
    except TypeError:
        raise ArgumentTypeError(
            f"{name}: axis holds a {type(axis).__name__}; give integers for dimensions, and the "
            "names of named axes"
        ) from None
    if isinstance(axis, bool):
        raise ArgumentTypeError(f"{name}: axis={axis} is a truth value; give a number or a name")
    context.trace.axis_env.size(axis)


def number_of(aval: ShapedArray, dims: Sequence[int], names: Sequence[AxisName]) -> int:
    """How many elements of each result a reduction combines."""
    n = 1
    for d in dims:
        n *= aval.shape[d]
    return n * lax.axis_size(tuple(names)) if names else n


def keep_dimensions(out: Any, shape: tuple[int, ...], dims: Sequence[int]) -> Any:
    """Give the result of a reduction of an array of that shape its dimensions back, of size 1."""
    if not dims:
        return out
    sizes = tuple([1 if d in dims else n for d, n in enumerate(shape)])
    return reshape_p.bind(out, new_sizes=sizes)


def mask_out(name: str, x: Any, where: Any, replacement: Any) -> Any:
    """Replace the elements that a reduction is to leave out.

    Args:
        name: Name of the function, for messages.
        x: Array.
        where: Truth values that broadcast to `x`: which elements take part. None for all.
        replacement: Number of the dtype of `x`.
    """
    if where is None:
        return x
    return lax.select(broadcast_mask(name, where, aval_of(x).shape), x, replacement)


def broadcast_mask(name: str, where: Any, shape: tuple[int, ...]) -> Any:
    """Truth values of `where=`, of the operand's shape (or rank 0).

    Raises:
        ShapeError: They do not broadcast to it.
        TypeError: `where` does not hold truth values.
    """
    aval = aval_of(where)
    if aval.dtype != bool_:
        raise ArgumentTypeError(f"{name}: where has type {aval}; give truth values, such as x != 0")
    if not aval.shape or aval.shape == shape:
        return where
    lead = len(shape) - aval.ndim
    if lead < 0 or any(a not in (1, b) for a, b in zip(aval.shape, shape[lead:], strict=True)):
        raise ShapeError(
            f"{name}: where has shape {aval.shape}, which does not broadcast to {shape}, the shape "
            "of the operand"
        )
    return lax.broadcast_in_dim(where, shape, tuple(range(lead, len(shape))))


def collect(x: Any, axis: AxisName) -> Array:
    """Array with a named axis as its first dimension, the same at every index of the axis.

    Args:
        x: Array. Where it does not vary over the axis, the dimension holds copies.
        axis: Name of an axis in scope.
    """
    aval = aval_of(x)
    size = lax.axis_size(axis)
    here = lax.eq(lax.iota("int32", size), lax.axis_index(axis))
    shape = (size, *aval.shape)
    here = lax.broadcast_in_dim(here, shape, (0,))
    if aval.dtype == bool_:
        x = lax.convert_element_type(x, "int8")
    dtype = aval_of(x).dtype
    spread = lax.broadcast_in_dim(x, shape, tuple(range(1, len(shape))))
    own = lax.select(here, spread, scalar_of(0, dtype))
    out = reduce_sum_p.bind(own, axes=(), axis_names=(axis,))
    return lax.ne(out, scalar_of(0, dtype)) if aval.dtype == bool_ else out


def collect_all(
    x: Any, dims: tuple[int, ...], names: tuple[AxisName, ...]
) -> tuple[Any, tuple[int, ...]]:
    """Array with named axes as leading dimensions, and where the dimensions to reduce lie then."""
    for axis in reversed(names):
        x = collect(x, axis)
    n = len(names)
    return x, (*range(n), *[d + n for d in dims])
