"""Caches: one policy for keys and for lifetimes, and what it takes to follow it.

Every cache of the packages keeps four promises, and is built from the pieces below.

* **A key holds everything that the result depends on**, by name and by type, numbers by their bits:
  `1`, `1.0` and `True` are different keys, and so are `0.0` and `-0.0`, while a NaN is the same key
  as itself. :func:`exact` and :func:`exact_items` make such keys.
* **No cache keeps a function, a program or an array alive.** What is compared by identity stands in
  a key as a weak reference, and its entries go when it dies (:class:`Entries`). What belongs to one
  object lives with it: in the object itself, or in a :class:`PerObject`.
* **Caches are bounded** (:class:`BoundedCache`), unless they live with an object that bounds them.
* **Nothing takes a lock.** Each change is one operation of a dictionary, which no thread and no
  interrupt can find half done, with or without a global interpreter lock. The worst that a race or
  an interrupt does is that something is computed twice.

    >>> exact(0.0) == exact(-0.0), exact(1) == exact(True), exact((1, 2.0)) == exact((1, 2.0))
    (False, False, True)
"""

from __future__ import annotations

import dataclasses
import marshal
import struct
import sys
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import Enum
from types import EllipsisType, MethodType, NoneType
from typing import Any, Generic, TypeVar, final

import numpy as np

__all__ = [
    "BoundedCache",
    "Entries",
    "Interned",
    "PerObject",
    "exact",
    "exact_items",
    "register_key",
]

V = TypeVar("V")
T = TypeVar("T")

# Removes an entry of a dictionary if it is a dead reference, in one step, as `weakref` does.
_remove_dead: Callable[[dict[Any, Any], Any], None] = weakref._remove_dead_weakref  # type: ignore[attr-defined]  # not in typeshed

_BOOLS = {False: (bool, False), True: (bool, True)}
_double = struct.Struct("=d").pack
_two_doubles = struct.Struct("=dd").pack


def _tuple(value: tuple[Any, ...]) -> Hashable:
    for item in value:
        if type(item) is not int:
            break
    else:
        return value
    hash(value)
    try:
        code = marshal.dumps(value, 2)  # says types and bits; version 2 looks at no identities
    except ValueError:
        code = b"s"
    if b"s" in code:  # perhaps something that marshal takes for mere bytes
        return (tuple, *[exact(v) for v in value])
    return (tuple, code)


def _of_float(value: float) -> Hashable:
    return (type(value), _double(value))


def _of_complex(value: complex) -> Hashable:
    return (type(value), _two_doubles(value.real, value.imag))


def _of_numpy(value: np.generic) -> Hashable:
    return (type(value), value.dtype, value.tobytes())


# How values of a type are keyed: None means that the value is its own key.
_ways: dict[type, Callable[[Any], Hashable] | None] = {
    bool: _BOOLS.__getitem__,
    float: _of_float,
    complex: _of_complex,
    tuple: _tuple,
    **dict.fromkeys((int, str, bytes, NoneType, EllipsisType)),
}
_plain = {kind for kind, way in _ways.items() if way is None}


def exact(value: Any) -> Hashable:
    """Key of a value: equal for two values exactly if no program can tell them apart.

    What is compared by identity (functions, jaxprs, most objects) is keyed by a weak reference.

    Args:
        value: The value.

    Raises:
        TypeError: It is not hashable.

    Example:
        >>> exact((1,)) == exact((True,)), exact(float("nan")) == exact(float("nan"))
        (False, True)
    """
    kind = type(value)
    try:
        way = _ways[kind]
    except KeyError:
        way = _way(kind)
    return value if way is None else way(value)


def exact_items(params: Mapping[str, Any]) -> tuple[Hashable, ...]:
    """Key of named values: the names, then the :func:`exact` keys of the values.

    Raises:
        TypeError: A value is not hashable.
    """
    key: list[Hashable] = [*params]
    for value in params.values():
        kind = type(value)
        if kind is tuple:
            for item in value:
                if type(item) is not int:
                    value = _tuple(value)
                    break
        elif kind not in _plain:
            value = exact(value)
        key.append(value)
    return tuple(key)


def register_key(kind: type, way: Callable[[Any], Hashable] | None) -> None:
    """Say how the objects of a class are keyed.

    Args:
        kind: The class.
        way: Takes an object to its key; None where the object itself is a key.
    """
    _ways[kind] = way
    if way is None:
        _plain.add(kind)


def _way(kind: type) -> Callable[[Any], Hashable] | None:
    """How to key a type that is met for the first time; remembered for types that never die."""
    way: Callable[[Any], Hashable] | None
    if issubclass(kind, np.dtype) or (issubclass(kind, Enum) and kind.__eq__ is object.__eq__):
        way = None
    elif issubclass(kind, np.generic):
        way = _of_numpy
    elif issubclass(kind, float):
        way = _of_float
    elif issubclass(kind, complex):
        way = _of_complex
    elif issubclass(kind, tuple):
        way = _of_items
    elif issubclass(kind, frozenset):
        way = _of_set
    elif kind is MethodType:
        way = _of_method
    elif kind.__eq__ is object.__eq__:
        way = _by_identity
    elif dataclasses.is_dataclass(kind):
        way = _of_fields
    else:
        way = _by_value
    if getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind:
        register_key(kind, way)
    return way


def _of_items(value: tuple[Any, ...]) -> Hashable:
    return (type(value), _tuple(tuple(value)))


def _of_set(value: frozenset[Any]) -> Hashable:
    return (type(value), frozenset([exact(v) for v in value]))


def _of_method(value: MethodType) -> Hashable:
    try:
        return (MethodType, exact(value.__self__), exact(value.__func__))
    except TypeError:  # a method is hashable even if its instance is not
        return value


def _of_fields(value: Any) -> Hashable:
    hash(value)
    try:
        fields = [getattr(value, f.name) for f in dataclasses.fields(value) if f.compare]
        return (type(value), *[exact(v) for v in fields])
    except TypeError:  # it has a hash of its own, for fields that have none
        return _by_value(value)


def _by_value(value: Any) -> Hashable:
    hash(value)
    return (type(value), value)


def _by_identity(value: Any) -> Hashable:
    hash(value)
    try:
        return weakref.ref(value)
    except TypeError:  # its class has no room for weak references
        return value  # type: ignore[no-any-return]  # hashable, as seen above


@final
class _Part(weakref.ref[Any]):
    """A weak part of a key. When it dies, so does the entry."""

    __slots__ = ("key", "table")

    key: Hashable
    table: weakref.ref[Entries[Any]]


def _died(part: Any) -> None:
    table = part.table()
    if table is not None:
        table.pop(part.key, None)


class Entries(dict[Hashable, V]):
    """A dictionary whose entries go when a weak part of their key dies.

    Reading is reading a dictionary; entries are added with `put` or `first`.
    """

    __slots__ = ("__weakref__",)

    def put(self, key: Hashable, value: V) -> None:
        """Add or replace an entry."""
        own, parts = self._watched(key)
        self[own] = value
        self._recheck(parts)

    def first(self, key: Hashable, value: V) -> V:
        """Add an entry if there is none; return what is there."""
        own, parts = self._watched(key)
        found = self.setdefault(own, value)
        self._recheck(parts)
        return found

    def _watched(self, key: Hashable) -> tuple[Hashable, list[_Part]]:
        """The key with parts that watch over its entry, and these parts."""
        parts: list[_Part] = []
        own = _watching(key, parts)
        for part in parts:
            part.key = own
            part.table = weakref.ref(self)
        return own, parts

    def _recheck(self, parts: list[_Part]) -> None:
        for part in parts:
            if part() is None:  # it died before the entry was there
                _died(part)


def _watching(key: Any, parts: list[_Part]) -> Any:
    kind = type(key)
    if kind is weakref.ref:
        value = key()
        if value is None:
            return key
        parts.append(_Part(value, _died))
        return parts[-1]
    if kind is tuple:
        before = len(parts)
        items = tuple([_watching(k, parts) for k in key])
        return key if len(parts) == before else items
    return key


class BoundedCache(Generic[V]):
    """A cache that forgets what was not used for long.

    Entries are in two generations. What is found in the old one moves to the young one; when that
    is full it becomes the old one, whose entries are forgotten all at once. So the last
    `capacity / 2` entries that were used are there. None is no value.

    Args:
        capacity: How many entries there may be.

    Example:
        >>> cache = BoundedCache(100)
        >>> cache.put("key", 1)
        >>> cache.get("key"), cache.get("other")
        (1, None)
    """

    __slots__ = ("__weakref__", "_half", "_old", "young")

    def __init__(self, capacity: int) -> None:
        self._half = max(1, capacity // 2)
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        #: What was used last. Whoever is in a hurry may look here first.
        self.young: Entries[V] = Entries()
        self._old: Entries[V] = Entries()

    def get(self, key: Hashable) -> V | None:
        """The value at a key, or None."""
        found = self.young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def _room(self) -> Entries[V]:
        young = self.young
        if len(young) >= self._half:
            self._old = young
            self.young = young = Entries()
        return young

    def put(self, key: Hashable, value: V) -> None:
        """Add or replace an entry."""
        self._room().put(key, value)

    def first(self, key: Hashable, value: V) -> V:
        """Add an entry if there is none; return what is there."""
        found = self.get(key)
        return self._room().first(key, value) if found is None else found

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self.young) + len(self._old)


@final
class _Slot(weakref.ref[Any]):
    """A weak reference in a dictionary. It knows its key, and what else was put there."""

    __slots__ = ("key", "value")

    key: Any
    value: Any


class _References:
    """A dictionary of weak references, which are removed when they die."""

    __slots__ = ("__weakref__", "_remove", "slots")

    def __init__(self) -> None:
        self.slots: dict[Any, _Slot] = {}

        own = weakref.ref(self)

        # With a default, since this module may be empty already when Python ends.
        def remove(slot: Any, remove_dead: Any = _remove_dead) -> None:
            references = own()
            if references is not None:
                remove_dead(references.slots, slot.key)

        self._remove = remove

    def place(self, key: Hashable, target: Any, value: Any) -> _Slot:
        """Refer to `target` at a key, unless something alive is there; what is there then."""
        mine = _Slot(target, self._remove)
        mine.key, mine.value = key, value
        while True:
            slot = self.slots.setdefault(key, mine)
            if slot() is not None:
                return slot
            _remove_dead(self.slots, key)


@final
class Interned(Generic[T]):
    """Objects of which there is one for each key; they live as long as somebody uses them.

    Example:
        >>> class Word:
        ...     pass
        >>> words = Interned()
        >>> one = words.first("key", Word())
        >>> words.get("key") is one and words.first("key", Word()) is one
        True
        >>> del one
        >>> words.get("key") is None
        True
    """

    __slots__ = ("_references", "find")

    def __init__(self) -> None:
        self._references = _References()
        #: Finds the weak reference to an object, or None; for whoever is in a hurry.
        self.find: Callable[[Hashable], _Slot | None] = self._references.slots.get

    def get(self, key: Hashable) -> T | None:
        """The object of a key, or None."""
        slot = self.find(key)
        return None if slot is None else slot()

    def first(self, key: Hashable, value: T) -> T:
        """Make `value` the object of the key, unless there is one; return the one of the key."""
        while True:
            found = self._references.place(key, value, None)()
            if found is not None:
                return found  # type: ignore[no-any-return]  # what was put in

    def __len__(self) -> int:
        """How many objects are alive."""
        return len(self._references.slots)


@final
class PerObject(Generic[T]):
    """A value for each of some objects: known by identity, held weakly, gone when it dies.

    A bound method is made anew each time that it is read from its instance, so it is taken apart:
    its value lives as long as both the instance and the function do.

    Example:
        >>> names = PerObject()
        >>> def f():
        ...     pass
        >>> names.first(f, "f"), names.first(f, "g"), names.get(print)
        ('f', 'f', None)
        >>> del f
        >>> list(names)
        []
    """

    __slots__ = ("_methods", "_references")

    def __init__(self) -> None:
        self._references = _References()
        self._methods: PerObject[PerObject[T]] | None = None

    def get(self, owner: Any) -> T | None:
        """The value of an object, or None."""
        if type(owner) is MethodType:
            methods = None if self._methods is None else self._methods.get(owner.__self__)
            return None if methods is None else methods.get(owner.__func__)
        slot = self._references.slots.get(id(owner))
        return slot.value if slot is not None and slot() is owner else None

    def first(self, owner: Any, value: T) -> T:
        """Give an object a value unless it has one; return its value.

        Raises:
            TypeError: The object cannot be referenced weakly.
        """
        if type(owner) is MethodType:
            if self._methods is None:
                self._methods = PerObject()
            return self._methods.first(owner.__self__, PerObject()).first(owner.__func__, value)
        return self._references.place(id(owner), owner, value).value  # type: ignore[no-any-return]  # what was put in

    def clear(self) -> None:
        """Forget all values."""
        self._references.slots.clear()
        self._methods = None

    def __iter__(self) -> Iterator[T]:
        """The values of the objects that are alive."""
        for slot in list(self._references.slots.values()):
            if slot() is not None:
                yield slot.value
        for methods in self._methods or ():
            yield from methods
