"""The cache of compiled functions: one bound for all programs, and no function kept alive by it.

A compiled program is large, so the *total* number of them has to be bounded. If every compiled
function had a cache of its own, decorating the functions of a library would raise that number by
the library's size. A :class:`CompiledFunctionCache` is therefore shared by any number of functions
and evicts the least recently used entry of all.

An entry belongs to a *function* and a *key*. The function is held weakly: its entries outlive every
wrapper that ``jit`` made of it, as long as the function itself lives, and go when it dies.

    >>> cache = CompiledFunctionCache(capacity=2)
    >>> def f(x):
    ...     return x + 1
    >>> cache.lookup(f, "float32[]", lambda: "a program")
    'a program'
    >>> cache.size
    1
    >>> del f
    >>> cache.size
    0

Two functions are the same if they are the same *object*. A bound method is made anew each time that
it is read from its instance, so it is taken apart: ``a.step`` is the same function as another
``a.step`` for as long as ``a`` lives, and another one than ``b.step``. A callable that cannot be
referenced weakly (one whose class has ``__slots__`` without ``__weakref__``) lives as long as the
cache. A value must not refer to its function, or the function will never die.

How it works. Nothing takes a lock, so neither a thread nor an interrupt can find one held: see
:mod:`axonym_core.settings.caches`, whose policy this follows. A hit is one dictionary lookup, and a
tick of a clock written into the entry. A miss is rare and expensive, so it may look at all entries
to find the oldest. Who makes a program says so in a dictionary; others who want the same program
look there now and then, and whoever would wait for itself gets an error.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Hashable
from itertools import count
from threading import get_ident
from types import MethodType
from typing import Any, Final, final
from weakref import ref

from axonym_core.errors import ConfigError, RecursiveCallError
from axonym_core.settings import Entries, PerObject

from ._cache_report import CacheStatistics, FunctionStatistics, MissExplanation, explain_miss

__all__ = ["CompiledFunctionCache", "FunctionEntries", "default_cache"]

Function = Callable[..., Any]

_DEFAULT_CAPACITY: Final = 4096

#: How many evicted keys each function remembers, for explanations.
_REMEMBERED: Final = 16

#: Seconds between two looks at a program that another thread makes.
_PATIENCE: Final = 0.0005


@final
class _Counter:
    """A count that several threads may raise at once, by calling `add`, which returns it."""

    __slots__ = ("_count", "add")

    def __init__(self) -> None:
        self._count = count()
        # One call into C, hence indivisible and cheap; `+= 1` is neither.
        self.add = self._count.__next__

    def read(self) -> int:
        """How often it was raised. Only the text of a `count` says so without raising it."""
        return int(repr(self._count)[len("count(") : -1])


@final
class _Entry:
    __slots__ = ("used", "value")

    def __init__(self, value: Any, used: int) -> None:
        self.value = value
        self.used = used


@final
class _Making:
    """A program that some thread is making."""

    __slots__ = ("made", "name", "over", "owner", "value")

    def __init__(self, name: str) -> None:
        self.owner = get_ident()
        self.name = name
        self.over = False
        self.made = False
        self.value: Any = None


# Which thread waits for what, over all caches, so that a circle of them is found.
_waiting: dict[int, _Making] = {}


def _wait(making: _Making) -> None:
    """Wait until a program is made, or has failed; refuse if this thread has to make it."""
    me = get_ident()
    try:
        _waiting[me] = making
        while not making.over:
            owners = []
            step: _Making | None = making
            while step is not None and not step.over and step.owner not in owners:
                owners.append(step.owner)
                step = _waiting.get(step.owner)
            # In a circle of several threads one has to give way; the others then go on.
            if me in owners and me == max(owners):
                raise RecursiveCallError(
                    f"the compiled program of {making.name} is needed to make that same program: "
                    "the function calls itself with arguments of the same types. End the recursion "
                    "with a static argument that changes, or write a loop with lax.while_loop or "
                    "lax.scan."
                )
            time.sleep(_PATIENCE)
    finally:
        _waiting.pop(me, None)


@final
class FunctionEntries:
    """The entries of one function in a cache; the quick way in for who holds the function.

    Made by :meth:`CompiledFunctionCache.entries`. It does not keep the function alive, and is of
    no use after the function's death.

    What ``get`` does with a hit, a caller for whom its call takes too long may write in place::

        entry = entries.find(key)
        if entry is not None:
            entry.used = entries.tick()
            entries.hit()
            value = entry.value
    """

    __slots__ = (
        "__weakref__",
        "_cache",
        "_entries",
        "_evicted",
        "_evictions",
        "_hits",
        "_making",
        "_misses",
        "_name",
        "find",
        "hit",
        "tick",
    )

    def __init__(self, cache: CompiledFunctionCache, name: str) -> None:
        self._cache = ref(cache)
        self._name = name
        self._entries: Entries[_Entry] = Entries()
        self._making: dict[Hashable, _Making] = {}
        self._evicted: deque[Hashable] = deque(maxlen=_REMEMBERED)
        self._hits = _Counter()
        self._misses = _Counter()
        self._evictions = _Counter()
        self.find = self._entries.get
        self.hit = self._hits.add
        self.tick = cache._clock.add

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The value at ``key``; see :meth:`CompiledFunctionCache.get`."""
        entry = self._entries.get(key)
        if entry is None:
            self._missed()
            return default
        entry.used = self.tick()
        self._hits.add()
        return entry.value

    def put(self, key: Hashable, value: Any) -> None:
        """Set the value at ``key``; see :meth:`CompiledFunctionCache.put`."""
        cache = self._cache()
        if cache is not None:
            cache._changes.add()
            self._entries.put(key, _Entry(value, self.tick()))
            cache._evict()

    def lookup(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value at ``key``, made if needed; see :meth:`CompiledFunctionCache.lookup`."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.used = self.tick()
            self._hits.add()
            return entry.value
        mine = _Making(self._name)
        try:
            try:
                return self._make(key, make, mine)
            finally:
                self._end(key, mine)
        finally:  # again, should an interrupt have come in the midst of the first
            self._end(key, mine)

    def _make(self, key: Hashable, make: Callable[[], Any], mine: _Making) -> Any:
        """Make an entry, or wait for the thread that does."""
        while True:
            other = self._making.setdefault(key, mine)
            entry = self._entries.get(key)
            if entry is not None:  # it was made between our two looks
                entry.used = self.tick()
                self._hits.add()
                return entry.value
            if other is mine:
                break
            _wait(other)
            if other.made:
                self._counted_hit()
                return other.value
            # It failed for that thread. Perhaps it does not for us.
        self._missed()
        cache = self._cache()
        cleared = None if cache is None else cache._cleared
        mine.value = make()
        mine.made = True
        if cache is not None and cache._cleared is cleared:
            self.put(key, mine.value)
            if cache._cleared is not cleared:
                self._entries.pop(key, None)
        return mine.value

    def _end(self, key: Hashable, mine: _Making) -> None:
        if self._making.get(key) is mine:
            self._making.pop(key, None)
        mine.over = True

    def _counted_hit(self) -> None:
        self.tick()
        self._hits.add()

    def _missed(self) -> None:
        self._misses.add()
        cache = self._cache()
        if cache is not None:
            cache._misses.add()

    def _counts(self) -> FunctionStatistics:
        return FunctionStatistics(
            name=self._name,
            hits=self._hits.read(),
            misses=self._misses.read(),
            evictions=self._evictions.read(),
            size=len(self._entries),
        )


class CompiledFunctionCache:
    """A bounded cache of compiled programs that is shared by many functions.

    It may be used by any number of threads. What is evicted first is the least recently used entry
    over all functions.

    Args:
        capacity: How many entries there may be, over all functions; None for no bound.

    Raises:
        ConfigError: If ``capacity`` is neither None nor an integer of 0 or more.

    Example:
        >>> cache = CompiledFunctionCache(capacity=100)
        >>> def f(x):
        ...     return x
        >>> cache.get(f, "key") is None
        True
        >>> cache.put(f, "key", "a program")
        >>> cache.get(f, "key")
        'a program'
        >>> statistics = cache.statistics()
        >>> statistics.hits, statistics.misses
        (1, 1)
    """

    def __init__(self, capacity: int | None) -> None:
        self._capacity = _checked_capacity(capacity)
        self._functions: PerObject[FunctionEntries] = PerObject()
        # Functions that cannot be referenced weakly, by their addresses.
        self._held: dict[Hashable, tuple[Function, FunctionEntries]] = {}
        # Ticks with every hit and every change, so the two tell how many hits there were.
        self._clock = _Counter()
        self._changes = _Counter()
        self._misses = _Counter()
        self._evictions = _Counter()
        self._cleared = object()  # another one after each clear

    @property
    def capacity(self) -> int | None:
        """How many entries there may be; None if there is no bound."""
        return self._capacity

    @property
    def size(self) -> int:
        """How many entries there are, over all functions."""
        return sum([len(entries._entries) for entries in self._all()])

    def entries(self, function: Function) -> FunctionEntries:
        """The entries of one function, for who looks them up often.

        Args:
            function: The function.

        Returns:
            An object with ``get``, ``put`` and ``lookup`` that take no function.

        Example:
            >>> cache = CompiledFunctionCache(10)
            >>> cache.entries(print).lookup("key", lambda: "a program")
            'a program'
            >>> cache.get(print, "key")
            'a program'
        """
        found = self._find(function)
        if found is not None:
            return found
        entries = FunctionEntries(self, _name(function))
        try:
            return self._functions.first(function, entries)
        except TypeError:
            return self._held.setdefault(_address(function), (function, entries))[1]

    def get(self, function: Function, key: Hashable, default: Any = None) -> Any:
        """Return the value of an entry, which counts as a use of it.

        Args:
            function: The function that the entry belongs to.
            key: Its key.
            default: What to return if there is no such entry.

        Returns:
            The value or ``default``.
        """
        return self.entries(function).get(key, default)

    def put(self, function: Function, key: Hashable, value: Any) -> None:
        """Add or replace an entry; others may be evicted to make room.

        Args:
            function: The function that the entry belongs to.
            key: Its key.
            value: Its value, which must not refer to ``function``.
        """
        self.entries(function).put(key, value)

    def lookup(self, function: Function, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the value of an entry, and make the entry first if there is none.

        If several threads ask for the same entry at once, one of them makes it and the others
        wait. If ``make`` raises, there is no entry, the exception goes to the caller whose
        ``make`` it was, and the next one in line tries with its own.

        Args:
            function: The function that the entry belongs to.
            key: Its key.
            make: Takes nothing and returns the value.

        Returns:
            The value.

        Raises:
            RecursiveCallError: If ``make`` needs the entry that it is making.

        Example:
            >>> cache = CompiledFunctionCache(10)
            >>> cache.lookup(print, "key", lambda: "first")
            'first'
            >>> cache.lookup(print, "key", lambda: "second")
            'first'
        """
        return self.entries(function).lookup(key, make)

    def clear(self, function: Function | None = None) -> None:
        """Remove the entries of one function or of all; programs being made are not kept.

        The counts of :meth:`statistics` stay, and removed entries do not count as evicted.

        Args:
            function: The function, or None for all of them.
        """
        found = None if function is None else self._find(function)
        self._cleared = object()
        for entries in self._all() if function is None else [found] if found else []:
            entries._entries.clear()
            entries._evicted.clear()

    def resize(self, capacity: int | None) -> None:
        """Change the capacity; the least recently used entries go if there are too many.

        Args:
            capacity: How many entries there may be, over all functions; None for no bound.

        Raises:
            ConfigError: If ``capacity`` is neither None nor an integer of 0 or more.
        """
        self._capacity = _checked_capacity(capacity)
        self._evict()

    def keys(self, function: Function) -> list[Hashable]:
        """The keys of a function's entries, from the most to the least recently used."""
        found = self._find(function)
        if found is None:
            return []
        items = list(found._entries.items())
        return [key for key, _ in sorted(items, key=lambda item: -item[1].used)]

    def explain(self, function: Function, key: Hashable) -> MissExplanation:
        """Say why an entry is not there: which key comes nearest, and where it differs.

        Neither the counts nor the order of eviction change.

        Args:
            function: The function that the entry belongs to.
            key: Its key. Tuples are compared item by item.

        Returns:
            The reason, the nearest key and the differences.

        Example:
            >>> cache = CompiledFunctionCache(10)
            >>> cache.put(print, ("float32", (3,)), "a program")
            >>> cache.explain(print, ("float32", (4,))).differences
            (KeyDifference(path=(1, 0), cached=3, given=4),)
        """
        found = self._find(function)
        if found is not None and key in found._entries:
            return MissExplanation("present", key, ())
        explanation = explain_miss(key, self.keys(function))
        if found is not None and key in list(found._evicted):
            return MissExplanation("evicted", explanation.nearest, explanation.differences)
        return explanation

    def statistics(self) -> CacheStatistics:
        """Count hits, misses and evictions, per function and in total.

        Returns:
            The counts since the cache was made.
        """
        rows = tuple([entries._counts() for entries in self._all()])
        return CacheStatistics(
            hits=self._clock.read() - self._changes.read(),
            misses=self._misses.read(),
            evictions=self._evictions.read(),
            size=sum([row.size for row in rows]),
            capacity=self._capacity,
            functions=rows,
        )

    def function_statistics(self, function: Function) -> FunctionStatistics:
        """Count the hits, misses and evictions of one function.

        Args:
            function: The function.

        Returns:
            The counts since the function was first looked up.
        """
        found = self._find(function)
        if found is None:
            return FunctionStatistics(_name(function), hits=0, misses=0, evictions=0, size=0)
        return found._counts()

    def __repr__(self) -> str:
        """The size and the capacity."""
        return f"CompiledFunctionCache(capacity={self._capacity}, size={self.size})"

    def _all(self) -> list[FunctionEntries]:
        return [*self._functions, *[entries for _, entries in list(self._held.values())]]

    def _find(self, function: Function) -> FunctionEntries | None:
        found = self._functions.get(function)
        if found is None and self._held:
            return self._held.get(_address(function), (None, None))[1]
        return found

    def _evict(self) -> None:
        """Remove the least recently used entries that are too many."""
        too_many = 0 if self._capacity is None else self.size - self._capacity
        if too_many <= 0:
            return
        entries = [
            (entry.used, id(entry), key, owner)
            for owner in self._all()
            for key, entry in list(owner._entries.items())
        ]
        for _, _, key, owner in heapq.nsmallest(too_many, entries):
            if owner._entries.pop(key, None) is not None:
                owner._evicted.append(key)
                owner._evictions.add()
                self._evictions.add()


def _address(function: Function) -> Hashable:
    """What tells apart functions that are alive; a bound method is made anew for each reading."""
    if type(function) is MethodType:
        return (id(function.__self__), id(function.__func__))
    return id(function)


def _name(function: Function) -> str:
    name = getattr(function, "__qualname__", None)
    if name is None:
        name = type(function).__qualname__
        function = type(function)
    return f"{getattr(function, '__module__', None) or 'builtins'}.{name}"


def _checked_capacity(capacity: Any) -> int | None:
    if capacity is None or (type(capacity) is int and capacity >= 0):
        return capacity
    raise ConfigError(
        f"capacity must be an integer of 0 or more, or None for no bound; got {capacity!r}."
    )


_default = CompiledFunctionCache(_DEFAULT_CAPACITY)


def default_cache() -> CompiledFunctionCache:
    """The cache of every compiled function that was not given another one.

    Returns:
        The one cache of this process, for at most 4096 programs unless it was resized.

    Example:
        >>> default_cache().capacity
        4096
    """
    return _default
