"""Sums and their kin, whole and running."""

from __future__ import annotations

from . import cumulative, elementary
from .cumulative import *  # noqa: F403  # each module lists what it shows
from .elementary import *  # noqa: F403

__all__: list[str] = []
__all__ += cumulative.__all__
__all__ += elementary.__all__
