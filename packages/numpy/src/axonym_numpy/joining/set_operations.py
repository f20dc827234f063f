"""Vectors as sets. They look at the numbers, so they work on arrays that are not traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from axonym_core.arrays import Array
from axonym_core.operators import promote_dtypes
from axonym_core.types import dtypes

from ..arguments.operands import array_of, arrays_of, concrete_of
from ..selection.sets import unique
from ..shapes.reshaping import ravel
from .concatenation import concatenate

__all__ = ["intersect1d", "setdiff1d", "setxor1d", "union1d"]

_CURE = "call it outside of the transformed function, or compare with isin and a mask"


def _on_host(name: str, function: Callable[..., Any], a: Any, b: Any, **options: Any) -> Any:
    x, y = promote_dtypes(name, *arrays_of(name, a, b))
    return function(concrete_of(name, x, _CURE), concrete_of(name, y, _CURE), **options)


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Elements of either array, each once and in ascending order.

    Args:
        ar1: Array.
        ar2: Array.
        size: Number of elements to return; must be given where an array is traced.
        fill_value: What to fill up with, as of `unique`.

    Example:
        >>> union1d(np.array([1, 3]), np.array([2, 3]))
        Array([1, 2, 3], dtype=int64)
    """
    both = concatenate([ravel(ar1), ravel(ar2)])
    out: Array = unique(both, size=size, fill_value=fill_value)
    return out


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Elements of both arrays, each once and in ascending order.

    Args:
        ar1: Array.
        ar2: Array.
        assume_unique: A promise that no element occurs twice in one array.
        return_indices: Whether to return the first positions in both arrays too.

    Raises:
        ConcretizationError: An array is traced.

    Example:
        >>> intersect1d(np.array([1, 3]), np.array([2, 3]))
        Array([3], dtype=int64)
    """
    out = _on_host(
        "intersect1d",
        np.intersect1d,
        ar1,
        ar2,
        assume_unique=assume_unique,
        return_indices=return_indices,
    )
    if not return_indices:
        return array_of("intersect1d", out)
    dtype = dtypes.default_int_dtype()
    values, *positions = out
    return tuple(
        [array_of("intersect1d", v) for v in (values, *[p.astype(dtype) for p in positions])]
    )


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Elements of the first array that are not in the second.

    Args:
        ar1: Array.
        ar2: Array.
        assume_unique: A promise that no element occurs twice in one array.

    Raises:
        ConcretizationError: An array is traced.

    Example:
        >>> setdiff1d(np.array([1, 3]), np.array([2, 3]))
        Array([1], dtype=int64)
    """
    out = _on_host("setdiff1d", np.setdiff1d, ar1, ar2, assume_unique=assume_unique)
    return array_of("setdiff1d", out)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Elements of one of two arrays only.

    Args:
        ar1: Array.
        ar2: Array.
        assume_unique: A promise that no element occurs twice in one array.

    Raises:
        ConcretizationError: An array is traced.

    Example:
        >>> setxor1d(np.array([1, 3]), np.array([2, 3]))
        Array([1, 2], dtype=int64)
    """
    out = _on_host("setxor1d", np.setxor1d, ar1, ar2, assume_unique=assume_unique)
    return array_of("setxor1d", out)
