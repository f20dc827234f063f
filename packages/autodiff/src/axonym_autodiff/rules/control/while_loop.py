"""Derivatives of `while`, whose number of steps is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axonym_core.extend import Zero, bind_while, conform_results
from axonym_core.primitives.control import while_p
from axonym_core.programs import Jaxpr, Primitive, Var, effects_of, require_none
from axonym_core.types import ShapedArray, aval_of

from ...errors import NotLinearError
from ...programs import Mask, jvp_program, tangent_aval
from ...rule_tables import register_jvp, register_linearization
from ...tape import TapeTrace, tape_rules
from ..calls import chosen, nonzero_mask, spread
from .sections import Sections, arranged, either, instantiated, sections


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
    primal_vars = program.jaxpr.invars[: body_consts + n]
    own = sections(primal_vars, body_consts, n)
    own_ts = Sections(consts_mask, carry, ()).dealt(program.jaxpr.invars[body_consts + n :])
    body = arranged(
        program.jaxpr,
        [*own.consts, *own_ts.consts, *own.carry, *own_ts.carry],
        program.jaxpr.outvars,
    )
    carry_avals = [v.aval for v in (*own.carry, *own_ts.carry)]
    cond_with_tangents = _ignoring(cond_jaxpr, carry_avals[n:])
    outs = bind_while(
        cond_with_tangents,
        conform_results(body, carry_avals),
        carry_avals,
        [*init, *instantiated(init_ts, carry, [v.aval for v in own.carry])],
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
