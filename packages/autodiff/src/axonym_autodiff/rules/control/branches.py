"""Derivatives of `cond`.

Where all indices of the named axes take the same branch, a branch is split as a loop's body is: the
branch of primal values also returns what the branch of tangents needs, in places that all branches
share. Where the condition varies over a named axis it selects, index by index, from the results of
all branches, and is differentiated as such a selection: a sum over the axis, of cotangents as of
values, then counts what it must. Inside a branch it could not know who else is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core import lax
from axonym_core.extend import (
    Zero,
    bind_cond,
    conform_results,
    guard,
    instantiate,
    select_branch,
    with_all_consts,
)
from axonym_core.primitives.control import cond_p
from axonym_core.programs import Jaxpr, Var, eval_jaxpr
from axonym_core.tracing import run_and_end, trace_flat
from axonym_core.types import ShapedArray, aval_of, join_named

from ...errors import NotLinearError
from ...jvp_trace import JvpTrace
from ...programs import (
    Mask,
    SplitProgram,
    jvp_program,
    split_program,
    tangent_aval,
    transpose_program,
)
from ...rule_tables import (
    Reading,
    is_linear,
    register_jvp,
    register_transpose,
)
from ...tape import TapeTrace, register_split
from ..calls import chosen, ct_types, none, nonzero_mask, spread
from .sections import either


def _cond_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, branches: tuple[Jaxpr, ...]
) -> tuple[Any, Any]:
    index, *args = primals
    mask = nonzero_mask(tangents[1:])
    n = len(branches[0].outvars)
    present = none(n)
    for branch in branches:
        present = either(present, jvp_program(branch, mask, present).nonzero)
    programs = [jvp_program(branch, mask, present).jaxpr for branch in branches]
    outs = _bind_cond(index, programs, [*args, *chosen(tangents[1:], mask)])
    return outs[:n], spread(outs[n:], present, [aval_of(o) for o in outs[:n]])


def _made_alike(programs: Sequence[Jaxpr]) -> list[Jaxpr]:
    """Branches whose results vary over the same axes."""
    joined = list(programs[0].out_avals)
    for program in programs[1:]:
        joined = [
            a.update(named_shape=join_named(a.named, b.named))
            for a, b in zip(joined, program.out_avals, strict=True)
        ]
    return [conform_results(p, joined) for p in programs]


def _bind_cond(index: Any, programs: Sequence[Jaxpr], args: Sequence[Any]) -> list[Any]:
    """Bind `cond_p` for branches that may hold constants, with their results made alike."""
    return bind_cond(index, _made_alike(programs), args)


def _split_cond(
    tape: TapeTrace,
    operands: Sequence[Any],
    operand_tangents: Sequence[Any] | None,
    *,
    branches: tuple[Jaxpr, ...],
) -> tuple[list[Any], list[Any], Mask]:
    index, *args = operands
    if tape.is_own(index):
        raise NotLinearError("cond is not linear in its condition")
    if aval_of(index).named:
        return _split_selection(tape, operands, operand_tangents, branches)
    tangents = None if operand_tangents is None else operand_tangents[1:]
    n = len(branches[0].outvars)
    linear = tuple([tape.is_own(x) for x in args]) if tangents is None else nonzero_mask(tangents)
    differentiate = tangents is not None
    present = none(n)
    for branch in branches:
        split = split_program(branch, linear, present, differentiate=differentiate)
        present = either(present, split.linear_outs)
    splits = [
        split_program(branch, linear, present, differentiate=differentiate) for branch in branches
    ]
    known = [x for x, m in zip(args, linear, strict=True) if differentiate or not m]
    slots, places = _residual_slots(splits)
    primal = [_with_residual_slots(s, slots, p) for s, p in zip(splits, places, strict=True)]
    known_outs = splits[0].known_outs
    outs = _bind_cond(index, primal, known)
    residuals = outs[known_outs:]
    programs = _made_alike(
        [_taking_slots(s, slots, p) for s, p in zip(splits, places, strict=True)]
    )
    linear_args = chosen(args if tangents is None else tangents, linear)
    consts = [c for p in programs for c in p.consts]
    lifted = with_all_consts(programs)
    linear_outs = tape.record(
        cond_p,
        (index, *consts, *known, *residuals, *linear_args),
        {"branches": lifted},
    )
    return outs[:known_outs], linear_outs, present


def _residual_slots(
    splits: Sequence[SplitProgram],
) -> tuple[list[ShapedArray], list[list[int]]]:
    """Places for the computed residuals of all branches; branches share places of equal type."""
    slots: list[ShapedArray] = []
    places: list[list[int]] = []
    for split in splits:
        free = list(range(len(slots)))
        mine: list[int] = []
        for aval in split.primal.out_avals[split.known_outs :]:
            aval = aval.strip_weak_type()
            place = next((i for i in free if slots[i] is aval), None)
            if place is None:
                place = len(slots)
                slots.append(aval)
            else:
                free.remove(place)
            mine.append(place)
        places.append(mine)
    return slots, places


def _with_residual_slots(
    split: SplitProgram, slots: Sequence[ShapedArray], places: Sequence[int]
) -> Jaxpr:
    """The primal part of a branch, returning its residuals in their slots, zeros in others."""
    primal = split.primal

    def fun(*args: Any) -> list[Any]:
        outs = eval_jaxpr(primal, *args)
        filled = dict(zip(places, outs[split.known_outs :], strict=True))
        return [
            *outs[: split.known_outs],
            *[
                filled[i] if i in filled else lax.full(a.shape, 0, a.dtype)
                for i, a in enumerate(slots)
            ],
        ]

    return primal.derived(
        ("slots", tuple(slots), tuple(places)),
        lambda: trace_flat(fun, primal.in_avals, debug=primal.debug),
    )


def _taking_slots(
    split: SplitProgram, slots: Sequence[ShapedArray], places: Sequence[int]
) -> Jaxpr:
    """The linear part of a branch as a function of known arguments, all slots, linear arguments."""
    program = split.linear

    def make() -> Jaxpr:
        r = len(split.forwarded) + split.computed
        invars = [Var(a) for a in split.primal.in_avals]
        slot_vars = [Var(a) for a in slots]
        for position, i in enumerate(split.forwarded):
            invars[i] = program.invars[position]
        for position, place in enumerate(places):
            slot_vars[place] = program.invars[len(split.forwarded) + position]
        return program.replace(invars=(*invars, *slot_vars, *program.invars[r:]))

    return program.derived(("slots", tuple(slots), tuple(places)), make)


def _split_selection(
    tape: TapeTrace,
    args: Sequence[Any],
    tangents: Sequence[Any] | None,
    branches: tuple[Jaxpr, ...],
) -> tuple[list[Any], list[Any], Mask]:
    """A `cond` whose condition varies over a named axis, as a selection."""
    if tangents is None:
        selected = select_branch(args[0], branches, args[1:], None)
        own = tuple([tape.is_own(o) for o in selected])
        return chosen(selected, tuple([not m for m in own])), chosen(selected, own), own
    trace = JvpTrace(tape.parent, tape)
    ins = [trace.lift(x, t) for x, t in zip(args, tangents, strict=True)]
    selected = run_and_end((trace,), select_branch, ins[0], branches, ins[1:], guard)
    pairs = [trace.split(o) for o in selected]
    present = nonzero_mask([t for _, t in pairs])
    return [p for p, _ in pairs], chosen([t for _, t in pairs], present), present


def _cond_transpose(
    reading: Reading, cts: Sequence[Any], index: Any, *args: Any, branches: tuple[Jaxpr, ...]
) -> list[Any]:
    linear = tuple([is_linear(x) for x in args])
    known = [x for x in args if not is_linear(x)]
    given = [c for c in cts if type(c) is not Zero]
    types = ct_types(cts)
    programs = [transpose_program(b, linear, types, reading) for b in branches]
    present = none(sum(linear))
    for program in programs:
        present = either(present, program.nonzero)
    complete = [
        _all_results(p.jaxpr, p.nonzero, present, chosen(jaxpr.in_avals, linear))
        for p, jaxpr in zip(programs, branches, strict=True)
    ]
    outs = iter(_bind_cond(index, complete, [*known, *given]))
    found = iter([next(outs) if m else None for m in present])
    return [None, *[next(found) if m else None for m in linear]]


def _all_results(jaxpr: Jaxpr, nonzero: Mask, present: Mask, avals: Sequence[ShapedArray]) -> Jaxpr:
    """A transposed branch that returns zeros where it has no cotangent but another branch does."""
    if nonzero == present:
        return jaxpr

    def fun(*args: Any) -> list[Any]:
        outs = iter(eval_jaxpr(jaxpr, *args))
        values = [
            next(outs) if m else Zero(tangent_aval(a)) for m, a in zip(nonzero, avals, strict=True)
        ]
        return [instantiate(v) for v in chosen(values, present)]

    return jaxpr.derived(
        ("all results", nonzero, present),
        lambda: trace_flat(fun, jaxpr.in_avals, debug=jaxpr.debug),
    )


register_jvp(cond_p, _cond_jvp)
register_transpose(cond_p, _cond_transpose, sums_named_axes=True)
register_split(cond_p, _split_cond)
