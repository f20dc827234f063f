"""Derivatives of loops.

`scan` is split: the loop of primal values also outputs, step by step, what the loop of tangents
needs. A residual that is a constant of the loop, or is computed from constants alone, is not
stacked but computed once. The transposed loop runs in the other direction; cotangents of constants
accumulate in its carry, so they are summed where they arise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.extend import Zero, bind_scan, bind_while, conform_results, instantiate, scan_flat
from axonym_core.primitives.control import scan_p, while_p
from axonym_core.programs import (
    Atom,
    Jaxpr,
    Literal,
    Primitive,
    Var,
    effects_of,
    eval_jaxpr,
    independent_of,
    needed_equations,
    require_none,
    with_results,
)
from axonym_core.types import ShapedArray, aval_of

from ..errors import NotLinearError
from ..programs import (
    Mask,
    SplitProgram,
    jvp_program,
    split_program,
    tangent_aval,
    transpose_jaxpr,
)
from ..rule_tables import (
    Reading,
    is_linear,
    register_jvp,
    register_linearization,
    register_transpose,
)
from ..tape import TapeTrace, register_split, tape_rules, widen
from .calls import chosen, none, nonzero_mask, spread

# scan


def either(a: Mask, b: Mask) -> Mask:
    """Places that are in one of two masks."""
    return tuple([x or y for x, y in zip(a, b, strict=True)])


def _instantiated(tangents: Sequence[Any], mask: Mask, avals: Sequence[ShapedArray]) -> list[Any]:
    """Tangents at the places of a mask as arrays of the types that the loop carries."""
    return [
        widen(instantiate(t), aval.named)
        for t, m, aval in zip(tangents, mask, avals, strict=True)
        if m
    ]


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
    start = num_consts + num_carry
    nonzero = nonzero_mask(tangents)
    carry = nonzero[num_consts:start]
    num_ys = len(jaxpr.outvars) - num_carry
    while True:
        mask = (*nonzero[:num_consts], *carry, *nonzero[start:])
        program = jvp_program(jaxpr, mask, (*carry, *none(num_ys)))
        grown = either(carry, program.nonzero[:num_carry])
        if grown == carry:
            break
        carry = grown
    n = len(primals)
    t_args = _offsets(mask, (num_consts, start, n))
    num_t = sum(carry)
    # The derivative takes primals, then tangents; a loop wants constants, carry, slices.
    body = _rearranged(
        program.jaxpr,
        [
            *range(num_consts),
            *[n + i for i in t_args[0]],
            *range(num_consts, start),
            *[n + i for i in t_args[1]],
            *range(start, n),
            *[n + i for i in t_args[2]],
        ],
        [
            *range(num_carry),
            *range(num_carry + num_ys, num_carry + num_ys + num_t),
            *range(num_carry, num_carry + num_ys),
            *range(num_carry + num_ys + num_t, len(program.jaxpr.outvars)),
        ],
    )
    first = num_consts + len(t_args[0])
    carry_avals = body.in_avals[first : first + num_carry + num_t]
    outs = bind_scan(
        conform_results(body, carry_avals),
        carry_avals,
        [
            *primals[num_consts:start],
            *_instantiated(tangents[num_consts:start], carry, jaxpr.in_avals[num_consts:start]),
        ],
        [*primals[start:], *chosen(tangents[start:], nonzero[start:])],
        [*primals[:num_consts], *chosen(tangents[:num_consts], nonzero[:num_consts])],
        length=length,
        reverse=reverse,
        unroll=unroll,
    )
    finals, final_ts = outs[:num_carry], outs[num_carry : num_carry + num_t]
    ys = outs[num_carry + num_t : num_carry + num_t + num_ys]
    y_ts = outs[num_carry + num_t + num_ys :]
    avals = [aval_of(o) for o in (*finals, *ys)]
    present = (*carry, *program.nonzero[num_carry:])
    return [*finals, *ys], spread([*final_ts, *y_ts], present, avals)


def _offsets(mask: Mask, ends: Sequence[int]) -> list[list[int]]:
    """For each section of a mask, the places of its true entries among all true entries."""
    sections: list[list[int]] = []
    begin = count = 0
    for end in ends:
        here = sum(mask[begin:end])
        sections.append(list(range(count, count + here)))
        begin, count = end, count + here
    return sections


def _rearranged(jaxpr: Jaxpr, arguments: Sequence[int], results: Sequence[int]) -> Jaxpr:
    """The same program with arguments and results in another order (the same object each time)."""
    return jaxpr.derived(
        ("rearranged", tuple(arguments), tuple(results)),
        lambda: with_results(
            jaxpr, [jaxpr.outvars[i] for i in results], [jaxpr.invars[i] for i in arguments]
        ),
    )


def _split_body(
    jaxpr: Jaxpr, linear: Mask, num_consts: int, num_carry: int, *, differentiate: bool
) -> tuple[SplitProgram, Mask]:
    """Split a loop's body; a carry that becomes linear in one step is linear in all."""
    start = num_consts + num_carry
    num_ys = len(jaxpr.outvars) - num_carry
    carry = linear[num_consts:start]
    while True:
        mask = (*linear[:num_consts], *carry, *linear[start:])
        split = split_program(jaxpr, mask, (*carry, *none(num_ys)), differentiate=differentiate)
        grown = either(carry, split.linear_outs[:num_carry])
        if grown == carry:
            return split, mask
        carry = grown


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
    start, end = num_consts + num_carry, len(args)
    linear = tuple([tape.is_own(x) for x in args]) if tangents is None else nonzero_mask(tangents)
    split, mask = _split_body(
        jaxpr, linear, num_consts, num_carry, differentiate=tangents is not None
    )
    known = none(end) if tangents is not None else mask

    def sections(values: Sequence[Any], keep: Mask) -> tuple[list[Any], list[Any], list[Any]]:
        return (
            chosen(values[:num_consts], keep[:num_consts]),
            chosen(values[num_consts:start], keep[num_consts:start]),
            chosen(values[start:], keep[start:]),
        )

    consts, init, xs = sections(args, tuple([not k for k in known]))
    consts = [*split.primal.consts, *consts]
    primal = split.primal.lifted()
    num_fixed, num_known_carry = len(consts), len(init)
    shift = len(split.primal.consts)

    # What the linear loop needs: constants and values computed from them are the same in all steps,
    # scanned inputs are there, the rest is returned by each step.
    residuals = [
        *[primal.invars[shift + i] for i in split.forwarded],
        *primal.outvars[split.known_outs :],
    ]
    fixed = _invariant(primal, num_fixed)
    scanned = dict(zip(primal.invars[num_fixed + num_known_carry :], xs, strict=True))
    stacked = [
        v
        for v in dict.fromkeys(residuals)
        if type(v) is Var and v not in fixed and v not in scanned
    ]
    body = _with_step_results(primal, split.known_outs, stacked)
    outs = bind_scan(
        body,
        primal.in_avals[num_fixed : num_fixed + num_known_carry],
        init,
        xs,
        consts,
        **loop,
    )
    steps: dict[Any, Any] = {**scanned, **dict(zip(stacked, outs[split.known_outs :], strict=True))}
    once_vars = [v for v in dict.fromkeys(residuals) if type(v) is Var and v in fixed]
    once = dict(
        zip(once_vars, eval_jaxpr(_hoisted(primal, num_fixed, once_vars), *consts), strict=True)
    )
    per_step = [i for i, v in enumerate(residuals) if v in steps]
    invariant = [i for i, v in enumerate(residuals) if v not in steps]

    # The linear loop.
    program = split.linear
    r = len(residuals)
    t_args = [[r + i for i in part] for part in _offsets(mask, (num_consts, start, end))]
    linear_body = _rearranged(
        program,
        [*invariant, *t_args[0], *t_args[1], *per_step, *t_args[2]],
        range(len(program.outvars)),
    )
    first = len(invariant) + len(t_args[0])
    carry_avals = linear_body.in_avals[first : first + len(t_args[1])]
    linear_body = conform_results(linear_body, carry_avals)

    def once_value(residual: Atom) -> Any:
        return residual.val if isinstance(residual, Literal) else once[residual]

    t_consts, t_init, t_xs = sections(args if tangents is None else tangents, mask)
    linear_outs = tape.record(
        scan_p,
        (
            *linear_body.consts,
            *[once_value(residuals[i]) for i in invariant],
            *t_consts,
            *[widen(instantiate(t), a.named) for t, a in zip(t_init, carry_avals, strict=True)],
            *[steps[residuals[i]] for i in per_step],
            *t_xs,
        ),
        {
            "jaxpr": linear_body.lifted(),
            "length": loop["length"],
            "reverse": loop["reverse"],
            "num_consts": len(linear_body.consts) + first,
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
    start = num_consts + num_carry
    # A carry of a linear loop is linear, also where it starts with a known value.
    linear = (
        *[is_linear(x) for x in operands[:num_consts]],
        *(True,) * num_carry,
        *[is_linear(x) for x in operands[start:]],
    )
    const_linear, x_linear = linear[:num_consts], linear[start:]
    known_consts = [None if is_linear(x) else x for x in operands[:num_consts]]
    known_xs = [x for x in operands[start:] if not is_linear(x)]
    y_present = nonzero_mask(cts[num_carry:])
    const_avals = chosen(jaxpr.in_avals[:num_consts], const_linear)
    accumulators = [instantiate(Zero(tangent_aval(a))) for a in const_avals]
    step_cts = [c for c in cts[num_carry:] if type(c) is not Zero]

    def body(*args: Any) -> list[Any]:
        carry_cts, sums = args[:num_carry], args[num_carry : num_carry + len(accumulators)]
        slices = iter(args[num_carry + len(accumulators) :])
        xs = [None if m else next(slices) for m in x_linear]
        y_cts = [
            next(slices) if here else Zero(aval)
            for here, aval in zip(y_present, jaxpr.out_avals[num_carry:], strict=True)
        ]
        found = transpose_jaxpr(
            jaxpr,
            linear,
            [*known_consts, *[None] * num_carry, *xs],
            [*carry_cts, *y_cts],
            reading,
        )
        k = len(accumulators)
        return [
            *[instantiate(c) for c in found[k : k + num_carry]],
            *[
                s if type(c) is Zero else lax.add(s, c)
                for s, c in zip(sums, found[:k], strict=True)
            ],
            *[instantiate(c) for c in found[k + num_carry :]],
        ]

    outs = scan_flat(
        body,
        [*[instantiate(c) for c in cts[:num_carry]], *accumulators],
        [*known_xs, *step_cts],
        length=length,
        reverse=not reverse,
        unroll=unroll,
        debug=jaxpr.debug,
    )
    carry_cts = outs[:num_carry]
    sums = iter(outs[num_carry : num_carry + len(accumulators)])
    x_cts = iter(outs[num_carry + len(accumulators) :])
    return [
        *[next(sums) if m else None for m in const_linear],
        *carry_cts,
        *[next(x_cts) if m else None for m in x_linear],
    ]


register_jvp(scan_p, _scan_jvp)
register_transpose(scan_p, _scan_transpose, sums_named_axes=True)
register_split(scan_p, _split_scan)


# while


def _while_jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    cond_jaxpr: Jaxpr,
    body_jaxpr: Jaxpr,
    cond_consts: int,
    body_consts: int,
) -> tuple[Any, Any]:
    first = cond_consts + body_consts
    for_cond, for_body, init = primals[:cond_consts], primals[cond_consts:first], primals[first:]
    body_ts, init_ts = tangents[cond_consts:first], tangents[first:]
    n = len(init)
    consts_mask, carry = nonzero_mask(body_ts), nonzero_mask(init_ts)
    while True:
        mask = (*consts_mask, *carry)
        program = jvp_program(body_jaxpr, mask, carry)
        grown = either(carry, program.nonzero)
        if grown == carry:
            break
        carry = grown
    t_args = _offsets(mask, (body_consts, body_consts + n))
    m = body_consts + n
    body = _rearranged(
        program.jaxpr,
        [
            *range(body_consts),
            *[m + i for i in t_args[0]],
            *range(body_consts, m),
            *[m + i for i in t_args[1]],
        ],
        range(len(program.jaxpr.outvars)),
    )
    carry_avals = body.in_avals[body_consts + len(t_args[0]) :]
    cond_with_tangents = _ignoring(cond_jaxpr, carry_avals[n:])
    outs = bind_while(
        cond_with_tangents,
        conform_results(body, carry_avals),
        carry_avals,
        [*init, *_instantiated(init_ts, carry, body_jaxpr.in_avals[body_consts:])],
        for_cond,
        [*for_body, *chosen(body_ts, consts_mask)],
    )
    avals = [aval_of(o) for o in outs[:n]]
    return outs[:n], spread(outs[n:], carry, avals)


def _ignoring(jaxpr: Jaxpr, more: Sequence[ShapedArray]) -> Jaxpr:
    """The program with further arguments that it does not use."""
    return jaxpr.derived(
        ("ignoring", tuple(more)),
        lambda: jaxpr.replace(invars=(*jaxpr.invars, *[Var(a) for a in more])),
    )


def _while_linearize(
    tape: TapeTrace, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    # The tangents of all steps cannot be separated from the primal values without storing every
    # step; the linear map therefore runs the loop again, with tangents.
    require_none(
        effects_of(while_p, params),
        "linearizing a while_loop, which runs it again with tangents,",
        "use forward mode (jvp), or scan",
    )
    outs = while_p.bind(*primals, **params)
    mask = nonzero_mask(tangents)
    in_avals = tuple([tangent_aval(aval_of(p)) for p in primals])
    avals = [aval_of(o) for o in outs]
    present = _while_tangents(mask, params)
    linear_outs = tape.record(
        while_tangents_p,
        (*primals, *chosen(tangents, mask)),
        {
            "mask": mask,
            "in_avals": in_avals,
            "out_avals": tuple([tangent_aval(a) for a in chosen(avals, present)]),
            "loop": tuple(params.items()),
        },
    )
    return outs, spread(linear_outs, present, avals)


def _while_tangents(mask: Mask, params: Mapping[str, Any]) -> Mask:
    """Which parts of a loop's state have tangents."""
    cond_consts, body_consts = params["cond_consts"], params["body_consts"]
    consts_mask, carry = (
        mask[cond_consts : cond_consts + body_consts],
        mask[cond_consts + body_consts :],
    )
    while True:
        program = jvp_program(params["body_jaxpr"], (*consts_mask, *carry), carry)
        grown = either(carry, program.nonzero)
        if grown == carry:
            return carry
        carry = grown


def _expand_while_tangents(
    *args: Any, mask: Mask, in_avals: Any, out_avals: Any, loop: tuple[tuple[str, Any], ...]
) -> list[Any]:
    primals = args[: len(mask)]
    tangents = spread(args[len(mask) :], mask, in_avals)
    _, out_tangents = _while_jvp(primals, tangents, **dict(loop))
    return [t for t in out_tangents if type(t) is not Zero]


while_tangents_p = Primitive(
    "while_loop_tangents",
    lambda *avals, mask, in_avals, out_avals, loop: out_avals,
    multiple_results=True,
    own_axes=True,
    expand=_expand_while_tangents,
    transient=True,
    absent={
        "evaluation": "expanded into the loop with tangents",
        "jvp": "expanded",
        "batching": "expanded",
        "lowering": "expanded",
        "transpose": "reverse mode cannot run a while_loop backwards, since the number of steps "
        "is not known; use scan, or fori_loop with Python integers as bounds",
    },
)


def _while_on_tape(tape: TapeTrace, args: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
    raise NotLinearError(
        "a while_loop cannot be transposed, since the number of steps is not known; use scan, or "
        "fori_loop with Python integers as bounds"
    )


register_jvp(while_p, _while_jvp)
register_linearization(while_p, _while_linearize)
tape_rules[while_p] = _while_on_tape
