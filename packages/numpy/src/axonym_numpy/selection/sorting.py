"""Sorting, and searching in sorted arrays. NaN sorts last, after infinity."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array, as_dimension, as_ints
from axonym_core.errors import ShapeError
from axonym_core.operators import promote_dtypes
from axonym_core.primitives.elementwise import convert_element_type_p
from axonym_core.primitives.sorting import sort_p
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, choice, sequence_of
from ..errors import ArgumentError

__all__ = [
    "argpartition",
    "argsort",
    "digitize",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
]


def _flat_or_along(name: str, a: Any, axis: Any) -> tuple[Array, int]:
    a = array_of(name, a)
    if axis is None:
        return lax.reshape(a, (a.size,)), 0
    return a, as_dimension(axis, a.ndim, name, "axis")


def _check_order(name: str, kind: Any, order: Any) -> None:
    if order is not None:
        raise ArgumentError(f"{name}: order={order!r}: there are no arrays with fields to order by")
    if kind is not None:
        choice(name, "kind", kind, ("stable", "quicksort", "heapsort", "mergesort"))


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: Any = None,
    order: Any = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Sorted elements along a dimension.

    Args:
        a: Array.
        axis: Dimension; None sorts the flattened array.
        kind: Has no effect: every sort is stable.
        order: Must be None.
        stable: Has no effect.
        descending: Whether the greatest come first (NaN then comes before them).

    Returns:
        Array of the shape and dtype of `a`.

    Raises:
        ShapeError: The dimension does not exist.

    Example:
        >>> sort(np.array([3, 1, 2], np.int32))
        Array([1, 2, 3], dtype=int32)
    """
    _check_order("sort", kind, order)
    a, dimension = _flat_or_along("sort", a, axis)
    (out,) = sort_p.bind(a, dimension=dimension, is_stable=True, num_keys=1)
    return lax.rev(out, (dimension,)) if descending else out


@composite("axis", "descending", "dtype")
def _argsort(a: Any, *, axis: int, descending: bool, dtype: Any) -> Array:
    if descending:  # reversed before and after, so that equal elements keep their order
        a = lax.rev(a, (axis,))
    positions = lax.broadcasted_iota(dtype, a.shape, axis)
    _, out = lax.sort((a, positions), axis, True, 1)
    if not descending:
        return out
    return operators.subtract(lax.full((), a.shape[axis] - 1, dtype), lax.rev(out, (axis,)))


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: Any = None,
    order: Any = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Positions that sort the elements along a dimension; equal elements keep their order.

    Arguments and errors are those of `sort`.

    Returns:
        Array of the default integer dtype, of the shape of `a`.

    Example:
        >>> argsort(np.array([3, 1, 2]))
        Array([1, 2, 0], dtype=int32)
    """
    _check_order("argsort", kind, order)
    a, dimension = _flat_or_along("argsort", a, axis)
    return _argsort(
        a, axis=dimension, descending=bool(descending), dtype=dtypes.default_int_dtype()
    )


def lexsort(keys: Any, axis: int = -1) -> Array:
    """Positions that sort by several keys, the last one first.

    Args:
        keys: Sequence of arrays of one shape, or array whose rows are the keys.
        axis: Dimension.

    Returns:
        Array of the default integer dtype, of the shape of one key.

    Raises:
        ShapeError: The keys differ in shape.

    Example:
        >>> lexsort([np.array([2, 1, 0]), np.array([1, 1, 0])])
        Array([2, 1, 0], dtype=int32)
    """
    xs = [array_of("lexsort", k) for k in sequence_of("lexsort", "keys", keys)]
    axis = as_dimension(axis, xs[0].ndim, "lexsort", "axis")
    positions = lax.broadcasted_iota(dtypes.default_int_dtype(), xs[0].shape, axis)
    return lax.sort((*reversed(xs), positions), axis, True, len(xs))[-1]


def partition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """Elements with the `kth` smallest in its sorted place, lesser ones before it.

    Args:
        a: Array.
        kth: Position, or sequence of positions.
        axis: Dimension; None flattens the array.

    Returns:
        The sorted array, which is one of the arrays that NumPy may return.

    Raises:
        ShapeError: The dimension or the position does not exist.

    Example:
        >>> partition(np.array([3, 1, 2], np.int32), 1)
        Array([1, 2, 3], dtype=int32)
    """
    _check_kth("partition", a, kth, axis)
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """Positions of the elements of `partition`; arguments and errors are the same.

    Example:
        >>> argpartition(np.array([3, 1, 2]), 1)
        Array([1, 2, 0], dtype=int32)
    """
    _check_kth("argpartition", a, kth, axis)
    return argsort(a, axis)


def _check_kth(name: str, a: Any, kth: Any, axis: int | None) -> None:
    a, dimension = _flat_or_along(name, a, axis)
    n = a.shape[dimension]
    for k in as_ints(kth, name, "kth"):
        if not -n <= k < n:
            raise ShapeError(f"{name}: kth={k} is not a position in a dimension of size {n}")


def sort_complex(a: Any) -> Array:
    """Sorted elements of the flattened array as complex numbers.

    Args:
        a: Array.

    Example:
        >>> sort_complex(np.array([2, 1], np.float32))
        Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    out = sort(a)
    if out.dtype in dtypes.COMPLEXES:
        return out
    wide = dtypes.complex128 if out.dtype == dtypes.float64 else dtypes.complex64
    return convert_element_type_p.bind(out, new_dtype=wide, weak_type=False)


def _less(x: Any, y: Any) -> Any:
    """Whether `x` sorts before `y`: as numbers, and all numbers before NaN."""
    before = operators.less(x, y)
    if aval_of(x).dtype not in dtypes.INEXACT:
        return before
    number_before_nan = operators.bitwise_and(operators.equal(x, x), operators.not_equal(y, y))
    return operators.bitwise_or(before, number_before_nan)


@composite("right", "dtype")
def _search(a: Any, v: Any, *, right: bool, dtype: Any) -> Array:
    """Halve the range of each query, in as many steps as the length of `a` takes."""
    n = a.shape[0]
    low = lax.full(v.shape, 0, dtype)
    if not n:
        return low
    high = lax.full(v.shape, n, dtype)

    def halve(_: Any, bounds: tuple[Any, Any]) -> tuple[Any, Any]:
        lo, hi = bounds
        middle = (lo + hi) // 2
        element = a[middle]
        beyond = operators.invert(_less(v, element)) if right else _less(element, v)
        beyond = operators.bitwise_and(beyond, lax.lt(lo, hi))
        done = lax.ge(lo, hi)
        return (
            lax.select(beyond, middle + 1, lo),
            lax.select(operators.bitwise_or(beyond, done), hi, middle),
        )

    low, _ = lax.fori_loop(0, n.bit_length(), halve, (low, high))
    return low


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Positions at which to insert elements into a sorted array so that it stays sorted.

    Args:
        a: Sorted vector; it may end in NaN.
        v: Array or number: what to insert.
        side: ``left`` gives the first such position, ``right`` the last.
        sorter: Positions that sort `a`, where it is not sorted.

    Returns:
        Array of the default integer dtype, of the shape of `v`.

    Raises:
        ShapeError: `a` is no vector.
        ArgumentError: The side is unknown.

    Example:
        >>> searchsorted(np.array([1.0, 2.0, 3.0]), np.array([0.5, 2.0, 9.0]))
        Array([0, 1, 3], dtype=int32)
    """
    choice("searchsorted", "side", side, ("left", "right"))
    a = array_of("searchsorted", a)
    if a.ndim != 1:
        raise ShapeError(f"searchsorted: a has type {a.aval}; give a vector")
    if sorter is not None:
        a = a[array_of("searchsorted", sorter, "sorter")]
    a, v = promote_dtypes("searchsorted", a, v)
    v = array_of("searchsorted", v, "v")
    return _search(a, v, right=side == "right", dtype=dtypes.default_int_dtype())


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """Numbers of the bins that elements fall into.

    Args:
        x: Array or number.
        bins: Vector of edges, increasing or decreasing.
        right: Whether a bin holds its right edge instead of its left one.

    Returns:
        Array of the default integer dtype, of the shape of `x`: 0 before the first edge.

    Raises:
        ShapeError: `bins` is no vector.

    Example:
        >>> digitize(np.array([0.5, 2.0, 9.0]), np.array([1.0, 2.0, 3.0]))
        Array([0, 2, 3], dtype=int32)
    """
    edges = array_of("digitize", bins, "bins")
    if edges.ndim != 1:
        raise ShapeError(f"digitize: bins has type {edges.aval}; give a vector")
    side = "left" if right else "right"
    upwards = searchsorted(edges, x, side)
    if edges.shape[0] < 2:
        return upwards
    n = np.asarray(edges.shape[0], upwards.dtype)[()]
    downwards = operators.subtract(n, searchsorted(lax.rev(edges, (0,)), x, side))
    return lax.select(operators.less_equal(edges[0], edges[-1]), upwards, downwards)
