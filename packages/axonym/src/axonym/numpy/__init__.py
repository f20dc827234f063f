"""The NumPy-like namespace: what `axonym_numpy` holds.

>>> import axonym.numpy as anp
>>> anp.arange(3.0) + 0.5
Array([0.5, 1.5, 2.5], dtype=float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import axonym_numpy as _axonym_numpy
from axonym_numpy import *  # noqa: F403  # the namespace is that one, whatever is in it

from . import linalg as linalg  # the same names, in this package

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = _axonym_numpy.__all__
