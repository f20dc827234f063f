"""Promotion: which dtype a mixture of values gives.

A mixture gives the least upper bound of its dtypes in a lattice. An arrow leads to the next larger
type; the starred nodes are the *weak* kinds, those of Python scalars::

    bool -> int* -> i8 -> i16 -> i32 -> i64 -> float* -> bf16 or f16 -> f32 -> f64
            int* -> u8 -> u16 -> u32 -> u64 -> float* -> complex* -> c64 -> c128
                    u8 -> i16,   u16 -> i32,   u32 -> i64,   f32 -> c64,   f64 -> c128
            int* -> i4 or u4                   float* -> an 8-bit float

A weak value so gives way to a strong one of the same or a higher kind: ``x * 2.0`` keeps the dtype
of a ``bfloat16`` array. Nothing lies above a 4-bit integer or an 8-bit float: they meet weak
scalars and lower kinds, but no other type of their own kind or a higher one, because no choice
would be right for everyone. Such a mixture is a :class:`~axonym_core.errors.DTypeError`.

The lattice is data (``_NEXT``), closed once when the module is imported; a mixture that was seen
before costs one dictionary lookup.

    >>> promote_types("bfloat16", "float16")
    dtype('float32')
    >>> result_type(np.dtype("int8"), 1.5)
    dtype('float32')
    >>> result_type(np.dtype("float16"), np.float64(1.5))
    dtype('float16')

Users import these names from :mod:`axonym_core.types.dtypes`; how arrays follow the lattice stands
in :mod:`axonym_core.operators.promotion`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ..errors import DTypeError
from .element_types import (
    COMPLEXES,
    FLOAT8,
    FLOATS,
    INTEGERS,
    INTERNED,
    DType,
    ExtendedDType,
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    complex128,
    default_complex_dtype,
    default_float_dtype,
    default_int_dtype,
    float0,
    float16,
    float32,
    float64,
    int4,
    int8,
    int16,
    int32,
    int64,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "dtype_and_weak",
    "lattice_result",
    "promote_types",
    "result_type",
    "result_type_and_weak",
]

# A node of the lattice is a strong dtype or a Python type, which stands for its weak kind.
_Node = Any
_NEXT: Final[dict[_Node, tuple[_Node, ...]]] = {
    bool_: (int,),
    int: (int4, uint4, int8, uint8),
    int4: (),
    uint4: (),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: (float,),
    uint8: (uint16, int16),
    uint16: (uint32, int32),
    uint32: (uint64, int64),
    uint64: (float,),
    float: (*FLOAT8, bfloat16, float16, complex),
    **dict.fromkeys(FLOAT8, ()),
    bfloat16: (float32,),
    float16: (float32,),
    float32: (float64, complex64),
    float64: (complex128,),
    complex: (complex64,),
    complex64: (complex128,),
    complex128: (),
}


def _upper_bounds(node: _Node) -> frozenset[_Node]:
    bounds = {node}
    for larger in _NEXT[node]:
        bounds |= _upper_bounds(larger)
    return frozenset(bounds)


_BOUNDS: Final = {node: _upper_bounds(node) for node in _NEXT}


def _least_upper_bound(nodes: Iterable[_Node]) -> _Node:
    """The smallest node that every one of ``nodes`` leads to; None if there is none."""
    common = functools.reduce(frozenset.intersection, (_BOUNDS[node] for node in nodes))
    for node in common:
        if common <= _BOUNDS[node]:
            return node
    return None


def _weak_node(dtype: DType) -> _Node:
    if dtype in FLOATS:
        return float
    if dtype in COMPLEXES:
        return complex
    return int if dtype in INTEGERS else dtype


_lattice_results: dict[tuple[tuple[DType, bool], ...], tuple[DType, bool]] = {}


def lattice_result(dtypes_and_weak: tuple[tuple[DType, bool], ...]) -> tuple[DType, bool]:
    """Promote dtypes of which some may be weak.

    Args:
        dtypes_and_weak: For each operand its dtype, as :func:`as_dtype` returns it, and whether
            it is weak. There must be at least one.

    Returns:
        The dtype of the result and whether that is weak. It is weak if every operand is, and also
        if the weak operands are of a higher kind than all strong ones (``int32`` and a Python
        float give a weak float). It is never weak for the boolean dtype. ``uint64`` and a signed
        integer give a weak float of the default width.

    Raises:
        DTypeError: If the dtypes have no common one.

    Example:
        >>> lattice_result(((int8, False), (float32, True)))
        (dtype('float32'), True)
    """
    result = _lattice_results.get(dtypes_and_weak)
    if result is None:
        result = _promote(dtypes_and_weak)
        if result is None:  # depends on the settings, so it is not remembered
            return default_float_dtype(), True
        _lattice_results[dtypes_and_weak] = result
    return result


def _promote(dtypes_and_weak: tuple[tuple[DType, bool], ...]) -> tuple[DType, bool] | None:
    """What :func:`lattice_result` remembers; None for a weak float in the default dtype."""
    if not dtypes_and_weak:
        raise DTypeError("promotion needs at least one dtype; got none.")
    strong = {dtype for dtype, weak in dtypes_and_weak if not weak or dtype == bool_}
    weak = {dtype for dtype, weak in dtypes_and_weak if weak and dtype != bool_}
    if len(strong | weak) == 1:
        (dtype,) = strong | weak
        return dtype, not strong
    if any(dtype not in _NEXT for dtype in strong | weak):
        raise DTypeError(_no_common_dtype(strong | weak))
    found = _least_upper_bound(strong | {_weak_node(dtype) for dtype in weak})
    if isinstance(found, np.dtype):
        return found, False
    if found is None:
        raise DTypeError(_no_common_dtype(strong | weak))
    # A weak kind is above everything strong here, so that the weak operands alone decide. Without
    # any, uint64 met a signed integer, and only the floats as a kind are above both.
    return (_least_upper_bound(weak), True) if weak else None


def _no_common_dtype(dtypes: set[Any]) -> str:
    names = sorted(str(getattr(dtype, "name", dtype)) for dtype in dtypes if dtype != float0)
    if len(names) < len(dtypes):
        names.append("float0")
    listed = " and ".join(names)
    if any(isinstance(dtype, ExtendedDType) for dtype in dtypes):
        cure = "extended dtypes, such as those of PRNG keys, do not mix with others"
    elif float0 in dtypes:
        cure = "float0 is the tangent dtype of integers and booleans and mixes with no other"
    else:
        cure = "4-bit integers and 8-bit floats must be converted explicitly, with astype"
    return f"{listed} have no common dtype: {cure}."


def promote_types(a: Any, b: Any) -> DType:
    """The dtype that values of dtypes ``a`` and ``b`` give together.

    Args:
        a: A dtype, or what names one. Python's ``int``, ``float`` and ``complex`` themselves (not
            their names) are weak.
        b: The same.

    Returns:
        Their least upper bound in the lattice above.

    Raises:
        DTypeError: If an argument names no dtype, or the two have no common one.

    Example:
        >>> promote_types("uint8", "int8"), promote_types("int64", "float16")
        (dtype('int16'), dtype('float16'))
    """
    return lattice_result((_strength(a, "a"), _strength(b, "b")))[0]


def _strength(x: Any, name: str) -> tuple[DType, bool]:
    if x is int or x is float or x is complex:
        return as_dtype(x), True
    return as_dtype(x, name), False


# Types of values that are weak, with the default dtype of their kind.
_WEAK_VALUES: Final = {
    int: default_int_dtype,
    float: default_float_dtype,
    complex: default_complex_dtype,
    np.float64: default_float_dtype,
    np.complex128: default_complex_dtype,
}


def dtype_and_weak(x: Any, name: str = "x") -> tuple[DType, bool]:
    """The dtype of a value or of what names a dtype, and whether it is weak.

    Args:
        x: An array or another object with ``dtype`` and, maybe, ``weak_type``; a Python or NumPy
            scalar; a dtype, or what names one.
        name: The argument's name, for the error message.

    Returns:
        The dtype, and whether it is weak.

    Raises:
        DTypeError: If ``x`` is none of these.

    Example:
        >>> dtype_and_weak(2.0), dtype_and_weak(np.float64(2.0)), dtype_and_weak(np.float16(2.0))
        ((dtype('float32'), True), (dtype('float32'), True), (dtype('float16'), False))
    """
    kind = type(x)
    default = _WEAK_VALUES.get(kind)
    if default is not None:
        return default(), True
    if kind is bool:
        return bool_, False
    dtype = getattr(x, "dtype", None)
    if dtype is not None and kind is not type:
        found = INTERNED.get(dtype) if isinstance(dtype, np.dtype) else None
        if found is None:
            found = as_dtype(dtype, f"{name}.dtype")
        weak = bool(getattr(x, "weak_type", False))
        if weak and getattr(getattr(x, "aval", None), "is_number", False):
            return _WEAK_VALUES[_weak_node(found)](), True
        return found, weak
    if isinstance(x, int | float | complex):
        # Subclasses of Python's numbers, such as the members of an IntEnum.
        return _WEAK_VALUES[next(t for t in (int, float, complex) if isinstance(x, t))](), True
    return _strength(x, name)


def result_type(*args: Any) -> DType:
    """The dtype that the arguments give together in an arithmetic operation.

    Args:
        *args: Arrays, scalars, dtypes or names of dtypes, in any mixture; at least one. Python
            scalars, ``np.float64`` and ``np.complex128`` scalars and arrays with ``weak_type``
            are weak.

    Returns:
        The promoted dtype.

    Raises:
        DTypeError: If an argument has no dtype, or they have no common one.

    Example:
        >>> result_type(np.zeros(3, "float16"), 2.0, "int32")
        dtype('float16')
    """
    return result_type_and_weak(*args)[0]


def result_type_and_weak(*args: Any) -> tuple[DType, bool]:
    """As :func:`result_type`, and whether the result is weak.

    Example:
        >>> result_type_and_weak(1, 2.0)
        (dtype('float32'), True)
    """
    return lattice_result(tuple([dtype_and_weak(x, f"argument {i}") for i, x in enumerate(args)]))
