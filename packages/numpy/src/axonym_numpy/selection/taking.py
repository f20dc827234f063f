"""Choosing elements: by a condition, by position, along a dimension."""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import Array, as_dimension
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import broadcast_args, number_like, promote_dtypes
from axonym_core.primitives.elementwise import select_n_p
from axonym_core.primitives.indexing import GatherDimensionNumbers, ScatterDimensionNumbers
from axonym_core.types import aval_of, dtypes

from ..arguments.operands import array_of, as_bool, choice, convert, exact, refuse_out
from ..errors import ArgumentError
from ..shapes.reshaping import broadcast_to
from .sets import nonzero

__all__ = [
    "compress",
    "put_along_axis",
    "select",
    "take",
    "take_along_axis",
    "where",
]

_MODES = ("fill", "clip", "wrap", "promise_in_bounds")


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Elements of `x` where a condition holds, of `y` elsewhere; or the positions where it holds.

    No derivative goes to what was not chosen. A function that is infinite or NaN there must be kept
    from being *computed* there: choose a harmless operand with a `where` of its own first.

    Args:
        condition: Truth values, or numbers that are true where they are not 0.
        x: Array or number; without `x` and `y` the result is that of `nonzero(condition)`.
        y: Array or number. The three broadcast together.
        size: As of `nonzero`.
        fill_value: As of `nonzero`.

    Returns:
        Array of the common shape of the three and the common dtype of `x` and `y`.

    Raises:
        ArgumentError: One of `x` and `y` is missing.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> where(np.array([True, False]), 1.0, 0.0)
        Array([1., 0.], dtype=float32, weak_type=True)
    """
    if x is None or y is None:
        if x is not None or y is not None:
            raise ArgumentError("where: give both x and y, or none of them for the positions")
        return nonzero(condition, size=size, fill_value=fill_value)
    if size is not None or fill_value is not None:
        raise ArgumentError("where: size and fill_value are for the positions; leave out x and y")
    condition = as_bool("where", condition)
    if not (isinstance(x, Array) and isinstance(y, Array) and x.aval is y.aval):
        x, y = promote_dtypes("where", x, y)
    condition, x, y = broadcast_args("where", condition, x, y)
    return select_n_p.bind(condition, y, x)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """Elements of the first choice whose condition holds.

    Args:
        condlist: Sequence of truth values.
        choicelist: As many arrays.
        default: What to choose where no condition holds.

    Returns:
        Array of the common shape and dtype.

    Raises:
        ArgumentError: The sequences differ in length or are empty.
        ShapeError: The shapes do not broadcast together.

    Example:
        >>> x = np.array([1, 5, 9])
        >>> select([x < 3, x > 7], [-1, 1])
        Array([-1,  0,  1], dtype=int32, weak_type=True)
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ArgumentError(
            f"select: {len(condlist)} conditions and {len(choicelist)} choices; give one choice "
            "for each condition"
        )
    *choices, out = promote_dtypes("select", *choicelist, default)
    for condition, choice_ in zip(reversed(condlist), reversed(choices), strict=True):
        out = where(condition, choice_, out)
    return array_of("select", out)


def _indices(name: str, indices: Any) -> Any:
    index = array_of(name, indices, "indices")
    if index.dtype not in dtypes.INTEGERS:
        raise DTypeError(
            f"{name}: indices have type {index.aval}; give integers (of a mask take nonzero)"
        )
    return index


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    *,
    fill_value: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
) -> Array:
    """Elements at positions along a dimension.

    Args:
        a: Array.
        indices: Integers, of any shape; negative ones count from the end.
        axis: Dimension; None for positions in the flattened array.
        out: Refused: arrays are immutable.
        mode: What an index out of bounds reads: ``fill`` (the default: NaN, or the least integer),
            ``clip`` the nearest element (the first for all negative ones), ``wrap`` around, or
            ``promise_in_bounds``.
        fill_value: What ``fill`` reads.
        unique_indices: A promise that no index occurs twice.
        indices_are_sorted: A promise that the indices are in ascending order.

    Returns:
        Array with the shape of `indices` in the place of the dimension.

    Raises:
        DTypeError: The indices are not integers.
        ShapeError: The dimension does not exist.
        ArgumentError: The mode is unknown.

    Example:
        >>> take(np.array([10.0, 20.0, 30.0]), np.array([2, -3]))
        Array([30., 10.], dtype=float64)
    """
    if out is not None:
        refuse_out("take")
    a = array_of("take", a)
    index = _indices("take", indices)
    how = choice("take", "mode", "fill" if mode is None else mode, _MODES)
    if axis is None:
        a, axis = lax.reshape(a, (a.size,)), 0
    axis = as_dimension(axis, a.ndim, "take", "axis")
    if how == "wrap":
        n = a.shape[axis]
        if n:
            index = index % dtypes.as_dtype(index.dtype).type(n)
        how = "promise_in_bounds"
    elif how == "clip" and dtypes.as_dtype(index.dtype) in dtypes.SIGNED:
        index = lax.max(index, lax.full((), 0, index.dtype))
    where_ = (slice(None),) * axis + (index,)
    return a.at[where_].get(
        mode=how,
        fill_value=fill_value,
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
    )


def _aligned(name: str, a: Array, index: Array, axis: int | None) -> tuple[Array, Array, int]:
    """Array and positions of one rank, the same in all dimensions but one."""
    if axis is None:
        if index.ndim != 1:
            raise ShapeError(f"{name}: indices have type {index.aval}; without axis give a vector")
        a, axis = lax.reshape(a, (a.size,)), 0
    if index.ndim != a.ndim:
        raise ShapeError(
            f"{name}: an array of type {a.aval} and indices of type {index.aval} differ in the "
            "number of dimensions; reshape one of them"
        )
    axis = as_dimension(axis, a.ndim, name, "axis")
    others = [d for d in range(a.ndim) if d != axis]
    a_shape, i_shape = list(a.shape), list(index.shape)
    for d in others:
        if a_shape[d] != i_shape[d]:
            if 1 not in (a_shape[d], i_shape[d]):
                raise ShapeError(
                    f"{name}: an array of type {a.aval} and indices of type {index.aval} differ in "
                    f"dimension {d}; all dimensions but axis={axis} have to be equal or 1"
                )
            n = a_shape[d] if i_shape[d] == 1 else i_shape[d]
            a_shape[d] = i_shape[d] = n
    every = tuple(range(a.ndim))
    return (
        lax.broadcast_in_dim(a, tuple(a_shape), every),
        lax.broadcast_in_dim(index, tuple(i_shape), every),
        axis,
    )


def _column(a: Array, index: Array, axis: int) -> Any:
    """Positions as index vectors of length 1, negative ones counted from the end."""
    n = a.shape[axis]
    if index.dtype.itemsize < 4:
        index = convert(index, dtypes.int32)
    if index.dtype in dtypes.SIGNED:
        zero = number_like(0, index.aval)
        index = lax.select(lax.lt(index, zero), lax.add(index, number_like(n, index.aval)), index)
    return lax.expand_dims(index, (index.ndim,))


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    *,
    mode: str | None = None,
    fill_value: Any = None,
) -> Array:
    """Elements at positions along a dimension that differ from row to row.

    It undoes `argsort`: `take_along_axis(x, argsort(x), -1)` is `sort(x)`.

    Args:
        arr: Array.
        indices: Integers; their shape is that of `arr` in all dimensions but one, or 1.
        axis: Dimension; None for positions in the flattened array.
        mode: What an index out of bounds reads, as of `take`.
        fill_value: What ``fill`` reads.

    Returns:
        Array of the shape of `indices`.

    Raises:
        DTypeError: The indices are not integers.
        ShapeError: The shapes do not fit.
        ArgumentError: The mode is unknown.

    Example:
        >>> x = np.array([[10, 20], [30, 40]], np.int32)
        >>> take_along_axis(x, np.array([[1], [0]]), axis=1)
        Array([[20],
               [30]], dtype=int32)
    """
    a = array_of("take_along_axis", arr)
    index = _indices("take_along_axis", indices)
    how = choice("take_along_axis", "mode", "fill" if mode is None else mode, _MODES)
    a, index, axis = _aligned("take_along_axis", a, index, axis)
    if index.size == 0:  # nothing is read, also where there is nothing to read
        return lax.full(index.shape, 0, a.dtype)
    if how == "wrap":
        if a.shape[axis]:
            index = index % dtypes.as_dtype(index.dtype).type(a.shape[axis])
        how = "promise_in_bounds"
    others = tuple([d for d in range(a.ndim) if d != axis])
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return lax.gather(
        a, _column(a, index, axis), numbers, (1,) * a.ndim, mode=how, fill_value=fill_value
    )


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int | None,
    *,
    inplace: bool = False,
    mode: str = "drop",
) -> Array:
    """Return an array with elements replaced at positions along a dimension.

    Args:
        arr: Array.
        indices: Integers; their shape is that of `arr` in all dimensions but one, or 1.
        values: Number, or array that broadcasts to the shape of `indices`.
        axis: Dimension; None for positions in the flattened array.
        inplace: Must be False: arrays never change.
        mode: What an index out of bounds means: ``drop``, ``clip`` or ``promise_in_bounds``.

    Returns:
        Array of the shape and dtype of `arr`.

    Raises:
        ArgumentError: `inplace` is true, or the mode is unknown.
        DTypeError: The indices are not integers.
        ShapeError: The shapes do not fit.

    Example:
        >>> x = np.array([[10, 20], [30, 40]], np.int32)
        >>> put_along_axis(x, np.array([[1], [0]]), 0, axis=1)
        Array([[10,  0],
               [ 0, 40]], dtype=int32)
    """
    if inplace:
        raise ArgumentError("put_along_axis: inplace=True, but arrays never change; use the result")
    choice("put_along_axis", "mode", mode, ("drop", "clip", "promise_in_bounds"))
    a = array_of("put_along_axis", arr)
    shape = a.shape
    index = _indices("put_along_axis", indices)
    a, index, axis = _aligned("put_along_axis", a, index, axis)
    value = convert(exact("put_along_axis", values), a.dtype)
    value = broadcast_to(value, index.shape)
    others = tuple([d for d in range(a.ndim) if d != axis])
    numbers = ScatterDimensionNumbers((), (axis,), (axis,), others, others)
    out = lax.scatter(a, _column(a, index, axis), value, numbers, mode=mode)
    return lax.reshape(out, shape) if out.size == np.prod(shape, dtype=int) else out


def compress(
    condition: Any,
    a: Any,
    axis: int | None = None,
    out: None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
) -> Array:
    """Elements along a dimension where a condition holds.

    Args:
        condition: Vector of truth values; where it is shorter than the dimension, it is false for
            the rest.
        a: Array.
        axis: Dimension; None flattens the array.
        out: Refused: arrays are immutable.
        size: Size of the result along the dimension; must be given where the condition is traced.
        fill_value: What fills places that are left.

    Raises:
        ShapeError: The condition is no vector.
        ConcretizationError: The condition is traced and no size is given.

    Example:
        >>> compress(np.array([True, False, True]), np.array([1, 2, 3], np.int32))
        Array([1, 3], dtype=int32)
    """
    if out is not None:
        refuse_out("compress")
    a = array_of("compress", a)
    mask = as_bool("compress", condition)
    if aval_of(mask).ndim != 1:
        raise ShapeError(f"compress: condition has type {aval_of(mask)}; give a vector")
    if axis is None:
        a, axis = lax.reshape(a, (a.size,)), 0
    axis = as_dimension(axis, a.ndim, "compress", "axis")
    (index,) = nonzero(mask, size=size, fill_value=a.shape[axis])
    return take(a, index, axis, mode="fill", fill_value=fill_value)
