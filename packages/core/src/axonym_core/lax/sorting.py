"""Sorting, and the largest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.arguments import as_dimension
from ..arrays.array import Array
from ..errors import ShapeError
from ..primitives.sorting import sort_p, top_k_p
from ..types.avals import aval_of
from .shape import transpose

__all__ = ["sort", "sort_key_val", "top_k"]


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort along a dimension, in ascending order.

    Numbers are ordered with -0.0 equal to 0.0 and NaN last; complex numbers by real part, then by
    imaginary part.

    Args:
        operand: Array, or a sequence of arrays of one shape that are permuted together.
        dimension: Dimension to sort along; a negative one counts from the end.
        is_stable: Whether equal elements keep their order. A single array of floating-point
            numbers is sorted several times faster without it on some backends.
        num_keys: How many of the arrays decide the order: the first, where it leaves elements
            equal the second, and so on.

    Returns:
        The sorted array; for a sequence the tuple of permuted arrays.

    Raises:
        ShapeError: The arrays differ in shape, the dimension does not exist, or `num_keys` is not
            between 1 and the number of arrays.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> keys, where = lax.sort((np.array([3, 1, 2]), np.arange(3)))
        >>> where.tolist()
        [1, 2, 0]
    """
    several = isinstance(operand, tuple | list)
    operands = tuple(operand) if several else (operand,)
    if not operands:
        raise ShapeError("sort: operand is an empty sequence; give at least one array")
    out = sort_p.bind(
        *operands,
        dimension=as_dimension(dimension, aval_of(operands[0]).ndim, "sort", "dimension"),
        is_stable=bool(is_stable),
        num_keys=int(num_keys),
    )
    return tuple(out) if several else out[0]


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Sort keys along a dimension, and permute values with them.

    Args:
        keys: Array to sort.
        values: Array of the same shape.
        dimension: Dimension to sort along; a negative one counts from the end.
        is_stable: Whether values of equal keys keep their order.

    Returns:
        The sorted keys and the permuted values.

    Raises:
        ShapeError: The arrays differ in shape, or the dimension does not exist.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.sort_key_val(np.array([3, 1, 2]), np.array([30, 10, 20]))[1].tolist()
        [10, 20, 30]
    """
    sorted_keys, permuted = sort((keys, values), dimension, is_stable, 1)
    return sorted_keys, permuted


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """Largest elements along a dimension, and where they stand.

    Args:
        operand: Array of booleans, integers or real numbers; NaN counts as the largest.
        k: How many.
        axis: The dimension; a negative one counts from the end.

    Returns:
        The `k` largest elements in descending order, and their positions (int32). Of equal
        elements the first come first.

    Raises:
        ShapeError: `k` is larger than the dimension, or the dimension does not exist.
        DTypeError: The operand is complex.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> values, positions = lax.top_k(np.array([3.0, 9.0, 5.0], np.float32), 2)
        >>> values.tolist(), positions.tolist()
        ([9.0, 5.0], [1, 2])
    """
    ndim = aval_of(operand).ndim
    axis = as_dimension(axis, ndim, "top_k", "axis")
    if axis == ndim - 1:
        values, positions = top_k_p.bind(operand, k=int(k))
        return values, positions
    order = (*range(axis), *range(axis + 1, ndim), axis)
    back: Sequence[int] = (*range(axis), ndim - 1, *range(axis, ndim - 1))
    values, positions = top_k_p.bind(transpose(operand, order), k=int(k))
    return transpose(values, back), transpose(positions, back)
