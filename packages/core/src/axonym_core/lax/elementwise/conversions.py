"""Selection between arrays, and conversion of one: dtypes, bits, complex parts, constants."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays.array import Array, as_concrete
from ...operators.promotion import as_array, is_number, match_scalars, settled
from ...primitives.elementwise import (
    bitcast_convert_type_p,
    complex_p,
    conj_p,
    convert_element_type_p,
    copy_p,
    imag_p,
    ne_p,
    real_p,
    select_n_p,
    stop_gradient_p,
)
from ...trees.operations import tree_map
from ...types import dtypes
from ...types.avals import aval_of
from .operands import bind_binary

__all__ = [
    "bitcast_convert_type",
    "complex",
    "conj",
    "convert_element_type",
    "copy",
    "imag",
    "real",
    "select",
    "select_n",
    "stop_gradient",
]


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """Elements of `on_true` where `pred` holds, of `on_false` elsewhere.

    Args:
        pred: Array of `bool`, of the cases' shape or rank 0.
        on_true: Array of any dtype.
        on_false: Array of the same dtype, and of the same shape or rank 0 (as `on_true` may be).

    Returns:
        Array of the common shape and the cases' dtype.

    Raises:
        DTypeError: `pred` is not `bool`, or the cases' dtypes differ.
        ShapeError: The shapes differ.

    Example:
        >>> select(True, 1, 2)
        Array(1, dtype=int32, weak_type=True)
    """
    return select_n(pred, on_false, on_true)


def select_n(which: Any, *cases: Any) -> Array:
    """Choose each element from one of several arrays.

    Args:
        which: Array of `bool` (false chooses the first case, true the second) or of `int32` (the
            number of the case; numbers that are out of range choose the nearest case). Of the
            cases' shape or rank 0.
        *cases: Arrays of one dtype, and of one shape or rank 0.

    Returns:
        Array of the common shape and the cases' dtype.

    Raises:
        DTypeError: `which` has another dtype, or the cases' dtypes differ.
        ShapeError: The shapes differ, or there is no case.

    Example:
        >>> select_n(np.array([0, 1, 1]), 10, 20)
        Array([10, 20, 20], dtype=int32, weak_type=True)
    """
    for case in cases:
        if is_number(case):
            return select_n_p.bind(_which(which), *match_scalars("select_n", *cases))
    return select_n_p.bind(_which(which), *cases)


def _which(which: Any) -> Any:
    # NumPy's own integers have 64 bits, which would only be in the way here.
    if isinstance(which, np.ndarray | np.generic) and which.dtype == np.int64:
        return which.astype(np.int32)
    return which


def convert_element_type(operand: Any, new_dtype: Any, weak_type: bool = False) -> Array:
    """Convert to another dtype.

    Floating-point numbers are truncated towards zero when they become integers, and those out of
    the range go to its nearest end (NaN to 0); integers wrap. What is not 0 becomes True.

    Args:
        operand: Array of any dtype.
        new_dtype: The dtype of the result, or what names it.
        weak_type: Whether the result is to give way to other dtypes in promotion.

    Returns:
        Array of the operand's shape.

    Raises:
        DTypeError: There is no such dtype, or the operand is complex and the new dtype is not.

    Example:
        >>> convert_element_type(2.7, "int8")
        Array(2, dtype=int8)
    """
    dtype = dtypes.as_dtype(new_dtype, "new_dtype")
    aval = aval_of(operand)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return operand if isinstance(operand, Array) else as_concrete(operand)
    if dtype == dtypes.bool_ and dtypes.is_complex(aval.dtype):
        return ne_p.bind(operand, aval.dtype.type(0))
    return convert_element_type_p.bind(operand, new_dtype=dtype, weak_type=weak_type)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Array:
    """Read the bits of an array as numbers of another dtype.

    Args:
        operand: Array of integers or floating-point numbers.
        new_dtype: Dtype of the result. If it is narrower, each element becomes a new last
            dimension of several; if it is wider, the last dimension is joined into one element.

    Returns:
        Array of `new_dtype`, least significant parts first where elements were divided.

    Raises:
        DTypeError: One of the dtypes is complex, `bool` or has 4 bits.
        ShapeError: The last dimension does not make up one element.

    Example:
        >>> bitcast_convert_type(np.float32(1.0), "uint32")
        Array(1065353216, dtype=uint32)
    """
    dtype = dtypes.as_dtype(new_dtype, "new_dtype")
    return bitcast_convert_type_p.bind(operand, new_dtype=dtype)


def real(x: Any) -> Array:
    """Real part, element by element.

    Args:
        x: Array of a complex dtype.

    Returns:
        Array of `x`'s shape, of the dtype of its parts.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> real(1 + 2j)
        Array(1.0, dtype=float32, weak_type=True)
    """
    return real_p.bind(settled(x))


def imag(x: Any) -> Array:
    """Imaginary part, element by element.

    Args:
        x: Array of a complex dtype.

    Returns:
        Array of `x`'s shape, of the dtype of its parts.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> imag(1 + 2j)
        Array(2.0, dtype=float32, weak_type=True)
    """
    return imag_p.bind(settled(x))


def conj(x: Any) -> Array:
    """Complex conjugate, element by element; real numbers are returned as they are.

    Args:
        x: Array of any numeric dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Example:
        >>> conj(1 + 2j)
        Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    if not dtypes.is_complex(aval_of(x).dtype):
        return as_array(x)
    return conj_p.bind(settled(x))


def complex(x: Any, y: Any) -> Array:
    """Complex numbers from their real and imaginary parts.

    Args:
        x: Array of `float32` or `float64`: the real parts.
        y: Array of the same dtype and rank, whose sizes are those of `x` or 1 (as `x`'s may be);
            or of rank 0 (as `x` may be).

    Returns:
        Array of the common shape, of `complex64` or `complex128`.

    Raises:
        DTypeError: The dtypes differ, or are others than these.
        ShapeError: The shapes differ.

    Example:
        >>> complex(1.0, 2.0)
        Array(1.+2.j, dtype=complex64, weak_type=True)
    """
    return bind_binary("complex", complex_p, x, y)


def stop_gradient(x: Any) -> Any:
    """The same values, as constants: derivatives with respect to what they depend on are zero.

    Args:
        x: Array, or a tree of arrays. What has no derivatives anyway is returned as it is:
            integers and truth values, NumPy arrays, numbers.

    Returns:
        The same array, or tree of arrays. It costs nothing when a program runs.

    Example:
        >>> stop_gradient(copy(3.0))
        Array(3.0, dtype=float32, weak_type=True)
    """
    if isinstance(x, Array):
        return _stop_gradient(x)
    return tree_map(_stop_gradient, x)


def _stop_gradient(x: Any) -> Any:
    if isinstance(x, Array) and dtypes.is_inexact(x.aval.dtype):
        return stop_gradient_p.bind(x)
    return x


def copy(x: Any) -> Array:
    """The same values in a buffer of their own.

    Args:
        x: Array of any dtype.

    Returns:
        Array of `x`'s shape and dtype.

    Raises:
        DTypeError: `x` has another dtype.

    Example:
        >>> copy(2)
        Array(2, dtype=int32, weak_type=True)
    """
    return copy_p.bind(settled(x))
