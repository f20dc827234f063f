"""What the namespace tells of itself, and the methods of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import array_methods as array_methods
from . import namespace_info
from .namespace_info import *  # noqa: F403  # the module lists what it shows

if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = [*namespace_info.__all__]
