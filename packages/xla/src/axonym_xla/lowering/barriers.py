"""Optimization barriers for versions of XLA that drop them before they fuse.

A barrier makes XLA compute a value once and keep it. Without, it may compute it again in every
operation that reads it: slower where the value is long to compute, and wrong where it is compared
with its own maximum, for two computations may round it in two ways.

The compiler for the CPU in jaxlib 0.10 takes barriers out before it fuses, so they hold nothing.
What it never looks into is a call that must not be inlined. So there each barrier becomes such a
call of the identity, which costs a copy. (In later versions a barrier costs nothing.)
"""

from __future__ import annotations

import re
from typing import Final

_BARRIER: Final = re.compile(
    r"^(?P<results>%\S+) = stablehlo\.optimization_barrier (?P<operands>.+) : (?P<types>.+) "
    r"loc\(unknown\)$",
    re.MULTILINE,
)
_LOCATION: Final = " loc(unknown)"


def barriers_as_calls(text: str) -> str:
    """Write the barriers of a module as calls of the identity that the compiler keeps.

    Args:
        text: A StableHLO module as `lower_jaxpr` writes it.

    Example:
        >>> barriers_as_calls("module @f {}")
        'module @f {}'
    """
    if "optimization_barrier" not in text:
        return text
    functions: dict[str, str] = {}  # name by types

    def call(match: re.Match[str]) -> str:
        types = match["types"]
        # No function of the module begins with an underscore.
        name = functions.setdefault(types, f"_barrier{len(functions)}")
        kept = '{mhlo.frontend_attributes = {inlineable = "false"}}'
        return (
            f"{match['results']} = func.call @{name}({match['operands']}) {kept} : "
            f"({types}) -> ({types}){_LOCATION}"
        )

    head, body = text.split("\n", 1)
    body = _BARRIER.sub(call, body)
    return f"{head}\n{''.join([_identity(n, t) for t, n in functions.items()])}{body}"


def _identity(name: str, types: str) -> str:
    names = [f"%arg{i}" for i in range(types.count("tensor<"))]
    arguments = ", ".join(
        [f"{n}: {t}{_LOCATION}" for n, t in zip(names, types.split(", "), strict=True)]
    )
    return (
        f"func.func private @{name}({arguments}) -> ({types}) {{\n"
        f"return {', '.join(names)} : {types}{_LOCATION}\n}}{_LOCATION}\n"
    )
