"""Control flow over a mapped axis.

A loop's carry is mapped if its start is or if the body makes it so. A condition that is mapped
turns a branch into a selection of the results of all branches, and a `while` into a loop that runs
until the last index is done, the finished ones standing still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.extend import (
    Takers,
    bind_cond,
    bind_scan,
    bind_while,
    chosen_along,
    counted_if,
    select_branch,
)
from axonym_core.primitives.control import cond_p, scan_p, while_p
from axonym_core.programs import Jaxpr, eval_jaxpr, require_none
from axonym_core.tracing import run_in, trace_flat
from axonym_core.types import ShapedArray, aval_of

from ..batching import BatchedProgram, BatchTracer, batch_program, map_flat
from ..rule_tables import (
    Dim,
    MappedAxis,
    move_dim,
    move_to_front,
    register_batching,
)


def _front(x: Any, dim: Dim, axis: MappedAxis, wanted: bool) -> Any:
    return move_to_front(x, dim, axis.size) if wanted else x


def _scan(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> tuple[Any, Any]:
    start = num_consts + num_carry
    num_ys = len(jaxpr.outvars) - num_carry
    consts, init, xs = args[:num_consts], args[num_consts:start], args[start:]
    carry = [d is not None for d in dims[num_consts:start]]
    # The scanned dimension stays in front, the mapped one comes second.
    x_mapped = [d is not None for d in dims[start:]]
    xs = [
        move_dim(x, d, 1, axis.size) if d is not None else x
        for x, d in zip(xs, dims[start:], strict=True)
    ]
    while True:
        in_dims = [
            *dims[:num_consts],
            *[0 if m else None for m in carry],
            *[0 if m else None for m in x_mapped],
        ]
        program = batch_program(
            jaxpr, axis, in_dims, forced=[*carry, *[False] * num_ys], to_front=True
        )
        grown = [m or d is not None for m, d in zip(carry, program.dims[:num_carry], strict=True)]
        if grown == carry:
            break
        carry = grown
    first = num_consts
    outs = bind_scan(
        program.jaxpr,
        program.jaxpr.in_avals[first : first + num_carry],
        [
            _front(x, d, axis, m)
            for x, d, m in zip(init, dims[num_consts:start], carry, strict=True)
        ],
        xs,
        consts,
        length=length,
        reverse=reverse,
        unroll=unroll,
    )
    out_dims: list[Dim] = [
        *[0 if m else None for m in carry],
        *[None if d is None else 1 for d in program.dims[num_carry:]],
    ]
    return outs, out_dims


register_batching(scan_p, _scan)


def _while(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    cond_jaxpr: Jaxpr,
    body_jaxpr: Jaxpr,
    cond_consts: int,
    body_consts: int,
) -> tuple[Any, Any]:
    first = cond_consts + body_consts
    init, init_dims = args[first:], dims[first:]
    carry = [d is not None for d in init_dims]
    while True:
        carry_dims: list[Dim] = [0 if m else None for m in carry]
        body = batch_program(
            body_jaxpr, axis, [*dims[cond_consts:first], *carry_dims], forced=carry, to_front=True
        )
        condition = batch_program(cond_jaxpr, axis, [*dims[:cond_consts], *carry_dims])
        mapped_condition = condition.dims[0] is not None
        grown = [
            m or d is not None or mapped_condition for m, d in zip(carry, body.dims, strict=True)
        ]
        if grown == carry:
            break
        carry = grown
    start = [_front(x, d, axis, m) for x, d, m in zip(init, init_dims, carry, strict=True)]
    for_cond, for_body = args[:cond_consts], args[cond_consts:first]
    avals = body.jaxpr.in_avals[body_consts:]
    if not mapped_condition:
        outs = bind_while(condition.jaxpr, body.jaxpr, avals, start, for_cond, for_body)
        return outs, carry_dims
    require_none(
        cond_jaxpr.effects | body_jaxpr.effects,
        "repeating a while_loop until the last index is done, since its condition is mapped,",
        "take it out of the loop, or leave the condition unmapped",
    )
    any_left, step = _until_all_done(condition, body, cond_consts, body_consts)
    outs = bind_while(any_left, step, avals, start, for_cond, [*for_cond, *for_body])
    return outs, carry_dims


def _until_all_done(
    condition: BatchedProgram, body: BatchedProgram, cond_consts: int, body_consts: int
) -> tuple[Jaxpr, Jaxpr]:
    """Condition "some index is not done", and a step that leaves finished indices as they are."""

    def any_left(*args: Any) -> list[Any]:
        (pending,) = eval_jaxpr(condition.jaxpr, *args)
        return [lax.reduce_or(pending, (0,))]

    def step(*args: Any) -> list[Any]:
        for_cond, for_body = args[:cond_consts], args[cond_consts : cond_consts + body_consts]
        state = args[cond_consts + body_consts :]
        (pending,) = eval_jaxpr(condition.jaxpr, *for_cond, *state)
        new = eval_jaxpr(body.jaxpr, *for_body, *state)
        return [_select_lanes(pending, n, o) for n, o in zip(new, state, strict=True)]

    state_avals = body.jaxpr.in_avals[body_consts:]
    cond_avals = condition.jaxpr.in_avals[:cond_consts]
    return body.jaxpr.derived(
        ("until all done", condition.jaxpr, cond_consts, body_consts),
        lambda: (
            trace_flat(any_left, condition.jaxpr.in_avals, debug=condition.jaxpr.debug),
            trace_flat(
                step,
                [*cond_avals, *body.jaxpr.in_avals[:body_consts], *state_avals],
                debug=body.jaxpr.debug,
            ),
        ),
    )


def _select_lanes(which: Any, chosen: Any, otherwise: Any) -> Any:
    """`chosen` at the indices (dimension 0) where `which` holds, else `otherwise`."""
    shape = aval_of(chosen).shape
    if len(shape) > 1:
        which = lax.broadcast_in_dim(which, shape, (0,))
    return lax.select_n(which, otherwise, chosen)


register_batching(while_p, _while)


def _cond(
    axis: MappedAxis,
    args: Sequence[Any],
    dims: Sequence[Dim],
    *,
    branches: tuple[Jaxpr, ...],
) -> tuple[Any, Any]:
    index, index_dim = args[0], dims[0]
    operands, operand_dims = args[1:], dims[1:]
    if index_dim is None:
        mapped = [False] * len(branches[0].outvars)
        for branch in branches:
            found = batch_program(branch, axis, operand_dims, to_front=True).dims
            mapped = [m or d is not None for m, d in zip(mapped, found, strict=True)]
        programs = [
            batch_program(branch, axis, operand_dims, forced=mapped, to_front=True).jaxpr
            for branch in branches
        ]
        return bind_cond(index, programs, operands), [0 if m else None for m in mapped]
    types = branches[0].in_avals
    varying = [True, *[_varies(axis, d, a) for d, a in zip(operand_dims, types, strict=True)]]
    guard_for = _lane_guard if axis.size else None

    def selection(which: Any, *values: Any) -> list[Any]:
        return select_branch(which, branches, values, guard_for)

    results = map_flat(selection, axis, args, dims, varying)
    return [out for out, _, _ in results], [dim for _, dim, _ in results]


def _varies(axis: MappedAxis, dim: Dim, aval: ShapedArray) -> bool:
    return dim is not None or axis.name in aval.names


def _lane_guard(here: BatchTracer) -> Callable[[Any], Any]:
    """As `axonym_core.lax.mapped_branches.guard`, where the mapped axis is a dimension."""
    trace = here.owner
    takers = run_in(trace.parent, _Takers, trace.axis, here.val)

    def guard(x: Any) -> Any:
        val, dim, varies = trace.split(x)
        val, dim = run_in(trace.parent, takers.operand, val, dim)
        return trace.tracer(val, dim) if varies else val

    return guard


class _Takers:
    """The indices of a mapped axis that take a branch; see `axonym_core.lax.mapped_branches`.

    Args:
        axis: The axis.
        chosen: Booleans along dimension 0: whether the index takes the branch.
    """

    def __init__(self, axis: MappedAxis, chosen: Any) -> None:
        self.axis = axis
        self.chosen = chosen
        self.first = lax.argmax(chosen, 0, np.int32)
        self.ever = lax.reduce_or(chosen, (0,))
        # The condition may vary over axes of enclosing maps too.
        self.outside = Takers(self.ever) if aval_of(chosen).named else None

    def operand(self, x: Any, dim: Dim) -> tuple[Any, Dim]:
        """An operand of the branch, fit to be used at all indices."""
        if dim is None:
            if self.outside is not None:
                return self.outside.operand(x), None
            return counted_if(self.ever, x), None
        one = lax.dynamic_index_in_dim(x, self.first, dim, keepdims=False)
        if self.outside is not None:
            one = self.outside.value_at_one(one)
        x = move_to_front(x, dim, self.axis.size)
        shape = aval_of(x).shape
        chosen = chosen_along(aval_of(x), self.chosen)
        if len(shape) > 1:
            chosen = lax.broadcast_in_dim(chosen, shape, (0,))
        one = lax.broadcast(lax.stop_gradient(one), shape[:1])
        return lax.select(chosen, x, one), 0


register_batching(cond_p, _cond)
