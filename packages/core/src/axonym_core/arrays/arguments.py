"""Arguments of `lax` functions: shapes, dimensions and scalars in the form that primitives take."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from ..errors import ArgumentTypeError, ShapeError
from .array import Array


def as_ints(value: Any, function: str, argument: str) -> tuple[int, ...]:
    """Tuple of Python integers from a sequence of integers, or from a single one.

    Args:
        value: What the caller gave.
        function: Name of the function, for the message.
        argument: Name of its argument, for the message.

    Raises:
        TypeError: An entry is not an integer (for a traced value the subclass
            `TracerIntegerConversionError`).
    """
    if type(value) is tuple:
        for d in value:
            if type(d) is not int:
                break
        else:
            return value
    try:
        entries = tuple(value) if isinstance(value, Iterable) else (value,)
    except TypeError:  # a 0-d array is iterable by name only
        entries = (value,)
    ints = []
    for d in entries:
        try:
            ints.append(int(operator.index(d)))
        except TypeError as error:
            if isinstance(d, Array):
                raise
            raise ArgumentTypeError(
                f"{function}: {argument}={value!r} must hold integers, got {d!r} of type "
                f"{type(d).__name__}; pass a tuple of Python integers"
            ) from error
    return tuple(ints)


def as_dimension(value: Any, ndim: int, function: str, argument: str) -> int:
    """Dimension number from 0 to `ndim - 1`; negative ones count from the end.

    Raises:
        ShapeError: There is no such dimension.
    """
    d = value if type(value) is int else int(operator.index(value))
    if not -ndim <= d < ndim:
        raise ShapeError(
            f"{function}: {argument}={value} is not a dimension of an array with {ndim} "
            f"dimensions; use a number from {-ndim} to {ndim - 1}"
            if ndim
            else f"{function}: {argument}={value}, but a 0-d array has no dimension"
        )
    return d % ndim


def as_dimensions(value: Any, ndim: int, function: str, argument: str) -> tuple[int, ...]:
    """Distinct dimension numbers, from a sequence or a single one; negative from the end."""
    dims = tuple(
        [as_dimension(d, ndim, function, argument) for d in as_ints(value, function, argument)]
    )
    if len(set(dims)) != len(dims):
        raise ShapeError(f"{function}: {argument}={value} names a dimension twice; name each once")
    return dims
