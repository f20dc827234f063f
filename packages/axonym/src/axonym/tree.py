"""Trees of arrays, under short names: `tree.map` is `tree_util.tree_map`.

>>> import axonym as ax
>>> ax.tree.map(lambda x: x + 1, {"a": 1, "b": (2, 3)})
{'a': 2, 'b': (3, 4)}
"""

from __future__ import annotations

from axonym_core.trees import tree_all as all
from axonym_core.trees import tree_broadcast as broadcast
from axonym_core.trees import tree_flatten as flatten
from axonym_core.trees import tree_flatten_with_path as flatten_with_path
from axonym_core.trees import tree_leaves as leaves
from axonym_core.trees import tree_leaves_with_path as leaves_with_path
from axonym_core.trees import tree_map as map
from axonym_core.trees import tree_map_with_path as map_with_path
from axonym_core.trees import tree_reduce as reduce
from axonym_core.trees import tree_structure as structure
from axonym_core.trees import tree_transpose as transpose
from axonym_core.trees import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "structure",
    "transpose",
    "unflatten",
]
