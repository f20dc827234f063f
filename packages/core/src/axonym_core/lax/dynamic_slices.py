"""Boxes at computed positions, and how positions are counted.

A negative start counts from the end, as in Python; a box that would stick out is moved inside.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.arguments import as_dimension, as_ints
from ..arrays.array import Array
from ..errors import DTypeError, ShapeError
from ..operators.promotion import is_number, match_scalars
from ..primitives import indexing as p
from ..types import dtypes
from ..types.avals import aval_of
from .elementwise.arithmetic import add
from .elementwise.arithmetic import min as minimum
from .elementwise.comparisons import lt
from .elementwise.conversions import convert_element_type, select
from .shape import reshape, squeeze

__all__ = [
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
]

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)
_INT32_MAX = 2**31 - 1


def index_dtype(shape: Sequence[int], indices: Sequence[Any]) -> np.dtype[Any]:
    """Signed dtype in which to compute indices into an array of a shape: int32, if that does."""
    for n in shape:
        if n > _INT32_MAX:
            return _INT64
    for i in indices:
        if isinstance(i, Array | np.ndarray | np.generic) and (
            i.dtype == _INT64 or i.dtype in (dtypes.uint32, dtypes.uint64)
        ):
            return _INT64
    return _INT32


def as_index_dtype(index: Any, dtype: np.dtype[Any]) -> Any:
    """Convert an integer array to an index dtype, without wrapping round where it is too large."""
    aval = aval_of(index)
    if aval.dtype == dtypes.uint64:
        index = minimum(index, np.uint64(2**63 - 1))
    if aval.dtype == dtype and not aval.weak_type:
        return index
    return convert_element_type(index, dtype)


def wrap_negative(index: Any, size: int, dtype: Any = np.int32) -> Any:
    """Indices in which a negative one counts from the end, as in Python, no longer does.

    Args:
        index: Integer array of any shape, or a Python integer.
        size: Size of the dimension that is indexed.
        dtype: Signed integer dtype of the result.

    Returns:
        `index + size` where `index` is negative, else `index`; it may still be out of bounds.

    Example:
        >>> import numpy as np
        >>> wrap_negative(np.array([-1, 2, -7]), 5)
        Array([ 4,  2, -2], dtype=int32)
    """
    dtype = np.dtype(dtype)
    if isinstance(index, int):
        return dtype.type(index + size if index < 0 else index)
    unsigned = not dtypes.is_signed(aval_of(index).dtype)
    index = as_index_dtype(index, dtype)
    if unsigned:
        return index
    return select(lt(index, dtype.type(0)), add(index, dtype.type(size)), index)


def _starts(
    name: str,
    operand: Any,
    start_indices: Any,
    allow_negative_indices: bool | Sequence[bool],
) -> list[Any]:
    """Start indices as scalars of one signed dtype, negative ones counted from the end."""
    aval = aval_of(operand)
    if isinstance(start_indices, Array | np.ndarray):
        shape = start_indices.shape
        if len(shape) != 1:
            raise ShapeError(
                f"{name}: start_indices must be a sequence of scalars or a 1-d array, got shape "
                f"{shape}"
            )
        start_indices = [start_indices[i] for i in range(shape[0])]
    starts = list(start_indices)
    if len(starts) != aval.ndim:
        raise ShapeError(
            f"{name}: the operand {aval} needs {aval.ndim} start indices, got {len(starts)}"
        )
    if isinstance(allow_negative_indices, bool):
        wraps: Sequence[bool] = [allow_negative_indices] * len(starts)
    else:
        wraps = allow_negative_indices
    dtype = index_dtype(aval.shape, starts)
    out = []
    for i, (start, size, wrap) in enumerate(zip(starts, aval.shape, wraps, strict=True)):
        if isinstance(start, Array):
            if not dtypes.is_integer(start.aval.dtype):
                raise DTypeError(f"{name}: start_indices[{i}] must be an integer, got {start.aval}")
            out.append(wrap_negative(start, size, dtype) if wrap else as_index_dtype(start, dtype))
        else:
            try:
                n = int(operator.index(start))
            except TypeError as error:
                raise DTypeError(
                    f"{name}: start_indices[{i}]={start!r} must be an integer"
                ) from error
            out.append(dtype.type(n + size if n < 0 and wrap else n))
    return out


def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """Cut a box of a fixed size out of an array, at a computed position.

    Args:
        operand: Array of any dtype.
        start_indices: Sequence of integer scalars, or a 1-d array: the first index in each
            dimension. A box that would stick out is moved inside.
        slice_sizes: Size of the box in each dimension.
        allow_negative_indices: Whether a negative start counts from the end (for all dimensions,
            or for each). Saying no saves three operations for each computed index.

    Returns:
        Array of shape `slice_sizes`.

    Raises:
        ShapeError: Not one start and size for each dimension, or the box is larger than the array.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dynamic_slice(np.arange(5), (3,), (3,))
        Array([2, 3, 4], dtype=int64)
    """
    starts = _starts("dynamic_slice", operand, start_indices, allow_negative_indices)
    sizes = as_ints(slice_sizes, "dynamic_slice", "slice_sizes")
    return p.dynamic_slice_p.bind(operand, *starts, slice_sizes=sizes)


def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Any,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """Replace a box of an array, at a computed position.

    Args:
        operand: Array of any dtype.
        update: Array of the same dtype and rank: what to put there.
        start_indices: As in `dynamic_slice`.
        allow_negative_indices: As in `dynamic_slice`.

    Returns:
        The changed array.

    Raises:
        ShapeError: The ranks differ, or the box is larger than the array.
        DTypeError: The dtypes differ.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dynamic_update_slice(np.zeros(4), np.ones(2), (1,))
        Array([0., 1., 1., 0.], dtype=float64)
    """
    starts = _starts("dynamic_update_slice", operand, start_indices, allow_negative_indices)
    if is_number(update):
        operand, update = match_scalars("dynamic_update_slice", operand, update)
    return p.dynamic_update_slice_p.bind(operand, update, *starts)


def _in_dim(name: str, operand: Any, start: Any, axis: int) -> tuple[list[Any], int]:
    ndim = aval_of(operand).ndim
    axis = as_dimension(axis, ndim, name, "axis")
    starts: list[Any] = [0] * ndim
    starts[axis] = start
    return starts, axis


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Array:
    """Cut along one dimension, at a computed position.

    Args:
        operand: Array of any dtype.
        start_index: Integer scalar.
        slice_size: How many indices.
        axis: Which dimension.

    Returns:
        Array with size `slice_size` in `axis`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dynamic_slice_in_dim(np.arange(5), np.int32(1), 2)
        Array([1, 2], dtype=int64)
    """
    starts, axis = _in_dim("dynamic_slice_in_dim", operand, start_index, axis)
    sizes = list(aval_of(operand).shape)
    sizes[axis] = operator.index(slice_size)
    return dynamic_slice(operand, starts, sizes)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Array:
    """Take one computed index along one dimension.

    Args:
        operand: Array of any dtype.
        index: Integer scalar; clipped to be in bounds.
        axis: Which dimension.
        keepdims: Whether the dimension stays, with size 1.

    Returns:
        The elements at that index.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dynamic_index_in_dim(np.arange(5), np.int32(3), keepdims=False)
        Array(3, dtype=int64)
    """
    out = dynamic_slice_in_dim(operand, index, 1, axis)
    if keepdims:
        return out
    return squeeze(out, (as_dimension(axis, out.ndim, "dynamic_index_in_dim", "axis"),))


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Array:
    """Replace a range of indices along one dimension, at a computed position.

    Args:
        operand: Array of any dtype.
        update: Array of the same dtype and rank.
        start_index: Integer scalar.
        axis: Which dimension.

    Returns:
        The changed array.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dynamic_update_slice_in_dim(np.zeros(4), np.ones(2), 2, 0)
        Array([0., 0., 1., 1.], dtype=float64)
    """
    starts, axis = _in_dim("dynamic_update_slice_in_dim", operand, start_index, axis)
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Array:
    """Replace one computed index along one dimension.

    Args:
        operand: Array of any dtype.
        update: Array of the same dtype; the dimension may be missing or of size 1.
        index: Integer scalar; clipped to be in bounds.
        axis: Which dimension.

    Returns:
        The changed array.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dynamic_update_index_in_dim(np.zeros(3), 7.0, 1, 0)
        Array([0., 7., 0.], dtype=float64)
    """
    aval = aval_of(operand)
    if is_number(update):
        operand, update = match_scalars("dynamic_update_index_in_dim", operand, update)
    axis = as_dimension(axis, aval.ndim, "dynamic_update_index_in_dim", "axis")
    shape = aval_of(update).shape
    if len(shape) != aval.ndim:
        update = reshape(update, (*shape[:axis], 1, *shape[axis:]))
    return dynamic_update_slice_in_dim(operand, update, index, axis)
