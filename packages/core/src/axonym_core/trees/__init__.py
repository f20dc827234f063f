"""Trees of arrays: nested containers, taken apart into leaves and put together again."""

from __future__ import annotations

from .keys import DictKey as DictKey
from .keys import FlattenedIndexKey as FlattenedIndexKey
from .keys import GetAttrKey as GetAttrKey
from .keys import KeyPath as KeyPath
from .keys import SequenceKey as SequenceKey
from .keys import keystr as keystr
from .operations import all_leaves as all_leaves
from .operations import broadcast_prefix as broadcast_prefix
from .operations import tree_all as tree_all
from .operations import tree_broadcast as tree_broadcast
from .operations import tree_flatten as tree_flatten
from .operations import tree_flatten_with_path as tree_flatten_with_path
from .operations import tree_leaves as tree_leaves
from .operations import tree_leaves_with_path as tree_leaves_with_path
from .operations import tree_map as tree_map
from .operations import tree_map_with_path as tree_map_with_path
from .operations import tree_reduce as tree_reduce
from .operations import tree_structure as tree_structure
from .operations import tree_transpose as tree_transpose
from .operations import tree_unflatten as tree_unflatten
from .operations import treedef_children as treedef_children
from .operations import treedef_is_leaf as treedef_is_leaf
from .operations import treedef_tuple as treedef_tuple
from .registry import Partial as Partial
from .registry import register_dataclass as register_dataclass
from .registry import register_pytree_node as register_pytree_node
from .registry import register_pytree_node_class as register_pytree_node_class
from .registry import register_pytree_with_keys as register_pytree_with_keys
from .registry import register_pytree_with_keys_class as register_pytree_with_keys_class
from .registry import register_static as register_static
from .structures import PyTreeDef as PyTreeDef
from .structures import StructureDifference as StructureDifference
from .structures import describe_difference as describe_difference
from .structures import flatten_axes as flatten_axes
from .structures import structure_difference as structure_difference
from .structures import treedef_paths as treedef_paths

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
