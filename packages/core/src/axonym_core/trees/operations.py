"""Pytrees: nested containers of arrays, taken apart into leaves and put together again.

Every function of this library takes and returns *pytrees*: leaves, or containers of pytrees. The
containers are ``tuple``, ``list``, ``dict``, ``None``, named tuples, ``OrderedDict``,
``defaultdict``, ``deque``, the struct sequences of the standard library, and every class that was
registered. Anything else is a leaf. Flattening gives the leaves and a *treedef*, which is hashable,
comparable, and can be pickled.

    >>> leaves, treedef = tree_flatten({"w": (1, 2), "b": None})
    >>> leaves
    [1, 2]
    >>> tree_unflatten(treedef, [10, 20]) == {"w": (10, 20), "b": None}
    True

``None`` is a container without leaves, not a leaf.

Dictionaries are flattened in the order of their sorted keys, so that two with the same keys have
one structure; they are put together in the order in which the keys were inserted. Keys that Python
cannot compare with each other (``1`` and ``"a"``) are sorted by the names of their types first.
Keys that cannot be sorted even so (objects without ``<``) stay in the order in which they were
inserted, and dictionaries in which that differs have different structures.

The work is done in C++ by ``optree``; this module gives it the names and the meaning that users of
this field know, key paths, and messages that name the place where two trees differ. See
`axonym_core.trees.registry` for registering a class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import optree

from ..errors import ArgumentTypeError, TreeDepthError, TreeStructureError
from .keys import DictKey, FlattenedIndexKey, GetAttrKey, KeyPath, SequenceKey, keystr
from .registry import (
    KEY_FUNCTIONS,
    NAMESPACE,
    Partial,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from .structures import (
    IsLeaf,
    PyTreeDef,
    StructureDifference,
    describe_difference,
    flatten_axes,
    node_keys,
    structure_difference,
    treedef_paths,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "StructureDifference",
    "all_leaves",
    "broadcast_prefix",
    "describe_difference",
    "flatten_axes",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "structure_difference",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_paths",
    "treedef_tuple",
]

_flatten: Final[Any] = optree.tree_flatten
_leaves: Final[Any] = optree.tree_leaves
_structure: Final[Any] = optree.tree_structure
_MISSING: Final[Any] = object()


_TOO_DEEP: Final = (
    "the tree is too deep to be taken apart; does a container hold itself? Take it out, or make "
    "it a leaf with is_leaf"
)


def tree_flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], PyTreeDef]:
    """Take a tree apart into its leaves and its structure.

    Args:
        tree: Any pytree.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        The leaves, and the structure that :func:`tree_unflatten` needs.

    Example:
        >>> tree_flatten({"b": 2, "a": (1, None)})[0]
        [1, 2]
    """
    try:
        return _flatten(tree, is_leaf, namespace=NAMESPACE)  # type: ignore[no-any-return]  # bound above
    except RecursionError as error:
        raise TreeDepthError(_TOO_DEEP) from error


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Put a tree together from its structure and its leaves.

    Args:
        treedef: A structure, as :func:`tree_flatten` returns it.
        leaves: As many leaves as it has.

    Returns:
        The tree.

    Raises:
        TreeStructureError: If the number of leaves is wrong, or ``treedef`` is no structure.

    Example:
        >>> tree_unflatten(tree_structure([0, (0,)]), "ab")
        ['a', ('b',)]
    """
    if type(leaves) is not list and type(leaves) is not tuple:
        if not isinstance(leaves, Iterable):
            raise ArgumentTypeError(
                f"tree_unflatten: leaves must be a sequence, got {type(leaves).__name__}"
            )
        leaves = list(leaves)
    try:
        return treedef.unflatten(leaves)
    except (AttributeError, ValueError):
        if not isinstance(treedef, PyTreeDef):
            raise TreeStructureError(
                f"tree_unflatten: treedef must be a structure; got {type(treedef).__name__}. "
                "The order of the arguments is (treedef, leaves)."
            ) from None
        if len(leaves) == treedef.num_leaves:
            raise
        raise TreeStructureError(
            f"tree_unflatten: treedef has {treedef.num_leaves} leaves, but {len(leaves)} were "
            f"given. Give one leaf for each * in {treedef}."
        ) from None


def tree_leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of a tree.

    Args:
        tree: Any pytree.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        The leaves in the order of flattening.

    Example:
        >>> tree_leaves([1, (2, {"a": 3}), None])
        [1, 2, 3]
    """
    try:
        return _leaves(tree, is_leaf, namespace=NAMESPACE)  # type: ignore[no-any-return]  # bound above
    except RecursionError as error:
        raise TreeDepthError(_TOO_DEEP) from error


def tree_structure(tree: Any, is_leaf: IsLeaf | None = None) -> PyTreeDef:
    """The structure of a tree.

    Args:
        tree: Any pytree.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        The structure: hashable, comparable, and pickled like any object.

    Example:
        >>> tree_structure((1, 2)) == tree_structure(("a", "b"))
        True
    """
    try:
        return _structure(tree, is_leaf, namespace=NAMESPACE)  # type: ignore[no-any-return]  # bound above
    except RecursionError as error:
        raise TreeDepthError(_TOO_DEEP) from error


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf | None = None) -> bool:
    """Whether every item is a leaf.

    Args:
        iterable: The items.
        is_leaf: Called on every item; where it returns True, the item is a leaf.

    Returns:
        True if there is no container among them; ``None`` is one.

    Example:
        >>> all_leaves([1, 2]), all_leaves([1, None])
        (True, False)
    """
    return optree.all_leaves(iterable, is_leaf, namespace=NAMESPACE)


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Apply a function to every leaf of a tree, or to corresponding leaves of several.

    Args:
        f: Takes as many arguments as there are trees.
        tree: The tree that decides the structure.
        *rest: Trees of the same structure. Where ``tree`` has a leaf they may have a subtree,
            which ``f`` then takes as a whole.
        is_leaf: Called on every node of ``tree``; where it returns True, the node is a leaf.

    Returns:
        A tree of the structure of ``tree`` with the results.

    Raises:
        TreeStructureError: If the structures differ; it names the first place and both sides.

    Example:
        >>> tree_map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
        {'a': 11, 'b': (22, 33)}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten([f(leaf) for leaf in leaves])
    columns = [_flatten_up_to("tree_map", treedef, other, i) for i, other in enumerate(rest, 2)]
    return treedef.unflatten(list(map(f, leaves, *columns)))


def _flatten_up_to(function: str, treedef: PyTreeDef, tree: Any, number: int) -> list[Any]:
    try:
        return treedef.flatten_up_to(tree)
    except (ValueError, TypeError) as error:
        difference = describe_difference(
            treedef, tree_structure(tree), names=("tree 1", f"tree {number}"), prefix=True
        )
        if difference is None:
            raise
        raise TreeStructureError(
            f"{function}: tree {number} differs from tree 1 {difference}. Give every tree the "
            "structure of tree 1."
        ) from error


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Combine the leaves of a tree from the first to the last.

    Args:
        function: Takes what was combined so far and the next leaf.
        tree: Any pytree.
        initializer: What to start from, instead of the first leaf.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        The combination.

    Raises:
        TreeStructureError: If there are no leaves and no ``initializer``.

    Example:
        >>> tree_reduce(lambda a, b: a + b, {"a": 1, "b": (2, 3)})
        6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is not _MISSING:
        return functools.reduce(function, leaves, initializer)
    if not leaves:
        raise TreeStructureError(
            f"tree_reduce: tree={tree!r} has no leaves. Give an initializer to start from."
        )
    return functools.reduce(function, leaves)


def tree_all(tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether every leaf of a tree is true.

    Args:
        tree: Any pytree.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        True also for a tree without leaves.

    Example:
        >>> tree_all({"a": True, "b": (1, "x")}), tree_all([0])
        (True, False)
    """
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turn a tree of trees inside out.

    Args:
        outer_treedef: The outer structure of ``pytree_to_transpose``.
        inner_treedef: The structure of each tree at a leaf of the outer one. By default, that of
            the first one.
        pytree_to_transpose: The tree.

    Returns:
        A tree of structure ``inner_treedef`` of trees of structure ``outer_treedef``.

    Raises:
        TreeStructureError: If the tree is not composed of the two structures.

    Example:
        >>> tree_transpose(tree_structure([0, 0]), None, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
        {'a': [1, 3], 'b': [2, 4]}
    """
    structures: tuple[tuple[str, Any], ...] = (
        ("outer_treedef", outer_treedef),
        ("inner_treedef", inner_treedef),
    )
    for name, given in structures:
        if not isinstance(given, PyTreeDef) and not (given is None and name == "inner_treedef"):
            raise TreeStructureError(
                f"tree_transpose: {name} must be a structure, got {type(given).__name__}; "
                "tree_structure gives that of a tree"
            )
    rows = _rows(outer_treedef, pytree_to_transpose)
    if inner_treedef is None:
        if not rows:
            raise TreeStructureError(
                "tree_transpose: outer_treedef has no leaves, so that inner_treedef is not known. "
                "Give inner_treedef."
            )
        inner_treedef = tree_structure(rows[0])
    columns = []
    for path, row in zip(treedef_paths(outer_treedef), rows, strict=True):
        leaves, treedef = tree_flatten(row)
        difference = describe_difference(inner_treedef, treedef, names=("inner_treedef", "it"))
        if difference is not None:
            raise TreeStructureError(
                f"tree_transpose: the tree at {keystr(path) or 'the root'} differs from "
                f"inner_treedef {difference}. Give every inner tree the same structure."
            )
        columns.append(leaves)
    return inner_treedef.unflatten(
        [outer_treedef.unflatten(leaves) for leaves in zip(*columns, strict=True)]
        if columns
        else [outer_treedef.unflatten(())] * inner_treedef.num_leaves
    )


def _rows(outer_treedef: PyTreeDef, tree: Any) -> list[Any]:
    try:
        return outer_treedef.flatten_up_to(tree)
    except (ValueError, TypeError) as error:
        difference = describe_difference(
            outer_treedef, tree_structure(tree), names=("outer_treedef", "the tree"), prefix=True
        )
        if difference is None:
            raise
        raise TreeStructureError(
            f"tree_transpose: outer_treedef is not a prefix of the tree {difference}. Give the "
            "structure that the tree has outside."
        ) from error


def broadcast_prefix(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """Expand a tree that is a prefix of another one, to one value per leaf of that.

    Args:
        prefix_tree: The prefix. A leaf stands for the whole subtree at its place.
        full_tree: The tree to expand to.
        is_leaf: Called on every node of ``prefix_tree``; where it returns True, it is a leaf.

    Returns:
        One value for each leaf of ``full_tree``.

    Raises:
        TreeStructureError: If ``prefix_tree`` is not a prefix of ``full_tree``.

    Example:
        >>> broadcast_prefix({"a": 1, "b": 2}, {"a": (0, 0), "b": 0})
        [1, 1, 2]
    """
    values, treedef = tree_flatten(prefix_tree, is_leaf)
    subtrees = _flatten_up_to("broadcast_prefix", treedef, full_tree, 2)
    expanded: list[Any] = []
    for value, subtree in zip(values, subtrees, strict=True):
        expanded += [value] * len(tree_leaves(subtree))
    return expanded


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Expand a tree that is a prefix of another one to the structure of that.

    Args:
        prefix_tree: The prefix. A leaf stands for the whole subtree at its place.
        full_tree: The tree to expand to.
        is_leaf: Called on every node of ``prefix_tree``; where it returns True, it is a leaf.

    Returns:
        A tree of the structure of ``full_tree``.

    Raises:
        TreeStructureError: If ``prefix_tree`` is not a prefix of ``full_tree``.

    Example:
        >>> tree_broadcast((1, 2), ([0, 0], {"a": 0}))
        ([1, 1], {'a': 2})
    """
    values = broadcast_prefix(prefix_tree, full_tree, is_leaf)
    return tree_structure(full_tree).unflatten(values)


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf | None = None
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Take a tree apart into its leaves, each with its path, and its structure.

    Args:
        tree: Any pytree.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        Pairs of path and leaf, and the structure.

    Example:
        >>> pairs, _ = tree_flatten_with_path({"w": [1, 2]})
        >>> [(keystr(path), leaf) for path, leaf in pairs]
        [("['w'][0]", 1), ("['w'][1]", 2)]
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    paths: list[KeyPath] = []
    _collect_paths(treedef, tree, is_leaf, (), paths)
    return list(zip(paths, leaves, strict=True)), treedef


def _collect_paths(
    treedef: PyTreeDef, tree: Any, is_leaf: IsLeaf | None, path: KeyPath, paths: list[KeyPath]
) -> None:
    if treedef.is_leaf():
        paths.append(path)
        return
    keys, nodes = _children(treedef, tree)
    for key, child, node in zip(keys, treedef.children(), nodes, strict=True):
        _collect_paths(child, node, is_leaf, (*path, key), paths)


def _children(treedef: PyTreeDef, tree: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    kind: Any = treedef.type
    key_function = KEY_FUNCTIONS.get(kind)
    if key_function is not None:
        keyed = list(key_function(tree)[0])
        return [key for key, _ in keyed], [child for _, child in keyed]
    level = treedef.one_level()
    nodes = () if level is None else level.flatten_up_to(tree)
    return node_keys(kind, treedef.entries()), nodes


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with its path.

    Args:
        tree: Any pytree.
        is_leaf: Called on every node; where it returns True, the node is a leaf.

    Returns:
        Pairs of path and leaf in the order of flattening.

    Example:
        >>> tree_leaves_with_path({"w": 1})
        [((DictKey(key='w'),), 1)]
    """
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None
) -> Any:
    """As :func:`tree_map`, for a function that takes the path of the leaf first.

    Args:
        f: Takes a path and as many leaves as there are trees.
        tree: The tree that decides the structure.
        *rest: Trees of the same structure.
        is_leaf: Called on every node of ``tree``; where it returns True, the node is a leaf.

    Returns:
        A tree of the structure of ``tree`` with the results.

    Raises:
        TreeStructureError: If the structures differ.

    Example:
        >>> tree_map_with_path(lambda path, x: f"{keystr(path)}={x}", {"w": (1, 2)})
        {'w': ("['w'][0]=1", "['w'][1]=2")}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf)
    columns = [
        _flatten_up_to("tree_map_with_path", treedef, other, i) for i, other in enumerate(rest, 2)
    ]
    rows = zip(pairs, *columns, strict=True)
    return treedef.unflatten([f(path, leaf, *others) for (path, leaf), *others in rows])


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is that of a single leaf.

    Example:
        >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure(None))
        (True, False)
    """
    return treedef.is_leaf()


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees, from the structures of its items.

    Example:
        >>> treedef_tuple([tree_structure(1), tree_structure([2])]) == tree_structure((1, [2]))
        True
    """
    return optree.treespec_tuple(treedefs, namespace=NAMESPACE)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of a structure's root.

    Example:
        >>> treedef_children(tree_structure((1, [2]))) == [tree_structure(1), tree_structure([2])]
        True
    """
    return treedef.children()
