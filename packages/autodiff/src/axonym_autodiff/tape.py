"""Linear programs: how they are recorded, and how they are run backwards.

A `TapeTrace` stands between a derivative rule and the trace in which primal values live. What a
rule does to primal values alone goes to the parent; what touches a `LinearTracer` is recorded, with
the primal operands as they are. So a JVP rule, run under a tape, leaves behind exactly the linear
map of tangents to tangents, and no program has to be taken apart afterwards.

`backward_pass` runs a tape in reverse with the transpose rules. Named axes: the cotangent of an
operand is summed over each collective axis that the result varies over and the operand does not
(the transpose of implicit broadcasting, `docs/named_axes.md`); over element-wise axes it may vary
although the operand does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from axonym_core import lax
from axonym_core.arrays import as_concrete, is_frozen
from axonym_core.extend import Zero, add_tangents
from axonym_core.primitives.collectives import psum_p
from axonym_core.programs import JaxprEqn, Primitive, Var, source_info
from axonym_core.settings import context
from axonym_core.tracing import Trace, Tracer
from axonym_core.types import NamedEntries, ShapedArray, aval_of, join_all_named

from .errors import NotLinearError
from .rule_tables import (
    Linear,
    Reading,
    register_linearization,
    summing_transposes,
    transpose_rules,
)


class LinearTracer(Tracer):
    """A value that depends linearly on the inputs of a tape."""

    __slots__ = ("_source", "aval", "owner", "variable")

    owner: TapeTrace

    def __init__(
        self,
        trace: TapeTrace,
        aval: ShapedArray,
        var: Var,
        source: source_info.SourceInfo | None,
    ) -> None:
        self.owner = trace
        self.aval = aval
        self.variable = var
        self._source = source

    @property
    def source(self) -> source_info.SourceInfo | None:
        """Where the operation that made it stands."""
        return self._source

    def __repr__(self) -> str:
        return f"Linear<{self.aval}>"


class TapeTrace(Trace):
    """Records operations on linear values; passes all others to the parent.

    An equation is a `JaxprEqn`; its operands are variables for linear values, and the values
    themselves for the others.
    """

    __slots__ = ("eqns", "parent")

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent.axis_env)
        self.parent = parent
        self.eqns: list[JaxprEqn] = []

    def new_input(self, aval: ShapedArray) -> LinearTracer:
        """Add an input to the linear program."""
        return LinearTracer(self, aval, Var(aval), None)

    def is_own(self, x: Any) -> bool:
        """Whether `x` is a linear value of this tape."""
        return type(x) is LinearTracer and x.owner is self

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Record the operation where an operand is linear, else hand it to the parent."""
        for x in args:
            if type(x) is LinearTracer and x.owner is self:
                break
        else:
            previous = context.trace
            context.trace = self.parent
            try:
                return self.parent.process(primitive, args, params)
            finally:
                context.trace = previous
        rule = tape_rules.get(primitive)
        if rule is not None:
            return rule(self, args, params)
        if primitive not in transpose_rules and primitive.expand is not None:
            return primitive.expand(*args, **params)
        return self.record(primitive, args, params)

    def record(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Record an operation as it is."""
        operands = tuple([x.variable if self.is_own(x) else _kept(x) for x in args])
        out = primitive.out_avals(tuple([aval_of(x) for x in operands]), params)
        source = source_info.current()
        if primitive.multiple_results:
            outvars = tuple([Var(aval) for aval in out])
            self.eqns.append(JaxprEqn(primitive, operands, outvars, params, source))
            return [LinearTracer(self, v.aval, v, source) for v in outvars]
        var = Var(out)
        self.eqns.append(JaxprEqn(primitive, operands, (var,), params, source))
        return LinearTracer(self, out, var, source)


def _kept(x: Any) -> Any:
    """A primal value that is kept: what is in a NumPy array now, since it may be written to."""
    return as_concrete(x) if isinstance(x, np.ndarray) and not is_frozen(x) else x


tape_rules: dict[Primitive, Callable[..., Any]] = {}
"""What a tape does with a primitive that holds programs: `rule(tape, args, params) -> results`."""


def register_split(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Set how an application of a primitive that holds programs is split in two.

    One part computes what is known, and is bound; the other is linear, takes what it needs of the
    first as operands, and is recorded on a tape (`tape.record(primitive, args, params)`).
    `split_program` splits the programs inside.

    Args:
        primitive: The primitive; it also has a transpose rule, for its linear applications.
        rule: `rule(tape, args, tangents, **params) -> (known, linear, which)`, where `which` says
            of each result whether it is in the linear part.
            For a derivative, all `args` are known, and `tangents` holds one of the tape's values,
            or `Zero`, for each: `known` are all results, `linear` the tangents of those in `which`.
            For a linear program `tangents` is None, and the linear ones among `args` are those for
            which `tape.is_own(x)` holds: `known` are the results that are not in `which`, `linear`
            those that are.
    """

    def linearize(
        tape: TapeTrace, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        outs, linear, which = rule(tape, primals, tangents, **params)
        rest = iter(linear)
        pairs = zip(outs, which, strict=True)
        found = [next(rest) if m else Zero(aval_of(o).to_tangent()) for o, m in pairs]
        return (outs, found) if primitive.multiple_results else (outs[0], found[0])

    def on_tape(tape: TapeTrace, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        known, linear, which = rule(tape, args, None, **params)
        parts = iter(known), iter(linear)
        results = [next(parts[m]) for m in which]
        return results if primitive.multiple_results else results[0]

    register_linearization(primitive, linearize)
    tape_rules[primitive] = on_tape


def variable(x: Any) -> Var | None:
    """Tape variable of a tangent; None for a symbolic zero."""
    return x.variable if type(x) is LinearTracer else None


def widen(x: Any, named: NamedEntries) -> Any:
    """Let a tangent vary over the axes of its primal, so that the tape shows the broadcasting."""
    own = aval_of(x).named
    return x if own is named or own == named else lax.pbroadcast(x, named)


def sum_over_missing(ct: Any, aval: ShapedArray, varied: NamedEntries, reading: Reading) -> Any:
    """Sum a cotangent for a value of type `aval` over the collective axes of `varied` it lacks."""
    if not reading.collective:
        return ct
    missing = tuple([n for n, _ in varied if n in reading.collective and n not in aval.names])
    return psum_p.bind(ct, axes=missing) if missing else ct


def backward_pass(
    eqns: Sequence[JaxprEqn],
    inputs: Sequence[Var],
    outputs: Sequence[Var | None],
    cts: Sequence[Any],
    reading: Reading,
) -> list[Any]:
    """Cotangents of a tape's inputs.

    Args:
        eqns: The tape.
        inputs: Variables to give cotangents for.
        outputs: Variables of the results; None where a result does not depend on the inputs.
        cts: One cotangent per result, or `Zero`.
        reading: How named axes are read.

    Returns:
        One cotangent, or `Zero`, per input.

    Raises:
        NotLinearError: An operation on the tape is not linear in its operand.
    """
    found: dict[Var, Any] = {}
    for out, seed in zip(outputs, cts, strict=True):
        if out is not None and type(seed) is not Zero:
            found[out] = add_tangents(found.get(out, _ZERO), seed)
    for eqn in reversed(eqns):
        out_cts = [found.pop(v, None) for v in eqn.outvars]
        if all(ct is None for ct in out_cts):
            continue
        primitive = eqn.primitive
        rule = transpose_rules.get(primitive)
        if rule is None or not _is_linear(eqn):
            raise NotLinearError(_not_linear(eqn))
        operands = [Linear(x.aval) if type(x) is Var else x for x in eqn.invars]
        if primitive.multiple_results:
            ct: Any = [
                Zero(v.aval) if c is None else c for c, v in zip(out_cts, eqn.outvars, strict=True)
            ]
        else:
            ct = out_cts[0]
        operand_cts = rule(reading, ct, *operands, **eqn.params)
        varied: NamedEntries = ()
        if reading.collective and primitive not in summing_transposes:
            varied = join_all_named([v.aval for v in eqn.outvars])
        for x, x_ct in zip(eqn.invars, operand_cts, strict=True):
            if type(x) is not Var or x_ct is None or type(x_ct) is Zero:
                continue
            if varied:
                x_ct = sum_over_missing(x_ct, x.aval, varied, reading)
            found[x] = add_tangents(found.get(x, _ZERO), x_ct)
    return [found.get(v, Zero(v.aval)) for v in inputs]


_ZERO = Zero(ShapedArray((), bool))


def _is_linear(eqn: JaxprEqn) -> bool:
    return eqn.primitive.linear_in([i for i, x in enumerate(eqn.invars) if type(x) is Var])


def _not_linear(eqn: JaxprEqn) -> str:
    if eqn.primitive in transpose_rules:
        reason = "it is not linear in the operands that depend on the input"
    else:
        reason = eqn.primitive.why_absent("transpose") or "it has no transpose rule"
    operands = ", ".join(str(aval_of(x)) for x in eqn.invars)
    return (
        f"cannot transpose {eqn.primitive.name} of ({operands}), used at "
        f"{source_info.describe(eqn.source)}: {reason}. The function must be linear in the "
        "arguments that cotangents are asked for"
    )
