"""Special functions: what `axonym_numpy.special` holds."""

from __future__ import annotations

from axonym_numpy import special as _special
from axonym_numpy.special import *  # noqa: F403  # the namespace is that one, whatever is in it

__all__: list[str] = []
__all__ += _special.__all__
