"""Integers as vectors."""

# mypy: disable-error-code="no-any-return"
# (`convert` gives back what it was given: here it is always an array.)

from __future__ import annotations

from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array, as_dimension
from axonym_core.errors import DTypeError
from axonym_core.types import dtypes

from ..arguments.composites import composite
from ..arguments.operands import array_of, convert, size_of

__all__ = ["one_hot"]


@composite("num_classes", "axis", "dtype")
def _one_hot(x: Any, *, num_classes: int, axis: int, dtype: Any) -> Array:
    shape = list(x.shape)
    shape.insert(axis, num_classes)
    every = tuple([d for d in range(len(shape)) if d != axis])
    classes = lax.broadcasted_iota(x.dtype, tuple(shape), axis)
    return convert(lax.eq(lax.broadcast_in_dim(x, tuple(shape), every), classes), dtype)


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Array:
    """Vectors with 1 at the position that an integer names, and 0 elsewhere.

    Args:
        x: Array of integers, or an integer. Those out of range give vectors of zeros.
        num_classes: Length of the vectors.
        dtype: Element type; the default floating-point dtype if None.
        axis: Where the vectors lie in the result.

    Returns:
        Array of one dimension more than `x`.

    Raises:
        ArgumentError: `num_classes` is negative.
        DTypeError: `x` does not hold real numbers.
        ShapeError: The result has no such dimension.

    Example:
        >>> one_hot(2, 4)
        Array([0., 0., 1., 0.], dtype=float32)
    """
    x = array_of("one_hot", x)
    if x.dtype in dtypes.COMPLEXES or x.dtype == dtypes.bool_:
        raise DTypeError(f"one_hot: x has type {x.aval}; give integers")
    n = size_of("one_hot", "num_classes", num_classes)
    if x.dtype in dtypes.INTEGERS and n - 1 > dtypes.iinfo(x.dtype).max:
        x = convert(x, dtypes.default_int_dtype())
    wanted = dtypes.default_float_dtype() if dtype is None else dtypes.as_dtype(dtype)
    axis = as_dimension(axis, x.ndim + 1, "one_hot", "axis")
    return _one_hot(x, num_classes=n, axis=axis, dtype=wanted)
