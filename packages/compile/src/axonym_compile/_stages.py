"""The stages of compiling ahead of time: traced, lowered, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from axonym_core.arrays import as_concrete, backends
from axonym_core.errors import ShapeError, TreeStructureError
from axonym_core.operators import WEAK_SCALARS, join_types, number_like
from axonym_core.programs import Jaxpr
from axonym_core.trees import PyTreeDef, tree_flatten, tree_unflatten
from axonym_core.types import aval_of


class Traced(NamedTuple):
    """A staged function.

    Attributes:
        jaxpr: The program.
        in_tree: Tree of `(args, kwargs)`, static arguments left out.
        out_tree: Tree of the results.
        donated: Which leaves of the arguments are donated; empty for none.
        name: The function's name.
    """

    jaxpr: Jaxpr
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    donated: tuple[bool, ...]
    name: str

    def lower(self) -> Lowered:
        """Translate the program into the language of the current backend."""
        return Lowered(self, backends.current().lower(self.jaxpr, donated=self.donated))


class Lowered:
    """A program in a backend's language, ready to be compiled."""

    def __init__(self, traced: Traced, program: backends.LoweredProgram) -> None:
        self.traced = traced
        self._program = program

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the staged program; it is lowered again for the then current backend."""
        return (Traced.lower, (self.traced,))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def as_text(self) -> str:
        """The program as text (StableHLO for the XLA backend)."""
        return self._program.as_text()

    def compile(self) -> Compiled:
        """Compile it."""
        return Compiled(self.traced, self._program.compile())


class Compiled:
    """A program compiled for arguments of given types."""

    def __init__(self, traced: Traced, executable: backends.Executable) -> None:
        self.traced = traced
        self._executable = executable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it on arguments (without the static ones).

        Raises:
            TreeStructureError: The arguments have another structure than it was compiled for.
            ShapeError: An argument has another type.
        """
        leaves, tree = tree_flatten((args, kwargs))
        if tree != self.traced.in_tree:
            raise TreeStructureError(
                f"{self.traced.name} was compiled for arguments of structure "
                f"{self.traced.in_tree}, called with {tree}"
            )
        for i, (x, aval) in enumerate(zip(leaves, self.traced.jaxpr.in_avals, strict=True)):
            if type(x) in WEAK_SCALARS and join_types(aval_of(x), aval)[0] == aval.dtype:
                x = leaves[i] = number_like(x, aval)
            if aval_of(x).strip_weak_type() is not aval.strip_weak_type():
                raise ShapeError(
                    f"{self.traced.name} was compiled for "
                    f"{self.traced.jaxpr.debug.argument(i)} of type {aval}, called with "
                    f"{aval_of(x)}; compile it for this type too"
                )
        outs = self._executable([as_concrete(x) for x in leaves])
        return tree_unflatten(self.traced.out_tree, outs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the staged program; it is compiled again for the then current backend."""
        return (_compile, (self.traced,))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def as_text(self) -> str:
        """The optimised program as text."""
        return self._executable.as_text()

    def memory_analysis(self) -> Any:
        """Memory that the program needs; has `temp_size_in_bytes` among others."""
        return self._executable.memory_analysis()

    def cost_analysis(self) -> Any:
        """The compiler's estimate of operations and bytes, where the backend has one."""
        return self._executable.cost_analysis()


def _compile(traced: Traced) -> Compiled:
    return traced.lower().compile()
