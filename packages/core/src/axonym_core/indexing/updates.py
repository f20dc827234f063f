"""Updates of parts of an array: `x.at[index].set(values)` and its kin.

Arrays do not change; each update is a new array. Where several updates meet in one element, all of
them count for `add`, `multiply`, `min` and `max`, and the last one for `set`. An index array's
entries that are out of bounds are dropped unless `mode` says otherwise.

    x.at[2].set(5.0)             # x, with 5 in place 2
    x.at[idx].add(1.0)           # a histogram, if indices repeat
    x.at[x < 0].set(0.0)         # masks may be traced when the value is a scalar
    x.at[99].get(mode="fill")    # reading, with a choice for what is out of bounds
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from .. import lax
from ..arrays.array import Array
from ..errors import DTypeError, ShapeError
from ..operators import array_operators as operators
from ..operators.promotion import as_array, scalar_of
from ..primitives.indexing import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
)
from ..programs.primitive import Primitive
from ..types import dtypes
from ..types.avals import ShapedArray, aval_of
from .parsing import is_mask, parse, with_arrays
from .plans import plan
from .reading import read

_ELEMENTWISE: dict[Primitive, Callable[[Any, Any], Array]] = {
    scatter_p: lambda x, y: y,
    scatter_add_p: lax.add,
    scatter_mul_p: lax.mul,
    scatter_min_p: lax.min,
    scatter_max_p: lax.max,
}


@final
class IndexedUpdates:
    """What `x.at` is: index it."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> IndexedUpdate:
        return IndexedUpdate(self.array, with_arrays(index))

    def __repr__(self) -> str:
        return f"IndexedUpdates({self.array!r})"


@final
class IndexedUpdate:
    """What `x.at[index]` is: the methods are the updates.

    All take `values` that broadcast to the shape of `x[index]` and are converted to the dtype of
    `x`, and the keyword arguments

    * `mode`: what an index out of bounds means: ``drop`` (the default), ``clip`` or
      ``promise_in_bounds``. Integers (not arrays) out of bounds are refused by default;
    * `indices_are_sorted`, `unique_indices`: promises about index arrays, which may save time.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexedUpdate({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
        fill_value: Any = None,
    ) -> Array:
        """Return `x[index]`, with a choice for what is out of bounds.

        Args:
            indices_are_sorted: A promise about index arrays.
            unique_indices: A promise about index arrays.
            mode: ``clip`` (the default for index arrays), ``fill`` or ``promise_in_bounds``.
            fill_value: What ``fill`` reads out of bounds; by default NaN, the least signed
                integer, the greatest unsigned one, or True.

        Example:
            >>> x = lax.iota("float32", 3)
            >>> x.at[np.array([1, 7])].get(mode="fill", fill_value=-1)
            Array([ 1., -1.], dtype=float32)
        """
        return read(
            self.array,
            self.index,
            mode=mode,
            fill_value=fill_value,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
        )

    def set(self, values: Any, **options: Any) -> Array:
        """Return the array with `x[index]` replaced by `values`.

        Example:
            >>> lax.iota("int32", 4).at[1:3].set(9)
            Array([0, 9, 9, 3], dtype=int32)
        """
        return self._update(scatter_p, values, **options)

    def add(self, values: Any, **options: Any) -> Array:
        """Return the array with `values` added to `x[index]`; repeated indices add up.

        Example:
            >>> lax.full((3,), 0, "int32").at[np.array([2, 2])].add(1)
            Array([0, 0, 2], dtype=int32)
        """
        return self._update(scatter_add_p, values, **options)

    def subtract(self, values: Any, **options: Any) -> Array:
        """Return the array with `values` subtracted from `x[index]`.

        Example:
            >>> lax.full((2,), 5, "int32").at[0].subtract(2)
            Array([3, 5], dtype=int32)
        """
        return self.add(operators.negative(as_array(values)), **options)

    def multiply(self, values: Any, **options: Any) -> Array:
        """Return the array with `x[index]` multiplied by `values`.

        Example:
            >>> lax.full((2,), 5, "int32").at[0].multiply(2)
            Array([10,  5], dtype=int32)
        """
        return self._update(scatter_mul_p, values, **options)

    mul = multiply

    def min(self, values: Any, **options: Any) -> Array:
        """Return the array with the lesser of `x[index]` and `values` in that place.

        Example:
            >>> lax.full((2,), 5, "int32").at[0].min(2)
            Array([2, 5], dtype=int32)
        """
        return self._update(scatter_min_p, values, **options)

    def max(self, values: Any, **options: Any) -> Array:
        """Return the array with the greater of `x[index]` and `values` in that place.

        Example:
            >>> lax.full((2,), 5, "int32").at[0].max(7)
            Array([7, 5], dtype=int32)
        """
        return self._update(scatter_max_p, values, **options)

    def divide(self, values: Any, **options: Any) -> Array:
        """Return the array with `x[index]` divided by `values`.

        Raises:
            DTypeError: The array holds no floating-point or complex numbers.

        Example:
            >>> lax.full((2,), 5, "float32").at[0].divide(2)
            Array([2.5, 5. ], dtype=float32)
        """
        x = self.array
        if not dtypes.is_inexact(x.aval.dtype):
            raise DTypeError(
                f"x.at[...].divide needs an array of floating-point or complex numbers, got "
                f"{x.aval}; convert it with astype"
            )
        ones = lax.full(x.aval.shape, 1, x.aval.dtype)
        divisor = IndexedUpdate(ones, self.index).multiply(values, **options)
        return lax.div(x, divisor)

    def power(self, values: Any, **options: Any) -> Array:
        """Return the array with `x[index]` raised to the power of `values`.

        Example:
            >>> lax.full((2,), 5, "float32").at[0].power(2)
            Array([25.,  5.], dtype=float32)
        """
        x = self.array
        ones = lax.full(x.aval.shape, 1, x.aval.dtype)
        exponent = IndexedUpdate(ones, self.index).multiply(values, **options)
        return as_array(operators.power(x, exponent))

    def apply(self, func: Callable[[Array], Any], **options: Any) -> Array:
        """Return the array with `x[index]` replaced by `func(x[index])`.

        The function is applied once, however often an index repeats.

        Args:
            func: Function of an array that returns one of the same shape.
            **options: As for the other updates.

        Example:
            >>> lax.iota("float32", 3).at[1:].apply(lambda part: part * 10)
            Array([ 0., 10., 20.], dtype=float32)
        """
        reading = {**options}
        if reading.get("mode") is not None:
            reading["mode"] = GatherScatterMode.from_any(reading["mode"])
        return self.set(func(self.get(**reading)), **options)

    def _update(
        self,
        primitive: Primitive,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Array:
        x = self.array
        values = _as_values(x.aval, values)
        mask = _only_mask(self.index)
        if mask is not None and aval_of(values).ndim <= x.aval.ndim - mask.ndim:
            return _update_where(primitive, x, mask, values)
        how = GatherScatterMode.FILL_OR_DROP if mode is None else GatherScatterMode.from_any(mode)
        dropping = mode is not None and how is GatherScatterMode.FILL_OR_DROP
        parsed = parse(x.aval, self.index, checked=mode is None, dropping=dropping)
        if parsed.expanded:
            x = lax.expand_dims(x, parsed.expanded)
        what = plan(x.aval, parsed, writing=True, mode=how)
        values = _broadcast(values, what.shape)
        if what.refers_to_nothing(x.aval.shape):
            return self.array
        values = lax.reshape(values, tuple([d.size for d in what.dims if d.kind != "new"]))
        if what.indices is None:  # all of it
            out = _ELEMENTWISE[primitive](x, values)
        else:
            more = {"axis_names": ()} if primitive is scatter_add_p else {}
            # Known to be in bounds, one window is written without a check; the compiler checks
            # many anyway.
            one = what.in_bounds and aval_of(what.indices).ndim < 2
            out = primitive.bind(
                x,
                what.indices,
                values,
                dimension_numbers=ScatterDimensionNumbers(
                    what.positions("window"), what.collapsed, what.indexed
                ),
                indices_are_sorted=bool(indices_are_sorted),
                unique_indices=bool(unique_indices) or what.unique,
                mode=GatherScatterMode.CLIP if one else how,
                **more,
            )
        return lax.squeeze(out, parsed.expanded)


def _rank(dtype: Any) -> int:
    if dtypes.is_bool(dtype):
        return 0
    if dtypes.is_integer(dtype):
        return 1
    return 2 if dtypes.is_floating(dtype) else 3


def _as_values(aval: ShapedArray, values: Any) -> Any:
    """Convert update values to the array's dtype."""
    given = aval_of(values)
    if _rank(given.dtype) > _rank(aval.dtype):
        raise DTypeError(
            f"x.at[...] of {aval} cannot take values of type {given} without losing what they "
            f"hold; convert the array first (x.astype('{given.dtype.name}')) or the values"
        )
    if isinstance(values, np.generic | bool | int | float | complex):
        return scalar_of(values, aval.dtype)
    return lax.convert_element_type(values, aval.dtype)


def _broadcast(values: Any, shape: tuple[int, ...]) -> Array:
    given = aval_of(values).shape
    while len(given) > len(shape) and given[0] == 1:
        given = given[1:]
    wanted = shape[len(shape) - len(given) :]
    if len(given) > len(shape) or any(
        [a not in (1, b) for a, b in zip(given, wanted, strict=True)]
    ):
        raise ShapeError(
            f"x.at[index]: values of shape {aval_of(values).shape} do not broadcast to the shape "
            f"{shape} of x[index]"
        )
    if given != aval_of(values).shape:
        values = lax.reshape(values, given)
    return lax.broadcast_in_dim(values, shape, tuple(range(len(shape) - len(given), len(shape))))


def _only_mask(index: Any) -> Any:
    """The boolean array that is the whole index; None where the index is something else."""
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    if is_mask(index) and isinstance(index, Array | np.ndarray):
        return index
    return None


def _update_where(primitive: Primitive, x: Array, mask: Any, values: Any) -> Array:
    """Update where a mask holds, with values that do not depend on which elements those are."""
    shape = x.aval.shape
    if mask.shape != shape[: mask.ndim]:
        parse(x.aval, np.zeros(mask.shape, bool))  # says what is wrong
    mask = lax.broadcast_in_dim(mask, shape, tuple(range(mask.ndim)))
    values = _broadcast(values, shape)
    dtype = x.aval.dtype
    # The neutral element, rather than a choice between results, keeps derivatives finite.
    if primitive is scatter_add_p:
        return lax.add(x, lax.select(mask, values, dtype.type(0)))
    if primitive is scatter_mul_p:
        return lax.mul(x, lax.select(mask, values, dtype.type(1)))
    return lax.select(mask, _ELEMENTWISE[primitive](x, values), x)
