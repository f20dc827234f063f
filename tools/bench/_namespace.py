"""The two sides of every comparison, behind one set of names.

Axonym's public API stands at the paths that users of ``jax`` know, so a workload that takes its
functions from a `Namespace` is one program for both. `ours` and `theirs` import lazily: a child
process imports only the side that it measures, and a side that is missing or incomplete fails
there, with its own message, and nowhere else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal

Side = Literal["ours", "theirs"]
SIDES: tuple[Side, Side] = ("ours", "theirs")
ROOTS: dict[Side, tuple[str, str]] = {
    "ours": ("axonym", "axonym.numpy"),
    "theirs": ("jax", "jax.numpy"),
}


class Namespace:
    """The functions of one side.

    Args:
        side: ``"ours"`` for Axonym, ``"theirs"`` for ``jax``.

    Raises:
        ImportError: If that side is not installed.
    """

    def __init__(self, side: Side) -> None:
        root, array_module = ROOTS[side]
        self.side: Side = side
        self.root: Any = importlib.import_module(root)
        self.xp: Any = importlib.import_module(array_module)

    def __getattr__(self, name: str) -> Any:
        """Hand out a function or submodule of the root module, as ``ns.jit`` or ``ns.lax``."""
        return getattr(self.root, name)

    def tree_map(self, function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
        """Apply ``function`` to the leaves of equally built trees."""
        return self.root.tree_util.tree_map(function, tree, *rest)

    def arrays(self, tree: Any) -> Any:
        """Put a tree of NumPy arrays on the default device of this side."""
        return self.tree_map(self.xp.asarray, tree)

    def wait(self, tree: Any) -> None:
        """Return when every array in ``tree`` has been computed."""
        for leaf in self.root.tree_util.tree_leaves(tree):
            leaf.block_until_ready()
