"""How StableHLO spells element types and tensor types.

>>> tensor_type((2, 3), np.dtype("float32"))
'tensor<2x3xf32>'
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._element_types import MLIR_NAMES, canonical


def element_type(dtype: np.dtype[Any]) -> str:
    """MLIR element type of a dtype. `float0` is held as `bool`.

    Raises:
        BufferDTypeError: XLA has no such type.

    Example:
        >>> element_type(np.dtype("uint8")), element_type(np.dtype("complex64"))
        ('ui8', 'complex<f32>')
    """
    name = MLIR_NAMES.get(dtype)
    return MLIR_NAMES[canonical(dtype)] if name is None else name


def tensor_type(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """MLIR tensor type of a shape and a dtype."""
    dims = "".join([f"{d}x" for d in shape])
    return f"tensor<{dims}{element_type(dtype)}>"
