"""NumPy evaluation of `dot_general`, as one stacked matrix product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..primitives.contractions import (
    DotDimensionNumbers,
    PrecisionPair,
    dot_general_p,
    free_dimensions,
)
from ..types import dtypes
from ..types.avals import AxisName
from .reductions import accumulation_dtype, refuse_named_axes
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]


def product_dtypes(
    dtype: np.dtype[Any], preferred_element_type: Any
) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Dtypes of a contraction: that in which products are accumulated, and that of the result."""
    result = dtype if preferred_element_type is None else preferred_element_type
    wide = accumulation_dtype(result)
    if wide.itemsize < dtype.itemsize:  # a narrower result was asked for
        wide = dtype
    if dtypes.is_integer(wide) and wide.kind not in "iu":
        wide = np.dtype(np.int32)  # 4-bit integers
    return wide, result


def _dot_general(
    lhs: NDArray,
    rhs: NDArray,
    *,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionPair,
    preferred_element_type: Any,
    axis_names: tuple[AxisName, ...],
) -> Any:
    refuse_named_axes("dot_general", axis_names)
    (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = dimension_numbers
    lhs_free = free_dimensions(lhs.ndim, lhs_contracting, lhs_batch)
    rhs_free = free_dimensions(rhs.ndim, rhs_contracting, rhs_batch)
    wide, result = product_dtypes(lhs.dtype, preferred_element_type)
    batch_shape = [lhs.shape[i] for i in lhs_batch]
    lhs_shape = [lhs.shape[i] for i in lhs_free]
    rhs_shape = [rhs.shape[j] for j in rhs_free]
    contracted = math.prod(lhs.shape[i] for i in lhs_contracting)
    a = lhs.transpose(*lhs_batch, *lhs_free, *lhs_contracting).reshape(
        *batch_shape, math.prod(lhs_shape), contracted
    )
    b = rhs.transpose(*rhs_batch, *rhs_contracting, *rhs_free).reshape(
        *batch_shape, contracted, math.prod(rhs_shape)
    )
    with np.errstate(all="ignore"):
        out = np.matmul(a.astype(wide, copy=False), b.astype(wide, copy=False))
        return out.reshape((*batch_shape, *lhs_shape, *rhs_shape)).astype(result, copy=False)


register_evaluation(dot_general_p, _dot_general)
