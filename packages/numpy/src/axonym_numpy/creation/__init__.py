"""Arrays from numbers, and dtypes by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constants, construction, dtype_names, matrices, ranges
from .constants import *  # noqa: F403  # each module lists what it shows
from .construction import *  # noqa: F403
from .dtype_names import *  # noqa: F403
from .matrices import *  # noqa: F403
from .ranges import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [
        *constants.__all__,
        *construction.__all__,
        *dtype_names.__all__,
        *matrices.__all__,
        *ranges.__all__,
    ]
