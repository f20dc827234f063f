"""Collectives: reductions over named axes, and facts about them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arguments import as_dimensions, as_ints
from ..arrays.array import Array, as_concrete
from ..errors import ArgumentTypeError, ArgumentValueError, AxisNameError, DTypeError
from ..operators.promotion import settled
from ..primitives.collectives import (
    axis_index_p,
    grouped_pmax_p,
    grouped_pmin_p,
    grouped_psum_p,
    pbroadcast_p,
    pmax_p,
    pmin_p,
    psum_p,
)
from ..programs.primitive import Primitive
from ..settings.thread_context import context
from ..trees.operations import tree_map
from ..types.avals import AxisName, NamedEntries, ShapedArray, aval_of
from ..types.axes import as_axis_names
from ..types.python_numbers import python_number
from .elementwise import convert_element_type
from .reductions import reduce_max, reduce_min, reduce_sum

__all__ = ["axis_index", "axis_size", "pbroadcast", "pmax", "pmean", "pmin", "psum"]


def axis_size(axis_name: AxisName | Sequence[AxisName]) -> int:
    """Size of a named axis in scope; the product of sizes for several.

    Args:
        axis_name: A name, or a tuple of names.

    Returns:
        A Python integer.

    Raises:
        AxisNameError: No axis of that name is in scope.
    """
    size = 1
    for name in as_axis_names(axis_name):
        size *= context.trace.axis_env.size(name)
    return size


def axis_index(axis_name: AxisName | Sequence[AxisName]) -> Array:
    """Index along a named axis: 0-d int32, varying over the axis.

    Args:
        axis_name: A name; for a tuple of names the row-major index over all of them.

    Raises:
        AxisNameError: No axis of that name is in scope.
    """
    index: Any = None
    for name in as_axis_names(axis_name):
        size = context.trace.axis_env.size(name)
        one = axis_index_p.bind(axis=name, size=size)
        index = one if index is None else index * np.int32(size) + one
    if index is None:
        return as_concrete(np.int32(0))
    found: Array = index
    return found


Groups = Sequence[Sequence[int]]


def _split(axis_name: Any) -> tuple[tuple[AxisName, ...], tuple[int, ...]]:
    """Named axes and positional dimensions of an argument `axis_name`."""
    env = context.trace.axis_env
    names, positions = [], []
    for axis in as_axis_names(axis_name):
        if isinstance(axis, int | np.integer) and type(axis) is not bool and axis not in env:
            positions.append(int(axis))
        else:
            env.size(axis)  # raises for an unknown one
            names.append(axis)
    return tuple(names), tuple(positions)


def _dimensions(
    function: str, aval: ShapedArray, names: tuple[AxisName, ...], positions: tuple[int, ...]
) -> tuple[int, ...]:
    for name in names:
        if isinstance(name, int) and -aval.ndim <= name < aval.ndim:
            raise AxisNameError(
                f"{function}: axis_name={name!r} is both a dimension of the operand of type {aval} "
                "and the name of an axis in scope; name the axis by a string"
            )
    return as_dimensions(positions, aval.ndim, function, "axis_name") if positions else ()


def _parse_groups(
    function: str, axis_name: Any, groups: Groups
) -> tuple[AxisName, int, tuple[tuple[int, ...], ...]]:
    """Axis, its size, and the groups of its indices, without empty ones."""
    names, positions = _split(axis_name)
    if len(names) != 1 or positions:
        raise ArgumentValueError(
            f"{function}: axis_index_groups divides the indices of one named axis, but axis_name "
            f"is {axis_name!r}; reduce over the other axes in a call of their own"
        )
    size = context.trace.axis_env.size(names[0])
    if not isinstance(groups, Iterable):
        raise ArgumentTypeError(
            f"{function}: axis_index_groups must be a list of lists of integers, got {groups!r}"
        )
    parsed = [as_ints(group, function, "axis_index_groups") for group in groups]
    if sorted([i for group in parsed for i in group]) != list(range(size)):
        raise ArgumentValueError(
            f"{function}: axis_index_groups={groups!r} must hold each index of axis {names[0]!r} "
            f"once; give groups of the numbers from 0 to {size - 1}"
        )
    return names[0], size, tuple([group for group in parsed if group])


class _Reduction(NamedTuple):
    """A collective reduction in its three forms."""

    name: str
    named: Primitive
    grouped: Primitive
    positional: Callable[..., Any]

    def __call__(self, leaf: Any, axis_name: Any, groups: Groups | None) -> Any:
        """The reduction of one array over names and dimensions, or within groups of indices."""
        aval = aval_of(leaf)
        if groups is not None:
            axis, size, parsed = _parse_groups(self.name, axis_name, groups)
            return self.grouped.bind(leaf, axis=axis, size=size, groups=parsed)
        names, positions = _split(axis_name)
        dims = _dimensions(self.name, aval, names, positions)
        if dims:  # all at once, so that ties are shared among all that attain an extreme
            return self.positional(leaf, dims, names)
        return self.named.bind(leaf, axes=names) if names else leaf


_sum = _Reduction("psum", psum_p, grouped_psum_p, reduce_sum)
_max = _Reduction("pmax", pmax_p, grouped_pmax_p, reduce_max)
_min = _Reduction("pmin", pmin_p, grouped_pmin_p, reduce_min)


def _count(function: str, leaf: Any, axis_name: Any, groups: Groups | None) -> int | Array:
    """How many elements a reduction takes together: an integer where all groups are of one size."""
    if groups is None:
        names, positions = _split(axis_name)
        aval = aval_of(leaf)
        dims = _dimensions(function, aval, names, positions)
        return axis_size(names) * math.prod([aval.shape[d] for d in dims])
    axis, size, parsed = _parse_groups(function, axis_name, groups)
    sizes = {len(group) for group in parsed}
    if len(sizes) <= 1:
        return sizes.pop() if sizes else 0
    counted: Array = grouped_psum_p.bind(np.int32(1), axis=axis, size=size, groups=parsed)
    return counted


def _is_number(leaf: Any) -> bool:
    return type(leaf) in (int, float, complex, bool)


def psum(
    x: Any,
    axis_name: AxisName | Sequence[AxisName],
    *,
    axis_index_groups: Groups | None = None,
) -> Any:
    """Sum over one or several named axes.

    The result does not vary over them. Applied to a value that does not vary over an axis of size
    `n`, it is `n` times the value, and to a Python number a Python number: `psum(1, 'i')` is the
    size of the axis.

    Args:
        x: Array or tree of arrays of numbers (booleans are counted as int32).
        axis_name: A name or a tuple of names. Integers among them are dimensions of the arrays,
            which are summed too.
        axis_index_groups: Groups of the indices of one named axis, each index in one group. Then
            the sum is within each group, and the result varies over the axis.

    Returns:
        The tree of sums, of the dtypes of `x`, and of its shapes without the dimensions summed.

    Raises:
        AxisNameError: No axis of that name is in scope.
        ShapeError: An array does not have a dimension.
        ArgumentValueError: The groups do not hold each index of one axis once.
    """

    def one(leaf: Any) -> Any:
        leaf = python_number(leaf)
        if _is_number(leaf):
            count = _count("psum", leaf, axis_name, axis_index_groups)
            if isinstance(count, int):
                return leaf * count
            leaf = settled(leaf)
        elif aval_of(leaf).dtype == np.bool_ and axis_name != ():
            leaf = convert_element_type(leaf, np.int32)
        return _sum(leaf, axis_name, axis_index_groups)

    return tree_map(one, x)


def pmean(
    x: Any,
    axis_name: AxisName | Sequence[AxisName],
    *,
    axis_index_groups: Groups | None = None,
) -> Any:
    """Mean over one or several named axes: `psum(x) / size`.

    Args:
        x: Array or tree of arrays of floating-point or complex numbers (integers give the default
            floating-point dtype).
        axis_name: A name or a tuple of names, or of dimensions, as for `psum`.
        axis_index_groups: Groups of indices, as for `psum`.

    Raises:
        AxisNameError: No axis of that name is in scope.
        ShapeError: An array does not have a dimension.
        ArgumentValueError: The groups do not hold each index of one axis once.
    """

    def one(leaf: Any) -> Any:
        leaf = python_number(leaf)
        count = _count("pmean", leaf, axis_name, axis_index_groups)
        if _is_number(leaf):
            return leaf / 1 if not isinstance(count, int) or count else math.nan
        return psum(leaf, axis_name, axis_index_groups=axis_index_groups) / count

    return tree_map(one, x)


def _extremum(reduction: _Reduction, x: Any, axis_name: Any, groups: Groups | None) -> Any:
    def one(leaf: Any) -> Any:
        if aval_of(leaf).dtype.kind == "c":
            raise DTypeError(
                f"{reduction.name}: complex numbers have no order; got {aval_of(leaf)}"
            )
        return reduction(settled(leaf), axis_name, groups)

    return tree_map(one, x)


def pmax(
    x: Any,
    axis_name: AxisName | Sequence[AxisName],
    *,
    axis_index_groups: Groups | None = None,
) -> Any:
    """Maximum over one or several named axes; the result does not vary over them.

    Args:
        x: Array or tree of arrays of real dtype.
        axis_name: A name or a tuple of names, or of dimensions, as for `psum`.
        axis_index_groups: Groups of indices, as for `psum`.

    Raises:
        AxisNameError: No axis of that name is in scope.
        ShapeError: An array does not have a dimension.
        ArgumentValueError: The groups do not hold each index of one axis once.
        DTypeError: Complex input.
    """
    return _extremum(_max, x, axis_name, axis_index_groups)


def pmin(
    x: Any,
    axis_name: AxisName | Sequence[AxisName],
    *,
    axis_index_groups: Groups | None = None,
) -> Any:
    """Minimum over one or several named axes; the result does not vary over them.

    Args:
        x: Array or tree of arrays of real dtype.
        axis_name: A name or a tuple of names, or of dimensions, as for `psum`.
        axis_index_groups: Groups of indices, as for `psum`.

    Raises:
        AxisNameError: No axis of that name is in scope.
        ShapeError: An array does not have a dimension.
        ArgumentValueError: The groups do not hold each index of one axis once.
        DTypeError: Complex input.
    """
    return _extremum(_min, x, axis_name, axis_index_groups)


def pbroadcast(x: Any, named: Mapping[AxisName, int] | NamedEntries) -> Any:
    """Let a value vary over the given named axes, each index holding a copy.

    The transformations insert this by themselves; users have no need to write it.

    Args:
        x: Array.
        named: Names and sizes of the axes.
    """
    entries = tuple(named.items()) if isinstance(named, Mapping) else named
    missing = tuple([e for e in entries if e[0] not in aval_of(x).names])
    return pbroadcast_p.bind(x, named=missing) if missing else x
