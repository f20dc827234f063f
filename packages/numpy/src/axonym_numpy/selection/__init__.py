"""Elements by position, by order and by what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import index_arithmetic, sets, sorting, taking
from .index_arithmetic import *  # noqa: F403  # each module lists what it shows
from .sets import *  # noqa: F403
from .sorting import *  # noqa: F403
from .taking import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*index_arithmetic.__all__, *sets.__all__, *sorting.__all__, *taking.__all__]
