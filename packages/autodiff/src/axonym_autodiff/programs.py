"""Derivatives of staged programs: forward mode, splitting into primal and linear part, transposing.

The rules of primitives that hold jaxprs (jit, scan, cond, while) rest on these three. All are
cached on the jaxpr, so that a function called twice is differentiated once and its derivative is
one jaxpr again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from axonym_core.extend import Zero, instantiate
from axonym_core.programs import (
    Atom,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    bind_equation,
    eval_jaxpr,
    map_programs,
    require_none,
)
from axonym_core.settings import context
from axonym_core.tracing import JaxprTrace, JaxprTracer, expanded, run_and_end, trace_flat
from axonym_core.types import ShapedArray, aval_of

from .jvp_trace import JvpTrace
from .residuals import choose_residuals
from .rule_tables import Reading
from .tape import LinearTracer, TapeTrace, backward_pass, widen

Mask = tuple[bool, ...]

T = TypeVar("T")


def _derived_here(jaxpr: Jaxpr, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What is derived from a program in the axis environment at hand."""
    return jaxpr.derived((*key, context.trace.axis_env), make)


def tangent_aval(aval: ShapedArray) -> ShapedArray:
    """Type of the tangents of values of a type."""
    return aval.to_tangent().strip_weak_type()


def _derived(debug: DebugInfo, what: str) -> DebugInfo:
    return DebugInfo(f"{what}({debug.name})")


class JvpProgram(NamedTuple):
    """Forward-mode derivative: `(*primals, *nonzero tangents) -> (*outs, *nonzero tangents)`."""

    jaxpr: Jaxpr
    nonzero: Mask


def jvp_program(jaxpr: Jaxpr, nonzero: Mask, instantiated: Mask) -> JvpProgram:
    """Forward-mode derivative of a program.

    Args:
        jaxpr: The program.
        nonzero: Which arguments have a tangent.
        instantiated: Which results are to have a tangent even if it is zero.
    """

    def make() -> JvpProgram:
        out_nonzero: list[bool] = []

        def fun(*args: Any) -> list[Any]:
            trace = JvpTrace(context.trace)
            tangents = iter(args[len(nonzero) :])
            ins = [
                trace.lift(x, next(tangents)) if m else x
                for x, m in zip(args[: len(nonzero)], nonzero, strict=True)
            ]
            outs = run_and_end((trace,), eval_jaxpr, jaxpr, *ins)
            pairs = [trace.split(o) for o in outs]
            out_nonzero[:] = [
                type(t) is not Zero or force
                for (_, t), force in zip(pairs, instantiated, strict=True)
            ]
            return [
                *[p for p, _ in pairs],
                *[
                    widen(instantiate(t), aval_of(p).named)
                    for (p, t), keep in zip(pairs, out_nonzero, strict=True)
                    if keep
                ],
            ]

        tangent_avals = [tangent_aval(a) for a, m in zip(jaxpr.in_avals, nonzero, strict=True) if m]
        staged = trace_flat(
            fun, [*jaxpr.in_avals, *tangent_avals], debug=_derived(jaxpr.debug, "jvp")
        )
        return JvpProgram(staged, tuple(out_nonzero))

    return _derived_here(jaxpr, ("jvp", nonzero, instantiated), make)


class SplitProgram(NamedTuple):
    """A program as a primal part and a linear part that takes residuals of the first.

    Attributes:
        primal: `(*known arguments) -> (*known results, *computed residuals)`.
        linear: `(*residuals, *linear arguments) -> (*linear results)`. Its residuals are those
            that are arguments of `primal`, then the computed ones.
        forwarded: Positions among the arguments of `primal` of the residuals that are arguments.
        computed: Number of residuals that `primal` returns.
        linear_outs: Which results of the program are linear.
        known_outs: Number of results of `primal` before the residuals.
    """

    primal: Jaxpr
    linear: Jaxpr
    forwarded: tuple[int, ...]
    computed: int
    linear_outs: Mask
    known_outs: int

    def residuals(self, known_args: Sequence[Any], primal_outs: Sequence[Any]) -> list[Any]:
        """The residuals, from the arguments and results of `primal`."""
        return [*[known_args[i] for i in self.forwarded], *primal_outs[self.known_outs :]]


def split_program(
    jaxpr: Jaxpr, linear: Mask, instantiated: Mask, *, differentiate: bool
) -> SplitProgram:
    """Split a program.

    Args:
        jaxpr: The program.
        linear: Which arguments have a tangent (when differentiating), or are linear themselves.
        instantiated: Which results are to be linear even if they do not depend on these.
        differentiate: Whether to linearise: all arguments are known and the linear part maps
            tangents to tangents. Otherwise the program is linear in the arguments as it is, and
            the linear part maps them to results.
    """

    def make() -> SplitProgram:
        return _split(jaxpr, linear, instantiated, differentiate)

    return _derived_here(jaxpr, ("split", linear, instantiated, differentiate), make)


def _split(jaxpr: Jaxpr, linear: Mask, instantiated: Mask, differentiate: bool) -> SplitProgram:
    primal_trace = JaxprTrace(context.trace.axis_env, _derived(jaxpr.debug, "primal"))
    tape = TapeTrace(primal_trace)
    jvp_trace = JvpTrace(primal_trace, tape)
    linear_inputs: list[LinearTracer] = []
    ins: list[Any] = []
    for aval, is_linear in zip(jaxpr.in_avals, linear, strict=True):
        if is_linear:
            linear_inputs.append(tape.new_input(tangent_aval(aval)))
        if differentiate:
            primal = primal_trace.new_argument(aval)
            ins.append(jvp_trace.lift(primal, linear_inputs[-1]) if is_linear else primal)
        else:
            ins.append(linear_inputs[-1] if is_linear else primal_trace.new_argument(aval))
    known: list[Any] = []
    tangents: list[Any] = []
    innermost = jvp_trace if differentiate else tape
    outs = run_and_end((primal_trace, tape, innermost), eval_jaxpr, jaxpr, *ins)
    for out, force in zip(outs, instantiated, strict=True):
        if differentiate:
            primal, tangent = jvp_trace.split(out)
            known.append(primal)
            if not tape.is_own(tangent):  # a rule gave a tangent that depends on no input
                tangent = Zero(tangent_aval(aval_of(primal)))
        elif tape.is_own(out):
            tangent = out
        else:
            # Where a result must be linear, a known value in its place is a zero that a
            # derivative rule made, or the constant part of an affine function.
            tangent = Zero(aval_of(out))
            if not force:
                known.append(out)
        tangents.append(tangent)
    keep = [type(t) is not Zero or f for t, f in zip(tangents, instantiated, strict=True)]
    linear_trace = _LinearProgram(primal_trace, tape.eqns, _derived(jaxpr.debug, "linear"))
    linear_jaxpr = linear_trace.finish(
        [v.variable for v in linear_inputs],
        [t for t, k in zip(tangents, keep, strict=True) if k],
    )
    primal_jaxpr = primal_trace.finish([*known, *linear_trace.computed])
    return SplitProgram(
        primal_jaxpr,
        linear_jaxpr,
        tuple(linear_trace.forwarded),
        len(linear_trace.computed),
        tuple(keep),
        len(known),
    )


class _LinearProgram:
    """Makes a jaxpr of a tape: primal values that it mentions become residual arguments."""

    def __init__(self, primal: JaxprTrace, tape: Sequence[JaxprEqn], debug: DebugInfo) -> None:
        self.primal = primal
        self.tape = tape
        self.trace = JaxprTrace(primal.axis_env, debug)
        positions = {var: i for i, var in enumerate(primal.invars)}
        needed: dict[Var, None] = {}
        for eqn in tape:
            operands: Sequence[Any] = eqn.invars  # a tape holds primal values as they are
            for x in operands:
                if self._is_primal(x):
                    needed[x.variable] = None
        self.constants = primal.constant_values()
        free = frozenset(positions) | frozenset(self.constants)
        chosen, self.repeated = choose_residuals(list(needed), primal.eqns, free)
        chosen = [v for v in chosen if v not in self.constants]
        self.forwarded = [positions[v] for v in chosen if v in positions]
        saved = [v for v in chosen if v not in positions]
        self.computed = [JaxprTracer(primal, v.aval, v, None) for v in saved]
        self.arguments = {
            v: self.trace.new_argument(v.aval).variable
            for v in [*[primal.invars[i] for i in self.forwarded], *saved]
        }

    def _is_primal(self, x: Any) -> bool:
        return type(x) is JaxprTracer and x.owner is self.primal

    def _atom(self, x: Any) -> Atom:
        if type(x) is Literal:
            return x
        var = x.variable if self._is_primal(x) else x
        if type(var) is not Var:
            return self.trace.atom(x)
        if var in self.constants:
            return self.trace.atom(self.constants[var])
        return self.arguments.get(var, var)

    def _append(self, eqn: JaxprEqn) -> None:
        operands = tuple([self._atom(x) for x in eqn.invars])
        self.trace.eqns.append(
            JaxprEqn(eqn.primitive, operands, eqn.outvars, eqn.params, eqn.source)
        )

    def finish(self, inputs: Sequence[Var], results: Sequence[Any]) -> Jaxpr:
        """Return the program from residuals and linear inputs to results."""
        self.trace.invars.extend(inputs)
        for eqn in self.repeated:
            self._append(eqn)
        for eqn in self.tape:
            self._append(eqn)

        def outs() -> list[Any]:
            return [
                instantiate(t)
                if type(t) is Zero
                else JaxprTracer(self.trace, t.aval, t.variable, t.source)
                for t in results
            ]

        return self.trace.finish(run_and_end((self.trace,), outs))


class TransposedProgram(NamedTuple):
    """`(*known arguments, *nonzero cotangents) -> (*nonzero cotangents of linear arguments)`."""

    jaxpr: Jaxpr
    nonzero: Mask


def transpose_program(
    jaxpr: Jaxpr, linear: Mask, ct_avals: tuple[ShapedArray | None, ...], reading: Reading
) -> TransposedProgram:
    """Transpose a program that is linear in some of its arguments.

    Args:
        jaxpr: The program.
        linear: Which arguments it is linear in.
        ct_avals: Types of the results' cotangents; None where that is zero.
        reading: How named axes are read.
    """

    def make() -> TransposedProgram:
        out_nonzero: list[bool] = []

        def fun(*args: Any) -> list[Any]:
            values = iter(args)
            known = [None if m else next(values) for m in linear]
            cts = [
                Zero(v.aval) if a is None else next(values)
                for v, a in zip(jaxpr.outvars, ct_avals, strict=True)
            ]
            results = transpose_jaxpr(jaxpr, linear, known, cts, reading)
            out_nonzero[:] = [type(r) is not Zero for r in results]
            return [r for r in results if type(r) is not Zero]

        known_avals = [a for a, m in zip(jaxpr.in_avals, linear, strict=True) if not m]
        given = [a for a in ct_avals if a is not None]
        staged = trace_flat(fun, [*known_avals, *given], debug=_derived(jaxpr.debug, "transpose"))
        return TransposedProgram(staged, tuple(out_nonzero))

    return _derived_here(jaxpr, ("transpose", linear, ct_avals, reading), make)


def transpose_jaxpr(
    jaxpr: Jaxpr, linear: Mask, known: Sequence[Any], cts: Sequence[Any], reading: Reading
) -> list[Any]:
    """Run a program, linear in some arguments, backwards in the current trace.

    Args:
        jaxpr: The program.
        linear: Which arguments it is linear in.
        known: Values of the others (ignored at linear positions).
        cts: Cotangents of the results, or `Zero`.
        reading: How named axes are read.

    Returns:
        Cotangents (or `Zero`) of the linear arguments.
    """
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, jaxpr.consts, strict=True))
    dependent: set[Var] = set()
    inputs: list[Var] = []
    for var, value, is_linear in zip(jaxpr.invars, known, linear, strict=True):
        if is_linear:
            dependent.add(var)
            inputs.append(var)
        else:
            values[var] = value

    def read(atom: Atom) -> Any:
        if type(atom) is Literal:
            return atom.val
        return atom if atom in dependent else values[atom]

    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        operands = tuple([read(a) for a in eqn.invars])
        if any(type(x) is Var for x in operands):
            dependent.update(eqn.outvars)
            eqns.append(JaxprEqn(eqn.primitive, operands, eqn.outvars, eqn.params, eqn.source))
        else:
            require_none(
                eqn.effects,
                "running the known part of a linear program again to transpose it",
                "split the program first, with split_program",
            )
            out = bind_equation(eqn, operands)
            outs = out if eqn.primitive.multiple_results else (out,)
            values.update(zip(eqn.outvars, outs, strict=True))
    outputs = [a if a in dependent else None for a in jaxpr.outvars]
    return backward_pass(eqns, inputs, outputs, cts, reading)


def runnable_params(eqn: JaxprEqn) -> Mapping[str, Any]:
    """Parameters of an equation of a tape, fit to be bound outside of it.

    Programs in them may hold primitives that only tapes know, which are expanded.
    """
    return map_programs(eqn.primitive, eqn.params, _runnable)


def _runnable(jaxpr: Jaxpr) -> Jaxpr:
    key = ("runnable", context.trace.axis_env)
    return expanded(jaxpr, key, lambda p: p.transient, lambda x, aval: widen(x, aval.named))
