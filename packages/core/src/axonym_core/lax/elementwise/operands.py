"""Operands of element-wise `lax` functions of two arguments."""

from __future__ import annotations

from typing import Any

from ...errors import ShapeError
from ...operators.promotion import broadcast_args, is_number, match_scalars
from ...programs.primitive import Primitive
from ...types.avals import aval_of


def bind_binary(name: str, primitive: Primitive, x: Any, y: Any) -> Any:
    """Bind an element-wise primitive to two operands: numbers take the dtype beside them.

    Primitives take operands of one shape, or rank 0. Dimensions of size 1 of operands of one rank
    are broadcast here, and only after the primitive has refused them: the usual case pays nothing.

    Args:
        name: Name of the `lax` function, for messages.
        primitive: The primitive.
        x: First operand.
        y: Second operand.

    Raises:
        DTypeError: A number does not fit the dtype, or the primitive refuses the dtypes.
        ShapeError: The shapes differ in a size that is not 1, or in rank.
    """
    if is_number(x) or is_number(y):
        x, y = match_scalars(name, x, y)
    try:
        return primitive.bind(x, y)
    except ShapeError:
        a, b = aval_of(x).shape, aval_of(y).shape
        if a == b or len(a) != len(b):
            raise
        if any(m != n and 1 not in (m, n) for m, n in zip(a, b, strict=True)):
            raise
    return primitive.bind(*broadcast_args(f"lax.{name}", x, y))
