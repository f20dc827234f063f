"""Lowering of calls: `jit`, and functions with derivative rules of their own.

A jaxpr that is called becomes one private function. Called from one place, the compiler inlines it;
called from several, it is kept, and compiled once. A function with its own derivatives has none
left to take by now: its body is written in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axonym_core.primitives import calls as p
from axonym_core.programs import Jaxpr
from axonym_core.types import ShapedArray

from .registry import LoweringContext, register_lowering


def _jit(
    ctx: LoweringContext,
    avals_in: Sequence[ShapedArray],
    avals_out: Sequence[ShapedArray],
    *operands: str,
    jaxpr: Jaxpr,
    **params: Any,
) -> list[str]:
    if not jaxpr.eqns:
        return ctx.inline(jaxpr, *operands)
    return ctx.call(jaxpr, *operands)


def _custom_call(
    ctx: LoweringContext,
    avals_in: Sequence[ShapedArray],
    avals_out: Sequence[ShapedArray],
    *operands: str,
    call: Any,
    **rules: Any,
) -> list[str]:
    return ctx.inline(call.jaxpr, *operands)


register_lowering(p.jit_p, _jit)
register_lowering(p.custom_jvp_call_p, _custom_call)
register_lowering(p.custom_vjp_call_p, _custom_call)
