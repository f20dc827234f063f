"""NumPy evaluation of sorting and of the largest elements, through stable index sorts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.sorting import sort_p, top_k_p
from ..types import dtypes
from .reductions import accumulation_dtype
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]


def _native(x: NDArray) -> NDArray:
    """The same numbers in a dtype that NumPy itself can order."""
    if dtypes.is_floating(x.dtype):
        return x.astype(accumulation_dtype(x.dtype), copy=False)
    if dtypes.is_integer(x.dtype) and x.dtype.kind not in "iu":
        return x.astype(np.int32)  # 4-bit integers
    return x


def _sort(*operands: NDArray, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    keys: list[NDArray] = []
    for x in operands[:num_keys]:
        if dtypes.is_complex(x.dtype):
            keys += [x.real, x.imag]
        else:
            keys.append(_native(x))
    # lexsort is stable and takes the most important key last.
    order = np.lexsort(tuple(reversed(keys)), axis=dimension)
    return [np.take_along_axis(x, order, dimension) for x in operands]


def _total_order(x: NDArray) -> NDArray:
    """Integers in the total order of floating-point numbers, every NaN being the largest."""
    bits = np.dtype(f"i{x.dtype.itemsize}")
    positive = np.where(np.isnan(x), np.asarray(np.nan, x.dtype), x)
    ordered = positive.view(bits)
    return np.where(ordered < 0, ordered ^ np.iinfo(bits).max, ordered)


def _top_k(x: NDArray, *, k: int) -> list[Any]:
    key = _native(x)
    if dtypes.is_floating(key.dtype):
        key = _total_order(key)
    elif key.dtype == np.bool_:
        key = key.astype(np.int8)
    # Inverting all bits reverses the order of integers, so that equal ones keep theirs.
    order = np.argsort(~key, axis=-1, kind="stable")[..., :k]
    return [np.take_along_axis(x, order, -1), order.astype(np.int32)]


register_evaluation(sort_p, _sort)
register_evaluation(top_k_p, _top_k)
