"""What a cache of compiled functions tells about itself: its counts, and why a call missed.

Plain frozen values, taken at one moment, so that they can be kept, compared and printed while the
cache goes on working. They hold no function alive.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CacheStatistics", "FunctionStatistics", "KeyDifference", "MissExplanation"]


@dataclass(frozen=True, slots=True)
class FunctionStatistics:
    """The counts of one function.

    Attributes:
        name: The function's module and qualified name.
        hits: How often an entry was found, waiting for another thread's included.
        misses: How often none was found.
        evictions: How many entries made room for others.
        size: How many entries there are now.
    """

    name: str
    hits: int
    misses: int
    evictions: int
    size: int


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """The counts of a cache: in total and for each function that is alive.

    Attributes:
        hits: How often an entry was found, over all functions, also those that have died.
        misses: How often none was found.
        evictions: How many entries made room for others.
        size: How many entries there are now.
        capacity: How many there may be; None if there is no bound.
        functions: The counts of each function that is alive, in the order of first use.
    """

    hits: int
    misses: int
    evictions: int
    size: int
    capacity: int | None
    functions: tuple[FunctionStatistics, ...]

    def __str__(self) -> str:
        """A table with one line for each function."""
        bound = "unbounded" if self.capacity is None else str(self.capacity)
        lines = [f"{'hits':>9}{'misses':>9}{'evicted':>9}{'size':>7}  function"]
        lines += [
            f"{row.hits:>9}{row.misses:>9}{row.evictions:>9}{row.size:>7}  {row.name}"
            for row in self.functions
        ]
        lines.append(
            f"{self.hits:>9}{self.misses:>9}{self.evictions:>9}{self.size:>7}  "
            f"in total (capacity: {bound})"
        )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """One place where a key differs from another one.

    Attributes:
        path: The indices that lead to it through nested tuples.
        cached: What the key in the cache has there.
        given: What the key that was asked for has there.
    """

    path: tuple[int, ...]
    cached: Any
    given: Any


@dataclass(frozen=True, slots=True)
class MissExplanation:
    """Why a key is, or is not, in a cache.

    Attributes:
        reason: ``"present"``, ``"never called"`` (the function has no entries), ``"evicted"`` (it
            was there and made room for others) or ``"different"``.
        nearest: The key of that function with the fewest differences, or None.
        differences: Where ``nearest`` differs from the key that was asked for.
    """

    reason: Literal["present", "never called", "evicted", "different"]
    nearest: Hashable | None
    differences: tuple[KeyDifference, ...]


def key_differences(
    cached: Any, given: Any, path: tuple[int, ...] = ()
) -> tuple[KeyDifference, ...]:
    """Where two keys differ, through nested tuples of equal length.

    Args:
        cached: The key in the cache.
        given: The key that was asked for.
        path: What leads to the two.

    Returns:
        The differences from left to right; empty if the keys are equal.
    """
    if cached is given:
        return ()
    if type(cached) is tuple and type(given) is tuple and len(cached) == len(given):
        found: list[KeyDifference] = []
        for i, (one, other) in enumerate(zip(cached, given, strict=True)):
            found += key_differences(one, other, (*path, i))
        return tuple(found)
    return () if cached == given else (KeyDifference(path, cached, given),)


def explain_miss(key: Hashable, keys: Iterable[Hashable]) -> MissExplanation:
    """Find the nearest of several keys.

    Args:
        key: The key that was asked for, and is not there.
        keys: The keys that are there, from the most recently used to the least.

    Returns:
        The nearest key, the most recent one of several, and its differences.
    """
    best: MissExplanation | None = None
    for cached in keys:
        differences = key_differences(cached, key)
        if best is None or len(differences) < len(best.differences):
            best = MissExplanation("different", cached, differences)
    return MissExplanation("never called", None, ()) if best is None else best
