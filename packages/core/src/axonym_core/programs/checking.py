"""The executable specification of well-formed jaxprs.

`AXONYM_CHECK=1` runs it on every jaxpr that is staged; the test suites switch it on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..errors import JaxprTypeError
from .jaxpr import Atom, Jaxpr, JaxprEqn, Literal, ProgramHolder, Var, programs_in
from .printing import format_equation

Where = Callable[[], str]


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Check that a jaxpr is well formed and well typed.

    Every variable is defined once and before its use, every equation's results have the types
    (shape, dtype, weakness and named axes) that its primitive's shape rule gives, and the jaxprs
    in its parameters are well formed too.

    Raises:
        JaxprTypeError: It is not; the message shows the equation.
    """
    jaxpr.derived("checked", lambda: _check(jaxpr))  # a program is immutable: once is enough


def _check(jaxpr: Jaxpr) -> bool:
    defined: set[Var] = set()

    def define(var: Var, where: Where) -> None:
        if var in defined:
            raise JaxprTypeError(f"variable {var} is defined twice, the second time {where()}")
        defined.add(var)

    def use(atom: Atom, where: Where) -> None:
        if not isinstance(atom, Literal) and atom not in defined:
            raise JaxprTypeError(f"variable {atom} is used before its definition, {where()}")

    if len(jaxpr.constvars) != len(jaxpr.consts):
        raise JaxprTypeError(
            f"{len(jaxpr.constvars)} constvars for {len(jaxpr.consts)} constants in {jaxpr.name}"
        )
    for var in (*jaxpr.constvars, *jaxpr.invars):
        define(var, lambda: "as an argument")
    for eqn in jaxpr.eqns:
        where = partial(_in_equation, eqn)
        for atom in eqn.invars:
            use(atom, where)
        _check_types(eqn, where)
        _check_programs(eqn, where)
        for inner in programs_in(eqn.primitive, eqn.params):
            check_jaxpr(inner)
        for var in eqn.outvars:
            define(var, where)
    for atom in jaxpr.outvars:
        use(atom, lambda: "as a result")
    return True


def _in_equation(eqn: JaxprEqn) -> str:
    return f"in `{format_equation(eqn)}`"


def _check_types(eqn: JaxprEqn, where: Where) -> None:
    expected = eqn.primitive.out_avals(tuple(a.aval for a in eqn.invars), eqn.params)
    if not eqn.primitive.multiple_results:
        expected = (expected,)
    actual = tuple(v.aval for v in eqn.outvars)
    if expected != actual:
        raise JaxprTypeError(
            f"results have types {actual}, the shape rule says {expected}, {where()}"
        )


def _check_programs(eqn: JaxprEqn, where: Where) -> None:
    """Every program in the parameters must be in one that the primitive declares."""
    held = [value for name, value in eqn.params.items() if name not in eqn.primitive.programs]
    for value in held:
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Jaxpr | ProgramHolder):
                raise JaxprTypeError(
                    f"a parameter of {eqn.primitive.name} holds a program, and its primitive does "
                    f"not say so (name the parameter in Primitive(programs=...)), {where()}"
                )
