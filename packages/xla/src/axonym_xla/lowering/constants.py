"""Text of constants: exact to the bit.

Floating-point numbers are written as their bits in hexadecimal, so that NaN payloads, infinities,
signed zeros and the last digit survive. Arrays of more than one value are written as one string of
bytes, which parses many times faster than nested lists.

    >>> splat(np.float32(1.5), np.dtype("float32"))
    'dense<0x3FC00000>'
    >>> dense(np.array([1, 2], np.int8), np.dtype("int8"))
    'dense<"0x0102">'
"""

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core.types import dtypes


def _bits(array: np.ndarray[Any, Any]) -> str:
    """Hexadecimal of one number, most significant digit first."""
    return f"0x{array.tobytes()[::-1].hex().upper()}"


def element(value: Any, dtype: np.dtype[Any]) -> str:
    """One number as MLIR writes it inside `dense<…>`."""
    if dtype == np.bool_:
        return "true" if value else "false"
    array = np.asarray(value, dtype)
    if dtype in dtypes.INTEGERS:
        return str(int(array))
    if dtype in dtypes.COMPLEXES:
        return f"({_bits(array.real)}, {_bits(array.imag)})"
    return _bits(array)


def splat(value: Any, dtype: np.dtype[Any]) -> str:
    """Attribute of a constant in which every element is `value`."""
    array = np.asarray(value)
    return f"dense<{element(array.reshape(())[()], dtype)}>"


def dense(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> str:
    """Attribute of a constant with the elements of an array, of whatever layout in memory.

    Args:
        array: The elements.
        dtype: Their dtype in the program; the array's own must be convertible to it.
    """
    if array.size == 0:
        return "dense<>"
    array = np.ascontiguousarray(array, dtype)
    first = array.reshape(-1)[:1]
    if array.size == 1 or array.tobytes() == first.tobytes() * array.size:
        return splat(first, dtype)
    if dtype == np.bool_:  # MLIR's bytes of truth values are packed differently by its versions
        return f"dense<{_nested(array)}>"
    return f'dense<"0x{array.astype(dtype.newbyteorder("<"), copy=False).tobytes().hex().upper()}">'


def _nested(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 0:
        return "true" if array else "false"
    return f"[{', '.join([_nested(row) for row in array])}]"
