"""Primitives that read and write elements at computed positions.

`gather` reads one window of an operand for each index vector, `scatter` and its kin write or
combine one window each; their dimension numbers are those known in this field. The last dimension
of the indices holds the vectors; indices without dimensions are one vector of one component.

What happens out of bounds is said once, here, and holds for values and derivatives on every
backend:

* ``clip``: the window is moved inside. ``promise_in_bounds`` means the same, but says that nobody
  needs it;
* ``fill_or_drop``: a window that does not lie wholly inside reads as `fill_value`, and is not
  written.

Where several windows of a `scatter` overlap, the last one (in row-major order of the indices) stays
on the NumPy backend and on XLA's CPU; other devices may keep any.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import AxisNameError, DTypeError, IndexingError, ShapeError
from ..programs.primitive import Primitive
from ..settings.caches import register_key
from ..types import dtypes
from ..types.avals import AxisName, ShapedArray, join_all_named

Shape = tuple[int, ...]


class GatherScatterMode(enum.StrEnum):
    """What an index out of bounds means.

    Attributes:
        CLIP: The nearest index in bounds.
        FILL_OR_DROP: It reads as a fill value, and writing does nothing.
        PROMISE_IN_BOUNDS: There are none. (If there are, they are clipped.)
    """

    CLIP = "clip"
    FILL_OR_DROP = "fill_or_drop"
    PROMISE_IN_BOUNDS = "promise_in_bounds"

    @classmethod
    def from_any(cls, mode: Any) -> GatherScatterMode:
        """Return the mode of a name: a member, or `clip`, `fill`, `drop`, `promise_in_bounds`.

        Raises:
            IndexingError: There is no such mode.

        Example:
            >>> GatherScatterMode.from_any("drop")
            <GatherScatterMode.FILL_OR_DROP: 'fill_or_drop'>
        """
        if isinstance(mode, cls):
            return mode
        found = _MODE_NAMES.get(mode) if isinstance(mode, str) else None
        if found is None:
            raise IndexingError(
                f"mode={mode!r} is not an indexing mode; use one of "
                f"{', '.join(map(repr, _MODE_NAMES))}"
            )
        return found


_MODE_NAMES = {
    "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "fill_or_drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
}


class GatherDimensionNumbers(NamedTuple):
    """How the dimensions of operand, indices and result of a `gather` belong together.

    Attributes:
        offset_dims: Dimensions of the result that are dimensions of the windows.
        collapsed_slice_dims: Dimensions of the operand, of window size 1, that the result lacks.
        start_index_map: For each component of an index vector, the operand's dimension it indexes.
        operand_batching_dims: Dimensions of the operand, of window size 1, that go along with the
            dimensions `start_indices_batching_dims` of the indices.
        start_indices_batching_dims: Those dimensions of the indices.
    """

    offset_dims: Shape
    collapsed_slice_dims: Shape
    start_index_map: Shape
    operand_batching_dims: Shape = ()
    start_indices_batching_dims: Shape = ()


class ScatterDimensionNumbers(NamedTuple):
    """How the dimensions of operand, indices and updates of a `scatter` belong together.

    Attributes:
        update_window_dims: Dimensions of the updates that are dimensions of the windows.
        inserted_window_dims: Dimensions of the operand, of window size 1, that the updates lack.
        scatter_dims_to_operand_dims: For each component of an index vector, the operand's
            dimension it indexes.
        operand_batching_dims: Dimensions of the operand, of window size 1, that go along with the
            dimensions `scatter_indices_batching_dims` of the indices.
        scatter_indices_batching_dims: Those dimensions of the indices.
    """

    update_window_dims: Shape
    inserted_window_dims: Shape
    scatter_dims_to_operand_dims: Shape
    operand_batching_dims: Shape = ()
    scatter_indices_batching_dims: Shape = ()


register_key(GatherDimensionNumbers, None)  # holds positions only
register_key(ScatterDimensionNumbers, None)


def batch_shape(indices: ShapedArray) -> Shape:
    """Shape in which index vectors are arranged. A 0-d index is one vector of one component."""
    return indices.shape[:-1]


def window_dims(ndim: int, *without: Shape) -> list[int]:
    """Dimensions of an operand that stay dimensions of its windows."""
    dropped = {d for dims in without for d in dims}
    return [d for d in range(ndim) if d not in dropped]


def _check_dims(name: str, field: str, dims: Shape, bound: int, *, ascending: bool) -> None:
    if any(not 0 <= d < bound for d in dims) or len(set(dims)) != len(dims):
        raise ShapeError(
            f"{name}: dimension_numbers.{field}={dims} must be distinct dimensions from 0 to "
            f"{bound - 1}"
        )
    if ascending and tuple(sorted(dims)) != dims:
        raise ShapeError(f"{name}: dimension_numbers.{field}={dims} must be in ascending order")


def _check_common(
    name: str,
    operand: ShapedArray,
    indices: ShapedArray,
    fields: Sequence[str],
    dropped: Shape,
    index_map: Shape,
    operand_batching: Shape,
    indices_batching: Shape,
) -> None:
    """Check what the dimension numbers of gather and scatter have in common."""
    if not dtypes.is_integer(indices.dtype):
        raise DTypeError(f"{name}: indices must be integers, got {indices}; convert them first")
    _check_dims(name, fields[0], dropped, operand.ndim, ascending=True)
    _check_dims(name, fields[1], index_map, operand.ndim, ascending=False)
    _check_dims(name, "operand_batching_dims", operand_batching, operand.ndim, ascending=True)
    batch = batch_shape(indices)
    _check_dims(name, fields[2], indices_batching, len(batch), ascending=False)
    if set(operand_batching) & (set(dropped) | set(index_map)):
        raise ShapeError(
            f"{name}: dimension_numbers.operand_batching_dims={operand_batching} must have "
            f"nothing in common with {fields[0]}={dropped} and {fields[1]}={index_map}"
        )
    components = indices.shape[-1] if indices.ndim else 1
    if len(index_map) != components:
        raise ShapeError(
            f"{name}: index vectors have {components} components (the last dimension of "
            f"indices {indices}), dimension_numbers.{fields[1]}={index_map} names "
            f"{len(index_map)} dimensions; give one for each"
        )
    sizes = [operand.shape[d] for d in operand_batching]
    if sizes != [indices.shape[d] for d in indices_batching]:
        raise ShapeError(
            f"{name}: batching dimensions {operand_batching} of the operand {operand} and "
            f"{indices_batching} of the indices {indices} must have equal sizes"
        )


def _gather(
    operand: ShapedArray,
    indices: ShapedArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> ShapedArray:
    n = dimension_numbers
    _check_common(
        "gather",
        operand,
        indices,
        ("collapsed_slice_dims", "start_index_map", "start_indices_batching_dims"),
        n.collapsed_slice_dims,
        n.start_index_map,
        n.operand_batching_dims,
        n.start_indices_batching_dims,
    )
    if len(slice_sizes) != operand.ndim:
        raise ShapeError(
            f"gather: slice_sizes={slice_sizes} must have one entry for each dimension of the "
            f"operand {operand}"
        )
    for d, (window, size) in enumerate(zip(slice_sizes, operand.shape, strict=True)):
        if not 0 <= window <= size:
            raise ShapeError(
                f"gather: slice_sizes[{d}]={window} must be from 0 to the operand's size {size}"
            )
        if window != 1 and (d in n.collapsed_slice_dims or d in n.operand_batching_dims):
            raise ShapeError(
                f"gather: slice_sizes[{d}]={window} must be 1, for dimension {d} is collapsed or "
                "batching"
            )
    windows = window_dims(operand.ndim, n.collapsed_slice_dims, n.operand_batching_dims)
    batch = batch_shape(indices)
    ndim = len(windows) + len(batch)
    _check_dims("gather", "offset_dims", n.offset_dims, ndim, ascending=True)
    if len(n.offset_dims) != len(windows):
        raise ShapeError(
            f"gather: dimension_numbers.offset_dims={n.offset_dims} must name {len(windows)} "
            f"dimensions, for the windows' dimensions are {tuple(windows)} of the operand"
        )
    sizes = iter([slice_sizes[d] for d in windows])
    arranged = iter(batch)
    shape = tuple([next(sizes) if d in n.offset_dims else next(arranged) for d in range(ndim)])
    return ShapedArray(shape, operand.dtype, operand.weak_type)


def _check_scatter(
    name: str,
    operand: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    n: ScatterDimensionNumbers,
) -> ShapedArray:
    if operand.dtype != updates.dtype:
        raise DTypeError(
            f"{name}: operand and updates must have one dtype, got {operand} and {updates}; "
            "convert one with lax.convert_element_type"
        )
    _check_common(
        name,
        operand,
        indices,
        ("inserted_window_dims", "scatter_dims_to_operand_dims", "scatter_indices_batching_dims"),
        n.inserted_window_dims,
        n.scatter_dims_to_operand_dims,
        n.operand_batching_dims,
        n.scatter_indices_batching_dims,
    )
    windows = window_dims(operand.ndim, n.inserted_window_dims, n.operand_batching_dims)
    arranged = batch_shape(indices)
    if len(n.update_window_dims) != len(windows) or updates.ndim != len(windows) + len(arranged):
        raise ShapeError(
            f"{name}: updates {updates} must have {len(windows)} window dimensions "
            f"(dimension_numbers.update_window_dims={n.update_window_dims}) and the "
            f"{len(arranged)} leading dimensions of the indices {indices}"
        )
    _check_dims(name, "update_window_dims", n.update_window_dims, updates.ndim, ascending=True)
    for d, u in zip(windows, n.update_window_dims, strict=True):
        if updates.shape[u] > operand.shape[d]:
            raise ShapeError(
                f"{name}: dimension {u} of the updates {updates} is larger than dimension {d} of "
                f"the operand {operand}, whose windows it holds"
            )
    batch = tuple([updates.shape[d] for d in window_dims(updates.ndim, n.update_window_dims)])
    if batch != arranged:
        raise ShapeError(
            f"{name}: updates {updates} hold windows for indices of shape {batch}, the indices "
            f"{indices} have shape {arranged} (less their last dimension)"
        )
    return ShapedArray(operand.shape, operand.dtype, operand.weak_type and updates.weak_type)


def _scatter(
    operand: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
) -> ShapedArray:
    return _check_scatter("scatter", operand, indices, updates, dimension_numbers)


def no_value(dtype: Any) -> Any:
    """What is read out of bounds where no fill value was given, in the dtype that is stored."""
    stored = dtypes.storage_dtype(dtype)
    if dtypes.is_inexact(stored):
        return np.asarray(np.nan).astype(stored)
    if dtypes.is_bool(stored):
        return True
    info = dtypes.iinfo(stored)
    return np.asarray(info.min if dtypes.is_signed(stored) else info.max).astype(stored)


def _numeric(name: str, x: ShapedArray) -> None:
    if not (dtypes.is_integer(x.dtype) or dtypes.is_inexact(x.dtype)):
        raise DTypeError(f"{name}: operand must hold numbers, got {x}; convert it first")


def _ordered(name: str, x: ShapedArray) -> None:
    if dtypes.is_extended(x.dtype):
        raise DTypeError(f"{name}: elements of {x} have no order")
    if dtypes.is_complex(x.dtype):
        raise DTypeError(f"{name}: complex numbers have no order, got {x}; use their real parts")


def _scatter_add(
    operand: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    axis_names: tuple[AxisName, ...],
) -> ShapedArray:
    out = _check_scatter("scatter_add", operand, indices, updates, dimension_numbers)
    _numeric("scatter_add", operand)
    named = join_all_named((operand, indices, updates))
    if len(set(axis_names)) != len(axis_names):
        raise AxisNameError(
            f"scatter_add: axis_names={axis_names} names an axis twice; name each once"
        )
    return out.update(named_shape=tuple(e for e in named if e[0] not in axis_names))


def _named_scatter_rule(name: str, check: Any) -> Any:
    def rule(
        operand: ShapedArray,
        indices: ShapedArray,
        updates: ShapedArray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        indices_are_sorted: bool,
        unique_indices: bool,
        mode: GatherScatterMode,
    ) -> ShapedArray:
        check(name, operand)
        return _check_scatter(name, operand, indices, updates, dimension_numbers)

    return rule


def _check_starts(
    name: str, operand: ShapedArray, starts: tuple[ShapedArray, ...], window: Shape
) -> None:
    if not len(starts) == len(window) == operand.ndim:
        raise ShapeError(
            f"{name}: the operand {operand} needs {operand.ndim} start indices and window sizes, "
            f"got {len(starts)} and {len(window)}"
        )
    for i, s in enumerate(starts):
        if s.ndim or not dtypes.is_integer(s.dtype):
            raise ShapeError(f"{name}: start_indices[{i}] must be an integer scalar, got {s}")
        if s.dtype != starts[0].dtype:
            raise DTypeError(f"{name}: start indices must have one dtype, got {starts[0]} and {s}")
    for d, (n, size) in enumerate(zip(window, operand.shape, strict=True)):
        if not 0 <= n <= size:
            raise ShapeError(
                f"{name}: the window has size {n} in dimension {d} of the operand {operand}; it "
                f"must be from 0 to {size}"
            )


def _dynamic_slice(operand: ShapedArray, *starts: ShapedArray, slice_sizes: Shape) -> ShapedArray:
    _check_starts("dynamic_slice", operand, starts, slice_sizes)
    return ShapedArray(slice_sizes, operand.dtype, operand.weak_type)


def _dynamic_update_slice(
    operand: ShapedArray, update: ShapedArray, *starts: ShapedArray
) -> ShapedArray:
    if operand.dtype != update.dtype:
        raise DTypeError(
            f"dynamic_update_slice: operand and update must have one dtype, got {operand} and "
            f"{update}; convert one with lax.convert_element_type"
        )
    _check_starts("dynamic_update_slice", operand, starts, update.shape)
    return ShapedArray(operand.shape, operand.dtype, operand.weak_type and update.weak_type)


def _axis_names(params: Mapping[str, Any]) -> Sequence[AxisName]:
    names: tuple[AxisName, ...] = params["axis_names"]
    return names


_SCATTERED = (0, 2)

gather_p = Primitive("gather", _gather, linear=(0,))
scatter_p = Primitive("scatter", _scatter, linear=_SCATTERED)
# The sum over `axis_names` of operand and updates: an operand that does not vary counts n times.
scatter_add_p = Primitive("scatter_add", _scatter_add, linear=_SCATTERED, uses_axes=_axis_names)
scatter_mul_p = Primitive(
    "scatter_mul",
    _named_scatter_rule("scatter_mul", _numeric),
    linear=(0,),  # one element may be multiplied by several updates
)
scatter_min_p = Primitive("scatter_min", _named_scatter_rule("scatter_min", _ordered))
scatter_max_p = Primitive("scatter_max", _named_scatter_rule("scatter_max", _ordered))
dynamic_slice_p = Primitive("dynamic_slice", _dynamic_slice, linear=(0,))
dynamic_update_slice_p = Primitive("dynamic_update_slice", _dynamic_update_slice, linear=(0, 1))
