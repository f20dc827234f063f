"""Results whose size depends on numbers: positions of elements that are not 0, distinct elements.

Evaluated, these functions look at the numbers. Inside a transformation the size of the result has
to be given, with `size=`: what is too much is left out, what is missing is filled.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.operators import promote_dtypes
from axonym_core.types import aval_of, dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_in, array_of, as_bool, concrete_of, convert, size_of
from ..errors import ArgumentError
from .sorting import searchsorted, sort

__all__ = [
    "argwhere",
    "flatnonzero",
    "isin",
    "nonzero",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


class UniqueAllResult(NamedTuple):
    """Result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """Result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """Result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


_GIVE_SIZE = "give the size of the result as size="


@composite("size", "dtype")
def _first_true(mask: Any, *, size: int, dtype: Any) -> tuple[Array, Array]:
    """Positions of the first true elements of a vector, and which of them there are."""
    n = mask.shape[0]
    rank = lax.cumsum(lax.convert_element_type(mask, dtype))
    wanted = lax.add(lax.iota(dtype, size), lax.full((), 1, dtype))
    found = searchsorted(rank, wanted)
    return convert(found, dtype), lax.lt(found, lax.full((), n, aval_of(found).dtype))


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """Positions of the elements that are not 0, one array for each dimension.

    Args:
        a: Array of one dimension or more.
        size: Number of positions to return; must be given where `a` is traced.
        fill_value: What to fill up with: an integer, or one for each dimension; 0 if None.

    Returns:
        Tuple of vectors of the default integer dtype, in row-major order of the positions.

    Raises:
        ConcretizationError: `a` is traced and no size is given.
        ArgumentError: `a` is 0-d.

    Example:
        >>> nonzero(np.array([0, 5, 0, 7]))
        (Array([1, 3], dtype=int32),)
        >>> nonzero(np.array([0, 5, 0, 7]), size=3, fill_value=-1)
        (Array([ 1,  3, -1], dtype=int32),)
    """
    a = array_of("nonzero", a)
    if not a.ndim:
        raise ArgumentError("nonzero: the operand is 0-d; use atleast_1d first")
    dtype = dtypes.default_int_dtype()
    if size is None:
        host = concrete_of("nonzero", a, _GIVE_SIZE)
        return tuple([array_of("nonzero", i.astype(dtype)) for i in np.nonzero(host)])
    size = size_of("nonzero", "size", size)
    mask = array_of("nonzero", as_bool("nonzero", a))
    flat, present = _first_true(lax.reshape(mask, (mask.size,)), size=size, dtype=dtype)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * a.ndim
    if len(fills) != a.ndim:
        raise ArgumentError(
            f"nonzero: fill_value={fill_value} for {a.ndim} dimensions; give one for each"
        )
    out, stride = [], a.size
    for n, fill in zip(a.shape, fills, strict=True):
        stride = stride // n if n else 1
        position = flat // stride % max(n, 1) if a.size else flat
        filler = array_in("nonzero", 0 if fill is None else fill, dtype)
        out.append(lax.select(present, position, filler))
    return tuple(out)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Positions in the flattened array of the elements that are not 0; else as `nonzero`.

    Example:
        >>> flatnonzero(np.array([[0, 5], [0, 7]]))
        Array([1, 3], dtype=int32)
    """
    a = array_of("flatnonzero", a)
    return nonzero(lax.reshape(a, (a.size,)), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Positions of the elements that are not 0, one row for each; otherwise as `nonzero`.

    Example:
        >>> argwhere(np.array([[0, 5], [0, 7]]))
        Array([[0, 1],
               [1, 1]], dtype=int32)
    """
    a = array_of("argwhere", a)
    if not a.ndim:
        rows = nonzero(lax.reshape(a, (1,)), size=size)[0].shape[0]
        return lax.full((rows, 0), 0, dtypes.default_int_dtype())
    columns = nonzero(a, size=size, fill_value=fill_value)
    return lax.concatenate([lax.expand_dims(c, (1,)) for c in columns], 1)


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Distinct elements in ascending order.

    Args:
        ar: Array.
        return_index: Whether to return the first position of each.
        return_inverse: Whether to return, for each element, which of the distinct ones it is.
        return_counts: Whether to return how often each occurs.
        axis: Dimension whose slices are compared; None for elements. Only without `size`.
        equal_nan: Whether NaN equals NaN.
        size: Number of distinct elements to return; must be given where `ar` is traced.
        fill_value: What to fill up with; the least element if None.

    Returns:
        Array of the distinct elements, or a tuple of it and what else was asked for.

    Raises:
        ConcretizationError: `ar` is traced and no size is given.

    Example:
        >>> unique(np.array([3, 1, 3], np.int32))
        Array([1, 3], dtype=int32)
    """
    a = array_of("unique", ar)
    dtype = dtypes.default_int_dtype()
    if size is None:
        host = concrete_of("unique", a, _GIVE_SIZE)
        find: Any = np.unique  # its overloads know literal flags only
        values, *extras = find(host, True, return_inverse, return_counts, axis, equal_nan=equal_nan)
        if not return_index:
            extras = extras[1:]
        out = [array_of("unique", values), *[array_of("unique", x.astype(dtype)) for x in extras]]
        return tuple(out) if len(out) > 1 else out[0]
    if axis is not None and a.ndim > 1:
        raise ArgumentError("unique: axis and size cannot be given together; leave one out")
    size = size_of("unique", "size", size)
    parts = _unique(a, size=size, equal_nan=bool(equal_nan), dtype=dtype)
    values, index, inverse, counts = parts
    if fill_value is not None:
        filler = array_in("unique", fill_value, a.dtype)
        values = lax.select(lax.gt(counts, lax.full((), 0, dtype)), values, filler)
    out = [values]
    for wanted, part in ((return_index, index), (return_inverse, inverse), (return_counts, counts)):
        if wanted:
            out.append(part)
    return tuple(out) if len(out) > 1 else out[0]


@composite("size", "equal_nan", "dtype")
def _unique(a: Any, *, size: int, equal_nan: bool, dtype: Any) -> tuple[Array, Array, Array, Array]:
    n = a.size
    flat = lax.reshape(a, (n,))
    if not n:
        nothing = lax.full((size,), 0, dtype)
        return lax.full((size,), 0, a.dtype), nothing, lax.full(a.shape, 0, dtype), nothing
    ordered, order = lax.sort((flat, lax.iota(dtype, n)), 0, True, 1)
    later, earlier = lax.slice_in_dim(ordered, 1, n), lax.slice_in_dim(ordered, 0, n - 1)
    new = operators.not_equal(later, earlier)
    if equal_nan and a.dtype in dtypes.INEXACT:
        both = operators.bitwise_and(
            operators.not_equal(later, later), operators.not_equal(earlier, earlier)
        )
        new = operators.bitwise_and(new, operators.invert(both))
    new = lax.concatenate([lax.full((1,), True, dtypes.bool_), new], 0)
    number = lax.cumsum(lax.convert_element_type(new, dtype)) - 1
    inverse = lax.full((n,), 0, dtype).at[order].set(number, unique_indices=True)
    # One more than asked for: each group ends where the next one starts.
    found, present = _first_true(new, size=size + 1, dtype=dtype)
    edges = lax.select(present, found, lax.full((), n, dtype))
    start, end = lax.slice_in_dim(edges, 0, size), lax.slice_in_dim(edges, 1, None)
    missing = lax.eq(start, lax.full((), n, dtype))
    safe = lax.select(missing, lax.full((), 0, dtype), start)
    return ordered[safe], order[safe], lax.reshape(inverse, a.shape), lax.sub(end, start)


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Distinct elements, NaN each for itself, as the array API names them; else as `unique`.

    Example:
        >>> unique_values(np.array([3, 1, 3], np.int32))
        Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def unique_counts(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueCountsResult:
    """Distinct elements and how often they occur; otherwise as `unique_values`.

    Example:
        >>> [part.tolist() for part in unique_counts(np.array([3, 1, 3]))]
        [[1, 3], [1, 2]]
    """
    return UniqueCountsResult(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverseResult:
    """Distinct elements, and which one each element is; otherwise as `unique_values`.

    Example:
        >>> [part.tolist() for part in unique_inverse(np.array([3, 1, 3]))]
        [[1, 3], [1, 0, 1]]
    """
    return UniqueInverseResult(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAllResult:
    """Distinct elements, first positions, which one each element is, counts.

    Otherwise as `unique_values`.

    Example:
        >>> [part.tolist() for part in unique_all(np.array([3, 1, 3]))]
        [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    return UniqueAllResult(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Array:
    """Whether elements occur in another array.

    Args:
        element: Array or number.
        test_elements: Array or number: where to look.
        assume_unique: Without effect: a promise that no element occurs twice.
        invert: Whether to tell those that do not occur.

    Returns:
        Array of `bool` of the shape of `element`.

    Example:
        >>> isin(np.array([1, 2, 3]), np.array([3, 1]))
        Array([ True, False,  True], dtype=bool)
    """
    x, tests = promote_dtypes("isin", element, test_elements)
    x, tests = array_of("isin", x), array_of("isin", tests)
    if not tests.size:
        return lax.full(x.shape, bool(invert), dtypes.bool_)
    ordered = sort(lax.reshape(tests, (tests.size,)))
    position = searchsorted(ordered, x)
    position = lax.min(position, lax.full((), tests.size - 1, position.dtype))
    found = operators.equal(ordered[position], x)
    return operators.invert(found) if invert else found
