"""Reductions over positional dimensions, and cumulative operations along one.

Sums and extremes may also reduce named axes (`axis_names`), in one operation with positional
dimensions. That is how reverse mode accumulates the gradient of a value that does not vary over a
mapped axis without ever holding one gradient per index of the axis.

An empty reduction gives the identity of its operation: 0, 1, the least or greatest value. `argmax`
and `argmin` have no identity and refuse an empty dimension.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import AxisNameError, DTypeError, ShapeError
from ..programs.primitive import ALL, Primitive
from ..types import dtypes
from ..types.avals import AxisName, ShapedArray, join_all_named


def check_axes(name: str, aval: ShapedArray, axes: tuple[int, ...]) -> None:
    """Check that the dimensions to reduce exist and differ.

    Raises:
        ShapeError: They do not.
    """
    ndim = aval.ndim
    for axis in axes:
        if not 0 <= axis < ndim:
            raise ShapeError(
                f"{name}: axes={axes} names dimension {axis} of an operand of type {aval}, which "
                f"has {ndim}; give dimensions from 0 to {ndim - 1}"
                if ndim
                else f"{name}: axes={axes} of a 0-d operand; give axes=()"
            )
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{name}: axes={axes} names a dimension twice; name each once")


def check_axis(name: str, aval: ShapedArray, axis: int, argument: str = "axis") -> None:
    """Check that a dimension exists.

    Raises:
        ShapeError: It does not.
    """
    if not 0 <= axis < aval.ndim:
        mend = f"give one from 0 to {aval.ndim - 1}" if aval.ndim else "reshape it to (1,) first"
        raise ShapeError(
            f"{name}: {argument}={axis}, but the operand of type {aval} has {aval.ndim} "
            f"dimensions; {mend}"
        )


def _numeric(name: str, dtype: Any) -> None:
    if dtypes.is_extended(dtype):
        raise DTypeError(f"{name}: operand is {dtype}, whose elements are no numbers")
    if dtypes.is_bool(dtype):
        raise DTypeError(
            f"{name}: operand is bool; convert it first, with "
            "lax.convert_element_type(x, 'int32'), or use reduce_or, reduce_and"
        )


def _ordered(name: str, dtype: Any) -> None:
    if dtypes.is_extended(dtype):
        raise DTypeError(f"{name}: operand is {dtype}, whose elements have no order")
    if dtypes.is_complex(dtype):
        raise DTypeError(
            f"{name}: operand is {dtype}, and complex numbers have no order; "
            "reduce its absolute value or its real part"
        )


def _bitwise(name: str, dtype: Any) -> None:
    if not (dtypes.is_integer(dtype) or dtypes.is_bool(dtype)):
        raise DTypeError(
            f"{name}: operand is {dtype}; it takes booleans and integers: compare first (x != 0)"
        )


def _floating(name: str, dtype: Any) -> None:
    if not dtypes.is_floating(dtype):
        raise DTypeError(
            f"{name}: operand is {dtype}; it takes floating-point numbers: convert it first, "
            "with lax.convert_element_type(x, 'float32')"
        )


def _remove(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([d for i, d in enumerate(shape) if i not in axes])


def sum_named(
    name: str, operands: Sequence[ShapedArray], out: ShapedArray, axis_names: tuple[AxisName, ...]
) -> ShapedArray:
    """Type of a contraction's result: varies over its operands' axes but those summed over.

    Args:
        name: Name of the primitive, for messages.
        operands: Types of the operands.
        out: Type of the result without named axes.
        axis_names: Named axes summed over.
    """
    if len(set(axis_names)) != len(axis_names):
        raise AxisNameError(f"{name}: axis_names={axis_names} names an axis twice; name each once")
    named = join_all_named(operands)
    if axis_names:
        named = tuple([entry for entry in named if entry[0] not in axis_names])
    return out.update(named_shape=named) if named else out


def axis_names_of(params: Mapping[str, Any]) -> Sequence[AxisName]:
    """Names that an application refers to, for primitives with a parameter `axis_names`."""
    return params["axis_names"]  # type: ignore[no-any-return]  # Any by nature


def _reduction(name: str, check_dtype: Any) -> Primitive:
    def shape_rule(operand: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
        check_dtype(name, operand.dtype)
        check_axes(name, operand, axes)
        return ShapedArray(_remove(operand.shape, axes), operand.dtype, operand.weak_type)

    return Primitive(name, shape_rule)


def _named_reduction(name: str, check_dtype: Any, linear: bool = False) -> Primitive:
    def shape_rule(
        operand: ShapedArray, *, axes: tuple[int, ...], axis_names: tuple[AxisName, ...]
    ) -> ShapedArray:
        check_dtype(name, operand.dtype)
        check_axes(name, operand, axes)
        out = ShapedArray(_remove(operand.shape, axes), operand.dtype, operand.weak_type)
        return sum_named(name, (operand,), out, axis_names)

    return Primitive(name, shape_rule, linear=ALL if linear else (), uses_axes=axis_names_of)


reduce_sum_p = _named_reduction("reduce_sum", _numeric, linear=True)
reduce_max_p = _named_reduction("reduce_max", _ordered)
reduce_min_p = _named_reduction("reduce_min", _ordered)
reduce_prod_p = _reduction("reduce_prod", _numeric)
reduce_and_p = _reduction("reduce_and", _bitwise)
reduce_or_p = _reduction("reduce_or", _bitwise)


def _index_reduction(name: str) -> Primitive:
    def shape_rule(operand: ShapedArray, *, axis: int, index_dtype: Any) -> ShapedArray:
        _ordered(name, operand.dtype)
        check_axis(name, operand, axis)
        size = operand.shape[axis]
        if size == 0:
            raise ShapeError(
                f"{name}: dimension {axis} of the operand of type {operand} is empty, so there is "
                "no element to name; reduce a dimension that has elements"
            )
        if not dtypes.is_integer(index_dtype):
            raise DTypeError(
                f"{name}: index_dtype={index_dtype} does not hold indices; give an integer dtype "
                "such as int32"
            )
        if size - 1 > dtypes.iinfo(index_dtype).max:
            raise DTypeError(
                f"{name}: index_dtype={index_dtype} cannot count {size} elements; "
                "give a wider integer dtype"
            )
        return ShapedArray(_remove(operand.shape, (axis,)), index_dtype)

    return Primitive(name, shape_rule, absent={"transpose": "not linear: gives indices"})


argmax_p = _index_reduction("argmax")
argmin_p = _index_reduction("argmin")


def _cumulative(name: str, check_dtype: Any, linear: bool = False) -> Primitive:
    def shape_rule(operand: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        check_dtype(name, operand.dtype)
        check_axis(name, operand, axis)
        return ShapedArray(operand.shape, operand.dtype, operand.weak_type)

    return Primitive(name, shape_rule, linear=ALL if linear else ())


cumsum_p = _cumulative("cumsum", _numeric, linear=True)
cumprod_p = _cumulative("cumprod", _numeric)
cummax_p = _cumulative("cummax", _ordered)
cummin_p = _cumulative("cummin", _ordered)
cumlogsumexp_p = _cumulative("cumlogsumexp", _floating)
