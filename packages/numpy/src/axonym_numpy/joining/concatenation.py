"""Joining arrays, cutting them apart, repeating them."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array, ConcreteArray, as_dimension, as_ints
from axonym_core.errors import ArgumentTypeError, ConcretizationError, ShapeError
from axonym_core.operators import promote_dtypes
from axonym_core.primitives.shape import broadcast_in_dim_p, concatenate_p, reshape_p
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import (
    array_of,
    arrays_of,
    convert,
    dtype_beside,
    refuse_out,
    sequence_of,
    size_of,
)
from ..errors import ArgumentError
from ..selection.taking import take
from ..shapes.reshaping import atleast_1d, atleast_2d, atleast_3d, ravel

__all__ = [
    "append",
    "array_split",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "repeat",
    "split",
    "stack",
    "tile",
    "unstack",
    "vsplit",
    "vstack",
]


def _operands(name: str, arrays: Any, dtype: Any) -> list[Any]:
    xs = sequence_of(name, "arrays", arrays)
    if dtype is not None:
        wanted = dtype_beside(dtype, dtypes.result_type(*xs))
        return [array_of(name, convert(x, wanted)) for x in xs]
    return [array_of(name, x) for x in promote_dtypes(name, *xs)]


def concatenate(
    arrays: Any, /, axis: int | None = 0, out: None = None, *, dtype: Any = None
) -> Array:
    """Join arrays along a dimension that they have.

    Args:
        arrays: Sequence of arrays that differ in size along `axis` only; they are promoted to one
            dtype.
        axis: Dimension; None joins the flattened arrays.
        out: Refused: arrays are immutable.
        dtype: Dtype of the result.

    Returns:
        The joined array.

    Raises:
        ArgumentError: There is no array.
        ShapeError: The arrays do not fit, or are 0-d.

    Example:
        >>> concatenate([np.array([1, 2], np.int32), np.array([3], np.int32)])
        Array([1, 2, 3], dtype=int32)
    """
    if out is not None:
        refuse_out("concatenate")
    xs = _operands("concatenate", arrays, dtype)
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    first = aval_of(xs[0])
    if not first.ndim:
        raise ShapeError(
            "concatenate: arrays[0] is 0-d, and has no dimension to join along; use stack"
        )
    axis = as_dimension(axis, first.ndim, "concatenate", "axis")
    if len(xs) == 1:
        return xs[0]
    return concatenate_p.bind(*xs, dimension=axis)


def concat(arrays: Any, /, axis: int | None = 0, out: None = None, *, dtype: Any = None) -> Array:
    """Join arrays along a dimension that they have; `concatenate` as the array API names it.

    Example:
        >>> concat([np.array([1, 2], np.int32), np.array([3], np.int32)])
        Array([1, 2, 3], dtype=int32)
    """
    if out is not None:
        refuse_out("concat")
    return concatenate(arrays, axis)


@composite("axis")
def _stack(*xs: Any, axis: int) -> Array:
    sizes = list(xs[0].shape)
    sizes.insert(axis, 1)
    rows = [reshape_p.bind(x, new_sizes=tuple(sizes)) for x in xs]
    return rows[0] if len(rows) == 1 else concatenate_p.bind(*rows, dimension=axis)


def stack(arrays: Any, axis: int = 0, out: None = None, *, dtype: Any = None) -> Array:
    """Join arrays of one shape along a new dimension.

    Args:
        arrays: Sequence of arrays; they are promoted to one dtype.
        axis: Where the new dimension lies in the result.
        out: Refused: arrays are immutable.
        dtype: Dtype of the result.

    Returns:
        Array of one dimension more.

    Raises:
        ArgumentError: There is no array.
        ShapeError: The shapes differ, or the dimension does not exist.

    Example:
        >>> stack([np.array([1, 2], np.int32), np.array([3, 4], np.int32)], axis=1)
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    if out is not None:
        refuse_out("stack")
    xs = _operands("stack", arrays, dtype)
    for i, x in enumerate(xs):
        if x.shape != xs[0].shape:
            raise ShapeError(
                f"stack: arrays[0] has shape {xs[0].shape} and arrays[{i}] has shape {x.shape}; "
                "stacked arrays have one shape"
            )
    return _stack(*xs, axis=as_dimension(axis, xs[0].ndim + 1, "stack", "axis"))


def _each(name: str, tup: Any, change: Any) -> list[Any]:
    return [change(x) for x in arrays_of(name, *sequence_of(name, "tup", tup))]


def vstack(tup: Any, *, dtype: Any = None) -> Array:
    """Join arrays along the first dimension; vectors are rows.

    Args:
        tup: Sequence of arrays.
        dtype: Dtype of the result.

    Raises:
        ShapeError: The arrays do not fit.

    Example:
        >>> vstack([lax.full((2,), 1), lax.full((2,), 2)]).shape
        (2, 2)
    """
    return concatenate(_each("vstack", tup, atleast_2d), 0, dtype)


def hstack(tup: Any, *, dtype: Any = None) -> Array:
    """Join arrays along the second dimension; vectors along their only one.

    Args:
        tup: Sequence of arrays.
        dtype: Dtype of the result.

    Raises:
        ShapeError: The arrays do not fit.

    Example:
        >>> hstack([lax.full((2,), 1), lax.full((2,), 2)]).shape
        (4,)
    """
    xs = _each("hstack", tup, atleast_1d)
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1, dtype)


def dstack(tup: Any, *, dtype: Any = None) -> Array:
    """Join arrays along the third dimension.

    Args:
        tup: Sequence of arrays.
        dtype: Dtype of the result.

    Raises:
        ShapeError: The arrays do not fit.

    Example:
        >>> dstack([lax.full((2,), 1), lax.full((2,), 2)]).shape
        (1, 2, 2)
    """
    return concatenate(_each("dstack", tup, atleast_3d), 2, dtype)


def column_stack(tup: Any) -> Array:
    """Join arrays along the second dimension; vectors are columns.

    Args:
        tup: Sequence of arrays.

    Raises:
        ShapeError: The arrays do not fit.

    Example:
        >>> column_stack([lax.full((2,), 1), lax.full((2,), 2)]).shape
        (2, 2)
    """

    def column(x: Any) -> Array:
        a = array_of("column_stack", x)
        return a if a.ndim > 1 else lax.reshape(a, (a.size, 1))

    return concatenate(_each("column_stack", tup, column), 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Put values behind an array.

    Args:
        arr: Array.
        values: Array to put behind it.
        axis: Dimension; None flattens both.

    Raises:
        ShapeError: They do not fit.

    Example:
        >>> append(np.array([1, 2], np.int32), 3)
        Array([1, 2, 3], dtype=int32)
    """
    return concatenate([arr, values], axis)


def _sections(name: str, size: int, indices_or_sections: Any, equal: bool) -> tuple[int, ...]:
    """Sizes of the parts."""
    given = indices_or_sections
    is_array = isinstance(given, np.ndarray | ConcreteArray)
    if isinstance(given, list | tuple) or (is_array and given.ndim):
        at = as_ints(given if not is_array else given.tolist(), name, "indices_or_sections")
        bounds = [slice(0, i).indices(size)[1] for i in at]
        edges = [0, *bounds, size]
        return tuple([max(b - a, 0) for a, b in itertools.pairwise(edges)])
    parts = size_of(name, "indices_or_sections", given)
    if parts == 0:
        raise ArgumentError(f"{name}: indices_or_sections=0; give 1 section or more")
    whole, rest = divmod(size, parts)
    if equal and rest:
        raise ArgumentError(
            f"{name}: {parts} sections do not divide a dimension of size {size} equally; use "
            "array_split, or give the positions where to cut"
        )
    return (whole + 1,) * rest + (whole,) * (parts - rest)


def _split(name: str, ary: Any, indices_or_sections: Any, axis: int, equal: bool) -> list[Array]:
    a = array_of(name, ary)
    axis = as_dimension(axis, a.ndim, name, "axis")
    sizes = _sections(name, a.shape[axis], indices_or_sections, equal)
    if sum(sizes) == a.shape[axis]:
        return lax.split(a, sizes, axis)
    parts, start = [], 0  # cuts that go backwards leave empty parts, and parts that overlap
    for edge, n in zip([0, *indices_or_sections], sizes, strict=True):
        start = slice(0, edge).indices(a.shape[axis])[1]
        parts.append(lax.slice_in_dim(a, start, start + n, axis=axis))
    return parts


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Cut an array into parts along a dimension.

    Args:
        ary: Array.
        indices_or_sections: Number of equal parts, or sequence of positions where to cut.
        axis: Dimension.

    Returns:
        List of the parts.

    Raises:
        ArgumentError: Equal parts do not divide the dimension.
        ShapeError: The dimension does not exist.

    Example:
        >>> split(lax.iota("int32", 5), [2])
        [Array([0, 1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, True)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Cut an array into parts that may differ in size by 1; otherwise as `split`.

    Example:
        >>> array_split(lax.iota("int32", 3), 2)
        [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis, False)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Cut an array of two dimensions or more along the first; otherwise as `split`.

    Example:
        >>> [x.shape for x in vsplit(lax.full((4, 2), 0), 2)]
        [(2, 2), (2, 2)]
    """
    return _split_at_least("vsplit", ary, indices_or_sections, 2, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Cut an array along the second dimension, a vector along its only one; else as `split`.

    Example:
        >>> [x.shape for x in hsplit(lax.full((2, 4), 0), 2)]
        [(2, 2), (2, 2)]
    """
    a = array_of("hsplit", ary)
    return _split_at_least("hsplit", a, indices_or_sections, 1, 1 if a.ndim > 1 else 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Cut an array of three dimensions or more along the third; otherwise as `split`.

    Example:
        >>> [x.shape for x in dsplit(lax.full((2, 2, 4), 0), 2)]
        [(2, 2, 2), (2, 2, 2)]
    """
    return _split_at_least("dsplit", ary, indices_or_sections, 3, 2)


def _split_at_least(
    name: str, ary: Any, indices_or_sections: Any, rank: int, axis: int
) -> list[Array]:
    a = array_of(name, ary)
    if a.ndim < rank:
        raise ShapeError(f"{name}: the operand has type {a.aval}; it needs {rank} dimensions")
    return _split(name, a, indices_or_sections, axis, True)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Arrays at each index of a dimension: the inverse of `stack`.

    Args:
        x: Array.
        axis: Dimension.

    Raises:
        ShapeError: The dimension does not exist.

    Example:
        >>> unstack(np.array([[1, 2], [3, 4]], np.int32))[1]
        Array([3, 4], dtype=int32)
    """
    a = array_of("unstack", x)
    axis = as_dimension(axis, a.ndim, "unstack", "axis")
    parts = lax.split(a, (1,) * a.shape[axis], axis) if a.shape[axis] else []
    return tuple([lax.squeeze(p, (axis,)) for p in parts])


def tile(A: Any, reps: Any) -> Array:
    """Repeat a whole array along its dimensions.

    Args:
        A: Array or number.
        reps: How often along each dimension, an integer or a sequence of integers.

    Returns:
        Array whose sizes are those of `A` times `reps`.

    Raises:
        ArgumentError: A number is negative.

    Example:
        >>> tile(np.array([1, 2], np.int32), 2)
        Array([1, 2, 1, 2], dtype=int32)
    """
    a = array_of("tile", A)
    times = as_ints(reps, "tile", "reps")
    if any(n < 0 for n in times):
        raise ArgumentError(f"tile: reps={reps} holds a negative number; give 0 or more")
    rank = max(len(times), a.ndim)
    sizes = (1,) * (rank - a.ndim) + a.shape
    times = (1,) * (rank - len(times)) + times
    shape, dims = [], []
    for n, t in zip(sizes, times, strict=True):
        shape += [t, n]
        dims.append(len(shape) - 1)
    spread = broadcast_in_dim_p.bind(
        lax.reshape(a, sizes), shape=tuple(shape), broadcast_dimensions=tuple(dims)
    )
    return lax.reshape(spread, tuple([n * t for n, t in zip(sizes, times, strict=True)]))


def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Array:
    """Repeat each element along a dimension.

    Args:
        a: Array or number.
        repeats: How often: an integer, or one for each element along the dimension.
        axis: Dimension; None flattens the array.
        total_repeat_length: Size of the result along the dimension, which must be given where
            `repeats` is traced: what is too much is cut off, what is missing repeats the last.

    Raises:
        ArgumentError: A number is negative.
        ConcretizationError: `repeats` is traced and the length is not given.
        ShapeError: There are not as many numbers as elements.

    Example:
        >>> repeat(np.array([1, 2], np.int32), np.array([1, 2]))
        Array([1, 2, 2], dtype=int32)
    """
    a = array_of("repeat", a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = as_dimension(axis, a.ndim, "repeat", "axis")
    n = a.shape[axis]
    if isinstance(repeats, Array) and not isinstance(repeats, ConcreteArray):
        return _repeat_traced(a, repeats, axis, total_repeat_length)
    counts = np.asarray(repeats).ravel()
    if counts.dtype.kind not in "iu":
        raise ArgumentTypeError(f"repeat: repeats={repeats!r} must hold integers")
    if counts.size and counts.min() < 0:
        raise ArgumentError(f"repeat: repeats={repeats} holds a negative number; give 0 or more")
    if counts.size == 1:
        times = int(counts[0])
        shape = (*a.shape[: axis + 1], times, *a.shape[axis + 1 :])
        dims = tuple([d for d in range(a.ndim + 1) if d != axis + 1])
        spread = broadcast_in_dim_p.bind(a, shape=shape, broadcast_dimensions=dims)
        out = lax.reshape(spread, (*a.shape[:axis], n * times, *a.shape[axis + 1 :]))
        if total_repeat_length is None or total_repeat_length == n * times:
            return out
        counts = np.full(n, times)
    if counts.size != n:
        raise ShapeError(
            f"repeat: {counts.size} numbers of repeats for a dimension of size {n}; give one, or "
            "one for each element"
        )
    index = np.repeat(np.arange(n), counts)
    if total_repeat_length is not None:
        length = size_of("repeat", "total_repeat_length", total_repeat_length)
        missing = max(length - index.size, 0)
        index = np.concatenate([index, np.full(missing, index[-1] if index.size else 0)])[:length]
    return take(a, index.astype(np.int32), axis, mode="clip")


def _repeat_traced(a: Array, repeats: Array, axis: int, length: int | None) -> Array:
    if length is None:
        raise ConcretizationError(
            f"repeat: repeats of type {repeats.aval} is being traced, so the size of the result is "
            "not known; give it as total_repeat_length="
        )
    n = a.shape[axis]
    counts = lax.broadcast_in_dim(repeats, (n,), () if not repeats.ndim else (0,))
    ends = lax.cumsum(lax.convert_element_type(counts, "int32"))
    # An element's successors begin where it ends: count how many have begun at each position.
    marks = lax.full((length,), 0, "int32").at[ends].add(1)
    return take(a, lax.cumsum(marks), axis, mode="clip")
