"""Means, spreads, quantiles, counts, and series."""

from __future__ import annotations

from . import histograms, moments, nan_reductions, quantiles, sequences
from .histograms import *  # noqa: F403  # each module lists what it shows
from .moments import *  # noqa: F403
from .nan_reductions import *  # noqa: F403
from .quantiles import *  # noqa: F403
from .sequences import *  # noqa: F403

__all__: list[str] = []
__all__ += histograms.__all__
__all__ += moments.__all__
__all__ += nan_reductions.__all__
__all__ += quantiles.__all__
__all__ += sequences.__all__
