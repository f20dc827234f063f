"""Structures compared: where two pytrees differ, and what a prefix of one stands for.

Where trees do not match, the message has to say *where* and *what is there on each side*, in the
words of the user's program. :func:`structure_difference` walks two structures down to the first
difference, and everything that compares trees tells the user what it found. :func:`flatten_axes`
expands a *prefix* of a tree, such as the ``in_axes`` of a ``vmap``, to one value per leaf.

Users import these names from :mod:`axonym_core.trees`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import optree

from ..errors import TreeStructureError
from .keys import DictKey, FlattenedIndexKey, GetAttrKey, KeyPath, PathKey, SequenceKey, keystr
from .registry import NAMESPACE

__all__ = [
    "PyTreeDef",
    "StructureDifference",
    "describe_difference",
    "flatten_axes",
    "structure_difference",
    "treedef_paths",
]

PyTreeDef = optree.PyTreeSpec

IsLeaf = Callable[[Any], bool]

_MAPPINGS: Final = frozenset((dict, OrderedDict, defaultdict))
_SEQUENCES: Final = frozenset((tuple, list, deque))


def node_keys(kind: Any, entries: Sequence[Any]) -> Sequence[Any]:
    """The path keys of the children of a node.

    Args:
        kind: The node's class.
        entries: What optree calls the children: dictionary keys, indices, or what a registered
            class gave.

    Returns:
        One key for each child.
    """
    if kind in _SEQUENCES:
        return [SequenceKey(i) for i in range(len(entries))]
    if kind in _MAPPINGS:
        return [DictKey(entry) for entry in entries]
    if kind is None or kind is type(None):
        return ()
    if optree.is_namedtuple_class(kind):
        return [GetAttrKey(name) for name in optree.namedtuple_fields(kind)]
    if optree.is_structseq_class(kind):
        return [GetAttrKey(name) for name in optree.structseq_fields(kind)]
    return [FlattenedIndexKey(e) if isinstance(e, int) else e for e in entries]


def treedef_paths(treedef: PyTreeDef) -> list[KeyPath]:
    """The path of every leaf of a structure, in the order of flattening.

    Args:
        treedef: The structure. No tree is needed.

    Returns:
        One tuple of keys for each leaf. Children of classes registered with a ``flatten_func`` of
        their own are named by position, since only a tree knows their keys.

    Example:
        >>> from axonym_core.trees import tree_structure
        >>> [keystr(path) for path in treedef_paths(tree_structure({"a": (1, 2), "b": 3}))]
        ["['a'][0]", "['a'][1]", "['b']"]
    """
    found: list[KeyPath] = []

    def walk(node: PyTreeDef, path: KeyPath) -> None:
        if node.is_leaf():
            found.append(path)
            return
        for key, child in zip(node_keys(node.type, node.entries()), node.children(), strict=True):
            walk(child, (*path, key))

    walk(treedef, ())
    return found


class StructureDifference(NamedTuple):
    """The first place where two structures differ.

    Attributes:
        path: Its path.
        first: What the first structure has there, in words.
        second: What the second one has there.
    """

    path: KeyPath
    first: str
    second: str


def structure_difference(
    first: PyTreeDef, second: PyTreeDef, *, prefix: bool = False
) -> StructureDifference | None:
    """Find the first place where two structures differ.

    Args:
        first: One structure.
        second: The other one.
        prefix: Whether it suffices that ``first`` is a prefix of ``second``. A leaf of ``first``
            then stands for any subtree, and dictionaries of different classes match.

    Returns:
        The place and what is there, or None if there is no difference.

    Example:
        >>> from axonym_core.trees import tree_structure
        >>> structure_difference(tree_structure([1, (2,)]), tree_structure([1, 2])).second
        'a leaf'
    """
    if first == second or (prefix and first.is_leaf()):
        return None
    if first.is_leaf() or second.is_leaf() or not _same_kind(first, second, prefix):
        return StructureDifference((), describe_node(first), describe_node(second))
    entries, others = first.entries(), second.children()
    if first.type in _MAPPINGS:
        # An OrderedDict lists its children in its own order.
        by_key = dict(zip(second.entries(), others, strict=True))
        others = [by_key[entry] for entry in entries]
    for key, one, other in zip(
        node_keys(first.type, entries), first.children(), others, strict=True
    ):
        found = structure_difference(one, other, prefix=prefix)
        if found is not None:
            return found._replace(path=(key, *found.path))
    if prefix and first.type in _MAPPINGS:
        return None
    # Same class and same keys, so that only the static data can differ.
    if first.one_level() == second.one_level():
        return None
    return StructureDifference((), _with_static_data(first), _with_static_data(second))


def _same_kind(first: PyTreeDef, second: PyTreeDef, prefix: bool) -> bool:
    same_class = first.type is second.type
    if prefix and first.type in _MAPPINGS and second.type in _MAPPINGS:
        same_class = True
    return (
        same_class
        and first.num_children == second.num_children
        and (first.type not in _MAPPINGS or set(first.entries()) == set(second.entries()))
    )


def describe_node(node: PyTreeDef) -> str:
    """Say in words what is at the root of a structure.

    Example:
        >>> from axonym_core.trees import tree_structure
        >>> describe_node(tree_structure({"b": 1, "a": 2}))
        "a dict with keys ['a', 'b']"
    """
    kind: Any = node.type
    count = node.num_children
    if node.is_leaf():
        return "a leaf"
    if kind is None or kind is type(None):
        return "None"
    article = "an" if kind.__name__[:1].lower() in "aeiou" else "a"
    if kind in _MAPPINGS:
        keys = node.entries()
        shown = ", ".join(map(repr, keys[:10])) + (", ..." if count > 10 else "")
        return f"{article} {kind.__name__} with keys [{shown}]"
    if kind in _SEQUENCES:
        return f"{article} {kind.__name__} of length {count}"
    return f"{article} {kind.__name__}"


def _with_static_data(node: PyTreeDef) -> str:
    # optree shows static data in the text of a structure only: CustomTreeNode(Class[data], [*]).
    text, kind = str(node.one_level()), getattr(node.type, "__name__", "")
    start = f"PyTreeSpec(CustomTreeNode({kind}["
    if text.startswith(start):
        data = text[len(start) :].rpartition("], [")[0]
        return f"{describe_node(node)} with static data {data}"
    return text.removeprefix("PyTreeSpec(").removesuffix(")")


def describe_difference(
    first: PyTreeDef,
    second: PyTreeDef,
    *,
    names: tuple[str, str],
    prefix: bool = False,
) -> str | None:
    """Say in one sentence where two structures differ, for an error message.

    Args:
        first: One structure.
        second: The other one.
        names: What to call them.
        prefix: Whether it suffices that ``first`` is a prefix of ``second``.

    Returns:
        A text such as ``"at ['w']: the carry has a leaf, the result has None"``, or None if there
        is no difference.

    Example:
        >>> from axonym_core.trees import tree_structure
        >>> describe_difference(
        ...     tree_structure({"w": 1}),
        ...     tree_structure({"w": None}),
        ...     names=("the carry", "the result"),
        ... )
        "at ['w']: the carry has a leaf, the result has None"
    """
    found = structure_difference(first, second, prefix=prefix)
    if found is None:
        return None
    where = keystr(found.path) or "the root"
    return f"at {where}: {names[0]} has {found.first}, {names[1]} has {found.second}"


def flatten_axes(
    name: str,
    treedef: PyTreeDef,
    axis_tree: Any,
    *,
    is_leaf: IsLeaf | None = None,
    of: str = "argument",
    exact: bool = False,
) -> list[Any]:
    """Expand a tree that is a prefix of a structure to one value per leaf.

    Here ``None`` is a value (no axis), and not a node without leaves as everywhere else.

    Args:
        name: The name of the argument that holds the prefix, such as ``in_axes``.
        treedef: The structure to expand to.
        axis_tree: The prefix. A value stands for the whole subtree at its place.
        is_leaf: Says which containers in ``axis_tree`` are values.
        of: What ``treedef`` is the structure of, for the message: ``argument`` or ``result``.
        exact: Whether ``None`` is the only value that may stand for more than a leaf.

    Returns:
        One value for each leaf of ``treedef``, in its order.

    Raises:
        TreeStructureError: If ``axis_tree`` is not a prefix; it names the path.

    Example:
        >>> from axonym_core.trees import tree_structure
        >>> flatten_axes("in_axes", tree_structure(({"w": 1, "b": 2}, 3)), (None, 0))
        [None, None, 0]
    """
    if axis_tree is None or (type(axis_tree) is int and not exact):
        return [axis_tree] * treedef.num_leaves
    expanded: list[Any] = []
    _expand(name, treedef, axis_tree, is_leaf, of, exact, (), expanded)
    return expanded


def _expand(
    name: str,
    treedef: PyTreeDef,
    axes: Any,
    is_leaf: IsLeaf | None,
    of: str,
    exact: bool,
    path: tuple[PathKey, ...],
    expanded: list[Any],
) -> None:
    if axes is None or optree.tree_is_leaf(axes, is_leaf, none_is_leaf=True, namespace=NAMESPACE):
        if exact and axes is not None and not treedef.is_leaf():
            raise TreeStructureError(
                f"{name}{keystr(path)} is one value, but the {of} there is "
                f"{describe_node(treedef)}. Give a tree of its structure, or None."
            )
        expanded += [axes] * treedef.num_leaves
        return
    nodes, level = optree.tree_flatten(
        axes, lambda x: x is not axes, none_is_leaf=True, namespace=NAMESPACE
    )
    if treedef.is_leaf() or not _same_kind(treedef, level, prefix=True):
        raise TreeStructureError(
            f"{name}{keystr(path)} is {describe_node(level)}, but the {of} there is "
            f"{describe_node(treedef)}. Give one value for the whole {of} there, or a tree of "
            f"its structure."
        )
    children = dict(zip(level.entries(), nodes, strict=True))
    entries = treedef.entries()
    for key, entry, child in zip(
        node_keys(treedef.type, entries), entries, treedef.children(), strict=True
    ):
        _expand(name, child, children[entry], is_leaf, of, exact, (*path, key), expanded)
