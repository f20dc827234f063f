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

How it works. A hit takes no lock: it is one dictionary lookup, and a tick of a clock written into
the entry. Recency is thus exact, while the order of eviction is worked out when something has to be
evicted: a heap holds every entry at the time at which it was last looked at, and an entry that was
used since goes back into it. A miss takes a lock only to note that its program is being made;
others who want the same program wait for it, and whoever would wait for itself gets an error.
"""

from __future__ import annotations

import heapq
import sys
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from itertools import count
from types import MethodType
from typing import Any, Final, final

from axonym_core.errors import ConfigError

from ._cache_report import CacheStatistics, FunctionStatistics, MissExplanation, explain_miss
from ._cache_threads import Counter, Lock, Making, wait

__all__ = ["CompiledFunctionCache", "FunctionEntries", "default_cache"]

Function = Callable[..., Any]

_DEFAULT_CAPACITY: Final = 4096

#: How many evicted keys each function remembers, for explanations.
_REMEMBERED: Final = 16


# What a function is found by: its id, or those of a bound method's instance and function.
_Identity = int | tuple[int, int]


@final
class _Entry:
    __slots__ = ("__weakref__", "identity", "key", "used", "value")

    def __init__(self, identity: _Identity, key: Hashable, value: Any, used: int) -> None:
        self.identity = identity
        self.key = key
        self.value = value
        self.used = used


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
        "_identity",
        "_making",
        "_misses",
        "_name",
        "_references",
        "_retired",
        "find",
        "hit",
        "tick",
    )

    def __init__(self, cache: CompiledFunctionCache, function: Function) -> None:
        died = _Died(cache, self)
        self._cache = weakref.ref(cache)
        self.tick = cache._tick
        self._name = _name(function)
        if type(function) is MethodType:
            self._identity: _Identity = (id(function.__self__), id(function.__func__))
            self._references: tuple[Callable[[], Any], ...] = (
                _reference(function.__self__, died),
                _reference(function.__func__, died),
            )
        else:
            self._identity = id(function)
            self._references = (_reference(function, died),)
        self._entries: dict[Hashable, _Entry] = {}
        self._making: dict[Hashable, Making] = {}
        self._evicted: deque[Hashable] = deque()
        self.find = self._entries.get
        self._hits = Counter()
        self.hit = self._hits.add
        self._misses = Counter()
        self._evictions = 0
        self._retired = False

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The value at ``key``; see :meth:`CompiledFunctionCache.get`."""
        entry = self._entries.get(key)
        if entry is None:
            self._misses.add()
            return default
        entry.used = self.tick()
        self._hits.add()
        return entry.value

    def put(self, key: Hashable, value: Any) -> None:
        """Set the value at ``key``; see :meth:`CompiledFunctionCache.put`."""
        cache = self._cache()
        if cache is not None and not cache._lock.held():
            cache._store(self, key, value, None)

    def lookup(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value at ``key``, made if needed; see :meth:`CompiledFunctionCache.lookup`."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.used = self.tick()
            self._hits.add()
            return entry.value
        cache = self._cache()
        if cache is None or cache._lock.held():
            return make()
        return cache._make(self, key, make)


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
        self._size = 0
        # An id may be used again after a death, so `_find` looks whether the objects are the same.
        self._functions: dict[_Identity, FunctionEntries] = {}
        self._tick = count().__next__
        # Every entry once, at the time of some use of it, and no later one. It is held weakly, so
        # that removing an entry need not search the heap.
        self._heap: list[tuple[int, weakref.ref[_Entry]]] = []
        self._lock = Lock()
        # The functions that died while the lock was held, and so could not be removed at once.
        self._dead: deque[FunctionEntries] = deque()
        self._past = [0, 0, 0]  # hits, misses and evictions of functions that have died

    @property
    def capacity(self) -> int | None:
        """How many entries there may be; None if there is no bound."""
        return self._capacity

    @property
    def size(self) -> int:
        """How many entries there are, over all functions."""
        return self._size

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
        if self._lock.held():
            return FunctionEntries(self, function)  # on its own: nothing will be kept
        with self._lock:
            found = self._find(function)
            if found is None:
                found = FunctionEntries(self, function)
                before = self._functions.get(found._identity)
                if before is not None:  # it died, and its id is used again already
                    self._dead.append(before)
                self._functions[found._identity] = found
        self._bury()
        return found

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
        removed: list[Any] = []
        with self._lock:
            if function is None:
                chosen = list(self._functions.values())
            else:
                found = self._find(function)
                chosen = [] if found is None else [found]
            for entries in chosen:
                self._empty(entries, removed)
        self._bury()

    def resize(self, capacity: int | None) -> None:
        """Change the capacity; the least recently used entries go if there are too many.

        Args:
            capacity: How many entries there may be, over all functions; None for no bound.

        Raises:
            ConfigError: If ``capacity`` is neither None nor an integer of 0 or more.
        """
        capacity = _checked_capacity(capacity)
        removed: list[Any] = []
        with self._lock:
            self._capacity = capacity
            self._evict(removed)
        self._bury()

    def keys(self, function: Function) -> list[Hashable]:
        """The keys of a function's entries, from the most to the least recently used."""
        found = self._find(function)
        if found is None:
            return []
        with self._lock:
            items = list(found._entries.items())
        self._bury()
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
        if found is not None and key in tuple(found._evicted):
            return MissExplanation("evicted", explanation.nearest, explanation.differences)
        return explanation

    def statistics(self) -> CacheStatistics:
        """Count hits, misses and evictions, per function and in total.

        Returns:
            The counts since the cache was made.
        """
        self._bury()
        with self._lock:
            rows = tuple([_counts(entries) for entries in self._functions.values()])
            hits, misses, evictions = self._past
            result = CacheStatistics(
                hits=hits + sum(row.hits for row in rows),
                misses=misses + sum(row.misses for row in rows),
                evictions=evictions + sum(row.evictions for row in rows),
                size=self._size,
                capacity=self._capacity,
                functions=rows,
            )
        self._bury()
        return result

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
        return _counts(found)

    def __repr__(self) -> str:
        """The size and the capacity."""
        return f"CompiledFunctionCache(capacity={self._capacity}, size={self._size})"

    # Everything below changes the cache. Methods that say so are called with the lock held. What
    # they remove goes into the caller's list `removed`, and is let go when the lock is free again:
    # letting go of a program may run any code, this cache's included.

    def _find(self, function: Function) -> FunctionEntries | None:
        if type(function) is MethodType:
            instance, plain = function.__self__, function.__func__
            found = self._functions.get((id(instance), id(plain)))
            if found is not None:
                references = found._references
                if references[0]() is instance and references[1]() is plain:
                    return found
            return None
        found = self._functions.get(id(function))
        if found is not None and found._references[0]() is function:
            return found
        return None

    def _make(self, entries: FunctionEntries, key: Hashable, make: Callable[[], Any]) -> Any:
        """Make an entry, or wait for the thread that does."""
        while True:
            with self._lock:
                entry = entries._entries.get(key)
                other = entries._making.get(key)
                if entry is None and other is None:
                    mine = entries._making[key] = Making()
            self._bury()
            if entry is not None:
                entry.used = self._tick()
                entries._hits.add()
                return entry.value
            if other is None:
                break
            wait(other, entries._name)
            if other.made:
                entries._hits.add()
                return other.value
            # It failed for that thread. Perhaps it does not for us.
        entries._misses.add()
        try:
            mine.value = make()
            mine.made = True
            self._store(entries, key, mine.value, mine)
        finally:
            if not mine.made:
                with self._lock:
                    if entries._making.get(key) is mine:
                        del entries._making[key]
                self._bury()
            mine.done.set()
        return mine.value

    def _store(
        self, entries: FunctionEntries, key: Hashable, value: Any, making: Making | None
    ) -> None:
        removed: list[Any] = []
        with self._lock:
            current = True
            if making is not None:
                # If it is not there any more, the cache was cleared since.
                current = entries._making.get(key) is making
                if current:
                    del entries._making[key]
            if current and self._functions.get(entries._identity) is entries:
                before = entries._entries.get(key)
                entry = _Entry(entries._identity, key, value, self._tick())
                entries._entries[key] = entry
                heapq.heappush(self._heap, (entry.used, weakref.ref(entry)))
                if before is None:
                    self._size += 1
                    self._evict(removed)
                else:
                    removed.append(before)
        self._bury()

    def _evict(self, removed: list[Any]) -> None:
        """Remove the least recently used entries that are too many; with the lock held."""
        capacity = self._size if self._capacity is None else self._capacity
        while self._size > capacity:
            used, reference = heapq.heappop(self._heap)
            entry = reference()
            owner = None if entry is None else self._functions.get(entry.identity)
            if entry is None or owner is None or owner._entries.get(entry.key) is not entry:
                continue  # replaced, cleared, or its function has died
            if entry.used != used:
                heapq.heappush(self._heap, (entry.used, reference))
                continue
            removed.append(entry)
            del owner._entries[entry.key]
            self._size -= 1
            owner._evictions += 1
            owner._evicted.append(entry.key)
            if len(owner._evicted) > _REMEMBERED:
                removed.append(owner._evicted.popleft())
        if len(self._heap) > 2 * self._size + 64:
            self._heap = [
                (entry.used, weakref.ref(entry))
                for entries in self._functions.values()
                for entry in entries._entries.values()
            ]
            heapq.heapify(self._heap)

    def _empty(self, entries: FunctionEntries, removed: list[Any]) -> None:
        """Remove the entries of one function; with the lock held."""
        removed += [*entries._entries.values(), *entries._making.items(), *entries._evicted]
        self._size -= len(entries._entries)
        entries._entries.clear()
        entries._making.clear()
        entries._evicted.clear()

    def _bury(self) -> None:
        """Remove the functions that have died; called whenever the lock became free.

        A function may die at any moment, also in a thread that holds the lock just then. So its
        death is noted first, and whoever can have the lock without waiting acts on it.
        """
        while self._dead and self._lock.try_enter():
            removed: list[Any] = []
            try:
                while self._dead:
                    entries = self._dead.popleft()
                    if entries._retired:  # a bound method may die twice: its instance and itself
                        continue
                    entries._retired = True
                    self._empty(entries, removed)
                    if self._functions.get(entries._identity) is entries:
                        del self._functions[entries._identity]
                    row = _counts(entries)
                    self._past[0] += row.hits
                    self._past[1] += row.misses
                    self._past[2] += row.evictions
            finally:
                self._lock.__exit__()


@final
class _Died:
    """What is called when a part of a function dies. It keeps alive neither cache nor entries."""

    __slots__ = ("_cache", "_entries")

    def __init__(self, cache: CompiledFunctionCache, entries: FunctionEntries) -> None:
        self._cache = weakref.ref(cache)
        self._entries = weakref.ref(entries)

    def __call__(self, _: object, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # Python ends, and has emptied this module, save for the default here
            return
        cache, entries = self._cache(), self._entries()
        if cache is not None and entries is not None:
            cache._dead.append(entries)
            cache._bury()


def _reference(part: Any, died: _Died) -> Callable[[], Any]:
    try:
        return weakref.ref(part, died)
    except TypeError:
        return lambda: part  # its class has no room for weak references


def _name(function: Function) -> str:
    name = getattr(function, "__qualname__", None)
    if name is None:
        name = type(function).__qualname__
        function = type(function)
    return f"{getattr(function, '__module__', None) or 'builtins'}.{name}"


def _counts(entries: FunctionEntries) -> FunctionStatistics:
    return FunctionStatistics(
        name=entries._name,
        hits=entries._hits.read(),
        misses=entries._misses.read(),
        evictions=entries._evictions,
        size=len(entries._entries),
    )


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
