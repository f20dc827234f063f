"""Trees of arrays: what `axonym_core.trees` holds."""

from __future__ import annotations

from axonym_core import trees as _tree_util
from axonym_core.trees import *  # noqa: F403  # the namespace is that one, whatever is in it

__all__: list[str] = []
__all__ += _tree_util.__all__
