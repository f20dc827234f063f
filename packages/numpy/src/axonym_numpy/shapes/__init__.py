"""Shapes of arrays, and elements in other places."""

from __future__ import annotations

from . import rearranging, reshaping
from .rearranging import *  # noqa: F403  # each module lists what it shows
from .reshaping import *  # noqa: F403

__all__: list[str] = []
__all__ += rearranging.__all__
__all__ += reshaping.__all__
