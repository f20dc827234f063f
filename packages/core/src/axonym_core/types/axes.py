"""The axis environment: which named axes are in scope, how long they are, of which kind.

Every trace carries one. Mapping transformations extend it for the trace that they open; staging
and differentiation inherit it. It is immutable and hashable, since programs staged under
different environments are different programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, final

from ..errors import AxisNameError
from .avals import AxisName, as_size

AxisKind = Literal["vectorised", "device"]


class AxisEntry(NamedTuple):
    """One axis in scope: its name, its size and whether its indices are lanes or devices."""

    name: AxisName
    size: int
    kind: AxisKind = "vectorised"


@final
class AxisEnv:
    """Named axes in scope, outermost first. Immutable, compared by value."""

    __slots__ = ("_hash", "_sizes", "entries")

    def __init__(self, entries: Iterable[AxisEntry] = ()) -> None:
        self.entries = tuple(entries)
        self._sizes = {entry.name: entry.size for entry in self.entries}
        self._hash = hash(self.entries)

    def extend(self, name: AxisName, size: int, kind: AxisKind = "vectorised") -> AxisEnv:
        """Return the environment with one more axis.

        Raises:
            AxisNameError: The name is in scope already.
            ArgumentTypeError: The size is no integer.
            ShapeError: The size is negative.
        """
        size = as_size(size, f"the size of axis {name!r}")
        if name in self._sizes:
            raise AxisNameError(
                f"axis name {name!r} is already in scope (size {self._sizes[name]}); "
                "a mapping may not shadow it: choose another axis_name for the inner mapping"
            )
        return AxisEnv((*self.entries, AxisEntry(name, size, kind)))

    def size(self, name: AxisName) -> int:
        """Size of a named axis.

        Raises:
            AxisNameError: No axis of that name is in scope.
        """
        try:
            return self._sizes[name]
        except (KeyError, TypeError):
            raise AxisNameError(self._unknown(name)) from None

    def _unknown(self, name: AxisName) -> str:
        scope = ", ".join(repr(e.name) for e in self.entries) or "none"
        if isinstance(name, int):
            return (
                f"{name!r} is no name of an axis in scope here (in scope: {scope}); give the name "
                "of one. Of a dimension, x.shape tells the size, and axonym.numpy's functions and "
                "lax.psum, pmean, pmax and pmin reduce it"
            )
        return (
            f"axis name {name!r} is not in scope here (in scope: {scope}); "
            f"wrap the function in vmap(..., axis_name={name!r}) or xmap with that axis"
        )

    def names_of_kind(self, kind: AxisKind) -> frozenset[AxisName]:
        """Names of all axes of one kind."""
        return frozenset(e.name for e in self.entries if e.kind == kind)

    def __contains__(self, name: object) -> bool:
        return name in self._sizes

    def __iter__(self) -> Iterator[AxisName]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self.entries)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, AxisEnv) and self.entries == other.entries)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return "AxisEnv(" + ", ".join(f"{e.name}:{e.size}" for e in self.entries) + ")"


EMPTY = AxisEnv()


def as_axis_names(axis_name: Any, argument: str = "axis_name") -> tuple[AxisName, ...]:
    """Normalise one axis name, or a tuple or list of them, to a tuple.

    Raises:
        AxisNameError: A name occurs twice or is not hashable.
    """
    names = tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)
    try:
        distinct = set(names)
    except TypeError:
        raise AxisNameError(f"{argument}={axis_name!r}: axis names must be hashable") from None
    if len(distinct) != len(names):
        raise AxisNameError(f"{argument}={axis_name!r} names an axis twice; name each once")
    return names
