"""Following zeros through a linear function, without computing with them.

A backward rule computes with all cotangents together. What one of them contributes is found by
running the rule with the others known to vanish: a product with such a zero is none of the result's
terms, and does not make it vary over the axes that its factors vary over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.extend import Zero, instantiate
from axonym_core.programs import Primitive, effects_of, eval_jaxpr, programs_in
from axonym_core.settings import context
from axonym_core.tracing import Trace, Tracer, run_in
from axonym_core.types import ShapedArray, aval_of


class ZeroTracer(Tracer):
    """A value that is known to vanish."""

    __slots__ = ("aval", "owner")

    owner: ZeroTrace

    def __init__(self, trace: ZeroTrace, aval: ShapedArray) -> None:
        self.owner = trace
        self.aval = aval


class ZeroTrace(Trace):
    """Hands to its parent what is not known to vanish."""

    __slots__ = ("parent",)

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent.axis_env)
        self.parent = parent

    def lift(self, x: Any) -> Any:
        """Tracer for a symbolic zero; other values pass."""
        return ZeroTracer(self, x.aval) if type(x) is Zero else x

    def lower(self, x: Any) -> Any:
        """Symbolic zero for a tracer; other values pass."""
        return Zero(x.aval) if self._vanishes(x) else x

    def _vanishes(self, x: Any) -> bool:
        return type(x) is ZeroTracer and x.owner is self

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Give zero where the operation is linear and what it is linear in vanishes."""
        zeros = [self._vanishes(x) for x in args]
        if any(zeros):
            if primitive.kind == "call":
                if primitive.expand is None:
                    (program,) = programs_in(primitive, params)
                    return eval_jaxpr(program, *args)
                outs = primitive.expand(*args, **params)
                if all([self._vanishes(o) for o in outs]):
                    return outs  # else its own derivative rule applies to the whole
            linear = [zero for i, zero in enumerate(zeros) if i in primitive.linear]
            if (
                linear
                and not effects_of(primitive, params)
                and (any(linear) if primitive.separately else all(linear))
            ):
                out = primitive.out_avals(tuple([aval_of(x) for x in args]), params)
                if primitive.multiple_results:
                    return [ZeroTracer(self, a) for a in out]
                return ZeroTracer(self, out)

        def below() -> Any:
            operands = [
                self._array(x, primitive) if zero else x
                for x, zero in zip(args, zeros, strict=True)
            ]
            return self.parent.process(primitive, operands, params)

        return run_in(self.parent, below)

    def _array(self, x: ZeroTracer, primitive: Primitive) -> Any:
        zero = instantiate(Zero(x.aval))
        # Programs want exact types.
        return lax.pbroadcast(zero, x.aval.named) if primitive.programs else zero


def with_zeros(fun: Callable[..., Sequence[Any]], values: Sequence[Any]) -> list[Any]:
    """Apply a flat function to values of which some are symbolic zeros, as results may be."""
    if not any(type(x) is Zero for x in values):
        return list(fun(*values))
    trace = ZeroTrace(context.trace)
    return [trace.lower(x) for x in run_in(trace, fun, *[trace.lift(x) for x in values])]
