"""Automatic differentiation on Axonym's tracing core.

`grad` and its like take `reduce_axes`: over the named axes that it lists, a gradient is the total;
over the others each index has its own.
"""

from __future__ import annotations

from . import rules as _rules  # noqa: F401  # fills the tables
from .custom_rules import custom_jvp as custom_jvp
from .custom_rules import custom_vjp as custom_vjp
from .errors import AutodiffError as AutodiffError
from .errors import CustomRuleError as CustomRuleError
from .errors import NotDifferentiableError as NotDifferentiableError
from .errors import NotLinearError as NotLinearError
from .forward import jvp as jvp
from .forward import linearize as linearize
from .reverse import grad as grad
from .reverse import linear_transpose as linear_transpose
from .reverse import value_and_grad as value_and_grad
from .reverse import vjp as vjp

__all__ = [
    "AutodiffError",
    "CustomRuleError",
    "NotDifferentiableError",
    "NotLinearError",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "jvp",
    "linear_transpose",
    "linearize",
    "value_and_grad",
    "vjp",
]
