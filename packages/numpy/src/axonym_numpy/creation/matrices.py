"""Matrices: identity, triangles, diagonals, traces.

A diagonal lies at equal distances in a flattened matrix, so reading one is a strided slice and
making one an interior padding: no index arrays, and derivatives that are as cheap.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array, as_dimension, as_ints
from axonym_core.errors import ShapeError
from axonym_core.operators import scalar_of
from axonym_core.types import dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_in, array_of, refuse_out, size_of
from ..errors import ArgumentError
from ..reductions.elementary import sum as sum_over
from .construction import placed

__all__ = [
    "diag",
    "diagflat",
    "diagonal",
    "eye",
    "fill_diagonal",
    "identity",
    "trace",
    "tri",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "vander",
]


@composite("n", "m", "k", "dtype")
def _diagonal_mask(*, n: int, m: int, k: int, dtype: Any) -> Array:
    rows = lax.broadcasted_iota("int32", (n, m), 0)
    columns = lax.broadcasted_iota("int32", (n, m), 1)
    return lax.convert_element_type(lax.eq(lax.add(rows, np.int32(k)), columns), dtype)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """Matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: Number of rows.
        M: Number of columns; as many as rows if None.
        k: Which diagonal: 0 the main one, positive ones above it.
        dtype: Element type; the default floating-point dtype if None.
        device: Where to put it.

    Example:
        >>> eye(2, 3, 1, int)
        Array([[0, 1, 0],
               [0, 0, 1]], dtype=int32)
    """
    rows = size_of("eye", "N", N)
    columns = rows if M is None else size_of("eye", "M", M)
    wanted = dtypes.default_float_dtype() if dtype is None else dtypes.as_dtype(dtype)
    (k,) = as_ints(k, "eye", "k")
    k = max(min(k, columns), -rows)
    return placed("eye", _diagonal_mask(n=rows, m=columns, k=k, dtype=wanted), device)


def identity(n: int, dtype: Any = None) -> Array:
    """Identity matrix.

    Args:
        n: Number of rows and columns.
        dtype: Element type; the default floating-point dtype if None.

    Example:
        >>> identity(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


@composite("n", "m", "k", "dtype")
def _lower_mask(*, n: int, m: int, k: int, dtype: Any) -> Array:
    rows = lax.broadcasted_iota("int32", (n, m), 0)
    columns = lax.broadcasted_iota("int32", (n, m), 1)
    return lax.convert_element_type(lax.ge(lax.add(rows, np.int32(k)), columns), dtype)


def _clipped(k: Any, n: int, m: int, name: str) -> int:
    (k,) = as_ints(k, name, "k")
    return max(min(k, m), -n - 1)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Matrix with ones on and below a diagonal, zeros above.

    Args:
        N: Number of rows.
        M: Number of columns; as many as rows if None.
        k: Which diagonal: 0 the main one, positive ones above it.
        dtype: Element type; the default floating-point dtype if None.

    Example:
        >>> tri(2, 3, dtype=int)
        Array([[1, 0, 0],
               [1, 1, 0]], dtype=int32)
    """
    n = size_of("tri", "N", N)
    m = n if M is None else size_of("tri", "M", M)
    wanted = dtypes.default_float_dtype() if dtype is None else dtypes.as_dtype(dtype)
    return _lower_mask(n=n, m=m, k=_clipped(k, n, m, "tri"), dtype=wanted)


@composite("k", "lower")
def _triangle(m: Any, *, k: int, lower: bool) -> Array:
    shape = m.shape
    mask = _lower_mask(n=shape[-2], m=shape[-1], k=k, dtype=dtypes.bool_)
    if len(shape) > 2:
        mask = lax.broadcast(mask, shape[:-2])
    zero = scalar_of(0, m.dtype)
    return lax.select(mask, m, zero) if lower else lax.select(mask, zero, m)


def _triangle_of(name: str, m: Any, k: Any, lower: bool) -> Array:
    m = array_of(name, m)
    if m.ndim < 2:
        raise ShapeError(f"{name}: m has type {m.aval}; give a matrix, or a stack of matrices")
    k = _clipped(k if lower else as_ints(k, name, "k")[0] - 1, m.shape[-2], m.shape[-1], name)
    return _triangle(m, k=k, lower=lower)


def tril(m: Any, k: int = 0) -> Array:
    """Lower triangle: elements above a diagonal are set to 0.

    Args:
        m: Matrix, or stack of matrices in the last two dimensions.
        k: Which diagonal is the last one that is kept.

    Returns:
        Array of the shape and dtype of `m`.

    Raises:
        ShapeError: `m` has fewer than two dimensions.

    Example:
        >>> import axonym_numpy as anp
        >>> tril(anp.ones((2, 2)))
        Array([[1., 0.],
               [1., 1.]], dtype=float32)
    """
    return _triangle_of("tril", m, k, lower=True)


def triu(m: Any, k: int = 0) -> Array:
    """Upper triangle: elements below a diagonal are set to 0.

    Args:
        m: Matrix, or stack of matrices in the last two dimensions.
        k: Which diagonal is the first one that is kept.

    Returns:
        Array of the shape and dtype of `m`.

    Raises:
        ShapeError: `m` has fewer than two dimensions.

    Example:
        >>> import axonym_numpy as anp
        >>> triu(anp.ones((2, 2)), 1)
        Array([[0., 1.],
               [0., 0.]], dtype=float32)
    """
    return _triangle_of("triu", m, k, lower=False)


def _index_pair(rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any]) -> tuple[Array, Array]:
    dtype = dtypes.default_int_dtype()
    return array_of("tri", rows.astype(dtype)), array_of("tri", columns.astype(dtype))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Row and column indices of the lower triangle of a matrix.

    Args:
        n: Number of rows.
        k: Which diagonal is the last one that is included.
        m: Number of columns; as many as rows if None.

    Example:
        >>> [i.tolist() for i in tril_indices(2)]
        [[0, 1, 1], [0, 0, 1]]
    """
    return _index_pair(*np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Row and column indices of the upper triangle of a matrix.

    Args:
        n: Number of rows.
        k: Which diagonal is the first one that is included.
        m: Number of columns; as many as rows if None.

    Example:
        >>> [i.tolist() for i in triu_indices(2, 1)]
        [[0], [1]]
    """
    return _index_pair(*np.triu_indices(n, k, m))


@composite("k")
def _diagonal_matrix(v: Any, *, k: int) -> Array:
    """Matrix with a vector on a diagonal: its elements at equal distances of a flat array."""
    n = v.shape[0]
    size = n + abs(k)
    if n == 0:
        return lax.full((size, size), 0, v.dtype)
    start = k if k >= 0 else -k * size
    last = start + (n - 1) * (size + 1)
    flat = lax.pad(v, scalar_of(0, v.dtype), [(start, size * size - last - 1, size)])
    return lax.reshape(flat, (size, size))


def diag(v: Any, k: int = 0) -> Array:
    """Diagonal of a matrix, or the matrix with a vector on its diagonal.

    Args:
        v: Matrix or vector.
        k: Which diagonal: 0 the main one, positive ones above it.

    Raises:
        ShapeError: `v` is neither a matrix nor a vector.

    Example:
        >>> import axonym_numpy as anp
        >>> diag(anp.ones(2, int), 1)
        Array([[0, 1, 0],
               [0, 0, 1],
               [0, 0, 0]], dtype=int32)
    """
    v = array_of("diag", v)
    (k,) = as_ints(k, "diag", "k")
    if v.ndim == 1:
        return _diagonal_matrix(v, k=k)
    if v.ndim != 2:
        raise ShapeError(f"diag: v has type {v.aval}; give a vector or a matrix")
    return diagonal(v, k)


def diagflat(v: Any, k: int = 0) -> Array:
    """Matrix with the elements of an array, in order, on a diagonal.

    Args:
        v: Array of any shape.
        k: Which diagonal.

    Example:
        >>> import axonym_numpy as anp
        >>> diagflat(anp.ones((1, 2), int))
        Array([[1, 0],
               [0, 1]], dtype=int32)
    """
    v = array_of("diagflat", v)
    return _diagonal_matrix(lax.reshape(v, (v.size,)), k=as_ints(k, "diagflat", "k")[0])


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = False) -> Array:
    """Return a matrix with its main diagonal replaced.

    Args:
        a: Matrix, or array of more dimensions of one size.
        val: Number, or array whose elements are repeated along the diagonal.
        wrap: Refused: diagonals do not go on below a tall matrix.
        inplace: Must be False: arrays never change.

    Raises:
        ShapeError: `a` has no diagonal.
        ArgumentError: `wrap` or `inplace` is true.

    Example:
        >>> import axonym_numpy as anp
        >>> fill_diagonal(anp.zeros((2, 2)), 5)
        Array([[5., 0.],
               [0., 5.]], dtype=float32)
    """
    if wrap or inplace:
        raise ArgumentError("fill_diagonal: wrap and inplace must be False; use the result")
    a = array_of("fill_diagonal", a)
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) != 1):
        raise ShapeError(
            f"fill_diagonal: a has type {a.aval}; give a matrix, or an array of equal sizes"
        )
    n = min(a.shape)
    index = np.arange(n)
    values = array_in("fill_diagonal", val, a.dtype, "val")
    if values.ndim:
        flat = lax.reshape(values, (values.size,))
        values = flat[np.arange(n) % max(values.size, 1)]
    return a.at[(index,) * a.ndim].set(values)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Vandermonde matrix: the powers of a vector in columns.

    Args:
        x: Vector.
        N: Number of columns; as many as elements if None.
        increasing: Whether powers increase from left to right.

    Example:
        >>> import axonym_numpy as anp
        >>> vander(anp.full(1, 3.0), 3)
        Array([[9., 3., 1.]], dtype=float32)
    """
    x = array_of("vander", x)
    if x.ndim != 1:
        raise ShapeError(f"vander: x has type {x.aval}; give a vector")
    n = x.shape[0] if N is None else size_of("vander", "N", N)
    powers = range(n) if increasing else range(n - 1, -1, -1)
    if not n:
        return lax.full((x.shape[0], 0), 0, x.dtype)
    columns = [lax.expand_dims(x**p, (1,)) for p in powers]
    return lax.concatenate(columns, 1)


@composite("offset", "axis1", "axis2")
def _diagonal(a: Any, *, offset: int, axis1: int, axis2: int) -> Array:
    shape = a.shape
    others = tuple([d for d in range(len(shape)) if d not in (axis1, axis2)])
    a = lax.transpose(a, (*others, axis1, axis2))
    *batch, n, m = a.shape
    size = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    if not size:
        return lax.full((*batch, 0), 0, a.dtype)
    start = offset if offset >= 0 else -offset * m
    flat = lax.reshape(a, (*batch, n * m))
    return lax.slice_in_dim(flat, start, start + (size - 1) * (m + 1) + 1, m + 1, len(batch))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Diagonals of the matrices in two dimensions of an array.

    Args:
        a: Array of two dimensions or more.
        offset: Which diagonal: 0 the main one, positive ones above it.
        axis1: Dimension of the rows.
        axis2: Dimension of the columns.

    Returns:
        Array of the remaining dimensions, with the diagonals in a last one.

    Raises:
        ShapeError: The dimensions do not exist or are the same.

    Example:
        >>> diagonal(tri(2, 3, dtype=int), 0)
        Array([1, 1], dtype=int32)
    """
    a = array_of("diagonal", a)
    if a.ndim < 2:
        raise ShapeError(f"diagonal: a has type {a.aval}; give two dimensions or more")
    first = as_dimension(axis1, a.ndim, "diagonal", "axis1")
    second = as_dimension(axis2, a.ndim, "diagonal", "axis2")
    if first == second:
        raise ShapeError(f"diagonal: axis1={axis1} and axis2={axis2} are one; give two dimensions")
    return _diagonal(a, offset=as_ints(offset, "diagonal", "offset")[0], axis1=first, axis2=second)


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Array:
    """Sums of the diagonals of the matrices in two dimensions of an array.

    Args:
        a: Array of two dimensions or more.
        offset: Which diagonal: 0 the main one, positive ones above it.
        axis1: Dimension of the rows.
        axis2: Dimension of the columns.
        dtype: Dtype to sum in, as of `sum`.
        out: Refused: arrays are immutable.

    Raises:
        ShapeError: The dimensions do not exist or are the same.

    Example:
        >>> trace(tri(3))
        Array(3., dtype=float32)
    """
    if out is not None:
        refuse_out("trace")
    return sum_over(diagonal(a, offset, axis1, axis2), -1, dtype)
