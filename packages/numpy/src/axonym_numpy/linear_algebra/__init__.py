"""Products of arrays."""

from __future__ import annotations

from . import einstein_sums, products
from .einstein_sums import *  # noqa: F403  # each module lists what it shows
from .products import *  # noqa: F403

__all__: list[str] = []
__all__ += einstein_sums.__all__
__all__ += products.__all__
