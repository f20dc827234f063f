"""Running a jaxpr: binding its equations one after the other in the current trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .jaxpr import Jaxpr
from .walking import interpret


def eval_jaxpr(jaxpr: Jaxpr, *args: Any) -> list[Any]:
    """Evaluate a jaxpr in the current trace, so that it is evaluated, staged or transformed.

    Args:
        jaxpr: The program.
        *args: One value for each of its `invars`.

    Returns:
        The list of results.

    Raises:
        TypeError: The number of arguments differs from that of the program.

    Example:
        >>> from axonym_core import make_jaxpr, lax
        >>> jaxpr = make_jaxpr(lambda x: lax.mul(x, x))(3.0)
        >>> float(eval_jaxpr(jaxpr, 3.0)[0])
        9.0
    """
    return interpret(jaxpr, args)


def lift_consts(jaxpr: Jaxpr) -> tuple[Jaxpr, Sequence[Any]]:
    """Turn a jaxpr's constants into leading arguments.

    Returns:
        The jaxpr without constants, and the values to pass first.
    """
    return jaxpr.lifted(), jaxpr.consts
