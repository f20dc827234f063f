"""Running linear programs on values that vary over more named axes than they were staged for.

A program inside an equation was staged for the types of its operands, and a loop's carry has to
have one type. So calls are run through, and loops and branches are made anew by the functions of
`lax`, which find the types that carries and branches have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from axonym_core import lax
from axonym_core.primitives.calls import jit_p
from axonym_core.primitives.control import cond_p, scan_p, while_p
from axonym_core.programs import Jaxpr, JaxprEqn, Primitive, Var, interpret
from axonym_core.tracing import trace_flat
from axonym_core.types import aval_of

from .programs import runnable_params


def can_run(eqns: Sequence[JaxprEqn]) -> bool:
    """Whether all programs that the equations hold are ones of calls, loops or branches."""
    return all([not eqn.primitive.programs or eqn.primitive in _ANEW for eqn in eqns])


def run_equation(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
    """Value, or sequence of values, of an equation for operands of any named axes."""
    params = runnable_params(eqn)
    expand = eqn.primitive.expand
    if eqn.primitive.transient and expand is not None:  # into a program for the staged types
        avals = [x.aval if type(x) is Var else aval_of(x) for x in eqn.invars]
        program = trace_flat(partial(expand, **params), avals)
        return _run(program, *operands)
    anew = _ANEW.get(eqn.primitive)
    return (eqn.primitive.bind if anew is None else anew)(*operands, **params)


def _run(jaxpr: Jaxpr, *args: Any) -> tuple[Any, ...]:
    return tuple(interpret(jaxpr, args, run_equation))


def _jit(*args: Any, jaxpr: Jaxpr, **options: Any) -> tuple[Any, ...]:
    return _run(jaxpr, *args)


def _cond(index: Any, *args: Any, branches: Sequence[Jaxpr]) -> Any:
    return lax.switch(index, [partial(_run, branch) for branch in branches], *args)


def _scan(*args: Any, jaxpr: Jaxpr, num_consts: int, num_carry: int, **options: Any) -> Any:
    start = num_consts + num_carry

    def step(carry: Any, xs: Any) -> Any:
        outs = _run(jaxpr, *args[:num_consts], *carry, *xs)
        return outs[:num_carry], outs[num_carry:]

    carry, ys = lax.scan(step, args[num_consts:start], args[start:], **options)
    return (*carry, *ys)


def _while(
    *args: Any, cond_jaxpr: Jaxpr, body_jaxpr: Jaxpr, cond_consts: int, body_consts: int
) -> Any:
    start = cond_consts + body_consts
    return lax.while_loop(
        lambda state: _run(cond_jaxpr, *args[:cond_consts], *state)[0],
        lambda state: _run(body_jaxpr, *args[cond_consts:start], *state),
        args[start:],
    )


_ANEW: Final[dict[Primitive, Callable[..., Any]]] = {
    jit_p: _jit,
    cond_p: _cond,
    scan_p: _scan,
    while_p: _while,
}
