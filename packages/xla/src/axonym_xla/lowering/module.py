"""From a jaxpr to a StableHLO module.

The jaxpr becomes `main`; a jaxpr that is called from it becomes a private function, once, however
often it is called. Arrays that a program closed over become hidden leading arguments of `main`
(scalars are written into the text), so that equal programs have equal texts, whatever data they
hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from axonym_core.arrays import ConcreteArray
from axonym_core.errors import AxisNameError, BackendError
from axonym_core.programs import Jaxpr, JaxprEqn, Literal, names_of
from axonym_core.tracing import expanded
from axonym_core.types import ShapedArray

from .call_counts import CallCounts
from .fusion_cuts import Expression, FusionCuts, result_readers
from .registry import LoweringContext, lowering_rules

# Such a call is kept by the compiler: its body is compiled once for all calls.
_KEPT: Final = ' {mhlo.frontend_attributes = {inlineable = "false"}}'


class LoweredModule(NamedTuple):
    """A program as text, and the arrays to pass to it before its own arguments.

    Attributes:
        text: The StableHLO module.
        constants: Arrays for the hidden leading arguments of `main`.
    """

    text: str
    constants: tuple[Any, ...]


class _Function(NamedTuple):
    """A private function that has been written.

    `expressions` says how its results are computed, where the compiler inlines the call.
    """

    name: str
    captured: tuple[Any, ...]
    signature: str
    expressions: tuple[Expression | None, ...]


def lower_jaxpr(
    jaxpr: Jaxpr, *, donated: Sequence[bool] = (), platform: str = "cpu"
) -> LoweredModule:
    """Write a jaxpr as a StableHLO module.

    Args:
        jaxpr: The program. Its arguments all become arguments of `main`, used or not.
        donated: Which arguments' buffers may be reused for results.
        platform: The platform to compile for; it decides where fusions are cut.

    Returns:
        The text and the constants.

    Raises:
        AxisNameError: The program varies over named axes; these must be mapped first.
        BackendError: A primitive has no lowering rule.
    """
    _refuse_named_axes(jaxpr)
    _refuse_ordered_effects(jaxpr)
    jaxpr = expanded(jaxpr, ("xla", len(lowering_rules)), lambda p: p not in lowering_rules)
    return ModuleBuilder(CallCounts(jaxpr), platform).build(jaxpr, donated)


def _refuse_named_axes(jaxpr: Jaxpr) -> None:
    for i, aval in enumerate(jaxpr.in_avals):
        if aval.named:
            raise AxisNameError(
                f"{jaxpr.debug.argument(i)} of {jaxpr.name} is {aval}: it varies over a named "
                "axis, and only positional programs can be compiled; map the axis with vmap or xmap"
            )


def _refuse_ordered_effects(jaxpr: Jaxpr) -> None:
    ordered = [e for e in jaxpr.effects if e.ordered]
    if ordered:
        raise BackendError(
            f"the XLA backend keeps no order among operations with the effect "
            f"{names_of(ordered)} of {jaxpr.name}; use the NumPy backend (AXONYM_BACKEND=numpy)"
        )


@final
class ModuleBuilder:
    """Writes one module.

    Args:
        counts: How often each jaxpr in the program is called.
        platform: The platform to compile for.
    """

    __slots__ = ("_counts", "_cuts", "_functions", "_names", "_texts", "types")

    def __init__(self, counts: CallCounts, platform: str) -> None:
        self.types: dict[ShapedArray, str] = {}
        self._counts = counts
        self._cuts = FusionCuts(counts, platform)
        self._functions: dict[Jaxpr, _Function] = {}
        self._names = {"main"}
        self._texts: list[str] = []

    def build(self, jaxpr: Jaxpr, donated: Sequence[bool]) -> LoweredModule:
        """Write the module whose `main` is the jaxpr."""
        attributes = _donation(jaxpr, donated)
        ctx = LoweringContext(self)
        self._write("public @main", jaxpr, attributes, ctx)
        main = self._texts.pop()
        text = (
            f"module @{_identifier(jaxpr.name)} {{\n{main}{''.join(self._texts)}}} loc(unknown)\n"
        )
        return LoweredModule(text, tuple([array for _, array in ctx.captured.values()]))

    def _write(
        self, head: str, jaxpr: Jaxpr, attributes: Sequence[str], ctx: LoweringContext
    ) -> list[str]:
        """Write a function, and return the names of its results inside of it.

        Its arguments are the arrays that it captures, and then those of the jaxpr.
        """
        names = [f"%arg{i}" for i in range(len(jaxpr.invars))]
        results = self.inline(ctx, jaxpr, names)
        type_of = ctx.type
        arguments = [
            f"{name}: {type_of(array.aval)} loc(unknown)" for name, array in ctx.captured.values()
        ]
        arguments += [
            f"{name}: {type_of(aval)}{attribute} loc(unknown)"
            for name, aval, attribute in zip(names, jaxpr.in_avals, attributes, strict=True)
        ]
        types = ", ".join([type_of(aval) for aval in jaxpr.out_avals])
        end = f"return {', '.join(results)} : {types}" if results else "return"
        body = "".join(ctx.scope.lines)
        self._texts.append(
            f"func.func {head}({', '.join(arguments)}) -> ({types}) {{\n"
            f"{body}{end} loc(unknown)\n}} loc(unknown)\n"
        )
        return results

    def inline(self, ctx: LoweringContext, jaxpr: Jaxpr, operands: Sequence[str]) -> list[str]:
        """Write the equations of a jaxpr into the block that a context is writing."""
        env: dict[Any, str] = {}
        for var, const in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            env[var] = self._capture(ctx, const)
        env.update(zip(jaxpr.invars, operands, strict=True))
        rules = lowering_rules
        scope = ctx.scope
        cuts = self._cuts
        inlined = self._counts.inlined
        readers = result_readers(cuts.readers(jaxpr), jaxpr, scope.result_readers)
        for eqn in jaxpr.eqns:
            outvars = eqn.outvars
            counts = [readers.get(v, 0) for v in outvars]
            if not any(counts) and not eqn.effects:
                continue  # nobody reads its results
            invars = eqn.invars
            names = [ctx.constant(a.val, a.aval) if type(a) is Literal else env[a] for a in invars]
            rule = rules.get(eqn.primitive)
            if rule is None:
                raise _no_rule(eqn)
            scope.result_readers = counts if inlined(eqn) is not None else None
            out = rule(
                ctx, [a.aval for a in invars], [v.aval for v in outvars], *names, **eqn.params
            )
            if isinstance(out, str):
                if cuts.must_cut(eqn, names, out, counts[0], scope.expressions):
                    kind = ctx.type(outvars[0].aval)
                    out = ctx.op(f"stablehlo.optimization_barrier {out} : {kind}")
                env[outvars[0]] = out
            elif len(out) == len(outvars):
                env.update(zip(outvars, out, strict=True))
            else:
                raise BackendError(
                    f"the lowering rule of {eqn.primitive.name} returned {len(out)} results for "
                    f"{len(outvars)} variables; mend the rule"
                )
        return [
            ctx.constant(a.val, a.aval) if type(a) is Literal else env[a] for a in jaxpr.outvars
        ]

    def _capture(self, ctx: LoweringContext, const: Any) -> str:
        """Name of an array that the program closed over."""
        if not isinstance(const, ConcreteArray):
            raise BackendError(
                f"a program that is compiled refers to {const!r}, a value of a transformation that "
                "is still open; pass it to the function as an argument"
            )
        if const.aval.ndim == 0:
            return ctx.constant(np.asarray(const), const.aval)
        known = ctx.captured.get(id(const))
        if known is None:
            known = ctx.captured[id(const)] = (f"%const{len(ctx.captured)}", const)
        return known[0]

    def call(self, ctx: LoweringContext, jaxpr: Jaxpr, operands: Sequence[str]) -> list[str]:
        """Write a call of a jaxpr's private function, and that function at the first call."""
        kept = self._counts.of(jaxpr) > 1
        function = self._functions.get(jaxpr)
        if function is None:
            function = self._functions[jaxpr] = self._define(ctx, jaxpr, operands, kept)
        names = [self._capture(ctx, array) for array in function.captured]
        names += operands
        count = len(jaxpr.outvars)
        call = f"func.call @{function.name}({', '.join(names)}){_KEPT if kept else ''}"
        out = ctx.op(f"{call} : {function.signature}", count)
        results = [out] if count == 1 else out
        expressions = ctx.scope.expressions
        for name, expression in zip(results, function.expressions, strict=False):
            if expression is not None:
                expressions[name] = expression
        return results

    def _define(
        self, ctx: LoweringContext, jaxpr: Jaxpr, operands: Sequence[str], kept: bool
    ) -> _Function:
        """Write the private function of a jaxpr."""
        name = self._unique(jaxpr.name)
        inner = LoweringContext(self)
        known, scope = ctx.scope.expressions, inner.scope
        if not kept:  # its body will be fused with the caller's operations
            scope.result_readers = ctx.scope.result_readers
            for i, operand in enumerate(operands):
                if operand in known:
                    scope.expressions[f"%arg{i}"] = known[operand]
        results = self._write(f"private @{name}", jaxpr, [""] * len(jaxpr.invars), inner)
        captured = tuple([array for _, array in inner.captured.values()])
        types = [ctx.type(array.aval) for array in captured]
        types += [ctx.type(aval) for aval in jaxpr.in_avals]
        result_types = ", ".join([ctx.type(aval) for aval in jaxpr.out_avals])
        return _Function(
            name,
            captured,
            f"({', '.join(types)}) -> ({result_types})",
            () if kept else tuple([scope.expressions.get(r) for r in results]),
        )

    def _unique(self, name: str) -> str:
        base = _identifier(name)
        unique, n = base, 0
        while unique in self._names:
            n += 1
            unique = f"{base}_{n}"
        self._names.add(unique)
        return unique


def _identifier(name: str) -> str:
    """MLIR symbol for a Python function's name."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "f"


def _donation(jaxpr: Jaxpr, donated: Sequence[bool]) -> list[str]:
    """Attributes of main's arguments: which result takes over the buffer of which argument."""
    attributes = [""] * len(jaxpr.invars)
    if not any(donated):
        return attributes
    free: dict[tuple[Any, ...], list[int]] = {}
    for k, aval in enumerate(jaxpr.out_avals):
        free.setdefault((aval.shape, aval.dtype), []).append(k)
    for results in free.values():
        results.reverse()
    for i, (aval, gives) in enumerate(zip(jaxpr.in_avals, donated, strict=True)):
        if gives:
            results = free.get((aval.shape, aval.dtype), [])
            attributes[i] = (
                f" {{tf.aliasing_output = {results.pop()} : i32}}"
                if results
                else " {jax.buffer_donor = true}"
            )
    return attributes


def _no_rule(eqn: JaxprEqn) -> BackendError:
    reason = eqn.primitive.why_absent("lowering") or "no lowering rule is registered for it"
    return BackendError(
        f"the XLA backend cannot compile {eqn.primitive.name}: {reason}. Register one with "
        "axonym_xla.register_lowering, or use the NumPy backend (AXONYM_BACKEND=numpy)"
    )
