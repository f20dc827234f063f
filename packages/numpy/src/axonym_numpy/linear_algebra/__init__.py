"""Products of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import einstein_sums, products
from .einstein_sums import *  # noqa: F403  # each module lists what it shows
from .products import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*einstein_sums.__all__, *products.__all__]
