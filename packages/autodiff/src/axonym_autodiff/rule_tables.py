"""The tables of derivative rules, and the short forms in which most of them are written.

JVP rule: `rule(primals, tangents, **params) -> (out, tangent_out)`, lists for primitives with
multiple results. A tangent may be `Zero`; a rule is called only when at least one is not.

Transpose rule: `rule(reading, ct, *operands, **params) -> cotangents`, one entry per operand:
the cotangent for each operand that is `Linear`, None for the others (and where it vanishes).
`ct` is the cotangent of the result (never `Zero` itself), for multiple results a list whose
entries may be `Zero`.

Named axes (`docs/named_axes.md`): `reading.collective` holds the axes that are read collectively.
The cotangent for an operand that does not vary over a collective axis over which the result varies
has to be summed over it. The backward pass does that after the rule, unless the rule is registered
with `sums_named_axes=True` and does it itself, in one operation with the contraction at hand; then
`reading.axes_to_sum(operand, *operands)` says over which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from axonym_core.extend import Zero, add_tangents, instantiate
from axonym_core.operators import strong
from axonym_core.programs import Primitive
from axonym_core.types import AxisName, ShapedArray, aval_of

JvpRule = Callable[..., tuple[Any, Any]]
TransposeRule = Callable[..., Sequence[Any]]


@final
class Linear:
    """Stands in a transpose rule for an operand in which the operation is linear."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Linear({self.aval})"


def is_linear(x: Any) -> bool:
    """Whether an operand of a transpose rule is one to give a cotangent for."""
    return type(x) is Linear


@final
class Reading:
    """How reverse mode reads the named axes in scope: collectively, or else element-wise.

    Attributes:
        collective: Names of the axes over which an unvarying value is one value.
    """

    __slots__ = ("collective",)

    def __init__(self, collective: frozenset[AxisName] = frozenset()) -> None:
        self.collective = collective

    def axes_to_sum(self, operand: Any, *operands: Any) -> tuple[AxisName, ...]:
        """Collective axes that the result of an operation on `operands` has and `operand` lacks."""
        if not self.collective:
            return ()
        own = aval_of(operand).names
        names: dict[AxisName, None] = {}
        for other in operands:
            for name, _ in aval_of(other).named:
                if name in self.collective and name not in own:
                    names[name] = None
        return tuple(names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reading) and self.collective == other.collective

    def __hash__(self) -> int:
        return hash(self.collective)

    def __repr__(self) -> str:
        return f"Reading(collective={sorted(map(str, self.collective))})"


jvp_rules: dict[Primitive, JvpRule] = {}
linearize_rules: dict[Primitive, Callable[..., Any]] = {}
transpose_rules: dict[Primitive, TransposeRule] = {}
summing_transposes: set[Primitive] = set()


def register_jvp(primitive: Primitive, rule: JvpRule) -> None:
    """Set the JVP rule of a primitive: `rule(primals, tangents, **params) -> (out, tangent)`."""
    jvp_rules[primitive] = rule


def register_linearization(primitive: Primitive, rule: Callable[..., tuple[Any, Any]]) -> None:
    """Set how a primitive is linearised where that is not done by its JVP rule over a tape.

    Args:
        primitive: The primitive.
        rule: `rule(tape, primals, tangents, **params) -> (out, tangent)`; the tangents are values
            of the tape, or `Zero`.
    """
    linearize_rules[primitive] = rule


def register_transpose(
    primitive: Primitive,
    rule: TransposeRule,
    *,
    sums_named_axes: bool = False,
) -> None:
    """Set the transpose rule of a primitive.

    Args:
        primitive: The primitive.
        rule: `rule(reading, ct, *operands, **params)`, as the module says.
        sums_named_axes: Whether the rule itself sums cotangents over collective axes that the
            operand lacks.

    The primitive says in which operands it is linear (`Primitive.linear`); the rule is asked for
    these only.
    """
    transpose_rules[primitive] = rule
    if sums_named_axes:
        summing_transposes.add(primitive)
    else:
        summing_transposes.discard(primitive)


def defjvp(primitive: Primitive, *rules: Callable[..., Any] | None) -> None:
    """Set a JVP rule from one rule per operand of a primitive with one result.

    Args:
        primitive: The primitive.
        *rules: `rule(t, out, *primals, **params)` gives the contribution of that operand's tangent
            `t`; None where the result does not depend differentiably on the operand.
    """

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        tangent: Any = None
        value = out
        if aval_of(out).is_number:  # functions of numbers alone would round them
            value, primals = strong(out), [strong(x) for x in primals]
        for t, rule in zip(tangents, rules, strict=True):
            if type(t) is not Zero and rule is not None:
                part = rule(t, value, *primals, **params)
                tangent = part if tangent is None else add_tangents(tangent, part)
        return out, Zero(aval_of(out).to_tangent()) if tangent is None else tangent

    jvp_rules[primitive] = jvp


def deflinear(
    primitive: Primitive, transpose: TransposeRule, *, sums_named_axes: bool = False
) -> None:
    """Set the rules of a primitive of one operand, or of several, that is linear in all of them.

    The tangent is the primitive applied to the tangents (zeros instantiated).
    """

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        return out, primitive.bind(*[instantiate(t) for t in tangents], **params)

    jvp_rules[primitive] = jvp
    register_transpose(primitive, transpose, sums_named_axes=sums_named_axes)


def defzero(primitive: Primitive) -> None:
    """Set the JVP rule of a primitive whose derivative is zero (comparisons, floor, integers)."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        if primitive.multiple_results:
            return out, [Zero(aval_of(o).to_tangent()) for o in out]
        return out, Zero(aval_of(out).to_tangent())

    jvp_rules[primitive] = jvp
