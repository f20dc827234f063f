"""`xmap`: functions with several named axes, by naming the dimensions of arguments and results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import EllipsisType
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.errors import ArgumentTypeError
from axonym_core.operators import returned
from axonym_core.programs import debug_info
from axonym_core.settings import context
from axonym_core.tracing import run_and_end, run_in
from axonym_core.trees import (
    PyTreeDef,
    flatten_axes,
    keystr,
    tree_flatten,
    tree_leaves_with_path,
    tree_map,
    tree_unflatten,
)
from axonym_core.types import AxisName, aval_of, named_entries

from .batching import BatchTrace
from .errors import MappedAxisError
from .rule_tables import MappedAxis, move_to_front

AxesEntry = Mapping[int, AxisName] | Sequence[AxisName | EllipsisType | None]


def _is_entry(x: Any) -> bool:
    """Whether a node of an axes tree names the dimensions of a whole subtree of arrays."""
    if isinstance(x, dict):
        return all(
            isinstance(k, int | np.integer) and not isinstance(k, bool) for k in x
        ) and not any(isinstance(v, dict | list) for v in x.values())
    if isinstance(x, list):
        return not any(isinstance(v, dict | list) for v in x)
    return x is None


class _Entry:
    """Named dimensions of an array, from one entry of an axes tree."""

    __slots__ = ("front", "given", "names", "rank", "tail")

    def __init__(self, entry: Any, what: str) -> None:
        self.given = entry
        # Positions from the front and, negative, from the back.
        positions: list[tuple[int, AxisName]] = []
        self.rank: int | None = None
        if entry is None:
            pass
        elif isinstance(entry, dict):
            positions = [(operator.index(k), v) for k, v in entry.items()]
        elif isinstance(entry, list):
            count = sum(1 for v in entry if v is ...)
            if count > 1:
                raise MappedAxisError(f"{what}: {entry!r} has more than one `...`")
            if count == 0:
                self.rank = len(entry)
            after = False
            for i, v in enumerate(entry):
                if v is ...:
                    after = True
                elif v is not None:
                    positions.append((i - len(entry) if after else i, v))
        else:
            raise ArgumentTypeError(
                f"{what}: expected a dict of dimension to axis name ({{0: 'batch'}}) or a list of "
                f"names (['batch', ...]), got {entry!r}"
            )
        self.front = tuple(positions)
        self.names = tuple([name for _, name in positions])
        if len(set(self.names)) != len(self.names):
            raise MappedAxisError(f"{what}: {entry!r} names an axis twice; name each once")

    def dims(self, rank: int, describe: str) -> dict[int, AxisName]:
        """Dimension to axis name for an array of a rank."""
        if self.rank is not None and self.rank != rank:
            raise MappedAxisError(
                f"{describe} has {rank} dimensions, but {self.given!r} names {self.rank}; end the "
                "list with `...` to leave further dimensions unnamed"
            )
        found: dict[int, AxisName] = {}
        for position, name in self.front:
            if not -rank <= position < rank:
                raise MappedAxisError(
                    f"{describe} has {rank} dimensions, so there is no dimension {position} to be "
                    f"axis {name!r} ({self.given!r})"
                )
            if position % rank in found:
                raise MappedAxisError(f"{describe}: {self.given!r} names a dimension twice")
            found[position % rank] = name
        return found


def xmap(
    fun: Callable[..., Any],
    in_axes: Any,
    out_axes: Any,
    *,
    axis_sizes: Mapping[AxisName, int] | None = None,
) -> Callable[..., Any]:
    """Map a function over named axes.

    Inside the function the named dimensions are gone from shapes; values vary over them by type
    (`f32[3;batch:8]`), and collectives, reductions and `reduce_axes` refer to them by name.

    Args:
        fun: Function of trees of arrays.
        in_axes: Names of the dimensions of the arguments: for each a dict of dimension to name
            (`{0: 'batch'}`) or a list of names (`['batch', ...]`, None for a dimension that stays,
            `...` for any number of them). A tuple (or deeper tree) that is a prefix of the tuple of
            arguments; one entry stands for a whole subtree, and alone for all arguments.
        out_axes: The same for the results: where named axes go. A result that does not vary over
            an axis listed here is broadcast along it.
        axis_sizes: Sizes of axes that no argument has.

    Returns:
        A function of arrays that have the named dimensions.

    Raises:
        MappedAxisError: Sizes of an axis differ, a dimension does not exist, or a result varies
            over an axis that `out_axes` does not list.
        AxisNameError: A name is in scope already.
        TreeStructureError: `in_axes` or `out_axes` does not fit arguments or results.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> total = xmap(lambda x: lax.psum(x, "i"), in_axes={0: "i"}, out_axes={})
        >>> float(total(np.array([1.0, 2.0, 4.0])))
        7.0
    """
    if not callable(fun):
        raise ArgumentTypeError(f"xmap: fun must be a function, got {type(fun).__name__}")
    name = debug_info(fun).name
    if isinstance(in_axes, list) and not _is_entry(in_axes):
        in_axes = tuple(in_axes)
    in_entries_tree = _parse(in_axes, f"xmap({name}) in_axes")
    out_entries_tree = _parse(out_axes, f"xmap({name}) out_axes")
    sizes_given = dict(named_entries(axis_sizes or {}))

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ArgumentTypeError(
                f"xmap({name}): in_axes names dimensions of positional arguments only, got "
                f"{', '.join(kwargs)} by keyword; pass every argument by position"
            )
        leaves, in_tree = tree_flatten(args)
        entries = _entries(f"xmap({name}) in_axes", in_tree, in_entries_tree)
        dims = [
            entry.dims(aval_of(x).ndim, f"xmap({name}): argument {_path('args', in_tree, i)}")
            for i, (entry, x) in enumerate(zip(entries, leaves, strict=True))
        ]
        sizes = _sizes(name, in_tree, leaves, dims, sizes_given)
        traces: list[BatchTrace] = []
        innermost = context.trace
        values = leaves
        for axis, size in sizes.items():
            innermost = trace = BatchTrace(innermost, MappedAxis(axis, size))
            trace.origin = f"xmap({name})"
            traces.append(trace)
            values, dims = _wrap(trace, axis, values, dims)
        args = tree_unflatten(in_tree, values)

        def settled_fun(*args: Any) -> Any:
            return tree_map(returned, fun(*args))

        out = run_and_end(traces, settled_fun, *args) if traces else settled_fun(*args)
        out_leaves, out_tree = tree_flatten(out)
        out_entries = _entries(f"xmap({name}) out_axes", out_tree, out_entries_tree, "result")
        outs = [
            _place(x, entry, traces, f"xmap({name}): result{_path('', out_tree, i)}")
            for i, (x, entry) in enumerate(zip(out_leaves, out_entries, strict=True))
        ]
        return tree_unflatten(out_tree, outs)

    return mapped


def _parse(tree: Any, what: str) -> Any:
    leaves, structure = tree_flatten(tree, is_leaf=_is_entry)
    return tree_unflatten(structure, [_Entry(x, what) for x in leaves])


def _entries(name: str, tree: PyTreeDef, axes: Any, of: str = "argument") -> list[_Entry]:
    found: list[_Entry] = flatten_axes(name, tree, axes, of=of)
    return found


def _path(prefix: str, tree: PyTreeDef, index: int) -> str:
    paths = tree_leaves_with_path(tree_unflatten(tree, list(range(tree.num_leaves))))
    return prefix + keystr(next(p for p, leaf in paths if leaf == index))


def _sizes(
    name: str,
    tree: PyTreeDef,
    leaves: Sequence[Any],
    dims: Sequence[Mapping[int, AxisName]],
    given: Mapping[AxisName, int],
) -> dict[AxisName, int]:
    sizes: dict[AxisName, int] = {}
    origin: dict[AxisName, str] = {}
    for i, (x, named) in enumerate(zip(leaves, dims, strict=True)):
        for dim, axis in named.items():
            size = aval_of(x).shape[dim]
            here = f"dimension {dim} of {_path('args', tree, i)}"
            if sizes.setdefault(axis, size) != size:
                raise MappedAxisError(
                    f"xmap({name}): axis {axis!r} has size {sizes[axis]} in {origin[axis]} and "
                    f"size {size} in {here}; make them equal"
                )
            origin.setdefault(axis, here)
    for axis, size in given.items():
        if sizes.setdefault(axis, size) != size:
            raise MappedAxisError(
                f"xmap({name}): axis {axis!r} has size {sizes[axis]} in {origin[axis]}, but "
                f"axis_sizes says {size}"
            )
    return sizes


def _wrap(
    trace: BatchTrace,
    axis: AxisName,
    values: Sequence[Any],
    dims: Sequence[Mapping[int, AxisName]],
) -> tuple[list[Any], list[dict[int, AxisName]]]:
    """Take one named dimension out of the arguments that have it."""
    wrapped: list[Any] = []
    rest: list[dict[int, AxisName]] = []
    for x, named in zip(values, dims, strict=True):
        own = next((d for d, n in named.items() if n == axis), None)
        wrapped.append(x if own is None else trace.tracer(x, own))
        rest.append({d - (own is not None and d > own): n for d, n in named.items() if d != own})
    return wrapped, rest


def _place(x: Any, entry: _Entry, traces: Sequence[BatchTrace], describe: str) -> Any:
    """Give a result its named dimensions, innermost axis first."""
    in_scope = {trace.axis.name for trace in traces}
    unknown = [n for n in entry.names if n not in in_scope]
    if unknown:
        raise MappedAxisError(
            f"{describe}: out_axes {entry.given!r} names axis {unknown[0]!r}, which no argument "
            "has (in_axes) and axis_sizes does not give a size"
        )
    front: list[AxisName] = []
    for trace in reversed(traces):
        axis = trace.axis
        listed = axis.name in entry.names
        val, dim, varies = trace.split(x)
        if varies and not listed:
            raise MappedAxisError(
                f"{describe} varies over axis {axis.name!r}, which out_axes "
                f"{entry.given!r} does not list; reduce it over the axis (for example "
                f"lax.psum(x, {axis.name!r})), or list the axis in out_axes"
            )
        if listed:
            x = run_in(trace.parent, move_to_front, val, dim, axis.size)
            front.insert(0, axis.name)
    rank = aval_of(x).ndim
    named = entry.dims(rank, describe)
    order: list[int] = []
    unnamed = iter(range(len(front), rank))
    for d in range(rank):
        order.append(front.index(named[d]) if d in named else next(unnamed))
    if order != list(range(rank)):
        x = lax.transpose(x, tuple(order))
    return x
