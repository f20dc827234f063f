"""Linear algebra: what `axonym_numpy.linalg` holds."""

from __future__ import annotations

from axonym_numpy import linalg as _linalg
from axonym_numpy.linalg import *  # noqa: F403  # the namespace is that one, whatever is in it

__all__: list[str] = []
__all__ += _linalg.__all__
