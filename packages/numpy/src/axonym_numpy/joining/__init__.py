"""Arrays made of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import concatenation, padding, set_operations
from .concatenation import *  # noqa: F403  # each module lists what it shows
from .padding import *  # noqa: F403
from .set_operations import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*concatenation.__all__, *padding.__all__, *set_operations.__all__]
