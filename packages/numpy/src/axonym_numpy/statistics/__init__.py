"""Means, spreads, quantiles, counts, and series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import histograms, moments, nan_reductions, quantiles, sequences
from .histograms import *  # noqa: F403  # each module lists what it shows
from .moments import *  # noqa: F403
from .nan_reductions import *  # noqa: F403
from .quantiles import *  # noqa: F403
from .sequences import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [
        *histograms.__all__,
        *moments.__all__,
        *nan_reductions.__all__,
        *quantiles.__all__,
        *sequences.__all__,
    ]
