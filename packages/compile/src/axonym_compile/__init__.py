"""Compiled functions: `jit`, and the bounded, shared caches of compiled programs."""

from __future__ import annotations

from ._cache import CompiledFunctionCache as CompiledFunctionCache
from ._cache import FunctionEntries as FunctionEntries
from ._cache import default_cache as default_cache
from ._cache_report import CacheStatistics as CacheStatistics
from ._cache_report import FunctionStatistics as FunctionStatistics
from ._cache_report import KeyDifference as KeyDifference
from ._cache_report import MissExplanation as MissExplanation
from ._jit import CompiledFunction as CompiledFunction
from ._jit import jit as jit
from ._jit import library_cache as library_cache
from ._jit import library_jit as library_jit
from ._stages import Compiled as Compiled
from ._stages import Lowered as Lowered
from ._stages import Traced as Traced
from .errors import ArgumentError as ArgumentError
from .errors import CompileError as CompileError
from .errors import StaticArgumentError as StaticArgumentError

__all__ = [
    "ArgumentError",
    "CacheStatistics",
    "CompileError",
    "Compiled",
    "CompiledFunction",
    "CompiledFunctionCache",
    "FunctionEntries",
    "FunctionStatistics",
    "KeyDifference",
    "Lowered",
    "MissExplanation",
    "StaticArgumentError",
    "Traced",
    "default_cache",
    "jit",
    "library_cache",
    "library_jit",
]
