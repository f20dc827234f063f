"""Functions of SciPy: `special`."""

from __future__ import annotations

from . import special as special

__all__ = ["special"]
