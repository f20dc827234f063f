"""Linear algebra: norms, powers and chains of matrices, and the array API's names of products.

Decompositions are not here.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from axonym_core import lax, operators
from axonym_core.arrays import Array, as_ints
from axonym_core.errors import ShapeError
from axonym_core.operators import number_like
from axonym_core.types import AxisName, aval_of, dtypes

from .arguments.composites import composite
from .arguments.operands import array_of, inexact, sequence_of
from .arguments.reduction_axes import keep_dimensions, split_axes
from .creation.matrices import diagonal as _diagonal
from .creation.matrices import eye
from .creation.matrices import trace as _trace
from .elementwise.roots import power_of_sum, square_root
from .errors import ArgumentError
from .linear_algebra.einstein_sums import einsum
from .linear_algebra.products import cross as _cross
from .linear_algebra.products import matmul, outer, tensordot, vecdot
from .reductions.elementary import extreme
from .shapes.reshaping import matrix_transpose

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

Names = tuple[AxisName, ...]


def _extremum(x: Any, dims: tuple[int, ...], names: Names, largest: bool) -> Any:
    """Extreme size; 0 (or infinity, of the least) where there is none."""
    out = (lax.reduce_max if largest else lax.reduce_min)(x, dims, names)
    if largest:  # of no elements it is -inf, where the norm is 0
        return lax.select(
            lax.eq(out, extreme(aval_of(out).dtype, False)), number_like(0, aval_of(out)), out
        )
    return out


@composite("dims", "names", "ord")
def _vector_norm(x: Any, *, dims: tuple[int, ...], names: Names, ord: float) -> Array:
    dtype = aval_of(x).dtype
    if ord == 2:
        if dtype in dtypes.COMPLEXES:
            squares = lax.add(lax.square(lax.real(x)), lax.square(lax.imag(x)))
        else:
            squares = lax.square(x)
        return square_root(lax.reduce_sum(squares, dims, names))
    size = lax.abs(x)
    if math.isinf(ord):
        return _extremum(size, dims, names, largest=ord > 0)
    aval = aval_of(size)
    if ord == 0:
        present = lax.convert_element_type(lax.ne(x, number_like(0, aval_of(x))), aval.dtype)
        return lax.reduce_sum(present, dims, names)
    if ord == 1:
        return lax.reduce_sum(size, dims, names)
    total = lax.reduce_sum(power_of_sum(size, ord), dims, names)
    return power_of_sum(total, 1 / ord)


@composite("rows", "columns", "ord")
def _matrix_norm(x: Any, *, rows: int, columns: int, ord: float) -> Array:
    """Extreme of the sums of sizes: over columns for 1, over rows for infinity."""
    across, along = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = lax.reduce_sum(lax.abs(x), (across,))
    left = along - (along > across)
    return _extremum(sums, (left,), (), largest=ord > 0)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Norm of vectors or matrices.

    Its derivative where it vanishes, and does not exist, is 0.

    Args:
        x: Array or number; integers go to the default floating-point dtype.
        ord: For vectors: 2 (also None), 1, another number p for the p-norm, 0 for the number of
            elements that are not 0, infinity or minus infinity. For matrices: ``"fro"`` (also
            None), 1, -1, infinity or minus infinity.
        axis: Dimension of vectors (or the name of a named axis, or a tuple of both with `ord`
            None), or pair of dimensions of matrices; None takes the whole array, flat where `ord`
            is None.
        keepdims: Whether dimensions stay, with size 1.

    Returns:
        Array of a real dtype.

    Raises:
        ArgumentError: There is no such norm here (those that need singular values are not).
        ShapeError: The dimensions do not fit.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> norm(lax.full((4,), 2.0, "float32"))
        Array(4., dtype=float32)
    """
    x = array_of("norm", inexact("norm", x))
    dims, names = split_axes("norm", x.aval, axis)
    if ord is None or ord == "f" or ord == "fro":
        if ord is not None and len(dims) != 2:
            raise ShapeError(f"norm: ord={ord!r} is for matrices, and axis={axis} is no pair")
        out = _vector_norm(x, dims=dims, names=names, ord=2.0)
        return keep_dimensions(out, x.shape, dims) if keepdims else out
    if isinstance(ord, str) or not isinstance(ord, int | float):
        raise ArgumentError(_unknown(ord))
    if len(dims) == 2 and not names:
        if axis is not None and isinstance(axis, tuple | list):
            rows, columns = dims
        else:
            rows, columns = sorted(dims)
        out = _norm_of_matrices(x, float(ord), rows, columns)
    elif len(dims) + len(names) == 1:
        if math.isinf(ord) and ord < 0 and dims and not x.shape[dims[0]]:
            raise ShapeError("norm: a vector without elements has no least one")
        out = _vector_norm(x, dims=dims, names=names, ord=float(ord))
    else:
        raise ShapeError(
            f"norm: axis={axis} of an operand of type {x.aval}; with ord={ord} give one dimension "
            "for vectors or two for matrices"
        )
    return keep_dimensions(out, x.shape, dims) if keepdims else out


def _unknown(ord: Any) -> str:
    return (
        f"norm: ord={ord!r} is not available; for vectors give a number, for matrices 'fro', 1, "
        "-1, inf or -inf (2, -2 and 'nuc' need singular values)"
    )


def _norm_of_matrices(x: Array, ord: float, rows: int, columns: int) -> Array:
    if abs(ord) == 2 and not x.shape[rows] * x.shape[columns]:
        rest = tuple([n for d, n in enumerate(x.shape) if d not in (rows, columns)])
        return lax.full(rest, 0, lax.real(x).dtype if x.dtype in dtypes.COMPLEXES else x.dtype)
    if abs(ord) != 1 and not math.isinf(ord):
        raise ArgumentError(_unknown(ord))
    return _matrix_norm(x, rows=rows, columns=columns, ord=ord)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Norm of vectors along one dimension or several, or of the flattened array.

    Args:
        x: Array.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        keepdims: Whether dimensions stay, with size 1.
        ord: As of `norm` for vectors.

    Raises:
        ArgumentError: `ord` is no number.

    Example:
        >>> vector_norm(lax.full((2, 2), 2.0, "float32"))
        Array(4., dtype=float32)
    """
    x = array_of("vector_norm", inexact("vector_norm", x))
    if not isinstance(ord, int | float):
        raise ArgumentError(f"vector_norm: ord={ord!r} must be a number")
    dims, names = split_axes("vector_norm", x.aval, axis)
    out = _vector_norm(x, dims=dims, names=names, ord=float(ord))
    return keep_dimensions(out, x.shape, dims) if keepdims else out


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norm of the matrices in the last two dimensions; arguments and errors are those of `norm`.

    Example:
        >>> matrix_norm(lax.full((2, 2), 2.0, "float32"))
        Array(4., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


def matrix_power(a: Any, n: int) -> Array:
    """Product of a square matrix with itself.

    Args:
        a: Square matrix, or stack of them.
        n: How often: an integer of 0 or more.

    Raises:
        ShapeError: The matrices are not square.
        ArgumentError: `n` is negative.

    Example:
        >>> matrix_power(lax.full((2, 2), 1.0, "float32"), 3)
        Array([[4., 4.],
               [4., 4.]], dtype=float32)
    """
    a = array_of("matrix_power", a)
    (n,) = as_ints(n, "matrix_power", "n")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"matrix_power: a has type {a.aval}; give square matrices")
    if n < 0:
        raise ArgumentError(f"matrix_power: n={n}; give 0 or more, inverses are not available")
    if n == 0:
        return lax.broadcast(eye(a.shape[-1], dtype=a.dtype), a.shape[:-2])
    out: Any = None
    while n:
        if n & 1:
            out = a if out is None else operators.matmul(out, a)
        n >>= 1
        if n:
            a = operators.matmul(a, a)
    return out


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Array:
    """Product of a chain of matrices, in the order that costs least.

    Args:
        arrays: Two matrices or more; the first may be a row vector, the last a column vector.
        precision: As of `lax.dot_general`.

    Raises:
        ArgumentError: There are fewer than two.
        ShapeError: Neighbours do not fit.

    Example:
        >>> x = eye(2)
        >>> multi_dot([x, x, lax.full((2,), 12.0, "float32")])
        Array([12., 12.], dtype=float32)
    """
    xs = [array_of("multi_dot", x) for x in sequence_of("multi_dot", "arrays", arrays)]
    if len(xs) < 2:
        raise ArgumentError("multi_dot: give two arrays or more")
    terms: list[Any] = []
    for i, x in enumerate(xs):
        if x.ndim == 2:
            labels = [i, i + 1]
        elif x.ndim == 1 and i in (0, len(xs) - 1):
            labels = [i + 1] if i == 0 else [i]
        else:
            raise ShapeError(f"multi_dot: arrays[{i}] has type {x.aval}; give matrices")
        terms += [x, labels]
    out = ([0] if xs[0].ndim == 2 else []) + ([len(xs)] if xs[-1].ndim == 2 else [])
    return einsum(*terms, out, precision=precision, optimize="optimal")


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Diagonals of the matrices in the last two dimensions.

    Args:
        x: Array of two dimensions or more.
        offset: Which diagonal: 0 the main one, positive ones above it.

    Example:
        >>> diagonal(eye(2))
        Array([1., 1.], dtype=float32)
    """
    return _diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sums of the diagonals of the matrices in the last two dimensions.

    Args:
        x: Array of two dimensions or more.
        offset: Which diagonal: 0 the main one, positive ones above it.
        dtype: Dtype to sum in, as of `sum`.

    Example:
        >>> trace(eye(2))
        Array(2., dtype=float32)
    """
    return _trace(x, offset, -2, -1, dtype)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Cross products of vectors of 3 components.

    Args:
        x1: Array.
        x2: Array.
        axis: Dimension of the components.

    Raises:
        ShapeError: The vectors do not have 3 components.

    Example:
        >>> cross(lax.iota("int32", 3), lax.full((3,), 1))
        Array([-1,  2, -1], dtype=int32)
    """
    for x in (x1, x2):
        if array_of("cross", x).shape[axis] != 3:
            raise ShapeError("linalg.cross: give vectors of 3 components")
    return _cross(x1, x2, axis=axis)
