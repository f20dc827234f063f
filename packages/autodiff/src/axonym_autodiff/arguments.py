"""Checks and selections of arguments that the differentiation functions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    AxisNameError,
    ShapeError,
    TreeStructureError,
)
from axonym_core.extend import Zero
from axonym_core.operators import strong
from axonym_core.programs import debug_info
from axonym_core.settings import context
from axonym_core.trees import PyTreeDef, keystr, tree_flatten, tree_leaves_with_path, tree_unflatten
from axonym_core.types import (
    AxisName,
    ShapedArray,
    as_axis_names,
    aval_of,
    dtypes,
    python_number,
    settled_aval,
)

from .errors import NotDifferentiableError
from .rule_tables import Reading


def reading_of(reduce_axes: AxisName | Sequence[AxisName] | None) -> Reading:
    """How reverse mode reads the axes in scope, given a `reduce_axes` argument.

    `None` stands for the axes whose indices are devices.

    Raises:
        AxisNameError: A name is not in scope.
    """
    env = context.trace.axis_env
    if reduce_axes is None:
        return Reading(env.names_of_kind("device"))
    names = as_axis_names(reduce_axes, "reduce_axes")
    for name in names:
        env.size(name)
    return Reading(frozenset(names))


def function_name(fun: Callable[..., Any]) -> str:
    """Name of a function, for messages."""
    return debug_info(fun).name


def selected(
    argnums: Any, args: tuple[Any, ...], what: str, fun: Callable[..., Any]
) -> tuple[int, ...]:
    """Positions of the arguments to differentiate, counted from the front.

    Raises:
        TypeError: A position is no integer.
        ValueError: A position is out of range or given twice.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    positions = []
    for n in numbers:
        if not isinstance(n, int) or isinstance(n, bool):
            raise ArgumentTypeError(f"{what}: argnums must be integers, got {n!r}")
        if not -len(args) <= n < len(args):
            raise ArgumentValueError(
                f"{what}: argnums has {n}, but {function_name(fun)} was called with {len(args)} "
                "positional arguments; differentiated arguments must be passed by position"
            )
        positions.append(n % len(args))
    if len(set(positions)) != len(positions):
        raise ArgumentValueError(f"{what}: argnums={argnums} names an argument twice")
    return tuple(positions)


def argument_path(
    fun: Callable[..., Any], positions: Sequence[int], tree: PyTreeDef, index: int
) -> str:
    """How the user would write a leaf of the arguments at some positions: `params['w']`."""
    parameters = debug_info(fun).parameters
    numbered = tree_unflatten(tree, list(range(tree.num_leaves)))
    path = next(p for p, leaf in tree_leaves_with_path(numbered) if leaf == index)
    position = positions[path[0].idx]
    name = parameters[position] if position < len(parameters) else f"args[{position}]"
    return name + keystr(path[1:])


def leaf_path(tree: PyTreeDef, index: int, name: str) -> str:
    """How the user would write the leaf at an index of a tree."""
    numbered = tree_unflatten(tree, list(range(tree.num_leaves)))
    path = next(p for p, leaf in tree_leaves_with_path(numbered) if leaf == index)
    return f"{name}{keystr(path)}"


def check_inputs(
    leaves: Sequence[Any],
    describe: Callable[[int], str],
    what: str,
    *,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> None:
    """Check that arguments can be differentiated by `grad` and its like.

    Raises:
        NotDifferentiableError: An argument is an integer, or complex without `holomorphic`.
    """
    for i, leaf in enumerate(leaves):
        try:
            dtype = aval_of(leaf).dtype
        except TypeError:
            raise NotDifferentiableError(
                f"{what} needs floating-point arguments; {describe(i)} is a {type(leaf).__name__} "
                f"({leaf!r}). Leave it out of argnums, or close over it"
            ) from None
        kind = dtype.kind
        if holomorphic:
            if kind != "c":
                raise NotDifferentiableError(
                    f"{what} with holomorphic=True needs complex arguments; {describe(i)} has "
                    f"dtype {dtype.name}"
                )
        elif not dtypes.is_inexact(dtype) and not allow_int:
            raise NotDifferentiableError(
                f"{what} needs floating-point arguments; {describe(i)} has dtype {dtype.name}. "
                "Convert it (x.astype('float32')), leave it out of argnums, or pass "
                "allow_int=True for a zero gradient of dtype float0"
            )
        # A complex argument of a real function has a gradient too: the field's convention is the
        # conjugate of the direction of steepest ascent, which needs no flag.


def check_cotangents(
    ct: Any,
    out_tree: PyTreeDef,
    out_avals: Sequence[ShapedArray],
    what: str,
    collective: frozenset[AxisName] = frozenset(),
) -> list[Any]:
    """Flatten cotangents, checking them against the results they belong to.

    Args:
        ct: Tree of cotangents.
        out_tree: Tree of the results.
        out_avals: Types of the results.
        what: The function, for messages.
        collective: Axes over which an unvarying result has one cotangent.

    Raises:
        AxisNameError: A leaf varies over a collective axis, the result does not.
        TreeStructureError: Another tree than the function's result.
        ShapeError: A leaf of another shape.
        NotDifferentiableError: A leaf of another dtype.
    """
    leaves, tree = tree_flatten(ct)
    if tree != out_tree:
        raise TreeStructureError(
            f"{what}: the cotangent has the structure {tree}, the function's result {out_tree}; "
            "give one cotangent per result"
        )
    checked: list[Any] = []
    for i, (leaf, aval) in enumerate(zip(leaves, out_avals, strict=True)):
        tangent = aval.to_tangent()
        leaf = python_number(leaf)
        got = aval_of(leaf)
        if got.shape != aval.shape:
            raise ShapeError(
                f"{what}: {leaf_path(tree, i, 'cotangent')} has shape {got.shape}, the result "
                f"{aval.shape}"
            )
        for name in collective & (got.names - aval.names):
            raise AxisNameError(
                f"{what}: {leaf_path(tree, i, 'cotangent')} varies over axis {name!r} ({got}), but "
                f"the result does not ({aval}), and reduce_axes makes it one value with one "
                f"cotangent; sum the cotangent (lax.psum), or leave {name!r} out of reduce_axes"
            )
        if tangent.dtype == dtypes.float0:
            checked.append(Zero(tangent))
            continue
        if got.dtype != tangent.dtype:
            if not got.weak_type and got.dtype != settled_aval(aval).dtype:
                raise NotDifferentiableError(
                    f"{what}: {leaf_path(tree, i, 'cotangent')} has dtype {got.dtype.name}, the "
                    f"result {aval.dtype.name}; convert it with .astype({aval.dtype.name!r})"
                )
            leaf = lax.convert_element_type(leaf, tangent.dtype)
        checked.append(strong(leaf))
    return checked
