"""Making arrays: counted, or with one value everywhere. A constant array is a broadcast scalar."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.arguments import as_dimension, as_ints
from ..arrays.array import Array
from ..errors import ShapeError
from ..operators.promotion import number_like, scalar_of, settled
from ..primitives.shape import broadcast_in_dim_p, iota_p
from ..types import dtypes
from ..types.avals import aval_of
from .elementwise.conversions import convert_element_type

__all__ = [
    "broadcasted_iota",
    "full",
    "full_like",
    "iota",
    "zeros_like_array",
]


def _filled(value: Any, shape: tuple[int, ...]) -> Array:
    if not shape and isinstance(value, Array):
        return value
    return broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=())


def iota(dtype: Any, size: int) -> Array:
    """Count from 0 to `size - 1`.

    Args:
        dtype: Integer or floating-point dtype.
        size: How many numbers.

    Returns:
        1-d array `[0, 1, …]`.

    Example:
        >>> from axonym_core import lax
        >>> lax.iota("int32", 3)
        Array([0, 1, 2], dtype=int32)
    """
    return broadcasted_iota(dtype, as_ints(size, "iota", "size"), 0)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Array:
    """Array whose elements are their own index along one dimension.

    Args:
        dtype: Integer or floating-point dtype.
        shape: Shape of the result.
        dimension: Along which dimension to count.

    Returns:
        Array of shape `shape`.

    Example:
        >>> from axonym_core import lax
        >>> lax.broadcasted_iota("int32", (2, 3), 1)
        Array([[0, 1, 2],
               [0, 1, 2]], dtype=int32)
    """
    shape = as_ints(shape, "broadcasted_iota", "shape")
    dimension = as_dimension(dimension, len(shape), "broadcasted_iota", "dimension")
    return iota_p.bind(dtype=dtypes.as_dtype(dtype), shape=shape, dimension=dimension)


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Array:
    """Array with one value everywhere.

    Args:
        shape: Shape of the result.
        fill_value: Scalar.
        dtype: Element type; by default that of `fill_value` (weak for a Python number).

    Returns:
        Array of shape `shape`.

    Raises:
        ShapeError: `fill_value` is not a scalar.

    Example:
        >>> from axonym_core import lax
        >>> lax.full((2,), 1, "float32")
        Array([1., 1.], dtype=float32)
    """
    shape = as_ints(shape, "full", "shape")
    value = fill_value
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if isinstance(value, Array):
            if value.aval.dtype != dtype or value.aval.weak_type:
                value = convert_element_type(value, dtype)
        elif aval_of(value).shape == ():
            value = scalar_of(value[()] if isinstance(value, np.ndarray) else value, dtype)
    else:
        value = settled(value)
    if aval_of(value).shape != ():
        raise ShapeError(
            f"full: fill_value must be a scalar, got shape {aval_of(value).shape}; use "
            "lax.broadcast_in_dim to repeat an array"
        )
    return _filled(value, shape)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None
) -> Array:
    """Array with one value everywhere, of the shape and dtype of another one.

    Args:
        x: Array, or anything with a shape and a dtype.
        fill_value: Scalar.
        dtype: Element type in the place of that of `x`.
        shape: Shape in the place of that of `x`.

    Returns:
        Array that does not vary over named axes.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.full_like(np.zeros((2,), np.int8), 3)
        Array([3, 3], dtype=int8)
    """
    aval = aval_of(x)
    shape = aval.shape if shape is None else as_ints(shape, "full_like", "shape")
    if dtype is None and aval.weak_type and not isinstance(fill_value, Array):
        return _filled(number_like(fill_value, aval), shape)
    return full(shape, fill_value, aval.dtype if dtype is None else dtype)


def zeros_like_array(x: Any) -> Array:
    """Zeros of the shape and dtype of an array.

    Args:
        x: Array.

    Returns:
        Array that does not vary over named axes.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.zeros_like_array(np.array([1.0, 2.0]))
        Array([0., 0.], dtype=float64)
    """
    return full_like(x, 0)
