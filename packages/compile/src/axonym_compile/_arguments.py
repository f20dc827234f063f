"""Which arguments of a compiled function are static, which are donated, and keys of calls."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from axonym_core.settings import exact

from .errors import StaticArgumentError


def _positions(value: Any, what: str) -> tuple[int, ...]:
    if value is None:
        return ()
    items = (value,) if isinstance(value, int) else tuple(value)
    for item in items:
        if not isinstance(item, int) or isinstance(item, bool):
            raise StaticArgumentError(f"jit: {what} must be integers, got {item!r}")
    return items


def _names(value: Any, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    items = (value,) if isinstance(value, str) else tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise StaticArgumentError(f"jit: {what} must be strings, got {item!r}")
    return items


class Selection(NamedTuple):
    """Arguments chosen by position and by name; either way of passing them counts."""

    positions: frozenset[int]
    names: frozenset[str]

    def resolve(self, count: int) -> frozenset[int]:
        """The positions among `count` positional arguments, negative ones counted from the end."""
        if not self.positions:
            return self.positions
        return frozenset([p + count if p < 0 else p for p in self.positions])


NOTHING = Selection(frozenset(), frozenset())


def selection(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Iterable[str] | None,
    what: str,
) -> Selection:
    """Combine positions and names, completing each from the other by the function's signature.

    Args:
        fun: The function.
        argnums: Positions.
        argnames: Names.
        what: `static` or `donate`, for messages.

    Raises:
        StaticArgumentError: A position or a name does not exist.
    """
    positions = set(_positions(argnums, f"{what}_argnums"))
    names = set(_names(argnames, f"{what}_argnames"))
    if not positions and not names:
        return NOTHING
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return Selection(frozenset(positions), frozenset(names))
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)
    known = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
    for name in sorted(names):
        if name not in known and not any_name:
            raise StaticArgumentError(
                f"jit: {what}_argnames has {name!r}, which is no argument of "
                f"{getattr(fun, '__name__', fun)} ({', '.join(p.name for p in parameters)})"
            )
    for position in sorted(positions):
        if not variadic and not -len(by_position) <= position < len(by_position):
            raise StaticArgumentError(
                f"jit: {what}_argnums has {position}, but {getattr(fun, '__name__', fun)} has "
                f"{len(by_position)} positional arguments"
            )
    given_names = set(names)
    for position in positions:
        if -len(by_position) <= position < len(by_position):
            parameter = by_position[position]
            if parameter.kind is not parameter.POSITIONAL_ONLY:
                names.add(parameter.name)
    positions |= {i for i, p in enumerate(by_position) if p.name in given_names}
    return Selection(frozenset(positions), frozenset(names))


def static_key(value: Any, where: str, name: str) -> Hashable:
    """Key of a static argument: values that behave differently have different keys.

    Raises:
        StaticArgumentError: The value is not hashable.
    """
    try:
        return exact(value)
    except TypeError:
        raise StaticArgumentError(
            f"{name}: static argument {where} is not hashable ({type(value).__name__}: {value!r}); "
            "static arguments are part of the key of the compiled program. Pass a tuple instead of "
            "a list or array, or do not mark the argument static"
        ) from None


def is_named(value: Any, module: str | None, name: str) -> bool:
    """Whether a module has the value under a name, possibly that of an attribute of a class."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value
