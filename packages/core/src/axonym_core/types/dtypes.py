"""Element types: which exist, what they are called, and which one a mixture of them gives.

This module is the one to import. What a dtype is stands in `axonym_core.types.element_types`, how
they mix in `axonym_core.types.type_lattice`; here are the questions that one asks of a dtype. Three
rules hold everywhere:

* **A dtype that was asked for is honoured.** There is no switch that narrows 64 bits to 32; the
  settings ``config.default_float_bits`` and ``config.default_int_bits`` only say what is used
  where nobody asked: by creation functions and for Python scalars.
* **Python scalars are weak:** they give way to arrays. ``np.float64`` and ``np.complex128``
  *scalars* are Python floats and complex numbers by inheritance and weak for that reason, so that
  ``x / np.sqrt(d)`` keeps the dtype of ``x``. Other NumPy scalars are strong.
* **Never ask NumPy for the kind of a dtype.** ``dtype.kind`` of ``bfloat16`` is ``"V"`` and of one
  of the 8-bit floats ``"f"``; the functions below know.

    >>> is_floating(bfloat16), is_integer(int4), promote_types(bfloat16, float16)
    (True, True, dtype('float32'))
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from ..errors import DTypeError
from .element_types import (
    ABSTRACT,
    COMPLEXES,
    DTYPES,
    FLOATS,
    INEXACT,
    INTEGERS,
    SIGNED,
    DType,
    ExtendedDType,
    as_dtype,
    bfloat16,
    bool_,
    canonicalize,
    complex64,
    complex128,
    default_complex_dtype,
    default_float_dtype,
    default_int_dtype,
    default_uint_dtype,
    extended,
    float0,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int4,
    int8,
    int16,
    int32,
    int64,
    prng_key,
    storage_dtype,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .type_lattice import (
    dtype_and_weak,
    lattice_result,
    promote_types,
    result_type,
    result_type_and_weak,
)

__all__ = [
    "COMPLEXES",
    "DTYPES",
    "FLOATS",
    "INEXACT",
    "INTEGERS",
    "SIGNED",
    "DType",
    "ExtendedDType",
    "as_dtype",
    "bfloat16",
    "bool_",
    "canonicalize",
    "complex64",
    "complex128",
    "default_complex_dtype",
    "default_float_dtype",
    "default_int_dtype",
    "default_uint_dtype",
    "dtype_and_weak",
    "extended",
    "finfo",
    "float0",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_bool",
    "is_complex",
    "is_extended",
    "is_floating",
    "is_inexact",
    "is_integer",
    "is_signed",
    "issubdtype",
    "lattice_result",
    "prng_key",
    "promote_types",
    "result_type",
    "result_type_and_weak",
    "storage_dtype",
    "tangent_dtype",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


def is_bool(dtype: DType) -> bool:
    """Whether ``dtype`` is the boolean dtype."""
    return dtype == bool_


def is_signed(dtype: DType) -> bool:
    """Whether ``dtype`` is an integer dtype with negative values."""
    return dtype in SIGNED


def is_integer(dtype: DType) -> bool:
    """Whether ``dtype`` is an integer dtype; the boolean one is not."""
    return dtype in INTEGERS


def is_floating(dtype: DType) -> bool:
    """Whether ``dtype`` is a real floating-point dtype, of any width."""
    return dtype in FLOATS


def is_complex(dtype: DType) -> bool:
    """Whether ``dtype`` is a complex dtype."""
    return dtype in COMPLEXES


def is_inexact(dtype: DType) -> bool:
    """Whether ``dtype`` is a floating-point or complex dtype, so that it can be differentiated."""
    return dtype in INEXACT


def is_extended(dtype: object) -> bool:
    """Whether the elements of ``dtype`` are no plain numbers, as those of PRNG keys are not."""
    return isinstance(dtype, ExtendedDType)


def tangent_dtype(dtype: DType) -> DType:
    """The dtype of the tangents of values of ``dtype``.

    Args:
        dtype: Any dtype.

    Returns:
        ``dtype`` itself if it is floating-point or complex, else :data:`float0`.

    Example:
        >>> tangent_dtype(bfloat16), tangent_dtype(int32) == float0
        (dtype(bfloat16), True)
    """
    return dtype if dtype in INEXACT else float0


def issubdtype(a: Any, b: Any) -> bool:
    """Whether dtype ``a`` is, or belongs to the kind, ``b``; as NumPy's, for all dtypes here.

    Args:
        a: A dtype, or what names one.
        b: A dtype, or an abstract scalar type such as ``np.floating`` or :class:`extended`.

    Returns:
        True if every value of ``a`` is of kind ``b``.

    Raises:
        DTypeError: If an argument names no dtype.

    Example:
        >>> issubdtype("bfloat16", np.floating), issubdtype("int4", np.unsignedinteger)
        (True, False)
    """
    if _is_abstract(b):
        if _is_abstract(a):
            return issubclass(a, b)
        dtype: Any = as_dtype(a, "a")
        if isinstance(dtype, ExtendedDType):
            return issubclass(getattr(dtype, "type", extended), b)
        return issubclass(_abstract_of(dtype), b)
    dtype = as_dtype(b, "b")
    return not _is_abstract(a) and as_dtype(a, "a") == dtype


def _is_abstract(x: object) -> bool:
    return isinstance(x, type) and (x in ABSTRACT or issubclass(x, extended))


def _abstract_of(dtype: DType) -> type[np.generic]:
    if dtype in INTEGERS:
        return np.signedinteger if dtype in SIGNED else np.unsignedinteger
    if dtype in INEXACT:
        return np.floating if dtype in FLOATS else np.complexfloating
    return dtype.type


# Untyped in ml_dtypes.
_ml_finfo: Final[Any] = ml_dtypes.finfo
_ml_iinfo: Final[Any] = ml_dtypes.iinfo


def finfo(dtype: Any) -> Any:
    """Machine limits of a floating-point dtype, as ``numpy.finfo``, for all dtypes here.

    Args:
        dtype: A floating-point or complex dtype, what names one, or an array or number.

    Returns:
        An object with ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``dtype`` and the other
        attributes of ``numpy.finfo``.

    Raises:
        DTypeError: If ``dtype`` is neither floating-point nor complex.

    Example:
        >>> float(finfo("bfloat16").eps)
        0.0078125
    """
    dtype = dtype_and_weak(dtype, "dtype")[0]
    if dtype not in INEXACT:
        raise DTypeError(f"dtype={dtype} has no floating-point limits; use iinfo for integers.")
    if dtype.isbuiltin == 1:
        return np.finfo(dtype)
    return _ml_finfo(dtype)


def iinfo(dtype: Any) -> Any:
    """Machine limits of an integer dtype, as ``numpy.iinfo``, for all dtypes here.

    Args:
        dtype: An integer dtype, what names one, or an array or number.

    Returns:
        An object with ``bits``, ``min``, ``max`` and ``dtype``.

    Raises:
        DTypeError: If ``dtype`` is not an integer dtype.

    Example:
        >>> iinfo("int4").max
        7
    """
    dtype = dtype_and_weak(dtype, "dtype")[0]
    if dtype not in INTEGERS:
        raise DTypeError(f"dtype={dtype} has no integer limits; use finfo for floats.")
    if dtype.isbuiltin == 1:
        return np.iinfo(dtype)
    return _ml_iinfo(dtype)
