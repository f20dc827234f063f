"""The dtypes that XLA has on every platform and version supported, and their names in MLIR.

    >>> tensor_type((2, 3), np.dtype("float32"))
    'tensor<2x3xf32>'

The 6-bit floats are not among them: jaxlib has them from 0.11 on only.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from axonym_core.types import dtypes

from .errors import BufferDTypeError

__all__ = ["MLIR_NAMES", "canonical", "tensor_type"]

DType = np.dtype[Any]

MLIR_NAMES: Final[dict[DType, str]] = {
    np.dtype(scalar): name
    for scalar, name in (
        (np.bool_, "i1"),
        (ml_dtypes.int2, "i2"),
        (ml_dtypes.int4, "i4"),
        (np.int8, "i8"),
        (np.int16, "i16"),
        (np.int32, "i32"),
        (np.int64, "i64"),
        (ml_dtypes.uint2, "ui2"),
        (ml_dtypes.uint4, "ui4"),
        (np.uint8, "ui8"),
        (np.uint16, "ui16"),
        (np.uint32, "ui32"),
        (np.uint64, "ui64"),
        (ml_dtypes.float4_e2m1fn, "f4E2M1FN"),
        (ml_dtypes.float8_e3m4, "f8E3M4"),
        (ml_dtypes.float8_e4m3, "f8E4M3"),
        (ml_dtypes.float8_e4m3b11fnuz, "f8E4M3B11FNUZ"),
        (ml_dtypes.float8_e4m3fn, "f8E4M3FN"),
        (ml_dtypes.float8_e4m3fnuz, "f8E4M3FNUZ"),
        (ml_dtypes.float8_e5m2, "f8E5M2"),
        (ml_dtypes.float8_e5m2fnuz, "f8E5M2FNUZ"),
        (ml_dtypes.float8_e8m0fnu, "f8E8M0FNU"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.float16, "f16"),
        (np.float32, "f32"),
        (np.float64, "f64"),
        (np.complex64, "complex<f32>"),
        (np.complex128, "complex<f64>"),
    )
}
"""MLIR's name of each dtype."""

_CANONICAL: Final[dict[DType, DType]] = {dtype: dtype for dtype in MLIR_NAMES}

# The tangents of integers hold no information, and XLA has no type without bits: where one must
# be in a program, it is a truth value.
_CANONICAL[np.dtype([("float0", np.void, 0)])] = np.dtype(np.bool_)


def canonical(dtype: DType) -> DType:
    """The dtype that XLA holds such data in: native byte order, one object for each.

    Args:
        dtype: Any dtype of NumPy or `ml_dtypes`, or an extended one. `float0` is held as `bool`.

    Raises:
        BufferDTypeError: XLA has no such dtype.

    Example:
        >>> canonical(np.dtype(">f4"))
        dtype('float32')
    """
    found = _CANONICAL.get(dtypes.storage_dtype(dtype))
    if found is None:
        found = _CANONICAL.get(dtype.newbyteorder("="))
        if found is None:
            names = ", ".join(d.name for d in MLIR_NAMES)
            raise BufferDTypeError(
                f"XLA has no arrays of dtype {dtype}; convert the data to one of {names}."
            )
    return found


def tensor_type(shape: tuple[int, ...], dtype: DType) -> str:
    """MLIR's type of an array, of a dtype that `canonical` returned."""
    return f"tensor<{''.join([f'{d}x' for d in shape])}{MLIR_NAMES[dtype]}>"
