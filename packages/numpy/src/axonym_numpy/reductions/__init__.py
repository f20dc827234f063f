"""Sums and their kin, whole and running."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import cumulative, elementary
from .cumulative import *  # noqa: F403  # each module lists what it shows
from .elementary import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*cumulative.__all__, *elementary.__all__]
