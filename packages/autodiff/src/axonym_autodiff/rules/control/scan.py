"""Derivatives of `scan`.

The loop is split: the loop of primal values also outputs, step by step, what the loop of tangents
needs. A residual that is a constant of the loop, or is computed from constants alone, is not
stacked but computed once. The transposed loop runs in the other direction; cotangents of constants
accumulate in its carry, so they are summed where they arise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.extend import (
    Zero,
    add_tangents,
    bind_scan,
    conform_results,
    instantiate,
    scan_flat,
)
from axonym_core.primitives.control import scan_p
from axonym_core.programs import (
    Atom,
    Jaxpr,
    Literal,
    Var,
    eval_jaxpr,
    independent_of,
    needed_equations,
    with_results,
)
from axonym_core.types import aval_of

from ...programs import (
    Mask,
    SplitProgram,
    jvp_program,
    split_program,
    tangent_aval,
    transpose_jaxpr,
)
from ...rule_tables import Reading, is_linear, register_jvp, register_transpose
from ...tape import TapeTrace, register_split, widen
from ..calls import chosen, none, nonzero_mask, spread
from .sections import Sections, arranged, either, instantiated, sections


def _scan_jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> tuple[Any, Any]:
    args = sections(primals, num_consts, num_carry)
    ts = sections(tangents, num_consts, num_carry)
    nonzero = Sections(*[nonzero_mask(part) for part in ts])
    num_ys = len(jaxpr.outvars) - num_carry
    mask = nonzero
    while True:
        program = jvp_program(jaxpr, mask.flat, (*mask.carry, *none(num_ys)))
        carry = either(tuple(mask.carry), program.nonzero[:num_carry])
        if carry == mask.carry:
            break
        mask = mask._replace(carry=carry)
    # The derivative takes primals, then tangents; a loop wants constants, carry, slices.
    count = len(primals)
    own = sections(program.jaxpr.invars[:count], num_consts, num_carry)
    own_ts = mask.dealt(program.jaxpr.invars[count:])
    outs, out_ts = _cut(program.jaxpr.outvars, len(jaxpr.outvars))
    finals, ys = _cut(outs, num_carry)
    final_ts, y_ts = _cut(out_ts, sum(carry))
    body = arranged(
        program.jaxpr,
        [*own.consts, *own_ts.consts, *own.carry, *own_ts.carry, *own.xs, *own_ts.xs],
        [*finals, *final_ts, *ys, *y_ts],
    )
    carry_avals = [v.aval for v in (*own.carry, *own_ts.carry)]
    given = ts.chosen(nonzero)
    init_ts = instantiated(ts.carry, carry, [v.aval for v in own.carry])
    results = bind_scan(
        conform_results(body, carry_avals),
        carry_avals,
        [*args.carry, *init_ts],
        [*args.xs, *given.xs],
        [*args.consts, *given.consts],
        length=length,
        reverse=reverse,
        unroll=unroll,
    )
    carried, stacked = _cut(results, len(carry_avals))
    finals, final_ts = _cut(carried, num_carry)
    ys, y_ts = _cut(stacked, num_ys)
    present = (*carry, *program.nonzero[num_carry:])
    avals = [aval_of(o) for o in (*finals, *ys)]
    return [*finals, *ys], spread([*final_ts, *y_ts], present, avals)


def _cut(values: Sequence[Any], count: int) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[:count], values[count:]


def _split_body(
    jaxpr: Jaxpr, linear: Sections, *, differentiate: bool
) -> tuple[SplitProgram, Sections]:
    """Split a loop's body; a carry that becomes linear in one step is linear in all."""
    num_carry = len(linear.carry)
    num_ys = len(jaxpr.outvars) - num_carry
    mask = linear
    while True:
        split = split_program(
            jaxpr, mask.flat, (*mask.carry, *none(num_ys)), differentiate=differentiate
        )
        carry = either(tuple(mask.carry), split.linear_outs[:num_carry])
        if carry == mask.carry:
            return split, mask
        mask = mask._replace(carry=carry)


def _invariant(jaxpr: Jaxpr, num_consts: int) -> frozenset[Any]:
    """Variables of a loop's body that depend on its constants alone."""
    return independent_of(jaxpr, jaxpr.invars[num_consts:])


def _hoisted(jaxpr: Jaxpr, num_consts: int, wanted: Sequence[Var]) -> Jaxpr:
    """The part of a body that computes `wanted` variables from the constants."""
    eqns, _ = needed_equations(jaxpr.eqns, wanted, also=lambda eqn: False)
    return Jaxpr(jaxpr.invars[:num_consts], wanted, eqns, debug=jaxpr.debug)


def _with_step_results(jaxpr: Jaxpr, count: int, more: Sequence[Any]) -> Jaxpr:
    """A body that returns its first `count` results and then other variables of it."""
    return jaxpr.derived(
        ("step results", count, tuple(more)),
        lambda: with_results(jaxpr, (*jaxpr.outvars[:count], *more)),
    )


def _split_scan(
    tape: TapeTrace,
    args: Sequence[Any],
    tangents: Sequence[Any] | None,
    **params: Any,
) -> tuple[list[Any], list[Any], Mask]:
    """Run the loop of known values and record the linear loop on the tape."""
    jaxpr: Jaxpr = params["jaxpr"]
    num_consts, num_carry = params["num_consts"], params["num_carry"]
    loop = {k: params[k] for k in ("length", "reverse", "unroll")}
    operands = sections(args, num_consts, num_carry)
    of_loop = operands if tangents is None else sections(tangents, num_consts, num_carry)
    linear = Sections(
        *[
            tuple([tape.is_own(x) for x in part]) if tangents is None else nonzero_mask(part)
            for part in of_loop
        ]
    )
    split, mask = _split_body(jaxpr, linear, differentiate=tangents is not None)
    known = Sections(*[tuple([tangents is not None or not m for m in part]) for part in mask])
    known_args = operands.chosen(known)
    consts = [*split.primal.consts, *known_args.consts]
    primal = split.primal.lifted()
    inside = sections(primal.invars, len(consts), len(known_args.carry))
    shift = len(split.primal.consts)

    # What the linear loop needs: constants and values computed from them are the same in all steps,
    # scanned inputs are there, the rest is returned by each step.
    residuals = [
        *[primal.invars[shift + i] for i in split.forwarded],
        *primal.outvars[split.known_outs :],
    ]
    fixed = _invariant(primal, len(consts))
    scanned = dict(zip(inside.xs, known_args.xs, strict=True))
    stacked = [
        v
        for v in dict.fromkeys(residuals)
        if type(v) is Var and v not in fixed and v not in scanned
    ]
    body = _with_step_results(primal, split.known_outs, stacked)
    outs = bind_scan(
        body,
        [v.aval for v in inside.carry],
        known_args.carry,
        known_args.xs,
        consts,
        **loop,
    )
    steps: dict[Any, Any] = {**scanned, **dict(zip(stacked, outs[split.known_outs :], strict=True))}
    once_vars = [v for v in dict.fromkeys(residuals) if type(v) is Var and v in fixed]
    once = dict(
        zip(once_vars, eval_jaxpr(_hoisted(primal, len(consts), once_vars), *consts), strict=True)
    )

    def once_value(residual: Atom) -> Any:
        return residual.val if isinstance(residual, Literal) else once[residual]

    # The linear loop.
    program = split.linear
    places = list(zip(residuals, program.invars, strict=False))
    invariant = [(once_value(v), var) for v, var in places if v not in steps]
    per_step = [(steps[v], var) for v, var in places if v in steps]
    own = mask.dealt(program.invars[len(residuals) :])
    fixed_vars = [*[var for _, var in invariant], *own.consts]
    linear_body = arranged(
        program,
        [*fixed_vars, *own.carry, *[var for _, var in per_step], *own.xs],
        program.outvars,
    )
    carry_avals = [v.aval for v in own.carry]
    linear_body = conform_results(linear_body, carry_avals)
    given = of_loop.chosen(mask)
    linear_outs = tape.record(
        scan_p,
        (
            *linear_body.consts,
            *[value for value, _ in invariant],
            *given.consts,
            *[
                widen(instantiate(t), a.named)
                for t, a in zip(given.carry, carry_avals, strict=True)
            ],
            *[value for value, _ in per_step],
            *given.xs,
        ),
        {
            "jaxpr": linear_body.lifted(),
            "length": loop["length"],
            "reverse": loop["reverse"],
            "num_consts": len(linear_body.consts) + len(fixed_vars),
            "num_carry": len(carry_avals),
            "unroll": loop["unroll"],
        },
    )
    return outs[: split.known_outs], linear_outs, split.linear_outs


def _scan_transpose(
    reading: Reading,
    cts: Sequence[Any],
    *operands: Any,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> list[Any]:
    of_loop = sections(operands, num_consts, num_carry)
    # A carry of a linear loop is linear, also where it starts with a known value.
    linear = Sections(*[tuple([is_linear(x) for x in part]) for part in of_loop])
    linear = linear._replace(carry=(True,) * num_carry)
    known_consts = [None if m else x for x, m in zip(of_loop.consts, linear.consts, strict=True)]
    known_xs = [x for x in of_loop.xs if not is_linear(x)]
    final_cts, y_cts = _cut(cts, num_carry)
    y_present, y_avals = nonzero_mask(y_cts), jaxpr.out_avals[num_carry:]
    const_avals = chosen(jaxpr.in_avals[:num_consts], tuple(linear.consts))
    accumulators = [instantiate(Zero(tangent_aval(a))) for a in const_avals]

    def body(*args: Any) -> list[Any]:
        carry_cts, others = _cut(args, num_carry)
        sums, slices = [iter(part) for part in _cut(others, len(accumulators))]
        xs = [None if m else next(slices) for m in linear.xs]
        step_cts = [
            next(slices) if here else Zero(aval)
            for here, aval in zip(y_present, y_avals, strict=True)
        ]
        found = linear.dealt(
            transpose_jaxpr(
                jaxpr,
                linear.flat,
                [*known_consts, *[None] * num_carry, *xs],
                [*carry_cts, *step_cts],
                reading,
            )
        )
        return [
            *[instantiate(c) for c in found.carry],
            *[add_tangents(s, c) for s, c in zip(sums, found.consts, strict=True)],
            *[instantiate(c) for c in found.xs],
        ]

    outs = scan_flat(
        body,
        [*[instantiate(c) for c in final_cts], *accumulators],
        [*known_xs, *chosen(y_cts, y_present)],
        length=length,
        reverse=not reverse,
        unroll=unroll,
        debug=jaxpr.debug,
    )
    carry_cts, rest = _cut(outs, num_carry)
    sums, x_cts = [iter(part) for part in _cut(rest, len(accumulators))]
    return [
        *[next(sums) if m else None for m in linear.consts],
        *carry_cts,
        *[next(x_cts) if m else None for m in linear.xs],
    ]


register_jvp(scan_p, _scan_jvp)
register_transpose(scan_p, _scan_transpose, sums_named_axes=True)
register_split(scan_p, _split_scan)
