"""Arguments that many distributions have: shapes, dtypes and parameters."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.types import aval_of, dtypes, python_number, settled_aval

from .errors import RandomDTypeError, RandomShapeError

FLOATS: Final = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
"""The dtypes in which floating-point numbers are drawn."""


def as_shape(shape: Any, function: str, argument: str = "shape") -> tuple[int, ...]:
    """Shape of Python integers, from a sequence of integers or a single one.

    Args:
        shape: What the caller gave.
        function: Name of the function, for the message.
        argument: Name of its argument, for the message.

    Raises:
        RandomShapeError: It is no shape.
        ConcretizationError: A size is a traced value.
    """
    entries: Iterable[Any] = shape if isinstance(shape, Sequence | np.ndarray) else (shape,)
    sizes = []
    for size in entries:
        try:
            sizes.append(int(operator.index(size)))
        except TypeError as error:
            if isinstance(size, Array):
                raise
            raise RandomShapeError(
                f"{function}: {argument}={shape!r} is no shape; give a tuple of integers"
            ) from error
    if any(size < 0 for size in sizes):
        raise RandomShapeError(
            f"{function}: {argument}={tuple(sizes)} has a negative size; sizes are 0 or more"
        )
    return tuple(sizes)


def as_float_dtype(dtype: Any, function: str) -> np.dtype[Any]:
    """Dtype of floating-point numbers to draw (None: the default one).

    Raises:
        RandomDTypeError: It is another kind of dtype, or one of 8 bits.
        DTypeError: There is no such dtype.
    """
    found = dtypes.as_dtype(float if dtype is None else dtype)
    if found not in FLOATS:
        raise RandomDTypeError(
            f"{function}: dtype={found} is none that it draws numbers in; choose one of "
            f"{', '.join(d.name for d in FLOATS)}, and convert the result"
        )
    return found


def as_int_dtype(dtype: Any, function: str) -> np.dtype[Any]:
    """Dtype of integers to draw (None: the default one).

    Raises:
        RandomDTypeError: It is another kind of dtype, or one of 4 bits.
        DTypeError: There is no such dtype.
    """
    found = dtypes.as_dtype(int if dtype is None else dtype)
    if not dtypes.is_integer(found) or found in (dtypes.int4, dtypes.uint4):
        raise RandomDTypeError(
            f"{function}: dtype={found} is none that it draws numbers in; choose an integer dtype "
            "of 8, 16, 32 or 64 bits, and convert the result"
        )
    return found


def float_parameter(value: Any, function: str, argument: str) -> np.dtype[Any]:
    """Dtype of a parameter that is a floating-point number or an array of them.

    Raises:
        RandomDTypeError: It is of another dtype.
    """
    aval = settled_aval(aval_of(python_number(value)))
    if aval.dtype not in FLOATS:
        raise RandomDTypeError(
            f"{function}: {argument} is of type {aval}; it has to be a floating-point number, or "
            "an array of them: convert it"
        )
    return aval.dtype


def shape_with(shape: Any, function: str, parameters: Sequence[tuple[str, Any]]) -> tuple[int, ...]:
    """Shape of the result of a distribution whose parameters may be arrays.

    Args:
        shape: What the caller gave; None for the shape of the parameters.
        function: Name of the function, for the message.
        parameters: Names and values of the parameters.

    Raises:
        RandomShapeError: It is no shape, or the parameters do not broadcast to it.
    """
    own = [(name, aval_of(value).shape) for name, value in parameters]
    if shape is None:
        # NumPy's rule; its error names the shapes only.
        try:
            return np.broadcast_shapes(*[s for _, s in own])
        except ValueError:
            listed = " and ".join(f"{name} of shape {s}" for name, s in own)
            raise RandomShapeError(
                f"{function}: {listed} do not broadcast to one shape; make them agree"
            ) from None
    wanted = as_shape(shape, function)
    for name, given in own:
        if not _broadcasts(given, wanted):
            raise RandomShapeError(
                f"{function}: {name} has shape {given}, which does not broadcast to "
                f"shape={wanted}; leave shape out, or let it end in the shape of {name}"
            )
    return wanted


def _broadcasts(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if len(given) > len(wanted):
        return False
    return all(a in (1, b) for a, b in zip(reversed(given), reversed(wanted), strict=False))


def spread(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """A parameter in the dtype and ready to be combined with an array of the shape.

    Args:
        value: Number, or array that broadcasts to the shape.
        shape: The shape.
        dtype: The dtype.

    Returns:
        Array of the shape, or a 0-d one.
    """
    aval = aval_of(value)
    if aval.dtype != dtype or aval.weak_type:
        value = lax.convert_element_type(value, dtype)
    own = aval.shape
    if own in ((), shape):
        return value
    kept = [d for d in range(len(own)) if own[d] != 1 or shape[d - len(own)] == 1]
    narrow = lax.reshape(value, tuple([own[d] for d in kept]))
    return lax.broadcast_in_dim(narrow, shape, tuple([len(shape) - len(own) + d for d in kept]))


def as_operand(value: Any, dtype: np.dtype[Any]) -> Any:
    """A parameter as an operand of a program: a number in the dtype, an array as it is.

    A Python number would come in the default dtype, which may be narrower.
    """
    if isinstance(value, int | float | np.generic):
        with np.errstate(all="ignore"):
            return dtype.type(value)
    return value


def count(shape: tuple[int, ...]) -> int:
    """Number of elements."""
    return math.prod(shape)
