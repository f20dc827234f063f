"""From a jaxpr to a StableHLO module.

The jaxpr becomes `main`; a jaxpr that is called from it becomes a private function, once, however
often it is called. Arrays that a program closed over become hidden leading arguments of `main`
(scalars are written into the text), so that equal programs have equal texts, whatever data they
hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from axonym_core.arrays import ConcreteArray
from axonym_core.errors import AxisNameError, BackendError
from axonym_core.programs import Jaxpr, JaxprEqn, Literal, names_of
from axonym_core.tracing import expanded
from axonym_core.types import ShapedArray

from .barriers import Barriers
from .call_counts import CallCounts
from .fusion_cuts import Expression, FusionCuts, result_readers
from .registry import LoweringContext, platforms_of, rules_for
from .structure import Argument, Function, Module


class LoweredModule(NamedTuple):
    """A program as a module, and the arrays to pass to it before its own arguments.

    Attributes:
        module: The functions of the module, `main` first.
        constants: Arrays for the hidden leading arguments of `main`.
    """

    module: Module
    constants: tuple[Any, ...]

    @property
    def text(self) -> str:
        """The StableHLO module."""
        return self.module.text()

    @property
    def donated(self) -> tuple[int, ...]:
        """Which arguments, not counting the constants, give up their buffers."""
        arguments = self.module.functions[0].arguments
        return tuple([i - len(self.constants) for i, a in enumerate(arguments) if a.donated])


class _Written(NamedTuple):
    """A private function that has been written.

    `expressions` says how its results are computed, where the compiler inlines the call.
    """

    function: Function
    captured: tuple[Any, ...]
    expressions: tuple[Expression | None, ...]


def lower_jaxpr(
    jaxpr: Jaxpr,
    *,
    donated: Sequence[bool] = (),
    platform: str = "cpu",
    barriers_as_calls: bool = False,
) -> LoweredModule:
    """Write a jaxpr as a StableHLO module.

    Args:
        jaxpr: The program. Its arguments all become arguments of `main`, used or not.
        donated: Which arguments' buffers may be reused for results.
        platform: The platform to compile for; it decides on the rules, and where fusions are cut.
        barriers_as_calls: Whether optimization barriers are written as calls, for compilers that
            drop barriers.

    Returns:
        The module and the constants.

    Raises:
        AxisNameError: The program varies over named axes; these must be mapped first.
        BackendError: A primitive has no lowering rule.
    """
    _refuse_named_axes(jaxpr)
    _refuse_ordered_effects(jaxpr)
    rules = rules_for(platform)
    jaxpr = expanded(jaxpr, ("xla", platform, len(rules)), lambda p: p not in rules)
    barriers = Barriers(as_calls=barriers_as_calls)
    return ModuleBuilder(CallCounts(jaxpr), platform, barriers).build(jaxpr, donated)


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
        barriers: What writes the module's optimization barriers.
    """

    __slots__ = (
        "_counts",
        "_cuts",
        "_functions",
        "_names",
        "_platform",
        "_rules",
        "_written",
        "barriers",
        "types",
    )

    def __init__(self, counts: CallCounts, platform: str, barriers: Barriers) -> None:
        self.types: dict[ShapedArray, str] = {}
        self.barriers = barriers
        self._counts = counts
        self._cuts = FusionCuts(counts, platform)
        self._functions: list[Function] = []
        self._names = {"main"}
        self._platform = platform
        self._rules = rules_for(platform)
        self._written: dict[Jaxpr, _Written] = {}

    def build(self, jaxpr: Jaxpr, donated: Sequence[bool]) -> LoweredModule:
        """Write the module whose `main` is the jaxpr."""
        ctx = LoweringContext(self)
        main = self._write("main", jaxpr, _aliases(jaxpr, donated), ctx, public=True)
        functions = [main, *self.barriers.functions(), *self._functions]
        constants = tuple([array for _, array in ctx.captured.values()])
        return LoweredModule(Module(_identifier(jaxpr.name), functions), constants)

    def _write(
        self,
        name: str,
        jaxpr: Jaxpr,
        aliases: Mapping[int, int | None],
        ctx: LoweringContext,
        *,
        public: bool = False,
    ) -> Function:
        """Write a function. Its arguments are the arrays that it captures, then the jaxpr's."""
        names = [f"%arg{i}" for i in range(len(jaxpr.invars))]
        returned = self.inline(ctx, jaxpr, names)
        type_of = ctx.type
        arguments = [Argument(n, type_of(array.aval)) for n, array in ctx.captured.values()]
        for i, aval in enumerate(jaxpr.in_avals):
            arguments.append(Argument(names[i], type_of(aval), i in aliases, aliases.get(i)))
        results = [type_of(aval) for aval in jaxpr.out_avals]
        return Function(name, arguments, ctx.scope.lines, returned, results, public)

    def inline(self, ctx: LoweringContext, jaxpr: Jaxpr, operands: Sequence[str]) -> list[str]:
        """Write the equations of a jaxpr into the block that a context is writing."""
        env: dict[Any, str] = {}
        for var, const in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            env[var] = self._capture(ctx, const)
        env.update(zip(jaxpr.invars, operands, strict=True))
        rules = self._rules
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
                raise _no_rule(eqn, self._platform)
            scope.result_readers = counts if inlined(eqn) is not None else None
            out = rule(
                ctx, [a.aval for a in invars], [v.aval for v in outvars], *names, **eqn.params
            )
            if isinstance(out, str):
                if cuts.must_cut(eqn, names, out, counts[0], scope.expressions):
                    (out,) = ctx.barrier([out], [ctx.type(outvars[0].aval)])
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
        written = self._written.get(jaxpr)
        if written is None:
            written = self._written[jaxpr] = self._define(ctx, jaxpr, operands, kept)
        names = [self._capture(ctx, array) for array in written.captured]
        names += operands
        count = len(jaxpr.outvars)
        out = ctx.op(written.function.call(names, kept=kept), count)
        results = [out] if count == 1 else out
        expressions = ctx.scope.expressions
        for name, expression in zip(results, written.expressions, strict=False):
            if expression is not None:
                expressions[name] = expression
        return results

    def _define(
        self, ctx: LoweringContext, jaxpr: Jaxpr, operands: Sequence[str], kept: bool
    ) -> _Written:
        """Write the private function of a jaxpr."""
        name = self._unique(jaxpr.name)
        inner = LoweringContext(self)
        known, scope = ctx.scope.expressions, inner.scope
        if not kept:  # its body will be fused with the caller's operations
            scope.result_readers = ctx.scope.result_readers
            for i, operand in enumerate(operands):
                if operand in known:
                    scope.expressions[f"%arg{i}"] = known[operand]
        function = self._write(name, jaxpr, {}, inner)
        self._functions.append(function)
        captured = tuple([array for _, array in inner.captured.values()])
        if kept:
            return _Written(function, captured, ())
        expressions = tuple([scope.expressions.get(r) for r in function.returned])
        return _Written(function, captured, expressions)

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


def _aliases(jaxpr: Jaxpr, donated: Sequence[bool]) -> dict[int, int | None]:
    """The result that takes over the buffer of each donated argument, or None."""
    aliases: dict[int, int | None] = {}
    if not any(donated):
        return aliases
    free: dict[tuple[Any, ...], list[int]] = {}
    for k, aval in enumerate(jaxpr.out_avals):
        free.setdefault((aval.shape, aval.dtype), []).append(k)
    for results in free.values():
        results.reverse()
    for i, (aval, gives) in enumerate(zip(jaxpr.in_avals, donated, strict=True)):
        if gives:
            results = free.get((aval.shape, aval.dtype), [])
            aliases[i] = results.pop() if results else None
    return aliases


def _no_rule(eqn: JaxprEqn, platform: str) -> BackendError:
    primitive = eqn.primitive
    reason = primitive.why_absent("lowering") or "no lowering rule is registered for it"
    others = platforms_of(primitive)
    known = f", and there is a rule for {', '.join(others)} only" if others else ""
    return BackendError(
        f"the XLA backend cannot compile {primitive.name}: {reason}; the platform is {platform!r}"
        f"{known}. Register one with axonym_xla.register_lowering, or use the NumPy backend "
        "(AXONYM_BACKEND=numpy)"
    )
