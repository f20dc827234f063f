"""The checks of the rule matrix find a wrong rule, whatever primitive and cell it is planted in.

Each test puts a spoilt rule in the place of every primitive's own, one after the other, and wants
one of the primitive's cases to fail. Where the spoilt rule was never asked for anything that can be
wrong (a tangent that vanishes, a result without elements), there is nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from rule_cases import CASES
from rule_cases.case import Case, is_inexact
from rule_cases.checks import CHECKS

import axonym as ax
from axonym import lax
from axonym_autodiff.rule_tables import jvp_rules, summing_transposes, transpose_rules
from axonym_core import config
from axonym_core.numpy_backend import evaluation_rules
from axonym_core.programs import Primitive, registry
from axonym_mapping.errors import MappedAxisError
from axonym_mapping.rule_tables import batching_rules
from axonym_xla.lowering import lowering_rules

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Rule = Callable[..., Any]
Spoil = Callable[[Rule, list[bool]], Rule]
"""Makes a spoilt rule of a rule, which says in a list whether it ever gave something wrong."""


@contextmanager
def planted(
    table: MutableMapping[Primitive, Rule], primitive: Primitive, spoil: Spoil
) -> Iterator[list[bool]]:
    """Put a spoilt rule into a table, and give the list in which it says that it was wrong."""
    right, effect = table[primitive], [False]
    table[primitive] = spoil(right, effect)
    try:
        yield effect
    finally:
        table[primitive] = right


def listed(out: Any) -> list[Any]:
    return list(out) if isinstance(out, list | tuple) else [out]


def like(out: Any, parts: list[Any]) -> Any:
    return parts if isinstance(out, list | tuple) else parts[0]


def moved(x: Any) -> Any:
    """An array with other numbers, of the same type."""
    x = np.asarray(x)
    return ~x if x.dtype == bool else (x * x.dtype.type(2) + x.dtype.type(1)).astype(x.dtype)


def wrong_evaluation(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(*operands: Any, **params: Any) -> Any:
        out = rule(*operands, **params)
        effect[0] |= any(np.size(x) for x in listed(out))
        return like(out, [moved(x) for x in listed(out)])

    return spoilt


def scaled(x: Any) -> Any:
    return lax.mul(x, np.asarray(1.5, x.dtype))


def is_number(x: Any) -> bool:
    """Whether a tangent or cotangent is one that a factor changes."""
    return isinstance(x, ax.Array) and is_inexact_dtype(x) and x.size > 0


def is_inexact_dtype(x: Any) -> bool:
    return is_inexact(np.zeros((), x.dtype))


def wrong_tangent(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(primals: Any, tangents: Any, /, **params: Any) -> Any:
        out, tangent = rule(primals, tangents, **params)
        numbers = [is_number(t) for t in listed(tangent)]
        effect[0] |= any(numbers)
        parts = zip(listed(tangent), numbers, strict=True)
        return out, like(tangent, [scaled(t) if number else t for t, number in parts])

    return spoilt


def wrong_second_derivative(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(primals: Any, tangents: Any, /, **params: Any) -> Any:
        out, _ = rule(primals, tangents, **params)
        _, tangent = rule([lax.stop_gradient(x) for x in primals], tangents, **params)
        effect[0] |= any(is_number(t) for t in listed(tangent))
        return out, tangent

    return spoilt


def wrong_transpose(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(reading: Any, ct: Any, /, *operands: Any, **params: Any) -> Any:
        cotangents = rule(reading, ct, *operands, **params)
        effect[0] |= any(is_number(c) for c in cotangents)
        return [scaled(c) if is_number(c) else c for c in cotangents]

    return spoilt


def wrong_order(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(axis: Any, args: Any, dims: Any, /, **params: Any) -> Any:
        out, out_dims = rule(axis, args, dims, **params)
        pairs = [*zip(listed(out), listed(out_dims), strict=True)]
        effect[0] |= any(d is not None and x.size > 0 for x, d in pairs)
        return like(out, [x if d is None else lax.rev(x, (d,)) for x, d in pairs]), out_dims

    return spoilt


def wrong_dimension(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(axis: Any, args: Any, dims: Any, /, **params: Any) -> Any:
        out, out_dims = rule(axis, args, dims, **params)
        pairs = [*zip(listed(out), listed(out_dims), strict=True)]
        effect[0] |= any(d is not None and x.ndim > 1 for x, d in pairs)
        turned = [d if d is None else (d + 1) % x.ndim for x, d in pairs]
        return out, like(out_dims, turned)

    return spoilt


def wrong_lowering(rule: Rule, effect: list[bool]) -> Rule:
    def spoilt(ctx: Any, avals_in: Any, avals_out: Any, *operands: Any, **params: Any) -> Any:
        names = rule(ctx, avals_in, avals_out, *operands, **params)
        parts = []
        for name, aval in zip(listed(names), avals_out, strict=True):
            effect[0] |= aval.size > 0
            one = ctx.constant(1, aval)
            word = "xor" if aval.dtype == bool else "add"
            parts.append(ctx.op(f"stablehlo.{word} {name}, {one} : {ctx.type(aval)}"))
        return like(names, parts)

    return spoilt


def curved(case: Case) -> bool:
    """Whether the second derivatives of a case are checked, and some of them are not 0."""
    if not (case.smooth and case.twice and case.positional is None):
        return False
    moving = [i for i, x in enumerate(case.operands) if x.dtype == np.float64]
    if not moving or any(is_inexact(x) and x.dtype != np.float64 for x in case.operands):
        return False

    def at(step: float) -> list[Any]:
        xs = [x + step * np.sqrt(2 + i) if i in moving else x for i, x in enumerate(case.operands)]
        return listed(case.reference(*xs))

    bends = [a + b - 2 * c for a, b, c in zip(at(0.01), at(-0.01), at(0.0), strict=True)]
    return any(np.max(np.abs(b), initial=0.0) > 1e-5 for b in bends if b.dtype.kind == "f")


def survivors(
    table: MutableMapping[Primitive, Rule],
    spoil: Spoil,
    cell: str,
    wanted: Callable[[Case], bool] = lambda case: True,
) -> list[str]:
    """Primitives whose spoilt rule no case of theirs finds out."""
    found = []
    for name, cases in CASES.items():
        primitive = registry[name]
        if primitive not in table:
            continue
        with planted(table, primitive, spoil) as effect:
            checked = cell if any(c.positional is None for c in cases) else "named axis"
            if not any(_fails(checked, case) for case in cases if wanted(case)) and effect[0]:
                found.append(name)
    return found


def _fails(cell: str, case: Case) -> bool:
    try:
        with config.override(backend="numpy"):
            CHECKS[cell](case)
    except (AssertionError, MappedAxisError):
        return True
    return False


@pytest.mark.parametrize(
    ("table", "spoil", "cell"),
    [
        (evaluation_rules, wrong_evaluation, "evaluation"),
        (jvp_rules, wrong_tangent, "jvp"),
        (transpose_rules, wrong_transpose, "transposition"),
        (batching_rules, wrong_order, "batching"),
        (lowering_rules, wrong_lowering, "lowering"),
    ],
    ids=["evaluation", "jvp", "transposition", "batching", "lowering"],
)
def test_a_wrong_rule_is_found_out(table: Any, spoil: Spoil, cell: str) -> None:
    assert survivors(table, spoil, cell) == []


def test_a_wrong_second_derivative_is_found_out() -> None:
    bent = survivors(jvp_rules, wrong_second_derivative, "second derivative", curved)

    assert bent == []


def test_an_axis_that_is_said_to_lie_elsewhere_is_found_out() -> None:
    assert survivors(batching_rules, wrong_dimension, "batching") == []


@pytest.mark.parametrize("name", sorted(p.name for p in summing_transposes))
def test_a_total_that_is_not_summed_is_found_out(name: str) -> None:
    """Rules that sum over collective axes themselves, taken for such as do not need to."""
    primitive = registry[name]
    right = transpose_rules[primitive]

    def without_sum(reading: Any, ct: Any, /, *operands: Any, **params: Any) -> Sequence[Any]:
        return right(type(reading)(), ct, *operands, **params)

    transpose_rules[primitive] = without_sum
    try:
        # The linear map of a custom rule is transposed where the function that has it is.
        cases = CASES["custom_vjp_call" if name == "custom_vjp_linear" else name]
        assert any(_fails("named axis", case) for case in cases)
    finally:
        transpose_rules[primitive] = right
