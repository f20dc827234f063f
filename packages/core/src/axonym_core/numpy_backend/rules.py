"""The table of NumPy evaluation rules: what each primitive means, in NumPy's words.

A rule takes the operands as NumPy arrays (read-only; it must not write to them) and the parameters
by keyword, and returns an array (or scalar), or a sequence of them for a primitive with multiple
results. These rules are the oracle of the compiled backend, so they are plain rather than quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..programs.primitive import Primitive

EvaluationRule = Callable[..., Any]

evaluation_rules: dict[Primitive, EvaluationRule] = {}


def register_evaluation(primitive: Primitive, rule: EvaluationRule) -> None:
    """Set the NumPy evaluation rule of a primitive.

    Args:
        primitive: The primitive.
        rule: `rule(*operands, **params)` on NumPy arrays.
    """
    evaluation_rules[primitive] = rule
