"""Transposing linear functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axonym_core.settings import context
from axonym_core.tracing import run_and_end
from axonym_core.types import ShapedArray

from .rule_tables import Reading
from .tape import TapeTrace, backward_pass, variable


def transpose_flat(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[ShapedArray],
    cts: Sequence[Any],
    reading: Reading | None = None,
) -> list[Any]:
    """Apply the transpose of a linear function of flat arguments to cotangents.

    Args:
        fun: Linear function.
        in_avals: Types of its arguments.
        cts: Cotangents of its results.
        reading: How named axes are read; element-wise by default.

    Returns:
        Cotangents (or `Zero`) of the arguments.

    Raises:
        NotLinearError: The function is not linear.
    """
    tape = TapeTrace(context.trace)
    inputs = [tape.new_input(aval) for aval in in_avals]
    outs = run_and_end((tape,), fun, *inputs)
    return backward_pass(
        tape.eqns,
        [x.variable for x in inputs],
        [variable(o) for o in outs],
        cts,
        reading or Reading(),
    )
