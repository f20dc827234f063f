"""The trace of forward mode, and of linearisation.

A `JvpTracer` holds a primal value of the parent trace and a tangent. With plain forward mode the
tangents live in the parent too. For linearisation they live on a tape whose parent is that trace:
the same JVP rules then compute primal values and record the linear map of tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from axonym_core.extend import Zero
from axonym_core.programs import Primitive, source_info
from axonym_core.settings import context
from axonym_core.tracing import Trace, Tracer
from axonym_core.types import ShapedArray, aval_of

from .errors import NotDifferentiableError
from .rule_tables import jvp_rules, linearize_rules
from .tape import TapeTrace, widen


class JvpTracer(Tracer):
    """A primal value with its tangent (which is not zero)."""

    __slots__ = ("aval", "owner", "primal", "tangent")

    owner: JvpTrace

    def __init__(self, trace: JvpTrace, primal: Any, tangent: Any) -> None:
        self.owner = trace
        self.primal = primal
        self.tangent = tangent
        self.aval: ShapedArray = aval_of(primal)

    @property
    def source(self) -> source_info.SourceInfo | None:
        """Where the value stands in the program, if its parts know."""
        return self.primal.source if isinstance(self.primal, Tracer) else None

    def provenance(self) -> str:
        """Say that it is being differentiated, and what is known of the value below."""
        below = self.primal.provenance() if isinstance(self.primal, Tracer) else ""
        return f"The value is being differentiated. {below}"

    def __repr__(self) -> str:
        return f"Traced<{self.aval}>with<jvp>"


class JvpTrace(Trace):
    """Computes primals and tangents with the JVP rules.

    Args:
        parent: Trace of the primal values.
        tape: Tape to record tangents on, for linearisation; None for forward mode.
    """

    __slots__ = ("parent", "rules", "tape")

    def __init__(self, parent: Trace, tape: TapeTrace | None = None) -> None:
        super().__init__(parent.axis_env)
        self.parent = parent
        self.tape = tape
        # Where rules are run.
        self.rules: Trace = parent if tape is None else tape

    def lift(self, primal: Any, tangent: Any) -> Any:
        """Tracer of a primal and its tangent; the primal itself where the tangent is zero."""
        if type(tangent) is Zero:
            return primal
        # The two vary over the same axes by type, whichever of them does so by itself.
        tangent = widen(tangent, aval_of(primal).named)
        return JvpTracer(self, widen(primal, aval_of(tangent).named), tangent)

    def split(self, x: Any) -> tuple[Any, Any]:
        """Primal and tangent of a value."""
        if type(x) is JvpTracer and x.owner is self:
            return x.primal, x.tangent
        return x, Zero(aval_of(x).to_tangent())

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Apply the JVP rule, or hand to the parent where every tangent is zero."""
        primals: list[Any] = []
        tangents: list[Any] = []
        nonzero = False
        for x in args:
            if type(x) is JvpTracer and x.owner is self:
                primals.append(x.primal)
                tangents.append(x.tangent)
                nonzero = True
            else:
                primals.append(x)
                tangents.append(None)
        if not nonzero:
            previous = context.trace
            context.trace = self.parent
            try:
                return self.parent.process(primitive, primals, params)
            finally:
                context.trace = previous
        for i, t in enumerate(tangents):
            if t is None:
                tangents[i] = Zero(aval_of(primals[i]).to_tangent())
        rule: Callable[..., Any] | None = None
        if self.tape is not None:
            linearize = linearize_rules.get(primitive)
            if linearize is not None:
                return self._linearize(linearize, primitive, primals, tangents, params)
        rule = jvp_rules.get(primitive)
        if rule is None:
            if primitive.expand is not None:
                return primitive.expand(*args, **params)
            raise NotDifferentiableError(
                f"primitive {primitive.name} has no derivative rule "
                f"({primitive.why_absent('jvp') or 'none is registered'}); register one with "
                "axonym_autodiff.extend.register_jvp, or use stop_gradient on its operands"
            )
        previous = context.trace
        context.trace = self.rules
        try:
            out, tangent = rule(primals, tangents, **params)
            if not primitive.multiple_results:
                if type(tangent) is Zero:
                    return out
                return JvpTracer(self, out, widen(tangent, aval_of(out).named))
            return self._wrap(out, tangent)
        finally:
            context.trace = previous

    def _wrap(self, outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [
            o if type(t) is Zero else JvpTracer(self, o, widen(t, aval_of(o).named))
            for o, t in zip(outs, tangents, strict=True)
        ]

    def _linearize(
        self,
        rule: Callable[..., Any],
        primitive: Primitive,
        primals: Sequence[Any],
        tangents: Sequence[Any],
        params: Mapping[str, Any],
    ) -> Any:
        previous = context.trace
        context.trace = self.rules
        try:
            outs, out_tangents = rule(self.tape, primals, tangents, **params)
            if not primitive.multiple_results:
                return self._wrap([outs], [out_tangents])[0]
            return self._wrap(outs, out_tangents)
        finally:
            context.trace = previous
