"""Elements by position, by order and by what they are."""

from __future__ import annotations

from . import index_arithmetic, sets, sorting, taking
from .index_arithmetic import *  # noqa: F403  # each module lists what it shows
from .sets import *  # noqa: F403
from .sorting import *  # noqa: F403
from .taking import *  # noqa: F403

__all__: list[str] = []
__all__ += index_arithmetic.__all__
__all__ += sets.__all__
__all__ += sorting.__all__
__all__ += taking.__all__
