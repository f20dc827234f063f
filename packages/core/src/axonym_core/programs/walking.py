"""Walking jaxprs: the loops over equations that interpreters and analyses stand on.

Which programs an equation holds is asked of its primitive (`programs_in`, `map_programs`, in
`jaxpr`). Everything here respects effects: an equation that has any is needed, whoever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import ArgumentTypeError
from .jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var, programs_in

Apply = Callable[[JaxprEqn, list[Any]], Any]


def bind_equation(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
    """Apply an equation's primitive in the current trace: one value, or a list of them."""
    return eqn.primitive.bind(*operands, **eqn.params)


def interpret(jaxpr: Jaxpr, args: Sequence[Any], apply: Apply = bind_equation) -> list[Any]:
    """Go through a program with values for its variables.

    Args:
        jaxpr: The program.
        args: One value for each of its `invars`.
        apply: `apply(eqn, operands)` gives the value of an equation's variable, or a sequence of
            values where the primitive has multiple results. By default it is bound in the current
            trace.

    Returns:
        The values of the results.

    Raises:
        TypeError: The number of arguments differs from that of the program.
    """
    if len(args) != len(jaxpr.invars):
        raise ArgumentTypeError(
            f"eval_jaxpr: {jaxpr.name} takes {len(jaxpr.invars)} arguments, got {len(args)}; "
            "pass the flat list of leaves"
        )
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, jaxpr.consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    for eqn in jaxpr.eqns:
        operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
        out = apply(eqn, operands)
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, out, strict=True))
        else:
            env[eqn.outvars[0]] = out
    return [a.val if type(a) is Literal else env[a] for a in jaxpr.outvars]


def needed_equations(
    eqns: Sequence[JaxprEqn],
    wanted: Iterable[Any],
    also: Callable[[JaxprEqn], Any] = lambda eqn: eqn.effects,
) -> tuple[list[JaxprEqn], set[Any]]:
    """What of a list of equations has to be done for some of its variables.

    Args:
        eqns: The equations, in order.
        wanted: The variables.
        also: Which equations are needed whoever reads them; those with effects, by default.

    Returns:
        The equations that are needed, in order, and a set of the variables (and literals) that are.
    """
    needed: set[Any] = set(wanted)
    kept = []
    for eqn in reversed(eqns):
        for var in eqn.outvars:
            if var in needed:
                break
        else:
            if not also(eqn):
                continue
        kept.append(eqn)
        needed.update(eqn.invars)
    kept.reverse()
    return kept, needed


def with_results(
    jaxpr: Jaxpr, outvars: Sequence[Atom], invars: Sequence[Var] | None = None
) -> Jaxpr:
    """A program for other variables of a program: only what they need is left of its equations."""
    eqns, needed = needed_equations(jaxpr.eqns, outvars)
    constants = [(v, c) for v, c in zip(jaxpr.constvars, jaxpr.consts, strict=True) if v in needed]
    return Jaxpr(
        jaxpr.invars if invars is None else invars,
        outvars,
        eqns,
        [v for v, _ in constants],
        [c for _, c in constants],
        debug=jaxpr.debug,
    )


def independent_of(jaxpr: Jaxpr, arguments: Iterable[Var]) -> frozenset[Any]:
    """Variables of a program that do not depend on the given arguments.

    What an equation with effects gives may differ each time, so it depends on everything.
    """
    changing: set[Any] = set(arguments)
    constant: set[Any] = {v for v in (*jaxpr.constvars, *jaxpr.invars) if v not in changing}
    for eqn in jaxpr.eqns:
        if changing.isdisjoint(eqn.invars) and not eqn.effects:
            constant.update(eqn.outvars)
        else:
            changing.update(eqn.outvars)
    return frozenset(constant)


def last_uses(jaxpr: Jaxpr) -> Mapping[Var, int]:
    """For each variable that equations read, the number of the last one; results have none."""
    found = {a: i for i, eqn in enumerate(jaxpr.eqns) for a in eqn.invars if type(a) is Var}
    for atom in jaxpr.outvars:
        if type(atom) is Var:
            found.pop(atom, None)
    return found


def equations(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """All equations of a program and of the programs inside, those of each program once.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax, make_jaxpr
        >>> program = make_jaxpr(lambda x: lax.cond(x > 0, lax.sin, lax.cos, x))(np.float32(1))
        >>> [eqn.primitive.name for eqn in equations(program)]
        ['gt', 'convert_element_type', 'cond', 'cos', 'sin']
    """
    programs = [jaxpr]
    known = {jaxpr}
    for program in programs:  # which grows on the way
        for eqn in program.eqns:
            yield eqn
            for inner in programs_in(eqn.primitive, eqn.params):
                if inner not in known:
                    known.add(inner)
                    programs.append(inner)
