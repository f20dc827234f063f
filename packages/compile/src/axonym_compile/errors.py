"""Errors of compiling."""

from __future__ import annotations

from axonym_core.errors import AxonymError

__all__ = ["ArgumentError", "CompileError", "StaticArgumentError"]


class CompileError(AxonymError):
    """Base class of the errors of this package."""


class ArgumentError(CompileError, TypeError):
    """An argument of a compiled function is neither an array nor a number, nor static.

    Mark a Python value that the function needs as it is with `static_argnums` or
    `static_argnames`.
    """


class StaticArgumentError(CompileError, ValueError):
    """A static argument is not hashable, or `static_argnums` and its like do not fit the function.

    Static arguments are part of the key under which the compiled program is kept. Pass a tuple in
    place of a list, a frozen dataclass in place of a mutable object.
    """
