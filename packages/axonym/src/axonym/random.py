"""Random numbers from keys: what `axonym_random` holds.

>>> import axonym as ax
>>> first, second = ax.random.split(ax.random.key(0))
>>> ax.random.normal(first, (2,)).shape
(2,)
"""

from __future__ import annotations

import axonym_random as _axonym_random
from axonym_random import *  # noqa: F403  # the namespace is that one, whatever is in it

__all__: list[str] = []
__all__ += _axonym_random.__all__
