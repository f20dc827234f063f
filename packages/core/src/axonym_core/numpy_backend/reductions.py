"""NumPy evaluation of reductions and cumulative operations.

Sums and products of 16-bit and narrower floating-point numbers are accumulated in 32 bits and
rounded once, as the compiled backend does it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InternalError
from ..primitives import reductions as p
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.avals import AxisName
from .rules import register_evaluation

NDArray = np.ndarray[Any, Any]


def accumulation_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Dtype in which sums of numbers of a dtype are accumulated."""
    if dtypes.is_floating(dtype) and dtype.itemsize < 4:
        return np.dtype(np.float32)
    return dtype


def refuse_named_axes(name: str, axis_names: tuple[AxisName, ...]) -> None:
    """Raise: a named axis that reaches an evaluation has not been mapped away."""
    if axis_names:
        raise InternalError(
            f"{name} over the named axes {axis_names} reached an evaluation; "
            "the transformation that brought them into scope should have mapped them away"
        )


def _reduce_sum(x: NDArray, *, axes: tuple[int, ...], axis_names: tuple[AxisName, ...]) -> Any:
    refuse_named_axes("reduce_sum", axis_names)
    with np.errstate(all="ignore"):
        wide = accumulation_dtype(x.dtype)
        return np.sum(x.astype(wide, copy=False), axis=axes, dtype=wide).astype(x.dtype)


def _reduce_prod(x: NDArray, *, axes: tuple[int, ...]) -> Any:
    with np.errstate(all="ignore"):
        wide = accumulation_dtype(x.dtype)
        return np.prod(x.astype(wide, copy=False), axis=axes, dtype=wide).astype(x.dtype)


def extreme(dtype: np.dtype[Any], largest: bool) -> Any:
    """Greatest or least value of a dtype (an infinity where it has them), of that dtype."""
    if dtypes.is_bool(dtype):
        return np.bool_(largest)
    if dtypes.is_floating(dtype):
        infinite = np.asarray(np.inf if largest else -np.inf).astype(dtype)
        if np.isinf(infinite.astype(np.float64)):
            return infinite[()]
        info = dtypes.finfo(dtype)
    else:
        info = dtypes.iinfo(dtype)
    return np.asarray(info.max if largest else info.min).astype(dtype)[()]


def _reduce_with(primitive: Primitive, ufunc: np.ufunc, identity: Any) -> None:
    def rule(x: NDArray, *, axes: tuple[int, ...], axis_names: tuple[AxisName, ...] = ()) -> Any:
        refuse_named_axes(primitive.name, axis_names)
        with np.errstate(all="ignore"):
            return ufunc.reduce(x, axis=axes, initial=identity(x.dtype)).astype(x.dtype)

    register_evaluation(primitive, rule)


def _arg(x: NDArray, find: Any, axis: int, index_dtype: np.dtype[Any]) -> Any:
    if dtypes.is_floating(x.dtype):
        x = x.astype(np.promote_types(accumulation_dtype(x.dtype), np.float32), copy=False)
    elif dtypes.is_integer(x.dtype) and x.dtype.kind not in "iu":
        x = x.astype(np.int32)  # the 4-bit integers have no argmax of their own
    return find(x, axis=axis).astype(index_dtype)


def _argmax(x: NDArray, *, axis: int, index_dtype: np.dtype[Any]) -> Any:
    return _arg(x, np.argmax, axis, index_dtype)


def _argmin(x: NDArray, *, axis: int, index_dtype: np.dtype[Any]) -> Any:
    return _arg(x, np.argmin, axis, index_dtype)


def _cumulate_with(primitive: Primitive, ufunc: np.ufunc, widens: bool) -> None:
    def rule(x: NDArray, *, axis: int, reverse: bool) -> Any:
        wide = accumulation_dtype(x.dtype) if widens else x.dtype
        if dtypes.is_integer(wide) and wide.kind not in "iu":
            wide = np.dtype(np.int8)  # 4-bit integers lack some of the loops, and wrap alike
        y = x.astype(wide, copy=False)
        if reverse:
            y = np.flip(y, axis)
        with np.errstate(all="ignore"):
            y = ufunc.accumulate(y, axis=axis, dtype=wide)
            if reverse:
                y = np.flip(y, axis)
            return y.astype(x.dtype)

    register_evaluation(primitive, rule)


register_evaluation(p.reduce_sum_p, _reduce_sum)
register_evaluation(p.reduce_prod_p, _reduce_prod)
_reduce_with(p.reduce_max_p, np.maximum, lambda dtype: extreme(dtype, False))
_reduce_with(p.reduce_min_p, np.minimum, lambda dtype: extreme(dtype, True))
_reduce_with(p.reduce_and_p, np.bitwise_and, lambda dtype: np.asarray(-1).astype(dtype)[()])
_reduce_with(p.reduce_or_p, np.bitwise_or, lambda dtype: np.asarray(0).astype(dtype)[()])
register_evaluation(p.argmax_p, _argmax)
register_evaluation(p.argmin_p, _argmin)
_cumulate_with(p.cumsum_p, np.add, True)
_cumulate_with(p.cumprod_p, np.multiply, True)
_cumulate_with(p.cummax_p, np.maximum, False)
_cumulate_with(p.cummin_p, np.minimum, False)
_cumulate_with(p.cumlogsumexp_p, np.logaddexp, True)
