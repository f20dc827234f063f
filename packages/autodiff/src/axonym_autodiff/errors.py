"""Errors of differentiation."""

from __future__ import annotations

from axonym_core.errors import AxonymError

__all__ = ["AutodiffError", "CustomRuleError", "NotDifferentiableError", "NotLinearError"]


class AutodiffError(AxonymError):
    """Base class of the errors of this package."""


class NotDifferentiableError(AutodiffError, TypeError):
    """A derivative was asked for that does not exist.

    The argument is an integer, the output is not a scalar (for `grad`), or a function with a rule
    for one mode only is differentiated in the other. The message names the argument and the mend.
    """


class NotLinearError(AutodiffError, TypeError):
    """A function was transposed that is not linear in the arguments concerned.

    `linear_transpose` needs a linear function; `vjp` and `grad` make one by themselves. Reverse
    mode through a `while_loop` ends here too: use `scan`, or `fori_loop` with Python integers as
    bounds.
    """


class CustomRuleError(AutodiffError, TypeError):
    """A custom derivative rule is missing, or returned something of another shape than it must."""
