"""Mapping transformations of Axonym: `vmap` and `xmap`, with named axes."""

from __future__ import annotations

from . import rules as _rules  # noqa: F401  # fills the table
from .errors import BatchingRuleError as BatchingRuleError
from .errors import MappedAxisError as MappedAxisError
from .errors import MappingError as MappingError
from .vmap import vmap as vmap
from .xmap import xmap as xmap

__all__ = ["BatchingRuleError", "MappedAxisError", "MappingError", "vmap", "xmap"]
