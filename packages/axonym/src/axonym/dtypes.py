"""Element types and their promotion: what `axonym_core.types.dtypes` holds."""

from __future__ import annotations

from axonym_core.types import dtypes as _dtypes
from axonym_core.types.dtypes import *  # noqa: F403  # the namespace is that one, whatever is in it

__all__: list[str] = []
__all__ += _dtypes.__all__
