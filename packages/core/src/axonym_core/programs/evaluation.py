"""Running a jaxpr: binding its equations one after the other in the current trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentTypeError
from .jaxpr import Atom, Jaxpr, Literal, Var


def eval_jaxpr(jaxpr: Jaxpr, *args: Any) -> list[Any]:
    """Evaluate a jaxpr in the current trace, so that it is evaluated, staged or transformed.

    Args:
        jaxpr: The program.
        *args: One value for each of its `invars`.

    Returns:
        The list of results.

    Raises:
        TypeError: The number of arguments differs from that of the program.

    Example:
        >>> from axonym_core import make_jaxpr, lax
        >>> jaxpr = make_jaxpr(lambda x: lax.mul(x, x))(3.0)
        >>> float(eval_jaxpr(jaxpr, 3.0)[0])
        9.0
    """
    if len(args) != len(jaxpr.invars):
        raise ArgumentTypeError(
            f"eval_jaxpr: {jaxpr.name} takes {len(jaxpr.invars)} arguments, got {len(args)}; "
            "pass the flat list of leaves"
        )
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, jaxpr.consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Atom) -> Any:
        return atom.val if type(atom) is Literal else env[atom]

    for eqn in jaxpr.eqns:
        out = eqn.primitive.bind(*[read(a) for a in eqn.invars], **eqn.params)
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, out, strict=True))
        else:
            env[eqn.outvars[0]] = out
    return [read(a) for a in jaxpr.outvars]


def lift_consts(jaxpr: Jaxpr) -> tuple[Jaxpr, Sequence[Any]]:
    """Turn a jaxpr's constants into leading arguments.

    Returns:
        The jaxpr without constants, and the values to pass first.
    """
    return jaxpr.lifted(), jaxpr.consts
