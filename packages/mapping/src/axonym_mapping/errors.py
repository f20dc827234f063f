"""Errors of mapping transformations."""

from __future__ import annotations

from axonym_core.errors import AxonymError

__all__ = ["BatchingRuleError", "MappedAxisError", "MappingError"]


class MappingError(AxonymError):
    """Base class of the errors of this package."""


class MappedAxisError(MappingError, ValueError):
    """The axes given to a mapping do not fit its arguments or results.

    Sizes differ, a dimension does not exist, or a result varies over an axis that `out_axes` does
    not list. The message names the argument or result, the axis and the mend.
    """


class BatchingRuleError(MappingError, TypeError):
    """A primitive without a batching rule was applied to a mapped value."""
