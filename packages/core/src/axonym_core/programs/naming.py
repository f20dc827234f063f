"""Names for messages: of a traced function, and of the leaves of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..trees.operations import PyTreeDef, keystr, tree_leaves_with_path, tree_unflatten


class DebugInfo(NamedTuple):
    """How the user would name a function and its arguments.

    Holds names only, never the function: caches keyed weakly by functions keep jaxprs as values.

    Attributes:
        name: The function's name.
        parameters: Names of its positional parameters.
        in_tree: Tree of `(args, kwargs)`, if known.
        leading: Number of arguments before those of the tree (lifted constants).
    """

    name: str
    parameters: tuple[str, ...] = ()
    in_tree: PyTreeDef | None = None
    leading: int = 0

    def with_leading(self, count: int) -> DebugInfo:
        """Return the names for a program with more leading arguments."""
        return self._replace(leading=self.leading + count)

    def argument(self, index: int) -> str:
        """Name of the flat argument at `index`, as in `params['w'][0]`."""
        index -= self.leading
        if index < 0:
            return f"<constant {index + self.leading}>"
        if self.in_tree is None:
            return f"argument {index}"
        if index >= self.in_tree.num_leaves:
            return f"argument {index}"
        indices = tree_unflatten(self.in_tree, list(range(self.in_tree.num_leaves)))
        path = next(p for p, leaf in tree_leaves_with_path(indices) if leaf == index)
        if len(path) < 2:
            return f"argument {index}"
        place, which, *rest = path
        in_args = getattr(place, "idx", None) == 0
        position = getattr(which, "idx", None)
        if not in_args:
            head = str(getattr(which, "key", which))
        elif position is not None and position < len(self.parameters):
            head = self.parameters[position]
        else:
            head = f"args[{position}]"
        return head + keystr(tuple(rest))


UNNAMED = DebugInfo("main")


def debug_info(fun: Callable[..., Any], in_tree: PyTreeDef | None = None) -> DebugInfo:
    """Collect the names of a function and, given the tree of its arguments, of their leaves."""
    name = getattr(fun, "__name__", None) or type(fun).__name__
    inner = getattr(fun, "__wrapped__", fun)
    code = getattr(inner, "__code__", None)
    if code is None:
        return DebugInfo(name, (), in_tree)
    names = code.co_varnames[: code.co_argcount]
    if getattr(inner, "__self__", None) is not None:
        names = names[1:]
    return DebugInfo(name, tuple(names), in_tree)
