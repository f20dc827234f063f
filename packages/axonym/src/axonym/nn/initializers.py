"""Initial values of weights: what `axonym_random.initializers` holds."""

from __future__ import annotations

from axonym_random import initializers as _initializers
from axonym_random.initializers import *  # noqa: F403  # the namespace is that one

__all__: list[str] = []
__all__ += _initializers.__all__
