"""NumPy evaluation of calls: running the jaxpr that they hold."""

from __future__ import annotations

from typing import Any

from ..primitives.calls import custom_jvp_call_p, custom_vjp_call_p, jit_p
from .backend import run_jaxpr
from .rules import register_evaluation

register_evaluation(jit_p, lambda *args, jaxpr, name: run_jaxpr(jaxpr, args))


def _custom_call(*args: Any, call: Any, **rules: Any) -> Any:
    return run_jaxpr(call.jaxpr, args)


register_evaluation(custom_jvp_call_p, _custom_call)
register_evaluation(custom_vjp_call_p, _custom_call)
