"""Reductions: sums, products, extrema, truth, positions; over dimensions and named axes.

`axis` is a dimension, the name of a named axis, or a tuple of both (`reduction_axes`); a result
does not vary over the names it was reduced over. A plain sum binds one primitive, and so does each
of the others.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core import lax, operators
from axonym_core.arrays import Array
from axonym_core.errors import ArgumentTypeError, DTypeError, ShapeError
from axonym_core.operators import number_like, promote_args, scalar_of
from axonym_core.primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_sum_p,
)
from axonym_core.types import DType, ShapedArray, aval_of, bool_, dtypes

from ..arguments.operands import array_of, as_bool, check_number, convert, dtype_beside, refuse_out
from ..arguments.reduction_axes import collect_all, keep_dimensions, mask_out, number_of, split_axes

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "min",
    "prod",
    "ptp",
    "sum",
]


def sum_dtype(dtype: DType) -> DType:
    """Dtype in which numbers are summed: small integers and truth values in the default one."""
    if dtype in dtypes.INEXACT:
        return dtype
    if dtype == bool_:
        return dtypes.default_int_dtype()
    least = dtypes.default_int_dtype() if dtype in dtypes.SIGNED else dtypes.default_uint_dtype()
    return dtype if dtype.itemsize >= least.itemsize else least


def _summand(name: str, a: Any, dtype: Any) -> tuple[Any, ShapedArray]:
    """Operand of a sum or product, in the dtype in which that is computed."""
    a = array_of(name, a)
    aval = a.aval
    wanted = sum_dtype(aval.dtype) if dtype is None else dtype_beside(dtype, aval.dtype)
    if wanted != aval.dtype:
        a = lax.real(a) if _loses_parts(aval.dtype, wanted) else a
        a = convert(a, wanted)
        aval = a.aval
    return a, aval


def _loses_parts(old: DType, new: DType) -> bool:
    return old in dtypes.COMPLEXES and new not in dtypes.COMPLEXES


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Sum over dimensions and named axes.

    Args:
        a: Array or number.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions. A value
            that does not vary over a named axis counts once for each index of it.
        dtype: Dtype to sum in and to return; by default that of `a`, and the default integer dtype
            for smaller integers and truth values.
        out: Refused: arrays are immutable.
        keepdims: Whether dimensions stay, with size 1.
        initial: Number to add.
        where: Truth values that broadcast to `a`: which elements take part.

    Returns:
        Array without the dimensions, that does not vary over the named axes. The sum of no
        elements is 0.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> sum(lax.full((2, 3), 1.0, "float32"), axis=0)
        Array([2., 2., 2.], dtype=float32)
    """
    if out is not None:
        refuse_out("sum")
    a, aval = _summand("sum", a, dtype)
    dims, names = split_axes("sum", aval, axis)
    if where is not None:
        a = mask_out("sum", a, where, number_like(0, aval))
    total = reduce_sum_p.bind(a, axes=dims, axis_names=names)
    if keepdims:
        total = keep_dimensions(total, aval.shape, dims)
    if initial is None:
        return total
    check_number("sum", "initial", initial)
    return operators.add(total, initial)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Product over dimensions and named axes; arguments and errors are those of `sum`.

    Returns:
        Array without the dimensions, that does not vary over the named axes. The product of no
        elements is 1.

    Example:
        >>> prod(lax.full((2, 3), 2.0, "float32"), axis=0)
        Array([4., 4., 4.], dtype=float32)
    """
    if out is not None:
        refuse_out("prod")
    a, aval = _summand("prod", a, dtype)
    dims, names = split_axes("prod", aval, axis)
    a = mask_out("prod", a, where, number_like(1, aval))
    if names:
        collected, all_dims = collect_all(a, dims, names)
        product = reduce_prod_p.bind(collected, axes=all_dims)
    else:
        product = reduce_prod_p.bind(a, axes=dims)
    if keepdims:
        product = keep_dimensions(product, aval.shape, dims)
    if initial is None:
        return product
    check_number("prod", "initial", initial)
    return operators.multiply(product, initial)


def extreme(dtype: DType, largest: bool) -> Any:
    """Greatest or least value of a real dtype: an infinity where it has them."""
    if dtype == bool_:
        return largest
    if dtype in dtypes.INTEGERS:
        info = dtypes.iinfo(dtype)
        return scalar_of(int(info.max if largest else info.min), dtype)
    infinity = scalar_of(float("inf") if largest else float("-inf"), dtype)
    if np.isinf(float(infinity)):
        return infinity
    info = dtypes.finfo(dtype)
    return scalar_of(float(info.max if largest else info.min), dtype)


def _extremum(name: str, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Array:
    largest = name == "max"
    a = array_of(name, a)
    aval = a.aval
    dims, names = split_axes(name, aval, axis)
    if aval.dtype in dtypes.COMPLEXES:
        raise DTypeError(
            f"{name}: a has type {aval}, and complex numbers have no order; reduce their absolute "
            "value or their real part"
        )
    if initial is None:
        if not aval.size and not number_of(aval, dims, ()):
            raise ShapeError(
                f"{name}: no element to choose from in an operand of type {aval}, reduced over "
                f"axis={axis}; give initial=, the result for no elements"
            )
        if where is not None:
            raise ArgumentTypeError(
                f"{name}: where= may leave out all elements; give initial=, the result for none"
            )
    a = mask_out(name, a, where, extreme(aval.dtype, not largest))
    out = (reduce_max_p if largest else reduce_min_p).bind(a, axes=dims, axis_names=names)
    if keepdims:
        out = keep_dimensions(out, aval.shape, dims)
    if initial is None:
        return out
    check_number(name, "initial", initial)
    pair = promote_args(name, out, initial)
    return lax.max(*pair) if largest else lax.min(*pair)


def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Greatest element over dimensions and named axes; NaN where there is a NaN.

    Its derivative is shared equally by the elements that attain it.

    Args:
        a: Array of real numbers or truth values.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        out: Refused: arrays are immutable.
        keepdims: Whether dimensions stay, with size 1.
        initial: Least value of the result; it is the result where there are no elements.
        where: Truth values that broadcast to `a`: which elements take part. Needs `initial`.

    Returns:
        Array of the dtype of `a` without the dimensions, that does not vary over the named axes.

    Raises:
        ShapeError: There are no elements and no `initial`, or a dimension does not exist.
        AxisNameError: A named axis is not in scope.
        DTypeError: `a` is complex.

    Example:
        >>> max(np.array([[1.0, 5.0], [7.0, 2.0]], np.float32), axis=1)
        Array([5., 7.], dtype=float32)
    """
    if out is not None:
        refuse_out("max")
    return _extremum("max", a, axis, keepdims, initial, where)


def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Least element over dimensions and named axes; arguments and errors are those of `max`.

    Example:
        >>> min(np.array([[1.0, 5.0], [7.0, 2.0]], np.float32), axis=1)
        Array([1., 2.], dtype=float32)
    """
    if out is not None:
        refuse_out("min")
    return _extremum("min", a, axis, keepdims, initial, where)


amax, amin = max, min


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """Range of values: the greatest less the least; arguments and errors are those of `max`.

    Example:
        >>> ptp(np.array([3.0, 9.0, 5.0], np.float32))
        Array(6., dtype=float32)
    """
    if out is not None:
        refuse_out("ptp")
    a = array_of("ptp", a)
    return operators.subtract(
        _extremum("max", a, axis, keepdims, None, None),
        _extremum("min", a, axis, keepdims, None, None),
    )


def _truth(name: str, a: Any, axis: Any, keepdims: bool, where: Any) -> Array:
    conjunction = name == "all"
    a = as_bool(name, a)
    aval = aval_of(a)
    dims, names = split_axes(name, aval, axis)
    a = mask_out(name, a, where, conjunction)
    out = (reduce_and_p if conjunction else reduce_or_p).bind(a, axes=dims)
    if names:
        out = (lax.pmin if conjunction else lax.pmax)(out, names)
    return keep_dimensions(out, aval.shape, dims) if keepdims else out


def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Whether all elements over dimensions and named axes are true (not 0).

    Args:
        a: Array or number.
        axis: Dimension, name of a named axis, or tuple of these; None for all dimensions.
        out: Refused: arrays are immutable.
        keepdims: Whether dimensions stay, with size 1.
        where: Truth values that broadcast to `a`: which elements take part.

    Returns:
        Array of `bool` without the dimensions; true where there are no elements.

    Raises:
        ShapeError: A dimension does not exist.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> all(np.array([[True, False], [True, True]]), axis=1)
        Array([False,  True], dtype=bool)
    """
    if out is not None:
        refuse_out("all")
    return _truth("all", a, axis, keepdims, where)


def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Whether any element over dimensions and named axes is true (not 0).

    Arguments and errors are those of `all`; it is false where there are no elements.

    Example:
        >>> any(np.array([[True, False], [False, False]]), axis=1)
        Array([ True, False], dtype=bool)
    """
    if out is not None:
        refuse_out("any")
    return _truth("any", a, axis, keepdims, where)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """Number of elements that are not 0; arguments and errors are those of `all`.

    Returns:
        Array of the default integer dtype.

    Example:
        >>> count_nonzero(np.array([0, 3, 4]))
        Array(2, dtype=int32)
    """
    return sum(as_bool("count_nonzero", a), axis, keepdims=keepdims)


def _position(name: str, a: Any, axis: Any, keepdims: bool) -> Array:
    largest = name == "argmax"
    a = array_of(name, a)
    dtype = dtypes.default_int_dtype()
    shape = a.shape
    if axis is None:
        dims: tuple[int, ...] = tuple(range(len(shape)))
        a = lax.reshape(a, (a.size,))
        where = 0
    else:
        dims, names = split_axes(name, a.aval, axis)
        if len(dims) + len(names) != 1:
            raise ShapeError(
                f"{name}: axis={axis} lists several axes; give one, or None for all dimensions"
            )
        if names:
            return _named_position(a, names[0], largest, dtype)
        where = dims[0]
    if a.dtype in dtypes.COMPLEXES:
        raise DTypeError(
            f"{name}: a has type {a.aval}, and complex numbers have no order; give their absolute "
            "value or their real part"
        )
    if not a.shape[where]:
        raise ShapeError(f"{name}: no element to choose from in an operand of shape {shape}")
    out = (argmax_p if largest else argmin_p).bind(a, axis=where, index_dtype=dtype)
    return keep_dimensions(out, shape, dims) if keepdims else out


def _named_position(a: Array, axis: Any, largest: bool, dtype: DType) -> Array:
    """The first index of a named axis at which the extreme value is attained."""
    best = (lax.pmax if largest else lax.pmin)(a, axis)
    attained = lax.eq(a, best)
    if a.dtype in dtypes.FLOATS:
        attained = lax.bitwise_or(attained, lax.ne(a, a))
    beyond = np.int32(lax.axis_size(axis))
    return lax.convert_element_type(
        lax.pmin(lax.select(attained, lax.axis_index(axis), beyond), axis), dtype
    )


def argmax(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Array:
    """Position of the greatest element, the first of several; that of a NaN where there is one.

    Args:
        a: Array of real numbers or truth values.
        axis: Dimension or name of a named axis; None for the position in the flattened array.
        out: Refused: arrays are immutable.
        keepdims: Whether dimensions stay, with size 1.

    Returns:
        Array of the default integer dtype.

    Raises:
        ShapeError: There are no elements, or the dimension does not exist.
        AxisNameError: The named axis is not in scope.
        DTypeError: `a` is complex.

    Example:
        >>> argmax(np.array([[1.0, 5.0], [7.0, 2.0]]), axis=1)
        Array([1, 0], dtype=int32)
    """
    if out is not None:
        refuse_out("argmax")
    return _position("argmax", a, axis, keepdims)


def argmin(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Array:
    """Position of the least element; arguments and errors are those of `argmax`.

    Example:
        >>> argmin(np.array([[1.0, 5.0], [7.0, 2.0]]), axis=1)
        Array([0, 1], dtype=int32)
    """
    if out is not None:
        refuse_out("argmin")
    return _position("argmin", a, axis, keepdims)
