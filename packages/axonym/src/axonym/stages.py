"""The stages of compilation: what `jit(f).trace(...)`, `.lower(...)` and `.compile()` return."""

from __future__ import annotations

from axonym_compile import Compiled as Compiled
from axonym_compile import Lowered as Lowered
from axonym_compile import Traced as Traced

__all__ = ["Compiled", "Lowered", "Traced"]
