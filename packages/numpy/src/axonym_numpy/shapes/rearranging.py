"""Elements in another order: flipping, rolling, rotating."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array, ConcreteArray, as_dimension, as_dimensions, as_ints
from axonym_core.errors import ShapeError
from axonym_core.primitives.shape import concatenate_p, rev_p, slice_p

from ..arguments.composites import composite
from ..arguments.operands import array_of
from .reshaping import swapaxes

__all__ = ["flip", "fliplr", "flipud", "roll", "rot90"]


def flip(m: Any, axis: Any = None) -> Array:
    """Reverse the order of elements along dimensions.

    Args:
        m: Array.
        axis: Dimension or sequence of them; all if None.

    Raises:
        ShapeError: A dimension does not exist.

    Example:
        >>> flip(np.array([1, 2, 3], np.int32))
        Array([3, 2, 1], dtype=int32)
    """
    m = array_of("flip", m)
    dims = tuple(range(m.ndim)) if axis is None else as_dimensions(axis, m.ndim, "flip", "axis")
    return rev_p.bind(m, dimensions=dims) if dims else m


def flipud(m: Any) -> Array:
    """Reverse the order of elements along the first dimension.

    Args:
        m: Array of one dimension or more.

    Raises:
        ShapeError: `m` is 0-d.

    Example:
        >>> flipud(np.array([1, 2, 3], np.int32))
        Array([3, 2, 1], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: Any) -> Array:
    """Reverse the order of elements along the second dimension.

    Args:
        m: Array of two dimensions or more.

    Raises:
        ShapeError: `m` has fewer dimensions.

    Example:
        >>> fliplr(np.array([[1, 2, 3]], np.int32))
        Array([[3, 2, 1]], dtype=int32)
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Array:
    """Rotate by quarter turns in a plane of two dimensions, from the first towards the second.

    Args:
        m: Array of two dimensions or more.
        k: Number of turns.
        axes: The two dimensions.

    Raises:
        ShapeError: The dimensions do not exist, or are not two.

    Example:
        >>> rot90(np.array([[1, 2], [3, 4]], np.int32))
        Array([[2, 4],
               [1, 3]], dtype=int32)
    """
    m = array_of("rot90", m)
    dims = as_dimensions(axes, m.ndim, "rot90", "axes")
    if len(dims) != 2:
        raise ShapeError(f"rot90: axes={axes} must name two dimensions")
    (k,) = as_ints(k, "rot90", "k")
    first, second = dims
    if k % 4 == 0:
        return m
    if k % 4 == 2:
        return flip(m, dims)
    if k % 4 == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


@composite("shifts", "axes")
def _roll(a: Any, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    for shift, axis in zip(shifts, axes, strict=True):
        n = a.shape[axis]
        cut = -shift % n if n else 0
        if cut:
            front, back = [0] * a.ndim, list(a.shape)
            front[axis], back[axis] = cut, cut
            ones = (1,) * a.ndim
            tail = slice_p.bind(a, start_indices=tuple(front), limit_indices=a.shape, strides=ones)
            head = slice_p.bind(
                a, start_indices=(0,) * a.ndim, limit_indices=tuple(back), strides=ones
            )
            a = concatenate_p.bind(tail, head, dimension=axis)
    return a


@composite("axis")
def _roll_by(a: Any, shift: Any, *, axis: int) -> Array:
    n = a.shape[axis]
    twice = concatenate_p.bind(a, a, dimension=axis)
    start = lax.rem(lax.sub(np.int32(n), lax.rem(shift, np.int32(n))), np.int32(n))
    return lax.dynamic_slice_in_dim(twice, start, n, axis)


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Move elements along dimensions; what leaves at the end comes in at the front.

    Args:
        a: Array.
        shift: How far, or how far along each of several dimensions; may be traced.
        axis: Dimension or sequence of them; None rolls the flattened array.

    Raises:
        ShapeError: A dimension does not exist, or shifts and dimensions differ in number.

    Example:
        >>> roll(np.array([1, 2, 3], np.int32), 1)
        Array([3, 1, 2], dtype=int32)
    """
    a = array_of("roll", a)
    if axis is None:
        return lax.reshape(roll(lax.reshape(a, (a.size,)), shift, 0), a.shape)
    axes = tuple([as_dimension(d, a.ndim, "roll", "axis") for d in as_ints(axis, "roll", "axis")])
    if isinstance(shift, Array) and not isinstance(shift, ConcreteArray):
        return _roll_traced(a, shift, axes)
    shifts = as_ints(shift.tolist() if hasattr(shift, "tolist") else shift, "roll", "shift")
    if len(shifts) == 1:
        shifts *= len(axes)
    elif len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise ShapeError(f"roll: shift={shift} and axis={axis} differ in length; give a shift each")
    return _roll(a, shifts=shifts, axes=axes)


def _roll_traced(a: Array, shift: Array, axes: tuple[int, ...]) -> Array:
    if shift.ndim > 1 or (shift.ndim == 1 and shift.shape[0] not in (1, len(axes))):
        raise ShapeError(
            f"roll: shift of type {shift.aval} for {len(axes)} dimensions; give one number, or a "
            "vector of one for each"
        )
    shift = lax.convert_element_type(shift, "int32")
    for i, axis in enumerate(axes):
        one = shift if not shift.ndim else shift[i if shift.shape[0] > 1 else 0]
        if a.shape[axis]:
            a = _roll_by(a, one, axis=axis)
    return a
