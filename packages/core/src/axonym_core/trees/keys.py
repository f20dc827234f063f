"""Key paths: how one says where in a pytree a leaf is.

A path is a tuple of keys, one for each level: ``(DictKey('w'), SequenceKey(0))`` leads from
``{'w': [x]}`` to ``x``, and :func:`keystr` writes it as ``['w'][0]``, which is what one would type
after the name of the tree. Error messages name arguments in this way. A registered class chooses
the keys of its children; any hashable object with a readable ``str`` will do.

Users import these names from :mod:`axonym_core.trees`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "PathKey",
    "SequenceKey",
    "keystr",
]


class PathKey:
    """The base of the four kinds of keys: one value, compared with its kind, hashable.

    Hand-written instead of a dataclass, since millions of them may be made for one large tree.
    """

    __slots__ = ("_value",)
    __match_args__: ClassVar[tuple[str, ...]] = ()

    _value: Any
    _field: ClassVar[str]

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._value == self._value

    def __hash__(self) -> int:
        return hash((type(self), self._value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._field}={self._value!r})"


class DictKey(PathKey):
    """Leads to the value of a key of a dictionary.

    Example:
        >>> str(DictKey("w"))
        "['w']"
    """

    __slots__ = ()
    __match_args__ = ("key",)
    _field = "key"

    @property
    def key(self) -> Hashable:
        """The key in the dictionary."""
        return self._value  # type: ignore[no-any-return]  # the slot holds what it was given

    def __str__(self) -> str:
        return f"[{self._value!r}]"


class SequenceKey(PathKey):
    """Leads to an item of a list, tuple or deque.

    Example:
        >>> str(SequenceKey(2))
        '[2]'
    """

    __slots__ = ()
    __match_args__ = ("idx",)
    _field = "idx"

    @property
    def idx(self) -> int:
        """The item's index."""
        return self._value  # type: ignore[no-any-return]  # the slot holds what it was given

    def __str__(self) -> str:
        return f"[{self._value}]"


class GetAttrKey(PathKey):
    """Leads to an attribute of an object, for example to a field of a dataclass or named tuple.

    Example:
        >>> str(GetAttrKey("weight"))
        '.weight'
    """

    __slots__ = ()
    __match_args__ = ("name",)
    _field = "name"

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self._value  # type: ignore[no-any-return]  # the slot holds what it was given

    def __str__(self) -> str:
        return f".{self._value}"


class FlattenedIndexKey(PathKey):
    """Leads to a child of a registered class that does not name its children.

    Example:
        >>> str(FlattenedIndexKey(0))
        '[<flat index 0>]'
    """

    __slots__ = ()
    __match_args__ = ("key",)
    _field = "key"

    @property
    def key(self) -> int:
        """The child's index in the order of flattening."""
        return self._value  # type: ignore[no-any-return]  # the slot holds what it was given

    def __str__(self) -> str:
        return f"[<flat index {self._value}>]"


#: The keys that lead from the root of a tree to a leaf.
KeyPath = tuple[Any, ...]


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """Write a key path as one would type it after the name of the tree.

    Args:
        keys: The keys, from the root to the leaf.
        simple: Whether to write the bare names and indices only.
        separator: What to put between two keys.

    Returns:
        The text; empty for the root.

    Example:
        >>> path = (DictKey("layers"), SequenceKey(0), GetAttrKey("w"))
        >>> keystr(path), keystr(path, simple=True, separator="/")
        ("['layers'][0].w", 'layers/0/w')
    """
    if simple:
        return separator.join(
            str(key._value) if isinstance(key, PathKey) else str(key) for key in keys
        )
    return separator.join(map(str, keys))
