"""Shapes of arrays, and elements in other places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import rearranging, reshaping
from .rearranging import *  # noqa: F403  # each module lists what it shows
from .reshaping import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*rearranging.__all__, *reshaping.__all__]
