"""Control flow: `scan`, `while` and `cond`, each holding the jaxprs of its parts.

Types are exact, named axes included: the operands have the types of the jaxprs' arguments, a loop's
carry comes out with the type with which it goes in. `lax/control.py` finds the common types.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import JaxprTypeError
from ..programs.jaxpr import Jaxpr
from ..programs.primitive import ALL, Primitive
from ..types.avals import ShapedArray, join_named
from .calls import check_operands


def _unstack(aval: ShapedArray, length: int) -> ShapedArray:
    if not aval.shape or aval.shape[0] != length:
        raise JaxprTypeError(f"scan over {length} steps was given an operand of type {aval}")
    return aval.update(shape=aval.shape[1:])


def stacked(aval: ShapedArray, length: int) -> ShapedArray:
    """Aval of `length` values of an aval, stacked along a new leading dimension."""
    return aval.update(shape=(length, *aval.shape), weak_type=False)


def _same_carry(name: str, before: Sequence[ShapedArray], after: Sequence[ShapedArray]) -> None:
    for i, (a, b) in enumerate(zip(before, after, strict=True)):
        if a.strip_weak_type() is not b.strip_weak_type():
            raise JaxprTypeError(f"{name}: carry {i} goes in as {a} and comes out as {b}")


def _scan_shape(
    *avals: ShapedArray,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> tuple[ShapedArray, ...]:
    start = num_consts + num_carry
    per_step = (*avals[:start], *[_unstack(a, length) for a in avals[start:]])
    check_operands("scan", jaxpr, per_step)
    _same_carry("scan", jaxpr.in_avals[num_consts:start], jaxpr.out_avals[:num_carry])
    carry = jaxpr.in_avals[num_consts:start]
    return (*carry, *[stacked(a, length) for a in jaxpr.out_avals[num_carry:]])


# Operands: constants, initial carry, stacked inputs. The jaxpr takes (consts, carry, slices) and
# returns (carry, outputs of the step).
scan_p = Primitive("scan", _scan_shape, multiple_results=True, linear=ALL, programs=("jaxpr",))


def _while_shape(
    *avals: ShapedArray, cond_jaxpr: Jaxpr, body_jaxpr: Jaxpr, cond_consts: int, body_consts: int
) -> tuple[ShapedArray, ...]:
    carry = avals[cond_consts + body_consts :]
    check_operands("while", cond_jaxpr, (*avals[:cond_consts], *carry))
    check_operands("while", body_jaxpr, avals[cond_consts:])
    _same_carry("while", body_jaxpr.in_avals[body_consts:], body_jaxpr.out_avals)
    return body_jaxpr.in_avals[body_consts:]


# Operands: constants of the condition, constants of the body, initial carry.
while_p = Primitive(
    "while",
    _while_shape,
    multiple_results=True,
    programs=("cond_jaxpr", "body_jaxpr"),
    absent={"transpose": "the number of steps is not known; a bounded loop is a scan"},
)


def _cond_shape(
    index: ShapedArray, *avals: ShapedArray, branches: tuple[Jaxpr, ...]
) -> tuple[ShapedArray, ...]:
    for branch in branches:
        check_operands("cond", branch, avals)
        _same_carry("cond branches", branches[0].out_avals, branch.out_avals)
    return tuple(
        [o.update(named_shape=join_named(o.named, index.named)) for o in branches[0].out_avals]
    )


# Operands: the index of the branch (int32, in range), then the operands of the branches. The
# results vary over the axes of the index too.
cond_p = Primitive(
    "cond",
    _cond_shape,
    multiple_results=True,
    linear=range(1, sys.maxsize),
    programs=("branches",),
)
