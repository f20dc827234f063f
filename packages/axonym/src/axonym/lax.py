"""The primitive operations as functions, control flow and collectives: `axonym_core.lax`.

>>> import axonym as ax
>>> total, partial = ax.lax.scan(lambda c, x: (c + x, c), 0, ax.numpy.arange(4))
>>> int(total), partial.tolist()
(6, [0, 0, 1, 3])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from axonym_core import lax as _lax
from axonym_core.lax import *  # noqa: F403  # the namespace is that one, whatever is in it

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = _lax.__all__
