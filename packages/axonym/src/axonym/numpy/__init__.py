"""The NumPy-like namespace: what `axonym_numpy` holds.

>>> import axonym.numpy as anp
>>> anp.arange(3.0) + 0.5
Array([0.5, 1.5, 2.5], dtype=float32)
"""

from __future__ import annotations

import axonym_numpy as _axonym_numpy
from axonym_numpy import *  # noqa: F403  # the namespace is that one, whatever is in it

from . import linalg as linalg  # type: ignore[no-redef]  # the same names, in this package

__all__: list[str] = []
__all__ += _axonym_numpy.__all__
