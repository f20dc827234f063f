"""Printing jaxprs. Equations and jaxprs get their `repr` from here: they know nothing of text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from .effects import names_of
from .jaxpr import Atom, Jaxpr, JaxprEqn, Literal, ProgramHolder, Var


def _variable_names() -> Iterator[str]:
    for i in count():
        name = ""
        n = i
        while True:
            name = chr(ord("a") + n % 26) + name
            n = n // 26 - 1
            if n < 0:
                break
        yield name


class _Namer:
    def __init__(self) -> None:
        self.names: dict[Var, str] = {}
        self.fresh = _variable_names()

    def use(self, atom: Atom) -> str:
        if isinstance(atom, Literal):
            return repr(atom)
        if atom not in self.names:
            self.names[atom] = next(self.fresh)
        return self.names[atom]

    def define(self, var: Var) -> str:
        return f"{self.use(var)}:{var.aval.str_short()}"


def _parameter(value: Any, indent: str) -> str:
    if isinstance(value, ProgramHolder):
        value = value.jaxpr
    if isinstance(value, Jaxpr):
        return "\n" + _block(value, indent + "    ")
    if isinstance(value, tuple) and value and all(isinstance(v, Jaxpr) for v in value):
        return "".join("\n" + _block(v, indent + "    ") for v in value)
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value)


def _equation(eqn: JaxprEqn, namer: _Namer, indent: str) -> str:
    outs = " ".join(namer.define(v) for v in eqn.outvars)
    params = " ".join(f"{k}={_parameter(v, indent)}" for k, v in sorted(eqn.params.items()))
    operands = " ".join(namer.use(a) for a in eqn.invars)
    bracket = f"[{params}]" if params else ""
    return f"{indent}{outs} = {eqn.primitive.name}{bracket} {operands}".rstrip()


def _block(jaxpr: Jaxpr, indent: str) -> str:
    namer = _Namer()
    consts = " ".join(namer.define(v) for v in jaxpr.constvars)
    args = " ".join(namer.define(v) for v in jaxpr.invars)
    lines = [f"{indent}{{ lambda {consts}; {args}. let"]
    lines += [_equation(eqn, namer, indent + "    ") for eqn in jaxpr.eqns]
    outs = ", ".join(namer.use(a) for a in jaxpr.outvars)
    effects = f" with effects {names_of(jaxpr.effects)}" if jaxpr.effects else ""
    lines.append(f"{indent}  in ({outs}{',' if len(jaxpr.outvars) == 1 else ''}){effects} }}")
    return "\n".join(lines)


def format_jaxpr(jaxpr: Jaxpr) -> str:
    """Return the readable form of a jaxpr."""
    return _block(jaxpr, "")


def format_equation(eqn: JaxprEqn) -> str:
    """Return the readable form of one equation, with names of its own."""
    return _equation(eqn, _Namer(), "")


JaxprEqn.__repr__ = format_equation  # type: ignore[method-assign, assignment]  # set from above
Jaxpr.__repr__ = format_jaxpr  # type: ignore[method-assign, assignment]
