"""Functions of several primitives: one compiled program each when evaluated, inlined when traced.

A function that binds one primitive is as quick as that primitive. One that binds ten would cost ten
dispatches and nine temporary arrays; `composite` compiles it as a whole, in the cache that all of
this package's functions share. Inside a transformation its equations go straight into the caller's
program, so nothing of this is to be seen there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from axonym_compile import library_jit

__all__ = ["composite"]

P = ParamSpec("P")
R = TypeVar("R")


def composite(*static_argnames: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a function of arrays that binds several primitives.

    Args:
        *static_argnames: Names of the keyword arguments that are Python values: hashable, and part
            of the key of the program.

    Example:
        >>> @composite("power")
        ... def sum_of_powers(x, *, power):
        ...     return (x**power).sum()
        >>> import numpy as np
        >>> sum_of_powers(np.array([1.0, 2.0], np.float32), power=3)
        Array(9., dtype=float32)
    """

    def decorate(fun: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", library_jit(fun, static_argnames=static_argnames))

    return decorate
