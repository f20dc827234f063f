"""Products of arrays summed over dimensions: `dot_general` and its common cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.array import Array
from ..errors import ConfigError, ShapeError
from ..operators.promotion import is_number, match_scalars
from ..primitives.contractions import (
    DotDimensionNumbers,
    Precision,
    PrecisionPair,
    dot_general_p,
)
from ..types import dtypes
from ..types.avals import aval_of
from .reductions import axes_in_scope

__all__ = ["Precision", "batch_matmul", "dot", "dot_general"]

_PRECISIONS = {
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}


def _one_precision(name: str, precision: Any) -> Precision:
    if isinstance(precision, Precision):
        return precision
    if precision is None:
        return Precision.DEFAULT
    found = _PRECISIONS.get(precision) if isinstance(precision, str) else None
    if found is None:
        raise ConfigError(
            f"{name}: precision={precision!r} is not known; give a lax.Precision, one of "
            f"{', '.join(map(repr, _PRECISIONS))}, or a pair of them"
        )
    return found


def canonical_precision(name: str, precision: Any) -> PrecisionPair:
    """Return a precision for each operand, or None for the default.

    Args:
        name: Name of the function, for messages.
        precision: None, a `Precision`, its name, or a pair of these for the two operands.

    Raises:
        ConfigError: There is no such precision.
    """
    if precision is None:
        return None
    if isinstance(precision, tuple | list):
        if len(precision) != 2:
            raise ConfigError(
                f"{name}: precision={precision!r} has {len(precision)} entries; give one for each "
                "of the two operands, or one for both"
            )
        return _one_precision(name, precision[0]), _one_precision(name, precision[1])
    one = _one_precision(name, precision)
    return one, one


def preferred_dtype(preferred_element_type: Any) -> Any:
    """Return the dtype of a `preferred_element_type` argument, or None."""
    if preferred_element_type is None:
        return None
    return dtypes.as_dtype(preferred_element_type, "preferred_element_type")


def _dims(dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    if type(dims) is tuple and all(type(d) is int and d >= 0 for d in dims):
        return dims
    return tuple([int(d) + ndim if -ndim <= int(d) < 0 else int(d) for d in dims])


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    axis_names: Any = (),
) -> Array:
    """Sum of products over contracting dimensions, one for each index of the batch dimensions.

    Args:
        lhs: Array.
        rhs: Array of the same dtype.
        dimension_numbers: `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`, four
            sequences of dimensions. Dimensions of a pair have the same size.
        precision: How exactly to multiply: None, a `Precision`, its name, or one per operand.
        preferred_element_type: Dtype to accumulate in and to return; by default the operands'.
        axis_names: Named axes to sum over in the same operation, a name or a tuple of names. If no
            operand varies over one of them, each product counts as often as the axis is long.

    Returns:
        Array with the batch dimensions first, then the other dimensions of `lhs`, then those of
        `rhs`; it does not vary over `axis_names`.

    Raises:
        ShapeError: Dimensions do not exist, are named twice, or differ in size.
        DTypeError: The operands differ in dtype, or do not fit `preferred_element_type`.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> a = np.ones((5, 2, 3), np.float32)
        >>> b = np.ones((5, 3, 4), np.float32)
        >>> lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))).shape
        (5, 2, 4)
    """
    (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = _parse(dimension_numbers)
    lhs_ndim, rhs_ndim = aval_of(lhs).ndim, aval_of(rhs).ndim
    numbers: DotDimensionNumbers = (
        (_dims(lhs_contracting, lhs_ndim), _dims(rhs_contracting, rhs_ndim)),
        (_dims(lhs_batch, lhs_ndim), _dims(rhs_batch, rhs_ndim)),
    )
    if is_number(lhs) or is_number(rhs):
        lhs, rhs = match_scalars("dot_general", lhs, rhs)
    return dot_general_p.bind(  # type: ignore[no-any-return]  # Any by nature
        lhs,
        rhs,
        dimension_numbers=numbers,
        precision=canonical_precision("dot_general", precision),
        preferred_element_type=preferred_dtype(preferred_element_type),
        axis_names=axes_in_scope(axis_names),
    )


def _parse(dimension_numbers: Any) -> Any:
    try:
        (a, b), (c, d) = dimension_numbers
        for dims in (a, b, c, d):
            iter(dims)
    except (TypeError, ValueError):
        raise ShapeError(
            f"dot_general: dimension_numbers={dimension_numbers!r} is not of the form "
            "((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), each a sequence of "
            "dimensions; a matrix product has (((1,), (0,)), ((), ()))"
        ) from None
    return (a, b), (c, d)


def dot(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    axis_names: Any = (),
) -> Array:
    """Vector-vector, matrix-vector or matrix-matrix product; a general one with dimension numbers.

    Args:
        lhs: Array; a vector or a matrix where there are no dimension numbers.
        rhs: Array of the same dtype, with as many rows as `lhs` has columns.
        dimension_numbers: As of `dot_general`; by default the last dimension of `lhs` is
            contracted with the first of `rhs`.
        precision: As of `dot_general`.
        preferred_element_type: As of `dot_general`.
        axis_names: As of `dot_general`.

    Raises:
        ShapeError: The operands are not vectors or matrices, or their sizes do not fit.
        DTypeError: The operands differ in dtype, or do not fit `preferred_element_type`.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.dot(np.array([[1.0, 2.0]], np.float32), np.array([3.0, 4.0], np.float32)).tolist()
        [11.0]
    """
    if dimension_numbers is None:
        a, b = aval_of(lhs), aval_of(rhs)
        if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.shape[-1] == b.shape[0]):
            raise ShapeError(
                f"dot: lhs {a} and rhs {b} do not fit; it multiplies vectors and matrices, and the "
                "last dimension of lhs has to be as long as the first of rhs: transpose one, or "
                "use dot_general or batch_matmul for more dimensions"
            )
        dimension_numbers = (((a.ndim - 1,), (0,)), ((), ()))
    return dot_general(
        lhs, rhs, dimension_numbers, precision, preferred_element_type, axis_names=axis_names
    )


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """Matrix products of two stacks of matrices.

    Args:
        lhs: Array of shape `(*batch, n, k)`.
        rhs: Array of shape `(*batch, k, m)`, of the same dtype.
        precision: As of `dot_general`.

    Returns:
        Array of shape `(*batch, n, m)`.

    Raises:
        ShapeError: The operands have fewer than two dimensions, or differ in batch dimensions.
        DTypeError: The operands differ in dtype.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> a = np.ones((7, 2, 3), np.float32)
        >>> lax.batch_matmul(a, np.ones((7, 3, 5), np.float32)).shape
        (7, 2, 5)
    """
    a, b = aval_of(lhs), aval_of(rhs)
    if a.ndim < 2 or a.ndim != b.ndim:
        raise ShapeError(
            f"batch_matmul: lhs {a} and rhs {b} should have the same number of dimensions, at "
            "least two; reshape or broadcast one of them"
        )
    batch = tuple(range(a.ndim - 2))
    return dot_general(
        lhs, rhs, (((a.ndim - 1,), (b.ndim - 2,)), (batch, batch)), precision=precision
    )
