"""Registration: how a class of one's own becomes a node of pytrees.

Registering tells the library how to take an object apart into *children*, which may hold leaves,
and *static data*, which is part of the tree's structure; and how to put it together again. Static
data should be immutable, hashable and comparable with ``==``: two trees have the same structure,
and a compiled program is found again, if it is equal.

    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(metadata={"static": True})
    >>> from axonym_core.trees import tree_map
    >>> tree_map(lambda x: 2 * x, Layer(w=3.0, name="first"))
    Layer(w=6.0, name='first')

Registrations live in a namespace of optree of our own, so that neither another user of optree nor
``jax`` in the same process sees them. The function that puts an object together must accept any
children, also ``None`` or ``object()``: transformations pass what is not an array.

Users import these names from :mod:`axonym_core.trees`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, TypeVar

import optree

from ..errors import TreeStructureError
from .keys import GetAttrKey

__all__ = [
    "Partial",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
]

T = TypeVar("T")
Cls = TypeVar("Cls", bound=type)

#: The namespace of optree that holds the registrations of Axonym.
NAMESPACE: Final = "axonym"

# optree's type asks for a Collection where any class will do.
_register: Final[Any] = optree.register_pytree_node

Keyed = Iterable[tuple[Any, Any]]

#: For classes that are flattened without keys: how to get the keys when somebody asks for paths.
KEY_FUNCTIONS: Final[dict[type, Callable[[Any], tuple[Keyed, Any]]]] = {}


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, tuple[Any, ...]], T],
    flatten_with_keys_func: Callable[[T], tuple[Keyed, Hashable]] | None = None,
) -> None:
    """Make a class a node of pytrees.

    Args:
        nodetype: The class. Its subclasses are not registered with it.
        flatten_func: Takes an object to ``(children, static data)``.
        unflatten_func: Takes ``(static data, children)`` to an object.
        flatten_with_keys_func: Takes an object to ``((key, child) pairs, static data)``, for the
            functions with ``path`` in their names. Without it, children are named by position.

    Raises:
        TreeStructureError: If ``nodetype`` is no class, is registered already, or is one of the
            containers that are nodes without registration.

    Example:
        >>> class Pair:
        ...     def __init__(self, left, right):
        ...         self.left, self.right = left, right
        >>> register_pytree_node(
        ...     Pair, lambda p: ((p.left, p.right), None), lambda _, children: Pair(*children)
        ... )
        >>> from axonym_core.trees import tree_leaves
        >>> tree_leaves([Pair(1, (2, 3)), 4])
        [1, 2, 3, 4]
    """
    # FlattenedEntry hands back whatever a node gave as its entries; see `treedef_paths`.
    try:
        _register(
            nodetype,
            flatten_func,
            unflatten_func,
            path_entry_type=optree.FlattenedEntry,
            namespace=NAMESPACE,
        )
    except (TypeError, ValueError) as error:
        raise TreeStructureError(
            f"nodetype={nodetype!r} cannot be registered as a pytree node: {error} "
            "Register each class once, and built-in containers not at all."
        ) from None
    if flatten_with_keys_func is not None:
        KEY_FUNCTIONS[nodetype] = flatten_with_keys_func


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Keyed, Hashable]],
    unflatten_func: Callable[[Any, tuple[Any, ...]], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make a class a node of pytrees whose children have names.

    Args:
        nodetype: The class.
        flatten_with_keys: Takes an object to ``((key, child) pairs, static data)``. A key is a
            :class:`GetAttrKey`, :class:`DictKey`, :class:`SequenceKey` or another object whose
            ``str`` reads well after the name of a tree.
        unflatten_func: Takes ``(static data, children)`` to an object.
        flatten_func: A quicker way to ``(children, static data)``, used where nobody asks for the
            keys.

    Raises:
        TreeStructureError: As for :func:`register_pytree_node`.

    Example:
        >>> class Point:
        ...     def __init__(self, x, y):
        ...         self.x, self.y = x, y
        >>> register_pytree_with_keys(
        ...     Point,
        ...     lambda p: (((GetAttrKey("x"), p.x), (GetAttrKey("y"), p.y)), None),
        ...     lambda _, children: Point(*children),
        ... )
        >>> from axonym_core.trees import keystr, tree_leaves_with_path
        >>> [keystr(path) for path, _ in tree_leaves_with_path([Point(1, 2)])]
        ['[0].x', '[0].y']
    """

    def flatten(node: T) -> tuple[Any, ...]:
        keyed, static = flatten_with_keys(node)
        keyed = tuple(keyed)
        return tuple([c for _, c in keyed]), static, tuple([k for k, _ in keyed])

    register_pytree_node(
        nodetype,
        flatten if flatten_func is None else flatten_func,
        unflatten_func,
        flatten_with_keys,
    )


def register_pytree_node_class(cls: Cls) -> Cls:
    """Register a class that has ``tree_flatten`` and the class method ``tree_unflatten``.

    Args:
        cls: The class.

    Returns:
        The class, so that this function can be used as a decorator.

    Example:
        >>> @register_pytree_node_class
        ... class Box:
        ...     def __init__(self, item):
        ...         self.item = item
        ...     def tree_flatten(self):
        ...         return (self.item,), None
        ...     @classmethod
        ...     def tree_unflatten(cls, static, children):
        ...         return cls(*children)
        >>> from axonym_core.trees import tree_leaves
        >>> tree_leaves(Box((1, 2)))
        [1, 2]
    """
    _require(cls, "tree_flatten", "tree_unflatten")
    register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)  # type: ignore[attr-defined]  # required above
    return cls


def register_pytree_with_keys_class(cls: Cls) -> Cls:
    """Register a class that has ``tree_flatten_with_keys`` and ``tree_unflatten``.

    Args:
        cls: The class. Where it has ``tree_flatten`` too, that is used when no keys are needed.

    Returns:
        The class, so that this function can be used as a decorator.
    """
    _require(cls, "tree_flatten_with_keys", "tree_unflatten")
    register_pytree_with_keys(
        cls,
        cls.tree_flatten_with_keys,  # type: ignore[attr-defined]  # required above
        cls.tree_unflatten,  # type: ignore[attr-defined]  # required above
        getattr(cls, "tree_flatten", None),
    )
    return cls


def _require(cls: type, *methods: str) -> None:
    missing = [method for method in methods if not hasattr(cls, method)]
    if missing:
        raise TreeStructureError(
            f"class {getattr(cls, '__qualname__', cls)} cannot be registered as a pytree node: it "
            f"lacks {' and '.join(missing)}. Define the missing method, or call "
            "register_pytree_node with functions."
        )


def register_dataclass(
    nodetype: Cls,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Cls:
    """Make a dataclass (or a class built like one) a node of pytrees.

    Args:
        nodetype: The class. It is put together by calling it with keyword arguments.
        data_fields: The fields that are children. By default, all fields that the constructor
            takes and that are not static.
        meta_fields: The fields that are static data. By default, those declared with
            ``field(metadata={"static": True})``.
        drop_fields: Fields to leave out; the constructor must have a default for them.

    Returns:
        The class, so that this function can be used as a decorator.

    Raises:
        TreeStructureError: If only one of ``data_fields`` and ``meta_fields`` is given, a class
            that is no dataclass comes without them, or they are not exactly the fields that the
            constructor takes.

    Example:
        >>> @dataclasses.dataclass(frozen=True)
        ... class Scaled:
        ...     value: float
        ...     unit: str
        >>> _ = register_dataclass(Scaled, data_fields=["value"], meta_fields=["unit"])
        >>> from axonym_core.trees import tree_map
        >>> tree_map(lambda x: x / 2, Scaled(3.0, "m"))
        Scaled(value=1.5, unit='m')
    """
    if (data_fields is None) != (meta_fields is None):
        raise TreeStructureError(
            f"register_dataclass({nodetype.__qualname__}): data_fields and meta_fields must be "
            "given together. Give both, or neither and mark static fields with "
            'field(metadata={"static": True}).'
        )
    fields = (
        {f.name: f for f in dataclasses.fields(nodetype) if f.init}
        if dataclasses.is_dataclass(nodetype)
        else None
    )
    if data_fields is None or meta_fields is None:
        if fields is None:
            raise TreeStructureError(
                f"register_dataclass({nodetype.__qualname__}): the class is no dataclass, so that "
                "its fields are not known. Give data_fields and meta_fields."
            )
        kept = [f for f in fields.values() if f.name not in drop_fields]
        meta_fields = [f.name for f in kept if f.metadata.get("static", False)]
        data_fields = [f.name for f in kept if f.name not in meta_fields]
    data, meta = tuple(data_fields), tuple(meta_fields)
    given = [*data, *meta, *drop_fields]
    expected = set(given) if fields is None else set(fields)
    if set(given) != expected or len(given) != len(set(given)):
        raise TreeStructureError(
            f"register_dataclass({nodetype.__qualname__}): data_fields={list(data)} and "
            f"meta_fields={list(meta)} must name every field of the constructor once; the fields "
            f"are {sorted(expected)}. Name the others in drop_fields if they have defaults."
        )
    keys = tuple(GetAttrKey(name) for name in data)

    def flatten(node: Any) -> tuple[Any, ...]:
        children = tuple([getattr(node, name) for name in data])
        return children, tuple([getattr(node, name) for name in meta]), keys

    def flatten_with_keys(node: Any) -> tuple[Keyed, Any]:
        children, static, _ = flatten(node)
        return tuple(zip(keys, children, strict=True)), static

    def unflatten(static: tuple[Any, ...], children: tuple[Any, ...]) -> Any:
        arguments = dict(zip(data, children, strict=True))
        arguments.update(zip(meta, static, strict=True))
        return nodetype(**arguments)

    register_pytree_node(nodetype, flatten, unflatten, flatten_with_keys)
    return nodetype


def register_static(cls: Cls) -> Cls:
    """Make objects of a class static data: nodes without children.

    Args:
        cls: The class. Its objects must be hashable, and equal where a compiled program may be
            used for one as for the other.

    Returns:
        The class, so that this function can be used as a decorator.

    Example:
        >>> @register_static
        ... @dataclasses.dataclass(frozen=True)
        ... class Shape:
        ...     sides: int
        >>> from axonym_core.trees import tree_leaves
        >>> tree_leaves((Shape(3), 1.0))
        [1.0]
    """
    register_pytree_node(cls, lambda node: ((), node), lambda node, _: node)
    return cls


class Partial(functools.partial):  # type: ignore[type-arg]  # generic only in stubs before 3.14
    """``functools.partial`` that is a node of pytrees: its arguments are children.

    The function is static data. A ``functools.partial`` given as the function stays whole, so that
    its own arguments are static too.

    Example:
        >>> from axonym_core.trees import tree_map
        >>> scale = Partial(lambda a, x: a * x, 3.0)
        >>> tree_map(lambda a: 2 * a, scale)(5.0)
        30.0
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Partial:
        """Bind arguments to a function."""
        if isinstance(func, functools.partial) and not isinstance(func, Partial):
            func = _Whole(func)
        return super().__new__(cls, func, *args, **kwargs)


class _Whole:
    """A callable around a ``functools.partial``, which would otherwise be merged into ours."""

    __slots__ = ("func",)

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and other.func == self.func

    def __hash__(self) -> int:
        return hash(self.func)

    def __repr__(self) -> str:
        return repr(self.func)


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
    lambda p: ((p.args, p.keywords), p.func),
)
