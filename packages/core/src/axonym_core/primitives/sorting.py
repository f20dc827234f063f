"""Sorting, and the largest elements.

`sort` orders its operands together along one dimension by the first `num_keys` of them,
lexicographically. Floating-point keys are ordered as numbers, with -0.0 equal to 0.0 and every NaN
after every number; complex keys by real part, then imaginary part. `top_k` has the total order of
the floating-point standard, in which 0.0 is larger than -0.0 and NaN is the largest value.
"""

from __future__ import annotations

from ..errors import DTypeError, ShapeError
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.avals import ShapedArray
from .reductions import check_axis


def _sort_shape(
    *operands: ShapedArray, dimension: int, is_stable: bool, num_keys: int
) -> tuple[ShapedArray, ...]:
    if not operands:
        raise ShapeError("sort: there is no operand; give at least one array")
    if not 1 <= num_keys <= len(operands):
        raise ShapeError(
            f"sort: num_keys={num_keys} of {len(operands)} operands; give a number from 1 to "
            f"{len(operands)}"
        )
    shape = operands[0].shape
    for x in operands:
        if x.shape != shape:
            raise ShapeError(
                f"sort: operands are {', '.join(map(str, operands))}; they have to be of one "
                "shape: broadcast them"
            )
    for x in operands[:num_keys]:
        _require_order("sort", x)
    check_axis("sort", operands[0], dimension, "dimension")
    return tuple([ShapedArray(x.shape, x.dtype, x.weak_type) for x in operands])


def _require_order(name: str, x: ShapedArray) -> None:
    if dtypes.is_extended(x.dtype):
        raise DTypeError(
            f"{name}: elements of {x} have no order; sort by numbers that go with them"
        )


def _top_k_shape(operand: ShapedArray, *, k: int) -> tuple[ShapedArray, ShapedArray]:
    _require_order("top_k", operand)
    if dtypes.is_complex(operand.dtype):
        raise DTypeError(
            f"top_k: operand is {operand}, and complex numbers have no order; give their absolute "
            "value or real part"
        )
    if operand.ndim == 0:
        raise ShapeError("top_k: the operand is 0-d; reshape it to (1,) first")
    if not 0 <= k <= operand.shape[-1]:
        raise ShapeError(
            f"top_k: k={k} of a dimension of {operand.shape[-1]} elements (operand {operand}); "
            f"give a number from 0 to {operand.shape[-1]}"
        )
    if operand.shape[-1] > 2**31 - 1:
        raise ShapeError(f"top_k: the last dimension of {operand} has positions beyond int32")
    shape = (*operand.shape[:-1], k)
    return (
        ShapedArray(shape, operand.dtype, operand.weak_type),
        ShapedArray(shape, dtypes.int32),
    )


sort_p = Primitive(
    "sort", _sort_shape, multiple_results=True, absent={"transpose": "not linear in its keys"}
)
top_k_p = Primitive(
    "top_k", _top_k_shape, multiple_results=True, absent={"transpose": "not linear"}
)
