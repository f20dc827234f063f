"""Control flow on trees: `scan`, `while_loop`, `fori_loop`, `cond`, `switch`, `map`.

The primitives want exact types. The functions here find them: the carry of a loop takes the dtype
that the body gives it where it started as a Python scalar (a weak type), and varies over every
named axis that the body makes it vary over; the branches of a `cond` are brought to one type.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from ..arrays.array import ConcreteArray
from ..errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    ShapeError,
    TreeStructureError,
)
from ..operators.promotion import as_array, join_types, settled
from ..primitives.control import cond_p, scan_p, while_p
from ..programs.evaluation import eval_jaxpr
from ..programs.jaxpr import Jaxpr, Var
from ..programs.naming import DebugInfo, debug_info
from ..tracing.staging import trace_cached, trace_flat
from ..trees.operations import (
    PyTreeDef,
    keystr,
    tree_flatten,
    tree_leaves_with_path,
    tree_map,
    tree_structure,
    tree_unflatten,
)
from ..types import dtypes
from ..types.avals import NamedEntries, ShapedArray, aval_of, join_named
from ..types.python_numbers import python_number, scalar_of, settled_aval
from .collectives import pbroadcast
from .elementwise import clamp, convert_element_type, lt, ne
from .shape import concatenate, reshape, slice_in_dim

__all__ = ["cond", "fori_loop", "map", "scan", "switch", "while_loop"]

_MAPPING: Final = "axonym_mapping"


def conform(x: Any, aval: ShapedArray) -> Any:
    """Bring a value to a type that it can take implicitly: another dtype, more named axes."""
    own = aval_of(x)
    if own.dtype != aval.dtype or own.is_number != aval.is_number:
        x = convert_element_type(x, aval.dtype, aval.weak_type)
    return pbroadcast(x, aval.named)


def conform_results(jaxpr: Jaxpr, out_avals: Sequence[ShapedArray]) -> Jaxpr:
    """Return the program whose leading results are brought to the given types."""
    wanted = tuple(out_avals)
    if all(_alike(a, b) for a, b in zip(jaxpr.out_avals, wanted, strict=False)):
        return jaxpr

    def fun(*args: Any) -> list[Any]:
        outs = eval_jaxpr(jaxpr, *args)
        return [
            *[conform(o, a) for o, a in zip(outs, wanted, strict=False)],
            *outs[len(wanted) :],
        ]

    return jaxpr.derived(
        ("conformed", wanted), lambda: trace_flat(fun, jaxpr.in_avals, debug=jaxpr.debug)
    )


def _alike(a: ShapedArray, b: ShapedArray) -> bool:
    return a is b or (a.strip_weak_type() is b.strip_weak_type() and a.is_number == b.is_number)


def _join_carry(
    before: ShapedArray, after: ShapedArray, describe: Callable[[], str]
) -> ShapedArray:
    """Type of a carry that goes in as one type and comes out as another."""
    if before.shape != after.shape:
        raise ShapeError(
            f"{describe()} goes in as {before} and comes out as {after}; return it in the shape "
            "that it came in, or start with the other one"
        )
    joined = before
    if before.dtype != after.dtype or before.weak_type != after.weak_type:
        dtype, weak = join_types(before, after)
        # Only a weak side may change; a strong carry keeps its dtype.
        if not before.weak_type and dtype != before.dtype:
            raise DTypeError(
                f"{describe()} goes in as {before} and comes out as {after}; convert one of them, "
                f"for example with .astype({before.dtype.name!r})"
            )
        joined = joined.update(dtype=dtype, weak_type=weak)
    return joined.update(named_shape=join_named(joined.named, after.named))


def settle_carry(
    trace_body: Callable[[list[ShapedArray]], Jaxpr],
    carry: list[ShapedArray],
    describe: Callable[[int], str],
    also_named: Callable[[Jaxpr], NamedEntries] = lambda jaxpr: (),
) -> tuple[Jaxpr, list[ShapedArray]]:
    """Find the types of a loop's carry that its body maps to themselves.

    Args:
        trace_body: Stages the body for given carry types; its leading results are the carry.
        carry: Types of the initial carry.
        describe: Names the carry at an index, for messages.
        also_named: Named axes that every carry must vary over, found from the body.

    Returns:
        The body, whose leading results have the types of its carry, and these types.
    """
    while True:
        jaxpr = trace_body(carry)
        extra = also_named(jaxpr)
        joined = [
            _join_carry(before, after, lambda i=i: describe(i))  # type: ignore[misc]  # bound at once
            for i, (before, after) in enumerate(
                zip(carry, jaxpr.out_avals[: len(carry)], strict=True)
            )
        ]
        joined = [a.update(named_shape=join_named(a.named, extra)) for a in joined]
        if joined == carry:
            return conform_results(jaxpr, carry), carry
        carry = joined


def scan_flat(
    fun: Callable[..., Sequence[Any]],
    init: Sequence[Any],
    xs: Sequence[Any],
    *,
    length: int,
    reverse: bool = False,
    unroll: int = 1,
    debug: DebugInfo | None = None,
) -> list[Any]:
    """`scan` over flat lists: `fun(*carry, *slices)` returns the new carry and the step's outputs.

    Args:
        fun: The body; values that it closes over become constants of the loop.
        init: Initial carry.
        xs: Arrays whose leading dimension is scanned.
        length: Number of steps.
        reverse: Whether to go from the last step to the first.
        unroll: How many steps to put in one iteration of the compiled loop.
        debug: Names for messages.

    Returns:
        The final carry followed by the stacked outputs.
    """
    slices = [a.update(shape=a.shape[1:], weak_type=False) for a in [aval_of(x) for x in xs]]
    jaxpr, carry = settle_carry(
        lambda avals: trace_flat(fun, [*avals, *slices], debug=debug),
        [aval_of(x) for x in init],
        lambda i: f"scan: carry {i}",
    )
    return bind_scan(jaxpr, carry, init, xs, length=length, reverse=reverse, unroll=unroll)


def bind_scan(
    jaxpr: Jaxpr,
    carry: Sequence[ShapedArray],
    init: Sequence[Any],
    xs: Sequence[Any],
    consts: Sequence[Any] = (),
    *,
    length: int,
    reverse: bool,
    unroll: int,
) -> list[Any]:
    """Bind `scan_p` for a body `(*consts, *carry, *slices)`; it may hold more constants inside."""
    return scan_p.bind(  # type: ignore[no-any-return]  # Any by nature
        *jaxpr.consts,
        *consts,
        *[conform(x, aval) for x, aval in zip(init, carry, strict=True)],
        *xs,
        jaxpr=jaxpr.lifted(),
        length=length,
        reverse=reverse,
        num_consts=len(jaxpr.consts) + len(consts),
        num_carry=len(carry),
        unroll=unroll,
    )


def _leaf_name(what: str, tree: Any, index: int) -> str:
    path = tree_leaves_with_path(tree)[index][0]
    return f"{what}{keystr(path)}"


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Run `f` over the leading dimension of arrays, carrying a state along.

    Args:
        f: `f(carry, x) -> (carry, y)`.
        init: Initial carry: a tree of arrays and numbers. A number takes the dtype that `f` gives
            it.
        xs: Tree of arrays with a common leading dimension; `None` for none.
        length: Number of steps; may be left out where `xs` tells it.
        reverse: Whether to go from the last step to the first (outputs keep their places).
        unroll: Steps per iteration of the compiled loop (`True`: all).

    Returns:
        The final carry, and the tree of stacked outputs.

    Raises:
        ShapeError: Leading dimensions differ, or a carry changes its shape.
        DTypeError: A carry changes its dtype.
        TreeStructureError: The carry comes out as another tree than it went in.

    Example:
        >>> import numpy as np
        >>> total, sums = scan(lambda c, x: (c + x, c + x), 0, np.arange(4))
        >>> int(total), sums.tolist()
        (6, [0, 1, 3, 6])
    """
    init_leaves, init_tree = _operands(init)
    xs_leaves, _ = tree_flatten(xs)
    steps = _scan_length(xs, xs_leaves, length)
    slices = tuple(
        [a.update(shape=a.shape[1:], weak_type=False) for a in [aval_of(x) for x in xs_leaves]]
    )
    in_tree = tree_structure(((init, xs), {}))
    debug = debug_info(f, in_tree)
    out_tree: PyTreeDef | None = None

    def trace_body(carry: list[ShapedArray]) -> Jaxpr:
        nonlocal out_tree
        traced = trace_cached(f, in_tree, (*carry, *slices), key="scan", debug=debug)
        out_tree = traced.out_tree
        _check_scan_result(debug.name, out_tree, init_tree)
        return traced.jaxpr

    jaxpr, carry = settle_carry(
        trace_body,
        [aval_of(x) for x in init_leaves],
        lambda i: f"scan: {_leaf_name('carry', init, i)} of {debug.name}",
    )
    ys = jaxpr.out_avals[len(carry) :]
    outs = bind_scan(
        conform_results(jaxpr, [*carry, *[settled_aval(y) for y in ys]]),
        carry,
        init_leaves,
        xs_leaves,
        length=steps,
        reverse=bool(reverse),
        unroll=max(steps, 1) if unroll is True else max(int(unroll), 1),
    )
    assert out_tree is not None
    result: tuple[Any, Any] = tree_unflatten(out_tree, [settled(o) for o in outs])
    return result


def _operands(tree: Any) -> tuple[list[Any], PyTreeDef]:
    """Leaves of the arguments of a function that is staged; NumPy's doubles count as numbers."""
    leaves, structure = tree_flatten(tree)
    return [python_number(x) for x in leaves], structure


def _scan_length(xs: Any, leaves: Sequence[Any], length: int | None) -> int:
    if length is not None:
        length = operator.index(length)
        if length < 0:
            raise ShapeError(f"scan: length={length} is negative")
    sizes = {}
    for path, leaf in tree_leaves_with_path(xs):
        aval = aval_of(leaf)
        if not aval.shape:
            raise ShapeError(
                f"scan: xs{keystr(path)} is 0-d ({aval}); it has no leading dimension to scan over"
            )
        sizes[f"xs{keystr(path)}"] = aval.shape[0]
    if length is not None:
        sizes["length"] = length
    if not sizes:
        raise ShapeError("scan: neither xs nor length says how many steps to take; pass length=")
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{k}: {v}" for k, v in sizes.items())
        raise ShapeError(f"scan: leading dimensions differ ({listed}); make them equal")
    return next(iter(sizes.values()))


def _check_scan_result(name: str, out_tree: PyTreeDef, init_tree: PyTreeDef) -> None:
    children = out_tree.children()
    if out_tree.type is not tuple or len(children) != 2:
        raise TreeStructureError(
            f"scan: {name} must return a pair (carry, y), it returned {out_tree}; "
            "return (carry, None) where there is no output"
        )
    if children[0] != init_tree:
        raise TreeStructureError(
            f"scan: the carry of {name} goes in as {init_tree} and comes out as {children[0]}; "
            "return it as it came in"
        )


def map(  # the field's name
    f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None
) -> Any:
    """Apply a function to each slice of arrays along the leading dimension, one after the other.

    Args:
        f: Function of a slice.
        xs: Tree of arrays with a common leading dimension.
        batch_size: How many slices to work on at once, as `vmap` does: the loop takes as many
            steps fewer and as much more memory. The size of the dimension need not be a multiple.

    Returns:
        The tree of stacked results.

    Raises:
        ArgumentValueError: `batch_size` is no positive integer.
        ArgumentTypeError: There is a `batch_size`, and axonym-mapping is not installed.

    Example:
        >>> from axonym_core import lax
        >>> lax.map(lambda x: lax.mul(x, x), np.arange(5)).tolist()
        [0, 1, 4, 9, 16]
    """
    if batch_size is None:
        return scan(_MapBody(f), (), xs)[1]
    size = _static_int(batch_size)
    if size is None or isinstance(batch_size, bool) or size < 1:
        raise ArgumentValueError(
            f"map: batch_size={batch_size!r} is no number of slices; give a positive integer"
        )
    leaves, tree = tree_flatten(xs)
    length = _scan_length(xs, leaves, None)
    mapped = _vmap(f)
    if length <= size:
        return mapped(xs)
    steps = length // size

    def part(start: int, stop: int, shape: tuple[int, ...]) -> Any:
        parts = [slice_in_dim(as_array(x), start, stop) for x in leaves]
        shaped = [reshape(x, (*shape, *aval_of(x).shape[1:])) for x in parts]
        return tree_unflatten(tree, shaped)

    whole = scan(_MapBody(mapped), (), part(0, steps * size, (steps, size)))[1]
    out = tree_map(lambda y: reshape(y, (steps * size, *aval_of(y).shape[2:])), whole)
    if steps * size == length:
        return out
    rest = mapped(part(steps * size, length, (length - steps * size,)))
    return tree_map(lambda y, z: concatenate([y, z], 0), out, rest)


def _vmap(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function on batches; mapping lies above this package, and is imported when needed."""
    if _MAPPING not in sys.modules and find_spec(_MAPPING) is None:
        raise ArgumentTypeError(
            "map: batch_size needs vmap, of the package axonym-mapping, which is not installed "
            "(pip install axonym-mapping); leave batch_size out"
        )
    return import_module(_MAPPING).vmap(f)  # type: ignore[no-any-return]  # known by name only


class _MapBody:
    """`scan` body of `map`; compares as its function does, so that it is staged once."""

    def __init__(self, f: Callable[[Any], Any]) -> None:
        self.f = f
        self.__name__ = getattr(f, "__name__", "map")

    def __call__(self, carry: Any, x: Any) -> tuple[Any, Any]:
        return carry, self.f(x)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Repeat `body_fun` while `cond_fun` holds.

    Not differentiable in reverse mode, since the number of steps is not known when the memory for
    it is laid out; use `scan`, or `fori_loop` with Python integers as bounds.

    Args:
        cond_fun: `cond_fun(state)` gives a 0-d boolean.
        body_fun: `body_fun(state)` gives the next state.
        init_val: Initial state, a tree of arrays and numbers.

    Returns:
        The state for which `cond_fun` is false.

    Raises:
        TypeError: `cond_fun` does not give a 0-d boolean.
        TreeStructureError: The state comes out as another tree than it went in.

    Example:
        >>> int(while_loop(lambda n: n < 100, lambda n: n * 2, 3))
        192
    """
    leaves, tree = _operands(init_val)
    in_tree = tree_structure(((init_val,), {}))
    body_debug, cond_debug = debug_info(body_fun, in_tree), debug_info(cond_fun, in_tree)

    def trace_body(avals: list[ShapedArray]) -> Jaxpr:
        traced = trace_cached(body_fun, in_tree, tuple(avals), key="while body", debug=body_debug)
        if traced.out_tree != tree:
            raise TreeStructureError(
                f"while_loop: the state of {body_debug.name} goes in as {tree} and comes out as "
                f"{traced.out_tree}; return it as it came in"
            )
        return traced.jaxpr

    def trace_cond(avals: Sequence[ShapedArray]) -> Jaxpr:
        traced = trace_cached(cond_fun, in_tree, tuple(avals), key="while cond", debug=cond_debug)
        outs = traced.jaxpr.out_avals
        if len(outs) != 1 or outs[0].shape or outs[0].dtype != np.bool_:
            raise ArgumentTypeError(
                f"while_loop: {cond_debug.name} must return a 0-d boolean, it returned "
                f"{', '.join([str(o) for o in outs]) or 'nothing'}"
            )
        return traced.jaxpr

    def varying(jaxpr: Jaxpr) -> NamedEntries:
        # Where the condition varies over an axis, so does every part of the state.
        return trace_cond(jaxpr.in_avals).out_avals[0].named

    body, carry = settle_carry(
        trace_body,
        [aval_of(x) for x in leaves],
        lambda i: f"while_loop: {_leaf_name('state', init_val, i)} of {body_debug.name}",
        varying,
    )
    cond_jaxpr = trace_cond(carry)
    outs = bind_while(cond_jaxpr, body, carry, leaves)
    return tree_unflatten(tree, [settled(o) for o in outs])


def bind_while(
    cond_jaxpr: Jaxpr,
    body: Jaxpr,
    carry: Sequence[ShapedArray],
    init: Sequence[Any],
    for_cond: Sequence[Any] = (),
    for_body: Sequence[Any] = (),
) -> list[Any]:
    """Bind `while_p` for functions `(*consts, *state)`; they may hold more constants inside."""
    return while_p.bind(  # type: ignore[no-any-return]  # Any by nature
        *cond_jaxpr.consts,
        *for_cond,
        *body.consts,
        *for_body,
        *[conform(x, aval) for x, aval in zip(init, carry, strict=True)],
        cond_jaxpr=cond_jaxpr.lifted(),
        body_jaxpr=body.lifted(),
        cond_consts=len(cond_jaxpr.consts) + len(for_cond),
        body_consts=len(body.consts) + len(for_body),
    )


def _static_int(x: Any) -> int | None:
    if isinstance(x, int | np.integer) and not isinstance(x, bool):
        return int(x)
    if type(x) is ConcreteArray and x.ndim == 0 and x.dtype.kind in "iu":
        return int(x)
    return None


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Repeat `body_fun(i, state)` for `i` from `lower` up to, not including, `upper`.

    With bounds known when traced (Python integers) it is a `scan` and differentiable both ways,
    else a `while_loop`, differentiable in forward mode.

    Args:
        lower: First index, an integer.
        upper: End of the indices, an integer.
        body_fun: `body_fun(i, state)` gives the next state; `i` is 0-d int32 (or of the bounds'
            dtype).
        init_val: Initial state, a tree of arrays and numbers.

    Returns:
        The final state.

    Example:
        >>> int(fori_loop(1, 5, lambda i, product: product * i, 1))
        24
    """
    dtype = dtypes.result_type(*[b for b in (lower, upper)])
    if dtype.kind not in "iu":
        raise DTypeError(
            f"fori_loop: bounds must be integers, got lower of type {aval_of(lower)} and upper of "
            f"type {aval_of(upper)}"
        )
    start, stop = _static_int(lower), _static_int(upper)
    if start is not None and stop is not None:
        scan_body = _ForiBody(body_fun)
        first = scalar_of(start, dtype)
        (_, result), _ = scan(scan_body, (first, init_val), None, max(stop - start, 0))
        return result
    first, last = convert_element_type(lower, dtype), convert_element_type(upper, dtype)
    _, _, result = while_loop(
        lambda state: lt(state[0], state[1]),
        lambda state: (state[0] + 1, state[1], body_fun(state[0], state[2])),
        (first, last, init_val),
    )
    return result


class _ForiBody:
    """`scan` body of `fori_loop`."""

    def __init__(self, f: Callable[[Any, Any], Any]) -> None:
        self.f = f
        self.__name__ = getattr(f, "__name__", "fori_loop")

    def __call__(self, carry: tuple[Any, Any], x: None) -> tuple[Any, None]:
        i, state = carry
        return (i + 1, self.f(i, state)), None


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Apply one of several functions, chosen by an integer.

    Args:
        index: 0-d integer; clamped to the range of branches.
        branches: Functions of the operands that return trees of the same structure, shapes and
            dtypes (weak types and named axes are brought to a common type).
        *operands: Their arguments.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: The results of two branches differ in structure or type, the index is not a 0-d
            integer.

    Example:
        >>> int(switch(1, [lambda x: x, lambda x: x * 10], 4))
        40
    """
    if not branches:
        raise ArgumentValueError("switch: needs at least one branch")
    index_aval = aval_of(index)
    if index_aval.shape or index_aval.dtype.kind not in "iu":
        raise ArgumentTypeError(f"switch: index must be a 0-d integer, got {index_aval}")
    if len(branches) == 1:
        return tree_map(as_array, branches[0](*operands))
    index = convert_element_type(index, np.dtype(np.int32))
    index = clamp(np.int32(0), index, np.int32(len(branches) - 1))
    return _branch("switch", index, branches, operands)


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Apply `true_fun` or `false_fun`, by a condition.

    Both are staged; only the chosen one is run (both are under `vmap` with a mapped condition).

    Args:
        pred: 0-d boolean or number.
        true_fun: Applied where `pred` holds.
        false_fun: Applied where it does not.
        *operands: The functions' arguments.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: `pred` is not 0-d, or the results of the two differ in structure or type.

    Example:
        >>> float(cond(True, lambda x: x + 1, lambda x: x - 1, 3.0))
        4.0
    """
    aval = aval_of(pred)
    if aval.shape:
        raise ArgumentTypeError(
            f"cond: pred must be 0-d, got {aval}; use where or select for arrays"
        )
    functions: tuple[Any, ...] = (true_fun, false_fun)
    if not all(callable(f) for f in functions):
        raise ArgumentTypeError(
            "cond: true_fun and false_fun must be functions; operands come after them"
        )
    if aval.dtype != np.bool_:
        pred = ne(pred, aval.dtype.type(0))
    index = convert_element_type(pred, np.dtype(np.int32))
    return _branch("cond", index, (false_fun, true_fun), operands)


def _branch(
    name: str, index: Any, functions: Sequence[Callable[..., Any]], operands: tuple[Any, ...]
) -> Any:
    leaves, in_tree = _operands((operands, {}))
    avals = tuple([aval_of(x) for x in leaves])
    traced = [trace_cached(f, in_tree, avals, key="branch") for f in functions]
    first = traced[0]
    joined = list(first.jaxpr.out_avals)
    for i, other in enumerate(traced[1:], start=1):
        labels = ("false_fun", "true_fun") if name == "cond" else ("branches[0]", f"branches[{i}]")
        names = f"{labels[0]} ({first.jaxpr.name}) and {labels[1]} ({other.jaxpr.name})"
        if other.out_tree != first.out_tree:
            raise TreeStructureError(
                f"{name}: results of {names} differ in structure: {first.out_tree} and "
                f"{other.out_tree}; return the same containers from all branches"
            )
        for k, (a, b) in enumerate(zip(joined, other.jaxpr.out_avals, strict=True)):
            joined[k] = _join_branch(name, names, first.out_tree, k, a, b)
    joined = [settled_aval(a) for a in joined]
    programs = [conform_results(t.jaxpr, joined) for t in traced]
    return tree_unflatten(first.out_tree, bind_cond(index, programs, leaves))


def bind_cond(index: Any, programs: Sequence[Jaxpr], args: Sequence[Any]) -> list[Any]:
    """Bind `cond_p` for branches with results of the same types; they may hold constants."""
    consts = [c for p in programs for c in p.consts]
    return cond_p.bind(index, *consts, *args, branches=with_all_consts(programs))  # type: ignore[no-any-return]  # Any by nature


def with_all_consts(programs: Sequence[Jaxpr]) -> tuple[Jaxpr, ...]:
    """Make each branch a function of all branches' constants, then the operands."""
    avals = tuple([v.aval for p in programs for v in p.constvars])
    if not avals:
        return tuple(programs)
    branches = []
    position = 0
    for program in programs:
        make = partial(_with_leading, program, avals, position)
        branches.append(program.derived(("all constants", avals, position), make))
        position += len(program.constvars)
    return tuple(branches)


def _with_leading(program: Jaxpr, avals: Sequence[ShapedArray], position: int) -> Jaxpr:
    """A program with leading arguments, those at `position` being its constants."""
    leading = [Var(a) for a in avals]
    leading[position : position + len(program.constvars)] = program.constvars
    return Jaxpr(
        (*leading, *program.invars),
        program.outvars,
        program.eqns,
        debug=program.debug.with_leading(len(avals)),
    )


def _join_branch(
    name: str, names: str, tree: PyTreeDef, index: int, a: ShapedArray, b: ShapedArray
) -> ShapedArray:
    dtype, weak = join_types(a, b)
    compatible = (dtype == a.dtype or a.weak_type) and (dtype == b.dtype or b.weak_type)
    if a.shape != b.shape or not compatible:
        path = _leaf_name("result", tree_unflatten(tree, list(range(tree.num_leaves))), index)
        raise ArgumentTypeError(
            f"{name}: results of {names} differ in type at {path}: {a} and {b}; convert, reshape "
            "or broadcast one of them"
        )
    return ShapedArray(a.shape, dtype, weak, join_named(a.named, b.named))
