"""Reading and writing at computed positions: gather and scatter; with the dynamic slices."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.arguments import as_ints
from ..arrays.array import Array
from ..errors import ArgumentTypeError, DTypeError
from ..operators.promotion import is_number, match_scalars, scalar_of, settled
from ..primitives import indexing as p
from ..primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.avals import ShapedArray, aval_of
from .dynamic_slices import dynamic_index_in_dim as dynamic_index_in_dim
from .dynamic_slices import dynamic_slice as dynamic_slice
from .dynamic_slices import dynamic_slice_in_dim as dynamic_slice_in_dim
from .dynamic_slices import dynamic_update_index_in_dim as dynamic_update_index_in_dim
from .dynamic_slices import dynamic_update_slice as dynamic_update_slice
from .dynamic_slices import dynamic_update_slice_in_dim as dynamic_update_slice_in_dim
from .reductions import axes_in_scope

__all__ = [
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "gather",
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
]


def _numbers(function: str, cls: Any, given: Any) -> Any:
    """Dimension numbers with tuples of Python integers in them."""
    if not isinstance(given, cls):
        raise ArgumentTypeError(
            f"{function}: dimension_numbers must be a lax.{cls.__name__}, got "
            f"{type(given).__name__}"
        )
    return cls(*[as_ints(v, function, "dimension_numbers") for v in given])


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Array:
    """Read one window of an array for each of many start indices.

    Args:
        operand: Array of any dtype.
        start_indices: Integer array whose last dimension holds index vectors.
        dimension_numbers: How dimensions of operand, indices and result belong together.
        slice_sizes: Size of the window in each dimension of `operand`.
        unique_indices: A promise that no two windows overlap.
        indices_are_sorted: A promise that the index vectors are in ascending order.
        mode: What an index out of bounds means: ``clip``, ``fill`` or ``promise_in_bounds`` (the
            default, which clips).
        fill_value: What ``fill`` reads out of bounds. By default NaN, the least signed integer,
            the greatest unsigned one, or True.

    Returns:
        Array of the operand's dtype.

    Raises:
        ShapeError: The shapes, sizes and dimension numbers do not fit.
        DTypeError: The indices are not integers.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
        >>> lax.gather(np.arange(6).reshape(3, 2), np.array([[2], [0]]), rows, (1, 2))
        Array([[4, 5],
               [0, 1]], dtype=int64)
    """
    operand = settled(operand)
    return p.gather_p.bind(
        operand,
        settled(start_indices),
        dimension_numbers=_numbers("gather", GatherDimensionNumbers, dimension_numbers),
        slice_sizes=as_ints(slice_sizes, "gather", "slice_sizes"),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.PROMISE_IN_BOUNDS
        if mode is None
        else GatherScatterMode.from_any(mode),
        fill_value=as_fill_value(fill_value, aval_of(operand)),
    )


def as_fill_value(value: Any, aval: ShapedArray) -> Any:
    """Fill value as a scalar of an array's dtype; None passes.

    Raises:
        TypeError: It is an array of ours.
        DTypeError: The dtype cannot hold it.
    """
    if value is None:
        return None
    if dtypes.is_extended(aval.dtype):
        raise DTypeError(f"gather: no number is an element of {aval}; leave fill_value out")
    if isinstance(value, Array):
        raise ArgumentTypeError(
            "gather: fill_value must be a Python or NumPy number, for it is a parameter of the "
            "program; to fill with an array, gather with any value and select with numpy.where"
        )
    if is_number(value):
        value = match_scalars("gather", np.empty((0,), aval.dtype), value)[1]
    else:
        value = scalar_of(np.asarray(value)[()], aval.dtype)
    # NaN, which equals no other parameter and would be compiled for every time, is the default.
    return None if dtypes.is_floating(aval.dtype) and value != value else value


def _scatter(
    primitive: Primitive,
    operand: Any,
    indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: str | GatherScatterMode | None,
    **more: Any,
) -> Array:
    name = primitive.name
    if is_number(updates) or is_number(operand):
        operand, updates = match_scalars(name, operand, updates)
    return primitive.bind(
        operand,
        settled(indices),
        updates,
        dimension_numbers=_numbers(name, ScatterDimensionNumbers, dimension_numbers),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.FILL_OR_DROP if mode is None else GatherScatterMode.from_any(mode),
        **more,
    )


def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """Replace windows of an array.

    Args:
        operand: Array of any dtype.
        scatter_indices: Integer array whose last dimension holds index vectors.
        updates: Array of the operand's dtype: one window for each index vector.
        dimension_numbers: How dimensions of operand, indices and updates belong together.
        indices_are_sorted: A promise that the index vectors are in ascending order.
        unique_indices: A promise that no two windows overlap; it saves work in derivatives.
        mode: What an index out of bounds means: ``clip``, ``drop`` (the default) or
            ``promise_in_bounds``.

    Returns:
        The changed array. Of several updates to one element the last one counts (on accelerators
        it may be any of them); the derivative goes to the one that counts.

    Raises:
        ShapeError: The shapes and dimension numbers do not fit.
        DTypeError: The indices are not integers, or the dtypes of operand and updates differ.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> single = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> lax.scatter(np.zeros(3), np.array([[2], [0]]), np.array([1.0, 5.0]), single)
        Array([5., 0., 1.], dtype=float64)
    """
    return _scatter(
        p.scatter_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_add(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
    axis_names: Any = (),
) -> Array:
    """Add to windows of an array; where windows overlap, all of them count.

    Args:
        operand: Array of numbers.
        scatter_indices: Integer array whose last dimension holds index vectors.
        updates: Array of the operand's dtype: one window for each index vector.
        dimension_numbers: How dimensions of operand, indices and updates belong together.
        indices_are_sorted: A promise that the index vectors are in ascending order.
        unique_indices: A promise that no two windows overlap.
        mode: What an index out of bounds means: ``clip``, ``drop`` (the default) or
            ``promise_in_bounds``.
        axis_names: Named axes to sum the result over, a name or a tuple of them, in the same
            operation: no array of the operand's size is made for each index of the axis. An
            operand that does not vary over an axis counts once for each of its indices.

    Returns:
        The changed array; it does not vary over `axis_names`.

    Raises:
        ShapeError: The shapes and dimension numbers do not fit.
        DTypeError: The indices are not integers, or the dtypes do not fit.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> single = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> lax.scatter_add(np.zeros(3), np.array([[2], [2]]), np.array([1.0, 5.0]), single)
        Array([0., 0., 6.], dtype=float64)
    """
    if axis_names != ():
        axis_names = axes_in_scope(axis_names)
    return _scatter(
        p.scatter_add_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
        axis_names=axis_names,
    )


def scatter_mul(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """Multiply windows of an array; where windows overlap, all of them count.

    Arguments, result and errors are those of `scatter`.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> single = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> lax.scatter_mul(np.ones(3), np.array([[2], [2]]), np.array([2.0, 5.0]), single)
        Array([ 1.,  1., 10.], dtype=float64)
    """
    return _scatter(
        p.scatter_mul_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_min(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """Lower elements of an array to those of windows; derivatives of ties are shared equally.

    Arguments, result and errors are those of `scatter`; complex numbers are refused.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> single = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> lax.scatter_min(np.full(2, 3.0), np.array([[1], [1]]), np.array([1.0, 5.0]), single)
        Array([3., 1.], dtype=float64)
    """
    return _scatter(
        p.scatter_min_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_max(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """Raise elements of an array to those of windows; derivatives of ties are shared equally.

    Arguments, result and errors are those of `scatter`; complex numbers are refused.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> single = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> lax.scatter_max(np.full(2, 3.0), np.array([[1], [1]]), np.array([1.0, 5.0]), single)
        Array([3., 5.], dtype=float64)
    """
    return _scatter(
        p.scatter_max_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )
