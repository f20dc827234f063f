"""`vmap`: a function of single examples as one of whole batches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from axonym_core.errors import ArgumentTypeError
from axonym_core.operators import returned
from axonym_core.programs import debug_info
from axonym_core.trees import (
    PyTreeDef,
    flatten_axes,
    keystr,
    tree_flatten,
    tree_leaves_with_path,
    tree_unflatten,
)
from axonym_core.types import AxisName, as_axis_names, as_integer, aval_of

from .batching import ANONYMOUS, map_flat
from .errors import MappedAxisError
from .rule_tables import Dim, MappedAxis, move_dim


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: AxisName | None = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """Vectorise a function over a new axis of its arguments.

    Args:
        fun: Function of trees of arrays.
        in_axes: Which dimension of each argument to map: an integer (negative from the end), None
            for an argument that all indices share, or a tree of them that is a prefix of the tuple
            of positional arguments. Keyword arguments are mapped along dimension 0.
        out_axes: Where the axis goes in the results: an integer, None for a result that does not
            vary over the axis, or a tree of them that is a prefix of the result.
        axis_name: Name by which collectives (`lax.psum`) and `reduce_axes` refer to the axis.
        axis_size: Size of the axis; may be left out where an argument tells it.

    Returns:
        A function of the same arguments with the mapped dimension added.

    Raises:
        MappedAxisError: Sizes differ, a dimension does not exist, nothing is mapped, or a result
            varies over the axis where `out_axes` is None.
        TreeStructureError: `in_axes` or `out_axes` does not fit arguments or results.
        AxisNameError: The name is in scope already.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> vmap(lambda x, y: lax.mul(x, y), in_axes=(0, None))(np.arange(3), np.int64(10)).tolist()
        [0, 10, 20]
    """
    if not callable(fun):
        raise ArgumentTypeError(f"vmap: fun must be a function, got {type(fun).__name__}")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    name = debug_info(fun).name
    if axis_name is not None:
        as_axis_names((axis_name,))

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree_flatten((args, kwargs))
        dims = _in_dims(name, in_tree, args, kwargs, in_axes, leaves)
        size = _axis_size(name, in_tree, leaves, dims, axis_size)
        axis = MappedAxis(ANONYMOUS if axis_name is None else axis_name, size)
        out_tree: PyTreeDef | None = None

        def flat(*values: Any) -> Sequence[Any]:
            nonlocal out_tree
            inner_args, inner_kwargs = tree_unflatten(in_tree, values)
            out_leaves, out_tree = tree_flatten(fun(*inner_args, **inner_kwargs))
            return [returned(x) for x in out_leaves]

        results = map_flat(flat, axis, leaves, dims, origin=f"vmap({name})")
        assert out_tree is not None
        out_dims = flatten_axes(f"vmap({name}) out_axes", out_tree, out_axes, of="result")
        outs = [
            _place(name, out_tree, i, axis, result, d)
            for i, (result, d) in enumerate(zip(results, out_dims, strict=True))
        ]
        return tree_unflatten(out_tree, outs)

    return mapped


def _in_dims(
    name: str,
    tree: PyTreeDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    in_axes: Any,
    leaves: Sequence[Any],
) -> list[Dim]:
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise MappedAxisError(
            f"vmap({name}): in_axes has {len(in_axes)} entries, but {len(args)} positional "
            "arguments were passed; give one entry per positional argument"
        )
    args_tree, _ = tree.children()
    dims: list[Any] = flatten_axes(f"vmap({name}) in_axes", args_tree, in_axes)
    dims = [*dims, *[0] * (len(leaves) - len(dims))]
    checked: list[Dim] = []
    for i, (dim, leaf) in enumerate(zip(dims, leaves, strict=True)):
        if dim is None:
            checked.append(None)
            continue
        position = _position(name, "in_axes", dim)
        try:
            rank = aval_of(leaf).ndim
        except TypeError:
            raise MappedAxisError(
                f"vmap({name}): {_argument(tree, i)} is a {type(leaf).__name__} ({leaf!r}), which "
                "has no dimensions; pass an array, or use None in in_axes and close over it"
            ) from None
        if not -rank <= position < rank:
            raise MappedAxisError(
                f"vmap({name}): in_axes maps dimension {position} of {_argument(tree, i)}, which "
                f"has type {aval_of(leaf)}; use None for an argument without the axis"
            )
        checked.append(position % rank)
    return checked


def _position(name: str, argument: str, given: Any) -> int:
    """Dimension that an entry of `in_axes` or `out_axes` gives."""
    if not isinstance(given, bool):
        try:
            return operator.index(given)
        except TypeError:
            pass  # the error below says which argument
    raise ArgumentTypeError(
        f"vmap({name}): {argument} must hold integers (dimensions) and None, got {given!r}"
    )


def _argument(tree: PyTreeDef, index: int) -> str:
    paths = tree_leaves_with_path(tree_unflatten(tree, list(range(tree.num_leaves))))
    path = next(p for p, leaf in paths if leaf == index)
    return f"{'args' if path[0].idx == 0 else 'kwargs'}{keystr(path[1:])}"


def _axis_size(
    name: str,
    tree: PyTreeDef,
    leaves: Sequence[Any],
    dims: Sequence[Dim],
    axis_size: int | None,
) -> int:
    sizes = {
        i: aval_of(x).shape[d]
        for i, (x, d) in enumerate(zip(leaves, dims, strict=True))
        if d is not None
    }
    distinct = set(sizes.values())
    if axis_size is not None:
        axis_size = as_integer(axis_size, f"vmap({name}): axis_size")
        if axis_size < 0:
            raise MappedAxisError(
                f"vmap({name}): axis_size={axis_size} is negative; give 0 or more"
            )
        distinct.add(axis_size)
    if not distinct:
        raise MappedAxisError(
            f"vmap({name}): no argument is mapped (in_axes is None everywhere), so the size of "
            "the axis is not known; map an argument or pass axis_size="
        )
    if len(distinct) > 1:
        listed = [
            f"{_argument(tree, i)} has size {s} along dimension {dims[i]}" for i, s in sizes.items()
        ]
        if axis_size is not None:
            listed.append(f"axis_size={axis_size}")
        raise MappedAxisError(
            f"vmap({name}): sizes of the mapped axis differ: {'; '.join(listed)}; make them "
            "equal, or use in_axes=None for an argument without the axis"
        )
    return distinct.pop()


def _place(
    name: str,
    tree: PyTreeDef,
    index: int,
    axis: MappedAxis,
    result: tuple[Any, Dim, bool],
    out_dim: Any,
) -> Any:
    val, dim, varies = result
    if out_dim is None:
        if varies:
            raise MappedAxisError(
                f"vmap({name}): result{_result(tree, index)} varies over "
                + (f"axis {axis.name!r}" if axis.name is not ANONYMOUS else "the mapped axis")
                + ", but out_axes is None for it; reduce it over the axis (lax.psum), or give the "
                "dimension where the axis goes in out_axes"
            )
        return val
    position = _position(name, "out_axes", out_dim)
    rank = aval_of(val).ndim + (dim is None)
    if not -rank <= position < rank:
        raise MappedAxisError(
            f"vmap({name}): out_axes puts the axis at dimension {position} of "
            f"result{_result(tree, index)}, which has {rank} dimensions with it"
        )
    return move_dim(val, dim, position % rank, axis.size)


def _result(tree: PyTreeDef, index: int) -> str:
    paths = tree_leaves_with_path(tree_unflatten(tree, list(range(tree.num_leaves))))
    return keystr(next(p for p, leaf in paths if leaf == index))
