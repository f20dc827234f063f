"""Collectives: reductions over named axes, and facts about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.array import Array, as_concrete
from ..errors import DTypeError
from ..primitives.collectives import axis_index_p, pbroadcast_p, pmax_p, pmin_p, psum_p
from ..settings.thread_context import context
from ..trees.operations import tree_map
from ..types.avals import AxisName, NamedEntries, aval_of
from ..types.axes import as_axis_names


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


def _scope(axis_name: Any) -> tuple[AxisName, ...]:
    names = as_axis_names(axis_name)
    for name in names:
        context.trace.axis_env.size(name)  # raises for an unknown one
    return names


def psum(x: Any, axis_name: AxisName | Sequence[AxisName]) -> Any:
    """Sum over one or several named axes.

    The result does not vary over them. Applied to a value that does not vary over an axis of size
    `n`, it is `n` times the value, and to a Python number a Python number: `psum(1, 'i')` is the
    size of the axis.

    Args:
        x: Array or tree of arrays of numbers (booleans are counted as int32).
        axis_name: A name or a tuple of names.

    Returns:
        The tree of sums, of the shapes and dtypes of `x`.

    Raises:
        AxisNameError: No axis of that name is in scope.
    """
    names = _scope(axis_name)

    def one(leaf: Any) -> Any:
        if type(leaf) in (int, float, complex, bool):
            return leaf * axis_size(names)
        if not names:
            return leaf
        if aval_of(leaf).dtype == np.bool_:
            leaf = convert_element_type(leaf, np.int32)
        return psum_p.bind(leaf, axes=names)

    return tree_map(one, x)


def pmean(x: Any, axis_name: AxisName | Sequence[AxisName]) -> Any:
    """Mean over one or several named axes: `psum(x) / size`.

    Args:
        x: Array or tree of arrays of floating-point or complex numbers (integers give the default
            floating-point dtype).
        axis_name: A name or a tuple of names.

    Raises:
        AxisNameError: No axis of that name is in scope.
    """
    size = axis_size(axis_name)
    return tree_map(lambda leaf: leaf / size, psum(x, axis_name))


def _extremum(primitive: Any, name: str, x: Any, axis_name: Any) -> Any:
    names = _scope(axis_name)

    def one(leaf: Any) -> Any:
        if aval_of(leaf).dtype.kind == "c":
            raise DTypeError(f"{name}: complex numbers have no order; got {aval_of(leaf)}")
        return primitive.bind(leaf, axes=names) if names else leaf

    return tree_map(one, x)


def pmax(x: Any, axis_name: AxisName | Sequence[AxisName]) -> Any:
    """Maximum over one or several named axes; the result does not vary over them.

    Args:
        x: Array or tree of arrays of real dtype.
        axis_name: A name or a tuple of names.

    Raises:
        AxisNameError: No axis of that name is in scope.
        DTypeError: Complex input.
    """
    return _extremum(pmax_p, "pmax", x, axis_name)


def pmin(x: Any, axis_name: AxisName | Sequence[AxisName]) -> Any:
    """Minimum over one or several named axes; the result does not vary over them.

    Args:
        x: Array or tree of arrays of real dtype.
        axis_name: A name or a tuple of names.

    Raises:
        AxisNameError: No axis of that name is in scope.
        DTypeError: Complex input.
    """
    return _extremum(pmin_p, "pmin", x, axis_name)


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


from .elementwise import convert_element_type  # noqa: E402
