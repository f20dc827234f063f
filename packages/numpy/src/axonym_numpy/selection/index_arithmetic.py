"""Arithmetic with indices: flat and by dimension, of diagonals and triangles, and grids of them."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any, final

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array, as_ints
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import number_like, promote_dtypes
from axonym_core.types import aval_of, dtypes

from ..arguments.operands import array_of, choice, size_of
from ..creation.matrices import tril_indices, triu_indices
from ..creation.ranges import arange, linspace, meshgrid
from ..errors import ArgumentError
from ..shapes.reshaping import broadcast_arrays

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "index_exp",
    "mgrid",
    "ogrid",
    "ravel_multi_index",
    "s_",
    "tril_indices_from",
    "triu_indices_from",
    "unravel_index",
]

s_ = np.s_
index_exp = np.index_exp


def unravel_index(indices: Any, shape: Any) -> tuple[Array, ...]:
    """Indices by dimension of positions in a flattened array; those out of bounds are clipped.

    Args:
        indices: Integers; negative ones count from the end.
        shape: Shape of the array.

    Returns:
        One array for each dimension, of the shape of `indices`.

    Raises:
        DTypeError: The indices are not integers.

    Example:
        >>> [int(i) for i in unravel_index(5, (2, 3))]
        [1, 2]
    """
    index = array_of("unravel_index", indices)
    _require_integers("unravel_index", index)
    sizes = as_ints(shape, "unravel_index", "shape")
    total = 1
    for n in sizes:
        total *= n
    if index.dtype.itemsize < 4:
        index = lax.convert_element_type(index, dtypes.int32)
    aval = index.aval
    if index.dtype in dtypes.SIGNED:
        negative = lax.lt(index, number_like(0, aval))
        index = lax.select(negative, lax.add(index, number_like(total, aval)), index)
    index = lax.clamp(number_like(0, aval), index, number_like(max(total - 1, 0), aval))
    out = []
    for n in reversed(sizes):
        size = number_like(max(n, 1), aval)
        out.append(lax.rem(index, size))
        index = lax.div(index, size)
    return tuple(reversed(out))


def _require_integers(name: str, index: Array) -> None:
    if index.dtype not in dtypes.INTEGERS:
        raise DTypeError(f"{name}: indices have type {index.aval}; give integers")


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Array:
    """Positions in a flattened array of indices by dimension.

    Args:
        multi_index: One array of integers for each dimension.
        dims: Shape of the array.
        mode: What an index out of bounds means: ``raise`` (which, as nothing can be raised from
            numbers here, promises that there is none), ``clip`` or ``wrap``.
        order: ``"C"`` or ``"F"``.

    Raises:
        ShapeError: There are not as many arrays as dimensions.
        ArgumentError: The mode or order is unknown.

    Example:
        >>> int(ravel_multi_index((1, 2), (2, 3)))
        5
    """
    choice("ravel_multi_index", "mode", mode, ("raise", "clip", "wrap"))
    choice("ravel_multi_index", "order", order, ("C", "F"))
    sizes = as_ints(dims, "ravel_multi_index", "dims")
    if len(sizes) != len(multi_index):
        raise ShapeError(
            f"ravel_multi_index: {len(multi_index)} index arrays for {len(sizes)} dimensions; give "
            "one for each"
        )
    indices = [array_of("ravel_multi_index", i) for i in promote_dtypes("ravel", *multi_index)]
    for i in indices:
        _require_integers("ravel_multi_index", i)
    pairs = list(zip(broadcast_arrays(*indices), sizes, strict=True))
    out: Any = None
    for i, n in pairs if order == "C" else reversed(pairs):
        size = number_like(n, aval_of(i))
        if mode == "clip":
            i = lax.clamp(number_like(0, aval_of(i)), i, number_like(max(n - 1, 0), aval_of(i)))
        elif mode == "wrap":
            i = operators.remainder(i, size)
        out = i if out is None else lax.add(lax.mul(out, size), i)
    return out


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Indices of the main diagonal of an array of equal sizes.

    Args:
        n: Size of each dimension.
        ndim: Number of dimensions.

    Example:
        >>> [i.tolist() for i in diag_indices(2)]
        [[0, 1], [0, 1]]
    """
    return (arange(size_of("diag_indices", "n", n)),) * size_of("diag_indices", "ndim", ndim)


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Indices of the main diagonal of a given array.

    Args:
        arr: Array of two dimensions or more, of equal sizes.

    Raises:
        ShapeError: It is not such an array.

    Example:
        >>> [i.tolist() for i in diag_indices_from(lax.full((2, 2), 0))]
        [[0, 1], [0, 1]]
    """
    a = array_of("diag_indices_from", arr)
    if a.ndim < 2 or len(set(a.shape)) != 1:
        raise ShapeError(f"diag_indices_from: arr has type {a.aval}; give equal sizes")
    return diag_indices(a.shape[0], a.ndim)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Indices of the lower triangle of a given matrix; `k` is as of `tril_indices`.

    Example:
        >>> [i.tolist() for i in tril_indices_from(lax.full((2, 2), 0))]
        [[0, 1, 1], [0, 0, 1]]
    """
    n, m = _matrix("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Indices of the upper triangle of a given matrix; `k` is as of `triu_indices`.

    Example:
        >>> [i.tolist() for i in triu_indices_from(lax.full((2, 2), 0), 1)]
        [[0], [1]]
    """
    n, m = _matrix("triu_indices_from", arr)
    return triu_indices(n, k, m)


def _matrix(name: str, arr: Any) -> tuple[int, int]:
    a = array_of(name, arr)
    if a.ndim != 2:
        raise ShapeError(f"{name}: arr has type {a.aval}; give a matrix")
    return a.shape[0], a.shape[1]


@final
class _Grid:
    """Grids of coordinates written as slices: `mgrid[0:3, 0:1:5j]`."""

    __slots__ = ("_sparse",)

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        vectors = [self._vector(s) for s in slices]
        if not isinstance(key, tuple):
            return vectors[0]
        vectors = [array_of("mgrid", v) for v in promote_dtypes("mgrid", *vectors)]
        grids = meshgrid(*vectors, indexing="ij", sparse=self._sparse)
        if self._sparse:
            return tuple(grids)
        return lax.concatenate([lax.expand_dims(g, (0,)) for g in grids], 0)

    def _vector(self, s: Any) -> Array:
        if not isinstance(s, slice):
            raise ArgumentError(f"mgrid: {s!r} is no slice; write mgrid[0:3, 0:1:5j]")
        start = 0 if s.start is None else s.start
        if isinstance(s.step, complex):
            out: Array = linspace(start, s.stop, int(abs(s.step)))
            return out
        return arange(start, s.stop, 1 if s.step is None else s.step)

    def __repr__(self) -> str:
        return "ogrid" if self._sparse else "mgrid"


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
