"""Reductions over dimensions, and cumulative operations along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.arguments import as_dimension, as_dimensions
from ..arrays.array import Array
from ..operators.promotion import settled
from ..primitives import reductions as p
from ..programs.primitive import Primitive
from ..settings.thread_context import context
from ..types import dtypes
from ..types.avals import AxisName, aval_of
from ..types.axes import as_axis_names

__all__ = [
    "argmax",
    "argmin",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_prod",
    "reduce_sum",
]


def axes_in_scope(axis_names: Any) -> tuple[AxisName, ...]:
    """Return named axes as a tuple, after making sure that each is in scope.

    Raises:
        AxisNameError: A name is not in scope, or occurs twice.
    """
    if axis_names == ():
        return ()
    names = as_axis_names(axis_names, "axis_names")
    for name in names:
        context.trace.axis_env.size(name)
    return names


def reduce_sum(operand: Any, axes: Sequence[int], axis_names: Any = ()) -> Array:
    """Sum over dimensions, and over named axes.

    Args:
        operand: Array of numbers.
        axes: Dimensions to sum over; negative ones count from the end.
        axis_names: Named axes to sum over in the same operation, a name or a tuple of names. An
            operand that does not vary over one of them counts as often as the axis is long.

    Returns:
        Array of the operand's dtype, without the dimensions summed over, that does not vary over
        `axis_names`. The sum of no elements is 0.

    Raises:
        ShapeError: A dimension does not exist or is named twice.
        DTypeError: The operand is boolean.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.reduce_sum(np.ones((2, 3), np.float32), (1,)).tolist()
        [3.0, 3.0]
    """
    return _reduce(p.reduce_sum_p, operand, axes, axis_names=axes_in_scope(axis_names))


def _reduce(primitive: Primitive, operand: Any, axes: Sequence[int], **names: Any) -> Array:
    dims = as_dimensions(axes, aval_of(operand).ndim, primitive.name, "axes")
    return primitive.bind(settled(operand), axes=dims, **names)  # type: ignore[no-any-return]  # Any by nature


def reduce_prod(operand: Any, axes: Sequence[int]) -> Array:
    """Multiply over dimensions. The product of no elements is 1.

    Args:
        operand: Array of numbers.
        axes: Dimensions to reduce; negative ones count from the end.

    Returns:
        Array of the operand's dtype without these dimensions.

    Raises:
        ShapeError: A dimension does not exist or is named twice.
        DTypeError: The operand is boolean.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> int(lax.reduce_prod(np.array([2, 3, 4], np.int32), (0,)))
        24
    """
    return _reduce(p.reduce_prod_p, operand, axes)


def reduce_max(operand: Any, axes: Sequence[int], axis_names: Any = ()) -> Array:
    """Greatest element over dimensions; NaN where there is a NaN.

    Its derivative is shared equally by the elements that attain the maximum.

    Args:
        operand: Array of booleans, integers or real numbers.
        axes: Dimensions to reduce; negative ones count from the end.
        axis_names: Named axes to reduce in the same operation, a name or a tuple of names.

    Returns:
        Array of the operand's dtype without these dimensions, that does not vary over `axis_names`.
        The maximum of no elements is the
        least value of the dtype (-inf for floating-point numbers).

    Raises:
        ShapeError: A dimension does not exist or is named twice.
        DTypeError: The operand is complex.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.reduce_max(np.array([[1, 5], [7, 2]], np.int32), (0,)).tolist()
        [7, 5]
    """
    return _reduce(p.reduce_max_p, operand, axes, axis_names=axes_in_scope(axis_names))


def reduce_min(operand: Any, axes: Sequence[int], axis_names: Any = ()) -> Array:
    """Least element over dimensions; NaN where there is a NaN.

    Its derivative is shared equally by the elements that attain the minimum.

    Args:
        operand: Array of booleans, integers or real numbers.
        axes: Dimensions to reduce; negative ones count from the end.
        axis_names: Named axes to reduce in the same operation, a name or a tuple of names.

    Returns:
        Array of the operand's dtype without these dimensions, that does not vary over `axis_names`.
        The minimum of no elements is the
        greatest value of the dtype (inf for floating-point numbers).

    Raises:
        ShapeError: A dimension does not exist or is named twice.
        DTypeError: The operand is complex.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.reduce_min(np.array([[1, 5], [7, 2]], np.int32), (1,)).tolist()
        [1, 2]
    """
    return _reduce(p.reduce_min_p, operand, axes, axis_names=axes_in_scope(axis_names))


def reduce_and(operand: Any, axes: Sequence[int]) -> Array:
    """Logical (for integers bitwise) and over dimensions. That of no elements is true.

    Args:
        operand: Array of booleans or integers.
        axes: Dimensions to reduce; negative ones count from the end.

    Returns:
        Array of the operand's dtype without these dimensions.

    Raises:
        ShapeError: A dimension does not exist or is named twice.
        DTypeError: The operand is neither boolean nor integer.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> bool(lax.reduce_and(np.array([True, False]), (0,)))
        False
    """
    return _reduce(p.reduce_and_p, operand, axes)


def reduce_or(operand: Any, axes: Sequence[int]) -> Array:
    """Logical (for integers bitwise) or over dimensions. That of no elements is false.

    Args:
        operand: Array of booleans or integers.
        axes: Dimensions to reduce; negative ones count from the end.

    Returns:
        Array of the operand's dtype without these dimensions.

    Raises:
        ShapeError: A dimension does not exist or is named twice.
        DTypeError: The operand is neither boolean nor integer.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> bool(lax.reduce_or(np.array([True, False]), (0,)))
        True
    """
    return _reduce(p.reduce_or_p, operand, axes)


def _arg_reduce(primitive: Primitive, operand: Any, axis: int, index_dtype: Any) -> Array:
    return primitive.bind(  # type: ignore[no-any-return]  # Any by nature
        operand,
        axis=as_dimension(axis, aval_of(operand).ndim, primitive.name, "axis"),
        index_dtype=dtypes.as_dtype(index_dtype, "index_dtype"),
    )


def argmax(operand: Any, axis: int, index_dtype: Any) -> Array:
    """Position of the greatest element along a dimension.

    Args:
        operand: Array of booleans, integers or real numbers.
        axis: Dimension; a negative one counts from the end.
        index_dtype: Integer dtype of the result.

    Returns:
        Array without that dimension: the first position of the maximum, or of the first NaN.

    Raises:
        ShapeError: The dimension does not exist or is empty.
        DTypeError: The operand is complex, or `index_dtype` cannot hold the positions.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.argmax(np.array([[1.0, 5.0], [7.0, 2.0]]), 1, np.int32).tolist()
        [1, 0]
    """
    return _arg_reduce(p.argmax_p, operand, axis, index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Array:
    """Position of the least element along a dimension.

    Args:
        operand: Array of booleans, integers or real numbers.
        axis: Dimension; a negative one counts from the end.
        index_dtype: Integer dtype of the result.

    Returns:
        Array without that dimension: the first position of the minimum, or of the first NaN.

    Raises:
        ShapeError: The dimension does not exist or is empty.
        DTypeError: The operand is complex, or `index_dtype` cannot hold the positions.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.argmin(np.array([[1.0, 5.0], [7.0, 2.0]]), 1, np.int32).tolist()
        [0, 1]
    """
    return _arg_reduce(p.argmin_p, operand, axis, index_dtype)


def _cumulate(primitive: Primitive, operand: Any, axis: int, reverse: bool) -> Array:
    return primitive.bind(  # type: ignore[no-any-return]  # Any by nature
        operand,
        axis=as_dimension(axis, aval_of(operand).ndim, primitive.name, "axis"),
        reverse=bool(reverse),
    )


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Sums of the elements up to and including each position along a dimension.

    Args:
        operand: Array of numbers.
        axis: Dimension; a negative one counts from the end.
        reverse: Whether to go from the last position to the first.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        ShapeError: The dimension does not exist.
        DTypeError: The operand is boolean.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.cumsum(np.array([1, 2, 3], np.int32), reverse=True).tolist()
        [6, 5, 3]
    """
    return _cumulate(p.cumsum_p, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Products of the elements up to and including each position along a dimension.

    Args:
        operand: Array of numbers.
        axis: Dimension; a negative one counts from the end.
        reverse: Whether to go from the last position to the first.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        ShapeError: The dimension does not exist.
        DTypeError: The operand is boolean.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.cumprod(np.array([1, 2, 3], np.int32)).tolist()
        [1, 2, 6]
    """
    return _cumulate(p.cumprod_p, operand, axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Greatest of the elements up to and including each position along a dimension.

    From a NaN on, the result is NaN. The derivative is shared equally by the elements that attain
    a maximum.

    Args:
        operand: Array of booleans, integers or real numbers.
        axis: Dimension; a negative one counts from the end.
        reverse: Whether to go from the last position to the first.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        ShapeError: The dimension does not exist.
        DTypeError: The operand is complex.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.cummax(np.array([4, 1, 7], np.int32)).tolist()
        [4, 4, 7]
    """
    return _cumulate(p.cummax_p, operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Least of the elements up to and including each position along a dimension.

    From a NaN on, the result is NaN. The derivative is shared equally by the elements that attain
    a minimum.

    Args:
        operand: Array of booleans, integers or real numbers.
        axis: Dimension; a negative one counts from the end.
        reverse: Whether to go from the last position to the first.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        ShapeError: The dimension does not exist.
        DTypeError: The operand is complex.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.cummin(np.array([4, 1, 7], np.int32)).tolist()
        [4, 1, 1]
    """
    return _cumulate(p.cummin_p, operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithm of the sum of exponentials up to and including each position along a dimension.

    Args:
        operand: Array of floating-point numbers.
        axis: Dimension; a negative one counts from the end.
        reverse: Whether to go from the last position to the first.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        ShapeError: The dimension does not exist.
        DTypeError: The operand is not of a floating-point dtype.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.cumlogsumexp(np.array([-np.inf, 0.0, 0.0], np.float32)).tolist()
        [-inf, 0.0, 0.693...]
    """
    return _cumulate(p.cumlogsumexp_p, operand, axis, reverse)
